"""Sixty plausible inputs: ten that were written down and fifty drawn, before anything was timed.

``python -m benchmarks.ordinary_inputs`` draws them and writes `FILE`. They are command lines; what the library is
called with is read from these, and stands beside them.
"""

from __future__ import annotations

import json
import math
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import Any

import numpy as np

import tcpstream
from tcpstream import AccuracyError, Path, Video
from tcpstream.cli.units import probability, rate, seconds, times
from tcpstream.variants import LOSS_PROCESSES

FILE = FilePath(__file__).parent / "inputs" / "ordinary.json"

SEED = 20_261

DRAWN = 50

WRITTEN = (
    "delay --loss 0.005 --rtt 40ms --rto 240ms --rate 5Mbps --duration 10min --sender classic",
    "delay --loss 0.005 --rtt 40ms --rto 240ms --rate 5Mbps --duration 10min --sender classic --tcp cubic "
    "--initial-window 10 --detection rack",
    "delay --loss 1e-4 --rtt 30ms --rto 230ms --rate 25Mbps --duration 2h --sender classic",
    "delay --loss 1e-4 --rtt 30ms --rto 230ms --rate 25Mbps --duration 2h --sender classic --tcp reno-sack",
    "delay --loss 1e-3 --rtt 50ms --rto 250ms --rate 7Mbps --duration 3h --sender classic",
    "delay --loss 1e-5 --rtt 20ms --rto 220ms --rate 80Mbps --live --sender classic --tcp reno-sack",
    "rate --loss 0.01 --rtt 60ms --rto 260ms --live --delay 2 --sender classic --tcp cubic "
    "--initial-window 10 --detection rack",
    "live --loss 0.002 --rtt 80ms --rto 280ms --rate 2Mbps --duration 24h --delay 1,5 --sender classic",
    "delay --loss 1e-3 --rtt 1ms --rto 200ms --rate 50Mbps --live --sender classic",
    "delay --loss 1e-3 --rtt 1ms --rto 200ms --rate 50Mbps --duration 10min --sender classic",
)

SENDERS = (
    *(f"--sender classic --tcp {tcp}" for tcp in ("reno", "reno-sack", "cubic")), "--sender classic", "--sender linux",
)  # fmt: skip

TODAY = "--initial-window 10 --detection rack"
"""Half of the chains named by --tcp have these; a sender named without one has its own, and either loss process."""


@dataclass(frozen=True)
class Ranges:
    """What inputs are drawn from, log-uniformly but for the timer.

    Attributes
    ----------
    losses, round_trips, rates : (float, float)
        p; R [ms]; playback rate [Mbit/s].
    ratios : (float, float)
        T/mu; of a live stream without end from `endless` on.
    lengths : (float, float)
        Of stored video [s].
    live : tuple of str
        Lengths of live streams, as options.
    variation : (int, int)
        First timer above the round trip time [ms].
    endless : float
    largest_window : int
        [packets]
    """

    losses: tuple[float, float] = (1e-6, 0.1)
    round_trips: tuple[float, float] = (1.0, 600.0)
    rates: tuple[float, float] = (0.064, 100.0)
    ratios: tuple[float, float] = (0.8, 6.0)
    lengths: tuple[float, float] = (20.0, 3 * 3600.0)
    live: tuple[str, ...] = ("--live", "--duration 1h", "--duration 24h")
    variation: tuple[int, int] = (200, 300)
    endless: float = 1.02
    largest_window: int = 10_000


ORDINARY = Ranges()


@dataclass(frozen=True)
class Input:
    """A command line, and the same for the library.

    Attributes
    ----------
    command : str
        What follows ``tcpstream``.
    kind : {"stored", "live"}
    question : str
        The command: delay, rate, live.
    path, video : dict
        Keyword arguments; of `rate` the video has no rate.
    delays : list of float
        Startup delays that the command line asks for [s].
    """

    command: str
    kind: str
    question: str
    path: dict[str, Any]
    video: dict[str, Any]
    delays: list[float]

    @classmethod
    def of(cls, command: str) -> Input:
        """Read a command line."""
        question, *words = shlex.split(command)
        live = question == "live" or "--live" in words
        words = [word for word in words if word != "--live"]
        path: dict[str, Any] = {}
        video: dict[str, Any] = {}
        delays: list[float] = []
        for option, text in zip(words[::2], words[1::2]):
            name = option.removeprefix("--").replace("-", "_")
            if name == "rate":
                given = rate(text)
                video[given.name] = given.value
            elif name == "duration":
                video[name] = seconds(text)
            elif name == "delay":
                delays = times(text)
            elif name in ("rtt", "rto"):
                path[name] = seconds(text)
            else:
                path[name] = probability(text) if name == "loss" else int(text) if text.isdigit() else text
        return cls(command, "live" if live else "stored", question, path, video, delays)

    @property
    def endless(self) -> bool:
        """Whether it is a live stream without end."""
        return self.kind == "live" and "duration" not in self.video


def drawn(seed: int = SEED, among: Ranges = ORDINARY) -> Iterator[str]:
    """Draw command lines without end: sender, kind and length, then R, timer, p and T/mu, from which the rate follows.

    What is out of range is drawn again: rates, windows, and chains of more states than are built at all.
    """
    rng = np.random.default_rng(seed)
    while True:
        sender = str(rng.choice(SENDERS))
        if "--tcp" not in sender:
            sender += f" --losses {rng.choice(LOSS_PROCESSES)}"
        elif rng.random() < 0.5:
            sender += f" {TODAY}"
        stored = rng.random() < 0.5
        length = f"--duration {_log_uniform(rng, *among.lengths):.0f}s" if stored else str(rng.choice(among.live))
        rtt = float(f"{_log_uniform(rng, *among.round_trips):.3g}")
        rto = round(rtt + rng.uniform(*among.variation))
        loss = float(f"{_log_uniform(rng, *among.losses):.3g}")
        ratio = _log_uniform(rng, among.endless if length == "--live" else among.ratios[0], among.ratios[1])
        found = f"--loss {loss:g} --rtt {rtt:g}ms --rto {rto}ms"
        T = _throughput(Path(**Input.of(f"delay {found} {sender}").path), among.largest_window)
        if T is None:
            continue
        mbps = float(f"{T / ratio:.3g}")
        if not among.rates[0] <= mbps <= among.rates[1] or (length == "--live" and among.endless * mbps >= T):
            continue
        question, asked = ("delay", "") if stored or length == "--live" else ("live", " --delay 1,5")
        yield f"{question} {found} --rate {mbps:g}Mbps {length} {sender}{asked}"


def _throughput(path: Path, largest_window: int) -> float | None:
    """Return T [Mbit/s in packets of 1500 bytes], or None for windows and chains that are too large."""
    try:
        return tcpstream.throughput(path) * 12e-3 if path.max_window <= largest_window else None
    except AccuracyError:
        return None


def _log_uniform(rng: np.random.Generator, low: float, high: float) -> float:
    return math.exp(rng.uniform(math.log(low), math.log(high)))


def inputs() -> list[Input]:
    """Return the inputs that were drawn, as they are recorded."""
    return [Input.of(row["command"]) for row in json.loads(FILE.read_text(encoding="utf-8"))["rows"]]


def record(command: str) -> dict[str, Any]:
    """Return what is written down of an input."""
    one = Input.of(command)
    path = Path(**one.path)
    row: dict[str, Any] = {"command": command, "kind": one.kind, "path": one.path, "video": one.video}
    row["max_window"] = path.max_window
    if one.question != "rate":
        row["T/mu"] = float(f"{tcpstream.throughput(path) / Video(**one.video).packet_rate:.4g}")
    return row


def main() -> None:
    """Draw the inputs and write them."""
    more = drawn()
    rows = [record(command) for command in (*WRITTEN, *(next(more) for _ in range(DRAWN)))]
    lines = ",\n".join("  " + json.dumps(row) for row in rows)
    FILE.parent.mkdir(exist_ok=True)
    FILE.write_text(f'{{"seed": {SEED}, "rows": [\n{lines}\n]}}\n', encoding="utf-8")


if __name__ == "__main__":
    main()
