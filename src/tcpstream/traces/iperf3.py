"""JSON of ``iperf3 -J``, as the sending end writes it."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from ..errors import CaptureError
from .intervals import Measured, batch_means, dispersion
from .sender_report import SenderReport, counter, ratio_of, retransmitted, smoothed
from .timing import LEAST_VARIATION

_COUNTERS = {"seconds": "s", "bytes": "bytes", "retransmits": "packets", "rtt": "us", "rttvar": "us"}


def read_iperf3(text: str, name: str) -> SenderReport:
    """Return what the intervals of ``iperf3 -J`` show of the stream that sent most.

    Parameters
    ----------
    text : str
        The JSON object that ``iperf3 -c HOST -J`` prints at the end that sent, over TCP.
    name : str
        How messages name it.

    Raises
    ------
    CaptureError
        When it is no such JSON, reports an error of iperf3, is of UDP, or comes from the receiving end.
    """
    foreign = CaptureError(f"{name} is no output of iperf3 -J: the JSON of a finished test is accepted")
    try:
        data = json.loads(text)
        problem = data.get("error")
    except (ValueError, AttributeError, RecursionError):
        raise foreign from None
    if problem:
        raise CaptureError(f"{name} holds an error of iperf3: {' '.join(str(problem).split())}")
    try:
        protocol = data["start"]["test_start"]["protocol"]
        mss = (
            counter(f"tcp_mss_default [bytes] of {name}", data["start"]["tcp_mss_default"]) if protocol == "TCP" else 0
        )
        ends = {c["socket"]: "{local_host}:{local_port} > {remote_host}:{remote_port}".format(**c) for c in _ends(data)}
        streams = _streams(data, name)
    except CaptureError:
        raise
    except (ValueError, LookupError, TypeError, AttributeError):
        raise foreign from None
    if protocol != "TCP":
        raise CaptureError(f"{name} is a test of {protocol!s:.40}: TCP is accepted, without -u")
    sums = {socket: rows[:, :3].sum(axis=0) for socket, rows in streams.items()}
    if not sums or max(total[1] for total in sums.values()) <= 0 or mss < 1:
        raise CaptureError(
            f"{name} has no interval of a sender, with bytes, retransmits, rtt and rttvar: run iperf3 -J where "
            "data are sent from, or with -R take the server's own JSON"
        )
    order = sorted(streams, key=lambda socket: -sums[socket][1])
    names = [ends.get(socket, f"stream {socket}") for socket in order]
    return _report(streams[order[0]], mss, names, _control(data), name)


def _control(data: Any) -> str | None:
    """Return the congestion control of the sender."""
    end = data.get("end")
    control = end.get("sender_tcp_congestion") if isinstance(end, dict) else None
    return control if isinstance(control, str) else None


def _ends(data: Any) -> list[Any]:
    return list(data["start"]["connected"])


def _streams(data: Any, name: str) -> dict[Any, Any]:
    """Return the counters of each stream, one row an interval; what the sender did not count is left out."""
    found: dict[Any, list[list[float]]] = {}
    for interval in data["intervals"]:
        for stream in interval["streams"]:
            if not stream.get("omitted") and stream.get("sender", True) and all(key in stream for key in _COUNTERS):
                row = [counter(f"{key} [{unit}] of {name}", stream[key]) for key, unit in _COUNTERS.items()]
                found.setdefault(stream["socket"], []).append(row)
    return {socket: np.array(rows) for socket, rows in found.items()}


def _report(rows: Any, mss: float, names: list[str], control: str | None, name: str) -> SenderReport:
    seconds, size, lost, rtt, rttvar = rows.T
    used = (seconds > 0) & (rtt > 0)
    if not used.any():
        raise CaptureError(f"{name} shows no round trip time: intervals with rtt above 0 us are accepted")
    sent = size / mss + lost
    what = f"retransmissions over {sent.sum():.0f} packets, the bytes written over the MSS and the retransmissions"
    loss = retransmitted(float(lost.sum()), float(sent.sum()), dispersion(lost, sent), what)
    smooth, variation = rtt[used] / 1e6, rttvar[used] / 1e6
    deviation = float(variation[-1])
    mean = smoothed(smooth, deviation, 0.0, "smoothed round trip times, one an interval")
    timers = smooth + np.maximum(LEAST_VARIATION, 4 * variation)
    rto = smoothed(timers, deviation, mean.value, "rtt + max(0.2 s, 4 rttvar), computed, not seen, one an interval")
    return SenderReport(
        source="iperf3",
        flow=names[0],
        loss=loss,
        rtt=mean,
        rto=rto,
        timeout_ratio=ratio_of(rto, mean),
        throughput_pps=_throughput(seconds[used], size[used] / mss),
        packets=round(float(sent.sum())),
        packet_payload=int(mss),
        samples=len(rows),
        duration_s=float(seconds.sum()),
        others=tuple(names[1:]),
        control=control,
    )


def _throughput(seconds: Any, packets: Any) -> Measured | None:
    if len(seconds) < 2:  # one interval says nothing of how much it varies
        return None
    value = float(packets.sum() / seconds.sum())
    _, low, high = batch_means(packets / seconds)
    how = (
        f"bytes written over MSS and time, in {len(seconds)} intervals; what fills the send buffer counts; batch means"
    )
    return Measured(value, max(min(low, value), 0.0), max(high, value), how)
