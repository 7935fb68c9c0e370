"""What Chung, Claypool and Zhu print, beside the runs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..paper.claim import Claim
from .chung_table import FAIR, THEIRS, TOTAL, row
from .measured import Seen

EQUAL = 0.02
"""At 600 kbit/s mean rates are equal within this share of the bottleneck (assumed)."""

MEDIANS = {"75": 0.45, "150": 0.34, "300": 0.13, "600": 0.1}
"""Section 4: round trip times [s]."""

MORE = {"75": 70, "150": 70, "300": 60}
"""Section 5.1: clips that got more over UDP [%]."""


def rows(seen: Seen) -> Iterator[Claim]:
    """Yield Table 1, and what the text says."""
    yield from _pings(seen)
    yield from _shares(seen)
    yield from _table_1(seen)
    yield from _scaling(seen)
    yield from _buffering(seen)


def _pings(seen: Seen) -> Iterator[Claim]:
    found = {rate: float(np.median(_values(seen, rate, "rtt"))) for rate in MEDIANS}
    for rate, authors in MEDIANS.items():
        basis = "R" if rate == "600" else "T"
        holds = 0.6 * authors <= found[rate] <= 1.4 * authors
        says = f"Median over the clips of the mean round trip time at {rate} kbit/s"
        yield Claim(f"rtt-{rate}", "4", says, f"{found[rate]:.3g} s", holds, basis, f"{authors:g} s", "40%")
    order = [found[rate] for rate in MEDIANS]
    told = ", ".join(f"{value:.3g} s" for value in order)
    yield Claim(
        "rtt-order", "4", "It falls from 75 to 600 kbit/s", told, order == sorted(order, reverse=True),
        "T", "450, 340, 130, 100 ms", "exact",
    )  # fmt: skip
    worst = max(float(np.median(_values(seen, rate, "p"))) for rate in MEDIANS)
    says = "Median over the clips of the ping's losses, at the rate where it is largest"
    yield Claim("ping-loss", "4", says, f"{worst:.2%}", worst < 0.02, "T", "< 2%", "exact")


def _shares(seen: Seen) -> Iterator[Claim]:
    for rate, authors in MORE.items():
        share = _compared(seen, rate, 0.0)[0]
        yield _percent(f"udp-more-{rate}", "5.1", f"Clips that get more over UDP at {rate} kbit/s", share, authors, 15)
    udp, equal, tcp = _compared(seen, "600", EQUAL)
    yield _percent("equal-600", "5.1", "Clips that get the same over UDP and TCP at 600 kbit/s", equal, 40, 15)
    yield _percent("tcp-more-600", "5.1", "Clips that get more over TCP at 600 kbit/s", tcp, 30, 15)
    yield _percent("udp-more-600", "5.1", "Clips that get more over UDP at 600 kbit/s", udp, 20, 15)


def _table_1(seen: Seen) -> Iterator[Claim]:
    printed = all(round(100 * of / all_) == percent for of, all_, percent in TOTAL.values())
    misprint = round(100 * 20 / 164, 1)
    yield Claim(
        "table-1-counts", "5.2", "The percentages of Table 1 follow from its counts, but 20 of 164 are not 14%",
        f"{misprint:g}%", printed and misprint == 12.2, "R", "14%", "exact",
    )  # fmt: skip
    for rate, theirs in THEIRS.items():
        ours = row(seen, rate)
        for name, mine, his, low, high in (
            ("unfriendly", 100 * ours.unfriendly / ours.clips, 100 * theirs.unfriendly / theirs.clips, 2, 15),
            ("effective", ours.effective_percent, theirs.effective_percent, 4, 25),
        ):
            kind = "Unfriendly" if name == "unfriendly" else "Unfriendly, of clips that can and must respond,"
            yield Claim(
                f"{name}-{rate}", "5.2", f"{kind} at {rate} kbit/s", f"{mine:.3g}%", low <= mine <= high,
                "T", f"{his:.0f}%", f"{low} to {high}%",
            )  # fmt: skip
        for name, mine, his in (("min-above", ours.above, theirs.above), ("max-below", ours.below, theirs.below)):
            side = "all levels above" if name == "min-above" else "all levels below"
            says = f"Clips with {side} the fair share of {FAIR[rate]:g} kbit/s"
            authors = 100 * his / theirs.clips
            yield _percent(f"{name}-{rate}", "5.2", says, 100 * mine / ours.clips, authors, 10, "R")


def _scaling(seen: Seen) -> Iterator[Claim]:
    runs = seen.runs("35")
    udp, tcp = (100 * float(np.mean([run[f"{over}_level_changes"] == 0 for run in runs])) for over in ("udp", "tcp"))
    yield _percent("unchanged-udp", "5.3", "Clips whose level never changes over UDP at 35 kbit/s", udp, 35, 10, "R")
    yield Claim(
        "unchanged-tcp", "5.3", "Clips whose level never changes over TCP, less those over UDP", f"{tcp - udp:.3g}%",
        10 <= tcp - udp <= 30, "T", "20% (55% less 35%)", "10 to 30%",
    )  # fmt: skip
    for over, basis, low, high, authors in (("udp", "R", 0.0, 12.0, "10 s"), ("tcp", "T", 20.0, 45.0, "> 25 s")):
        times = [run[f"{over}_adapted"] for run in runs if run[f"{over}_adapted"] is not None]
        ours = float(np.quantile(times, 0.8))
        says = f"By when 80% of the streams over {over.upper()} that adapt are below 35 kbit/s"
        yield Claim(
            f"adapted-{over}",
            "5.3",
            says,
            f"{ours:.3g} s",
            low <= ours <= high,
            basis,
            authors,
            f"{low:g} to {high:g} s",
        )
    for over, basis, low, high, authors in (
        ("udp", "T", 185.0, 220.0, "200 s"),
        ("tcp", "R", 280.0, np.inf, "> 300 s"),
    ):
        ends = seen.of("clip-65", f"{over}_end_s")
        says = f"When all of Clip-65, of 180 s, is played over {over.upper()} at 35 kbit/s"
        within = f"{low:g} to {high:g} s" if np.isfinite(high) else f"at least {low:g} s"
        yield Claim(f"clip-65-{over}", "5.3", says, f"{ends} s", low <= ends.mean <= high, basis, authors, within)


def _buffering(seen: Seen) -> Iterator[Claim]:
    points = [
        (run[over], run[f"{over}_ratio"])
        for rate in (*MEDIANS, "lan")
        for run in seen.runs(rate)
        for over in ("udp", "tcp")
        if run[f"{over}_ratio"] is not None
    ]
    rates, ratios = np.array(points).T
    low, high = (float(np.median(ratios[part])) for part in (rates < 50, rates > 200))
    largest = float(np.quantile(ratios, 0.95))
    yield Claim(
        "buffering", "5.4", "What 95% of the ratios of buffering to steady rate are below; less at higher rates",
        f"{largest:.3g}; medians {low:.3g} below 50 kbit/s, {high:.3g} above 200", 4.5 <= largest <= 7 and low > high,
        "R", "up to 6", "4.5 to 7",
    )  # fmt: skip
    ours = float(np.median([run["tcp_ratio"] for run in seen.runs("lan") if run["tcp_ratio"] is not None]))
    yield Claim(
        "buffering-tcp", "5.4", "Median of that ratio over TCP on the campus network", f"{ours:.3g}",
        1.7 <= ours <= 2.3, "R", "2", "1.7 to 2.3",
    )  # fmt: skip


def _percent(key: str, section: str, says: str, found: float, authors: float, points: float, basis: str = "T") -> Claim:
    holds = abs(found - authors) <= points
    return Claim(key, section, says, f"{found:.3g}%", holds, basis, f"{authors:.0f}%", f"{points:g} points")


def _values(seen: Seen, condition: str, name: str) -> list[Any]:
    return [run[name] for run in seen.runs(condition)]


def _compared(seen: Seen, rate: str, equal: float) -> tuple[float, float, float]:
    """Return the shares of clips [%] that get more over UDP, the same within a share of the bottleneck, and less."""
    difference = np.array([run["tcp"] - run["udp"] for run in seen.runs(rate)]) / float(rate)
    udp, tcp = (100 * float(np.mean(found)) for found in (difference < -equal, difference > equal))
    return udp, 100 - udp - tcp, tcp
