"""What Nichols says of clips of one level, beside the runs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from itertools import pairwise

import numpy as np

from ..paper.claim import Claim
from .measured import Seen
from .nichols_cases import CAPACITIES, RATES
from .nichols_levels_rows import levels_rows
from .nichols_path_rows import path_rows

Row = tuple[str, str, str, str, float, float]
"""Key, what it says, condition, number, and the ends of what holds."""

FITTED: tuple[tuple[Row, str], ...] = (
    (("340-buffering-rate", "340 over 725 is buffered at [kbit/s]", "340 over 725", "got", 450, 650), "500 to 600"),
    (("340-buffering-length", "for so long [s]", "340 over 725", "length", 7, 13), "about 10"),
    (("340-buffering-loss", "loses at most, in a second [%]", "340 over 725", "peak", 25, 45), "almost 40"),
    (("340-steady", "and ends at [kbit/s]", "340 over 725", "final", 323, 357), "340"),
    (("548-at-250-time", "548 over 250 is streamed so for [s]", "548 over 250", "less", 30, 45), "almost 40"),
    (("548-at-250-loss", "loses at most, in a second [%]", "548 over 250", "most", 75, 100), "over 80"),
    (("548-at-250-thinned", "and ends at [kbit/s]", "548 over 250", "final", 30, 75), "about 50"),
)  # fmt: skip
"""Section 4.1, with what the authors print: buffer, speeds and patience were fitted on them."""


def rows(seen: Seen) -> Iterator[Claim]:
    """Yield what the text says: of one level, of several, of losses and delays."""
    for row, authors in FITTED:
        yield within(seen, row, "C", authors)
    row = ("1128-loss", "1128 over 725 kbit/s loses at most, in a second [%]", "1128 over 725", "most", 75.0, 100.0)
    yield within(seen, row, "R", "over 80")
    yield from _shares(seen)
    yield from _queues(seen)
    yield from _buffering(seen)
    yield from _after(seen)
    yield from levels_rows(seen)
    yield from path_rows(seen)


def within(seen: Seen, row: Row, basis: str, authors: str, section: str = "4.1") -> Claim:
    """Return whether a mean over runs is in a range."""
    key, says, condition, number, low, high = row
    ours = seen.of(condition, number)
    return Claim(key, section, says, f"{ours}", low <= ours.mean <= high, basis, authors, f"{low:g} to {high:g}")


def means(seen: Seen, number: str, capacity: int, rates: Iterable[int] = RATES) -> dict[int, float]:
    """Return means over the runs of clips of one level over a link, by their rates [kbit/s]."""
    return {rate: seen.of(f"{rate} over {capacity}", number).mean for rate in rates}


def listed(values: dict[int, float]) -> str:
    """Return numbers by rates, for evidence."""
    return ", ".join(f"{rate}: {value:.3g}" for rate, value in values.items())


SHARES: tuple[tuple[Row, str, str], ...] = (
    (("548-steady", "548 receives after buffering [kbit/s]", "548 over 725", "after", 510, 586), "T", "548"),
    (("548-tcp", "and the download beside it [kbit/s]", "548 over 725", "tcp_after", 0, 362), "T", "less than 362"),
    (("548-loss", "548, buffered, loses at most, in a second [%]", "548 over 725", "peak", 5, 100), "R", "heavy"),
    (("548-tcp-loss", "and the download [%]", "548 over 725", "tcp_peak", 5, 100), "R", "heavy"),
    (("1128-thinned", "1128 ends below its fair share [kbit/s]", "1128 over 725", "final", 0, 362), "T", "below 362"),
)  # fmt: skip
"""Section 4.1, over 725 kbit/s."""


def _shares(seen: Seen) -> Iterator[Claim]:
    for row, basis, authors in SHARES:
        yield within(seen, row, basis, authors)
    ends = means(seen, "final", 250, (282, 340, 764, 1128))
    yield Claim(
        "250-thinned", "4.1", "Clips above 250 kbit/s over such a link end below the fair share, 125",
        f"{listed(ends)} kbit/s", all(rate < 125 for rate in ends.values()), "T", "less than its fair share", "125",
    )  # fmt: skip


def _queues(seen: Seen) -> Iterator[Claim]:
    names = {queue: f"queue {queue}" if queue != 80 else "548 over 725" for queue in (20, 40, 60, 80, 100, 120)}
    rates = {
        queue: [seen.of(name, number).mean for number in ("got", "after", "tcp", "tcp_after")]
        for queue, name in names.items()
    }
    found = {
        queue: max(abs(ours / at_80 - 1) for ours, at_80 in zip(rates[queue], rates[80])) for queue in (60, 100, 120)
    }
    yield Claim(
        "queue-same", "4.1", "Queues of 60 packets and more: rates of both flows as with 80, largest difference",
        ", ".join(f"{queue}: {100 * value:.1f}%" for queue, value in found.items()),
        all(value <= 0.1 for value in found.values()), "T", "similar", "10%",
    )  # fmt: skip
    spread = {queue: float(np.std([run["got"] for run in seen.runs(name)], ddof=1)) for queue, name in names.items()}
    below, above = (math.sqrt(np.mean([spread[q] ** 2 for q in found])) for found in ((20, 40), (60, 80, 100, 120)))
    yield Claim(
        "queue-spread", "4.1", "Below 60 packets, buffering rates differ more between runs: pooled standard deviation",
        f"{below:.2g} below and {above:.2g} from 60 on ({listed(spread)}) kbit/s", below > above, "T", "more below 60",
        "exact",
    )  # fmt: skip


def _buffering(seen: Seen) -> Iterator[Claim]:
    losses = {capacity: means(seen, "loss", capacity) for capacity in CAPACITIES}
    yield Claim(
        "loss-dip", "4.1", "Over 725 kbit/s the loss in buffering dips at 548: below that of 340",
        f"{listed(losses[725])}%", losses[725][548] < losses[725][340], "T", "a dip", "exact",
    )  # fmt: skip
    for capacity in CAPACITIES:
        lengths = means(seen, "length", capacity)
        square = np.corrcoef(list(lengths), list(lengths.values()))[0, 1] ** 2
        yield Claim(
            f"length-linear-{capacity}", "4.1", f"Buffering over {capacity} kbit/s is about linear in the rate: R^2",
            f"{square:.3f} ({listed(lengths)} s)", bool(square > 0.9), "T", "about linear", "above 0.9",
        )  # fmt: skip
    for capacity, top in ((250, 148), (725, 340), (1500, 1128)):
        got = means(seen, "got", capacity, RATES[: RATES.index(top) + 1])
        yield Claim(
            f"buffering-grows-{capacity}", "4.1",
            f"Over {capacity} kbit/s the rate in buffering grows with that of the clip, up to {top}",
            f"{listed(got)} kbit/s", all(a < b for a, b in pairwise(got.values())), "T", "grows", "exact",
        )  # fmt: skip
    got = means(seen, "got", 725)
    yield Claim(
        "buffering-340-548", "4.1", "Over 725 kbit/s it is similar for 340 and 548",
        f"{got[340]:.3g} and {got[548]:.3g} kbit/s", abs(got[548] / got[340] - 1) <= 0.15, "T", "similar", "15%",
    )  # fmt: skip
    largest = {capacity: max(found.values()) for capacity, found in losses.items()}
    yield Claim(
        "largest-loss", "4.1", "Largest loss of buffering, over all clips and links",
        f"{listed(largest)}%", 70 <= max(largest.values()) <= 85, "T", "almost 80% in some cases", "70% to 85%",
    )  # fmt: skip
    yield Claim(
        "loss-at-1500", "4.1", "Over 1500 kbit/s it is not as large, but still significant: more than 1%",
        f"{listed(largest)}%", 1 < largest[1500] < min(largest[250], largest[725]), "T", "smaller", "exact",
    )  # fmt: skip


def _after(seen: Seen) -> Iterator[Claim]:
    for capacity in CAPACITIES:
        ends = means(seen, "final", capacity, [rate for rate in RATES if rate < capacity])
        yield Claim(
            f"steady-{capacity}", "4.1", f"Clips below {capacity} kbit/s end at their rates over such a link",
            f"{listed(ends)} kbit/s", all(abs(ours / rate - 1) <= 0.05 for rate, ours in ends.items()), "T",
            "grows linearly", "5%",
        )  # fmt: skip
    lengths = means(seen, "after_length", 725)
    below = [value for rate, value in lengths.items() if rate < 725]
    same, mean = max(below) <= 1.15 * min(below), float(np.mean(below))
    yield Claim(
        "after-length", "4.1", "Over 725 kbit/s what follows buffering takes as long for all clips below, less above",
        f"{listed(lengths)} s", same and mean > lengths[764] > lengths[1128], "T", "the same, less", "15%",
    )  # fmt: skip
    above = means(seen, "after_loss", 250, RATES[5:])
    yield Claim(
        "after-loss-250", "4.1", "Over 250 kbit/s the loss after buffering grows to",
        f"{listed(above)}%", 25 <= max(above.values()) <= 45, "T", "almost 40%", "25% to 45%",
    )  # fmt: skip
    rates = means(seen, "after", 250, RATES[5:])
    yield Claim(
        "after-rate-250", "4.1", "Of clips above 250 kbit/s over such a link, 1128 receives most after buffering",
        f"{listed(rates)} kbit/s", max(rates, key=lambda rate: rates[rate]) == 1128, "T", "1128", "exact",
    )  # fmt: skip
