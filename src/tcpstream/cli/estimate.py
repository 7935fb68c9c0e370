"""``tcpstream estimate``: a path from a packet capture."""

from __future__ import annotations

import click

from .options import json_option
from .report import Report


@click.command()
@click.argument("file")
@json_option
def estimate(file: str, as_json: bool) -> Report:
    """Path parameters from a packet capture.

    Loss, round trip time, retransmission timer and throughput, with 95% intervals. FILE is a pcap or pcapng capture
    of both directions; its largest flow is measured. The first 128 bytes of each packet suffice.
    """
    from .. import traces
    from .._version import __version__
    from ..result import SCHEMA
    from . import details

    found = traces.estimate(file)
    data = {"schema": SCHEMA, "version": __version__, "parameters": {"file": file}, **found.to_dict()}
    return Report(data, [details.flow(found), details.measured(found)], as_json, found.warnings)
