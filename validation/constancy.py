"""How often the interval of a dispersion ratio holds 1 on a constant path, and how large ratios are on one that varies.

``python validation/constancy.py [FLOWS]`` takes 60 captured flows of each condition by default, in some five CPU
minutes, and records what it finds:

- `drawn`: flows that the chain draws, each in one piece, beside others with the same loss rate (400, in no time);
- `constant`: captures of simulated flows over a constant path (``tests/traces/synthetic.py``), through all that
  ``tcpstream estimate`` does: loss rate, chain and round trip are those that it finds;
- `varying`: the same where the loss rate changes at random as in ``examples/regimes.toml``; and how often the interval
  of the loss rate, as it is measured and as it is widened, holds that of all these flows together.
"""

from __future__ import annotations

import json
import math
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import tcpstream
from tcpstream.answers.constancy import FLOWS as DRAWN
from tcpstream.answers.constancy import Constancy, compared, constancy
from tcpstream.playout import drawn_flows
from tcpstream.tcp import chain_of
from tcpstream.traces import PathEstimate

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "traces"))

from synthetic import VaryingSender, capture, simulate  # type: ignore[import-not-found]  # noqa: E402

FLOWS, SECONDS = 60, 160

OF_THE_CHAIN = 400
"""Flows that are drawn without a capture."""

CHAINS = {"reno-sack": (0.01, 0.1), "reno": (0.02, 0.1), "cubic": (0.005, 0.04)}
CONSTANT: dict[str, dict[str, Any]] = {
    "independent, p = 0.01, R = 200 ms": {"p": 0.01, "rtt": 0.2, "window": 200},
    "independent, p = 0.03, R = 100 ms": {"p": 0.03, "rtt": 0.1, "window": 200},
    "round, p = 0.02, R = 200 ms": {"p": 0.02, "rtt": 0.2, "window": 200, "process": "round"},
}


def told(found: list[Constancy]) -> dict[str, Any]:
    """Return how often intervals hold 1, how large ratios are, and how often paths are said to vary."""
    windows = {}
    for several in zip(*(one.dispersion for one in found)):
        ratios = [one.ratio for one in several if one.ratio is not None]
        if not ratios:
            continue
        holds = sum(ratio.low <= 1 <= ratio.high for ratio in ratios) / len(ratios)
        windows[f"{several[0].window} s"] = {
            "flows": len(ratios),
            "interval_holds_1": round(holds, 3),
            "standard_error": round(math.sqrt(holds * (1 - holds) / len(ratios)), 3),
            "interval_above_1": round(sum(ratio.low > 1 for ratio in ratios) / len(ratios), 3),
            "median_ratio": round(float(np.median([ratio.value for ratio in ratios])), 3),
        }
    drifts = [one.drift for one in found if one.drift is not None]
    return {
        "windows": windows,
        "drift_interval_holds_0": round(sum(one.low <= 0 <= one.high for one in drifts) / len(drifts), 3),
        "said_to_vary": round(sum(one.varied is not None for one in found) / len(found), 3),
    }


def drawn(tcp: str, flows: int) -> dict[str, Any]:
    """Return what is told of flows that the chain draws."""
    p, rtt = CHAINS[tcp]
    chain, rng = chain_of(tcpstream.Path(sender="classic", tcp=tcp, loss=p, rtt=rtt)), np.random.default_rng(2)
    most, drawn_flows.MOST_ROUNDS = drawn_flows.MOST_ROUNDS, 10**9
    whole = drawn_flows.drawn_flows(chain, rtt, SECONDS, flows, rng)
    drawn_flows.MOST_ROUNDS = most
    beside = drawn_flows.drawn_flows(chain, rtt, SECONDS, DRAWN, rng)
    return told([compared(one, beside, np.ones(SECONDS, dtype=np.bool_), rtt) for one in whole.T])


def captured(flows: int, **how: Any) -> dict[str, Any]:
    """Return what is told of captures of simulated flows."""
    found, estimates, dropped, sent = [], [], 0, 0
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(flows):
            run = simulate(seconds=SECONDS, seed=seed, **how)
            dropped, sent = dropped + run.dropped, sent + run.sent
            estimates.append(tcpstream.estimate(capture(Path(folder), run)))
            found.append(constancy(estimates[-1]))
    loss = dropped / sent
    return told(found) | {
        "loss_interval_holds": _holding(loss, estimates, [1.0] * flows),
        "widened_loss_interval_holds": _holding(loss, estimates, [one.widening for one in found]),
        "median_widening": round(float(np.median([one.widening for one in found])), 2),
    }


def _holding(loss: float, estimates: list[PathEstimate], widening: list[float]) -> float:
    """Return in which share of the captures the interval of the loss rate of packets holds one."""
    holds = 0
    for one, wider in zip(estimates, widening):
        best, worst = one.ends(widening=wider, sender="classic", tcp="reno-sack")
        holds += best is not None and best.loss <= loss <= worst.loss
    return round(holds / len(estimates), 3)


def main() -> None:
    """Print and record what was found."""
    flows = int(sys.argv[1]) if len(sys.argv) > 1 else FLOWS
    results: dict[str, Any] = {"seconds": SECONDS, "captured_flows": flows}
    for tcp in CHAINS:
        results[f"drawn: {tcp}"] = drawn(tcp, OF_THE_CHAIN)
    for name, how in CONSTANT.items():
        results[f"constant: {name}"] = shown(captured(flows, **how))
    results["varying: examples/regimes.toml"] = shown(captured(flows, p=0.0, rtt=0.1, window=44, kind=VaryingSender))
    text = json.dumps(results, indent=2)
    print(text)
    if flows == FLOWS:
        (ROOT / "validation" / "results" / "constancy.json").write_text(text + "\n")


def shown(found: dict[str, Any]) -> dict[str, Any]:
    """Return what was found, and tell on stderr how far it is."""
    print(json.dumps(found), file=sys.stderr)
    return found


if __name__ == "__main__":
    main()
