"""fit_regimes: how many regimes a throughput trace has, which, and how long they last."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from os import PathLike
from typing import Any

import numpy as np

from ..errors import AccuracyError, InputError, TimeLimitError, positive, shown, whole, within
from ..path import remark_round_trip
from ..sender import DEFAULT_SENDER
from ..tcp import Varying
from ..tcp.varying import TCPS
from ..traces import PathEstimate, ThroughputTrace, read_throughput
from ..video import SIZES
from .captured import captured
from .fitted_regimes import Candidate, FittedRegime, FittedRegimes
from .fitted_series import FittedSeries, Floats
from .generator import rates_of, stay_errors
from .regime_paths import RegimePaths, regime_paths
from .switching_regression import States, hidden_states, one_state

MOST_REGIMES = 4
"""Numbers of regimes that are tried: 1 to this."""

INTERVALS = 50, 20_000
"""Intervals of a series, from too few to tell anything to hours of work."""

ENOUGH_STAYS = 50
"""Mean stays in a trace, below which there is a warning."""

ALIKE = 1.01
"""Intervals that differ by less are of the same length."""

UNEVEN = 10
"""An interval so many times as long as the median one is a gap."""

NOISE = 0.1
"""Standard deviation of what is added to the logarithm of each interval: a link's rate has next to none of its own, and
a regime that is so sharp gives up to others the seconds in which TCP did not quite fill the link."""

WITHIN = 5
"""Intervals within stays, from which on the mean throughput of a regime is theirs."""

RESIDUAL = 1e-6
"""Default loss rate beside the losses of a full buffer: the packet error loss rate of bearers for buffered video over
TCP in LTE (QCI 6, 8 and 9), 3GPP TS 23.203, Table 6.1.7."""

NAMES = (("only",), ("slow", "fast"), ("slow", "medium", "fast"), ("slowest", "slow", "fast", "fastest"))
"""Of regimes, by their number."""

OWN = ("loss", "losses", "bottleneck", "buffer")
"""Parameters of a path that are those of the fit, or follow from it."""


def fit_regimes(
    trace: str | PathLike[str] | ThroughputTrace | PathEstimate,
    *,
    rtt: float | None = None,
    regimes: int | None = None,
    interval: float | None = None,
    loss: float = RESIDUAL,
    buffer: int | None = None,
    packet_size: float | None = None,
    seed: int = 1,
    **given: Any,
) -> FittedRegimes:
    """Return the regimes of a throughput trace: a path that varies, each regime a bottleneck of its mean throughput.

    Parameters
    ----------
    trace : path-like, ThroughputTrace or PathEstimate
        What a path carried, or could have carried, over time; files as `tcpstream.traces.read_throughput` reads them.
        The estimate of a capture, from `tcpstream.estimate`, is that of an endless download.
    rtt : float, optional
        R, round trip time [s], which a trace does not show: that of packets that find the queue empty. By default, the
        shortest one of a capture.
    regimes : int, optional
        How many, 1 to 4; by default as many as have the least BIC.
    interval : float, optional
        Length of the equal intervals in which the throughput is taken [s], not shorter than those of the trace. By
        default 1 s, or those of the trace where they are longer.
    loss : float
        Loss rate in each regime beside the losses of a full buffer, which a trace does not show. By default 1e-6, what
        mobile networks leave to be lost for video over TCP (3GPP TS 23.203, Table 6.1.7).
    buffer : int, optional
        Packets that wait before the bottleneck at most. By default what the fastest regime carries in a round trip,
        with which Reno fills it; of a capture, what the longer round trips hold more than the shortest one.
    packet_size : float, optional
        Bytes of a packet, 1 to 1e6; by default 1500, or those of the capture.
    seed : int
        Of the starts of the search, and of the part of a packet that is added to each interval.
    **given
        ``sender`` and what else `Path` takes of a sender, as ``tcp``, ``rto``; by default those of the capture.

    Raises
    ------
    InputError
        For a trace that cannot be read, of fewer than 50 or more than 20,000 intervals, and values out of range; for a
        capture whose sender waited for its application or its receiver in more than a twentieth of the seconds.
    AccuracyError
        When no fit converged, or the regimes change within an interval.
    MissingExtraError
        Without statsmodels.

    Warns
    -----
    InputWarning
        For a round trip time above 3 s that was given, probably meant in milliseconds.

    Notes
    -----
    A hidden Markov chain: in each regime the logarithm of the packets of an interval is normal, with a mean and a
    variance of its own (Hamilton, Econometrica 1989). The mean throughput of a regime is that of intervals whose
    neighbours are of the same regime: in others the regime may have changed. To each interval a part of a packet is
    added at random, between 0 and 1: so an interval without any has a logarithm, and equal numbers of few packets no
    variance of 0; and a normal value with a standard deviation of a tenth: regimes that differ by less are one. Stays
    are exponential: the transitions of an interval are those of the path in continuous time, by the matrix logarithm.

    Examples
    --------
    >>> import tcpstream
    >>> found = tcpstream.fit_regimes("examples/mobile.csv", rtt=0.05, sender="linux", tcp="reno-sack", regimes=2)
    >>> len(found.varying.regimes)
    2
    """
    if packet_size is None:
        packet_size = trace.packet_size if isinstance(trace, PathEstimate) else 1500
    size = within("packet size", packet_size, *SIZES, "bytes")
    asked = rtt is not None
    notes: tuple[str, ...] = ()
    proposed = isinstance(trace, PathEstimate) and "initial_window" not in given
    if isinstance(trace, PathEstimate):
        seen = captured(trace, size)
        notes = seen.notes
        trace, rtt, given = seen.trace, seen.rtt if rtt is None else rtt, seen.sender | given
        buffer = seen.buffer if buffer is None else buffer
    if rtt is None:
        raise InputError("give rtt, the round trip time [s]: a throughput trace does not show it")
    shared = _shared(rtt, given)
    if asked:
        remark_round_trip(shared["rtt"])
    numbers = range(1, MOST_REGIMES + 1) if regimes is None else [whole("regimes", regimes, most=MOST_REGIMES)]
    rng = np.random.default_rng(whole("seed", seed, 0))
    known = trace if isinstance(trace, ThroughputTrace) else read_throughput(trace)
    step = _step(known, interval)
    count = known.whole_intervals(step)
    if not INTERVALS[0] <= count <= INTERVALS[1]:
        raise InputError(
            f"{known.source}: {INTERVALS[0]} to {INTERVALS[1]} intervals are fitted, the trace of "
            f"{known.duration:.6g} s has {count} of {step:g} s"
        )
    throughput = known.resampled(step)
    if not throughput.any():
        raise InputError(f"{known.source}: nothing arrives in the whole trace")
    packet = 8 * size
    y = np.log(throughput * step / packet + (1 - rng.random(len(throughput))))
    y += NOISE * rng.standard_normal(len(y))

    tried: dict[int, States] = {}
    candidates = []
    for k in numbers:
        try:
            found = one_state(y) if k == 1 else hidden_states(y, k, rng)
            _judged(found, step, known.duration)
        except AccuracyError as error:
            if regimes is not None or isinstance(error, TimeLimitError):
                raise
            candidates.append(Candidate(k, None, None, 0, str(error)))
        else:
            tried[k] = found
            candidates.append(Candidate(k, found.log_likelihood, found.bic, found.agreeing))
    if not tried:
        raise AccuracyError("no number of regimes has a fit: " + "; ".join(one.reason for one in candidates))
    best = tried[min(tried, key=lambda k: tried[k].bic)]
    record = _record(
        known, step, throughput, packet, best, candidates, loss, buffer, size, shared, regimes is None, proposed
    )
    return replace(record, warnings=(*notes, *record.warnings))


def _shared(rtt: float, given: dict[str, Any]) -> dict[str, Any]:
    """Return what all regimes have in common."""
    for name in OWN:
        if name in given:
            raise InputError(f"{name} is that of the regimes, not of the sender: leave it out")
    sender = given.get("sender", DEFAULT_SENDER)
    if not isinstance(sender, str):
        raise InputError(f"sender is named, as 'linux', and its parameters stand beside it, got {shown(sender)}")
    others = {name: value for name, value in given.items() if name != "sender" and value is not None}
    if (tcp := others.get("tcp", TCPS[0])) not in TCPS:
        raise InputError(f"regimes have independent losses, for tcp = {', '.join(TCPS)}, got {shown(tcp)}")
    return {"sender": sender, "losses": "independent", "rtt": positive("round trip time", rtt, "s"), **others}


def _step(trace: ThroughputTrace, interval: float | None) -> float:
    own = trace.interval
    if interval is None:
        return own if own > ALIKE else 1.0
    step = positive("interval", interval, "s")
    if step * ALIKE < own:
        raise InputError(
            f"interval must not be shorter than those of {trace.source}, {own:.4g} s in the median, got {step:g} s"
        )
    return step


def _judged(found: States, step: float, duration: float) -> None:
    """Raise `AccuracyError` for regimes that do not end, or change within an interval."""
    if len(found.means) > 1:
        rates, _ = rates_of(found.transitions, step)
        if not (-np.diag(rates) * duration > 0.1).all():
            raise AccuracyError("a regime does not end within the trace, so that nothing shows how long it lasts")


def _record(
    trace: ThroughputTrace,
    step: float,
    throughput: Floats,
    packet: float,
    states: States,
    candidates: Sequence[Candidate],
    loss: float,
    buffer: int | None,
    size: float,
    shared: dict[str, Any],
    chosen: bool,
    proposed: bool,
) -> FittedRegimes:
    k = len(states.means)
    names = NAMES[k - 1]
    means = _means(throughput, states.weights)
    order, spreads = np.argsort(means), np.sqrt(np.maximum(states.deviations**2 - NOISE**2, 0.0))
    errors: list[float | None] = [None] * k
    if k == 1:
        stays, to, rounding = np.array([trace.duration]), np.zeros((1, 1)), 0.0
    else:
        rates, rounding = rates_of(states.transitions, step)
        stays = -1 / np.diag(rates)
        to = rates * stays[:, np.newaxis]
        np.fill_diagonal(to, 0.0)
        if states.covariance is not None:
            errors = stay_errors(states.transitions, states.covariance[: k * k, : k * k], step)
    sorted_means, sorted_stays = means[order].tolist(), stays[order].tolist()
    made = regime_paths(names, sorted_means, sorted_stays, loss, buffer, size, shared, proposed_window=proposed)
    try:
        varying = Varying(made.paths, sorted_stays, to=to[np.ix_(order, order)].tolist(), names=names)
    except InputError as error:
        raise AccuracyError(f"the fit is no path that varies: {error}") from None
    relative = [None] * k if states.covariance is None else np.sqrt(np.diag(states.covariance)[k * k :]).tolist()
    found = tuple(
        FittedRegime(
            name=names[place],
            throughput=float(means[i]),
            throughput_error=None if relative[i] is None else float(means[i] * relative[i]),
            spread=float(spreads[i]),
            mean_stay=float(stays[i]),
            stay_error=errors[i],
            share=varying.shares[place],
        )
        for place, i in enumerate(order)
    )
    series = FittedSeries(
        trace.source,
        step,
        throughput,
        packet,
        states.means[order],
        spreads[order],
        states.transitions[np.ix_(order, order)],
        states.weights[:, order],
    )
    many = 1.0 if k == 1 else sum(one.share / one.mean_stay for one in found) * trace.duration
    held = states.weights.sum(axis=0)
    total, levels = float(throughput.var()), states.weights.T @ throughput / held
    between = float(held @ (levels - throughput.mean()) ** 2) / len(throughput) / total if total > 0 else 0.0
    return FittedRegimes(
        varying=varying,
        regimes=found,
        candidates=tuple(candidates),
        series=series,
        stays=many,
        between=between,
        rounding=rounding,
        warnings=(*_warnings(trace, step, k, many, candidates, chosen), *made.notes),
        _tables=_tables(varying, made),
    )


def _means(throughput: Floats, weights: Floats) -> Floats:
    """Return the mean throughput of each state.

    Next to an interval of another state the state may have changed within one, whose mean then lies between the two:
    such intervals are left out, but of a state that has few others.
    """
    same = np.diff(weights.argmax(axis=1)) == 0
    within = np.append(True, same) & np.append(same, True)
    inner = weights * within[:, np.newaxis]
    used = np.where(inner.sum(axis=0) >= WITHIN, inner, weights)
    return np.asarray(throughput @ used / used.sum(axis=0))


def _tables(varying: Varying, made: RegimePaths) -> dict[str, Any]:
    """Return what a file has: what is shared, and a table for each regime."""
    tables = {}
    for i, (name, own) in enumerate(zip(varying.names, made.given)):
        to = {other: p for other, p in zip(varying.names, varying.to[i]) if p > 0}
        tables[name] = own | {"mean_stay": varying.mean_stay[i]} | ({"to": to} if to else {})
    return {"shared": made.shared, "tables": tables}


def _warnings(
    trace: ThroughputTrace, step: float, k: int, stays: float, candidates: Sequence[Candidate], chosen: bool
) -> list[str]:
    found = []
    if k > 1 and stays < ENOUGH_STAYS:
        found.append(
            f"the trace is only {stays:.3g} mean stays long: from fewer than {ENOUGH_STAYS} the stays are known roughly"
        )
    if chosen and k == MOST_REGIMES:
        found.append(f"{MOST_REGIMES} regimes, the most that are tried, have the least BIC: more might fit better")
    if chosen and k == 1 and any(one.regimes > 1 and not one.reason for one in candidates):
        found.append("one regime has the least BIC: the trace shows no path that varies")
    if failed := [str(one.regimes) for one in candidates if one.reason]:
        found.append(f"there is no fit of {_joined(failed)} regimes to compare with")
    if trace.longest_interval > UNEVEN * trace.interval:
        found.append(
            f"an interval of the trace is {trace.longest_interval:.4g} s long, the median one {trace.interval:.4g} s: "
            "its mean stands for all of it"
        )
    rest = trace.duration - step * trace.whole_intervals(step)
    if rest > 0.01 * step:
        found.append(f"the last {rest:.3g} s of the trace are no whole interval and are left out")
    return found


def _joined(words: Sequence[str]) -> str:
    return " and ".join(filter(None, [", ".join(words[:-1]), words[-1]]))
