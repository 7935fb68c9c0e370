"""One TCP connection of this kernel over an emulated path: delay, losses, and where wanted a rate and a queue.

A single thread reads packets from one TUN device and writes them to the other when they are due. It logs how late it
was: a machine that is too busy makes timeouts that the path did not.
"""

from __future__ import annotations

import ctypes
import math
import os
import select
import socket
import struct
import time
from collections import deque
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from losses import Losses
from namespaces import ADDRESSES, PORT, Ends, enough_memory, memory

MSS = 1448
"""Payload of a packet of 1500 bytes, with timestamps."""

INFO_SECONDS = 0.2
"""TCP_INFO is read every so often [s]."""

STALL = 0.05
"""Packets forwarded later than this [s] make a stall of the machine."""

SILENCE = 1.5
"""A sender that was silent for so many round trips begins a new round."""

CAPTURED = 500_000
"""Packets of a capture at most."""

MCL_CURRENT, MCL_FUTURE = 1, 2

SNAP = 80
"""Bytes of each packet in a capture: its headers."""


class Source:
    """Always something to send: a file transfer, or stored video."""

    def made(self, seconds: float) -> float:  # noqa: ARG002
        """Return how many bytes there are in all, so long after the start."""
        return math.inf

    def following(self, seconds: float) -> float:  # noqa: ARG002
        """Return when the next will be there [s]."""
        return math.inf


@dataclass(frozen=True)
class Steady(Source):
    """A live stream: packet n is there n / mu after the start, mu in packets/s."""

    packet_rate: float

    def made(self, seconds: float) -> float:
        """Return how many bytes there are in all, so long after the start."""
        return math.floor(seconds * self.packet_rate) * MSS

    def following(self, seconds: float) -> float:
        """Return when the next will be there [s]."""
        return (math.floor(seconds * self.packet_rate) + 1) / self.packet_rate


@dataclass
class Seen:
    """What a run saw.

    Attributes
    ----------
    arrived : list of (float, int)
        When bytes came to the receiving application in order [s since the start], and how many in all by then.
    info : list of (float, float, float, int)
        Time [s], smoothed round trip and retransmission timer [s], back-offs.
    late : list of float
        How late each packet was forwarded [s].
    stalls : list of (float, float)
        When nothing was forwarded for `STALL` or more although it was due [s since the start], and how long [s]; and
        when the kernel was short of memory for TCP, which holds windows down.
    """

    arrived: list[tuple[float, int]] = field(default_factory=list)
    info: list[tuple[float, float, float, int]] = field(default_factory=list)
    late: list[float] = field(default_factory=list)
    stalls: list[tuple[float, float]] = field(default_factory=list)
    sent: int = 0
    dropped_by_queue: int = 0


class Emulator:
    """Forwards packets both ways.

    Parameters
    ----------
    ends : Ends
    delay : float
        One way [s].
    losses : Losses
        Of data packets.
    rate, queue : float, int, optional
        Of the way of the data: bit/s, packets.
    capture, captured : path, float, optional
        A pcap file of what the sender sees, in the first so many seconds, and `CAPTURED` packets at most.
    """

    def __init__(
        self,
        ends: Ends,
        delay: float,
        losses: Losses,
        *,
        rate: float | None = None,
        queue: int = 0,
        capture: Path | None = None,
        captured: float = math.inf,
    ) -> None:
        self.captured, self.recorded = captured, 0
        self.ends, self.delay, self.losses, self.rate, self.queue = ends, delay, losses, rate, queue
        self.seen = Seen()
        self.there: deque[tuple[float, int, bytes]] = deque()
        self.back: deque[tuple[float, int, bytes]] = deque()
        self.busy = 0.0
        self.round = self.delivered_round = 0
        self.last_data = self.start = 0.0
        self.pcap = capture.open("wb") if capture else None
        if self.pcap:
            self.pcap.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, SNAP, 101))

    def run(self, chain: Source, seconds: float, enough: float = math.inf) -> Seen:
        """Connect, and carry what a source makes, for so many seconds or until so many bytes have arrived."""
        ends, seen = self.ends, self.seen
        ends.sender.connect_ex((ADDRESSES[1], PORT))
        receiver: socket.socket | None = None
        start = self.start = time.monotonic()
        written = received = 0
        connected, next_info, block, inbox = False, 0.0, bytes(64 * MSS), bytearray(64 * MSS)
        while (now := time.monotonic()) < start + seconds and received < enough:
            self._forward(self.there, ends.tuns[1], now)
            self._forward(self.back, ends.tuns[0], now)
            wanted = chain.made(now - start) - written if connected else 0
            if wanted > 0:
                written += _sent(ends.sender, block[: int(min(wanted, len(block)))])
            self._from_sender()
            self._from_receiver()
            if receiver is not None and (size := _received(receiver, inbox)):
                received += size
                seen.arrived.append((time.monotonic() - start, received))
            if connected and now - start >= next_info:
                next_info = now - start + INFO_SECONDS
                if now - start > self.captured:
                    self._end_capture()
                self._info(now - start)
            reading: list[Any] = [*ends.tuns, receiver or ends.listener]
            full = chain.made(time.monotonic() - start) > written
            readable, writable, _ = select.select(
                reading, [ends.sender] if full or not connected else [], [], self._wait(start, chain)
            )
            if receiver is None and ends.listener in readable:
                receiver = ends.listener.accept()[0]
                receiver.setblocking(False)
            if writable and not connected:
                connected = ends.sender.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR) == 0
        self._end_capture()
        ends.close()
        if receiver is not None:
            receiver.close()
        return seen

    def _wait(self, start: float, chain: Source) -> float:
        """Return how long nothing is due [s]."""
        now = time.monotonic()
        due = min([line[0][0] for line in (self.there, self.back) if line], default=math.inf)
        return max(0.0, min(due, start + chain.following(now - start), now + INFO_SECONDS) - now)

    def _forward(self, line: deque[tuple[float, int, bytes]], tun: int, now: float) -> None:
        while line and line[0][0] <= now:
            due, tag, packet = line.popleft()
            if line is self.there:
                self.delivered_round = max(self.delivered_round, tag)
            else:
                if tag >= self.round:
                    self.round += 1  # a packet of this round is acknowledged: what is sent now is the next round
                self._record(packet)
            self.seen.late.append(now - due)
            if now - due > STALL:
                self.seen.stalls.append((due - self.start, now - due))
            os.write(tun, packet)

    def _from_sender(self) -> None:
        now = time.monotonic()
        for packet in packets(self.ends.tuns[0]):
            self._record(packet)
            if not payload(packet):
                self.there.append((max(now, self.busy) + self.delay, -1, packet))
                continue
            if now - self.last_data > SILENCE * 2 * self.delay:
                self.round += 1  # a probe, or the timer has run out
            self.last_data = now
            self.seen.sent += 1
            if self.losses.lose(self.round):
                continue
            if self.rate is not None:
                waiting = (self.busy - now) * self.rate / 8 / 1500
                if waiting > self.queue:
                    self.seen.dropped_by_queue += 1
                    continue
                self.busy = max(now, self.busy) + len(packet) * 8 / self.rate
            self.there.append((max(now, self.busy) + self.delay, self.round, packet))

    def _from_receiver(self) -> None:
        now = time.monotonic()
        for packet in packets(self.ends.tuns[1]):
            self.back.append((now + self.delay, self.delivered_round, packet))

    def _end_capture(self) -> None:
        if self.pcap:
            self.pcap.close()
            self.pcap = None

    def _record(self, packet: bytes) -> None:
        if self.recorded == CAPTURED:
            self._end_capture()
        if self.pcap:
            self.recorded += 1
            now = time.time()
            self.pcap.write(
                struct.pack("<IIII", int(now), int(now % 1 * 1e6), min(len(packet), SNAP), len(packet)) + packet[:SNAP]
            )

    def _info(self, now: float) -> None:
        if memory() > enough_memory():
            self.seen.stalls.append((now, INFO_SECONDS))
        data = self.ends.sender.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 104)
        backoff = data[4]
        rto, _, _, _ = struct.unpack_from("<4I", data, 8)
        rtt, _ = struct.unpack_from("<2I", data, 68)
        if rtt:
            self.seen.info.append((now, rtt / 1e6, rto / 1e6, backoff))


def packets(tun: int) -> list[bytes]:
    """Return the TCP packets that wait at a device, 64 at most."""
    found: list[bytes] = []
    try:
        while len(found) < 64:
            found.append(os.read(tun, 2048))
    except BlockingIOError:
        pass
    return [packet for packet in found if packet[0] >> 4 == 4 and packet[9] == socket.IPPROTO_TCP]


def _sent(sender: socket.socket, block: bytes) -> int:
    """Return how many bytes the sender takes now."""
    try:
        return sender.send(block)
    except BlockingIOError:
        return 0


def _received(receiver: socket.socket, inbox: bytearray) -> int:
    """Return how many bytes have arrived in order."""
    try:
        return receiver.recv_into(inbox)
    except BlockingIOError:
        return 0


def payload(packet: bytes) -> int:
    """Return the bytes of TCP payload of an IPv4 packet."""
    header = 4 * (packet[0] & 15)
    return int.from_bytes(packet[2:4], "big") - header - 4 * (packet[header + 12] >> 4)


def real_time() -> bool:
    """Let this process run before all others and stay in memory, where that is allowed; return whether it is."""
    try:
        ctypes.CDLL(None).mlockall(MCL_CURRENT | MCL_FUTURE)
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(10))
    except OSError:
        return False
    return True


def everyday() -> None:
    """Let this process run when no other one wants to."""
    os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
    os.nice(5)


def deliveries(seen: Seen) -> np.ndarray:
    """Return when each packet (MSS) was complete at the receiving application [s]."""
    times, bytes_ = np.array(seen.arrived).T
    packets = int(bytes_[-1] // MSS)
    return np.asarray(times[np.searchsorted(bytes_, MSS * np.arange(1, packets + 1))])
