"""What viewers see, by `tcpstream.play` and by packets: players of the simulator beside those of the chains.

Run ``python validation/beside_packets.py`` (some 6 minutes on one core). What is recorded is not computed again;
``--table`` prints the table of the documentation. Three senders send videos of a minute, R = 0.1 s:

- agent: the chain's rules packet by packet (`tcpstream.sim.rounds_agent`), losses in bursts. The same p.
- bursts: the simulator's sender that sees lost retransmissions (rack) without slow start, under the same losses.
- independent: its SACK sender with slow start (RFC 6675), beside reno-sack with losses seen by duplicates.

The chains of the last two have the p at which they have the sender's throughput, that of a run of 20,000 s, and its
timer. Join times are those at the p of the losses: what makes the senders slower than their chains comes later.

The clocks differ. The chain counts packets of a round as there when it begins; the agent does so too. The
simulator's packets reach the client R/2 after they are sent: its players start R/2 later for the same startup delay,
and its join times are given less R/2. What its clients ask for comes a round trip later; the chain looks at the buffer
once a round, which is R/2 on average: its refill level is R/2 less, unless it is the client buffer.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Iterable, Sequence
from pathlib import Path as FilePath
from typing import Any

import numpy as np
from scipy.optimize import brentq

import tcpstream
from tcpstream import Path, PausingPlayer, Video, sim

RESULTS = FilePath(__file__).parent / "results" / "beside_packets.jsonl"

R, DURATION, BEGINNING, LONG, WINDOW = 0.1, 60.0, 10.0, 20_000.0, 30

FREE: tuple[dict[str, Any], ...] = (
    {"start": 1}, {"start": 2}, {"start_buffer": 0.5, "resume_buffer": 2}, {"start_buffer": 1, "resume_buffer": 1},
    {"start_buffer": 2, "resume_buffer": 2}, {"start_buffer": 2, "resume_buffer": 5},
)  # fmt: skip
"""Players that never stop reading: all of them watch the same runs."""

PAUSING: tuple[dict[str, Any], ...] = (
    {"start_buffer": 1, "resume_buffer": 1, "client_buffer": 2, "refill_at": 1, "idle": "restart"},
    {"start_buffer": 1, "resume_buffer": 1, "client_buffer": 2, "refill_at": 1, "idle": "keep"},
    {"start_buffer": 1, "resume_buffer": 1, "client_buffer": 2, "refill_at": 2, "idle": "keep"},
    {"start_buffer": 2, "resume_buffer": 2, "client_buffer": 4, "refill_at": 1, "idle": "restart"},
)

TIMER: dict[str, Any] = {"timer": "rfc6298", "granularity": 0.2, "initial_rto": R + 0.2}
BURSTS: dict[str, Any] = {"sender": "classic", "rtt": R, "rto": R + 0.2, "max_window": WINDOW}
SACK: dict[str, Any] = {
    "sender": "linux", "tcp": "reno-sack", "detection": "duplicates", "rtt": R, "rto": R + 0.2, "max_window": WINDOW,
}  # fmt: skip
SENDERS: dict[str, dict[str, Any]] = {
    "agent": {
        "tcp": None, "loss": 0.02, "chain": BURSTS, "rate": 40.0, "runs": 20_000, "pausing": (), "accuracy": "exact",
    },
    "bursts": {
        "tcp": sim.Tcp("rack", WINDOW, 1, slow_start=False, **TIMER), "loss": sim.RoundLoss(0.02), "chain": BURSTS,
        "rate": 40.0, "runs": 10_000, "pausing": (), "accuracy": "exact",
    },
    "independent": {
        "tcp": sim.Tcp("sack", WINDOW, 10, **TIMER), "loss": sim.Bernoulli(0.02), "chain": SACK, "rate": 60.0,
        "runs": 10_000, "pausing": PAUSING, "accuracy": None,
    },
}  # fmt: skip

NOISE = 1e-9
"""Of a time that is no random number [s]."""

ANSWERS = {
    "stall_probability": "P(any stall)",
    "mean_stalls": "stalls, mean",
    "mean_total_rebuffer": "stalled, mean [s]",
    "mean_join_time": "join time, mean [s]",
}


def delivered(world: dict[str, Any], seconds: float, rng: np.random.Generator, source: Any) -> sim.Delivery:
    """Return what one sender delivers."""
    if world["tcp"] is None:
        return sim.rounds_agent(
            loss=world["loss"], rtt=R, timeout_ratio=1 + 0.2 / R, max_window=WINDOW, duration=seconds, rng=rng
        )
    path = sim.single_path(sim.Link(R / 2, loss=world["loss"]), sim.Link(R / 2), world["tcp"], source)
    return sim.simulate(path, seconds, rng).flows[0]


def matched(world: dict[str, Any]) -> dict[str, float]:
    """Return the p of the chain, and throughputs: of the sender, and of the chain at the sender's p [packets/s]."""
    chain = world["chain"]
    p = lost(world)
    if world["tcp"] is None:
        T = tcpstream.throughput(Path(loss=p, **chain))
        return {"p": p, "T": T, "T_at_same_p": T}
    seen = delivered(world, LONG, np.random.default_rng(1), sim.Backlogged())
    T = seen.throughput
    found = float(brentq(lambda q: tcpstream.throughput(Path(loss=q, **chain)) - T, p / 2, 2 * p, rtol=1e-6))
    return {"p": found, "T": T, "T_at_same_p": tcpstream.throughput(Path(loss=p, **chain))}


def watched(world: dict[str, Any], players: Sequence[dict[str, Any]], seed: int) -> list[dict[str, list[float]]]:
    """Return means and standard errors of what viewers see, for each of some players that watch the same runs."""
    travel = 0.0 if world["tcp"] is None else R / 2
    rate, rng = world["rate"], np.random.default_rng(seed)
    settings = [one | ({"start": one["start"] + travel} if "start" in one else {}) for one in players]
    asked = [sim.Player(**one) for one in settings]
    source = sim.Stored(rate, DURATION, asked[0])
    patience = 8 * DURATION if world["tcp"] is None else 20 * DURATION
    rows: list[list[list[float]]] = [[] for _ in players]
    for one in rng.spawn(world["runs"]):
        flow = delivered(world, patience, one, source)
        for row, player in zip(rows, asked):
            seen = flow.session(player, rate, DURATION)
            number = len(seen.stall_start)
            row.append([float(number > 0), float(number), seen.total_rebuffer, seen.join_time - travel])
    found = []
    for row in rows:
        values = np.array(row)
        errors = values.std(axis=0, ddof=1) / math.sqrt(len(values))
        pairs = zip(values.mean(axis=0).tolist(), errors.tolist())
        found.append({name: [mean, error] for name, (mean, error) in zip(ANSWERS, pairs)})
    return found


def solved(world: dict[str, Any], p: float, settings: dict[str, Any]) -> dict[str, list[float | None]]:
    """Return the answers of the chain, and by how much they may be off."""
    result = played(world, p, settings, DURATION)
    found = {name: getattr(result, name, None) for name in ANSWERS}
    if "start" in settings:
        found["mean_join_time"] = settings["start"]
    else:  # that of the beginning of the video, whatever the rest
        found["mean_join_time"] = played(world, lost(world), settings, BEGINNING).mean_join_time
    return {name: [value, result.errors.get(name, 0.0)] for name, value in found.items()}


def played(world: dict[str, Any], p: float, settings: dict[str, Any], duration: float) -> Any:
    """Return what `play` says of a player."""
    path, video = Path(loss=p, **world["chain"]), Video(packet_rate=world["rate"], duration=duration)
    if "client_buffer" not in settings:
        player = tcpstream.Player(**settings)
        return tcpstream.play(path, video, player, accuracy=world["accuracy"] if "start" in settings else None)
    earlier = R / 2 if settings["refill_at"] < settings["client_buffer"] else 0.0
    return tcpstream.play(path, video, PausingPlayer(**settings | {"refill_at": settings["refill_at"] - earlier}))


def lost(world: dict[str, Any]) -> float:
    """Return the p of the losses."""
    return float(world["loss"] if world["tcp"] is None else world["loss"].p)


def record(name: str, done: list[dict[str, Any]]) -> None:
    """Compute what is not recorded of a sender."""
    world = SENDERS[name]
    settings = [row["settings"] for row in done if row["sender"] == name]
    groups = [FREE, *((one,) for one in world["pausing"])]
    left = [(seed, group) for seed, group in enumerate(groups, 1) if any(one not in settings for one in group)]
    if not left:
        return
    same = matched(world)
    for seed, group in left:
        for one, simulated in zip(group, watched(world, group, seed)):
            if one in settings:
                continue
            row = {"sender": name, "settings": one, "runs": world["runs"], "chain": same, "simulated": simulated}
            row["play"] = solved(world, same["p"], one)
            done.append(row)
            with RESULTS.open("a") as out:
                out.write(json.dumps(row) + "\n")
            print(cells(row), flush=True)


def distance(row: dict[str, Any], name: str) -> float:
    """Return by how many standard errors two answers differ more than the solve may be off."""
    mean, error = row["simulated"][name]
    value, bound = row["play"][name]
    apart = max(abs(mean - value) - bound, 0.0)
    if error == 0:
        return math.inf if apart > NOISE else 0.0
    return float(apart / error)


def words(settings: dict[str, Any]) -> str:
    """Return a player in a few words."""
    if "start" in settings:
        return f"start {settings['start']:g} s"
    text = f"{settings['start_buffer']:g}, {settings['resume_buffer']:g} s"
    if "client_buffer" not in settings:
        return text
    return f"{text}; {settings['client_buffer']:g}, {settings['refill_at']:g} s, {settings['idle']}"


def cells(row: dict[str, Any]) -> list[str]:
    """Return a row of the table."""
    found = [row["sender"], words(row["settings"])]
    for name in ANSWERS:
        mean, error = row["simulated"][name]
        value = row["play"][name][0]
        counted = name != "mean_stalls" or row["settings"].get("resume_buffer")
        if not counted or (name == "mean_join_time" and "start" in row["settings"]):
            found.append("")
        else:
            digits = max(0, 1 - math.floor(math.log10(error))) if error else 4
            found.append(f"{mean:.{digits}f} ± {error:.{digits}f}, {value:.{digits}f}")
    return [*found, f"{distance(row, 'stall_probability'):.1f}"]


def table(rows: Iterable[dict[str, Any]]) -> str:
    """Return the table of the documentation."""
    lines = [
        "| sender | player | " + " | ".join(ANSWERS.values()) + " | z |",
        "|---|---|" + "--:|" * (len(ANSWERS) + 1),
    ]
    return "\n".join([*lines, *("| " + " | ".join(cells(row)) + " |" for row in rows)])


def recorded() -> list[dict[str, Any]]:
    """Return the rows that there are, in the order of senders and settings."""
    rows = [json.loads(line) for line in RESULTS.read_text().splitlines()] if RESULTS.exists() else []
    order = [*FREE, *PAUSING]
    return sorted(rows, key=lambda row: (list(SENDERS).index(row["sender"]), order.index(row["settings"])))


def main() -> None:
    """Compute and record what is missing, or print the table."""
    parser = argparse.ArgumentParser(description="what viewers see, by packets and by the chains")
    parser.add_argument("--table", action="store_true", help="print what is recorded as a table")
    if parser.parse_args().table:
        print(table(recorded()))
        return
    done = recorded()
    for name in SENDERS:
        record(name, done)


if __name__ == "__main__":
    main()
