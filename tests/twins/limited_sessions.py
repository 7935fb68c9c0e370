"""A live stream of an application-limited sender, drawn round by round: what `tcpstream.limited` solves."""

from __future__ import annotations

from itertools import pairwise

import numba
import numpy as np
from numpy.typing import NDArray

from tcpstream.limited.rules import Rules
from tcpstream.tcp.burst import BurstChain
from tcpstream.tcp.silences import LEVELS
from tcpstream.tcp.window_chain import WindowChain

Floats = NDArray[np.float64]


@numba.njit(cache=True)
def _spend(late: Floats, levels: Floats, start: float, end: float, time: float) -> None:
    """Add the time for which the backlog, on its way from start to end, is above each level."""
    low, high = min(start, end), max(start, end)
    for j in range(len(levels)):
        if low >= levels[j] and high > levels[j]:
            late[j] += time
        elif high > levels[j]:
            late[j] += time * (high - levels[j]) / (high - low)


@numba.njit(cache=True)
def _sessions(
    starts, to, received, in_order, took, cumulative, windows, stays, slow, falls_to, same_window, n_windows, first,
    due, timer, rack, levels, rounds, rng,
):  # fmt: skip
    late, total, s, b, unused = np.zeros(len(levels)), 0.0, first, 0.0, 0
    while total < rounds:
        avail, window = b + due, windows[s]
        limited = s < n_windows and avail < window
        k, base = window, s
        if limited:
            k = int(avail) + (1 if rng.random() < avail - int(avail) else 0)
            base = same_window[k]
        sent = windows[base] if s < n_windows else 1
        o = starts[base] + np.searchsorted(cumulative[starts[base] : starts[base + 1]], rng.random(), side="right")
        o = min(o, starts[base + 1] - 1)
        if (limited and k == 0) or (received[o] == sent and took[o] == 1):
            after = 0.0 if limited else max(avail - received[o], 0.0)
            _spend(late, levels, b, after, 1.0)
            total += 1.0
            b = after
            if limited and stays[s] and not (slow[s] and window < 2 * avail):
                unused += 1
                if unused >= timer:
                    s, unused = falls_to[s], 0
                continue
            unused = 0
            while limited and not (received[o] == window and took[o] == 1 and starts[s] <= o < starts[s + 1]):
                o = starts[s] + np.searchsorted(cumulative[starts[s] : starts[s + 1]], rng.random(), side="right")
                o = min(o, starts[s + 1] - 1)
            s = to[o]
            continue
        unused = 0
        there = float(k) if limited else avail
        target = to[o]
        repaired = target < n_windows and s < n_windows
        if limited and repaired:
            for _ in range(100_000):
                other = starts[s] + np.searchsorted(
                    cumulative[starts[s] : starts[s + 1]], rng.random(), side="right"
                )  # fmt: skip
                other = min(other, starts[s + 1] - 1)
                if to[other] < n_windows and not (received[other] == window and took[other] == 1):
                    target = to[other]
                    break
        r = took[o]
        if r == 1:
            after = max(there - received[o], 0.0)
        elif r > 1 and in_order[o] < received[o]:
            after = max(max(there - in_order[o], 0.0) + due * (r - 1) - (received[o] - in_order[o]), 0.0)
        else:
            after = max(there - received[o], 0.0) + due * (r - 1)
        if r == 1 and repaired:
            x = min(in_order[o] / k, 1.0)
            gaps = 3 / (avail if limited else k)
            slack = min(gaps / 3 + 0.25, gaps) if rack else gaps
            at = b + (there - k - b) * x
            _spend(late, levels, b, at, x)
            _spend(late, levels, at, at + due * (1 + slack), 1 + slack)
            part = min(x + slack, 1.0)
            then = max(after + due - windows[target], 0.0)
            _spend(late, levels, after, after + (then - after) * part, -(x + slack))
        else:
            middle = max(there - in_order[o], 0.0)
            _spend(late, levels, b, middle, 1.0)
            if r == 2 and in_order[o] < received[o]:
                _spend(late, levels, middle, after, 1.0)
            elif r > 1:
                _spend(late, levels, middle, middle + due * (r - 1), r - 1.0)
        total += r
        b, s = after, target
    return late / total


def _burst_rows(chain: BurstChain) -> list[tuple[int, int, int, int, int, float]]:
    """Return (from, to, received, in order, rounds, probability) by packets, but for the first slow start."""
    p, graph, S = chain.loss, chain.graph, chain.graph.size
    q, silences, rows = 1 - p, chain.silences, []
    for s in range(chain.n_initial_slow_start, S):
        w = int(graph.windows[s])
        moves = np.flatnonzero(graph.growth.from_state == s)
        rows += [
            (s, int(graph.growth.to_state[i]), w, w, 1, q**w * float(graph.growth.share[i])) for i in moves
        ]  # fmt: skip
        rows += [(s, S, 0, 0, d, p * weight) for d, weight in silences.whole_loss]
        for j in range(1, w):
            for i in range(j + 1):
                chance = p * q**j * (q**i if i == j else p * q**i)
                if i >= 3:
                    rows.append((s, int(chain.recover_to[w]), j + i, j, 2, chance))
                else:
                    rows += [(s, S, j + i, j, 1 + d, chance * weight) for d, weight in silences.unrepaired]
    for e in range(1, LEVELS + 1):
        for again, state in ((True, S + 2 * (e - 1)), (False, S + 2 * (e - 1) + 1)):
            rows.append((state, state + 1 if again else graph.restart, 1, 1, 1, q))
            up = S + 2 * (min(e + 1, LEVELS) - 1)
            rows += [(state, up, 0, 0, d, p * weight) for d, weight in silences.backoff[e - 1]]
    return rows


def late_fractions(
    chain: WindowChain, known: Rules, due: float, timer: int, rack: bool, delays: Floats, rounds: float,
    rng: np.random.Generator, runs: int = 8,
) -> tuple[Floats, Floats]:  # fmt: skip
    """Return late fractions by startup delay [rounds], and their standard errors."""
    if isinstance(chain, BurstChain):
        *whole, probability = (np.array(one) for one in zip(*_burst_rows(chain)))
    else:
        rows, names = chain.written_out, ("from_state", "to_state", "received", "in_order", "rounds")
        whole, probability = [np.asarray(getattr(rows, name)) for name in names], rows.probability
    order = np.argsort(whole[0], kind="stable")
    starts = np.searchsorted(whole[0][order], np.arange(len(known.windows) + 1))
    cumulative = np.concatenate([np.cumsum(probability[order][a:b]) for a, b in pairwise(starts)])
    columns = tuple(one[order].astype(np.int64) for one in whole[1:])
    found = np.array(
        [
            _sessions(
                starts, *columns, cumulative, known.windows.astype(np.int64), known.stays, known.slow, known.falls_to,
                known.same_window, known.n_windows, chain.graph.restart, due, timer, rack, delays * due, rounds, rng,
            )
            for _ in range(runs)
        ]
    )  # fmt: skip
    return found.mean(axis=0), found.std(axis=0, ddof=1) / np.sqrt(runs)
