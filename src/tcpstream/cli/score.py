"""``tcpstream score``: what each session of a table would see of a video."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any

import click

from ..errors import InputError
from ..sender import Sender
from . import options as opt
from . import units
from .blocks import Table
from .interrupt import keeps
from .progress import progress
from .report import Report
from .sections import Sectioned

if TYPE_CHECKING:
    from ..scores import Group, Scores
    from .units import Rate

SENDER = ("sender", *(one.name for one in fields(Sender)))


@click.command(cls=Sectioned)
@click.argument("file")
@opt.sender_option
@opt.sender_options
@opt.option("--rate", units.rate, "R", "Playback rate of all sessions, instead of the column, as 6Mbps.")
@opt.option("--duration", units.seconds, "T", "Length of the video of all sessions, instead of the column, as 10min.")
@opt.option("--packet-size", units.number, "B", "Bytes of a packet, for rates in bit/s.  [default: 1500]")
@opt.option("--start", units.seconds, "T", "Startup delay of the player, as 500ms.  [default: 2s]")
@opt.option("--target", units.probability, "F", "Fraction of late packets allowed, 0 < F < 1.  [default: 1e-4]")
@click.option(
    "--map",
    "columns",
    multiple=True,
    metavar="NAME=COLUMN",
    help="Which column has what, as rtt_ms=srtt or loss_percent=lost; several times.",
)
@opt.option("--group-by", str, "COLUMN", "Also what the sessions of each value of a column see.")
@opt.option(
    "--solves", units.number, "N", "Sessions that are solved at most; others are inferred from them.  [default: 32]"
)
@opt.option("--seed", units.number, "N", "Of the choice of the sessions that are solved.  [default: 1]")
@opt.option(
    "--accuracy",
    str,
    "exact|fine|fast",
    "To the packet; to 1% of the late fraction; or faster.  [default: exact where that is quick, else fast]",
)
@opt.option("--time-limit", units.seconds, "T", "Give a session up after this time.  [default: 2min]")
@opt.option("--store", str, "FILE", "Where solved sessions are kept as they come.  [default: OUT + .solved.jsonl]")
@click.option("--out", required=True, metavar="FILE", help="Where sessions and answers are written: .csv or .parquet.")
@opt.json_option
def score(
    as_json: bool,
    file: str,
    columns: tuple[str, ...],
    rate: Rate | None,
    solves: float | None,
    seed: float | None,
    store: str | None,
    out: str,
    **options: Any,
) -> Report:
    """What each session of a table would see of a video.

    FILE is .csv or .parquet, a row a session: a column rtt_ms or rtt_s; one of loss, retransmit_share and
    throughput_mbps (or _kbps, _pps); and, unless --rate and --duration give them, rate_mbps and duration_s; rto_ms
    where it is known. Shares may be in percent, as loss_percent.

    Some sessions are solved, the others are inferred from them; each answer has its error. An interrupted command goes
    on when it is called again.
    """
    from ..answers.answer import SCHEMA
    from ..scores.answered import SOLVES
    from ..scores.answered import score as answer
    from ..scores.table_files import check_name

    check_name(out)
    if FilePath(out).resolve() == FilePath(file).resolve():
        raise InputError(f"--out {out} is the table of sessions itself: give another name")
    if not FilePath(out).parent.is_dir():
        raise InputError(f"cannot write {out}: no such folder")
    from numpy.random import default_rng

    given = {name: value for name, value in options.items() if value is not None}
    if rate is not None:
        given["packet_rate" if rate.name == "packet_rate" else "bitrate"] = rate.value
    most = SOLVES if solves is None else _whole("--solves", solves)
    kept = store or f"{out}.solved.jsonl"
    keeps(kept)
    with progress(most, "solving sessions") as step:
        found = answer(
            file,
            default_rng(1 if seed is None else _whole("--seed", seed)),
            columns=_columns(columns),
            solves=most,
            store=kept,
            step=step,
            **given,
        )
    found.write(out)
    data: dict[str, Any] = {"schema": SCHEMA, "version": _version(), "model": "score"} | found.to_dict()
    data["parameters"] |= {"file": file, "out": out}
    blocks = _blocks(found, out, options["group_by"], options["start"])
    if found.groups[0].answered == 0:
        reason = f"no session has an answer; the first: {found.table['no_answer'].iloc[0]}"
        return Report(data, blocks, as_json, status=1, reason=reason)
    return Report(data, blocks, as_json)


def _version() -> str:
    from .._version import __version__

    return __version__


def _whole(option: str, value: float) -> int:
    if value != int(value) or value < 0:
        raise InputError(f"{option} must be a whole number, got {value:g}")
    return int(value)


def _columns(given: tuple[str, ...]) -> dict[str, str]:
    """Return which column has what."""
    found: dict[str, str] = {}
    for one in given:
        name, equals, column = one.partition("=")
        if not (name and equals and column):
            raise InputError(f"--map {one!r}: give NAME=COLUMN, as rtt_ms=srtt")
        if name in found:
            raise InputError(f"--map {name} is given twice")
        found[name] = column
    return found


def _blocks(found: Scores, out: str, group_by: str | None, start: float | None) -> list[str | Table]:
    """Return what people read: a row a group, and how it was found."""
    whole = found.groups[0]
    sentences = [f"{whole.answered:,} of {whole.sessions:,} sessions have an answer."]
    if whole.answered:
        begin = 2 if start is None else start
        sentences[0] += f" With a start after {begin:g} s {_share(whole)} of them are expected to stall."
    header = [group_by or "", "sessions", "answered", "stall [%]", "95% interval", *_waits(whole)]
    rows = [_row(one) for one in found.groups]
    if found.solved < found.cases:
        sentences.append(
            f"{found.solved} of {found.cases:,} distinct sessions were solved; the others are inferred from them, with "
            f"errors that cover {found.coverage:.0%} of such. All answers are in {out}."
        )
    else:
        sentences.append(f"All {found.cases:,} distinct sessions were solved. All answers are in {out}.")
    sentences.append("Wait: the required startup delay that so many of the sessions do not exceed.")
    missing = found.table["no_answer"][found.table["no_answer"] != ""]
    if len(missing):
        sentences.append(f"{len(missing):,} without an answer; the first: {missing.iloc[0]}.")
    return [sentences[0], Table(rows, header), *sentences[1:]]


def _share(one: Group) -> str:
    low, high = one.stalled_share_interval
    return f"{100 * one.stalled_share:.3g}% ({100 * low:.3g}% to {100 * high:.3g}%)"


def _waits(one: Group) -> list[str]:
    """Return the headers of the quantiles of the required delay."""
    first, *others = [f"{100 * float(u):g}%" for u in one.required_delay_s]
    return [f"wait [s] {first}", *others]


def _row(one: Group) -> list[str]:
    low, high = one.stalled_share_interval
    if not one.answered:
        return [one.group, f"{one.sessions:,}", "0", *[""] * (2 + len(one.required_delay_s))]
    return [
        one.group or "all",
        f"{one.sessions:,}",
        f"{one.answered:,}",
        f"{100 * one.stalled_share:.3g}",
        f"{100 * low:.3g} to {100 * high:.3g}",
        *(f"{value:.3g}" for value in one.required_delay_s.values()),
    ]
