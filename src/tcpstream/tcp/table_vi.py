"""Table VI of the paper as it reads: the transitions of the TCP chain, one state at a time.

Wang, Kurose, Shenoy and Towsley, "Multimedia Streaming via TCP: An Analytic Performance Study", Section 3.2
and Appendix A, without the number n of early packets, and with the printing errors of the table mended
(docs/theory.md lists them). Slow and plain on purpose: this is what the fast solvers are tested against.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from ..errors import AccuracyError
from ..path import Path
from .chain import Transitions

#: A dense solve with more states than this is refused.
MAX_STATES = 5_000
#: A wait this close to a whole number of rounds is that number (rto / rtt carries rounding noise).
WHOLE_WAIT = 1e-9


class State(NamedTuple):
    """State X = (W, C, L, E, R) of the TCP chain at the start of a round.

    Attributes
    ----------
    w : int
        Window, the packets that the round sends [packets], 1 <= w <= W_max.
    c : int
        Rounds already spent at this window without a loss, 0 <= c < b.
    l : int
        Packets lost in the previous round [packets]; l > 0 is a short round.
    e : int
        Back-off exponent, 0 outside a timeout, 1..7 in one.
    r : int
        In a timeout: 1 for a retransmission, 0 for the first new packet after one.
    """

    w: int
    c: int
    l: int  # noqa: E741 - the paper's letter
    e: int
    r: int


class Transition(NamedTuple):
    """One transition of the TCP chain.

    Attributes
    ----------
    target : State
        The next state.
    probability : float or sympy expression
        Its probability, of the same kind as `p`.
    packets : int
        S, packets delivered, all in the first of the rounds [packets].
    rounds : int
        d >= 1, how long the transition takes [rounds].
    """

    target: State
    probability: Any
    packets: int
    rounds: int


#: A video starts at window 1.
START = State(1, 0, 0, 0, 0)
#: A loss that duplicate acknowledgements do not repair leads here.
TIMEOUT = State(1, 0, 0, 1, 1)

HALF = {"floor": lambda w: w // 2, "ceil": lambda w: (w + 1) // 2}
BACKOFF = {"rfc6298": lambda e: 2 ** min(e, 6), "paper": lambda e: 2 ** (e - 1)}


def transitions(
    state: State,
    *,
    p: Any,
    max_window: int,
    timeout_ratio: Any,
    rounds_per_increase: int = 1,
    backoff: str = "rfc6298",
    halving: str = "floor",
) -> list[Transition]:
    """Return the row of `state` in Table VI, corrected; its probabilities sum to 1.

    Parameters
    ----------
    state : State
        Where the round starts.
    p : float or sympy expression
        Probability that a packet is the first one lost of its round, given that none before it is, 0 < p < 1.
    max_window : int
        W_max >= 1 [packets].
    timeout_ratio : float or sympy number
        T_O >= 1, first retransmission timer [rounds]. A wait that is not a whole number of rounds is split in
        its two neighbouring whole numbers, with probabilities that keep its mean.
    rounds_per_increase : int
        b, rounds of full windows per window increase.
    backoff : {"rfc6298", "paper"}
        Timer of back-off level e: 2^min(e, 6) T_O, or 2^(e-1) T_O as printed.
    halving : {"floor", "ceil"}
        How half of an odd window is rounded.

    Returns
    -------
    list of Transition

    Raises
    ------
    KeyError
        For an unknown `backoff` or `halving` (`Path` validates them).
    """
    w, c, lost, e, r = state
    q = 1 - p

    if e > 0:  # timeout: one packet, lost or delivered
        longer = State(1, 0, 0, min(e + 1, 7), 1)
        onwards = State(1, 0, 0, e, 0) if r == 1 else State(min(2, max_window), 0, 0, 0, 0)
        wait = BACKOFF[backoff](e) * timeout_ratio
        return [*_after(wait, longer, p, 0), Transition(onwards, q, 1, 1)]

    if lost > 0:  # short round: w acknowledgements release w packets, i of them arrive
        halved = State(HALF[halving](w + lost), 0, 0, 0, 0)
        row = []
        for i in range(w + 1):
            probability = p * q**i if i < w else q**w
            if i < 3:  # fewer than three duplicate acknowledgements; the timer has run for a round
                row += _after(max(timeout_ratio - 1, 1), TIMEOUT, probability, i)
            else:
                row.append(Transition(halved, probability, i, 1))
        return row

    # congestion avoidance: all w packets arrive, or the first j of them, or none
    same, grown = State(w, c + 1, 0, 0, 0), State(min(w + 1, max_window), 0, 0, 0, 0)
    row = [Transition(same if c + 1 < rounds_per_increase else grown, q**w, w, 1)]
    row += [Transition(State(j, 0, w - j, 0, 0), p * q**j, j, 1) for j in range(1, w)]
    return row + _after(timeout_ratio, TIMEOUT, p, 0)


def _after(wait: Any, target: State, probability: Any, packets: int) -> list[Transition]:
    """Return the transition to `target` after `wait` rounds, or the two neighbours that keep its mean."""
    nearest = round(wait)
    if abs(wait - nearest) <= WHOLE_WAIT:
        return [Transition(target, probability, packets, int(nearest))]
    below = math.floor(wait)
    more = wait - below
    return [
        Transition(target, probability * (1 - more), packets, below),
        Transition(target, probability * more, packets, below + 1),
    ]


def states(max_window: int, rounds_per_increase: int = 1) -> list[State]:
    """Return every state of the chain: congestion avoidance, short rounds, timeouts.

    Parameters
    ----------
    max_window : int
        W_max >= 1 [packets].
    rounds_per_increase : int
        b, rounds of full windows per window increase.

    Returns
    -------
    list of State
        b W_max + W_max (W_max - 1) / 2 + 14 states; the first one is `START`.
    """
    windows = range(1, max_window + 1)
    return [
        *(State(w, c, 0, 0, 0) for w in windows for c in range(rounds_per_increase)),
        *(State(j, 0, w - j, 0, 0) for w in windows for j in range(1, w)),
        *(State(1, 0, 0, e, r) for e in range(1, 8) for r in (1, 0)),
    ]


def table_vi(path: Path) -> Transitions:
    """Return every transition of the chain of a path, by Table VI, from the start of a video on.

    Parameters
    ----------
    path : Path
        Of tcp reno, without slow start and RACK-TLP.
    """
    labels, number = [START], {START: 0}
    rows: list[tuple[int, int, float, int, int, int]] = []
    for i, state in enumerate(labels):  # the list grows while it is read
        for one in transitions(
            state,
            p=path.loss,
            max_window=path.max_window,
            timeout_ratio=path.timeout_ratio,
            rounds_per_increase=path.rounds_per_increase,
            backoff=path.backoff,
            halving=path.halving,
        ):
            if one.target not in number:
                number[one.target] = len(labels)
                labels.append(one.target)
            rows.append((i, number[one.target], one.probability, one.packets, one.packets, one.rounds))
    return Transitions.of([tuple(label) for label in labels], rows)


def packets_per_round(
    *,
    p: float,
    max_window: int,
    timeout_ratio: float,
    rounds_per_increase: int = 1,
    backoff: str = "rfc6298",
    halving: str = "floor",
) -> float:
    """Return the achievable TCP throughput T R: packets delivered per round in the long run.

    The parameters are those of `transitions`, p a float. One dense solve for the stationary distribution of
    the chain at its transitions, then mean packets over mean rounds of a transition.

    Returns
    -------
    float
        [packets/round]

    Raises
    ------
    AccuracyError
        When the chain has more than 5,000 states.

    Examples
    --------
    >>> round(packets_per_round(p=0.02, max_window=48, timeout_ratio=4, backoff="paper"), 2)
    5.49
    """
    rows = states(max_window, rounds_per_increase)
    n = len(rows)
    if n > MAX_STATES:
        raise AccuracyError(f"a dense solve for {n:,} states is refused, at most {MAX_STATES:,}: lower W_max")
    number = {state: i for i, state in enumerate(rows)}
    matrix, packets, rounds = np.zeros((n, n)), np.zeros(n), np.zeros(n)
    for i, state in enumerate(rows):
        for target, probability, s, d in transitions(
            state,
            p=p,
            max_window=max_window,
            timeout_ratio=timeout_ratio,
            rounds_per_increase=rounds_per_increase,
            backoff=backoff,
            halving=halving,
        ):
            matrix[i, number[target]] += probability
            packets[i] += probability * s
            rounds[i] += probability * d
    balance = matrix.T - np.eye(n)
    balance[-1] = 1.0  # one balance equation is redundant; the probabilities sum to 1 instead
    stationary = np.linalg.solve(balance, np.eye(n)[-1])
    return float(stationary @ packets / (stationary @ rounds))
