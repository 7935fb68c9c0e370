"""What the round of a loss and the short round after it deliver together."""

from __future__ import annotations

from ..system.compiled_parts import part


@part(nogil=True, fastmath={"contract"}, forceinline=True)
def by_pairs(sent: int, least: int, most: int, loss: float) -> float:
    """Return the probability that the two rounds deliver `sent` packets, over q^sent.

    Of j packets in the round of the loss and i up to j in the short one, both from `least` to `most`: the pairs are
    counted.
    """
    pairs = min(most, sent - 3) - max(least, sent // 2 + 1) + 1
    pmf = 0.0
    if pairs > 0:
        pmf = loss * loss * pairs
    middle = sent // 2
    if 2 * middle == sent and least <= middle <= most:
        pmf += loss
    return pmf
