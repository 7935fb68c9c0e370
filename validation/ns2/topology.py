"""The ten settings of Tables II and IV: this simulator beside ns-2 on the same network, and ns-2 beside the paper.

Run ``python validation/ns2/topology.py`` (about 10 minutes on two cores; interrupted, it goes on where it was), or with
``--recorded`` to print what was found before. With the same request table both simulate the same network: file
transfers, web connections, and the video, once backlogged and, for live settings, once live at T / 1.6 as well. With
the web model of ns2-examples ns-2 alone simulates what the paper did.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, as_completed
from typing import Any

import numpy as np
from network import HTTP, SETTINGS, THINK, Seen, drawn, here, there
from witness import Record, columns, mean_and_margin, require_ns, rounded

from tcpstream.sim import Steady

SEEDS = 6
BROWSER_SEEDS = 3
SECONDS = 600.0
STORED_LOAD, LIVE_LOAD = 1.2, 1.6
"""T / mu of stored and live video."""

DELAYS = [1, 2, 4, 6, 8, 10]
"""Startup delays [s]."""

CORES = 2


def found(runs: list[Seen]) -> dict[str, Any]:
    """Return means over seeds, and halves of their 95% intervals, of what the video and the transfers saw."""
    rows = [(one.video.loss_rate, one.video.rtt, one.video.timeout_ratio, one.video.throughput) for one in runs]
    mean, margin = mean_and_margin(rows)
    transfers, _ = mean_and_margin([np.mean(one.transfers[1:]) for one in runs])
    return {"video": rounded(mean, 4), "margin": rounded(margin, 2), "transfers": rounded(transfers, 4),
            "runs": [rounded(one.transfers, 4) for one in runs]}  # fmt: skip


def late(runs: list[Seen], rate: float | None = None) -> dict[str, list[float]]:
    """Return late fractions, and halves of their 95% intervals."""
    mean, margin = mean_and_margin([one.video.late_fraction(DELAYS, packet_rate=rate) for one in runs])
    return {"f": rounded(mean, 3), "margin": rounded(margin, 2)}


def same_network(name: str) -> dict[str, Any]:
    """Run both simulators on the same networks."""
    setting = SETTINGS[name]
    seeds = range(1, SEEDS + 1)
    runs = {"ns2": [there(drawn(setting, seed, web=True), SECONDS, seed) for seed in seeds],
            "sim": [here(drawn(setting, seed, web=True), SECONDS, seed) for seed in seeds]}  # fmt: skip
    T = float(np.mean([one.video.throughput for one in runs["ns2"]]))
    result: dict[str, Any] = {key: found(ones) for key, ones in runs.items()}
    if name.startswith("stored"):
        rate = T / STORED_LOAD
        curves = {key: late(ones, rate) for key, ones in runs.items()}
    else:
        rate = T / LIVE_LOAD
        scenarios = [drawn(setting, seed, web=True, video=Steady(rate)) for seed in seeds]
        curves = {"ns2": late([there(one, SECONDS, seed) for one, seed in zip(scenarios, seeds)]),
                  "sim": late([here(one, SECONDS, seed) for one, seed in zip(scenarios, seeds)])}  # fmt: skip
    return result | {"rate": rounded(rate), "late": curves}


def browsers(name: str) -> dict[str, Any]:
    """Run ns-2 with its own web model."""
    setting = SETTINGS[name]
    seeds = range(1, BROWSER_SEEDS + 1)
    runs = [there(drawn(setting, seed, web=False), SECONDS, seed, setting.web) for seed in seeds]
    return {"ns2": found(runs)}


def verdict(case: dict[str, Any]) -> tuple[int, int]:
    """Return how many late fractions of at least 1e-3 there are, and how many lie in ns-2's interval."""
    f, margin, ours = (np.array(case["late"][name][key]) for name, key in
                       (("ns2", "f"), ("ns2", "margin"), ("sim", "f")))  # fmt: skip
    seen = f >= 1e-3
    return int(seen.sum()), int((np.abs(ours - f)[seen] <= margin[seen]).sum())


def spread(case: dict[str, Any]) -> str:
    """Return mean and deviation of the logarithm of every transfer's throughput here over that in ns-2."""
    ratio = np.log(np.array(case["sim"]["runs"]) / np.array(case["ns2"]["runs"]))[:, 1:]
    return f"{ratio.mean():+.3f} ({ratio.std():.3f})"


def table(cases: dict[str, dict[str, Any]]) -> str:
    """Return both tables."""
    same: list[list[object]] = [["same network", "", "p", "R ms", "T_O", "T", "+-", "transfers", "ln ratio",
                                 *(f"f({tau} s)" for tau in DELAYS), "inside"]]  # fmt: skip
    own: list[list[object]] = [["ns-2's web model", "", "p", "R ms", "T_O", "T", "+-", "transfers"]]
    for key, case in cases.items():
        name = key.partition(", ")[0]
        for who in ("ns2", "sim"):
            if who not in case:
                continue
            p, R, T_O, T = case[who]["video"]
            cells = [f"{p:.4f}", f"{1e3 * R:.0f}", f"{T_O:.2f}", f"{T:.1f}", case[who]["margin"][3],
                     f"{case[who]['transfers']:.1f}"]  # fmt: skip
            if "late" in case:
                last = ["", ""] if who == "ns2" else [spread(case), "{1}/{0}".format(*verdict(case))]
                same.append([name if who == "ns2" else "", who, *cells, last[0], *case["late"][who]["f"], last[1]])
            else:
                paper = SETTINGS[name]
                own.append([name, who, *cells])
                R, T_O = f"{1e3 * paper.rtt:.0f}", f"{paper.timeout_ratio:.0f}"
                own.append(["", "paper", paper.loss, R, T_O, paper.throughput, "", ""])
    return columns(same) + "\n\n" + columns(own)


def main() -> None:
    """Compare, record and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--recorded", action="store_true", help="print what was found before")
    options = parser.parse_args()
    record = Record(
        "ns2_topology.json",
        {"seeds": SEEDS, "browser_seeds": BROWSER_SEEDS, "seconds": SECONDS, "think_s": THINK, "delays_s": DELAYS,
         "stored_load": STORED_LOAD, "live_load": LIVE_LOAD},
    )  # fmt: skip
    if not options.recorded:
        require_ns()
        work: dict[str, tuple[Callable[[str], dict[str, Any]], str]]
        work = {f"{name}, same network": (same_network, name) for name in SETTINGS}
        if HTTP.exists():
            work |= {f"{name}, browsers": (browsers, name) for name in SETTINGS}
        else:
            print(f"{HTTP} is missing: apt-get install ns2-examples")
        missing = {key: job for key, job in work.items() if key not in record.cases}
        begin = time.perf_counter()
        with ProcessPoolExecutor(CORES) as pool:
            futures = {pool.submit(job, name): key for key, (job, name) in missing.items()}
            for number, future in enumerate(as_completed(futures), 1):
                record.add(futures[future], future.result())
                print(f"{time.perf_counter() - begin:6.0f} s  {number}/{len(missing)}  {futures[future]}", flush=True)
    print(table(record.cases))


if __name__ == "__main__":
    main()
