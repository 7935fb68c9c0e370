"""Closed formulas for the throughput of a long TCP flow, to set beside the chain's [packets/s]."""

from __future__ import annotations

import math
from collections.abc import Callable

from ..path import Path


def pftk(path: Path) -> float:
    """Return the send rate of the full model of Padhye, Firoiu, Towsley and Kurose.

    With p, R, T0, b, W_max the path's loss, rtt, rto, rounds per increase and largest window, and

    - W = (2+b)/(3b) + sqrt(8(1-p)/(3bp) + ((2+b)/(3b))^2), the mean window at a loss if nothing limits it,
    - Q(w) = min(1, (1-(1-p)^3) (1 + (1-p)^3 (1-(1-p)^(w-3))) / (1-(1-p)^w)), the probability that a loss in a
      window of w ends in a timeout,
    - f = 1 + p + 2p^2 + 4p^3 + 8p^4 + 16p^5 + 32p^6, the mean length of a run of timeouts, in T0 / (1-p),

    the rate is ((1-p)/p + w + Q(w)/(1-p)) / (R g + Q(w) T0 f/(1-p)), where w = W and g = b W/2 + 1 if
    W < W_max, otherwise w = W_max and g = b W_max/8 + (1-p)/(p W_max) + 2.

    Parameters
    ----------
    path : Path
        The path; its `backoff` and `halving` are not used (the model doubles T0 up to 64 T0).

    Returns
    -------
    float
        Packets sent per second, retransmissions included [packets/s]; at most W_max / R.

    Notes
    -----
    J. Padhye, V. Firoiu, D. Towsley, J. Kurose, "Modeling TCP Throughput: A Simple Model and its Empirical
    Validation", SIGCOMM 1998, and "Modeling TCP Reno Performance", IEEE/ACM Transactions on Networking 8(2),
    2000: Section II-C, "The impact of window limitation", the formula called the full model.

    The two branches meet exactly only for b = 2. For b = 1 the limited branch has R/4 more in its
    denominator, so that the rate rises by up to 1 / (2 W_max + 4) of itself where p grows past W = W_max.
    """
    p, b = path.loss, path.rounds_per_increase
    offset = (2 + b) / (3 * b)
    window = offset + math.sqrt(8 * (1 - p) / (3 * b * p) + offset**2)
    if window < path.max_window:
        rounds = b / 2 * window + 1
    else:
        window = float(path.max_window)
        rounds = b / 8 * window + (1 - p) / (p * window) + 2
    timeout = _timeout_probability(p, window)
    run_length = 1 + p + 2 * p**2 + 4 * p**3 + 8 * p**4 + 16 * p**5 + 32 * p**6
    packets = (1 - p) / p + window + timeout / (1 - p)
    return packets / (path.rtt * rounds + timeout * path.rto * run_length / (1 - p))


def pftk_approximate(path: Path) -> float:
    """Return the send rate of the approximate model of Padhye, Firoiu, Towsley and Kurose.

    min(W_max/R, 1 / (R sqrt(2bp/3) + T0 min(1, 3 sqrt(3bp/8)) p (1 + 32 p^2))), symbols as in `pftk`.

    Parameters
    ----------
    path : Path
        The path; its `backoff` and `halving` are not used.

    Returns
    -------
    float
        Packets sent per second [packets/s]; at most W_max / R.

    Notes
    -----
    The papers cited at `pftk`, end of Section II-C, the formula called the approximate model.
    """
    chance = min(1.0, _timeout_chance(path))
    unlimited = 1 / (1 / mathis(path) + path.rto * chance * _timeout_run(path.loss))
    return min(path.max_window / path.rtt, unlimited)


def mathis(path: Path) -> float:
    """Return the rate without timeouts and window limit, sqrt(3 / (2bp)) / R.

    Parameters
    ----------
    path : Path
        The path; only its loss p, rtt R and rounds per increase b are used.

    Returns
    -------
    float
        Packets per second [packets/s].

    Notes
    -----
    M. Mathis, J. Semke, J. Mahdavi, T. Ott, "The Macroscopic Behavior of the TCP Congestion Avoidance
    Algorithm", Computer Communication Review 27(3), 1997, Section 2: rate = C / (R sqrt(p)) with
    C = sqrt(3/2) for periodic losses, sqrt(3/4) with delayed acknowledgements.
    """
    return math.sqrt(3 / (2 * path.rounds_per_increase * path.loss)) / path.rtt


def tfrc(path: Path) -> float:
    """Return the TCP throughput equation of TCP-friendly rate control, per packet.

    1 / (R sqrt(2bp/3) + t_RTO 3 sqrt(3bp/8) p (1 + 32 p^2)): `pftk_approximate` without its window limit,
    and with a timeout probability that exceeds 1 where p is large.

    Parameters
    ----------
    path : Path
        The path; t_RTO is its `rto` and b its `rounds_per_increase`. The RFC simplifies to t_RTO = 4 R and
        b = 1: give a path with ``timeout_ratio=4`` for that.

    Returns
    -------
    float
        Allowed sending rate [packets/s]: the RFC's X_Bps divided by the segment size s.

    Notes
    -----
    RFC 5348, "TCP Friendly Rate Control (TFRC): Protocol Specification", Section 3.1.
    """
    return 1 / (1 / mathis(path) + path.rto * _timeout_chance(path) * _timeout_run(path.loss))


#: Every formula by name.
ALL: dict[str, Callable[[Path], float]] = {
    "pftk": pftk,
    "pftk_approximate": pftk_approximate,
    "mathis": mathis,
    "tfrc": tfrc,
}


def _timeout_probability(p: float, w: float) -> float:
    """Return Q(w) of `pftk`, exactly 1 up to w = 3, without cancellation for small p."""

    def lost(n: float) -> float:
        return -math.expm1(n * math.log1p(-p))  # 1 - (1-p)^n

    if w <= 3:
        return 1.0
    return min(1.0, lost(3) * (1 + (1 - p) ** 3 * lost(w - 3)) / lost(w))


def _timeout_chance(path: Path) -> float:
    """Return 3 sqrt(3bp/8), about the probability that a loss ends in a timeout; over 1 for large p."""
    return 3 * math.sqrt(3 * path.rounds_per_increase * path.loss / 8)


def _timeout_run(p: float) -> float:
    """Return p (1 + 32 p^2), the approximate length of a run of timeouts per packet, in first timers."""
    return p * (1 + 32 * p**2)
