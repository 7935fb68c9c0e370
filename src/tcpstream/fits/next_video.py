"""next_delay: the wait that the next video over a measured path turns out to need."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import numpy as np

from ..answers.stored import stored
from ..errors import AccuracyError, InputError, TimeLimitError, instance, shown
from ..numerics.curves import LONGEST, smallest_meeting
from ..traces import Measured, PathEstimate
from ..video import Video
from .fitted_regimes import FittedRegimes

LEVELS = 0.05, 0.5, 0.95
"""Of the interval's ends and the median."""

END = 0.5 / 1.959964**2
"""Weight of each end of a 95% interval beside the estimate, so that the three have the variance of the error."""

SHARE, ROUNDS = 0.01, 0.125
"""A wait is found to this share of it, or to so many round trips."""


def next_delay(measured: FittedRegimes | PathEstimate, video: Video, *, accuracy: str | None = None) -> Measured:
    """Return the startup delay that the next stored video over a measured path needs, so that no packet of it is late.

    Each video needs another one, as losses and regimes fall. The interval holds what 90 of 100 need: what is random in
    a video, and what the measurement leaves open of the path.

    Parameters
    ----------
    measured : FittedRegimes or PathEstimate
        From `fit_regimes` or `estimate`: a path that varies, or a constant one.
    video : Video
        With a duration.
    accuracy : {"fine", "fast", "exact"}, optional
        As of `stored`.

    Returns
    -------
    Measured
        `value` is the median [s], `low` and `high` are the 5 and the 95% quantile, each on the far side of its stated
        error; `how` says what they are made of. On coarse lattices a round trip or three are returned where less may
        do, and for `low` then 0: what shorter delays do is known from an exact solve only. `high` is infinity where it
        cannot be computed; `how` says why.

    Raises
    ------
    InputError
        For values out of range, or a video without a duration.
    AccuracyError
        When a solve of `low` or `value` fails.

    Notes
    -----
    A startup delay suffices with the probability alpha that no packet is late (Section 3.3.2): alpha is the
    distribution of the delay that a video needs. It is averaged over three paths, the estimate and the ends of its 95%
    interval, with the weights 0.74, 0.13 and 0.13 that give a normal error of the estimate its variance.

    Examples
    --------
    >>> import tcpstream
    >>> found = tcpstream.estimate("examples/linux-reno.pcap")
    >>> wait = tcpstream.next_delay(found, tcpstream.Video(packet_rate=40, duration=5))
    >>> 0 <= wait.low <= wait.value <= wait.high
    True
    """
    if not isinstance(measured, FittedRegimes | PathEstimate):
        raise InputError(f"measured is a fit of regimes or the estimate of a capture, got {shown(measured)}")
    instance("video", video, Video)
    if video.duration is None:
        raise InputError("the next video is a stored one: give it a duration")
    middle = measured.varying if isinstance(measured, FittedRegimes) else measured.path()
    ends = [one for one in measured.ends() if one is not None]
    laws = [stored(path, video, accuracy=accuracy) for path in (middle, *ends)]
    weights = [1 - len(ends) * END, *(END for _ in ends)]

    def suffices(tau: float, side: int) -> float:
        """Return the probability that a delay suffices, and its error on this side of it."""
        late, off = (np.dot(weights, np.ravel(part)) for part in zip(*(one.stalled(np.array([tau])) for one in laws)))
        return float(1 - late + side * off)

    least = max(one.alpha_known_from for one in laws)
    how = (
        f"median, 5 and 95% quantile of the delay [s] with which no packet of the video is late, over {len(laws)} "
        "paths: the estimate and the ends of its 95% interval"
    )
    low, value = (_quantile(partial(suffices, side=side), LEVELS[1 - side], least, middle.rtt) for side in (1, 0))
    if low == least:
        low = 0.0  # what is less is not told apart
    try:
        high = _quantile(partial(suffices, side=-1), LEVELS[2], least, middle.rtt)
    except TimeLimitError:
        raise
    except AccuracyError as error:
        high, how = math.inf, f"{how}; no answer for the 95% quantile: {error}"
    return Measured(value, min(low, value), max(high, value), how)


def _quantile(suffices: Callable[[float], float], level: float, least: float, rtt: float) -> float:
    """Return the smallest delay from `least` on that suffices with a probability [s]."""
    if suffices(least) >= level:
        return least
    low, high = least, least + rtt
    while suffices(high) < level:
        low, high = high, 2 * high
        if high > LONGEST:
            raise AccuracyError(f"no startup delay below {LONGEST:g} s suffices")
    return smallest_meeting(lambda tau: suffices(tau) >= level, low, high, max(ROUNDS * rtt, SHARE * high))
