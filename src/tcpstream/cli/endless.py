"""The answer that there is none: a live stream that TCP cannot sustain (exit status 3)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .._version import __version__
from ..result import SCHEMA
from .report import Report

if TYPE_CHECKING:
    from ..errors import NoFiniteDelayError
    from .route import Route

NO_FINITE_DELAY = 3


def no_finite_delay(
    error: NoFiniteDelayError,
    route: Route,
    parameters: dict[str, Any],
    answer: dict[str, Any],
    as_json: bool,
    blocks: Sequence[str] = (),
) -> Report:
    """Return the report; `answer` holds what the command would have answered, as null, `blocks` what is known."""
    data = {
        "schema": SCHEMA,
        "version": __version__,
        "model": "live",
        "parameters": parameters,
        "throughput_pps": error.throughput,
        "load": error.packet_rate / error.throughput,
        **answer,
        "reason": str(error),
        **route.to_dict(),
    }
    return Report(data, blocks, as_json, route.warnings(error.throughput), NO_FINITE_DELAY, str(error))
