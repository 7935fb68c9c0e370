"""What viewers see of a stored video with each of some start buffers and each of some resume buffers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .._version import __version__
from ..errors import InputError
from ..path import Path
from ..system.html_table import Rows
from ..system.threads import on_cores
from ..tcp import Varying, chain_of
from ..video import Video
from .answer import SCHEMA, check_pair, table
from .joined import mean_rounds, rounds_within
from .player import Player
from .session_files import write_csv
from .shown import Shown, inputs, off_by
from .two_finenesses import TwoFinenesses
from .viewing import QUANTILES

if TYPE_CHECKING:
    import pandas as pd

Floats = NDArray[np.float64]

ANSWERS = ("stall_probability", "mean_stalls", "mean_total_rebuffer", "rebuffering_ratio")
"""In the order of `Seen`, where numbers of stalls are not told apart."""

MOST = 10_000
"""Pairs of buffers."""

DISPLAYED = 20
"""Of them, in a notebook."""


class BufferGrid(Shown):
    """A stored video as players with buffers show it, over both buffers; made by `buffer_grid`.

    Attributes
    ----------
    path : Path
    video : Video
    start_buffers, resume_buffers : (n,), (m,) arrays
        Media that is held when playback starts, and when it resumes after a stall [s].
    throughput : float
        T [packets/s].
    load : float
        mu / T.
    mean_join_time : (n,) array
        Mean time until playback starts, from the first round of data on [s].
    stall_probability, mean_stalls, mean_total_rebuffer, rebuffering_ratio : (n, m) arrays
        As of a `BufferedPlay`; the third in seconds.
    errors : dict of str to array
        By how much each of them may be off; `join_time_cdf` of P(join time <= t).

    Examples
    --------
    >>> import tcpstream
    >>> path = tcpstream.Path(sender="classic", tcp="reno-sack", loss=0.02, rtt=0.1, initial_window=10, max_window=10)
    >>> video = tcpstream.Video(packet_rate=40, duration=8)
    >>> tcpstream.buffer_grid(path, video, start_buffers=[0.5, 1], resume_buffers=[1])
    <BufferGrid: 2 start buffers, 1 resume buffers, T/mu = 1.761>
    """

    def __init__(self, path: Path | Varying, video: Video, starts: Sequence[float], resumes: Sequence[float]) -> None:
        chain = chain_of(path)
        self.path, self.video = path, video
        self.start_buffers, self.resume_buffers = np.array(starts), np.array(resumes)
        self.throughput = chain.packets_per_round / path.rtt
        self.load = video.packet_rate / self.throughput
        solver = TwoFinenesses(chain, path, video, counts=1)
        self._joined = solver.joined(starts)  # makes what the passes share
        found = on_cores(lambda resume: solver.solve(starts, resume), resumes)
        answers = np.array([[seen.answers for seen in row] for row in found]).transpose(2, 1, 0)
        errors = np.array([[seen.errors for seen in row] for row in found]).transpose(2, 1, 0)
        self.mean_join_time: Floats = np.array([mean_rounds(one.chance) for one in self._joined]) * path.rtt
        self.stall_probability: Floats
        self.mean_stalls: Floats
        self.mean_total_rebuffer: Floats
        self.rebuffering_ratio: Floats
        self.stall_probability, self.mean_stalls, self.mean_total_rebuffer, self.rebuffering_ratio = answers
        self.stall_probability = np.maximum(self.stall_probability, 0.0)
        joined = {
            "mean_join_time": np.array([one.mean_error for one in self._joined]) * path.rtt,
            "join_time_cdf": np.array([one.error for one in self._joined]),
        }
        self.errors: dict[str, Floats] = joined | dict(zip(ANSWERS, errors))

    def join_time_quantile(self, u: float) -> Floats:
        """Return the least t with P(join time <= t) >= u [s], of each start buffer: whole round trips.

        Raises
        ------
        InputError
            For a probability out of range.
        """
        return np.array([float(rounds_within(one.chance, u)) for one in self._joined]) * self.path.rtt

    def to_pandas(self) -> pd.DataFrame:
        """Return the answers as a table, a row for each pair.

        Raises
        ------
        MissingExtraError
            Without pandas.
        """
        return table(self._columns())

    def write_csv(self, file: str | PathLike[str]) -> None:
        """Write the same table, with a header.

        Raises
        ------
        InputError, WriteError
            Where the file cannot be written.
        """
        columns = {name: column.tolist() for name, column in self._columns().items()}
        write_csv((dict(zip(columns, row)) for row in zip(*columns.values())), file)

    def _columns(self) -> dict[str, Floats]:
        """Return the answers and their errors, a row for each pair."""
        n, m = self.stall_probability.shape
        of_starts = {"mean_join_time": self.mean_join_time}
        of_starts |= {f"join_time_{name}": self.join_time_quantile(u) for name, u in QUANTILES.items()}
        columns = {
            "start_buffer_s": np.repeat(self.start_buffers, m),
            "resume_buffer_s": np.tile(self.resume_buffers, n),
        }
        columns |= {name: np.repeat(column, m) for name, column in of_starts.items()}
        columns |= {name: getattr(self, name).ravel() for name in ANSWERS}
        off = {name: np.repeat(each, m) if each.ndim == 1 else each.ravel() for name, each in self.errors.items()}
        return columns | {f"{name}_error": each for name, each in off.items()}

    def to_dict(self) -> dict[str, Any]:
        """Return the answers and what they were computed from, ready for JSON: a row of lists for each start buffer."""
        buffers = {"start_buffer_s": self.start_buffers.tolist(), "resume_buffer_s": self.resume_buffers.tolist()}
        times = {name: self.join_time_quantile(u).tolist() for name, u in QUANTILES.items()}
        return {
            "schema": SCHEMA,
            "version": __version__,
            "model": "play",
            "parameters": self.path.to_dict() | self.video.to_dict() | buffers,
            "throughput_pps": self.throughput,
            "load": self.load,
            "join_time_s": {"mean": self.mean_join_time.tolist()} | times,
            "stall_probability": self.stall_probability.tolist(),
            "mean_stalls": self.mean_stalls.tolist(),
            "mean_total_rebuffer_s": self.mean_total_rebuffer.tolist(),
            "rebuffering_ratio": self.rebuffering_ratio.tolist(),
            "error_bound": {name: off.tolist() for name, off in self.errors.items()},
        }

    def summary(self) -> str:
        """Return a line for people about each pair of buffers, of 20 at most."""
        lines = [f"stored video of {self.video.duration:g} s, T/mu = {1 / self.load:.4g}"]
        for (i, j), pair in self._pairs():
            seen = (self._off_by(name, i, j) for name in ("stall_probability", "rebuffering_ratio"))
            lines.append("{}: P(any stall) {}; rebuffering ratio {}".format(pair, *seen))
        if self.stall_probability.size > DISPLAYED:
            lines.append(f"{DISPLAYED} of {self.stall_probability.size:,} pairs")
        return "\n".join(lines)

    def _pairs(self) -> list[tuple[tuple[int, int], str]]:
        """Return the first pairs of buffers, in words."""
        pairs = list(np.ndindex(self.stall_probability.shape))[:DISPLAYED]
        return [
            ((i, j), f"starts with {self.start_buffers[i]:g} s, resumes with {self.resume_buffers[j]:g} s")
            for i, j in pairs
        ]

    def _off_by(self, name: str, i: int, j: int) -> str:
        return off_by(float(getattr(self, name)[i, j]), float(self.errors[name][i, j]))

    def _sections(self) -> Mapping[str, Rows]:
        size = self.stall_probability.size
        heading = "rebuffering ratio" + (f", {DISPLAYED} of {size:,} pairs" if size > DISPLAYED else "")
        rows = [(pair, self._off_by("rebuffering_ratio", *at)) for at, pair in self._pairs()]
        return {heading: rows, **inputs(self.path, self.video)}

    def __repr__(self) -> str:
        n, m = self.stall_probability.shape
        return f"<BufferGrid: {n} start buffers, {m} resume buffers, T/mu = {1 / self.load:.4g}>"


def buffer_grid(
    path: Path | Varying, video: Video, start_buffers: Sequence[float], resume_buffers: Sequence[float]
) -> BufferGrid:
    """Solve what viewers see of a stored video with each pair of a start buffer and a resume buffer.

    What comes after a stall depends on the resume buffer alone, so each of these is solved once, on all cores, and each
    start buffer is one mean over states and media held of it.

    Parameters
    ----------
    path : Path
    video : Video
        With a duration.
    start_buffers, resume_buffers : sequences of float
        Media that is held when playback starts, and when it resumes after a stall [s], above 0; 10,000 pairs at most.

    Returns
    -------
    BufferGrid

    Raises
    ------
    InputError
        For a value out of range; without a duration; for a playback curve.
    AccuracyError
        When the solve would need too much time or memory.

    Examples
    --------
    >>> import tcpstream
    >>> path = tcpstream.Path(sender="classic", tcp="reno-sack", loss=0.02, rtt=0.1, initial_window=10, max_window=10)
    >>> video = tcpstream.Video(packet_rate=40, duration=8)
    >>> grid = tcpstream.buffer_grid(path, video, start_buffers=[0.5, 1], resume_buffers=[1])
    >>> grid.stall_probability.round(3).tolist()
    [[0.009], [0.001]]
    """
    check_pair(path, video)
    starts, resumes = ([float(one) for one in np.ravel(np.asarray(each))] for each in (start_buffers, resume_buffers))
    if not 1 <= len(starts) * len(resumes) <= MOST:
        raise InputError(f"give 1 to {MOST:,} pairs of buffers, got {len(starts):,} x {len(resumes):,}")
    for start in starts:
        Player(start_buffer=start)
    for resume in resumes:
        Player(start_buffer=1.0, resume_buffer=resume)
        if resume == 0:
            raise InputError("resume buffers must be above 0, got 0 s: without one stalls are not counted")
    if video.duration is None:
        raise InputError("buffer_grid needs the duration of a stored video [s]")
    return BufferGrid(path, video, starts, resumes)
