"""How long a path takes to deliver some bytes: the download time of a segment, a page, an object."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._version import __version__
from ..coarse.resolution import FACTOR
from ..errors import InputError, whole, within
from ..path import Path
from ..playout.transfers import transfer_rounds
from ..system.html_table import Rows
from ..tcp import chain_of, constant
from .answer import SCHEMA, probabilities, table
from .player import MOST_SETUP
from .several import Several
from .shown import Shown, inputs, off_by
from .transfer_start import first_state, idle_time
from .viewing import QUANTILES

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]

SEGMENT = 1448
"""Bytes that a packet carries: 1500 less the headers of IPv4 and TCP, with timestamps."""

MOST_PACKETS = 1_000_000

EXACT, MOST_OF = 512, 64
"""Packets up to which each is followed; beyond, quanta of up to so many are, compared with half as many quanta."""

FORGOTTEN = 0.015
"""Error of P(T <= t), and part of the mean, for the line of a window of CUBIC that is given, or that was idle. 1.1% is
the most of the mean that was seen beside simulated transfers (p = .02, R = 100 ms, 100 packets, a window of 14)."""

SHARES = (*(tenth / 10 for tenth in range(1, 10)), 0.99)
"""Of transfers, in a table."""


class TransferTime(Shown):
    """The law of the time that a transfer takes; made by `transfer_time`.

    Attributes
    ----------
    path : Path
    packets : int
    segment_size : float
        Bytes of one.
    start : str or int
    idle : float
        [s].
    setup_round_trips : int

    Examples
    --------
    >>> import tcpstream
    >>> path = tcpstream.Path(sender="classic", loss=0.02, rtt=0.1, rto=0.3)
    >>> found = tcpstream.transfer_time(path, packets=35)
    >>> found
    <TransferTime: 35 packets, mean 1.119 s>
    >>> round(found.cdf(1.0), 3)  # over within a second
    0.584
    """

    def __init__(
        self, path: Path, packets: int, segment_size: float, start: str | int, setup_round_trips: int, idle: float = 0.0
    ) -> None:
        self.idle = idle
        self.path, self.packets, self.segment_size = path, packets, segment_size
        self.start, self.setup_round_trips = start, setup_round_trips
        stationary = start == "stationary"
        chain, begin = (chain_of(path), None) if isinstance(start, str) and not idle else first_state(path, start, idle)
        exact = packets <= EXACT
        quanta = packets if exact else EXACT + (packets - EXACT) // MOST_OF
        self._law, left = transfer_rounds(chain, packets, quanta, stationary, begin)
        self._cdf = np.maximum.accumulate(np.clip(np.cumsum(self._law), 0.0, 1.0))  # quanta make less than nothing
        off, mean_off = 0.0, 0.0
        if not exact:
            rough, more = transfer_rounds(chain, packets, quanta // 2, stationary, begin)
            left, size = max(left, more), max(len(rough), len(self._law))
            other = np.cumsum(np.append(rough, np.zeros(size - len(rough))))
            mine = np.append(self._cdf, np.full(size - len(self._cdf), self._cdf[-1]))
            off = FACTOR * float(np.abs(mine - other).max())
            mean_off = FACTOR * float(np.abs(mine - other).sum()) * path.rtt  # means alone may agree by chance
        if path.tcp == "cubic" and begin is not None:
            off, mean_off = off + FORGOTTEN, mean_off + FORGOTTEN * self._mean(self._law)
        self._left_out, self._error, self._mean_error = left, off + left, mean_off + left * len(self._law) * path.rtt

    @overload
    def cdf(self, seconds: float) -> float: ...

    @overload
    def cdf(self, seconds: Several) -> NDArray[np.float64]: ...

    @overload
    def cdf(self, seconds: ArrayLike) -> Any: ...

    def cdf(self, seconds: ArrayLike) -> Any:
        """Return P(T <= t), the probability that everything is delivered by then.

        Parameters
        ----------
        seconds : array_like
            t [s] since the first packet of the client: of its handshake, or of its request.

        Returns
        -------
        float or ndarray
            Of the shape of `seconds`.

        Raises
        ------
        InputError
            For times that are not numbers.
        """
        t = np.asarray(seconds, dtype=float)
        if np.isnan(t).any():
            raise InputError("time must be a number, got nan s")
        rounds = np.floor(t / self.path.rtt * (1 + 1e-12)) - self._before
        at = np.clip(rounds, -1, len(self._cdf) - 1).astype(np.int64)
        found = np.where(at >= 0, np.where(np.isposinf(t), 1.0, self._cdf[at]), 0.0)
        return float(found) if t.ndim == 0 else found

    def quantile(self, u: float) -> float:
        """Return the least t with P(T <= t) >= u [s], a whole number of round trips.

        Raises
        ------
        InputError
            For a probability out of range, or one of which the solve does not tell.
        """
        wanted = float(probabilities("quantile", [u])[0])
        known = 1 - self._left_out
        if wanted > known:
            raise InputError(f"quantiles of this transfer are known up to {known:.9f}, got {u:g}")
        at = min(int(np.searchsorted(self._cdf, wanted)), len(self._cdf) - 1)
        return (at + self._before) * self.path.rtt

    @property
    def mean(self) -> float:
        """E[T] [s]."""
        return self._mean(self._law) + self._before * self.path.rtt

    @property
    def errors(self) -> dict[str, float]:
        """By how much `mean` [s] and `cdf` may be off."""
        return {"mean": self._mean_error, "cdf": self._error}

    def sample(self, size: int, rng: np.random.Generator) -> Floats:
        """Return independent transfer times.

        Parameters
        ----------
        size : int
        rng : numpy.random.Generator

        Returns
        -------
        (size,) array
            [s].

        Raises
        ------
        InputError
            For a size below 1.
        """
        draws = rng.random(whole("size", size))
        rounds = np.minimum(np.searchsorted(self._cdf, draws, side="right"), len(self._cdf) - 1)
        return np.asarray((rounds + self._before) * self.path.rtt, dtype=np.float64)

    def plot(self, *, label: str | None = None, ax: Axes | None = None) -> Axes:
        """Draw P(T <= t); see `tcpstream.plots.transfer_time`."""
        from .. import plots

        return plots.transfer_time(self, label=label, ax=ax)

    def to_dict(self) -> dict[str, Any]:
        """Return the answers and what they were computed from, ready for JSON."""
        return {
            "schema": SCHEMA,
            "version": __version__,
            "model": "transfer",
            "parameters": self.path.to_dict()
            | {
                "packets": self.packets,
                "segment_size_bytes": self.segment_size,
                "start": self.start,
                "idle_s": self.idle,
                "setup_round_trips": self.setup_round_trips,
            },
            "transfer_time_s": {"mean": self.mean} | {name: self.quantile(u) for name, u in QUANTILES.items()},
            "error_bound": self.errors,
        }

    def to_pandas(self, seconds: ArrayLike | None = None) -> pd.DataFrame:
        """Return P(T <= t) for some times [s] as a table indexed by them.

        Without any: for those at which 10, 20, .. 90, and 99% of transfers are over.

        Raises
        ------
        MissingExtraError
            Without pandas.
        """
        times = np.unique([self.quantile(u) for u in SHARES]) if seconds is None else seconds
        t = np.ravel(np.asarray(times, dtype=float))
        return table({"time_s": t, "delivered": self.cdf(t)})

    def summary(self) -> str:
        """Return a few lines for people."""
        times = ", ".join(f"{self.quantile(u):.3g} s" for u in QUANTILES.values())
        return "\n".join(
            [
                f"transfer of {self.packets:,} packets, {_begins(self.start, self.idle)}",
                f"mean {self.mean:.4g} s, within {self.errors['mean']:.1g} s",
                f"50%, 90%, 99% of transfers at most {times}",
            ]
        )

    def _sections(self) -> Mapping[str, Rows]:
        rows = [
            ("packets", f"{self.packets:,} {_begins(self.start, self.idle)}"),
            ("mean", off_by(self.mean, self.errors["mean"], "s")),
            *((f"{u:.0%} of transfers at most", f"{self.quantile(u):.4g} s") for u in QUANTILES.values()),
        ]
        return {"transfer": rows, **inputs(self.path)}

    @property
    def _before(self) -> int:
        """Round trips until the first packets are there."""
        return 1 + self.setup_round_trips

    def _mean(self, law: Floats) -> float:
        return float(law @ np.arange(len(law)) / law.sum()) * self.path.rtt

    def __repr__(self) -> str:
        return f"<TransferTime: {self.packets} packets, mean {self.mean:.4g} s>"


def transfer_time(
    path: Path,
    *,
    bytes: float | None = None,
    packets: int | None = None,
    segment_size: float = SEGMENT,
    start: str | int = "connection",
    idle: float = 0.0,
    setup_round_trips: int = 0,
) -> TransferTime:
    """Solve for the time in which a path delivers some bytes: its law, quantiles and mean.

    Parameters
    ----------
    path : Path
    bytes : float, optional
        To deliver, up to a million packets.
    packets : int, optional
        Instead.
    segment_size : float
        Bytes that a packet carries.
    start : {"connection", "stationary"} or int
        How the window is when the request comes: that of a new connection, or of one that has been busy for long; or so
        many packets, in congestion avoidance. A number needs independent losses and no bottleneck, as does `idle`.
    idle : float
        How long the connection has been idle before [s]: for each retransmission timer but the first since the last
        packet was sent, a round trip before, the window is halved, down to the initial one, and slow start then leads
        to three quarters of what it was (RFC 2861, `tcp_slow_start_after_idle` of Linux). 0 keeps the window.
    setup_round_trips : int
        Round trips before the request: 1 for a handshake of TCP, 2 with TLS 1.3, 3 with TLS 1.2.

    Returns
    -------
    TransferTime

    Raises
    ------
    InputError
        For a value out of range; without bytes and packets, and with both.
    AccuracyError
        When the solve would need too much memory.

    Notes
    -----
    T = (i + s) R, where in round i = 1, 2, ... the last packet comes, and s are the round trips before the request.
    With independent losses the last round sends what is left; the paper's chain sends on (Wang, Kurose, Shenoy and
    Towsley, Section 3.2).

    Examples
    --------
    >>> import tcpstream
    >>> path = tcpstream.Path(sender="classic", loss=0.02, rtt=0.1, rto=0.3)
    >>> found = tcpstream.transfer_time(path, bytes=50_000)
    >>> round(found.mean, 2)  # seconds
    1.12
    >>> round(found.quantile(0.95), 1)
    2.0
    """
    path = constant(path, "transfer_time")
    idle = idle_time(start, idle)
    size = within("segment size", segment_size, 1, 65535, "bytes")
    if (bytes is None) == (packets is None):
        raise InputError("give the bytes or the packets of a transfer, one of them")
    if bytes is not None:
        count = math.ceil(within("size", bytes, 1, MOST_PACKETS * size, "bytes") / size)
    else:
        count = whole("packets", packets, most=MOST_PACKETS)
    setup = whole("round trips before the request", setup_round_trips, 0, most=MOST_SETUP)
    return TransferTime(path, count, size, start, setup, idle)


def _begins(start: str | int, idle: float) -> str:
    if start == "connection":
        return "over a new connection"
    window = "that has been busy for long" if start == "stationary" else f"with a window of {start} packets"
    return f"over a connection {window}" + (f", idle for {idle:g} s since" if idle else "")
