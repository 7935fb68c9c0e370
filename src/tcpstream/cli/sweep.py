"""``tcpstream sweep``: one question for many paths and videos."""

from __future__ import annotations

import os
import sys
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any

import click

from ..errors import InputError, unwritable
from . import options as opt
from .blocks import Table
from .interrupt import keeps
from .report import Report
from .sections import Sectioned

if TYPE_CHECKING:
    from pandas import DataFrame

SHOWN = 20
"""Rows of a table for people."""


@click.command(cls=Sectioned)
@click.argument("file")
@click.option("--store", metavar="FOLDER", help="Where answers are kept as they come.  [default: FILE's name + .sweep]")
@click.option("--out", metavar="FILE", help="Write the whole table as .csv, .parquet or .nc (NetCDF).")
@opt.json_option
def sweep(as_json: bool, file: str, store: str | None, out: str | None) -> Report:
    """One question for many paths and videos, from a TOML file.

    \b
    kind = "stored"            # or "live"
    [grid]                     # all combinations; or [[points]], one by one
    loss = [0.004, 0.02]
    # or { from = 1e-3, to = 0.04, number = 5, scale = "log" }
    rtt = ["50ms", "100ms"]    # numbers are SI units; text may carry others
    timeout_ratio = 3
    T_over_mu = [1.6, 2]       # or packet_rate or bitrate
    duration = "80s"
    delay = [1, 2, 4]          # or target (late fraction) or no_late: asks for it

    An interrupted sweep goes on when it is called again.
    """
    from ..answers.answer import SCHEMA
    from ..explore import columns
    from ..explore import sweep as solve
    from .sweep_file import read_sweep

    write = None if out is None else _writer(out)
    points, kind, alpha = read_sweep(file)
    if out is not None and FilePath(out).suffix == ".nc" and not points.attrs.get("axes"):
        raise InputError(f"{out} is for a grid with an axis of several values: write .csv or .parquet")
    folder = store or f"{FilePath(file).stem}.sweep"
    keeps(folder)
    table = solve(points, kind, alpha=alpha, store=folder, progress=sys.stderr.isatty())
    if write is not None:
        try:
            write(table, out)
        except OSError as error:
            raise unwritable(f"write {out}", error) from None
    named = table.rename(columns=columns.with_unit)
    failed = int((table["error"] != "").sum())
    data: dict[str, Any] = {
        "schema": SCHEMA,
        "version": table.attrs["provenance"]["tcpstream"],
        "model": kind,
        "parameters": {"file": file, "points": len(table), "failed": failed},
        "columns": {name: named[name].tolist() for name in named},
    }
    if 0 < failed == len(table):
        reason = f"no point has an answer; the first: {table['error'].iloc[0]}"
        return Report(data, _blocks(table, folder, out, failed), as_json, status=1, reason=reason)
    return Report(data, _blocks(table, folder, out, failed), as_json)


def _writer(out: str) -> Any:
    """Return what writes a table to a file of that name, or raise `InputError` before anything is solved."""
    from ..explore import columns, to_xarray

    def csv(table: DataFrame, file: str) -> None:
        table.rename(columns=columns.with_unit).to_csv(file, index=False)

    def parquet(table: DataFrame, file: str) -> None:
        table.to_parquet(file)

    def netcdf(table: DataFrame, file: str) -> None:
        to_xarray(table).to_netcdf(file)

    writers = {".csv": csv, ".parquet": parquet, ".nc": netcdf}
    if FilePath(out).suffix not in writers:
        raise InputError(f"a table is written as {', '.join(writers)}, got {out}")
    if not os.path.isdir(FilePath(out).parent):  # noqa: PTH112
        raise InputError(f"cannot write {out}: no such folder")
    return writers[FilePath(out).suffix]


def _blocks(table: DataFrame, folder: str, out: str | None, failed: int) -> list[str | Table]:
    from ..explore import columns

    shown = [name for name in table.columns if name not in ("error_bound", "quantum", "quantum_error", "lattice_error")]
    if not failed:
        shown.remove("error")
    rows = [[_cell(value) for value in row] for row in table[shown].head(SHOWN).itertuples(index=False)]
    units = [columns.UNITS.get(name, "1") for name in shown]
    header = [name if unit == "1" else f"{name} [{unit}]" for name, unit in zip(shown, units)]
    text = f"{len(table)} points, {failed} without an answer, kept in {folder}"
    if len(table) > SHOWN:
        text += f"; the first {SHOWN} are shown"
    if out is not None:
        text += f"; all are in {out}"
    return [Table(rows, header), text]


def _cell(value: Any) -> str:
    if isinstance(value, str):
        return value
    return "" if value is None or value != value else f"{value:.6g}"
