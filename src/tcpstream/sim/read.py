"""Traces of users: capacity, losses, requests. Errors name the line."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator
from os import PathLike

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, shown
from ..system.text import read_text
from .losses import LossTrace
from .sources import Requests

LATEST = 10**12
"""Of a capacity trace [ms], some 30 years; and the packets of an answer."""


def read_capacity(file: str | PathLike[str]) -> NDArray[np.float64]:
    """Read a capacity trace in Mahimahi's format.

    Parameters
    ----------
    file : path
        A line for each opportunity to send 1500 bytes: a whole number of milliseconds, nondecreasing; the trace starts
        over at the last one.

    Returns
    -------
    (n,) ndarray
        Times [s].

    Raises
    ------
    InputError
        When the file cannot be read, or naming its first line that is wrong.

    Notes
    -----
    Netravali et al., "Mahimahi: accurate record-and-replay for HTTP", USENIX ATC 2015.
    """
    times: list[int] = []
    for number, line in _lines(file):
        try:
            time = int(line)
        except ValueError:
            raise InputError(
                f"{file}, line {number}: a whole number of milliseconds is wanted, got {shown(line)}"
            ) from None
        if time > LATEST:
            raise InputError(f"{file}, line {number}: a time of at most {LATEST} ms is wanted, got {shown(time)} ms")
        if time < 0 or (times and time < times[-1]):
            raise InputError(f"{file}, line {number}: times must not decrease, got {time} ms")
        times.append(time)
    if not times or times[-1] == 0:
        raise InputError(f"{file}: a capacity trace needs a time after 0 ms")
    return np.array(times) / 1000


def read_losses(file: str | PathLike[str]) -> LossTrace:
    """Read a loss trace: a line for each packet, 0 (arrived) or 1 (lost).

    Raises
    ------
    InputError
        When the file cannot be read, or naming its first line that is wrong.
    """
    lost = []
    for number, line in _lines(file):
        if line not in ("0", "1"):
            raise InputError(f"{file}, line {number}: 0 (arrived) or 1 (lost) is wanted, got {shown(line)}")
        lost.append(line == "1")
    if not lost:
        raise InputError(f"{file}: a loss trace needs at least one packet")
    return LossTrace(np.array(lost))


def read_requests(file: str | PathLike[str]) -> Requests:
    """Read requests: a CSV file with columns ``think_s`` and ``packets``.

    Raises
    ------
    InputError
        When the file cannot be read, or naming its first line that is wrong.
    """
    rows = ((number, _row(file, number, line)) for number, line in _lines(file))
    first, header = next(rows, (1, []))
    if header != ["think_s", "packets"]:
        raise InputError(f"{file}, line {first}: the columns think_s,packets are wanted, got {shown(','.join(header))}")
    think, packets = [], []
    for number, row in rows:
        try:
            pause, length = map(float, row)
            if not 0 <= pause < math.inf or not 1 <= length <= LATEST or length != int(length):
                raise ValueError
        except (ValueError, OverflowError):
            raise InputError(
                f"{file}, line {number}: a pause [s] and a whole number of packets are wanted, "
                f"got {shown(','.join(row))}"
            ) from None
        think.append(pause)
        packets.append(int(length))
    if not think:
        raise InputError(f"{file}: at least one request is needed")
    return Requests(np.array(think), np.array(packets))


def _row(file: str | PathLike[str], number: int, line: str) -> list[str]:
    try:
        return next(csv.reader([line]))
    except csv.Error as error:
        raise InputError(f"{file}, line {number}: {error}") from None


def _lines(file: str | PathLike[str]) -> Iterator[tuple[int, str]]:
    """Yield the lines that are not empty, and their numbers."""
    text = read_text(file)
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip():
            yield number, line.strip()
