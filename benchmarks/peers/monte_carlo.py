"""Live streaming simulated: one compiled loop over rounds, a run of batches, and what an accuracy would cost.

The error of a simulation falls with the square root of the time, so the time for an accuracy follows from the standard
error of a run; such rows say that they are extrapolated.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numba
import numpy as np

import tcpstream

from ..cases import live_curve
from ..outcome import Outcome, timed

BATCHES = 50
SEED = 7


@numba.njit(cache=True)
def late_rounds(
    p: float, largest: int, waits: Any, b: int, m: int, ahead: float, batches: int, rounds: int, rng: Any
) -> Any:
    """Return the late packets of each batch of rounds, after one batch that is not counted.

    `waits`: rounds after a round all lost, after a short round, and for the back-off levels 1..7.
    """
    per_packet = 1.0 / np.log1p(-p)
    late = np.zeros(batches + 1)
    window, full, before, level, fresh, wait = 1, 0, 0, 0, False, 0
    backlog = 0
    for batch in range(batches + 1):
        total = 0.0
        for _ in range(rounds):
            sent = 0
            if wait > 0:
                wait -= 1
            elif backlog == 0:
                pass  # nothing to send: TCP pauses for a round
            else:
                good = int(np.log(1.0 - rng.random()) * per_packet)  # packets before the first loss
                if level > 0:
                    if good == 0:
                        wait = waits[1 + level] - 1
                        level, fresh = min(level + 1, 7), False
                    else:
                        sent = 1
                        if fresh:
                            window, full, level = min(2, largest), 0, 0
                        fresh = not fresh
                elif before > 0:  # short round: `window` packets, after a loss in a window of `before`
                    sent = min(good, window)
                    if sent >= 3:
                        window = before // 2
                    else:
                        level, fresh, wait = 1, False, waits[1] - 1
                    before = 0
                elif good >= window:
                    sent = window
                    full += 1
                    if full == b:
                        window, full = min(window + 1, largest), 0
                elif good == 0:
                    full, level, fresh, wait = 0, 1, False, waits[0] - 1
                else:
                    sent, full, before, window = good, 0, window, good
            backlog = max(backlog + m - sent, 0) if backlog > 0 or wait > 0 else m
            if backlog > ahead:
                total += min(float(m), backlog - ahead)
        late[batch] = total
    return late[1:]


def simulate(quick: bool, limit: float) -> Iterator[Outcome]:  # noqa: ARG001
    """Simulate for some seconds, and extrapolate to 1% and to the accuracy that tcpstream certifies."""
    case = live_curve(quick)
    path = case.path
    assert (path.halving, path.backoff) == ("floor", "paper")
    assert float(path.timeout_ratio).is_integer()
    timer = int(path.timeout_ratio)
    waits = np.array([timer, max(timer - 1, 1), *(timer * 2**e for e in range(7))])
    rounds = 20_000 if quick else 8_000_000
    ahead = case.video.packet_rate * case.delay

    def work(repetition: int, rounds: int = rounds) -> Any:
        rng = np.random.default_rng(SEED + repetition)
        b, m = path.rounds_per_increase, case.packets_per_round
        return late_rounds(path.loss, path.max_window, waits, b, m, ahead, BATCHES, rounds, rng)

    work(0, 10)
    seconds, late = timed(work, most=1, warm=False)
    f = late / (rounds * case.packets_per_round)
    mean, error = float(f.mean()), float(f.std(ddof=1) / np.sqrt(BATCHES))
    yield Outcome(
        seconds,
        {"f at one delay": np.array([mean])},
        method="Monte Carlo",
        claimed=f"standard error {error:.0e}, {error / mean:.1%} of f",
        note=f"{rounds * (BATCHES + 1):.2g} rounds, seed {SEED}",
        figures={"relative_standard_error": error / mean, "f": mean},
    )
    certified = tcpstream.live(path, case.video, accuracy="exact").error_bound
    for name, wanted in (("1% of f", 0.01 * mean), (f"{certified:.0e}, as tcpstream certifies", certified)):
        yield Outcome(
            [seconds[0] * (error / wanted) ** 2],
            method=f"Monte Carlo, to a standard error of {name}",
            note="extrapolated from the run above",
            extrapolated=True,
        )
