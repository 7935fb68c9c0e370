"""How often the interval of a startup delay, carried over from a capture, holds the delay of the true path.

``python validation/capture_coverage.py [FLOWS]`` simulates short flows whose loss, round trip and timer are known,
takes a capture of each at the sender, and asks how long a stored video must wait; by default 200 flows of each loss
process, and the result is recorded.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import tcpstream

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "traces"))

from synthetic import capture, simulate  # type: ignore[import-not-found]  # noqa: E402

FLOWS, SECONDS, RTT, LEAST_VARIATION = 200, 20.0, 0.1, 0.2
JITTER = 0.001
"""Mean of what the simulated path adds to the way of each packet [s]."""

VIDEO = tcpstream.Video(packet_rate=20, duration=20)
LOSSES = {"independent": ("reno-sack", 0.03), "round": ("reno", 0.02)}


def covered(process: str, flows: int) -> dict[str, Any]:
    """Return how often the intervals held the truth, and how wide they were."""
    tcp, p = LOSSES[process]
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(flows):
            run = simulate(p, RTT, SECONDS, process=process, seed=seed)
            estimate = tcpstream.estimate(capture(Path(folder), run))
            rtt = sum(run.delays) / len(run.delays) + RTT / 2 + JITTER
            found.append((estimate, rtt))
    rtt = sum(rtt for _, rtt in found) / flows
    truth = tcpstream.Path(sender="classic", loss=p, rtt=rtt, rto=rtt + LEAST_VARIATION, tcp=tcp)
    delay = tcpstream.stored(truth, VIDEO).required_delay()
    proposed = delays = rates = 0
    widths = []
    for estimate, _ in found:
        interval = tcpstream.delay_interval(
            estimate, VIDEO, sender="classic", tcp=tcp, initial_window=None, detection="duplicates"
        )
        loss = estimate.loss if tcp == "reno-sack" else estimate.loss_event_rate
        delays += interval.low <= delay <= interval.high
        rates += loss.low <= p <= loss.high
        proposed += estimate.proposal.tcp == tcp
        widths.append((interval.high - interval.low) / interval.value)
    return {
        "chain": tcp,
        "loss": p,
        "flows": flows,
        "true_delay_s": delay,
        "intervals_of_the_delay_that_hold_it": delays,
        "intervals_of_the_loss_that_hold_it": rates,
        "chain_proposed": proposed,
        "median_width_over_delay": sorted(widths)[flows // 2],
    }


def main() -> None:
    """Print and record what was found."""
    flows = int(sys.argv[1]) if len(sys.argv) > 1 else FLOWS
    results = {process: covered(process, flows) for process in LOSSES}
    text = json.dumps(results, indent=2)
    print(text)
    if flows == FLOWS:
        (ROOT / "validation" / "results" / "capture_coverage.json").write_text(text + "\n")


if __name__ == "__main__":
    main()
