"""How constant a path was: the throughput of a captured flow beside flows that its chain draws at random."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import AccuracyError, InputError, instance, shown, unremarked
from ..playout.drawn_flows import drawn_flows
from ..tcp import chain_of
from ..traces import Measured, PathEstimate

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

WINDOWS = (1, 3, 10, 30)
"""Over which throughput is compared [s]."""

FEWEST = 5
"""Windows whose variance means something."""

ROUND_TRIPS = 4
"""Of a window at least: the chain counts time in round trips."""

FLOWS = 400
"""That are drawn from the chain."""

LEVELS = (0.025, 0.975)

CLEARLY = 1.25
"""A path varies where the interval of a dispersion ratio begins above this (`validation/constancy.py`)."""

LONGEST = 36_000
"""Flows that last longer take too much memory [s]."""

OTHERWISE_LIMITED = ("udp", "interactive", "application", "receive-window", "bbr", "slow-start", "unknown")
"""Causes other than the path and its losses; a queue and a policer belong to the path."""


@dataclass(frozen=True)
class Dispersion:
    """How much the throughput over windows of one length varied, against flows over a path that is constant.

    Attributes
    ----------
    window : int
        Length of the windows [s].
    windows : int
        How many were compared.
    ratio : Measured or None
        Variance of their throughput over its squared mean, over the same of the chain; 1 on a constant path. None where
        it is not known.
    reason : str
        Why not; else empty.
    """

    window: int
    windows: int
    ratio: Measured | None
    reason: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain numbers, strings and lists, units in the names."""
        return {
            "window_s": self.window,
            "windows": self.windows,
            "dispersion_ratio": self.ratio and self.ratio.value,
            "interval": self.ratio and [self.ratio.low, self.ratio.high],
            "reason": self.reason,
        }


@dataclass(frozen=True)
class Constancy:
    """How constant the path of a flow was (`tcpstream.constancy`).

    Attributes
    ----------
    dispersion : tuple of Dispersion
        Over windows of 1, 3, 10 and 30 s.
    drift : Measured or None
        By how much throughput rose from the first second to the last along its regression line, in units of its mean; 0
        on a constant path. None where it is not known.
    seconds : int
        Seconds of the flow that were compared.
    reason : str
        Why nothing is known; else empty.

    Examples
    --------
    >>> import tcpstream
    >>> found = tcpstream.constancy(tcpstream.estimate("examples/linux-reno.pcap"))
    >>> found.varied is None  # the losses of this path were constant
    True
    >>> found.dispersion[3].reason
    'fewer than 5 windows'
    """

    dispersion: tuple[Dispersion, ...]
    drift: Measured | None
    seconds: int
    reason: str = ""

    @property
    def varied(self) -> Dispersion | None:
        """The windows that show most clearly that the path was not constant; None if none do."""
        known = [(one.ratio.low, one) for one in self.dispersion if one.ratio is not None]
        low, clearest = max(known, key=lambda pair: pair[0], default=(0.0, None))
        return clearest if low > CLEARLY else None

    @property
    def widening(self) -> float:
        """How many times as wide the interval of the loss rate is as on a constant path, in log-odds.

        The square root of the dispersion ratio of `varied`; 1 where the path did not clearly vary.
        """
        one = self.varied
        return 1.0 if one is None or one.ratio is None else max(1.0, math.sqrt(one.ratio.value))

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain numbers, strings, lists and dicts, units in the names."""
        return {
            "dispersion": [one.to_dict() for one in self.dispersion],
            "drift": self.drift and self.drift.value,
            "drift_interval": self.drift and [self.drift.low, self.drift.high],
            "compared_s": self.seconds,
            "varied": None if self._unknown else self.varied is not None,
            "widening": self.widening,
            "reason": self.reason,
        }

    @property
    def _unknown(self) -> bool:
        return all(one.ratio is None for one in self.dispersion)


def constancy(estimate: PathEstimate, rng: np.random.Generator | None = None, **chosen: Any) -> Constancy:
    """Return how constant the path of a captured flow was, by how much its throughput varied.

    Parameters
    ----------
    estimate : PathEstimate
        Of a capture, from `tcpstream.estimate`.
    rng : numpy.random.Generator, optional
        Draws the flows; by default ``numpy.random.default_rng(1)``, always the same ones.
    **chosen
        Parameters of `Path` instead of the measured and proposed ones, as for `PathEstimate.path`.

    Returns
    -------
    Constancy
        Dispersion ratios, each at least 0, over windows of 1, 3, 10 and 30 s, and the drift of the throughput, each
        with a 95% interval; or why they are not known.

    Raises
    ------
    InputError
        When `estimate` or `rng` is something else, or `Path` rejects a value that was chosen.

    Notes
    -----
    A parametric bootstrap (Efron and Tibshirani, "An Introduction to the Bootstrap", 1993, Section 6.5): 400 flows of
    the same length are drawn from the chain of the capture and compared over the same windows. If the path varies x
    times as much in its variance, the measured value is x times that of a drawn flow; so the ends of the interval are
    the measured value over the 97.5 and the 2.5% quantile of those drawn. Seconds of the opening, and those in which
    the sender waited for its application or its receiver, are left out (`PathEstimate.series`). The interval of the
    drift is widened by the square root of the largest ratio above 1.

    Examples
    --------
    >>> import tcpstream
    >>> found = tcpstream.constancy(tcpstream.estimate("examples/linux-reno.pcap"))
    >>> ratio = found.dispersion[0].ratio  # over windows of a second
    >>> ratio.low < 1 < ratio.high
    True
    """
    instance("estimate", estimate, PathEstimate)
    if not isinstance(rng, np.random.Generator | None):
        raise InputError(f"rng must be a numpy.random.Generator, as numpy.random.default_rng(1), got {shown(rng)}")
    if estimate.limitation is not None and estimate.limitation.cause in OTHERWISE_LIMITED:
        return _unknown(f"not the path limited this flow ({estimate.limitation.cause}): {estimate.limitation.evidence}")
    if estimate.loss_event_rate.value == 0 and "loss" not in chosen:
        return _unknown("no loss was seen, and so there is no chain to compare with")
    with unremarked():
        path = estimate.path(**chosen)
    if estimate.duration_s >= LONGEST + 1:
        return _unknown(f"the flow lasts {estimate.duration_s:.0f} s, longer than {LONGEST} s")
    usable = estimate.series.governed_by_losses
    if usable.sum() < FEWEST:
        return _unknown(
            f"{usable.sum()} of {len(usable)} seconds follow the opening and do not wait for application or receiver"
        )
    try:
        drawn = drawn_flows(chain_of(path), path.rtt, len(usable), FLOWS, rng or np.random.default_rng(1))
    except AccuracyError as error:
        return _unknown(str(error))
    return compared(np.array(estimate.series.packets, dtype=np.float64), drawn, usable, path.rtt)


def compared(packets: Floats, drawn: Floats, usable: NDArray[np.bool_], rtt: float) -> Constancy:
    """Return how constant the path was of a flow that delivered some packets in each of n seconds.

    Parameters
    ----------
    packets : (n,) array
    drawn : (n, m) array
        The same of flows over a path that is constant.
    usable : (n,) array of bool
        Seconds that are compared.
    rtt : float
        Length of a round [s].
    """
    found = tuple(_dispersion(packets, drawn, usable, window, rtt) for window in WINDOWS)
    spread = max([1.0, *(one.ratio.value for one in found if one.ratio is not None)])
    return Constancy(found, _drift(packets, drawn, usable, spread), int(usable.sum()))


def _unknown(reason: str) -> Constancy:
    return Constancy(tuple(Dispersion(window, 0, None, reason) for window in WINDOWS), None, 0, reason)


def _dispersion(packets: Floats, drawn: Floats, usable: NDArray[np.bool_], window: int, rtt: float) -> Dispersion:
    """Return the dispersion ratio over windows of so many seconds, one behind the other."""
    begins = _begins(usable, window)
    if window < ROUND_TRIPS * rtt:
        return Dispersion(window, len(begins), None, f"less than {ROUND_TRIPS} round trips")
    if len(begins) < FEWEST:
        return Dispersion(window, len(begins), None, f"fewer than {FEWEST} windows")
    measured, expected = _relative_variance(packets, begins, window), _relative_variance(drawn, begins, window)
    mean = float(expected.mean())
    least, most = np.quantile(expected, LEVELS).tolist()
    if not (np.isfinite(measured) and least > 0):
        return Dispersion(window, len(begins), None, "nothing was delivered, or the chain does not vary")
    how = (
        f"variance over squared mean of {len(begins)} windows, over its mean in {drawn.shape[1]} flows drawn "
        "from the chain; interval from their quantiles"
    )
    value = float(measured)
    return Dispersion(window, len(begins), Measured(value / mean, value / most, value / least, how))


def _begins(usable: NDArray[np.bool_], window: int) -> Ints:
    """Return where windows begin, one behind the other, of which each second can be used."""
    found, run = [], 0
    for second, good in enumerate(usable.tolist()):
        run = run + 1 if good else 0
        if run == window:
            found.append(second + 1 - window)
            run = 0
    return np.array(found, dtype=np.int64)


def _relative_variance(packets: Floats, begins: Ints, window: int) -> Floats:
    """Return the variance over the squared mean of what some windows have, of each flow; NaN where that is nothing."""
    total = np.array([packets[begin : begin + window].sum(axis=0) for begin in begins])
    mean = total.mean(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(total.var(axis=0, ddof=1) / mean**2)


def _drift(packets: Floats, drawn: Floats, usable: NDArray[np.bool_], spread: float) -> Measured | None:
    """Return the rise along the regression line over the flow, in means; drawn flows vary by `spread` too little."""
    (at,) = np.nonzero(usable)
    away = at - at.mean()
    weights = away / (away @ away) * (at[-1] - at[0])

    def rise(flows: Floats) -> Floats:
        return np.asarray(weights @ flows[at] / flows[at].mean(axis=0))

    if not packets[at].any():
        return None
    value, by_chance = float(rise(packets)), np.sqrt(spread) * rise(drawn)
    least, most = np.quantile(by_chance, LEVELS).tolist()
    how = (
        f"rise along the regression line over {len(at)} seconds, in means; interval from {drawn.shape[1]} flows drawn "
        f"from the chain, their variance {spread:.3g} times"
    )
    return Measured(value, value - most, value - least, how)
