"""Fast recovery with selective acknowledgements: which window a loss reduces, and the round that repairs it.

A loss shows when the packets behind it are acknowledged, a round later. Until then the sender goes on: the j packets
before the loss are acknowledged, open the window, and let out j more, and two follow for the first signs of the loss.
Whatever is lost of these was sent before the sender knew, and is repaired in the same recovery. The rest of the round
is let out in the ratio of the reduced window to the window, and what is lost of it reduces the window again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

#: From windows, and whether they are below the plateau of their line: states that a loss leads to, and shares.
LossTargets = Callable[[Ints, NDArray[np.bool_]], tuple[Ints, Floats]]

RATIO = 1.1
"""Between neighbouring windows at a loss with a state of their own, but for whole numbers."""


class Repairs(NamedTuple):
    """The rounds that repair losses.

    Attributes
    ----------
    states : (R,) int array
    windows : (R,) int array
        The reduced window, which is that of the sender then; more is sent.
    merged : (R,) array
        Share of what is sent whose losses are repaired in the same recovery.
    on : (R,) int array
        State after the repair.
    """

    states: Ints
    windows: Ints
    merged: Floats
    on: Ints


def no_repairs() -> Repairs:
    """Return none."""
    none = np.empty(0, dtype=np.int64)
    return Repairs(none, none, np.empty(0), none)


def grid(max_window: int, ratio: float | None = None) -> Ints:
    """Return the windows at a loss that have a state of their own, from 2 to the largest one [packets].

    They are in a ratio, `RATIO` by default.
    """
    ratio = RATIO if ratio is None else ratio
    windows = [2] if max_window > 1 else []
    while windows and windows[-1] < max_window:
        windows.append(min(max(windows[-1] + 1, int(windows[-1] * ratio)), max_window))
    return np.array(windows, dtype=np.int64)


def before_discovery(windows: ArrayLike) -> Floats:
    """Return the mean number of packets between a round of w >= 2 with a loss and its discovery [packets].

    Parameters
    ----------
    windows : array_like
        w [packets].

    Notes
    -----
    Those for the j packets before the loss, of which any number below w is as likely, and for the first two that are
    acknowledged behind it (limited transmit, RFC 3042): ``(w - 1) / 2 + 2 - 3 / w``. They are below the
    RecoveryPoint of RFC 6675, Section 5.
    """
    w = np.asarray(windows, dtype=np.float64)
    return np.asarray((w - 1) / 2 + 2 - 3 / w)


def repairing(windows: ArrayLike, reduced: ArrayLike) -> tuple[Ints, Floats]:
    """Return what is sent in the round that repairs, and the share of it that is sent before the loss is seen.

    Parameters
    ----------
    windows, reduced : array_like
        w >= 2, and the window after the loss [packets].

    Notes
    -----
    From the discovery on, ``reduced / w`` of a packet goes out for each that arrives (proportional rate reduction,
    RFC 6937, Section 3). The mean is rounded to whole packets.
    """
    w, before = np.asarray(windows), before_discovery(windows)
    sent = np.rint(before + np.asarray(reduced) / w * (w - before)).astype(np.int64)
    return sent, np.minimum(before / sent, 1.0)


def between(at_loss: Ints, reduced: Ints, windows: Ints) -> tuple[Ints, Floats]:
    """Return the neighbours of windows among those at a loss, and the share of each.

    Parameters
    ----------
    at_loss : (G,) int array
        As from `grid`.
    reduced : (W_max + 1,) int array
        Of which the mean is kept: window after a loss at w = 0, 1, ... [packets].
    windows : (n,) int array
        2 at least counts [packets].

    Returns
    -------
    neighbours, shares : (n, 2) arrays
        Indices in `at_loss`, the probability of each.
    """
    if len(at_loss) == 0:
        return np.zeros((len(windows), 2), dtype=np.int64), np.tile([1.0, 0.0], (len(windows), 1))
    lost = np.maximum(windows, at_loss[0])
    below = np.searchsorted(at_loss, lost, side="right") - 1
    above = np.minimum(below + 1, len(at_loss) - 1)
    low, high = reduced[at_loss[below]], reduced[at_loss[above]]
    upper = (reduced[lost] - low) / np.maximum(high - low, 1)
    return np.stack([below, above], axis=1), np.stack([1 - upper, upper], axis=1)


def leads(windows: Ints, plateaus: Ints, grow_to: Ints, ways: LossTargets, repairs: Repairs) -> tuple[Ints, Floats]:
    """Return where repaired losses lead, of each state: `IndependentChain.recover_to` and `recover_share`.

    Parameters
    ----------
    windows : (S,) int array
        Packets of the round.
    plateaus : (S,) int array
        Windows below which a loss is early.
    grow_to : (S,) int array
        State after a round delivered whole; that of the repairs does not count.
    ways : callable
    repairs : Repairs

    Notes
    -----
    The window has grown before the loss shows if the acknowledgements that open it are among the j before the loss: for
    one of w acknowledgements with probability (w - 1) / 2w.
    """
    early = windows < plateaus
    grown = ((windows - 1) / (2 * windows))[:, np.newaxis]
    (own, own_share), (larger, larger_share) = ways(windows, early), ways(windows[grow_to], early[grow_to])
    to = np.hstack([own, larger])
    share = np.hstack([own_share * (1 - grown), larger_share * grown])

    at, merged = repairs.states, repairs.merged[:, np.newaxis]
    again, again_share = ways(repairs.windows, repairs.windows < plateaus[at])
    share[at] = 0.0
    to[at, :2], share[at, :2] = again, (1 - merged) * again_share
    to[at, 2], share[at, 2] = repairs.on, repairs.merged
    to = np.where(share > 0, to, to[np.arange(len(to)), np.argmax(share > 0, axis=1)][:, np.newaxis])
    to[windows == 1] = -1
    used = np.any(share > 0, axis=0)
    return to[:, used], share[:, used]
