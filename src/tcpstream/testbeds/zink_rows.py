"""What Zink et al. print and say, beside the runs."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ..layered import valid_of_some
from ..paper.claim import Claim
from ..sim.tfrc.equation import throughput
from .measured import Measured, Seen

LOSSES = (0.002, 0.01, 0.05)
"""Independent losses, under which TFRC is set beside its equation."""

LAYER, SIZE, LIMIT = 256e3, 1000, 512e3
"""Rate of a layer [bit/s], size of segments [bytes], rate of the last hop [bit/s]."""


def rows(seen: Seen) -> Iterator[Claim]:
    """Yield all rows."""
    yield from _under_tfrc(seen)
    yield from printed(valid_of_some(4, 2))
    yield from _under_udp(seen)
    yield from _both(seen)
    yield from _hierarchical(seen)
    yield from _copies(seen)
    yield from _equation(seen)


def _within(
    key: str, section: str, says: str, ours: Measured, ends: tuple[float, float], authors: str, basis: str = "T"
) -> Claim:
    low, high = ends
    within = f"{low:g} to {high:g}" if high < float("inf") else f"at least {low:g}"
    return Claim(key, section, says, f"{ours}", low <= ours.mean <= high, basis, authors, within)


def _under_tfrc(seen: Seen) -> Iterator[Claim]:
    inf = float("inf")
    for key, name, says, ends, authors in (
        ("tfrc-valid", "valid", "Valid layers at the client under TFRC", (1.7, 2.1), "2"),
        ("tfrc-layer-1", "layer_1", "Frames with layer 1", (0.96, inf), "very low loss"),
        ("tfrc-layer-2", "layer_2", "Frames with layers 1 and 2", (0.9, inf), "very low loss"),
        ("tfrc-layer-3", "layer_3", "Frames with layers 1 to 3", (0.05, 0.3), "probes, often lost"),
    ):
        yield _within(key, "5.2.1", f"{says}, after the start", seen.of("tfrc", name), ends, authors)
    ours = seen.of("tfrc", lambda run: 8 * throughput(SIZE, run["rtt"], run["p"]) / LAYER)
    yield _within(
        "tfrc-sustains", "5.2.1", "Layers that the rate of TFRC is worth, by its equation at the p and R of the runs",
        ours, (1.7, 2.1), "2 layers",
    )  # fmt: skip
    early, late = (seen.of("tfrc", name) for name in ("early", "late"))
    yield Claim(
        "tfrc-early", "5.2.1", "The early phase is unstable: the mean of 101 frames varies more in it than after 60 s",
        f"standard deviations {early}, {late} layers",
        early.mean > late.mean, "T", "strong instability, unexpectedly long",
    )  # fmt: skip


def printed(law: NDArray[np.float64]) -> Iterator[Claim]:
    """Yield what is printed, beside what follows from a law of valid layers, that of any two of four, exactly."""
    mean = float(law @ range(5))
    one, two = float(law[1:].sum()), float(law[2:].sum())
    for key, says, ours, authors in (
        ("printed-valid", "Valid layers", mean, 0.66),
        ("printed-layer-1", "Frames with layer 1", one, 0.5),
        ("printed-layers-1-2", "Frames with layers 1 and 2", two, 0.33),
    ):
        beside = f"; of those with layer 1 {two / one:.3f}" if ours == two else ""
        yield Claim(
            key, "5.2.2", f"{says}, if any two of four segments arrive", f"{ours:.3f}{beside}",
            abs(ours - authors) < 0.01, "T", f"{authors:g}", "0.01",
        )  # fmt: skip


def _under_udp(seen: Seen) -> Iterator[Claim]:
    for drops in ("udp", "udp random"):
        key, how = drops.replace(" ", "-"), ", random drops" if drops.endswith("random") else ""
        valid, arrived = (seen.of(drops, name) for name in ("valid", "arrived"))
        yield _within(f"{key}-valid", "5.2.2", f"Valid layers under UDP{how}", valid, (0.43, 0.95), "0.66")
        yield _within(f"{key}-arrive", "5.2.2", f"Layers that arrive under UDP{how}", arrived, (1.8, 2.1), "about 2")
    better = {how: seen.of(how, "valid") for how in ("tfrc", "udp")}
    yield Claim(
        "tfrc-better", "6", "More layers are valid under TFRC than under UDP", f"{better['tfrc']}, {better['udp']}",
        better["tfrc"].low > better["udp"].high, "T", "UDP considerably worse", "intervals apart",
    )  # fmt: skip


def _both(seen: Seen) -> Iterator[Claim]:
    lab = _ratio(seen, "tfrc", "udp")
    yield _within("throughput-lab", "5.2.2", "Throughput of TFRC over that of UDP, lab", lab, (0.55, 1.05), "2/3")
    capped = _ratio(seen, "internet tfrc", "internet udp")
    yield _within(
        "throughput-capped", "5.2.2", "The same where TFRC is limited to 384 kbit/s", capped, (0.3, 0.42), "1/3", "R"
    )
    cost = Measured(*(1 - one for one in (lab.mean, lab.high, lab.low)))
    yield _within("cost", "1", "Average quality that TFRC costs, lab", cost, (0.25, 0.75), "one to two thirds")
    for drops in ("", " random"):
        key, how = ("changes-random", "random drops") if drops else ("changes", "drop-tail")
        paced, free = (seen.of(f"{one}{drops}", "changes") for one in ("tfrc", "udp"))
        yield _less(
            key, "5.2.2", f"Changes of the valid layers a frame are fewer under TFRC than under UDP, {how}", paced, free
        )


def _hierarchical(seen: Seen) -> Iterator[Claim]:
    ours = seen.of("tfrc", lambda run: run["arrived"] / run["valid"])
    yield _within(
        "fig14-tfrc", "5.2.3", "Layers that arrive over valid ones under TFRC", ours, (0.95, 1.05), "identical"
    )
    used = {how: seen.of(how, lambda run: run["rate"] / LIMIT) for how in ("udp", "none")}
    yield Claim(
        "fig14-limit", "5.2.3", "Throughput over the last hop's rate, UDP after TFRC, and UDP all the way",
        f"{used['udp']}, {used['none']}",
        all(0.95 <= one.mean <= 1.01 for one in used.values()) and abs(used["udp"].mean / used["none"].mean - 1) < 0.05,
        "T", "the same, very close to the limit", "0.95 to 1.01, 5% apart",
    )  # fmt: skip
    flat = {how: seen.of(how, "changes_flat") for how in ("tfrc", "udp", "none")}
    yield _less(
        "fig14-stable",
        "5.2.3",
        "Without hierarchy, UDP all the way has fewer changes than TFRC",
        flat["none"],
        flat["tfrc"],
    )
    yield _less(
        "fig14-backbone",
        "5.2.3",
        "Without hierarchy, UDP all the way has fewer than UDP after TFRC",
        flat["none"],
        flat["udp"],
    )


def _copies(seen: Seen) -> Iterator[Claim]:
    right = [run["lacking"] == 0 and run["same"] == 1 for run in seen.runs("copy 1")]
    yield Claim(
        "copy-mode-1", "4.1.3", "Mode 1 ends with a whole copy",
        f"{sum(right)} of {len(right)}, {seen.of('copy 1', 'lists')} lists", all(right),
        "R", "exact copy", "bit for bit",
    )  # fmt: skip
    sent = seen.runs("copy 0")
    exact = [run["same"] == 1 and run["bye"] == 1 and run["segments"] - run["lacking"] == run["sent"] for run in sent]
    yield Claim(
        "copy-mode-0", "4.1.3", "Mode 0 ends with what was sent, by BYE",
        f"{sum(exact)} of {len(exact)}, {seen.of('copy 0', 'lists')} lists", all(exact), "R", "only losses", "exactly",
    )  # fmt: skip


def _equation(seen: Seen) -> Iterator[Claim]:
    for loss in LOSSES:
        ours = seen.of(f"losses {loss:g}", "ratio")
        yield _within(
            f"equation-{loss:g}", "2.2", f"Rate over the equation at the loss-event rate, {loss:g} of packets lost",
            ours, (0.85, 1.15), "TCP-friendly",
        )  # fmt: skip


def _less(key: str, section: str, says: str, one: Measured, other: Measured) -> Claim:
    return Claim(key, section, says, f"{one}, {other}", one.mean < other.mean, authors="fewer")


def _ratio(seen: Seen, one: str, other: str) -> Measured:
    """Return the mean rate of a condition over that of another: an interval of the first, over the other's mean."""
    below = seen.of(other, "rate").mean
    return seen.of(one, lambda run: run["rate"] / below)
