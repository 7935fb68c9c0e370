"""A capture of a link whose rate varied: regimes are fitted to it, and the answer is for a path that changes.

A path that varied otherwise, as in its losses, is answered for as a constant one, with a warning: regimes are links.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..errors import AccuracyError, InputError, MissingExtraError, TimeLimitError
from .blocks import Table
from .route import Route
from .words import in_brackets, wait

if TYPE_CHECKING:
    from ..fits import FittedRegimes
    from ..traces import Measured, PathEstimate
    from ..video import Video

FITTED = ("loss", "bottleneck", "buffer")
"""What a regime has: given instead, it is that of a constant path."""


@dataclass(frozen=True)
class VariedPath:
    """A capture, why its path was not constant, and the regimes that were fitted to it."""

    estimate: PathEstimate
    why: str
    fit: FittedRegimes

    @property
    def route(self) -> Route:
        """The path that varies."""
        return Route(self.fit.varying)

    @property
    def warnings(self) -> list[str]:
        """What limits the use of the capture and of the fit."""
        return [*self.estimate.warnings, *self.fit.warnings]

    def next_delay(self, video: Video, accuracy: str | None) -> tuple[dict[str, Any], list[str]]:
        """Return what the next video needs, as data and in sentences."""
        from ..fits import next_delay

        found = next_delay(self.fit, video, accuracy=accuracy)
        data = {"path_varied": self.why, "next_video_needs_s": _numbers(found)} | {
            key: value for key, value in self.fit.to_dict().items() if key == "fitted_regimes"
        }
        regimes = len(self.fit.regimes)
        return data, [
            f"The next such video needs {wait(found.value)} in the median{in_brackets((found.low, found.high))} for no "
            "packet to be late: each meets the path in other states.",
            f"The path of the capture varied: {self.why}. So {regimes} regimes were fitted to it, as by tcpstream fit.",
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return the key `capture`."""
        return {"capture": self.estimate.to_dict()}

    def blocks(self) -> list[Table]:
        """Return what was measured."""
        from .details import measured

        return [measured(self.estimate)]


def varied_path(route: Route) -> VariedPath | None:
    """Return what a capture says of a link whose rate varied; None without one, or where no regimes can be fitted."""
    estimate = route.estimate
    if estimate is None or any(name in route.chosen for name in FITTED):
        return None
    link = estimate.link
    if link is None or not link.varied:
        return None
    from ..fits import fit_regimes

    try:
        fit = fit_regimes(estimate, **route.chosen)
    except TimeLimitError:
        raise
    except (AccuracyError, InputError, MissingExtraError):
        return None
    return VariedPath(estimate, link.sentence(), fit) if len(fit.regimes) > 1 else None


def _numbers(found: Measured) -> dict[str, float]:
    return {"median": found.value, "low": found.low, "high": found.high}
