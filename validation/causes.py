"""Why the model and the simulation differ in the settings of Section 4, in figures.

Run ``python validation/causes.py`` (a minute). It reads the recorded runs, and measures for each setting:

- *drops an event*: packets lost for each first loss. The chain loses the rest of the round, about half a window, and
  repairs it in one round; a drop-tail queue drops some packets, and Reno repairs one a round, or times out;
- *T*: the chain's throughput, at the loss-event rate, over that of the runs;
- *spread*: standard deviation of the throughput over runs, over that of runs of an agent that obeys the chain at
  the same p, R and T_O (`tcpstream.sim.rounds_agent`). Above 1, the path itself changes: web traffic comes and goes;
- *alpha*: the exact probability of no late packet for Section 4.2's rates, by what the model gets as p;
- *drift*: the standard deviation of the loss-event rate over runs, relative, over the agent's.
"""

from __future__ import annotations

import gzip
import json
from pathlib import Path as FilePath
from typing import Any

import numpy as np

from tcpstream import Video, stored
from tcpstream.paper.compare import INPUTS, compare, selected
from tcpstream.paper.settings import SETTINGS, WINDOW, Setting
from tcpstream.paper.study import AHEAD_SECONDS, NO_LATE_DELAY, STORED_SECONDS, VIDEO
from tcpstream.sim import rounds_agent
from tcpstream.system.threads import on_cores

RESULTS = FilePath(__file__).parent / "results"
AGENTS = 400


def causes(setting: Setting, runs: list[dict[str, Any]]) -> dict[str, Any]:
    """Measure one setting; a backlogged flow in the place of a live video."""
    one = compare(setting, runs)
    kind, seconds = ("ahead", AHEAD_SECONDS) if setting.kind == "live" else ("stored", STORED_SECONDS)
    seen = [run for run in runs if run["setting"] == setting.name and run["kind"] == kind]
    if setting.kind == "stored":
        seen = selected(seen)
    p, R, T_O = (float(np.mean([run[name] for run in seen])) for name in ("loss_events", "rtt", "timeout_ratio"))
    agents = on_cores(
        lambda rng: rounds_agent(loss=p, rtt=R, timeout_ratio=T_O, max_window=WINDOW, duration=seconds, rng=rng),
        np.random.default_rng(1).spawn(AGENTS),
    )

    def spread(values: list[float]) -> float:
        return float(np.std(values, ddof=1) / np.mean(values))

    alpha = {
        given: [
            float(stored(one.path(given), Video(packet_rate=mu, duration=VIDEO)).no_late_probability(NO_LATE_DELAY))
            for mu, *_ in one.no_late
        ]
        for given in INPUTS
    }
    return {
        "setting": setting.name,
        "drops_an_event": one.loss / one.loss_events,
        "alpha": alpha if one.no_late else {},
        "chain_over_seen": one.model_throughput["events"] / one.throughput,
        "spread": spread([run["throughput"] for run in seen]) / spread([agent.throughput for agent in agents]),
        "drift": spread([run["loss_events"] for run in seen]) / spread([agent.loss_event_rate for agent in agents]),
    }


def main() -> None:
    """Measure all settings, print and record."""
    with gzip.open(RESULTS / "section_4_runs.jsonl.gz", "rt", encoding="utf-8") as file:
        runs = [json.loads(line) for line in file]
    rows = [causes(setting, runs) for setting in SETTINGS]
    for row in rows:
        print(
            ", ".join(
                f"{name} {format(value, '.2f') if isinstance(value, float) else value}" for name, value in row.items()
            )
        )
    (RESULTS / "causes.json").write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
