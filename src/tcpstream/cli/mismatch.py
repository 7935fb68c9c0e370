"""The answer that there is none: a capture whose flow the model does not describe (exit status 1)."""

from __future__ import annotations

from .._version import __version__
from ..answers.answer import SCHEMA
from ..errors import ModelMismatchError, NoFiniteDelayError
from . import details
from .blocks import Table
from .report import Report
from .route import ALIKE, Route

NO_VERDICT = 1


def no_verdict(route: Route, model: str, as_json: bool, *, limited: bool = False) -> Report | None:
    """Return the report of everything that was measured, without an answer; None where the model fits the capture.

    It fits that of an application-limited flow where a `limited` stream is asked about: then p and R are the path's.
    """
    error = route.mismatch
    if error is None or route.estimate is None or (limited and error.cause == "application"):
        return None
    return _report(route, error, model, as_json)


def contradicted(route: Route, error: NoFiniteDelayError, as_json: bool) -> Report | None:
    """Return that there is no verdict where the flow of the capture was faster than the rate that TCP does not sustain.

    The whole 95% interval of its throughput lies above that rate, and the model's throughput so far below as to be
    warned of.
    """
    estimate = route.estimate
    if estimate is None:
        return None
    seen = estimate.throughput_pps
    if seen.low <= error.packet_rate or error.throughput >= (1 - ALIKE) * seen.value:
        return None
    from ..traces import UNKNOWN

    why = estimate.limitation or UNKNOWN
    mismatch = ModelMismatchError(error.throughput, seen.value, why.cause, why.evidence, why.ask_instead)
    return _report(route, mismatch, "live", as_json)


def _report(route: Route, error: ModelMismatchError, model: str, as_json: bool) -> Report:
    assert route.estimate is not None
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
