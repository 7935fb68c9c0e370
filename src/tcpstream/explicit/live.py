"""Live streaming, written out: the paper's chain Y^l of TCP state and early packets (Section 3.3.1)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from ..errors import AccuracyError, InputError, positive, real
from ..path import Path
from ..video import Video
from .chain import ExplicitChain, Part, check_size, label
from .judge import Judgement, due_by_round, judge
from .rounds import RoundChain, round_chain

#: Denominators that are tried for the lattice of packets.
DENOMINATORS = (1, 2, 3, 4)
#: Mass at the deepest backlog, as a fraction of f, that is too small to matter.
SHALLOW = 1e-3


@dataclass(frozen=True, eq=False)
class ExplicitLive(ExplicitChain):
    """The chain of live streaming: TCP state x backlog D of the server, n = N = mu delay - D.

    The labels are "late" (N < 0 at the delay of the chain), "empty" (D = 0) and "deepest" (D = depth).

    Attributes
    ----------
    packet_rate : float
        mu [packets/s].
    packets_per_round : float
        m = mu R, generated and played in a round [packets].
    backlog : NDArray, shape (states,)
        D, packets generated but not yet delivered [packets].
    depth : float
        The largest D. A backlog that would grow beyond it stays there (`late_fraction` certifies the effect).
    parts : tuple of Part
        The matrix by what is not in order after each round [packets].
    """

    packet_rate: float
    packets_per_round: float
    backlog: NDArray[np.float64]
    depth: float
    parts: tuple[Part, ...]

    def late_fraction(self, delays: ArrayLike) -> NDArray[np.float64]:
        """Return f, the stationary fraction of late packets, for startup delays [s], same shape.

        One stationary distribution gives every delay: f = E[min(m, max(D - mu tau, 0))] / m, which is
        equations 1 to 4 with N = mu tau - D.

        Raises
        ------
        InputError
            For a negative delay.
        AccuracyError
            When the distribution did not converge, or when `depth` cuts off a part of the answer: the deepest
            backlog has a probability above a thousandth of f, or mu tau + m exceeds `depth`. Where TCP's
            throughput does not exceed mu there is no stationary backlog, and no depth is enough.
        """
        tau = np.asarray(delays, dtype=float)
        if not (np.isfinite(tau).all() and (tau >= 0).all()):
            raise InputError(f"startup delays must be finite and at least 0 s, got {delays!r}")
        pi = self.stationary()
        not_in_order = np.concatenate([part.in_order for part in self.parts])
        backlog, number = np.unique(not_in_order, return_inverse=True)
        probability = np.bincount(number, weights=np.concatenate([pi * part.share for part in self.parts]))
        m = self.packets_per_round
        ahead = self.packet_rate * tau[..., np.newaxis]
        late = np.minimum(m, np.maximum(backlog - ahead, 0)) @ probability / m
        deepest = pi[self.backlog == self.depth].sum()
        bad = (deepest > SHALLOW * late) | (self.packet_rate * tau + m > self.depth)
        if bad.any():
            raise AccuracyError(
                f"a depth of {self.depth:g} packets is too small for a startup delay of {tau[bad].max():g} s: "
                f"the deepest backlog has probability {deepest:.2g}, f = {late[bad].min():.2g}; increase depth"
            )
        return np.asarray(late)


def explicit_live(path: Path, video: Video, delay: float, *, depth: float) -> ExplicitLive:
    """Return the chain of live streaming of an endless video, every state written out.

    N runs from N_max = mu delay down to N_max - depth. In a round that starts with D = 0 TCP, unless it waits
    for a timer, sends nothing and stays where it is, and D becomes m (Section 3.3.1: nothing is sent in the
    round after N = N_max).

    Parameters
    ----------
    path : Path
        What TCP sees of the network.
    video : Video
        Of constant rate, with m = mu R a multiple of 1, 1/2, 1/3 or 1/4 packet; its duration is not used.
    delay : float
        Startup delay tau >= 0 [s]; it only labels the states.
    depth : float
        Largest backlog D that is kept [packets], at least m; rounded up to the lattice. What would be larger
        is cut to it: `ExplicitLive.late_fraction` raises where that matters.

    Raises
    ------
    InputError
        When m is not on such a lattice, for a video of variable rate, or for values out of range.
    AccuracyError
        When the chain would have more than 200 million nonzero probabilities.

    Notes
    -----
    Wang, Kurose, Shenoy and Towsley, Sections 3.2 and 3.3.1, Appendix A and Table VI, corrected as
    docs/theory.md says: one clock of rounds, N is capped after playback, the number that a short round delivers
    is random.
    """
    if real("startup delay", delay, "s") < 0:
        raise InputError(f"startup delay must be at least 0 s, got {delay:g} s")
    m = video.packet_rate * path.rtt
    if positive("depth", depth, "packets") < m:
        raise InputError(f"depth must be at least m = mu R = {m:g} packets, got {depth:g} packets")
    (units,), q = _lattice(video, m)
    tcp = round_chain(path)
    levels = int(np.ceil(depth * q - 1e-9)) + 1
    parts = _parts(tcp, units, q, levels)
    backlog = np.repeat(np.arange(levels) / q, len(tcp.states))
    states = label(tcp, video.packet_rate * delay - np.arange(levels) / q)
    labels = {"late": states["n"] < -1e-9, "empty": backlog == 0, "deepest": backlog == backlog[-1]}
    total = sum((part.matrix for part in parts[1:]), start=parts[0].matrix)
    return ExplicitLive(total, states, 0, labels, video.packet_rate, m, backlog, float(backlog[-1]), parts)


def explicit_live_finite(path: Path, video: Video, delay: float, *, horizon: str = "end") -> Judgement:
    """Return the lateness of a live video of finite length, by the transient of the chain from D = 0.

    Generation stops at the duration; what is left is still delivered, and judged until duration + delay (or,
    at the paper's horizon, until round duration / R only). No backlog is cut off.

    Parameters
    ----------
    path, video, delay
        As in `explicit_live`; the video has a duration, and both m and mu duration lie on the lattice.
    horizon : {"end", "paper"}
        See `tcpstream.explicit.judge.due_by_round`.

    Raises
    ------
    InputError, AccuracyError
        As in `explicit_live`.
    """
    due, judged = due_by_round(path, video, delay, horizon)
    m = video.packet_rate * path.rtt
    (units, total), q = _lattice(video, m, video.packets)
    tcp = round_chain(path)
    generated = np.minimum(units * np.arange(len(due)), total)
    by_round = {g: _parts(tcp, g, q, total + 1) for g in sorted(set(np.diff(generated).tolist()))}
    start = np.zeros((total + 1) * len(tcp.states))
    start[0] = 1.0

    def step(i: int) -> list[Part]:
        parts = by_round[int(generated[i] - generated[i - 1])]
        return [Part(part.matrix, generated[i] / q - part.in_order) for part in parts]

    return judge(start, step, due, judged)


def _lattice(video: Video, *packets: float) -> tuple[list[int], int]:
    """Return numbers of packets in units of 1/q packet, and the smallest q that makes all of them whole."""
    if video.curve is not None:
        raise InputError("the explicit chain of live streaming needs a constant playback rate, got a curve")
    for q in DENOMINATORS:
        units = [round(real("packets", x, "packets") * q) for x in packets]
        if all(abs(x * q - u) <= 1e-9 * max(1, u) and u > 0 for x, u in zip(packets, units)):
            return units, q
    names = ("m = mu R", "mu duration")
    given = " and ".join(f"{name} = {x:.10g} packets" for name, x in zip(names, packets))
    raise InputError(f"the explicit chain needs multiples of 1, 1/2, 1/3 or 1/4 packet, got {given}")


def _parts(tcp: RoundChain, units: int, q: int, levels: int) -> tuple[Part, ...]:
    """Return the parts of the matrix of (TCP state, D), D = 0, 1, ... in 1/q packet; D counts through all TCP states.

    `units` are generated in the round. D' = max(0, D + units - q S), cut at `levels` - 1.
    """
    n, deepest = len(tcp.states), levels - 1
    check_size(len(tcp.source) * deepest + n, "lower depth or W_max")
    per_state = np.bincount(tcp.source, minlength=n)
    size = (n * levels, n * levels)

    # D = 0: TCP is frozen, unless a wait is under way, which has one move
    state = np.arange(n)
    after_wait = tcp.target[np.cumsum(per_state) - 1]
    frozen = np.where(tcp.waiting > 0, after_wait, state) + n * min(units, deepest)

    # D = 1, 2, ...: every move of TCP
    before = np.arange(1, levels)[:, np.newaxis]
    targets = n * np.clip(before + units - q * tcp.packets, 0, deepest) + tcp.target
    sources = n * before + tcp.source
    parts: list[Part] = []
    for in_order in np.unique(tcp.in_order).tolist():
        at = tcp.in_order == in_order
        first = not parts
        rows = np.append(sources[:, at].ravel(), state if first else [])
        columns = np.append(targets[:, at].ravel(), frozen if first else [])
        values = np.append(np.tile(tcp.probability[at], deepest), np.ones(n) if first else [])
        entries = (values, (rows.astype(np.int64), columns.astype(np.int64)))
        matrix = sparse.csr_array(sparse.coo_array(entries, shape=size))
        left = np.maximum(np.arange(levels) + units - q * in_order, 0)
        left[0] = units
        parts.append(Part(matrix, np.repeat(left / q, n)))
    return tuple(parts)
