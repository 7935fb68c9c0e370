"""``tcpstream throughput``: what TCP achieves on a path."""

from __future__ import annotations

from typing import Any

import click

from .inputs import packet_size, read_route
from .options import json_option, packet_size_option, path_options
from .report import Report, Table


@click.command()
@path_options
@packet_size_option
@json_option
def throughput(as_json: bool, **options: Any) -> Report:
    """Throughput that TCP achieves on a path.

    For a sender that always has data: from the chain, and from closed formulas. A path is --loss, --rtt and --rto or
    --timeout-ratio, or a --capture.
    """
    from .. import tcp
    from .._version import __version__
    from ..errors import positive
    from ..result import SCHEMA
    from ..tcp import formulas
    from . import details
    from .words import bits_per_second

    route = read_route(options)
    bits = 8 * positive("packet size", packet_size(options, route), "bytes")
    T = tcp.throughput(route.path)
    by_formula = {name: formula(route.path) for name, formula in formulas.ALL.items()}
    data = {
        "schema": SCHEMA,
        "version": __version__,
        "parameters": route.path.to_dict() | {"packet_size_bytes": bits / 8},
        "throughput_pps": T,
        "throughput_bps": bits * T,
        "formulas": by_formula,
        **route.to_dict(),
    }
    rows = [(name, f"{rate:.4g}", bits_per_second(bits * rate)) for name, rate in {"chain": T, **by_formula}.items()]
    blocks = [
        Table(rows, ("throughput T", "packets/s", "bit rate")),
        Table([*details.path_rows(route.path), ("packet size", f"{bits / 8:g} bytes")]),
        *details.captured(route, T),
    ]
    return Report(data, blocks, as_json, route.warnings(T))
