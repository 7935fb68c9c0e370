"""The answer that there is none: a capture whose flow the model does not describe (exit status 1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._version import __version__
from ..answers.answer import SCHEMA
from . import details
from .blocks import Table
from .report import Report

if TYPE_CHECKING:
    from .route import Route

NO_VERDICT = 1


def no_verdict(route: Route, model: str, as_json: bool, *, limited: bool = False) -> Report | None:
    """Return the report of everything that was measured, without an answer; None where the model fits the capture.

    It fits that of an application-limited flow where a `limited` stream is asked about: then p and R are the path's.
    """
    error = route.mismatch
    if error is None or route.estimate is None or (limited and error.cause == "application"):
        return None
    data = {
        "schema": SCHEMA,
        "version": __version__,
        "model": model,
        "parameters": route.path.to_dict(),
        "throughput_pps": error.modelled,
        "verdict": None,
        "reason": str(error),
        **route.to_dict(),
    }
    blocks = [Table(details.path_rows(route.path)), *details.captured(route, error.modelled)]
    return Report(data, blocks, as_json, route.estimate.warnings, NO_VERDICT, str(error))
