"""``tcpstream throughput``: what TCP achieves on a path."""

from __future__ import annotations

import math
from typing import Any

import click

from .blocks import Table
from .inputs import packet_size, read_route
from .options import json_option, packet_size_option, path_options, time_limit_option
from .report import Report
from .sections import Sectioned


@click.command(cls=Sectioned)
@path_options
@packet_size_option
@time_limit_option
@json_option
def throughput(as_json: bool, **options: Any) -> Report:
    """Throughput that TCP achieves on a path.

    For a sender that always has data: from the chain, and from closed formulas. A path is --loss and --rtt, or a
    --capture. Of a --throughput that was measured: the loss rate at which the chain has it.
    """
    from .. import tcp
    from .._version import __version__
    from ..answers.answer import SCHEMA
    from ..errors import positive
    from ..tcp import formulas
    from ..variants import VARIANTS
    from . import details
    from .words import bits_per_second, with_spans

    route = read_route(options)
    bits = 8 * positive("packet size", packet_size(options, route), "bytes")
    path = tcp.constant(route.path, "throughput")
    model = "chain" if VARIANTS[path.tcp].chain is not None else path.tcp
    rates = {model: tcp.throughput, **formulas.ALL}
    T, *others = found = [rate(path) for rate in rates.values()]
    propagated = route.propagate_intervals(found, lambda path: [rate(path) for rate in rates.values()], math.inf, 0.0)
    data = {
        "schema": SCHEMA,
        "version": __version__,
        "parameters": route.path.to_dict() | {"packet_size_bytes": bits / 8},
        "throughput_pps": T,
        "throughput_bps": bits * T,
        "formulas": dict(zip(formulas.ALL, others)),
        **route.to_dict(),
    }
    texts = [f"{rate:.4g}" for rate in found]
    if propagated is not None:
        spans = [[float(low), float(high)] for low, high in zip(propagated.low, propagated.high)]
        data["throughput_interval_pps"] = spans[0]
        data["formulas_interval"] = dict(zip(formulas.ALL, spans[1:]))
        texts = with_spans(texts, spans, ".4g")
    rows = [(name, text, bits_per_second(bits * rate)) for name, text, rate in zip(rates, texts, found)]
    blocks = [
        Table(rows, ("throughput T", "packets/s", "bit rate")),
        Table([*details.path_rows(route.path), ("packet size", f"{bits / 8:g} bytes")]),
        *details.captured(route, T),
    ]
    warnings = route.warnings(T, propagated, of_video=False) + ([str(route.mismatch)] if route.mismatch else [])
    return Report(data, blocks, as_json, warnings)
