"""Captures of public test suites: what `tcpstream` makes of each, beside tshark.

``python validation/public_captures.py DIRECTORY`` measures every capture below DIRECTORY, whose folders are named after
the source packages that the captures come from, and asks for the startup delay of a video of 200 round trips at two
thirds of the throughput that was measured. Each file has a process of its own and `LIMIT` seconds of computing. Where
tshark is installed, its retransmissions of the same flow are compared; what it says is kept in DIRECTORY/.tshark. Files
that the record already has are skipped; delete it to begin anew. What somebody who read packets and verdict made of
them is in `READ`, by SHA-256.

None of the captures is in this repository. ``--summary`` prints what record and readings say.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import hashlib
import io
import json
import multiprocessing
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkProcess as Process
from pathlib import Path as FilePath
from typing import Any

import dpkt  # noqa: F401  what each process would load
import scipy.special  # noqa: F401

from tcpstream.cli import main as command
from tcpstream.errors import TcpstreamError
from tcpstream.system.log import appending, read
from tcpstream.traces import estimate
from tcpstream.traces.estimate import connections_of
from tcpstream.traces.fates import follow
from tcpstream.traces.flow import read_flow
from tcpstream.traces.transmissions import AGAIN, SEEN

RESULTS = FilePath(__file__).parent / "results"
RECORD = RESULTS / "public_captures.jsonl"
READ = RESULTS / "public_captures_read.json"
LIMIT = 60
"""Seconds of computing until a file counts as hanging."""
WAIT = 600
"""Seconds until it does if it computes nothing."""
AT_ONCE = 2
SHARE = 1.5
"""Measured throughput over the rate of the video."""
ROUNDS, SHORTEST, LONGEST = 200, 0.01, 60.0
"""Length of the video [round trips], and at least and at most [s]."""
NEAR = 2e-6
"""Packets of both programs at times this close [s] are the same."""
CAPTURES = (b"\xa1\xb2\xc3\xd4", b"\xd4\xc3\xb2\xa1", b"\xa1\xb2\x3c\x4d", b"\x4d\x3c\xb2\xa1", b"\x0a\x0d\x0d\x0a")
PACKED = (b"\x1f\x8b", b"\x28\xb5\x2f\xfd")
REPEATED = ("retransmission", "fast_retransmission", "spurious_retransmission")
OTHERWISE = ("out_of_order", "keep_alive", "zero_window_probe")
FIELDS = (
    *("tcp.stream", "tcp.time_relative", "tcp.len", "ip.src", "ipv6.src", "tcp.srcport"),
    *("ip.dst", "ipv6.dst", "tcp.dstport"),
    *(f"tcp.analysis.{name}" for name in (*REPEATED, *OTHERWISE)),
)

Record = dict[str, Any]


def captures(directory: FilePath) -> Iterator[FilePath]:
    """Yield the files that are captures, or packed."""
    for file in sorted(directory.rglob("*")):
        if file.is_file() and ".tshark" not in file.parts:
            with file.open("rb") as chain:
                head = chain.read(4)
            if head in CAPTURES or head.startswith(PACKED):
                yield file


def look(file: FilePath, answer: Connection) -> None:
    """Measure a capture and ask for a verdict, in a process of its own; send what came out."""
    signal.setitimer(signal.ITIMER_PROF, LIMIT)  # ends the process, as the alarm does if it waits for ever
    signal.alarm(WAIT)
    try:
        for record in _look(file):
            answer.send(record | {"seconds": round(time.process_time(), 2)})
    except TcpstreamError as error:
        answer.send({"outcome": str(error).replace(str(file), "FILE"), "seconds": round(time.process_time(), 2)})


def _look(file: FilePath) -> Iterator[Record]:
    """Yield what is measured, and then with it the verdict."""
    found = estimate(file)
    values = found.to_dict()
    record: Record = {
        "outcome": "no loss",
        "flow": found.flow,
        "vantage": found.vantage,
        "packets": found.packets,
        "loss": round(found.loss.value, 6),
        "rtt_s": round(found.rtt.value, 6),
        "throughput_pps": round(found.throughput_pps.value, 3),
        "limitation": values["limitation"] and values["limitation"]["cause"],
        "again": _again(file),
    }
    yield record
    if found.loss_event_rate.value > 0:
        seconds = min(max(ROUNDS * found.rtt.value, SHORTEST), LONGEST)
        yield record | _verdict(file, found.throughput_pps.value / SHARE, seconds)


def _verdict(file: FilePath, rate: float, seconds: float) -> Record:
    """Return what the command says of a video of this rate [packets/s] and length."""
    out, err = io.StringIO(), io.StringIO()
    video = ["--rate", f"{rate:.6g}pps", "--duration", f"{seconds:.6g}s"]
    arguments = ["delay", "--capture", str(file), "--sender", "classic", *video, "--json"]
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = command(arguments)
    lines = err.getvalue().strip().splitlines()
    if not out.getvalue():
        return {"status": status, "outcome": (lines[-1] if lines else "").replace(str(file), "FILE")}
    said = json.loads(out.getvalue())
    record: Record = {"status": status, "modelled_pps": said.get("throughput_pps")}
    if status == 0:
        record["outcome"] = f"wait {said['required_startup_delay_s']:.3g} s"
    else:
        record["outcome"] = said.get("reason") or "no finite delay suffices"
    return record


def _again(file: FilePath) -> list[list[float]]:
    """Return when each data packet passed [s since the first of its connection], and whether it was sent again."""
    flow = read_flow(connections_of(file, "", [])[0], "", [])
    sent = follow(flow, sum(flow.handshake) / 2 if flow.handshake else 0.003).sent
    seen = sent.having(SEEN)
    return [[t, bool(s & AGAIN)] for t, s in zip(sent.time[seen].tolist(), sent.state[seen].tolist())] + [
        [float(flow.mss)]
    ]


def start(file: FilePath) -> tuple[Connection, Process]:
    """Begin to measure a capture in a process of its own."""
    fork = multiprocessing.get_context("fork")
    here, there = fork.Pipe(duplex=False)
    process = fork.Process(target=look, args=(file, there))
    process.start()
    there.close()
    return here, process


def finish(here: Connection, process: Process) -> Record:
    """Return the last that it sent; and how it ended, if not by itself."""
    record: Record = {}
    with contextlib.suppress(EOFError):
        while True:
            record = here.recv()
    process.join()
    if process.exitcode == 0:
        return record
    late = process.exitcode in (-signal.SIGPROF, -signal.SIGALRM)
    outcome = ("still solving" if record else "hangs") if late else "crashes"
    return record | {"outcome": f"{outcome}: exit code {process.exitcode}", "seconds": float(LIMIT)}


def compared(file: FilePath, digest: str, directory: FilePath, record: Record) -> Record:
    """Return the record with retransmissions counted by both programs in place of its packets."""
    packets = record.pop("again", None)
    if packets is None or not shutil.which("tshark"):
        return record
    mss = int(packets.pop()[0])
    theirs = _flow(_tshark(file, digest, directory), record["flow"])
    ours: dict[int, int] = collections.Counter(round(t / NEAR) for t, again in packets if again)
    known = {round(t / NEAR) for t, _ in packets}
    count = {"ours": sum(ours.values()), "tshark": 0}
    only: collections.Counter[str] = collections.Counter()
    for moment, length, names in sorted(theirs, key=lambda row: not set(row[2]) & set(REPEATED)):
        pieces = -(-length // mss)
        near = [round(moment / NEAR) + step for step in (0, -1, 1)]
        here = next((at for at in near if ours.get(at)), None)
        if set(names) & set(REPEATED):
            count["tshark"] += pieces
            if here is None:
                only["tshark alone: " + ("not again" if any(at in known for at in near) else "not counted")] += pieces
            else:
                only["tshark alone: of a larger packet"] += max(pieces - ours[here], 0)
                ours[here] = max(ours[here] - pieces, 0)
        elif here is not None:
            only["ours alone: " + (", ".join(names) or "not marked")] += min(ours[here], pieces)
            ours[here] = max(ours[here] - pieces, 0)
    only["ours alone: not in tshark's flow"] += sum(ours.values())
    alike = abs(count["ours"] - count["tshark"]) <= 0.1 * max(count.values())
    return record | {"again": count | {"alike": alike} | {key: n for key, n in only.items() if n and not alike}}


def _tshark(file: FilePath, digest: str, directory: FilePath) -> str:
    """Return what tshark says of each data packet, from its last run if there was one."""
    kept = directory / ".tshark" / digest
    if not kept.exists():
        kept.parent.mkdir(exist_ok=True)
        fields = [part for field in FIELDS for part in ("-e", field)]
        arguments = ["-n", "-r", str(file), "-o", "tcp.desegment_tcp_streams:FALSE", "-Y", "tcp.len>0"]
        run = subprocess.run(
            ["tshark", *arguments, "-T", "fields", "-E", "occurrence=l", *fields], capture_output=True, check=False
        )
        kept.write_bytes(run.stdout)
    return kept.read_text()


def _flow(text: str, flow: str) -> list[tuple[float, int, list[str]]]:
    """Return time [s], payload [bytes] and marks of each packet of the stream with most payload between these ends."""
    streams: dict[str, list[tuple[float, int, list[str]]]] = collections.defaultdict(list)
    for line in text.splitlines():
        stream, moment, length, v4, v6, port, to4, to6, to, *marks = line.split("\t")
        chain, target = v4 or f"[{v6}]", to4 or f"[{to6}]"
        if f"{chain}:{port} > {target}:{to}" == flow:
            names = [name for name, mark in zip((*REPEATED, *OTHERWISE), marks) if mark]
            streams[stream].append((float(moment), int(length), names))
    return max(streams.values(), key=lambda rows: sum(row[1] for row in rows), default=[])


def run(directory: FilePath) -> None:
    """Measure what the record lacks."""
    done = {one["sha256"] for one in read(RECORD)}
    waiting: dict[Connection, tuple[Process, FilePath, str]] = {}
    files = captures(directory)
    with appending(RECORD) as append:
        while True:
            for file in files:
                digest = hashlib.sha256(file.read_bytes()).hexdigest()
                if digest not in done:
                    done.add(digest)
                    here, process = start(file)
                    waiting[here] = process, file, digest
                if len(waiting) == AT_ONCE:
                    break
            if not waiting:
                return
            for ready in wait(list(waiting)):
                assert isinstance(ready, Connection)
                process, file, digest = waiting.pop(ready)
                found = finish(ready, process)
                chain, *names = file.relative_to(directory).parts
                record = {"source": chain, "file": "/".join(names), "sha256": digest, "bytes": file.stat().st_size}
                record |= compared(file, digest, directory, found)
                append(record)


def summary() -> None:
    """Print what the record says."""
    records = read(RECORD)
    readings = json.loads(READ.read_text()) if READ.exists() else {}
    measured = [one for one in records if "loss" in one]
    lossy = [one for one in measured if "status" in one]
    both = [one for one in measured if "again" in one and (one["again"]["ours"] or one["again"]["tshark"])]
    print(f"{len(records)} captures of {len({one['chain'] for one in records})} sources")
    print(f"longest {max(one['seconds'] for one in records):.1f} s")
    for word in ("hangs", "crashes", "still solving"):
        print(f"{word}: {[one['file'] for one in records if one['outcome'].startswith(word)]}")
    print(f"measured: {len(measured)}, with loss: {len(lossy)}")
    print(f"exit status with loss: {dict(collections.Counter(one['status'] for one in lossy))}")
    print(f"limited by: {dict(collections.Counter(one['limitation'] for one in measured))}")
    print(f"with loss, limited by: {dict(collections.Counter(one['limitation'] for one in lossy))}")
    print(f"with retransmissions: {len(both)}, within 10% of tshark's: {sum(one['again']['alike'] for one in both)}")
    differ = [one for one in both if not one["again"]["alike"]]
    unread = [one["file"] for one in records if one["sha256"] not in readings and (one in lossy or one in differ)]
    print(f"read, with loss: {sum(one['sha256'] in readings for one in lossy)}; left to read: {unread}")
    for title, ones in (("with loss", lossy), ("of those that differ", differ)):
        found = [readings[one["sha256"]] for one in ones if one["sha256"] in readings]
        for key in ("retransmissions", "cause", "loss", "limit"):
            print(f"{title}, {key}: {dict(collections.Counter(one[key] for one in found if key in one))}")
    print(f"without an answer: {sum('loss' not in one for one in records)}")
    errors = [re.sub("[0-9]+", "N", one["outcome"].split("FILE")[-1])[:60] for one in records if "loss" not in one]
    for text, count in collections.Counter(errors).most_common(20):
        print(f"{count:6} {text}")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("directory", type=FilePath, nargs="?")
    parser.add_argument("--summary", action="store_true")
    arguments = parser.parse_args()
    if arguments.directory:
        run(arguments.directory)
    if arguments.summary:
        summary()


if __name__ == "__main__":
    main()
