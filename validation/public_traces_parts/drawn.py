"""Sessions drawn from a fit, with and without what varies within its regimes: where predictions lose stalls."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from tcpstream import fit_regimes
from tcpstream.traces import ThroughputTrace

from .predictions import PACKET
from .replay import BUFFER, RTT, SENDER, replayed
from .sessions import MEAN, SECONDS, Floats, Session

SESSIONS, SEED = 600, 99
"""Drawn sessions, and the seed of what is random in them."""

REGIMES = 4
"""Of the fits, which is what the criterion chose for each half as a whole."""


def drawn(half: list[Session], step: float) -> dict[str, Any]:
    """Return shares of sessions with a stall, by rate and delay, of sessions drawn from the fit of a half.

    In ``varied`` the throughput of an interval is drawn from the distribution of its regime; in ``at_means`` it is the
    regime's mean, as in the path of the fit. Regimes are the same in both.
    """
    packets = np.concatenate([one.packets for one in half])
    trace = ThroughputTrace(np.arange(len(packets) + 1), PACKET * packets)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit = fit_regimes(trace, rtt=RTT, interval=step, buffer=BUFFER, regimes=REGIMES, **SENDER)
    rng = np.random.default_rng(SEED)
    law = fit.series
    states = regimes(law.transitions, np.array(fit.varying.shares), round(SECONDS / step), rng)
    means = np.array([one.throughput / PACKET for one in fit.regimes])[states]
    logarithms = law.means[states] + law.deviations[states] * rng.standard_normal(states.shape)
    varied = np.maximum(np.exp(logarithms) - 0.5, 0) / step
    made = {name: _sessions(series, step) for name, series in zip(NAMES, (varied, means))}
    stalled: dict[str, Any] = {name: replayed(sessions, MEAN)["stalled"] for name, sessions in made.items()}
    return stalled | {"of_half": told(half), "of_varied": told(made["varied"])}


NAMES = "varied", "at_means"

QUANTILES = 0.05, 0.5, 0.95, 0.99

LOW = 0.2
"""Of the mean throughput: the least rate of the videos."""


def told(sessions: list[Session]) -> dict[str, list[float]]:
    """Return quantiles of the mean throughput of sessions [packets/s], and of how long it stays below `LOW` [s]."""
    stays: list[int] = []
    for one in sessions:
        edges = np.flatnonzero(np.diff(np.concatenate([[0], one.packets < LOW * MEAN, [0]])))
        stays += np.diff(edges)[::2].tolist()
    means = [float(one.packets.mean()) for one in sessions]
    return {"means": np.quantile(means, QUANTILES).tolist(), "low_s": np.quantile(stays, QUANTILES).tolist()}


def regimes(transitions: Floats, shares: Floats, count: int, rng: np.random.Generator) -> Any:
    """Return the regimes of successive intervals, a row for each of the drawn sessions."""
    sums = np.cumsum(transitions, axis=1)[:, :-1]
    found = np.zeros((count, SESSIONS), dtype=np.int64)
    found[0] = rng.choice(len(shares), size=SESSIONS, p=shares / shares.sum())
    for i in range(1, count):
        found[i] = (sums[found[i - 1]] <= rng.random(SESSIONS)[:, np.newaxis]).sum(axis=1)
    return found.T


def _sessions(series: Floats, step: float) -> list[Session]:
    """Return sessions by the second of a throughput in longer intervals, a row for each."""
    edges, seconds = step * np.arange(series.shape[1] + 1), np.arange(SECONDS + 1)
    found = []
    for number, row in enumerate(series):
        packets = np.append(0.0, np.cumsum(row * step))
        found.append(Session(number, np.diff(np.interp(seconds, edges, packets))))
    return found
