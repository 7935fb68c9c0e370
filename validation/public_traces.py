"""Regimes that are fitted to one half of the sessions of public throughput traces, beside replays of the other half.

``python validation/public_traces.py DIRECTORY`` (about an hour on one core) predicts P(any stall) of each half from
the other one in several ways, replays the sessions in the simulator, and records what is missing. The summary is
printed in the end; without a directory nothing else is. ``--seconds`` stops after a case.

DIRECTORY holds two repositories, of which nothing is in this one:

- ``sabre``: https://github.com/UMass-LIDS/sabre at 09b03bb0f4f90660a2504a6b2fb48d2f06333706 (2-clause BSD licence). Its
  3G logs are those of Riiser et al. (ACM MMSys 2013), its 4G logs those of van der Hooft et al. (IEEE Communications
  Letters 2016): what TCP downloads carried in each second, in and around Oslo and Ghent.
- ``5Gdataset``: https://github.com/uccmisl/5Gdataset at 306d92eba81cb4f1195d8b8eba625666a02a10ec (GNU GPL, version 3),
  with its archive unpacked: Raca et al. (ACM MMSys 2020), downloads, at rest and in a car.

How sessions are cut and divided into halves is in `public_traces_parts.sessions`, how they are replayed in
`public_traces_parts.replay`, and how they are predicted in `public_traces_parts.predictions`. Sessions drawn from a fit
(`public_traces_parts.drawn`) tell what its path leaves out.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from pathlib import Path as FilePath
from typing import Any

from public_traces_parts.drawn import drawn
from public_traces_parts.judged import summary
from public_traces_parts.predictions import GROUPS, groups, interval, record
from public_traces_parts.replay import replayed
from public_traces_parts.sessions import MEAN, SETS, Halves, Session, TraceSet, halves
from tcpstream.system.log import appending, read

RESULTS = FilePath(__file__).parent / "results" / "public_traces.jsonl"


def about(taken: Halves) -> dict[str, Any]:
    """Return what a set consists of."""
    return {
        "traces": taken.traces,
        "mean_bps": taken.packet * MEAN,
        "second_over_first": sum(one.packets.mean() for one in taken.second) / len(taken.second) / MEAN,
        "left_out": taken.left_out,
    }


def run(directory: FilePath, seconds: float) -> None:
    """Record what is missing: replays, then predictions, the quick ones first."""
    known = {(row["set"], row["what"], row["half"], row["part"]) for row in read(RESULTS)}
    begin = time.monotonic()
    taken = {one: halves(one, directory) for one in SETS}
    with appending(RESULTS) as append:
        for case, compute in cases(taken):
            if tuple(case.values()) in known:
                continue
            if time.monotonic() - begin > seconds:
                return
            append(case | compute())


def cases(taken: dict[TraceSet, Halves]) -> Iterator[tuple[dict[str, Any], Callable[[], dict[str, Any]]]]:
    """Yield what identifies a row, and what computes the rest of it."""
    for one, of in taken.items():
        for half, sessions in enumerate((of.first, of.second)):
            case = {"set": one.name, "what": "replay", "half": half, "part": 0}
            yield case, partial(lambda of, sessions: about(of) | replayed(sessions, MEAN), of, sessions)
    for what, half in product(GROUPS, (0, 1)):
        for one, of in taken.items():
            all_of_it = (of.first, of.second)[half]
            for part, (share, sessions) in enumerate(groups(all_of_it, what)):
                case = {"set": one.name, "what": what, "half": half, "part": part}
                yield case, partial(predicted, share, sessions, what, interval(all_of_it, what))
    for one in SETS[1:]:  # what the fit of the first set leaves out hardly counts
        case = {"set": one.name, "what": "drawn", "half": 0, "part": 0}
        yield case, partial(drawn, taken[one].first, interval(taken[one].first, "drawn"))


def predicted(share: float, sessions: list[Session], what: str, step: float) -> dict[str, Any]:
    """Return the weight of a group in a prediction, its path and its answers."""
    return {"weight": share} | record(sessions, what, step)


def main() -> None:
    """Record what is missing, where traces are given, and print the summary."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("directory", type=FilePath, nargs="?")
    parser.add_argument("--seconds", type=float, default=math.inf, help="stop after a case, once so many have passed")
    given = parser.parse_args()
    RESULTS.touch()
    if given.directory:
        run(given.directory, given.seconds)
    print(summary(read(RESULTS)))


if __name__ == "__main__":
    main()
