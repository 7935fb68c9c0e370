"""``tcpstream transfer``: how long some bytes take."""

from __future__ import annotations

import math
from functools import cache
from typing import TYPE_CHECKING, Any

import click

from . import options as opt
from . import sizes, units
from .blocks import Table
from .inputs import read_route
from .report import Report
from .sections import Sectioned

if TYPE_CHECKING:
    from ..answers.transfer_time import TransferTime
    from ..path import Path


@click.command(cls=Sectioned)
@opt.path_options
@opt.option("--size", sizes.size, "B", "Bytes to deliver, as 300kB or 2.5MB, or packets, as 100packets.", required=True)
@opt.option("--segment-size", units.number, "B", "Bytes that a packet carries.  [default: 1448]")
@opt.packet_size_option
@opt.option(
    "--start",
    str,
    "connection|stationary|W",
    "Over a new connection, one that has been busy for long, or with a window of W packets.  [default: connection]",
)
@opt.option("--idle", units.seconds, "T", "Of a connection that is there: idle for so long before.  [default: 0s]")
@click.option(
    "--setup-round-trips",
    type=int,
    default=0,
    metavar="N",
    help="Before the request: 1 for TCP, 2 with TLS 1.3, 3 with TLS 1.2.  [default: 0]",
)
@opt.time_limit_option
@opt.json_option
def transfer(
    as_json: bool,
    size: sizes.Size,
    segment_size: float | None,
    start: str | None,
    idle: float | None,
    setup_round_trips: int,
    **options: Any,
) -> Report:
    """Time that a path takes to deliver some bytes.

    The download time of a segment, a page or an object, from the request, or the handshake before it, to the last
    packet: its mean, and what 50%, 90% and 99% of the transfers take at most.
    """
    from ..answers import transfer_time as model
    from ..tcp import constant, throughput
    from . import details
    from .words import with_spans

    route = read_route(options)
    begin: str | int = int(start) if start and start.isdecimal() else start or "connection"
    given: dict[str, Any] = {size.name: size.value}

    @cache
    def solve(path: Path) -> TransferTime:
        return model.transfer_time(
            path,
            **given,
            segment_size=model.SEGMENT if segment_size is None else segment_size,
            start=begin,
            idle=idle or 0.0,
            setup_round_trips=setup_round_trips,
        )

    def answers(path: Path) -> list[float]:
        found = solve(path).to_dict()["transfer_time_s"]
        return list(found.values())

    path = constant(route.path, "transfer")
    result = solve(path)
    data = result.to_dict()
    values = answers(path)
    found = route.propagate_intervals(values, answers, 0.0, math.inf)
    texts = [f"{value:.4g}" for value in values]
    if found is not None:
        spans = [[float(low), float(high)] for low, high in zip(found.low, found.high)]
        data["transfer_time_interval_s"] = dict(zip(data["transfer_time_s"], spans))
        texts = with_spans(texts, spans, ".4g")
    names = ("mean", "50% of transfers at most", "90%", "99%")
    rows = [(name, f"{text} s") for name, text in zip(names, texts)]
    rows[0] = (names[0], f"{rows[0][1]}, within {result.errors['mean']:.1g} s")
    blocks: list[str | Table] = [
        Table([("packets", f"{result.packets:,}"), *rows]),
        Table(details.path_rows(route.path)),
    ]
    warnings = route.warnings(throughput(route.path), found, of_video=False)
    warnings += [str(route.mismatch)] if route.mismatch else []
    return Report(data | route.to_dict(), blocks, as_json, warnings)
