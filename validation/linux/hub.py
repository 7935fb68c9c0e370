"""Many TCP connections of this kernel at the same time, each over an emulated path of its own, in one process.

A single thread is the links of all paths: it takes packets from one TUN device and gives them to the other when they
are due. Connections share the two network namespaces and nothing else. One process for all takes a fraction of the CPU
time that a process for each takes, since one waking forwards what is due on many paths.
"""

from __future__ import annotations

import gc
import heapq
import math
import os
import select
import socket
import struct
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from emulator import (
    INFO_SECONDS,
    MSS,
    SILENCE,
    SNAP,
    STALL,
    Seen,
    Source,
    everyday,
    packets,
    payload,
    real_time,
)
from link import Link
from losses import Losses
from namespaces import ADDRESSES, PORT, RESET, SO_RCVBUFFORCE, SO_SNDBUFFORCE, enough_memory, memory, namespace

BUFFER = 1 << 22
"""Of each sender and receiver [bytes], which the kernel doubles: some 3,600 packets of its memory for TCP."""

FIRST_PORT = 10_000
"""The sender's port of the first connection; the others follow."""

PCAP = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, SNAP, 101)

BLOCK = bytes(64 * MSS)


@dataclass
class Flow:
    """One connection and its path.

    Attributes
    ----------
    tcp : str
        Congestion control, as the kernel calls it.
    delay : float
        One way [s].
    losses : Losses
        Of data packets.
    source : Source
        Its times count from the beginning of the connection.
    seconds : float
        How long the connection lasts.
    begin : float
        When it begins, since the beginning of the run [s].
    enough : float
        It ends when so many bytes have arrived.
    link : Link, optional
        What data packets go through; its times count from the beginning of the connection.
    capture, captured : path, float, optional
        A pcap file of what the sender sees, in the first so many seconds.
    """

    tcp: str
    delay: float
    losses: Losses
    source: Source
    seconds: float
    begin: float = 0.0
    enough: float = math.inf
    link: Link | None = None
    capture: Path | None = None
    captured: float = math.inf
    seen: Seen = field(default_factory=Seen)
    start: float = 0.0
    written: int = 0
    received: int = 0
    round: int = 0
    delivered_round: int = 0
    last_data: float = 0.0
    out: float = 0.0
    pcap: BinaryIO | None = None

    def record(self, packet: bytes) -> None:
        """Write a packet to the capture."""
        if self.pcap is None:
            return
        now = time.time()
        head = struct.pack("<IIII", int(now), int(now % 1 * 1e6), min(len(packet), SNAP), len(packet))
        self.pcap.write(head + packet[:SNAP])

    def end_capture(self) -> None:
        """Close the capture."""
        if self.pcap is not None:
            self.pcap.close()
            self.pcap = None


class Hub:
    """All connections, and the loop that carries them.

    Parameters
    ----------
    flows : sequence of Flow
    """

    def __init__(self, flows: Sequence[Flow]) -> None:
        self.flows = list(flows)
        self.left = set(range(len(self.flows)))
        enough_memory()  # the limit is not to be seen from within a namespace
        there = namespace(ADDRESSES[0], {"tcp_sack": 1})
        self.senders = [_sender(flow.tcp, FIRST_PORT + k) for k, flow in enumerate(self.flows)]
        self.tuns = (there, namespace(ADDRESSES[1], {"tcp_sack": 1}))
        self.listener = _socket()
        self.listener.bind((ADDRESSES[1], PORT))
        self.listener.listen(len(self.flows))
        self.poll = select.epoll()
        for one in (*self.tuns, self.listener.fileno()):
            self.poll.register(one, select.EPOLLIN)
        self.due: list[tuple[float, int, Any, tuple[Any, ...]]] = []
        self.number = 0
        self.sending: dict[int, int] = {}
        self.receivers: dict[int, socket.socket] = {}
        self.receiving: dict[int, int] = {}
        self.inbox = bytearray(64 * MSS)

    def run(self) -> None:
        """Carry all flows from beginning to end; each has then seen what it saw."""
        zero = time.monotonic() + 0.5
        for k, flow in enumerate(self.flows):
            flow.start = zero + flow.begin
            self._at(flow.start, self._begin, k)
        while self.left:
            now = time.monotonic()
            while self.due and self.due[0][0] <= now:
                when, _, what, arguments = heapq.heappop(self.due)
                what(now, when, *arguments)
                now = time.monotonic()
            wait = self.due[0][0] - now if self.due else 0.0
            select.select(
                [self.poll], [], [], max(0.0, wait)
            )  # to the microsecond; epoll's own limit is in milliseconds
            for number, _ in self.poll.poll(0):
                self._ready(number)
        for one in (self.listener, self.poll):
            one.close()
        for tun in self.tuns:
            os.close(tun)

    def _at(self, when: float, what: Any, *arguments: Any) -> None:
        """Let something be done at a time; it is told when that is, and when it was to be."""
        self.number += 1
        heapq.heappush(self.due, (when, self.number, what, arguments))

    def _ready(self, number: int) -> None:
        if number == self.tuns[0]:
            self._from_senders()
        elif number == self.tuns[1]:
            self._from_receivers()
        elif number == self.listener.fileno():
            self._accept()
        elif number in self.sending:
            self._write(self.sending[number])
        elif number in self.receiving:
            self._read(number)

    def _begin(self, now: float, when: float, k: int) -> None:  # noqa: ARG002
        flow, sender = self.flows[k], self.senders[k]
        if flow.capture:
            flow.pcap = flow.capture.open("wb")
            flow.pcap.write(PCAP)
        self.sending[sender.fileno()] = k
        self.poll.register(sender.fileno(), select.EPOLLOUT)
        sender.connect_ex((ADDRESSES[1], PORT))
        self._at(when + INFO_SECONDS, self._info, k)
        self._at(when + flow.seconds, self._end, k)

    def _end(self, now: float, when: float, k: int) -> None:  # noqa: ARG002
        """Close a connection; what it has not sent is lost."""
        if k not in self.left:
            return
        self.left.remove(k)
        self.flows[k].end_capture()
        for one in (self.senders[k], self.receivers.pop(k, None)):
            if one is not None:
                self.sending.pop(one.fileno(), None)
                self.receiving.pop(one.fileno(), None)
                one.close()

    def _accept(self) -> None:
        receiver, (_, port) = self.listener.accept()
        receiver.setblocking(False)
        k = port - FIRST_PORT
        self.receivers[k], self.receiving[receiver.fileno()] = receiver, k
        self.poll.register(receiver.fileno(), select.EPOLLIN)

    def _write(self, k: int) -> None:
        """Write what there is; when all of it is written, write again when there is more."""
        flow, sender = self.flows[k], self.senders[k]
        now = time.monotonic() - flow.start
        wanted = flow.source.made(now) - flow.written
        if wanted > 0:
            try:
                flow.written += sender.send(BLOCK[: int(min(wanted, len(BLOCK)))])
            except BlockingIOError:
                return
        else:
            self.poll.modify(sender.fileno(), 0)
            self._at(flow.start + flow.source.following(now), self._more, k)

    def _more(self, now: float, when: float, k: int) -> None:  # noqa: ARG002
        if k in self.left:
            self.poll.modify(self.senders[k].fileno(), select.EPOLLOUT)
            self._write(k)

    def _read(self, number: int) -> None:
        k = self.receiving[number]
        flow = self.flows[k]
        try:
            flow.received += self.receivers[k].recv_into(self.inbox)
        except BlockingIOError:
            return
        now = time.monotonic()
        flow.seen.arrived.append((now - flow.start, flow.received))
        if flow.received >= flow.enough:
            self._end(now, now, k)

    def _from_senders(self) -> None:
        now = time.monotonic()
        for packet in packets(self.tuns[0]):
            header = 4 * (packet[0] & 15)
            flow = self.flows[int.from_bytes(packet[header : header + 2], "big") - FIRST_PORT]
            flow.record(packet)
            tag, left = -1, now
            if payload(packet):
                if now - flow.last_data > SILENCE * 2 * flow.delay:
                    flow.round += 1  # a probe, or the timer has run out
                flow.last_data = now
                tag = flow.round
                flow.seen.sent += 1
                if flow.losses.lose(flow.round):
                    continue
                if flow.link:
                    sent = flow.link.send(now - flow.start, len(packet))
                    if sent is None:
                        flow.seen.dropped_by_queue += 1
                        continue
                    left = flow.start + sent
            flow.out = max(flow.out, left)  # nothing overtakes
            self._at(flow.out + flow.delay, self._there, flow, tag, packet)

    def _from_receivers(self) -> None:
        now = time.monotonic()
        for packet in packets(self.tuns[1]):
            header = 4 * (packet[0] & 15)
            flow = self.flows[int.from_bytes(packet[header + 2 : header + 4], "big") - FIRST_PORT]
            self._at(now + flow.delay, self._back, flow, flow.delivered_round, packet)

    def _there(self, now: float, when: float, flow: Flow, tag: int, packet: bytes) -> None:
        flow.delivered_round = max(flow.delivered_round, tag)
        self._deliver(now, when, flow, self.tuns[1], packet)

    def _back(self, now: float, when: float, flow: Flow, tag: int, packet: bytes) -> None:
        if tag >= flow.round:
            flow.round += 1  # a packet of this round is acknowledged: what is sent now is the next round
        flow.record(packet)
        self._deliver(now, when, flow, self.tuns[0], packet)

    def _deliver(self, now: float, when: float, flow: Flow, tun: int, packet: bytes) -> None:
        flow.seen.late.append(now - when)
        if now - when > STALL:
            flow.seen.stalls.append((when - flow.start, now - when))
        os.write(tun, packet)

    def _info(self, now: float, when: float, k: int) -> None:
        if k not in self.left:
            return
        flow = self.flows[k]
        self._at(when + INFO_SECONDS, self._info, k)
        if now - flow.start > flow.captured:
            flow.end_capture()
        if memory() > enough_memory():
            flow.seen.stalls.append((now - flow.start, INFO_SECONDS))
        data = self.senders[k].getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 104)
        rto, _, _, _ = struct.unpack_from("<4I", data, 8)
        rtt, _ = struct.unpack_from("<2I", data, 68)
        if rtt:
            flow.seen.info.append((now - flow.start, rtt / 1e6, rto / 1e6, data[4]))


def carry(flows: Sequence[Flow]) -> None:
    """Make all connections before whatever else the machine does; each has then seen what it saw."""
    hub = Hub(flows)
    gc.disable()
    priority = real_time()
    hub.run()
    if priority:
        everyday()


def _sender(tcp: str, port: int) -> socket.socket:
    """Return a sender, not connected yet, in the namespace of this thread."""
    one = _socket()
    one.bind((ADDRESSES[0], port))
    one.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, tcp.encode())
    one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return one


def _socket() -> socket.socket:
    one = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    one.setsockopt(socket.SOL_SOCKET, SO_SNDBUFFORCE, BUFFER)
    one.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, BUFFER)
    one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
    one.setblocking(False)
    return one
