"""What sessions see of a stored video, each over one path of a population."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._version import __version__
from ..errors import InputError
from ..system.html_table import Rows
from ..video import Video
from .answer import DEFAULT_TARGET, SCHEMA, at_most, delay_before, delays_before, late_target, no_late_target, table
from .path_by_path import PathByPath
from .session_paths import Population, of_paths, spread
from .several import Several
from .shown import Shown, answered
from .stored_streaming import StoredStreaming

if TYPE_CHECKING:
    import pandas as pd

Floats = NDArray[np.float64]


class StoredPopulation(Shown):
    """A stored video over a population of paths; made by `stored_population`.

    A session has path i with the probability w_i, its weight. Every answer is the mean over sessions.

    Attributes
    ----------
    population : Population
    video : Video
    results : tuple of StoredStreaming
        Of each path alone; equal paths have the same.
    throughput : (n,) array
        T of each path [packets/s].

    Examples
    --------
    >>> import tcpstream
    >>> good, bad = (tcpstream.Path(sender="classic", loss=p, rtt=0.1, rto=0.3, max_window=16) for p in (0.005, 0.04))
    >>> population = tcpstream.Population([good, bad], weights=[3, 1], names=["fibre", "radio"])
    >>> seen = tcpstream.stored_population(population, tcpstream.Video(packet_rate=40, duration=8))
    >>> seen
    <StoredPopulation: 40 packets/s, 2 paths, T/mu = 0.8352 to 2.843>
    >>> seen.by_path(1.0)["stall_probability"].round(3)
    array([0.008, 0.807])
    """

    def __init__(
        self, population: Population, video: Video, results: tuple[StoredStreaming, ...], throughput: Floats
    ) -> None:
        self.population, self.video, self.results, self.throughput = population, video, results, throughput
        self._paths = PathByPath(results, population)

    @overload
    def late_fraction(self, startup_delay: float) -> float: ...

    @overload
    def late_fraction(self, startup_delay: Several) -> Floats: ...

    @overload
    def late_fraction(self, startup_delay: ArrayLike) -> Any: ...

    def late_fraction(self, startup_delay: ArrayLike) -> Any:
        """Return f, the fraction of packets that come too late, in the mean over sessions.

        Parameters
        ----------
        startup_delay : array_like
            tau [s], 0 to 1e8.

        Returns
        -------
        float or ndarray
            In 0..1, of the shape of `startup_delay`.

        Raises
        ------
        AccuracyError
            Where the solve of a path is refused; the message names it.
        """
        return self._over_delays(startup_delay, lambda delays: self._paths.mean(self._paths.late(delays)))

    @overload
    def late_fraction_error(self, startup_delay: float) -> float: ...

    @overload
    def late_fraction_error(self, startup_delay: Several) -> Floats: ...

    @overload
    def late_fraction_error(self, startup_delay: ArrayLike) -> Any: ...

    def late_fraction_error(self, startup_delay: ArrayLike) -> Any:
        """Return the absolute error of f at startup delays [s]: the weighted sum of the stated errors of the paths."""
        return self._over_delays(
            startup_delay, lambda delays: self._paths.mean(self._paths.late_at_worst(delays) - self._paths.late(delays))
        )

    def stalled(self, delays: ArrayLike) -> tuple[Floats, Floats]:
        """Return the probability that a session drawn at random has a stall, and its absolute errors.

        Parameters
        ----------
        delays : (n,) array_like
            tau [s], 0 to 1e8.

        Returns
        -------
        late, errors : (n,) ndarray
            The mean of 1 - alpha, and that of its stated errors.

        Raises
        ------
        AccuracyError
            As `late_fraction`.
        """
        late, errors = self._paths.stalled(self._delays(delays))
        return self._paths.mean(late), self._paths.mean(errors)

    @overload
    def between(self, startup_delay: float) -> float: ...

    @overload
    def between(self, startup_delay: Several) -> Floats: ...

    @overload
    def between(self, startup_delay: ArrayLike) -> Any: ...

    def between(self, startup_delay: ArrayLike) -> Any:
        """Return the share of the variance of "this session stalls" that lies between paths.

        Parameters
        ----------
        startup_delay : array_like
            tau [s], 0 to 1e8.

        Returns
        -------
        float or ndarray
            Var(P_i) / (P (1 - P)) in 0..1, with P_i the probability of a stall over path i and P its mean. 1: the path
            of a session decides whether it stalls; 0: chance within the session does. Where P is within 1e-12 of 0 or 1
            it is 0.
        """
        return self._over_delays(startup_delay, self._paths.between)

    def by_path(self, startup_delay: float) -> dict[str, Any]:
        """Return the answers path by path, as columns.

        Parameters
        ----------
        startup_delay : float
            tau [s], 0 to 1e8.

        Returns
        -------
        dict
            A list ``path`` of names, and (n,) arrays ``weight``, ``late_fraction`` and ``stall_probability``.
        """
        delays = np.array([delay_before(startup_delay, self.video.duration)])
        return {
            "path": list(self.population.names),
            "weight": np.array(self.population.weights),
            "late_fraction": self._paths.late(delays)[self._paths.place, 0],
            "stall_probability": self._paths.stalled(delays)[0][self._paths.place, 0],
        }

    def required_delay(self, target: float | None = None, *, no_late: float | None = None) -> float:
        """Return the smallest startup delay at which the mean over sessions meets a target, with its errors on top.

        Parameters
        ----------
        target : float, optional
            Late fraction f wanted, 0 < target < 1; 1e-4 if nothing is given.
        no_late : float, optional
            Probability wanted that a session has no stall, 0 < no_late < 1, instead.

        Returns
        -------
        float
            tau [s], the same for all paths; for `no_late` too long by at most a 25th of the longest round trip or a
            250th of itself, or a round trip or three where less may do: what shorter delays do is known from exact
            solves only.

        Raises
        ------
        InputError
            For a target out of range, or both given.
        AccuracyError
            For a target finer than the accuracy of the solves, and as `late_fraction`.
        """
        if target is not None and no_late is not None:
            raise InputError("give a late fraction or a probability of no late packet as the target, not both")
        if no_late is None:
            return self._paths.delay_for_late(late_target(target))
        return self._paths.delay_without_stall(no_late_target(no_late))

    @property
    def error_bound(self) -> float:
        """Bound on the error of f from what is not followed; lattices come on top (`late_fraction_error`)."""
        return float(self._paths.mean([one.error_bound for one in self._paths.solved]))

    def columns(self, delays: Floats) -> dict[str, Any]:
        """Return the answers for an array of startup delays [s], by name."""
        stalled, errors = self.stalled(delays)
        return {
            "startup_delay_s": delays,
            "late_fraction": self.late_fraction(delays),
            "late_fraction_error": self.late_fraction_error(delays),
            "stall_probability": stalled,
            "stall_probability_error": errors,
            "between_paths": self.between(delays),
        }

    def to_dict(self, delays: ArrayLike) -> dict[str, Any]:
        """Return the answers for startup delays [s] and what they were computed from, ready for JSON."""
        columns = self.columns(self._delays(delays))
        return {
            "schema": SCHEMA,
            "version": __version__,
            "model": "stored population",
            "parameters": self.population.to_dict() | self.video.to_dict(),
            "throughput_pps": self.throughput.tolist(),
            "error_bound": self.error_bound,
        } | {name: values.tolist() for name, values in columns.items()}

    def to_pandas(self, delays: ArrayLike | None = None) -> pd.DataFrame:
        """Return the answers for startup delays [s] as a table indexed by them.

        Without any for six: from 0 to the one for a mean late fraction of 1e-4, in equal steps.

        Raises
        ------
        MissingExtraError
            Without pandas.
        """
        usual = np.unique(np.linspace(0.0, self.required_delay(), 6)) if delays is None else delays
        return table(self.columns(self._delays(usual)))

    def summary(self) -> str:
        """Return a few lines for people: throughputs and the required startup delay."""
        of_video = f"{self.video.packet_rate:g} packets/s, {self.video.duration:g} s"
        lines = [f"{name}: {value}" for name, value in self._rows()]
        return "\n".join([f"stored streaming of {of_video}, over {of_paths(len(self.population))}", *lines])

    def __repr__(self) -> str:
        paths, loads = of_paths(len(self.population)), spread(self.throughput / self.video.packet_rate)
        return f"<StoredPopulation: {self.video.packet_rate:g} packets/s, {paths}, T/mu = {loads}>"

    def _rows(self) -> list[tuple[str, str]]:
        wanted = f"startup delay for a mean late fraction of {DEFAULT_TARGET:g}"
        return [
            ("throughput T", f"{spread(self.throughput)} packets/s"),
            ("T/mu", spread(self.throughput / self.video.packet_rate)),
            (wanted, answered(lambda: f"{self.required_delay():.4g} s")),
            ("error of late fractions", at_most(self.error_bound)),
        ]

    def _sections(self) -> Mapping[str, Rows]:
        return {"stored population": self._rows(), "paths": self.population.rows(), "video": self.video._rows()}

    def _over_delays(self, values: ArrayLike, answer: Callable[[Floats], Floats]) -> Any:
        """Apply `answer` to all delays: a float for one, an array of the same shape for several."""
        found = answer(self._delays(values))
        return float(found[0]) if np.ndim(values) == 0 else found.reshape(np.shape(values))

    def _delays(self, values: ArrayLike) -> Floats:
        return delays_before(values, self.video.duration)
