"""``tcpstream fit``: a path that varies from a throughput trace."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from ..errors import InputError
from . import options as opt
from . import units
from .blocks import Table
from .report import Report
from .sections import Sectioned
from .words import bits_per_second

if TYPE_CHECKING:
    from ..fits import FittedRegimes


@click.command(cls=Sectioned)
@click.argument("trace")
@opt.in_options
@opt.option("--rtt", units.seconds, "T", "Round trip time R, as 0.11 or 110ms; only a capture shows it.")
@opt.option("--loss", units.probability, "P", "Loss rate beside the losses of a full buffer.  [default: 1e-6]")
@opt.option(
    "--buffer",
    units.number,
    "N",
    "Packets that wait before the bottleneck at most.  [default: the capture's, or what the fastest regime carries in "
    "R]",
)
@opt.sender_option
@opt.sender_options
@opt.option("--regimes", units.number, "N", "How many, 1 to 4.  [default: as many as have the least BIC]")
@opt.option(
    "--interval",
    units.seconds,
    "T",
    "Equal intervals in which the throughput is taken.  [default: 1s, or the trace's own where they are longer]",
)
@opt.option("--seed", units.number, "N", "Of the search.  [default: 1]")
@opt.packet_size_option
@opt.option("--out", str, "FILE", "Write the path as TOML, for --regimes FILE of delay, play, stored and live.")
@opt.time_limit_option
@opt.json_option
def fit(as_json: bool, trace: str, out: str | None, **options: Any) -> Report:
    """Regimes of a throughput trace or a capture: a path that varies.

    TRACE is CSV with columns time_s and throughput_bps, throughput_kbps or throughput_mbps; or a trace of Mahimahi,
    Pensieve or Sabre, or the output of iperf3 -J; or a pcap or pcapng capture of an endless download, which shows the
    round trip, the buffer and the sender as well. Each regime is a bottleneck of its mean throughput.
    """
    from ..fits import fit_regimes
    from ..traces import estimate, is_capture, read_throughput

    chosen = {name: value for name, value in options.items() if value is not None}
    seen: tuple[str, ...] = ()
    if is_capture(trace):
        measured = estimate(trace)
        seen = measured.warnings
        found = fit_regimes(measured, **chosen)
    elif options["rtt"] is None:
        read_throughput(trace)  # says what is wrong with the file
        raise InputError("missing --rtt: a trace does not show the round trip time")
    else:
        found = fit_regimes(trace, **chosen)
    blocks = _blocks(found)
    if out is not None:
        found.save(out)
        blocks.append(f"The path is in {out}.")
    return Report(found.to_dict(), blocks, as_json, [*seen, *found.warnings])


def _blocks(found: FittedRegimes) -> list[str | Table]:
    from .details import path_rows

    regimes = [
        (
            one.name,
            bits_per_second(one.throughput),
            "not known" if one.throughput_error is None else bits_per_second(one.throughput_error),
            f"{one.mean_stay:.4g} s",
            "not known" if one.stay_error is None else f"{one.stay_error:.2g} s",
            f"{100 * one.share:.3g}%",
        )
        for one in found.regimes
    ]
    header = ("regime", "mean throughput", "standard error", "mean stay", "standard error", "of the time")
    tried = [
        (
            f"{one.regimes} regime{'s' * (one.regimes > 1)}",
            one.reason or f"BIC {one.bic:.6g}, log likelihood {one.log_likelihood:.6g}",
        )
        for one in found.candidates
    ]
    series = found.series
    rows = [
        ("trace", f"{len(series.throughput)} intervals of {series.interval:g} s, {found.stays:.3g} mean stays"),
        ("variance between regimes", f"{100 * found.between:.3g}%; the path leaves out the rest"),
        ("error", found.error),
    ]
    return [Table(regimes, header), Table(tried), Table([*rows, *path_rows(found.varying)])]
