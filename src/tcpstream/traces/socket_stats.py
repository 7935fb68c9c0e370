"""Snapshots of ``ss -tin``: the Linux kernel's own counters of a TCP sender."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime

import numpy as np

from ..errors import CaptureError
from .intervals import Measured, batch_means, dispersion
from .sender_report import SenderReport, counter, ratio_of, retransmitted, smoothed

_SOCKET = re.compile(r"(?:[A-Z][A-Z0-9-]+\s+)?\d+\s+\d+\s+(\S+:\S+)\s+(\S+:\S+)(.*)")
_FIELD = re.compile(r"(\w+):(\S+)")
_NEEDED = ("rtt", "rto", "mss", "data_segs_out", "bytes_acked")
_FLAGS = {"ts", "sack", "ecn", "ecnseen", "fastopen"}
_NUMBER = re.compile(r"\d{1,30}(\.\d{1,30})?")


@dataclass(frozen=True)
class _Snapshot:
    """Counters of one socket at one moment; times in seconds."""

    time: float | None
    rtt: float
    rttvar: float
    least: float
    rto: float | None
    mss: float
    sent: float
    again: float
    needless: float
    acked: float
    control: str | None


def read_ss(text: str, name: str) -> SenderReport:
    """Return what snapshots of ``ss -tin`` show of the socket that had most bytes acknowledged.

    Parameters
    ----------
    text : str
        Output of ``ss -tin`` or ``ss -tiOn``, once or many times. A line before each with the time, in seconds since
        the epoch (``date +%s.%N``) or as ISO 8601 (``date -Is``), makes the throughput known.
    name : str
        How messages name it.

    Raises
    ------
    CaptureError
        When no socket in it has sent data, or a number is no number.
    """
    sockets: dict[str, list[_Snapshot]] = {}
    for flow, time, info in _sockets(text):
        fields = dict(_FIELD.findall(info))
        if all(key in fields for key in _NEEDED):
            sockets.setdefault(flow, []).append(_snapshot(fields, time, info, f"of {flow} in {name}"))
    sending = {flow: rows for flow, rows in sockets.items() if rows[-1].sent > 0 and rows[-1].mss >= 1}
    if not sending:
        raise CaptureError(f"{name} shows no TCP socket that sent data: the output of ss -tin at a sender is accepted")
    names = sorted(sending, key=lambda flow: -sending[flow][-1].acked)
    return _report(names[0], sending[names[0]], tuple(names[1:]), name)


def _sockets(text: str) -> list[tuple[str, float | None, str]]:
    """Return flow, time and info of each socket; the info follows on its line, or on the next."""
    found: list[tuple[str, float | None, str]] = []
    time: float | None = None
    for line in text.splitlines():
        stripped = line.strip()
        if match := _SOCKET.match(line):
            found.append((f"{match[1]} > {match[2]}", time, match[3]))
        elif line[:1].isspace() and found:
            flow, at, info = found[-1]
            found[-1] = (flow, at, f"{info} {stripped}")
        elif (moment := _moment(stripped)) is not None:
            time = moment
    return found


def _moment(text: str) -> float | None:
    if _NUMBER.fullmatch(text):
        return float(text)
    try:
        return datetime.fromisoformat(text.replace(",", ".")).timestamp()
    except (ValueError, OverflowError, OSError):
        return None


def _snapshot(fields: dict[str, str], time: float | None, info: str, where: str) -> _Snapshot:
    def count(key: str, text: str) -> float:
        number = float(text) if _NUMBER.fullmatch(text) else None
        return counter(f"{key} {where}", text if number is None else number)

    rtt, _, rttvar = fields["rtt"].partition("/")
    backed_off = re.search(r"\bbackoff:[1-9]", info)
    return _Snapshot(
        time=time,
        rtt=count("rtt [ms]", rtt) / 1e3,
        rttvar=count("rttvar [ms]", rttvar or "0") / 1e3,
        least=count("minrtt [ms]", fields.get("minrtt", "0")) / 1e3,
        rto=None if backed_off else count("rto [ms]", fields["rto"]) / 1e3,
        mss=count("mss [bytes]", fields["mss"]),
        sent=count("data_segs_out", fields["data_segs_out"]),
        again=count("retrans", fields.get("retrans", "0/0").partition("/")[2] or "0"),
        needless=count("dsack_dups", fields.get("dsack_dups", "0")),
        acked=count("bytes_acked", fields["bytes_acked"]),
        control=_control(info),
    )


def _control(info: str) -> str | None:
    """Return the congestion control: the first word that is no flag, before the first value."""
    words = [word for word in info.partition(":")[0].split()[:-1] if word not in _FLAGS]
    return words[0] if words else None


def _report(flow: str, rows: list[_Snapshot], others: tuple[str, ...], name: str) -> SenderReport:
    counts = np.array([(row.sent, row.again, row.acked) for row in rows])
    timers = np.array([row.rto for row in rows if row.rto is not None])
    steps = np.diff(counts, axis=0, prepend=0.0)
    lost, sent = float(counts[-1, 1]) - rows[-1].needless, float(counts[-1, 0])
    if (steps < 0).any() or not 0 <= lost <= sent:
        raise CaptureError(
            f"{name} has counters of {flow} that decrease or contradict each other: one flow is accepted"
        )
    if not len(timers) or min(row.rtt for row in rows) <= 0:
        raise CaptureError(f"{name} shows no round trip time, or no timer that is not backed off, of {flow}")
    what = f"retransmissions over {sent:.0f} data packets sent, duplicates that the receiver reported left out"
    loss = retransmitted(lost, sent, dispersion(steps[:, 1], steps[:, 0]), what)
    deviation, least = rows[-1].rttvar, rows[-1].least
    rtt = smoothed(np.array([row.rtt for row in rows]), deviation, least, "smoothed round trip times, one a snapshot")
    rto = smoothed(timers, deviation, rtt.value, "retransmission timers, not backed off, one a snapshot")
    if rto.value < rtt.value:
        raise CaptureError(f"{name} has timers of {flow} below its round trip times: the output of ss -tin is accepted")
    return SenderReport(
        source="ss",
        flow=flow,
        loss=loss,
        rtt=rtt,
        rto=rto,
        timeout_ratio=ratio_of(rto, rtt),
        throughput_pps=_throughput(rows),
        packets=int(sent),
        packet_payload=int(rows[-1].mss),
        samples=len(rows),
        duration_s=_duration(rows),
        others=others,
        control=rows[-1].control,
    )


def _duration(rows: list[_Snapshot]) -> float | None:
    times = [row.time for row in rows if row.time is not None]
    return times[-1] - times[0] if len(times) == len(rows) > 1 and times[-1] > times[0] else None


def _throughput(rows: list[_Snapshot]) -> Measured | None:
    """Return the packets acknowledged per second between snapshots; None without the times of at least three."""
    if _duration(rows) is None:
        return None
    steps = np.diff(np.array([(row.time, row.acked / rows[-1].mss) for row in rows], dtype=float), axis=0)
    steps = steps[steps[:, 0] > 0]
    if len(steps) < 2:  # one interval says nothing of how much it varies
        return None
    rates = steps[:, 1] / steps[:, 0]
    value = float(steps[:, 1].sum() / steps[:, 0].sum())
    mean, low, high = batch_means(rates)
    how = f"bytes acknowledged over MSS and time, in {len(rates)} intervals; batch means"
    return Measured(value, max(min(low, value), 0.0), max(high, value, mean), how)
