"""From the intervals of a measured path to the interval of an answer."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import AccuracyError, InputError, ModelMismatchError, NoFiniteDelayError, TimeLimitError, instance
from ..traces.intervals import Measured

if TYPE_CHECKING:
    from ..path import Path
    from ..tcp import Varying
    from ..traces import PathEstimate
    from ..video import Video

Floats = NDArray[np.float64]

FACTOR = 2.0
"""Modelled and measured throughput may differ by this factor beyond their intervals; three quarters and more of the
late fractions beside the Linux kernel are within a factor of 2."""

NARROWER = 0.83924
"""Half of a normal distribution's central 90% over half of its 95%: 1.6449 / 1.95996."""


@dataclass(frozen=True)
class PropagatedIntervals:
    """What an answer, or an array of them, may be over the intervals of a measured path.

    Attributes
    ----------
    low, high : array of float
        The smallest and the largest value of each answer.
    refused : tuple of str
        A sentence for each end of the intervals where there is no answer; the trivial bound stands there.
    """

    low: Floats
    high: Floats
    refused: tuple[str, ...]

    def holding(self, value: ArrayLike) -> PropagatedIntervals:
        """Return these intervals, widened where they do not hold the answer at the estimate itself.

        Answers are judged by whole round trips, and in steps: by a little they may get better as the round trip grows.
        """
        return replace(self, low=np.minimum(self.low, value), high=np.maximum(self.high, value))

    def narrowed(self, value: ArrayLike) -> tuple[Floats, Floats]:
        """Return the ends of answers over 90% intervals instead of 95%, from `value`, the answer at the estimate.

        Loss rate, round trip and timer are taken to be log-normal, and the logarithm of an answer to change evenly with
        theirs on each side of the estimate, which then is the median. An end of 0 or infinity stays.
        """
        middle = np.asarray(value, dtype=float)
        with np.errstate(divide="ignore", invalid="ignore"):
            low, high = (middle * (end / middle) ** NARROWER for end in (self.low, self.high))
        return np.where(self.low > 0, low, self.low), np.where((middle > 0) & np.isfinite(self.high), high, self.high)


def propagate_intervals(
    estimate: PathEstimate, answer: Callable[[Path], ArrayLike], best: ArrayLike, worst: ArrayLike, **chosen: Any
) -> PropagatedIntervals:
    """Return what answers may be over the 95% intervals of an estimate.

    An answer gets worse with more loss, a longer round trip and a longer timer. So the ends of its interval are the
    answers at two paths, one with the lower ends of all three intervals and one with the upper ends.

    Parameters
    ----------
    estimate : PathEstimate
        Of a capture.
    answer : callable
        One number or an array of them for a `Path`, monotone in loss, round trip time and timer.
    best, worst : array_like
        What the answers are at best and at worst on any path, as 0 and infinity for a delay.
    **chosen
        Parameters of `Path` that are not measured, as for `PathEstimate.path`; these have no interval.

    Raises
    ------
    InputError
        When the estimate makes no path, or `answer` rejects a value.

    Notes
    -----
    The interval holds the answer at the true path whenever the three intervals hold their true values: the three
    together with a probability of at least 0.85 (Bonferroni), whatever depends on what. p has by far the widest, so
    that it is near 0.95 or above. That the chain is not the TCP that was measured comes on top.
    """
    return between(estimate.ends(**chosen), answer, best, worst)


def between(
    paths: Sequence[Path | Varying | None], answer: Callable[[Any], ArrayLike], best: ArrayLike, worst: ArrayLike
) -> PropagatedIntervals:
    """Return what answers may be between the best path and the worst, as `propagate_intervals`; None has no answer."""
    ends, refused = [], []
    for name, path, bound in zip(("lower", "upper"), paths, (best, worst)):
        try:
            if path is None:
                raise AccuracyError("the interval of the round trip time reaches 0")
            ends.append(np.asarray(answer(path), dtype=float))
        except NoFiniteDelayError:
            ends.append(np.asarray(worst, dtype=float))
        except TimeLimitError:
            raise
        except AccuracyError as error:
            ends.append(np.asarray(bound, dtype=float))
            refused.append(f"no answer at the {name} ends of the measured intervals: {error}")
    return PropagatedIntervals(np.minimum(*ends), np.maximum(*ends), tuple(refused))


def require_match(estimate: PathEstimate, **chosen: Any) -> None:
    """Raise `ModelMismatchError` unless the model describes the flow of an estimate.

    Losses alone limit the TCP of the model. Where its throughput and the measured one differ by more than a factor of 2
    beyond their 95% intervals, that is, where the intervals do not meet although one of them is widened by 2 at both
    ends, something else limited the flow: then what the model says of a video over this path contradicts its own input.

    Parameters
    ----------
    estimate : PathEstimate
        Of a capture, from `tcpstream.estimate`.
    **chosen
        Parameters of `Path`, as for `PathEstimate.path`. Another TCP than the measured one may be chosen where the
        model describes the measured one, or where it describes the flow with what is chosen.

    Raises
    ------
    ModelMismatchError
        With both throughputs, the likeliest cause and what can be asked instead.
    InputError
        When the estimate makes no path.

    Notes
    -----
    The model's interval: its throughput at `PathEstimate.ends`.

    Examples
    --------
    >>> import tcpstream
    >>> found = tcpstream.estimate("examples/linux-reno.pcap")
    >>> tcpstream.require_match(found)  # losses limited this flow: nothing is raised
    """
    from ..traces import UNKNOWN, PathEstimate

    instance("estimate", estimate, PathEstimate)
    if _agree(estimate, chosen) or (chosen and _agree(estimate, {})):
        return
    from ..tcp import throughput

    why = estimate.limitation or UNKNOWN
    modelled, measured = throughput(estimate.path(**chosen)), estimate.throughput_pps.value
    raise ModelMismatchError(modelled, measured, why.cause, why.evidence, why.ask_instead)


def _agree(estimate: PathEstimate, chosen: dict[str, Any]) -> bool:
    from ..tcp import throughput

    if estimate.loss_event_rate.value == 0 and "loss" not in chosen:
        return False
    found = propagate_intervals(estimate, throughput, math.inf, 0.0, **chosen)
    seen = estimate.throughput_pps
    return float(found.low) <= FACTOR * seen.high and seen.low <= FACTOR * float(found.high)


def delay_interval(
    estimate: PathEstimate,
    video: Video,
    *,
    live: bool = False,
    target: float | None = None,
    no_late: float | None = None,
    **chosen: Any,
) -> Measured:
    """Return the startup delay that a video needs over a measured path, and its interval.

    Parameters
    ----------
    estimate : PathEstimate
        Of a capture, from `tcpstream.estimate`.
    video : Video
        With a duration, unless it is live.
    live : bool
        Whether the video is live; else it is stored.
    target : float, optional
        Late fraction allowed, 0 < target < 1; 1e-4 by default.
    no_late : float, optional
        Stored only, instead of `target`: probability wanted that no packet is late.
    **chosen
        Parameters of `Path` instead of the measured and proposed ones, or beside them; these have no interval.

    Returns
    -------
    Measured
        `value`, `low` and `high` are startup delays [s]: at the estimate, and at the ends of its intervals. `high` is
        infinity where no finite delay suffices, or none can be computed; `how` says which.

    Raises
    ------
    InputError
        For values out of range or contradictory, or a capture without losses.
    ModelMismatchError
        When the model does not describe the flow of the capture, as `require_match` says.
    NoFiniteDelayError
        When no finite delay suffices at the estimate itself.
    AccuracyError
        When the solve at the estimate itself fails.

    Notes
    -----
    Of the interval: `propagate_intervals`.

    Examples
    --------
    >>> import tcpstream
    >>> found = tcpstream.estimate("examples/linux-reno.pcap")
    >>> delay = tcpstream.delay_interval(found, tcpstream.Video(packet_rate=10, duration=4))
    >>> delay.low < delay.value < delay.high
    True
    >>> round(delay.value, 2)  # seconds
    0.08
    """
    if live and no_late is not None:
        raise InputError("a probability that no packet is late is for stored video: give a late fraction as target")

    def needed(path: Path) -> float:
        if live:
            from .live import live as solve_live

            return solve_live(path, video).required_delay(target)
        from .stored import stored

        return stored(path, video).required_delay(target, no_late=no_late)

    require_match(estimate, **chosen)
    value = needed(estimate.path(**chosen))
    found = propagate_intervals(estimate, needed, 0.0, math.inf, **chosen).holding(value)
    how = ("startup delay [s] at the lower and at the upper ends of the intervals of loss, round trip and timer",)
    return Measured(value, float(found.low), float(found.high), "; ".join(how + found.refused))
