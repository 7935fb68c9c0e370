"""Varying: a path that changes at random between a few regimes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from copy import copy
from dataclasses import dataclass, replace
from os import PathLike
from typing import Any

import numpy as np

from ..errors import InputError, instance, real, shown, unremarked, within
from ..path import Path
from ..sender import Sender
from ..system.html_table import html_table
from ..system.text import read_text, read_toml
from .regime_file import regimes_of, tables_of

MOST_REGIMES = 8
"""Regimes of a path: each has all the states of TCP."""

STAYS = 1e-3, 1e7
"""Mean stays [s], from a millisecond to four months."""

TCPS = "reno-sack", "cubic"
"""TCPs whose chains take over from each other."""


@dataclass(frozen=True, init=False)
class Varying:
    """A path that changes at random between a few regimes, each a `Path`, with the same sender and round trip time.

    The stay in a regime is exponential. A change is felt from the next round on, or after the silence in which it
    comes. The window is carried over: where a bottleneck with its buffer takes fewer packets it is cut down to as many,
    and the next round without a loss overflows the buffer. Without a bottleneck the largest windows of the regimes are
    the same: the largest of them.

    Parameters
    ----------
    regimes : sequence of Path
        1 to 8, of the same sender, the same round trip time and independent losses.
    mean_stay : sequence of float
        Mean stay in each [s], 0.001 to 1e7 s.
    to : (k, k) array_like, optional
        Probabilities of where a change leads, a row for each regime, 0 for itself; rows sum to 1. By default all others
        are as probable.
    names : sequence of str, optional
        Of the regimes; "1", "2", ... by default.
    start : str or int, optional
        Regime at the start, by its name or its place from 0 on. By default any, as probable as in the long run.

    Raises
    ------
    InputError
        For values out of range, regimes that are no paths or differ in what must be the same, and regimes that the
        path never comes back to.

    Notes
    -----
    A Markov-modulated chain: the state is the regime and that of TCP.

    Examples
    --------
    >>> import tcpstream
    >>> classic = dict(sender="classic", rtt=0.1, rto=0.3, tcp="reno-sack", max_window=16)
    >>> good, bad = (tcpstream.Path(loss=p, **classic) for p in (0.01, 0.1))
    >>> path = tcpstream.Varying([good, bad], mean_stay=[20, 5], names=["good", "bad"])
    >>> [round(share, 3) for share in path.shares]
    [0.8, 0.2]
    """

    regimes: tuple[Path, ...]
    mean_stay: tuple[float, ...]
    to: tuple[tuple[float, ...], ...]
    names: tuple[str, ...]
    start: int | None

    def __init__(
        self,
        regimes: Sequence[Path],
        mean_stay: Sequence[float],
        *,
        to: Iterable[Iterable[float]] | None = None,
        names: Sequence[str] | None = None,
        start: str | int | None = None,
    ) -> None:
        known = _regimes(regimes)
        found = tuple(names) if names is not None else tuple(str(i + 1) for i in range(len(known)))
        if len(found) != len(known) or len(set(found)) < len(found):
            raise InputError(f"each regime has a name of its own, got {shown(names)} for {len(known)} regimes")
        if not isinstance(mean_stay, (list, tuple, np.ndarray)) or len(mean_stay) != len(known):
            raise InputError(f"each of {len(known)} regimes has a mean stay [s], got {shown(mean_stay)}")
        stays = tuple(within(f"mean stay in {name}", one, *STAYS, "s") for name, one in zip(found, mean_stay))
        values: dict[str, Any] = {"regimes": _as_wide(known), "mean_stay": stays, "names": found}
        values |= {"to": _leads(to, found), "start": _place(start, found)}
        for name, value in values.items():
            object.__setattr__(self, name, value)

    @classmethod
    def from_toml(cls, file: str | PathLike[str], **given: Any) -> Varying:
        """Return the path that varies of a file.

        Parameters
        ----------
        file : path
            TOML with a table for each regime, by its name: ``mean_stay`` [s], the parameters of a `Path` [s, packets/s,
            packets], and, if changes do not lead to all others with the same probability, ``to``, a table of
            probabilities by name. Parameters before the tables are those of all regimes; ``start`` is the name of the
            regime at the start.
        **given
            Parameters of `Path` of all regimes that the file does not give.

        Raises
        ------
        InputError
            For a file that cannot be read, names that are not known, and values as `Varying` and `Path` refuse them.
        """
        table = read_toml(file)
        try:
            return cls(**regimes_of(table, given))
        except InputError as error:
            raise InputError(f"{file}: {error}") from None

    @classmethod
    def from_csv(cls, file: str | PathLike[str], **given: Any) -> Varying:
        """Return the path that varies of a table.

        Parameters
        ----------
        file : path
            CSV with a row for each regime: columns ``regime``, its name, ``mean_stay`` [s], parameters of a `Path` [s,
            packets/s, packets], and, if changes do not lead to all others with the same probability, ``to_NAME``. Empty
            cells are not given.
        **given
            Parameters of `Path` of all regimes that the file does not give.

        Raises
        ------
        InputError
            As `from_toml`.
        """
        text = read_text(file)
        try:
            return cls(**regimes_of(tables_of(text), given))
        except InputError as error:
            raise InputError(f"{file}: {error}") from None

    @property
    def rtt(self) -> float:
        """R [s], the length of a round, that of all regimes."""
        return self.regimes[0].rtt

    @property
    def loss(self) -> float:
        """No answer: each regime has one.

        Raises
        ------
        InputError
            Always: what asks for it takes a `Path`.
        """
        raise InputError("a path that varies has a loss rate in each regime, and none of its own: give a Path")

    @property
    def sender(self) -> Sender:
        """What sends."""
        return self.regimes[0].sender

    @property
    def tcp(self) -> str:
        """The sender's TCP."""
        return self.regimes[0].tcp

    @property
    def rto(self) -> float:
        """R_TO [s]."""
        return self.regimes[0].rto

    @property
    def rounds_per_increase(self) -> int:
        """The sender's b."""
        return self.regimes[0].rounds_per_increase

    @property
    def timeout_ratio(self) -> float:
        """T_O [rounds]."""
        return self.regimes[0].timeout_ratio

    @property
    def initial_window(self) -> int | None:
        """Window of the first round [packets], as a `Path` has it."""
        return max((one.initial_window or 0 for one in self.regimes), default=0) or None

    @property
    def max_window(self) -> int:
        """The largest window of any regime [packets]."""
        return max(one.max_window for one in self.regimes)

    @property
    def shares(self) -> tuple[float, ...]:
        """Share of time in each regime, in the long run."""
        from .switching import Switching

        return tuple(Switching.of(np.array(self.mean_stay), np.array(self.to)).shares.tolist())

    def with_stays(self, mean_stay: Sequence[float]) -> Varying:
        """Return the same path with other mean stays [s], one for each regime.

        Raises
        ------
        InputError
            For a stay out of range.
        ValueError
            For another number of them.
        """
        pairs = zip(self.names, mean_stay, strict=True)
        stays = tuple(within(f"mean stay in {name}", one, *STAYS, "s") for name, one in pairs)
        found = copy(self)
        object.__setattr__(found, "mean_stay", stays)
        return found

    def regime_rows(self) -> list[tuple[str, str]]:
        """Return the regimes in words, a name and what it is each, and that at the start."""
        rows = []
        for name, one, stay, share in zip(self.names, self.regimes, self.mean_stay, self.shares):
            text = f"loss {one.loss:.4g}"
            if one.bottleneck is not None:
                text += f", bottleneck {one.bottleneck:.4g} packets/s, with a buffer of {one.buffer} packets"
            rows.append((f"regime {name}", f"{text}; stays {stay:.4g} s, {100 * share:.3g}% of the time"))
        return [*rows, ("at the start", "any regime" if self.start is None else f"regime {self.names[self.start]}")]

    def _rows(self) -> list[tuple[str, str]]:
        of_regimes = ("loss", "bottleneck", "buffer")
        return self.regime_rows() + [row for row in self.regimes[0]._rows() if row[0] not in of_regimes]

    def _repr_html_(self) -> str:
        return html_table("Varying", {"": self._rows()})

    def to_dict(self) -> dict[str, Any]:
        """Return the parameters as a plain dict, units in the names."""
        regimes = [
            {"name": name, "mean_stay_s": stay, "share_of_time": share}
            | {"to": {other: p for other, p in zip(self.names, row) if p > 0}}
            | path.to_dict()
            for name, stay, share, row, path in zip(self.names, self.mean_stay, self.shares, self.to, self.regimes)
        ]
        return {"regimes": regimes, "start_regime": None if self.start is None else self.names[self.start]}


def constant(path: Path | Varying, asked: str) -> Path:
    """Return a path that stays as it is, or raise `InputError` for one that varies; `asked` names what is asked for."""
    if isinstance(path, Varying):
        raise InputError(
            f"{asked} takes a Path that stays as it is: one that varies is for stored, live, play and largest_rate"
        )
    instance("path", path, Path)
    return path


def _regimes(given: Any) -> list[Path]:
    """Return the paths that are given, or raise `InputError`."""
    if not isinstance(given, Sequence) or isinstance(given, str):
        raise InputError(f"regimes are a sequence of paths, got {shown(given)}")
    found = list(given)
    for one in found:
        if not isinstance(one, Path):
            raise InputError(f"a regime is a Path, got {shown(one)}")
    if not 1 <= len(found) <= MOST_REGIMES:
        raise InputError(f"a path varies between 1 and {MOST_REGIMES} regimes, got {len(found)}")
    first = found[0]
    for one in found:
        if one.tcp not in TCPS:
            raise InputError(
                f"a path that varies is solved for tcp = {', '.join(TCPS)}, got {one.tcp}: give losses = independent"
            )
        if one.sender != first.sender:
            raise InputError("regimes have the same sender: give each path the same sender, timer and initial window")
        if one.rtt != first.rtt:
            raise InputError(
                f"regimes have the same round trip time, got {first.rtt:g} s and {one.rtt:g} s: let loss and "
                "bottleneck vary, at the round trip time of the packets that find the queue empty"
            )
    return found


def _as_wide(regimes: list[Path]) -> tuple[Path, ...]:
    """Return regimes whose windows are limited by their bottlenecks alone, or all as much."""
    free = [one for one in regimes if one.bottleneck is None]
    if not free or free[0].sender.max_window is not None:
        return tuple(regimes)
    widest = max(one.max_window for one in regimes)
    with unremarked():
        return tuple(
            one if one.bottleneck is not None else Path(**vars(one.network), sender=_limited(one.sender, widest))
            for one in regimes
        )


def _limited(sender: Sender, window: int) -> Sender:
    return replace(sender, max_window=window)


def _leads(given: Any, names: tuple[str, ...]) -> tuple[tuple[float, ...], ...]:
    """Return where changes lead, judged."""
    k = len(names)
    if given is None:
        return tuple(tuple(1 / (k - 1) if i != j else 0.0 for j in range(k)) for i in range(k)) if k > 1 else ((0.0,),)
    try:
        rows = [list(row) for row in given]
    except TypeError:
        raise InputError(f"where changes lead is a row of probabilities for each regime, got {shown(given)}") from None
    if len(rows) != k or any(len(row) != k for row in rows):
        raise InputError(f"where changes lead is a row of {k} probabilities for each of {k} regimes")
    found = []
    for i, (name, row) in enumerate(zip(names, rows)):
        values = [real(f"probability of a change from {name} to {other}", one) for other, one in zip(names, row)]
        for other, one in zip(names, values):
            if not 0 <= one <= 1:
                raise InputError(f"probability of a change from {name} to {other} lies between 0 and 1, got {one:g}")
        if values[i] != 0:
            raise InputError(f"a change leads to another regime: the probability from {name} to itself is 0")
        if k > 1 and abs(sum(values) - 1) > 1e-9:
            raise InputError(f"the probabilities of changes from {name} must sum to 1, got {sum(values):g}")
        found.append(tuple(value / sum(values) if k > 1 else 0.0 for value in values))
    reached = np.linalg.matrix_power(np.eye(k) + (np.array(found) > 0), k) > 0
    if not reached.all():
        i, j = (int(one[0]) for one in np.nonzero(~reached))
        raise InputError(f"every regime leads to every other one in the end, but {names[i]} never leads to {names[j]}")
    return tuple(found)


def _place(start: Any, names: tuple[str, ...]) -> int | None:
    """Return the place of the regime at the start."""
    if start is None:
        return None
    if isinstance(start, str) and start in names:
        return names.index(start)
    if isinstance(start, int) and not isinstance(start, bool) and 0 <= start < len(names):
        return start
    raise InputError(f"start is one of the regimes {', '.join(names)}, or its place from 0 on, got {shown(start)}")
