"""What Nichols says of clips of several levels, beside the runs."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from ..paper.claim import Claim
from .measured import Seen
from .nichols_cases import CAPACITIES, RATES


def levels_rows(seen: Seen) -> Iterator[Claim]:
    """Yield what Section 4.2 says."""
    for capacity in CAPACITIES:
        yield _choice(seen, capacity)
    three = {top: seen.of(f"three {top}", "chosen").mean for top in (1128, 764, 548, 340)}
    yield Claim(
        "three-levels", "4.2", "Of three levels over 725 kbit/s 548 is chosen, and 340 without it",
        ", ".join(f"{value:g}" for value in three.values()), list(three.values()) == [548, 548, 548, 340], "R",
        "548, 548, 548, 340", "exact",
    )  # fmt: skip
    for key, says, condition, rate, basis, authors in (
        (
            "audio-340",
            "340 beside 1128 ends, with its audio, at [kbit/s]",
            "two 1128 340",
            428,
            "R",
            "425 to 428",
        ),
        ("audio-548", "548 beside 1128 ends, with its audio, at [kbit/s]", "three 1128", 628, "T", "about 628"),
    ):
        ours = seen.of(condition, "final")
        yield Claim(
            key, "4.2", says, f"{ours}", abs(ours.mean / rate - 1) <= 0.03, basis, authors,
            f"{0.97 * rate:.3g} to {1.03 * rate:.3g}",
        )  # fmt: skip
    names = ["1128 over 250", *(f"highest {levels} over 250" for levels in range(2, 7))]
    losses = [seen.of(name, "loss").mean for name in names]
    yield Claim(
        "lower-levels", "4.2", "Over 250 kbit/s the loss in buffering falls with each lower level, to 148",
        f"{', '.join(f'{loss:.3g}' for loss in losses)}%", all(a > b for a, b in pairwise(losses)), "T", "falls",
        "exact",
    )  # fmt: skip


def _choice(seen: Seen, capacity: int) -> Claim:
    """Return whether the largest level below the capacity is chosen, or the lowest one."""
    downs = [max([r for r in RATES[-n:] if r < capacity] or [RATES[-n]]) for n in range(1, 11)]
    ups = [max(r for r in RATES[:n] if r < capacity) for n in range(1, 11)]
    wanted = {"down": downs, "up": ups}
    runs = {way: [run["chosen"] for run in seen.runs(f"choice {way} {capacity}")] for way in wanted}
    holds = all(chosen == wanted[way] for way in wanted for chosen in runs[way])
    found = "; ".join(f"{way}: {', '.join(map(str, chosen[0]))}" for way, chosen in runs.items() if chosen)
    return Claim(
        f"choice-{capacity}", "4.2",
        f"Over {capacity} kbit/s the largest level below is chosen, or the lowest, with 1 to 10 levels from the "
        "highest down and from the lowest up",
        found, holds, "R", str(max(downs[-1], ups[-1])), "exact",
    )  # fmt: skip
