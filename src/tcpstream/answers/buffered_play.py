"""What a viewer sees of a stored video with a player that starts, and resumes, when it holds some seconds of media."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.polynomial.laguerre import laggauss
from numpy.typing import ArrayLike, NDArray

from .._version import __version__
from ..coarse.resolution import SPREAD, Scale
from ..errors import AccuracyError, InputError
from ..path import Path
from ..playout.deliveries import deliveries
from ..playout.fineness import Fineness
from ..playout.measures import measures
from ..playout.sessions import Sessions, sessions
from ..tcp import Chain, chain_of
from ..video import Video
from .answer import SCHEMA, probabilities, table
from .player import Player
from .timeline import Timeline

if TYPE_CHECKING:
    import pandas as pd

Floats = NDArray[np.float64]

COUNTS = 4
"""Numbers of stalls that are told apart: 0 to 3."""

NODES = 4
"""Of the quadrature of the rebuffering ratio."""

RISK = 1e-10
"""What is stated to be off at least."""

SLACK, DECAYS = 1e-2, 6.0
"""Part of an answer that more than the largest lead may still change; and factors of e by which a stall is less
probable there, about."""

LEAST = 1e-3
"""Part of an answer that is stated to be off at least, where quanta are not whole packets."""

SPREADS = 8.0
"""Standard deviations of what TCP delivers, up to which leads are followed."""

MARGIN = 1.25
"""Times the difference of two resolutions."""

HALF = 0.5
"""Packets by which places in a round differ at most."""

QUANTILES = {"p50": 0.5, "p90": 0.9, "p99": 0.99}
"""Of times."""


class BufferedPlay:
    """A stored video as a player with buffer thresholds shows it; made by `play`.

    Attributes
    ----------
    path : Path
    video : Video
    player : Player
    throughput : float
        T [packets/s].
    load : float
        mu / T.
    """

    def __init__(self, path: Path, video: Video, player: Player) -> None:
        self.path, self.video, self.player = path, video, player
        chain, self._timeline = chain_of(path), Timeline.of(path, video)
        self.throughput = chain.packets_per_round / path.rtt
        self.load = video.packet_rate / self.throughput
        if video.curve is not None:
            raise InputError("a player with buffer thresholds is followed at a constant rate, got a playback curve")
        due, rounds, length = self._timeline.packets_due, Scale.of(chain).rounds, self.video.duration
        assert length is not None
        fine = Fineness.of(due, rounds)
        top, most = self._first_top(chain), self.video.packets + 2 * due
        while True:
            rough = self._solve(chain, fine.coarser(), min(top, most))
            slack = self._slack(rough)
            if top >= most or (slack <= SLACK * self._seen(rough) + RISK)[[0, COUNTS + 1]].all():
                break
            top *= 2
        self._fine = self._solve(chain, fine, min(top, most))
        seen = self._seen(self._fine)
        off = MARGIN * np.abs(seen - self._seen(rough)) + self._slack(self._fine)
        if not fine.in_phase:  # packets fall due at places in a round that are not told apart
            later = self._solve(chain, replace(fine.coarser(), shift=HALF), min(top, most))
            off += np.abs(self._seen(later) - self._seen(rough))
        if not (np.isfinite(seen).all() and -off[0] - RISK <= seen[0] <= 1 + off[0] + RISK):
            raise AccuracyError(
                f"the pass over the video did not converge: P(any stall) {seen[0]:.3g} within {off[0]:.1g}; give a "
                f"rate or a round trip time that is a little different"
            )
        off[-1] += seen[0] * _quadrature(4 * seen[COUNTS + 1] / max(seen[0], 1e-300) / length)
        self._off = off + (0.0 if fine.exact else LEAST * np.abs(seen)) + RISK

    def _solve(self, chain: Chain, fine: Fineness, top: float) -> Sessions:
        assert self.player.start_buffer is not None
        rate, length = self.video.packet_rate, self._timeline.length
        buffers = self.player.start_buffer, self.player.resume_buffer
        begin, resume = (min(max(1.0, seconds * rate), max(1.0, self.video.packets)) for seconds in buffers)
        found = deliveries(chain, fine.step, fine.ratio)
        asked = measures(COUNTS, np.exp(-laggauss(NODES)[0] / length), fine.quanta, int(found.rounds.max()))
        return sessions(found, fine, self.video.packets, [begin], resume, asked, top)

    def _first_top(self, chain: Chain) -> float:
        """Return a lead from which more seems to make no difference [packets]."""
        due, sent, n = self._timeline.packets_due, chain.packets_per_round, self._timeline.length
        assert self.player.start_buffer is not None
        buffer = max(self.player.start_buffer, self.player.resume_buffer) * self.video.packet_rate
        scale, times = Scale.of(chain), np.geomspace(1, max(n, 2.0), 200)
        spread = np.array([scale.spread(sent * float(t)) for t in times])
        top = float(((sent - due) * times + SPREADS * spread).max())
        if due < sent:
            top = min(top, DECAYS * SPREAD**2 * scale.packets * sent / (2 * (sent - due)))
        return buffer + top + 2 * (chain.largest_round + due)

    def _seen(self, found: Sessions) -> Floats:
        """Return P(N > 0), P(N = k) from 1 on, E N, E S [s] and the rebuffering ratio of the whole video."""
        row = found.seen[-1, 0].copy()
        row[0] = 1 - row[0]
        row[COUNTS + 2 :] = 1 - row[COUNTS + 2 :]
        return self._of(row)

    def _slack(self, found: Sessions) -> Floats:
        return self._of(found.slack)

    def _of(self, row: Floats) -> Floats:
        ratio = float(laggauss(NODES)[1] @ row[COUNTS + 2 :])
        return np.concatenate([row[: COUNTS + 1], [row[COUNTS + 1] * self.path.rtt, ratio]])

    @property
    def stall_probability(self) -> float:
        """Probability that playback stalls at all."""
        return max(0.0, float(self._seen(self._fine)[0]))

    @property
    def counted(self) -> bool:
        """Whether stalls are counted: not for a player that resumes with the missing packet alone."""
        return self.player.resume_buffer > 0

    @property
    def stall_counts(self) -> Floats | None:
        """P(N = k) of the number of stalls, k = 0 .. 3, and of 4 or more; None without a resume buffer."""
        if not self.counted:
            return None
        pmf = np.clip(self._seen(self._fine)[:COUNTS], 0.0, 1.0)
        pmf[0] = 1 - pmf[0]
        return np.append(pmf, max(0.0, 1 - pmf.sum()))

    @property
    def mean_stalls(self) -> float | None:
        """E[N], the mean number of stalls; None without a resume buffer."""
        return float(self._seen(self._fine)[COUNTS]) if self.counted else None

    @property
    def mean_total_rebuffer(self) -> float:
        """E[S], the mean stalled time of the whole video [s]."""
        return float(self._seen(self._fine)[COUNTS + 1])

    @property
    def mean_stall_length(self) -> float | None:
        """E[S] / E[N], the mean length of a stall [s]; None without a resume buffer, or where nothing ever stalls."""
        stalls = self.mean_stalls
        return self.mean_total_rebuffer / stalls if stalls else None

    @property
    def rebuffering_ratio(self) -> float:
        """E[S / (S + length)], stalled over watched time; the start-up is not counted."""
        return float(self._seen(self._fine)[COUNTS + 2])

    @property
    def errors(self) -> dict[str, float]:
        """By how much answers may be off, by the names of the properties; `stall_counts` by the most for any number."""
        off = self._off
        found = {
            "stall_probability": float(off[0]),
            "mean_total_rebuffer": float(off[COUNTS + 1]),
            "rebuffering_ratio": float(off[COUNTS + 2]),
        }
        if self.counted:
            found |= {"mean_stalls": float(off[COUNTS]), "stall_counts": float(off[:COUNTS].max())}
        return found

    @property
    def mean_join_time(self) -> float:
        """Mean time until playback starts [s], from the first round of data on."""
        law = self._fine.joined[0]
        return float(law @ np.arange(len(law))) * self.path.rtt

    def join_time_quantile(self, u: float) -> float:
        """Return the least t with P(join time <= t) >= u [s], a whole number of round trips.

        Raises
        ------
        InputError
            For a probability out of range.
        """
        wanted = float(probabilities("quantile", [u])[0])
        return int(np.searchsorted(np.cumsum(self._fine.joined[0]), wanted - 1e-12)) * self.path.rtt

    def no_stall_until(self, seconds: ArrayLike) -> Any:
        """Return P(no stall in so many seconds of playback).

        Parameters
        ----------
        seconds : array_like
            [s], 0 to the duration.

        Returns
        -------
        float or ndarray
            Of the shape of `seconds`, interpolated between 48 lengths.

        Raises
        ------
        InputError
            For times out of range.
        """
        t = np.asarray(seconds, dtype=float)
        duration = self.video.duration
        assert duration is not None
        if not ((t >= 0) & (t <= duration * (1 + 1e-12))).all():
            raise InputError(f"times must lie between 0 and the duration of {duration:g} s, got {t.ravel()[0]:g} s")
        lengths, chance = np.append(0.0, self._fine.lengths), np.append(1.0, self._fine.seen[:, 0, 0])
        found = np.interp(t / self.path.rtt, lengths, chance)
        return float(found) if t.ndim == 0 else found

    def first_stall_quantile(self, u: float) -> float:
        """Return a quantile of when the first stall begins, in seconds of playback, of those viewers that see one.

        Raises
        ------
        InputError
            For a probability out of range.
        AccuracyError
            Where nobody does.
        """
        wanted = float(probabilities("quantile", [u])[0])
        if self.stall_probability <= self.errors["stall_probability"]:
            raise AccuracyError("no first stall: a stall is less probable than the error of the solve")
        lengths, chance = np.append(0.0, self._fine.lengths), np.append(0.0, 1 - self._fine.seen[:, 0, 0])
        return float(np.interp(wanted * chance[-1], np.maximum.accumulate(chance), lengths)) * self.path.rtt

    def to_dict(self) -> dict[str, Any]:
        """Return the answers and what they were computed from, ready for JSON."""
        pmf = self.stall_counts
        seen = self.stall_probability > self.errors["stall_probability"]
        return {
            "schema": SCHEMA,
            "version": __version__,
            "model": "play",
            "parameters": self.path.to_dict() | self.video.to_dict() | self.player.to_dict(),
            "throughput_pps": self.throughput,
            "load": self.load,
            "join_time_s": {"mean": self.mean_join_time}
            | {name: self.join_time_quantile(u) for name, u in QUANTILES.items()},
            "stall_probability": self.stall_probability,
            "total_rebuffer_s": {"mean": self.mean_total_rebuffer},
            "rebuffer_count": None if pmf is None else {"mean": self.mean_stalls, "pmf": pmf.tolist()},
            "stall_length_s": None if self.mean_stall_length is None else {"mean": self.mean_stall_length},
            "first_stall_s": {name: self.first_stall_quantile(u) for name, u in QUANTILES.items()} if seen else None,
            "rebuffering_ratio": self.rebuffering_ratio,
            "error_bound": self.errors,
        }

    def to_pandas(self, seconds: ArrayLike) -> pd.DataFrame:
        """Return P(no stall in so many seconds of playback) as a table indexed by them [s].

        Raises
        ------
        MissingExtraError
            Without pandas.
        """
        t = np.ravel(np.asarray(seconds, dtype=float))
        return table({"playback_s": t, "no_stall": self.no_stall_until(t)})

    def summary(self) -> str:
        """Return a few lines for people."""
        lines = [
            f"stored video of {self.video.duration:g} s, T/mu = {1 / self.load:.4g}, playback starts with "
            f"{self.player.start_buffer:g} s of media and resumes with {self.player.resume_buffer:g} s",
            f"join time: mean {self.mean_join_time:.3g} s, 99% of viewers at most "
            f"{self.join_time_quantile(0.99):.3g} s",
            f"P(any stall) {self.stall_probability:.4g}",
        ]
        if self.counted:
            lines.append(f"stalls: mean {self.mean_stalls:.4g}")
        lines.append(f"stalled in total: mean {self.mean_total_rebuffer:.4g} s")
        lines.append(f"rebuffering ratio {self.rebuffering_ratio:.4g}")
        return "\n".join(lines)

    def __repr__(self) -> str:
        buffers = f"start buffer {self.player.start_buffer:g} s, resume buffer {self.player.resume_buffer:g} s"
        return f"<BufferedPlay: {buffers}, T/mu = {1 / self.load:.4g}>"


def _quadrature(most: float) -> float:
    """Return how far the quadrature of x / (1 + x) is off, up to some x."""
    nodes, weights = laggauss(NODES)
    x = np.linspace(0, min(most, 1e6), 50)
    return float(np.abs(weights @ -np.expm1(-nodes[:, np.newaxis] * x) - x / (1 + x)).max())
