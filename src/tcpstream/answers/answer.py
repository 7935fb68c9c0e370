"""What the answers for live and stored streaming have in common."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._version import __version__
from ..errors import AccuracyError, InputError, MissingExtraError, instance, note, real
from ..path import Path
from ..system.html_table import Rows
from ..tcp import Varying, chain_of
from ..video import Video
from .several import Several
from .shown import Shown, answered, inputs
from .timeline import Timeline

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

SCHEMA = 1
"""Number of the layout of `to_dict` and of the command line's JSON."""

MOST_ROUNDS = 20_000_000
MOST_PACKETS = 2**31
"""Rounds and packets of the longest video that is tried."""

LONGEST_DELAY = 1e8
"""Longest startup delay [s] that is accepted, as for the length of a video."""

LONG_DELAY, LONG_LIVE_DELAY = 100.0, 300.0
"""Startup delays [s] above the first are noted if they exceed the video too: in milliseconds it is a tenth of a second.
Of a stream without end those above the second: none is shown five minutes late."""

DEFAULT_TARGET = 1e-4
"""Late fraction below which streaming is called satisfactory (Section 6.2)."""


def check_pair(path: object, video: object) -> None:
    """Raise `InputError` unless these are a path and a video, in this order."""
    if isinstance(path, Video) and isinstance(video, (Path, Varying)):
        raise InputError("path and video have changed places: the path comes first, then the video")
    if not isinstance(path, Varying):
        instance("path", path, Path)
    instance("video", video, Video)


def pair_of(case: object) -> tuple[Path | Varying, Video]:
    """Return one of several cases, or raise `InputError` unless it is a pair of a path and a video."""
    if not isinstance(case, (tuple, list)) or len(case) != 2:
        got = f"{len(case)} values" if isinstance(case, (tuple, list)) else f"a {type(case).__name__}"
        raise InputError(f"a case must be a pair of a Path and a Video, got {got}")
    check_pair(*case)
    path, video = case
    return path, video


def check_length(rounds: float, video: Video) -> None:
    """Raise `AccuracyError` for a video of too many rounds or packets to follow."""
    if rounds > MOST_ROUNDS or video.packets > MOST_PACKETS:
        raise AccuracyError(
            f"a video of {rounds:.4g} round trips and {video.packets:.4g} packets is too long to follow: take a "
            f"shorter one, of at most {MOST_ROUNDS} round trips and {MOST_PACKETS} packets"
        )


def check_shortest(path: Path | Varying, video: Video) -> None:
    """Raise `InputError` for a video shorter than a round."""
    assert video.duration is not None
    if video.duration < path.rtt:
        raise InputError(f"duration must be at least one round trip time of {path.rtt:g} s, got {video.duration:g} s")


def check_duration(path: Path | Varying, video: Video) -> None:
    """Raise `InputError` for a video shorter than a round, `AccuracyError` for one that is too long to follow."""
    check_shortest(path, video)
    check_length(Timeline.of(path, video).length, video)


def startup_delay(value: Any, name: str = "startup delay") -> float:
    """Return a startup delay [s], or raise `InputError` unless it is a finite number >= 0."""
    delay = real(name, value, "s")
    if delay < 0:
        raise InputError(f"{name} must not be negative, got {delay:g} s")
    if delay > LONGEST_DELAY:
        raise InputError(f"{name} must be at most {LONGEST_DELAY:g} s, got {delay:g} s")
    return delay


def delay_before(value: Any, duration: float | None) -> float:
    """Return a startup delay [s] as `startup_delay`, with a note on one that is long for a video of this length [s]."""
    delay = startup_delay(value)
    if delay > (LONG_LIVE_DELAY if duration is None else max(duration, LONG_DELAY)):
        video = "is long for a live stream" if duration is None else f"is longer than the video of {duration:g} s"
        note(f"a startup delay of {delay:g} s {video}: {delay:g} ms are {delay / 1000:g} s")
    return delay


def delays_before(values: ArrayLike, duration: float | None) -> NDArray[np.float64]:
    """Return startup delays [s] as `delay_before`, flat."""
    given = np.ravel(np.asarray(values, dtype=object))
    return np.array([delay_before(value, duration) for value in given], dtype=float)


def late_target(value: float | None) -> float:
    """Return a target late fraction, the default for None, or raise `InputError` unless it lies between 0 and 1."""
    wanted = DEFAULT_TARGET if value is None else real("target late fraction", value)
    if not 0 < wanted < 1:
        raise InputError(f"target late fraction must lie strictly between 0 and 1, got {wanted:g}")
    return wanted


def no_late_target(value: float) -> float:
    """Return a target probability of no late packet, or raise `InputError` unless it lies between 0 and 1."""
    wanted = real("target probability of no late packet", value)
    if not 0 < wanted < 1:
        raise InputError(f"target probability of no late packet must lie strictly between 0 and 1, got {wanted:g}")
    return wanted


def probabilities(name: str, values: ArrayLike) -> NDArray[np.float64]:
    """Return values as an array, or raise `InputError` unless each lies between 0 and 1."""
    wanted = np.array([real(name, u) for u in np.ravel(np.asarray(values, dtype=object))])
    for u in wanted:
        if not 0 < u < 1:
            raise InputError(f"{name} must lie strictly between 0 and 1, got {u:g}")
    return wanted


def table(columns: dict[str, Any]) -> pd.DataFrame:
    """Return columns as a table indexed by the first, or raise `MissingExtraError` without pandas."""
    try:
        import pandas as pd
    except ImportError:
        raise MissingExtraError("a table", "pandas", "tables") from None
    return pd.DataFrame(columns).set_index(next(iter(columns)))


def lossy(path: Path | Varying) -> str:
    """Return what a path does to packets, for people."""
    if isinstance(path, Varying):
        return "loss " + ", ".join(f"{one.loss:g} ({name})" for name, one in zip(path.names, path.regimes))
    return f"loss {path.loss:g}"


def at_most(bound: float) -> str:
    """Return an error bound for people: the power of ten above it, 1e-12 at least, so that it does not flicker."""
    return f"below 1e{max(-12, math.ceil(math.log10(max(bound, 1e-300))))}"


def at_worst(value: float, relative: float, floor: float) -> float:
    """Return the most that a value may be, of a relative error, infinite for a value below a floor, and that floor."""
    return (value * (1 + relative) if math.isfinite(relative) else value) + floor


class Streaming(Shown):
    """A path and a video solved together.

    Attributes
    ----------
    path : Path or Varying
    video : Video
    timeline : Timeline
        The video on the clock of the path.
    """

    kind: str

    def __init__(self, path: Path | Varying, video: Video, horizon: str = "end") -> None:
        self.path, self.video = path, video
        self.timeline = Timeline.of(path, video, horizon)

    @overload
    def late_fraction(self, startup_delay: float) -> float: ...

    @overload
    def late_fraction(self, startup_delay: Several) -> NDArray[np.float64]: ...

    @overload
    def late_fraction(self, startup_delay: ArrayLike) -> Any: ...

    def late_fraction(self, startup_delay: ArrayLike) -> Any:
        """Return f, the fraction of packets that come too late (Eq. 1).

        Parameters
        ----------
        startup_delay : array_like
            tau [s], 0 to 1e8.

        Returns
        -------
        float or ndarray
            In 0..1, of the shape of `startup_delay`.

        Warns
        -----
        InputWarning
            For a delay above 100 s and longer than the video, or above 300 s where that has no end: it was probably
            meant in milliseconds.
        """
        return self._over_delays(startup_delay, self._late_at)

    def plot(self, *, ax: Axes | None = None, delays: ArrayLike | None = None) -> Axes:
        """Draw the late fraction over the startup delay; see `tcpstream.plots.late_fraction`."""
        from .. import plots

        return plots.late_fraction(self, delays=delays, ax=ax)

    @abstractmethod
    def _late_at(self, tau: float) -> float:
        """Return f at one valid startup delay [s]."""

    def late_at_worst(self, tau: float) -> float:
        """Return f at one valid startup delay [s] and its stated error together: what a target is held against."""
        error = self._late_error(tau)  # first: what it needs may be solved at once
        return at_worst(self._late_at(tau), error, self.error_bound)

    @abstractmethod
    def _late_error(self, tau: float) -> float:
        """Return the relative error of f at one valid startup delay [s]; `error_bound` comes on top."""

    @abstractmethod
    def required_delay(self, target: float | None = None) -> float:
        """Return the smallest startup delay [s] with at most `target` late packets, errors included."""

    @abstractmethod
    def columns(self, delays: NDArray[np.float64]) -> dict[str, Any]:
        """Return the answers for an array of startup delays [s], by name."""

    @property
    @abstractmethod
    def error_bound(self) -> float:
        """Bound on the error of the late fraction, truncation and residual together."""

    @property
    def throughput(self) -> float:
        """Achievable TCP throughput T [packets/s]."""
        return chain_of(self.path).packets_per_round / self.path.rtt

    @property
    def load(self) -> float:
        """Mean playback rate over throughput, mu / T."""
        return self.video.packet_rate / self.throughput

    def usual_delays(self) -> NDArray[np.float64]:
        """Return six startup delays [s]: from 0 to the one for a late fraction of 1e-4, in equal steps."""
        return np.unique(np.linspace(0.0, self.required_delay(), 6))

    def to_dict(self, delays: ArrayLike) -> dict[str, Any]:
        """Return the answers for startup delays [s] and what they were computed from, ready for JSON."""
        columns = self.columns(self._delays(delays))
        return {
            "schema": SCHEMA,
            "version": __version__,
            "model": self.kind,
            "parameters": self.path.to_dict() | self.video.to_dict(),
            "throughput_pps": self.throughput,
            "load": self.load,
            "error_bound": self.error_bound,
        } | {name: np.asarray(values).tolist() for name, values in columns.items()}

    def to_pandas(self, delays: ArrayLike | None = None) -> pd.DataFrame:
        """Return the answers for startup delays [s] as a table indexed by them; without any, for `usual_delays`.

        Raises
        ------
        MissingExtraError
            Without pandas.
        """
        return table(self.columns(self._delays(self.usual_delays() if delays is None else delays)))

    def summary(self) -> str:
        """Return a few lines for people: throughput, load and the required startup delay."""
        path, video = self.path, self.video
        length = "" if video.duration is None else f", {video.duration:g} s"
        return "\n".join(
            [
                f"{self.kind} streaming of {video.packet_rate:g} packets/s ({video.bitrate / 1e3:.4g} kbit/s{length})",
                f"path: {lossy(path)}, round trip {path.rtt:g} s, timeout ratio {path.timeout_ratio:g}, "
                f"windows up to {path.max_window} packets",
                f"TCP throughput T = {self.throughput:.4g} packets/s, T/mu = {1 / self.load:.4g}",
                f"startup delay for a late fraction of {DEFAULT_TARGET:g}: {self.required_delay():.3f} s",
                f"error of late fractions: {at_most(self.error_bound)}",
            ]
        )

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.video.packet_rate:g} packets/s, T/mu = {1 / self.load:.4g}>"

    def _sections(self) -> Mapping[str, Rows]:
        wanted = f"startup delay for a late fraction of {DEFAULT_TARGET:g}"
        rows = [
            ("throughput T", f"{self.throughput:.4g} packets/s"),
            ("T/mu", f"{1 / self.load:.4g}"),
            (wanted, answered(lambda: f"{self.required_delay():.4g} s")),
            ("error of late fractions", answered(lambda: at_most(self.error_bound))),
        ]
        return {f"{self.kind} streaming": rows, **inputs(self.path, self.video)}

    def _delays(self, values: ArrayLike) -> NDArray[np.float64]:
        return delays_before(values, self.video.duration)

    def _over_delays(self, values: ArrayLike, answer: Callable[[float], float]) -> Any:
        """Apply `answer` to each delay: a float for one, an array of the same shape for several."""
        if np.ndim(values) == 0:
            return float(answer(delay_before(values, self.video.duration)))
        return np.array([answer(tau) for tau in self._delays(values)]).reshape(np.shape(values))

    def _target(self, target: float | None) -> float:
        wanted = late_target(target)
        if wanted < 10 * self.error_bound:
            raise AccuracyError(
                f"target late fraction {wanted:g} is finer than ten times the error bound of {self.error_bound:.1e}: "
                f"give {10.1 * self.error_bound:.1e} or more"
            )
        return wanted
