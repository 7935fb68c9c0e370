"""What kind of file is this: a capture, or the report of a sender?"""

from __future__ import annotations

from os import PathLike
from pathlib import Path as FilePath

import numpy as np

from ..errors import CaptureError, TcpstreamError
from .containers import open_capture
from .iperf3 import read_iperf3
from .sender_report import SenderReport
from .socket_stats import read_ss

_HEAD = 1 << 16
_LONGEST = 1 << 28
_CAPTURES = {bytes.fromhex(magic) for magic in ("d4c3b2a1", "a1b2c3d4", "4d3cb2a1", "a1b23c4d", "0a0d0d0a")}
"""First bytes of pcap, of either byte order and resolution, and of pcapng."""


def is_report(file: str | PathLike[str]) -> bool:
    """Tell whether a file looks like text of ``ss -tin`` or JSON, rather than a capture.

    False if it is unreadable, or a pipe, of which nothing may be read in advance.
    """
    try:
        path = FilePath(file)
        if not path.is_file():
            return False
        with path.open("rb") as source:
            head = source.read(_HEAD)
    except (OSError, TypeError, ValueError):
        return False
    return head.lstrip()[:1] == b"{" or (b"\0" not in head and (b"cwnd:" in head or _is_text_of_iperf(head)))


def is_capture(file: str | PathLike[str]) -> bool:
    """Tell whether a file begins as a pcap or pcapng file does, plain or compressed; False if it is unreadable."""
    name = f"the capture {file!s}"
    try:
        if not FilePath(file).is_file():
            return False
        with open_capture(file, name) as source:
            return source.read(4) in _CAPTURES
    except (OSError, TypeError, ValueError, TcpstreamError):
        return False


def _is_text_of_iperf(head: bytes) -> bool:
    return b"[ ID] Interval" in head or b"Connecting to host " in head or b"Server listening on " in head


def estimate_report(file: str | PathLike[str]) -> SenderReport:
    """Read the output of ``ss -tin`` or ``iperf3 -J`` at a sender.

    Parameters
    ----------
    file : path-like
        Text of at most 256 MiB: one or many snapshots of ``ss -tin``, or one JSON object of ``iperf3 -J``.

    Returns
    -------
    SenderReport
        Loss rate, round trip time, timer and, where times are known, throughput. There is no loss-event rate.

    Raises
    ------
    CaptureError
        When the file cannot be read, shows no TCP sender, or has numbers that no TCP flow has.
    """
    name = f"the report {file!s}"
    try:
        with FilePath(file).open("rb") as source:
            data = source.read(_LONGEST + 1)
    except OSError as error:
        raise CaptureError(
            f"cannot read {name}: {error.strerror}; output of ss -tin or iperf3 -J is accepted"
        ) from None
    if len(data) > _LONGEST:
        raise CaptureError(f"{name} is longer than 256 MiB: fewer snapshots are accepted")
    if _is_text_of_iperf(data[:_HEAD]):
        raise CaptureError(f"{name} is the text of iperf, without round trip times: run iperf3 with -J")
    text = data.decode("utf-8", errors="replace")
    try:
        with np.errstate(all="raise", under="ignore"):
            found = read_iperf3(text, name) if text.lstrip()[:1] == "{" else read_ss(text, name)
    except (FloatingPointError, OverflowError, ZeroDivisionError):
        raise CaptureError(f"{name} has counters so large or so small that no rate comes of them") from None
    return found
