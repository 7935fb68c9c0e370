"""A small TCP-like flow, packet by packet, with known loss and delay, and captures of it from any vantage.

Written for these tests alone: it shares no code with the package. One backlogged sender, a path with a fixed delay
plus jitter that keeps the order, one acknowledgement per packet, SACK (recovery by order of sending, as RACK does)
or NewReno, and a retransmission timer. Instead of the former SACK by three duplicates (RFC 6675), or RACK-TLP (RFC
8985).
"""

from __future__ import annotations

import heapq
import random
import struct
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path

MSS = 1448
ISN = 2**32 - 400_000  # the sequence numbers wrap early
SENDER, RECEIVER = (b"\x0a\x00\x00\x01", 5001), (b"\x0a\x00\x00\x02", 40000)


@dataclass
class Seen:
    """A packet with the times at which it passes the sender's and the receiver's end."""

    at_sender: float
    at_receiver: float
    from_sender: bool
    seq: int
    ack: int
    payload: int
    lost: bool = False
    flags: int = 16
    sack: tuple[tuple[int, int], ...] = ()
    ts: tuple[int, int] | None = None
    mss: int = 0
    window: int = 65535
    scale: int | None = None


@dataclass
class Run:
    """A simulated flow: its packets and the truth about it."""

    packets: list[Seen] = field(default_factory=list)
    sent: int = 0
    dropped: int = 0
    trials: int = 0
    events: int = 0
    timeouts: int = 0
    delays: list[float] = field(default_factory=list)


class Sender:
    def __init__(
        self,
        p,
        rtt,
        seconds,
        *,
        seed,
        process,
        sack,
        timestamps,
        window,
        jitter,
        app_gap,
        sender_opens,
        decrease,
        detection,
        initial_window,
    ):
        self.p, self.rtt, self.seconds = p, rtt, seconds
        self.rng = random.Random(seed)
        self.process, self.sack, self.timestamps = process, sack, timestamps
        self.window, self.jitter, self.app_gap, self.decrease = window, jitter, app_gap, decrease
        self.detection = detection
        self.run = Run()
        self.queue: list[tuple] = []
        self.count = 0
        self.round_end, self.losing = 0.0, False
        self.last_arrival = {True: 0.0, False: 0.0}
        # sender
        self.next = self.una = self.recover = 0
        self.cwnd, self.slow_start = float(initial_window), window / 2
        self.flight: dict[int, int] = {}  # packet -> serial of its latest transmission
        self.lost: set[int] = set()
        self.sacked: set[int] = set()
        self.serial = self.highest_delivered = self.duplicates = 0
        self.serial_of: dict[int, int] = {}
        self.sent_at: dict[int, float] = {}
        self.repaired: set[int] = set()
        self.backoff, self.timer_version = 0, 0
        self.ts_recent_sender = 0
        self.written = 0
        # receiver
        self.expected, self.held = 0, set()
        self.ts_recent_receiver = 0
        self.handshake(sender_opens)

    # -- path -----------------------------------------------------------------------------------------------------
    def at(self, time, what, *args):
        self.count += 1
        heapq.heappush(self.queue, (time, self.count, what, args))

    def travel(self, time, from_sender):
        arrival = time + self.rtt / 2 + self.rng.expovariate(1) * self.jitter
        arrival = max(arrival, self.last_arrival[from_sender] + 1e-6)
        self.last_arrival[from_sender] = arrival
        return arrival

    def is_lost(self, time):
        if self.process == "round":
            if time >= self.round_end:
                self.round_end, self.losing = time + self.rtt, False
            if self.losing:
                return True
        self.run.trials += 1
        lost = self.rng.random() < self.p
        self.run.events += lost
        self.losing = lost
        return lost

    def clock(self, time, offset):
        return int(time * 1000) + offset

    def handshake(self, sender_opens):
        t, way = 0.0, sender_opens
        for flags, mss, scale in ((2, 1460, 7), (18, 1460, 7), (16, 0, None)):
            arrival = self.travel(t, way)
            seq = (ISN if way else 1000) + (flags == 16)
            ends = (t, arrival) if way else (arrival, t)
            other = 0 if flags == 2 else (1001 if way else ISN + 1)
            ts = (self.clock(t, 7 if way else 9_000_000), 0) if self.timestamps else None
            self.run.packets.append(Seen(*ends, way, seq, other, 0, flags=flags, mss=mss, ts=ts, scale=scale))
            t, way = arrival + 2e-5, not way
        self.at(t + (0 if way else self.rtt), self.fill)

    # -- sender ---------------------------------------------------------------------------------------------------
    def fill(self, time):
        while True:
            room = self.cwnd - len(self.flight) + (0 if self.sack else self.duplicates)
            if self.lost and room > 0:
                self.transmit(time, min(self.lost))
            elif room > 0 and len(self.flight) < 2 * self.window and time < self.seconds:
                if self.app_gap and self.next >= self.written:
                    return
                self.transmit(time, self.next)
            else:
                return

    def write(self, time):
        self.written += 1
        self.fill(time)
        if time < self.seconds:
            self.at(time + self.app_gap, self.write)

    def transmit(self, time, number):
        lost = self.is_lost(time)
        self.run.sent += 1
        self.run.dropped += lost
        self.lost.discard(number)
        if number < self.next:
            self.repaired.add(number)
        self.sent_at[number] = time
        self.next = max(self.next, number + 1)
        self.serial += 1
        self.flight[number] = self.serial_of[number] = self.serial
        if len(self.flight) == 1 or number == self.una:
            self.arm(time)
        arrival = self.travel(time, True)
        ts = (self.clock(time, 7), self.ts_recent_sender) if self.timestamps else None
        seq = ISN + 1 + number * MSS
        self.run.packets.append(Seen(time, arrival, True, seq, 1001, MSS, lost=lost, ts=ts))
        if not lost:
            self.at(arrival, self.receive, number, time, ts)

    def arm(self, time, probe=True):
        self.timer_version += 1
        if probe and self.detection == "rack" and not self.backoff:
            self.at(time + 2 * self.rtt, self.probe, self.timer_version)
        self.at(time + (self.rtt + 0.2) * 2**self.backoff, self.timeout, self.timer_version)

    def probe(self, time, version):
        if version == self.timer_version and self.flight and self.una >= self.recover:
            self.transmit(time, self.next)
            self.arm(time, probe=False)

    def timeout(self, time, version):
        if version != self.timer_version or not (self.flight or self.lost):
            return
        self.run.timeouts += 1
        self.duplicates = 0
        self.lost |= set(self.flight)
        self.flight.clear()
        self.repaired.clear()
        self.slow_start, self.cwnd, self.recover = max(self.cwnd / 2, 2), 1.0, self.next
        self.backoff = min(self.backoff + 1, 6)
        self.arm(time)
        self.fill(time)

    def acknowledged(self, time, number, blocks, tsval):
        time += 1e-5
        self.ts_recent_sender = tsval
        news = [n for n in self.flight if n < number or any(a <= n < b for a, b in blocks)]
        for n in news:
            self.highest_delivered = max(self.highest_delivered, self.flight.pop(n))
        self.sacked = {n for n in self.sacked | set(news) if n >= number}
        self.repaired = {n for n in self.repaired if n >= number}
        self.lost -= {n for n in self.lost if n < number or any(a <= n < b for a, b in blocks)}
        partial = False
        if number > self.una:
            self.una, self.duplicates, self.backoff = number, 0, 0
            partial = number < self.recover and not self.sack
            self.arm(time)
            if number >= self.recover:
                step = 1 if self.cwnd < self.slow_start else 1 / self.cwnd
                self.cwnd = min(self.cwnd + step * max(1, len(news)), self.window)
        elif self.flight:
            self.duplicates += 1
        if self.sack:
            gone = self.known_lost(time)
        else:
            third = self.duplicates == 3 and self.una >= self.recover
            gone = {self.una} & set(self.flight) if third or partial else set()
        self.recovery(time, gone)

    def known_lost(self, time):
        if self.detection == "order":
            return {n for n, s in self.flight.items() if s + 3 <= self.highest_delivered}
        third = {n for n in self.flight if sum(s > n for s in self.sacked) >= 3 and n not in self.repaired}
        if self.detection == "duplicates":
            return third
        earlier = {n for n, s in self.flight.items() if s < self.highest_delivered} - third
        due = {n: self.sent_at[n] + 1.25 * self.rtt for n in earlier}
        for n, then in due.items():
            if then > time:
                self.at(then, self.reordered, n, self.flight[n])
        return third | {n for n, then in due.items() if then <= time}

    def reordered(self, time, number, serial):
        if self.flight.get(number) == serial:
            self.recovery(time, {number})

    def recovery(self, time, gone):
        if gone:
            if min(gone) >= self.recover:
                self.slow_start = self.cwnd = max(self.cwnd * self.decrease, 2)
                self.recover = self.next
            self.lost |= gone
            for n in gone:
                self.flight.pop(n, None)
            if not self.sack:  # a retransmission is never held back by the window
                self.transmit(time, min(self.lost))
        self.fill(time)

    # -- receiver -------------------------------------------------------------------------------------------------
    def receive(self, time, number, sent_at, ts):
        blocks: list[tuple[int, int]] = []
        if number < self.expected or number in self.held:
            blocks.append((number, number + 1))
        else:
            self.run.delays.append(time - sent_at)
            self.held.add(number)
        if ts and number <= self.expected:
            self.ts_recent_receiver = ts[0]
        while self.expected in self.held:
            self.held.remove(self.expected)
            self.expected += 1
        if number in self.held:
            blocks.append(self.block(number))
        for n in sorted(self.held, reverse=True):
            if len(blocks) < 3 and not any(a <= n < b for a, b in blocks):
                blocks.append(self.block(n))
        leave = time + 2e-5
        arrival = self.travel(leave, False)
        tsval = self.clock(leave, 9_000_000)
        edges = tuple((ISN + 1 + a * MSS, ISN + 1 + b * MSS) for a, b in blocks) if self.sack else ()
        ack = Seen(arrival, leave, False, 1001, ISN + 1 + self.expected * MSS, 0, sack=edges)
        ack.ts = (tsval, self.ts_recent_receiver) if self.timestamps else None
        self.run.packets.append(ack)
        self.at(arrival, self.acknowledged, self.expected, blocks if self.sack else [], tsval)

    def block(self, number):
        low = high = number
        while low - 1 in self.held:
            low -= 1
        while high + 1 in self.held:
            high += 1
        return low, high + 1

    def go(self):
        if self.app_gap:
            self.at(2 * self.rtt, self.write)
        while self.queue:
            time, _, what, args = heapq.heappop(self.queue)
            if time > self.seconds + 20:
                break
            what(time, *args)
        return self.run


class VaryingSender(Sender):
    """Of a path that is good for 20 s and bad for 5 s on average, as in examples/regimes.toml; p is not used."""

    good, until = False, 0.0

    def is_lost(self, time):
        while time >= self.until:
            self.good = not self.good if self.until else self.rng.random() < 0.8
            self.until += self.rng.expovariate(1 / (20 if self.good else 5))
        self.p = 0.005 if self.good else 0.06
        return super().is_lost(time)


def simulate(
    p,
    rtt=0.1,
    seconds=40.0,
    *,
    seed=1,
    process="independent",
    sack=True,
    timestamps=True,
    window=40,
    jitter=0.001,
    app_gap=0.0,
    sender_opens=True,
    decrease=0.5,
    detection="order",
    initial_window=2,
    kind=Sender,
):
    """Run a flow; `process` is "independent", or "round": the rest of the round is lost too.

    A fast recovery multiplies the window by `decrease`. With SACK `detection` is "order": three packets sent later
    arrived; "duplicates": three packets with higher numbers did; or "rack".
    """
    run = _gone(
        kind,
        p,
        rtt,
        seconds,
        seed=seed,
        process=process,
        sack=sack,
        timestamps=timestamps,
        window=window,
        jitter=jitter,
        app_gap=app_gap,
        sender_opens=sender_opens,
        decrease=decrease,
        detection=detection,
        initial_window=initial_window,
    )
    return replace(run, packets=[Seen(**vars(packet)) for packet in run.packets], delays=list(run.delays))


@lru_cache(maxsize=4)
def _gone(kind, *conditions, **more):
    """Return a flow that many tests ask for one after another: theirs are copies, which they may change."""
    return kind(*conditions, **more).go()


def frames(run, vantage="sender", *, handshake=True, merge=1, ipv6=False):
    """Return (time, IP packet) as captured; `vantage` is "sender", "receiver" or a share of the way from the sender.

    Losses lie behind the point of capture, except for "receiver". Merge joins that many data packets into one.
    """
    share = {"sender": 0.0, "receiver": 1.0}.get(vantage, vantage)
    rows = []
    for packet in run.packets[0 if handshake else 3 :]:
        if packet.lost and vantage == "receiver":
            continue
        rows.append((packet.at_sender + share * (packet.at_receiver - packet.at_sender), packet))
    rows.sort(key=lambda row: row[0])
    return [(1_700_000_000 + t, ip_packet(packet, ipv6)) for t, packet in _merged(rows, merge)]


def _merged(rows, merge):
    out = []
    for t, packet in rows:
        last = out[-1][1] if out else None
        joins = last is not None and packet.from_sender and packet.payload and last.from_sender and last.payload
        if joins and packet.seq == last.seq + last.payload and last.payload < merge * MSS and t - out[-1][0] < 1e-3:
            out[-1] = (out[-1][0], Seen(**{**vars(last), "payload": last.payload + packet.payload}))
        else:
            out.append((t, packet))
    return out


def ip_packet(packet, ipv6=False):
    """Return the headers of a packet; the lengths in them count its payload."""
    options = b""
    if packet.mss:
        options += b"\x02\x04" + struct.pack(">H", packet.mss)
    if packet.scale is not None:
        options += b"\x01\x03\x03" + bytes([packet.scale])
    if packet.ts:
        options += b"\x01\x01\x08\x0a" + struct.pack(">II", *packet.ts)
    if packet.sack:
        edges = b"".join(struct.pack(">II", a % 2**32, b % 2**32) for a, b in packet.sack)
        options += b"\x01\x01\x05" + bytes([2 + len(edges)]) + edges
    (source, sport), (target, dport) = (SENDER, RECEIVER) if packet.from_sender else (RECEIVER, SENDER)
    offset = 80 + 4 * len(options)  # the length of the header in words, four bits further
    tcp = struct.pack(
        ">HHIIBBHHH",
        *(sport, dport, packet.seq % 2**32, packet.ack % 2**32, offset, packet.flags, packet.window, 1, 0),
    )
    tcp += options
    length = len(tcp) + packet.payload
    if ipv6:
        pad = b"\xfd" + bytes(11)
        return struct.pack(">IHBB16s16s", 6 << 28, length, 6, 64, pad + source, pad + target) + tcp
    return struct.pack(">BBHHHBBH4s4s", 0x45, 0, 20 + length, 0, 0, 64, 6, 1, source, target) + tcp


def pcap_bytes(packets, linktype=101, *, order="<", nano=False, snaplen=262144):
    """Return a pcap file of (time, packet)."""
    magic, unit = (0xA1B23C4D, 1e9) if nano else (0xA1B2C3D4, 1e6)
    out = [struct.pack(order + "IHHiIII", magic, 2, 4, 0, 0, snaplen, linktype)]
    for t, data in packets:
        kept = data[:snaplen]
        second = int(t)
        out.append(struct.pack(order + "IIII", second, int((t - second) * unit), len(kept), len(data)))
        out.append(kept)
    return b"".join(out)


def capture(tmp_path: Path, run, vantage="sender", name="a.pcap", **options):
    """Write a capture of a run and return its path."""
    file = tmp_path / name
    file.write_bytes(pcap_bytes(frames(run, vantage, **options)))
    return file
