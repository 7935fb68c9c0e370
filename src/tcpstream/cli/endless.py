"""The answer that there is none: a live stream that TCP cannot sustain (exit status 3), and what it can sustain."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from .._version import __version__
from ..answers.answer import DEFAULT_TARGET, SCHEMA
from ..errors import AccuracyError, NoFiniteDelayError, TimeLimitError, unremarked
from ..path import Path
from ..video import Video
from .mismatch import contradicted
from .report import Report
from .words import packets_per_second, rounded_down, share, wait

if TYPE_CHECKING:
    from ..answers.answer import Streaming
    from ..tcp import Varying
    from .route import Route

NO_FINITE_DELAY = 3

SHARES = (0.9, 0.75, 0.5, 0.25)
"""Shares of the throughput that are tried as a rate that the path carries: at the first the wait is long and finite."""

DIGITS = 2
"""Of that rate, which is rounded down."""


def no_finite_delay(
    error: NoFiniteDelayError,
    route: Route,
    video: Video,
    solve: Callable[[Path | Varying, Video], Streaming],
    answer: dict[str, Any],
    as_json: bool,
    blocks: Sequence[str] = (),
    target: float | None = None,
) -> Report:
    """Return the report.

    `answer` holds what the command would have answered, as null, and the parameters beside path and video; `blocks`
    what is known. `solve` is asked which rate the path carries. There is no verdict where the capture contradicts it.
    """
    if refused := contradicted(route, error, as_json):
        return refused
    carried = _carried(error.throughput, route, video, solve, target or DEFAULT_TARGET)
    parameters = route.path.to_dict() | video.to_dict() | answer.pop("parameters", {})
    data = {
        "schema": SCHEMA,
        "version": __version__,
        "model": "live",
        "parameters": parameters,
        "throughput_pps": error.throughput,
        "load": error.packet_rate / error.throughput,
        **answer,
        "carried": carried,
        "reason": str(error),
        **route.to_dict(),
    }
    by_rate = isinstance(route.path, Path)
    blocks = [
        *blocks,
        _sentence(error.throughput, carried, video.packet_size, target or DEFAULT_TARGET, by_rate=by_rate),
    ]
    return Report(data, blocks, as_json, route.warnings(error.throughput), NO_FINITE_DELAY, str(error))


def _carried(
    throughput: float, route: Route, video: Video, solve: Callable[[Path | Varying, Video], Streaming], target: float
) -> dict[str, float] | None:
    """Return the largest of the rates tried that the path carries, and the startup delay that it needs."""
    for part in SHARES:
        bits = rounded_down(part * throughput * 8 * video.packet_size, DIGITS)
        try:
            with unremarked():  # nobody gave these rates
                slower = Video(bitrate=bits, packet_size=video.packet_size)
                delay = solve(route.path, slower).required_delay(target)
        except TimeLimitError:
            return None  # that there is no finite delay is known
        except (NoFiniteDelayError, AccuracyError):
            continue
        return {"packet_rate_pps": slower.packet_rate, "bitrate_bps": bits, "required_startup_delay_s": delay}
    return None


def _sentence(throughput: float, carried: dict[str, float] | None, size: float, target: float, *, by_rate: bool) -> str:
    """Return what the path carries, and where ``tcpstream rate`` finds more if `by_rate`."""
    text = f"The path carries less than {packets_per_second(throughput, size)}"
    if carried is None:
        return f"{text}."
    plays = f"{packets_per_second(carried['packet_rate_pps'], size)} play after"
    found = f"{text}: {plays} {wait(carried['required_startup_delay_s'])}, and at most {share(target)} late."
    return f"{found} tcpstream rate finds the rate for another startup delay." if by_rate else found
