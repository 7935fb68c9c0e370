"""The paths that sessions have, and how many have each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import InputError, positive, shown
from ..path import Path
from ..system.html_table import Rows
from ..tcp import Varying
from .answer import lossy
from .shown import Shown

MOST = 1000
"""Paths."""

DISPLAYED = 20
"""Of them, in a notebook."""


@dataclass(frozen=True, init=False, repr=False)
class Population(Shown):
    """Paths of sessions: each session has one of them, from its beginning to its end.

    Parameters
    ----------
    paths : sequence of Path or Varying
        1 to 1000.
    weights : (n,) array_like, optional
        Share of the sessions that have each path, > 0; they are divided by their sum. By default equal.
    names : sequence of str, optional
        Of the paths, each another; "1", "2", ... by default.

    Attributes
    ----------
    paths : tuple of Path or Varying
    weights : tuple of float
        Their sum is 1.
    names : tuple of str

    Raises
    ------
    InputError
        For no paths or too many, something else than a path, weights that are not above 0 and finite, and names that
        are not strings or not distinct.

    Examples
    --------
    >>> import tcpstream
    >>> good, bad = (tcpstream.Path(sender="classic", loss=p, rtt=0.1, rto=0.3, max_window=16) for p in (0.005, 0.04))
    >>> population = tcpstream.Population([good, bad], weights=[3, 1], names=["fibre", "radio"])
    >>> population
    <Population: 2 paths>
    >>> population.weights
    (0.75, 0.25)
    """

    paths: tuple[Path | Varying, ...]
    weights: tuple[float, ...]
    names: tuple[str, ...]

    def __init__(
        self,
        paths: Sequence[Path | Varying],
        weights: ArrayLike | None = None,
        names: Sequence[str] | None = None,
    ) -> None:
        known = _paths(paths)
        values = {"paths": known, "weights": _weights(weights, len(known)), "names": _names(names, len(known))}
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def __len__(self) -> int:
        """Return the number of paths."""
        return len(self.paths)

    def to_dict(self) -> dict[str, Any]:
        """Return names, weights and parameters of the paths as a plain dict, units in the names."""
        each = zip(self.names, self.weights, self.paths)
        return {"paths": [{"name": name, "weight": weight} | path.to_dict() for name, weight, path in each]}

    def rows(self) -> list[tuple[str, str]]:
        """Return the paths in words, a name and what it is each; of many the first."""
        each = list(zip(self.names, self.weights, self.paths))
        found = [
            (name, f"{weight:.3g} of the sessions: {lossy(path)}, round trip {path.rtt:g} s")
            for name, weight, path in each[:DISPLAYED]
        ]
        return found + ([("others", f"{len(each) - DISPLAYED} paths")] if len(each) > DISPLAYED else [])

    def _sections(self) -> Mapping[str, Rows]:
        return {"": self.rows()}

    def __repr__(self) -> str:
        return f"<Population: {of_paths(len(self))}>"


def of_paths(n: int) -> str:
    """Return a number of paths for people."""
    return "1 path" if n == 1 else f"{n} paths"


def spread(values: NDArray[np.float64]) -> str:
    """Return the least and the largest value for people."""
    low, high = f"{values.min():.4g}", f"{values.max():.4g}"
    return low if low == high else f"{low} to {high}"


def _paths(given: Any) -> tuple[Path | Varying, ...]:
    """Return the paths that are given, or raise `InputError`."""
    if not isinstance(given, Sequence) or isinstance(given, (str, bytes)):
        raise InputError(f"paths must be a sequence of Path or Varying, got {shown(given)}")
    if not 1 <= len(given) <= MOST:
        raise InputError(f"a population has 1 to {MOST} paths, got {len(given)}")
    for i, one in enumerate(given, 1):
        if not isinstance(one, (Path, Varying)):
            raise InputError(f"path {i} must be a Path or Varying, got {shown(one)}")
    return tuple(given)


def _weights(given: Any, n: int) -> tuple[float, ...]:
    """Return the weights, divided by their sum, or raise `InputError`."""
    if given is None:
        return (1 / n,) * n
    if isinstance(given, (str, bytes)) or np.ndim(values := np.asarray(given, dtype=object)) != 1 or len(values) != n:
        raise InputError(f"weights must be a number > 0 for each of {of_paths(n)}, got {shown(given)}")
    found = np.array([positive(f"weight {i}", one) for i, one in enumerate(values, 1)])
    found /= found.max()  # so that the sum is finite
    return tuple((found / found.sum()).tolist())


def _names(given: Any, n: int) -> tuple[str, ...]:
    """Return the names, or raise `InputError`."""
    if given is None:
        return tuple(str(i) for i in range(1, n + 1))
    known = () if isinstance(given, (str, bytes)) or not isinstance(given, (Sequence, np.ndarray)) else tuple(given)
    if len(known) != n or not all(isinstance(one, str) and one for one in known) or len(set(known)) < n:
        raise InputError(f"names must be a string of its own for each of {of_paths(n)}, got {shown(given)}")
    return tuple(str(one) for one in known)
