"""The kernels: a round of TCP, and a video followed round by round."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

STATE, LEVEL, FRESH, WAIT, SHORT, BEFORE, GOOD = range(7)
"""Where a TCP is: state of the graph; back-off level, 0 outside a timeout; whether the next packet is the first new one
after a retransmission; rounds to wait; packets of the short round and the window before it; packets before the next
loss."""

FIELDS = 7

NOISE = 1e-9
"""Packets, relative to what is due: floating-point noise makes no packet late, and no backlog."""

FOREVER = 9e18


@njit(nogil=True, cache=True)
def until_loss(source: Any, rng: Any) -> Any:
    """Draw how many packets are delivered before the next loss."""
    return np.int64(min(rng.standard_exponential() / source.hazard, FOREVER))


@njit(nogil=True, cache=True)
def begin(source: Any, rng: Any) -> Any:
    """Return a TCP at the start of a video."""
    tcp = np.zeros(FIELDS, dtype=np.int64)
    tcp[STATE] = source.start
    tcp[GOOD] = until_loss(source, rng)
    return tcp


@njit(nogil=True, cache=True)
def time_out(source: Any, tcp: Any, wait: int, level: int, rng: Any) -> None:
    """Wait after this round, then retransmit at a back-off level."""
    more = source.wait_more[wait] > 0 and rng.random() < source.wait_more[wait]
    tcp[WAIT] = source.wait_low[wait] + more - 1
    tcp[LEVEL], tcp[FRESH], tcp[SHORT] = level, 0, 0


@njit(nogil=True, cache=True)
def send(source: Any, tcp: Any, rng: Any) -> Any:
    """Send for a round, without a wait; return the packets that arrive, and those of them in order by its end."""
    good = tcp[GOOD]
    if tcp[LEVEL] > 0:
        if good == 0:
            tcp[GOOD] = until_loss(source, rng)
            time_out(source, tcp, 1 + tcp[LEVEL], min(tcp[LEVEL] + 1, 7), rng)
            return 0, 0
        tcp[GOOD] = good - 1
        if tcp[FRESH] == 1:
            tcp[STATE], tcp[LEVEL], tcp[FRESH] = source.restart, 0, 0
        else:
            tcp[FRESH] = 1
        return 1, 1
    if tcp[SHORT] > 0:
        size = tcp[SHORT]
        if good >= size:
            tcp[GOOD] = good - size
        else:
            size, tcp[GOOD] = good, until_loss(source, rng)
        if size >= 3:
            tcp[STATE], tcp[SHORT] = source.recover_to[tcp[BEFORE], 0], 0
        else:
            time_out(source, tcp, 1, 1, rng)
        return size, size
    state = tcp[STATE]
    window = source.windows[state]
    if good >= window:
        tcp[GOOD] = good - window
        i = source.grow_first[state]
        if i + 1 < source.grow_first[state + 1]:
            u = rng.random()
            while u >= source.grow_below[i]:
                i += 1
        tcp[STATE] = source.grow_to[i]
        return window, window
    if source.bursts:
        tcp[GOOD] = until_loss(source, rng)
        if good == 0:
            time_out(source, tcp, 0, 1, rng)
        elif state < source.opening:
            tcp[BEFORE] = min(window + (good + source.increase - 1) // source.increase, source.largest)
            tcp[SHORT] = tcp[BEFORE] - window + good
        else:
            tcp[BEFORE], tcp[SHORT] = window, good
        return good, good
    lost, behind, more = 1, window - 1 - good, until_loss(source, rng)
    while more < behind:
        lost += 1
        behind -= more + 1
        more = until_loss(source, rng)
    tcp[GOOD] = more - behind
    if lost == window:
        time_out(source, tcp, 0, 1, rng)
        return 0, 0
    if source.unseen > 0 and rng.random() >= (1 - source.unseen) ** lost:
        time_out(source, tcp, 1, 1, rng)
        return good, good
    i = 0
    if source.recover_below[state, 0] < 1:
        u = rng.random()
        while u >= source.recover_below[state, i]:
            i += 1
    tcp[STATE] = source.recover_to[state, i]
    return window - lost, good


@njit(nogil=True, cache=True)
def follow(
    source: Any, video: Any, tcp: Any, place: float, now: int, low: float, high: float, whole: bool, late: Any,
    kept: Any, entered: int, rng: Any,
) -> Any:  # fmt: skip
    """Follow a video from the end of a round on, and add up late packets by startup delay in `late`.

    What it is behind is the most packets that can be late now or, with the wait that is under way, soon. Without
    `whole` it is followed until that is at most `low` or at least `high`. With it, until its end: what is late between
    reaching `high` and being back at `low` is left out then, and counted from copies.

    Parameters
    ----------
    source, video : Source, Playback
    tcp : (7,) int array
        Changed.
    place : float
        D of a live stream, A of a stored video [packets].
    now : int
        Rounds that are over.
    low, high : float
        Levels [packets].
    whole : bool
    late : (n,) array
    kept : (tcps, places, times)
        Arrays for what reaches `high`, a sample where it is more than they hold.
    entered : int
        How many have reached it before.
    rng : numpy.random.Generator

    Returns
    -------
    place, now, entered, delays, top
        The last two: how many of the delays had late packets, and the most it was behind.
    """
    m, total, ahead, live, generating = video.due, video.total, video.ahead, video.live, video.generating
    delays, worst, counts, levels = len(ahead), 0, True, low > -np.inf or high < np.inf
    windows, next_state = source.windows, source.next_state
    top = -np.inf
    while now < video.rounds:
        now += 1
        behind_order = 0.0
        ended = now > generating
        done = False
        if live:
            more = 0.0 if now > generating + 1 else max(total - m * generating, 0.0) if ended else m
            if tcp[WAIT] > 0:
                tcp[WAIT] -= 1
                place += more
                behind_order = place
            elif place < NOISE:
                place = more
                behind_order = more
                done = ended and more < NOISE
            else:
                state = tcp[STATE]
                received = windows[state]
                if tcp[LEVEL] == 0 and tcp[SHORT] == 0 and tcp[GOOD] >= received and next_state[state] >= 0:
                    ordered = received
                    tcp[GOOD] -= received
                    tcp[STATE] = next_state[state]
                else:
                    received, ordered = send(source, tcp, rng)
                behind_order = max(place + more - ordered, 0.0)
                place = max(place + more - received, 0.0)
            arrived = total - behind_order if ended else 0.0
            behind = place + (m * (now - video.length) if ended else 0.0)
        else:
            received, ordered = 0, 0
            if tcp[WAIT] > 0:
                tcp[WAIT] -= 1
            else:
                state = tcp[STATE]
                received = windows[state]
                if tcp[LEVEL] == 0 and tcp[SHORT] == 0 and tcp[GOOD] >= received and next_state[state] >= 0:
                    ordered = received
                    tcp[GOOD] -= received
                    tcp[STATE] = next_state[state]
                else:
                    received, ordered = send(source, tcp, rng)
            arrived = place + ordered
            place += received
            behind_order = m * now - arrived
            behind = m * now - place
            done = arrived >= total
        if counts or not levels:
            if live and not ended:
                for k in range(delays):
                    over = behind_order - ahead[k]
                    if over <= NOISE * max(1.0, behind_order):
                        break
                    late[k] += min(over, m)
                    worst = max(worst, k + 1)
            elif behind_order > ahead[0] or ended:
                for k in range(delays):
                    due = min(max(m * now - ahead[k], 0.0), total)
                    over = due - arrived
                    if over <= NOISE * max(1.0, due):
                        break
                    late[k] += min(over, due - min(max(m * (now - 1) - ahead[k], 0.0), total))
                    worst = max(worst, k + 1)
        if done:
            break
        if levels:
            behind += m * tcp[WAIT]
            top = max(top, behind)
            if counts and behind >= high:
                room = len(kept[1])
                at = entered if entered < room else int(rng.random() * (entered + 1))
                entered += 1
                if at < room:
                    kept[0][at], kept[1][at], kept[2][at] = tcp, place, now
                if not whole:
                    break
                counts = False
            elif behind <= low:
                if not whole:
                    break
                counts = True
    return place, now, entered, worst, top


@njit(nogil=True, cache=True)
def videos(source: Any, video: Any, runs: int, sums: Any, squares: Any, none_late: Any, rng: Any) -> Any:
    """Follow videos from their start; add up late packets, their squares, and videos without one; return the rounds."""
    kept = (np.zeros((0, FIELDS), dtype=np.int64), np.zeros(0), np.zeros(0, dtype=np.int64))
    late = np.zeros(len(video.ahead))
    rounds = 0
    for _ in range(runs):
        late[:] = 0.0
        tcp = begin(source, rng)
        _, now, _, worst, _ = follow(source, video, tcp, 0.0, 0, -np.inf, np.inf, True, late, kept, 0, rng)
        sums += late
        squares += late**2
        none_late[worst:] += 1
        rounds += now
    return rounds


@njit(nogil=True, cache=True)
def copies(
    source: Any, video: Any, parents: Any, found: int, runs: int, low: float, high: float, late: Any, kept: Any,
    tops: Any, rng: Any,
) -> Any:  # fmt: skip
    """Follow copies of what reached a level, until they are back at `low` or reach `high`; return how many did.

    A copy draws its next loss anew: when it comes does not depend on the past.
    """
    entered, rounds = 0, 0
    for run in range(runs):
        parent = int(rng.random() * found)
        tcp = parents[0][parent].copy()
        tcp[GOOD] = until_loss(source, rng)
        start = parents[2][parent]
        place = parents[1][parent]
        _, now, entered, _, tops[run] = follow(
            source, video, tcp, place, start, low, high, False, late, kept, entered, rng
        )
        rounds += now - start
    return entered, rounds
