"""``tcpstream share``: what long-lived TCP flows make of a bottleneck."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

import click

from ..sender import Sender
from . import options as opt
from . import units
from .blocks import Table
from .inputs import packet_rate
from .report import Report
from .sections import Sectioned

if TYPE_CHECKING:
    from .units import Rate


@click.command(cls=Sectioned)
@opt.in_options
@opt.option("--bottleneck", units.rate, "R", "Rate C of the link that they share, as 667pps or 8Mbps.", required=True)
@opt.option("--buffer", units.number, "N", "Packets that wait before it at most.", required=True)
@opt.option("--rtt", units.seconds, "T", "Round trip time R0 with an empty queue, as 0.11 or 110ms.", required=True)
@opt.option(
    "--flows", units.number, "N", "Long-lived flows that share it, a stored video as one of them.", required=True
)
@opt.sender_option
@opt.sender_options
@opt.packet_size_option
@opt.time_limit_option
@opt.json_option
def share(as_json: bool, bottleneck: Rate, buffer: float, rtt: float, flows: float, **options: Any) -> Report:
    """Loss rate, round trip time and shares of TCP flows at a bottleneck.

    For flows that always have data, before a drop-tail queue: from their chain, and the sum of their windows. With
    the answer's --loss and --rtt a path has the throughput of a flow; by it far too few videos stall (docs/shared.md).
    """
    from ..answers.shared_bottleneck import shared_bottleneck
    from ..errors import within
    from ..video import SIZES
    from . import details
    from .words import packets_per_second

    given = {one: options[one] for one in ("sender", *(one.name for one in fields(Sender))) if options[one] is not None}
    size = 1500.0 if options["packet_size"] is None else within("packet size", options["packet_size"], *SIZES, "bytes")
    rate = packet_rate("bottleneck", bottleneck, options)
    found = shared_bottleneck(bottleneck=rate, buffer=buffer, rtt=rtt, flows=flows, **given)  # type: ignore[arg-type]
    rows = dict(found.rows()) | {"share of a flow": packets_per_second(found.share, size)}
    asked = [
        ("bottleneck", packets_per_second(rate, size)),
        ("buffer", f"{found.buffer} packets"),
        ("round trip time with an empty queue", f"{found.base_rtt:.4g} s"),
        ("flows", f"{found.flows}"),
    ]
    data = found.to_dict()
    data["parameters"]["packet_size_bytes"] = size
    data["share_bps"] = 8 * size * found.share
    sender = details.path_rows(found.path)[2:]
    blocks = [Table([*rows.items()]), Table([*asked, *sender])]
    return Report(data, blocks, as_json)
