"""The dumbbell of Section 4 in both simulators: one scenario, run here or written down for ns-2."""

from __future__ import annotations

import gzip
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path as FilePath
from typing import Any

import numpy as np
from witness import InOrder, lines

from tcpstream.paper import settings
from tcpstream.sim import Delivery, Requests, Scenario, Steady, simulate

HTTP = FilePath("/usr/share/doc/ns2/examples/tcl/http")
"""Where Debian's ns2-examples puts the web model."""

THINK = 300.0
"""Mean pause between an answer and the next request [s]: web traffic takes a small share of the bottleneck."""


SETTINGS = {setting.name: setting for setting in settings.SETTINGS}


def drawn(setting: settings.Setting, seed: int, web: bool, video: Steady | None = None) -> Scenario:
    """Draw delays, starts and requests; every transfer is measured, the video first."""
    dumbbell = replace(setting.network(), web=setting.web if web else 0, think=THINK)
    scenario = dumbbell.scenario(np.random.default_rng([seed, 1]), video)
    flows = [replace(flow, measured=not isinstance(flow.source, Requests)) for flow in scenario.flows]
    return Scenario(scenario.links, tuple(flows))


@dataclass(frozen=True)
class Seen:
    """What a run saw.

    Attributes
    ----------
    video : Delivery
    transfers : list of float
        Packets/s of every transfer, the video first.
    packets : int
        Packets sent by all senders.
    seconds : float
        CPU, without start-up; not a number where it was not measured.
    """

    video: Delivery
    transfers: list[float]
    packets: int
    seconds: float


def here(scenario: Scenario, seconds: float, seed: int) -> Seen:
    """Run this simulator."""
    run = simulate(scenario, seconds, np.random.default_rng(seed))
    return Seen(run.flows[0], [one.throughput for one in run.flows], run.packets, np.nan)


def there(scenario: Scenario, seconds: float, seed: int, browsers: int = 0, trace: bool = True) -> Seen:
    """Run ns-2 on the same scenario, with `browsers` sources of its own web model beside."""
    video = scenario.flows[0]
    rate = video.source.packet_rate if isinstance(video.source, Steady) else 0.0
    arrivals, path = InOrder(), _Path()
    acked: list[int] = []
    end: list[float] = []
    with _written(scenario, seed, browsers) as network:
        for line in lines("dumbbell.tcl", network, seconds, seed, int(trace)):
            fields = line.split()
            if fields[0] in "+r" and len(fields) == 12:
                number, now = int(fields[10]), float(fields[1])
                if fields[0] == "r" and fields[3] == "3" and fields[4] == "tcp":
                    path.received += 1
                    arrivals.arrived(number, now - video.start)
                else:
                    path.saw(fields, number, now)
            elif fields[0] == "acked":
                acked = [int(one) for one in fields[1:]]
            elif fields[0] == "end":
                end = [float(one) for one in fields[1:]]
    packets, sent, rto, cpu = end
    starts = [flow.start for flow in scenario.flows if flow.measured]
    delivery = Delivery(
        times=np.array(arrivals.times), duration=seconds - video.start, interval=1 / rate if rate else 0.0,
        loss_rate=1 - path.received / sent, loss_event_rate=np.nan, rtt=path.rtt, rto=rto, sent=int(sent),
        timeouts=0, fast_retransmits=0,
    )  # fmt: skip
    return Seen(delivery, [n / (seconds - start) for n, start in zip(acked, starts)], int(packets), cpu)


class _Path:
    """Round trips where nothing was sent again, from the trace of the sender's link."""

    def __init__(self) -> None:
        self.received = 0
        self._sent: dict[int, float] = {}
        self._again: set[int] = set()
        self._acked = -1
        self._total, self._count = 0.0, 0

    def saw(self, fields: list[str], number: int, now: float) -> None:
        """Take a packet that leaves the sender, node 2, or an acknowledgement that arrives there."""
        if fields[0] == "+" and fields[2] == "2":
            if number in self._sent:
                self._again.add(number)
            self._sent[number] = now
        elif fields[0] == "r" and fields[3] == "2" and number > self._acked:
            newly = range(self._acked + 1, number + 1)
            if number in self._sent and self._again.isdisjoint(newly):
                self._total += now - self._sent[number]
                self._count += 1
            for old in newly:
                self._sent.pop(old, None)
                self._again.discard(old)
            self._acked = number

    @property
    def rtt(self) -> float:
        return self._total / self._count if self._count else np.nan


@contextmanager
def _written(scenario: Scenario, seed: int, browsers: int) -> Iterator[FilePath]:
    """Write what `dumbbell.tcl` needs to know, and the data of ns-2's web model, to a folder."""
    with tempfile.TemporaryDirectory() as folder:
        data = FilePath(folder)
        if browsers:
            for packed in (HTTP / "data").iterdir():
                unpack = gzip.open if packed.suffix == ".gz" else open
                with unpack(packed, "rb") as source, (data / packed.name.removesuffix(".gz")).open("wb") as target:
                    shutil.copyfileobj(source, target)
        (data / "network.tcl").write_text(_tcl(scenario, seed, browsers, data))
        yield data / "network.tcl"


def _tcl(scenario: Scenario, seed: int, browsers: int, data: FilePath) -> str:
    bottleneck = scenario.links["bottleneck"]
    tcp = scenario.flows[0].tcp
    assert tcp is not None
    pairs: dict[str, list[float]] = {}
    transfers: list[Any] = []
    connections: list[Any] = []
    requests = Requests(np.zeros(1), np.ones(1, dtype=np.int64))
    places = np.random.default_rng(seed)  # as `simulate` draws them
    for flow in scenario.flows:
        left, _, right = (scenario.links[name].delay for name in flow.there)
        pairs.setdefault(flow.there[0], [left, right])
        pair = list(pairs).index(flow.there[0])
        if isinstance(flow.source, Requests):
            requests = flow.source
            connections += [pair, flow.start, int(places.integers(len(requests.think)))]
        else:
            transfers += [pair, flow.start, flow.source.packet_rate if isinstance(flow.source, Steady) else 0]
    rng = np.random.default_rng([seed, 2])
    starts = []
    for number in range(browsers):
        pairs[f"browser {number}"] = list(rng.uniform(0.010, 0.020, 2))
        starts += [len(pairs) - 1, rng.uniform(0, 20)]
    delays = [value for number, pair in enumerate(pairs.values()) for value in (number, *pair)]
    values: dict[str, list[Any]] = {
        "bottleneck": [bottleneck.rate, bottleneck.delay, bottleneck.queue, tcp.jitter],
        "pairs": delays, "transfers": transfers, "connections": connections,
        "thinks": [f"{value:.6f}" for value in requests.think], "answers": list(requests.packets),
        "browsers": starts, "http": [HTTP / "http.tcl"], "data": [data],
    }  # fmt: skip
    return "".join(f"set {name} {{{' '.join(map(str, value))}}}\n" for name, value in values.items())
