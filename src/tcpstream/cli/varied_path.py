"""A capture of a link whose rate varied: regimes are fitted to it, and the answer is for a path that changes.

A path that varied otherwise, as in its losses, is answered for as a constant one, with a warning: regimes are links.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..errors import AccuracyError, InputError, MissingExtraError, TimeLimitError, note
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
        return Route(self.fit.varying, fit=self.fit)

    @property
    def warnings(self) -> list[str]:
        """What limits the use of the capture and of the fit."""
        return [*self.estimate.warnings, *self.fit.warnings]

    def next_delay(self, video: Video, accuracy: str | None) -> tuple[dict[str, Any], list[str]]:
        """Return what the next video needs, as data and in sentences."""
        from ..fits import next_delay

        try:
            found = next_delay(self.fit, video, accuracy=accuracy)
        except TimeLimitError:
            raise
        except AccuracyError as error:
            return {}, [f"What the next such video needs is not known: {error}."]
        return {"next_video_needs_s": _numbers(found)}, [
            f"The next such video needs {wait(found.value)} in the median{in_brackets((found.low, found.high))} for no "
            "packet to be late: each meets the path in other states."
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return the keys `capture`, `path_varied` and `fitted_regimes`."""
        fitted = self.fit.to_dict()["fitted_regimes"]
        return {"capture": self.estimate.to_dict(), "path_varied": self.why, "fitted_regimes": fitted}

    def blocks(self) -> list[str | Table]:
        """Return what was measured, and what follows from it."""
        from .details import measured

        regimes = len(self.fit.regimes)
        return [
            f"The path of the capture varied: {self.why}. So {regimes} regimes were fitted to it, as by tcpstream fit.",
            measured(self.estimate),
        ]


def varied_path(route: Route) -> VariedPath | None:
    """Return what a capture says of a link whose rate varied; None without one, and, with a note, without a fit."""
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
    except (AccuracyError, InputError, MissingExtraError) as error:
        note(f"the rate of the link varied; the answer is for a constant path, as no regimes are fitted: {error}")
        return None
    return VariedPath(estimate, link.sentence(), fit) if len(fit.regimes) > 1 else None


def _numbers(found: Measured) -> dict[str, float]:
    return {"median": found.value, "low": found.low, "high": found.high}
