"""From mean throughputs of regimes to the paths that a path varies between."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..answers.from_throughput import RESIDUAL, loss_rate
from ..errors import unremarked, whole
from ..path import LEAST_PIPE, Path, per_round
from ..tcp import throughput

OUTAGE = 0.999
"""Loss rate of a regime in which less than a packet arrives in a mean stay: the largest of a path."""

WINDOW = 64
"""Largest window with which a loss rate is looked for: where less than two packets a round arrive, all are small."""


@dataclass(frozen=True)
class RegimePaths:
    """Paths of regimes.

    Attributes
    ----------
    paths : tuple of Path
    given : tuple of dict
        What makes each of them, beside what all have in common: the table of a regime in a file.
    shared : dict
        What all have in common.
    notes : tuple of str
        Where a regime is no bottleneck.
    """

    paths: tuple[Path, ...]
    given: tuple[dict[str, Any], ...]
    shared: dict[str, Any]
    notes: tuple[str, ...]


def regime_paths(
    names: Sequence[str],
    throughputs: Sequence[float],
    stays: Sequence[float],
    loss: float,
    buffer: int | None,
    packet_size: float,
    shared: Mapping[str, Any],
    *,
    proposed_window: bool = False,
) -> RegimePaths:
    """Return a path for each regime of a mean throughput [bit/s] and a mean stay [s].

    A regime is a bottleneck of its mean throughput. One that carries less than two packets in a round trip is none of
    the chain's: it has the loss rate instead at which TCP has this throughput, 0.999 where less than a packet arrives
    in a mean stay.
    An initial window that was proposed is at most the largest window of each regime.

    Raises
    ------
    InputError
        For values that `Path` refuses.
    """
    rates = [one / (8 * packet_size) for one in throughputs]
    most = per_round(max(rates), shared["rtt"])
    room = max(1, math.ceil(most)) if buffer is None else whole("buffer", buffer, least=0, unit="packets")
    paths, given, notes = [], [], []
    window = shared.get("initial_window")
    if proposed_window and window is not None:
        pipes = [per_round(rate, shared["rtt"]) for rate in rates]
        least = min((int(pipe) + room for pipe in pipes if pipe >= LEAST_PIPE), default=window)
        if least < window:
            notes.append(f"slow start begins with {least} packets instead of {window}: a regime takes no more at once")
            shared = {**shared, "initial_window": max(least, 1)}
    with unremarked():
        for name, rate, stay in zip(names, rates, stays):
            if per_round(rate, shared["rtt"]) >= LEAST_PIPE:
                own: dict[str, Any] = {"loss": loss, "bottleneck": rate, "buffer": room}
                paths.append(Path(**own, **shared))
            else:
                path, note = _lossy(rate, stay, shared)
                own = {"loss": path.loss}
                paths.append(path)
                notes.append(f"regime {name} carries less than {LEAST_PIPE} packets in a round trip: {note}")
            given.append(own)
    return RegimePaths(tuple(paths), tuple(given), dict(shared), tuple(notes))


def _lossy(rate: float, stay: float, shared: Mapping[str, Any]) -> tuple[Path, str]:
    """Return a path without bottleneck that has a throughput [packets/s], and what it has for people."""
    outage = Path(loss=OUTAGE, **shared)
    small = {**shared, "max_window": min(outage.max_window, max(WINDOW, shared.get("initial_window") or 0))}
    if rate * stay < 1 or rate <= throughput(Path(loss=OUTAGE, **small)):
        few = (
            f"with less than one in its mean stay of {stay:.3g} s" if rate * stay < 1 else f"with {rate:.2g} packets/s"
        )
        return outage, f"{few} it is taken for an outage, with a loss rate of {OUTAGE:g}"
    found = Path(loss=loss_rate(lambda p: Path(loss=p, **small), rate, OUTAGE), **shared)
    if abs(throughput(found) - rate) > RESIDUAL * rate:
        found = Path(loss=loss_rate(lambda p: Path(loss=p, **shared), rate, OUTAGE), **shared)
    return (
        found,
        f"it has a loss rate of {found.loss:.3g} instead of a bottleneck, at which TCP is as slow",
    )
