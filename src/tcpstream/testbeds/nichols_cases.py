"""What Nichols streams over which link."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

RATES = (28, 43, 58, 109, 148, 282, 340, 548, 764, 1128)
"""Section 3.3.3: encodings [kbit/s]."""

AUDIO = {1128: 128, 764: 64, 548: 48, 340: 40, 282: 32, 148: 20, 109: 16, 58: 12, 43: 8, 28: 8}
"""Section 4.2: audio of 1128, 548 and 340 [kbit/s]; assumed for the others."""

CAPACITIES = (250, 725, 1500)
"""Section 3.4 [kbit/s]."""

DELAYS = (150, 450, 750, 1050, 1350)
"""Section 4.4 [ms]: its ends, and between."""

SCALED = tuple(rate for rate in RATES if rate <= 548)
"""Sections 4.3 and 4.4: levels of the clip that is streamed with losses and delays [kbit/s]."""


class Case(NamedTuple):
    """What is streamed over which link.

    Attributes
    ----------
    rates : tuple of int
        Levels of the clip [kbit/s].
    capacity : float
        [kbit/s].
    delay : float
        [ms].
    queue : int
        [packets].
    loss, later : float
        Random loss, until 15 s after the first media, and from then on.
    """

    rates: tuple[int, ...]
    capacity: float = 725
    delay: float = 45
    queue: int = 80
    loss: float = 0.0
    later: float = 0.0


def cases() -> Iterator[tuple[str, Case]]:
    """Yield what is streamed, by its name."""
    for capacity in CAPACITIES:
        for rate in RATES:
            yield f"{rate} over {capacity}", Case((rate,), capacity)
    for queue in (20, 40, 60, 100, 120):
        yield f"queue {queue}", Case((548,), queue=queue)
    for top in (9, 8, 7, 6):
        yield f"three {RATES[top]}", Case(RATES[top - 2 : top + 1])
    yield "two 1128 340", Case((340, 1128))
    for levels in range(2, 7):
        yield f"highest {levels} over 250", Case(RATES[-levels:], 250)
    for percent in (1, 2, 3, 5, 10, 20):
        yield f"loss {percent}", Case((548,), loss=percent / 100, later=percent / 100)
    for percent in (3, 10, 20):
        yield f"scaled loss {percent}", Case(SCALED, loss=percent / 100, later=percent / 100)
        yield f"loss on {percent}", Case((548,), later=percent / 100)
        yield f"loss off {percent}", Case((548,), loss=percent / 100)
    for delay in DELAYS:
        yield f"delay {delay}", Case((548,), delay=delay)
    for delay in (45, *DELAYS):
        yield f"delay and queue {delay}", Case(SCALED, delay=delay, queue=round(80 * delay / 45))
    yield "delay and queue 1350, one level", Case((548,), delay=1350, queue=2400)
