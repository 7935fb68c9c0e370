"""Stored media, written out: TCP state and packets delivered (Section 3.3.2), until all are there."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..errors import InputError
from ..path import Path
from ..system import watch
from ..video import Video
from .chain import ExplicitChain, Part, check_size, label
from .judge import Judgement, due_by_round, judge
from .rounds import round_chain


@dataclass(frozen=True, eq=False)
class ExplicitStored(ExplicitChain):
    """The chain of stored media: TCP state x packets delivered, n = A.

    The label is "delivered": the absorbing state in which the client has the whole video.

    Attributes
    ----------
    path, video
        What the chain was built from.
    parts : tuple of Part
        The matrix by what is in order after each round.
    """

    path: Path
    video: Video
    parts: tuple[Part, ...]

    def arrivals(self, rounds: int) -> NDArray[np.float64]:
        """Return P(A_i = a), shape (rounds + 1, packets + 1); the last column is the whole video, or more."""
        now = self.start
        table = np.empty((rounds + 1, int(self.states["n"][-1]) + 1))
        delivered = self.states["n"].astype(np.int64)
        for i in range(rounds + 1):
            watch.at(i, rounds + 1, watch.SHORTER)
            table[i] = np.bincount(delivered, weights=now)
            now = np.asarray(now @ self.matrix)
        return table

    def judge(self, delay: float, *, horizon: str = "end") -> Judgement:
        """Return f, P_i, the bound of Theorem 1 and alpha for a startup delay.

        Parameters
        ----------
        delay : float
            tau >= 0 [s].
        horizon : {"end", "paper"}
            Judge the whole video, until duration + delay; or stop, as the paper does, at round duration / R.

        Raises
        ------
        InputError
            For a value out of range.
        """
        due, judged = due_by_round(self.path, self.video, delay, horizon)
        return judge(self.start, lambda _: self.parts, due, judged)

    def late_fraction(self, delay: float, *, horizon: str = "end") -> float:
        """Return f alone; see `judge`."""
        return self.judge(delay, horizon=horizon).late_fraction


def explicit_stored(path: Path, video: Video) -> ExplicitStored:
    """Return the chain of stored media, every state written out.

    The server sends as fast as TCP lets it. All states in which the whole video has arrived are one absorbing
    state, from which no packet can be late.

    Parameters
    ----------
    path : Path
        What TCP sees of the network.
    video : Video
        With a duration; constant or variable rate.

    Raises
    ------
    InputError
        For a video without a duration.
    AccuracyError
        When the chain would have more than 200 million nonzero probabilities.

    Notes
    -----
    Wang, Kurose, Shenoy and Towsley, Sections 3.2 and 3.3.2 and Table VI, corrected as docs/theory.md says. The
    state carries A where the paper has an impulse reward: N = A - B for every playback curve B.
    """
    if video.duration is None:
        raise InputError("stored media need the duration of the video [s]")
    tcp = round_chain(path)
    n = len(tcp.states)
    whole = int(np.ceil(video.packets - 1e-9))
    check_size(len(tcp.source) * whole + 1, "shorten the video or lower W_max")
    absorbing = n * whole
    before = np.arange(whole)[:, np.newaxis]  # delivered
    delivered = before + tcp.packets
    targets = np.where(delivered < whole, n * delivered + tcp.target, absorbing)
    sources = n * before + tcp.source
    size = (absorbing + 1, absorbing + 1)
    parts: list[Part] = []
    for in_order in np.unique(tcp.in_order).tolist():
        at = tcp.in_order == in_order
        last = [absorbing] if not parts else []
        rows = np.append(sources[:, at].ravel(), last).astype(np.int64)
        columns = np.append(targets[:, at].ravel(), last).astype(np.int64)
        values = np.append(np.tile(tcp.probability[at], whole), np.ones(len(last)))
        matrix = sparse.csr_array(sparse.coo_array((values, (rows, columns)), shape=size))
        parts.append(Part(matrix, np.append(np.repeat(np.arange(whole) + float(in_order), n), float(whole))))
    states = label(tcp, np.arange(whole, dtype=float))
    end = np.zeros(1, dtype=states.dtype)
    end["n"] = whole
    states = np.append(states, end)
    total = sum((part.matrix for part in parts[1:]), start=parts[0].matrix)
    return ExplicitStored(total, states, 0, {"delivered": states["n"] == whole}, path, video, tuple(parts))
