"""What Nichols says of random losses, of delays, and of the download alone, beside the runs."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from ..paper.claim import Claim
from .measured import Seen
from .nichols_cases import DELAYS


def path_rows(seen: Seen) -> Iterator[Claim]:
    """Yield what Sections 3.4, 4.3 and 4.4 say."""
    yield from _losses(seen)
    yield from _changes(seen)
    yield from _delays(seen)
    alone = {window: seen.of("alone", f"window {window}").mean for window in (44, 12)}
    yield Claim(
        "alone", "3.4", "Alone, a download fills 140 kbit/s from 10 s on, at a round trip of 1 s; with 12 packets not",
        ", ".join(f"{window} packets: {rate:.4g} kbit/s" for window, rate in alone.items()),
        alone[44] >= 133 and alone[12] < alone[44], "T", "full link", "95%",
    )  # fmt: skip


def _less(seen: Seen, condition: str) -> list[bool]:
    return [run["less"] is not None for run in seen.runs(condition)]


def _losses(seen: Seen) -> Iterator[Claim]:
    thinned = {percent: _less(seen, f"loss {percent}") for percent in (1, 2, 3, 5, 10, 20)}
    yield Claim(
        "loss-thins", "4.3", "Random loss below 3% never thins 548 over 725 kbit/s, loss above 5% always does",
        ", ".join(f"{percent}%: {sum(runs)} of {len(runs)}" for percent, runs in thinned.items()),
        not any(thinned[1] + thinned[2]) and all(thinned[10] + thinned[20]), "R", "between 3% and 5%", "exact",
    )  # fmt: skip
    ends = {percent: seen.of(f"loss {percent}", "final").mean for percent in (5, 10, 20)}
    yield Claim(
        "loss-more", "4.3", "More loss than 5% changes nothing: rates at the end",
        ", ".join(f"{percent}%: {rate:.3g} kbit/s" for percent, rate in ends.items()),
        max(ends.values()) <= 1.1 * min(ends.values()), "T", "no effect", "10%",
    )  # fmt: skip
    names = ["548 over 725", *(f"loss {percent}" for percent in (5, 10, 20))]
    for key, says, number, sign, authors in (
        ("loss-offered", "sends more in buffering, at 0, 5, 10, 20% [kbit/s]", "offered", 1, "increases"),
        ("loss-tcp", "lets the download have less [kbit/s]", "tcp", -1, "backs off"),
    ):
        values = [seen.of(name, number).mean for name in names]
        yield Claim(
            key, "4.3", f"The more loss there is, the player {says}" if sign > 0 else f"and {says}",
            ", ".join(f"{value:.3g}" for value in values), all(sign * (b - a) > 0 for a, b in pairwise(values)), "T",
            authors, "exact",
        )  # fmt: skip
    lower = {percent: _less(seen, f"scaled loss {percent}") for percent in (3, 10, 20)}
    final = [seen.of(f"scaled loss {percent}", "final").mean for percent in (10, 20)]
    yield Claim(
        "loss-scales", "4.3", "Above 5% a clip of eight levels takes a lower one instead of thinning: above its audio",
        f"10%, 20%: {final[0]:.3g}, {final[1]:.3g} kbit/s",
        all(lower[10] + lower[20]) and all(48 * 1.5 < rate < 500 for rate in final), "R", "a lower level", "exact",
    )  # fmt: skip
    yield Claim(
        "loss-sometimes", "4.3", "at 3% sometimes, and sometimes not",
        f"{sum(lower[3])} of {len(lower[3])}", 0 < sum(lower[3]) < len(lower[3]), "R", "sometimes", "exact",
    )  # fmt: skip
    same = {percent: [seen.of(f"{kind}loss {percent}", "got").mean for kind in ("", "scaled ")] for percent in (10, 20)}
    yield Claim(
        "loss-scaled-buffering", "4.3", "but is buffered as the clip of one level",
        ", ".join(f"{percent}%: {one:.3g} and {eight:.3g} kbit/s" for percent, (one, eight) in same.items()),
        all(abs(eight / one - 1) <= 0.1 for one, eight in same.values()), "T", "the same", "10%",
    )  # fmt: skip
    losses = {percent: seen.of(f"loss {percent}", "loss").mean for percent in (1, 2, 3, 5, 10, 20)}
    yield Claim(
        "loss-cumulative", "4.3", "Loss in buffering is more than the random loss: 2 points at least",
        ", ".join(f"{percent}%: {loss:.3g}%" for percent, loss in losses.items()),
        all(loss > percent + 2 for percent, loss in losses.items()), "T", "self-induced drops in addition", "2 points",
    )  # fmt: skip


def _changes(seen: Seen) -> Iterator[Claim]:
    for way, says, reference in (
        ("on", "Loss from 15 s on changes nothing: rates at the end as without", "548 over 725"),
        ("off", "Loss that ends at 15 s has thinned the clip: rates at the end as with loss throughout", "loss {}"),
    ):
        found = []
        for percent in (10, 20):
            ours, other = (seen.of(c, "final").mean for c in (f"loss {way} {percent}", reference.format(percent)))
            found.append((percent, ours, other))
        yield Claim(
            f"loss-{way}", "4.3", says,
            ", ".join(f"{percent}%: {ours:.3g} and {other:.3g} kbit/s" for percent, ours, other in found),
            all(abs(ours / other - 1) <= 0.05 for _, ours, other in found), "R", "no reaction", "5%",
        )  # fmt: skip


def _delays(seen: Seen) -> Iterator[Claim]:
    names = {45: "548 over 725"} | {delay: f"delay {delay}" for delay in DELAYS}
    losses = {delay: seen.of(name, "loss").mean for delay, name in names.items()}
    yield Claim(
        "delay-loss", "4.4", "With a queue of 80 packets, delays raise the loss in buffering of 548 over 725 kbit/s",
        _at(losses, "%"), losses[1350] - losses[45] > 10, "T", "dramatically", "more than 10 points",
    )  # fmt: skip
    after = {delay: seen.of(name, "after").mean for delay, name in names.items()}
    yield Claim(
        "delay-after", "4.4", "and it receives less after buffering",
        _at(after, " kbit/s"), after[1350] < 0.95 * after[45], "T", "decreases", "more than 5%",
    )  # fmt: skip
    scaled = {delay: f"delay and queue {delay}" for delay in (45, *DELAYS)}
    one = seen.of("delay and queue 1350, one level", "loss").mean
    same = {delay: seen.of(name, "loss").mean for delay, name in scaled.items()}
    yield Claim(
        "delay-queue", "4.4", "With a queue that grows with the delay they do not, with eight levels or one",
        f"{_at(same, '%')}; one level, 1350: {one:.3g}%",
        all(abs(loss - same[45]) < 5 for loss in (*same.values(), one)), "T", "no effect", "5 points",
    )  # fmt: skip
    for key, says, number, sign, authors in (
        ("delay-rate", "but the player receives more at the largest delay, in buffering [kbit/s]", "got", 1, "higher"),
        ("delay-tcp", "since the download leaves it more [kbit/s]", "tcp", -1, "makes capacity available"),
    ):
        near, far = (seen.of(scaled[delay], number).mean for delay in (45, 1350))
        yield Claim(
            key, "4.4", says, f"{near:.3g} at 45 ms, {far:.3g} at 1350 ms", sign * (far - near) > 0.01 * near, "T",
            authors, "more than 1%",
        )  # fmt: skip


def _at(values: dict[int, float], unit: str) -> str:
    return ", ".join(f"{delay} ms: {value:.3g}{unit}" for delay, value in values.items())
