"""Makes what is not recorded yet: sessions, traces and captures."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from emulator import MSS
from hub import carry
from waits import needed

from tcpstream.system.log import appending, read

from .cases import Case, drawn
from .flows import disturbed, flow, often_disturbed, series

RESULTS = Path(__file__).parents[2] / "results"

SESSIONS = RESULTS / "linux_varying_sessions.jsonl"
TRACES = RESULTS / "linux_varying_traces.jsonl"
CAPTURES = RESULTS / "linux_varying_captures.jsonl"

CASES, CASES_SEED = 12, 2027
"""Of sessions and traces."""

CAPTURED, CAPTURED_SEED, CAPTURED_LOADS = 50, 2029, (1.02, 1.5)
"""Of captures, and the range of their loads."""

VIDEO = 60.0
"""Length of a session's video [s]."""

LOADS = (1.1, 1.25, 1.5, 2.0)
"""The bottleneck's mean rate over that of a session's video, in place of the case's own."""

LONGEST = 90.0
"""A session ends then [s]; a viewer of what has not arrived needed to wait for more than 30 s."""

NUMBER, AT_ONCE = 200, 8
"""Sessions of each case, and how many of them at the same time."""

STAYS = 50
"""Length of a trace [mean stays]."""

TEN_MINUTES = 600.0

SLACK = 60.0
"""A captured flow goes on for so long after twenty minutes [s]: most of what came too late has arrived then."""


def cases() -> list[Case]:
    """Return the paths of sessions and traces."""
    return drawn(CASES, CASES_SEED)


def captured_cases() -> list[Case]:
    """Return the paths of the captures."""
    return drawn(CAPTURED, CAPTURED_SEED, CAPTURED_LOADS)


def make_sessions(report: Callable[[str], None]) -> None:
    """Make all sessions, some of each case at a time."""
    done = {line["batch"] for line in read(SESSIONS)}
    with appending(SESSIONS) as append:
        for batch in sorted(set(range(NUMBER // AT_ONCE)) - done):
            append({"batch": batch, "cases": _batch(batch)})
            report(f"{(batch + 1) * AT_ONCE} of {NUMBER} sessions of {CASES} paths")


def _batch(batch: int) -> list[dict[str, Any]]:
    """Return the delays that each session needed, for each load; and whether it was disturbed."""
    sessions = range(batch * AT_ONCE, (batch + 1) * AT_ONCE)
    keys = [(number, session) for session in sessions for number in range(CASES)]
    paths = cases()
    flows = [
        flow(
            paths[number], LONGEST, (CASES_SEED, number, session),
            begin=0.02 * place, enough=VIDEO * paths[number].rate / min(LOADS) * MSS + 2 * MSS,
        )
        for place, (number, session) in enumerate(keys)
    ]  # fmt: skip
    carry(flows)
    return [
        {
            "case": number,
            "needed": [needed(one, 0.0, paths[number].rate / load, VIDEO) for load in LOADS],
            "disturbed": disturbed(one, paths[number].rtt),
        }
        for (number, _), one in zip(keys, flows, strict=True)
    ]


def make_traces() -> None:
    """Make a trace of each case, and record its throughput by the second."""
    if read(TRACES):
        return
    paths = cases()
    lengths = [round(STAYS * sum(case.mean_stay) / len(case.mean_stay)) for case in paths]
    flows = [
        flow(case, length + 1.0, (CASES_SEED, number))
        for number, (case, length) in enumerate(zip(paths, lengths, strict=True))
    ]
    carry(flows)
    with appending(TRACES) as append:
        for number, one in enumerate(flows):
            append(
                {
                    "case": number,
                    "mbps": [round(rate / 1e6, 6) for rate in series(one, 1.0, lengths[number])],
                    "disturbed": often_disturbed(one, paths[number].rtt),
                }
            )


def make_captures(folder: Path) -> None:
    """Make all captures in a folder, and record what the ten minutes after each needed."""
    if read(CAPTURES):
        return
    paths = captured_cases()
    flows = [
        flow(
            case, 2 * TEN_MINUTES + SLACK, (CAPTURED_SEED, number),
            begin=0.02 * number, capture=folder / f"{number}.pcap", captured=TEN_MINUTES,
        )
        for number, case in enumerate(paths)
    ]  # fmt: skip
    carry(flows)
    with appending(CAPTURES) as append:
        for number, (case, one) in enumerate(zip(paths, flows, strict=True)):
            append(
                {
                    "case": number,
                    "needed": needed(one, TEN_MINUTES, case.rate / case.load, TEN_MINUTES),
                    "disturbed": often_disturbed(one, case.rtt),
                }
            )
