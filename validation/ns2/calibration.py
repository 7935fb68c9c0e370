"""One TCP flow, independent losses, a fixed round trip: this simulator beside ns-2.

Run ``python validation/ns2/calibration.py`` (about 7 minutes on two cores; interrupted, it goes on where it was), or
with ``--recorded`` to print what was found before. Both simulate the same flows over several seeds: first backlogged
ones, for the throughput T, then live ones at T / 1.2, T / 1.6 and T / 2, for the late fractions.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor, as_completed
from typing import Any, NamedTuple

import numpy as np
from witness import InOrder, Record, columns, lines, mean_and_margin, require_ns, rounded

from tcpstream.sim import Bernoulli, Delivery, Link, Steady, Tcp, simulate, single_path

PATHS = ((0.02, 0.1), (0.004, 0.2), (0.04, 0.05))
"""Loss probability, round trip [s]."""

VARIANTS = {"reno": "Reno", "newreno": "Newreno", "sack": "Sack1"}
"""Names here and there."""

RATIOS = (1.2, 1.6, 2.0)
"""T / mu of live flows."""

DELAYS = list(range(1, 11))
"""Startup delays [s]."""

SEEDS = 8
BACKLOGGED, LIVE = 20_000.0, 4_000.0
"""Length of each run [s]."""

CORES = 2


class Case(NamedTuple):
    """A flow in both simulators; `rate` is that of a live source [packets/s], 0 for a backlogged one."""

    loss: float
    rtt: float
    variant: str
    ack_every: int
    ratio: float = 0.0
    rate: float = 0.0

    @property
    def key(self) -> str:
        """Name in the record."""
        chain = f"T/{self.ratio}" if self.ratio else "backlogged"
        return f"p={self.loss} R={self.rtt} {self.variant} ack_every={self.ack_every} {chain}"


def there(case: Case, seconds: float, seed: int) -> Delivery:
    """Run ns-2."""
    arrivals = InOrder()
    counts: list[float] = []
    live = int(case.rate > 0)
    variant = VARIANTS[case.variant]
    for line in lines(
        "calibrate.tcl", case.loss, case.rtt, variant, case.ack_every, seconds, seed, case.rate, live
    ):  # fmt: skip
        if line.startswith("r"):
            fields = line.split()
            arrivals.arrived(int(fields[10]), float(fields[1]))
        elif line.startswith("end"):
            counts = [float(one) for one in line.split()[1:]]
    sent, again, timeouts, acked, _ = counts
    return Delivery(
        times=np.array(arrivals.times) if live else np.zeros(int(acked)), duration=seconds,
        interval=1 / case.rate if live else 0.0, loss_rate=again / sent, loss_event_rate=np.nan, rtt=np.nan, rto=np.nan,
        sent=int(sent), timeouts=int(timeouts), fast_retransmits=0,
    )  # fmt: skip


def here(case: Case, seconds: float, seed: int) -> Delivery:
    """Run this simulator."""
    chain = Steady(case.rate) if case.rate else None
    tcp = Tcp(variant=case.variant, ack_every=case.ack_every)
    way = case.rtt / 2
    scenario = single_path(Link(way, loss=Bernoulli(case.loss)), Link(way), tcp, chain)
    return simulate(scenario, seconds, np.random.default_rng(seed)).flows[0]


def compare(case: Case) -> dict[str, Any]:
    """Run both with all seeds; return means, and halves of their 95% intervals."""
    seconds = LIVE if case.rate else BACKLOGGED
    found: dict[str, Any] = {}
    for name, run in (("ns2", there), ("sim", here)):
        deliveries = [run(case, seconds, seed) for seed in range(1, SEEDS + 1)]
        if case.rate:
            f, margin = mean_and_margin([one.late_fraction(DELAYS) for one in deliveries])
            found[name] = {"f": rounded(f, 4), "margin": rounded(margin, 2)}
        else:
            T, margin = mean_and_margin([one.throughput for one in deliveries])
            timeouts = np.mean([one.timeouts for one in deliveries]) / seconds
            found[name] = {"T": rounded(T), "margin": rounded(margin, 2), "timeouts": rounded(timeouts, 3)}
    return found | ({"rate": rounded(case.rate)} if case.rate else {})


def verdict(case: dict[str, Any]) -> dict[str, float]:
    """Return how many late fractions of at least 1e-3 agree, and their largest ratio either way."""
    f, margin, ours = (np.array(case[name][key]) for name, key in (("ns2", "f"), ("ns2", "margin"), ("sim", "f")))
    seen = f >= 1e-3
    ratio = np.maximum(ours[seen] / f[seen], f[seen] / np.maximum(ours[seen], 1e-9))
    inside = np.abs(ours - f)[seen] <= margin[seen]
    agree = inside | (ratio <= 1.5)
    return {"compared": int(seen.sum()), "inside": int(inside.sum()), "agree": int(agree.sum()),
            "largest": float(ratio.max(initial=1.0))}  # fmt: skip


def table(cases: dict[str, dict[str, Any]]) -> str:
    """Return both tables."""
    flows: list[list[object]] = [["backlogged", "T ns-2", "+-", "T here", "+-", "ratio", "timeouts/s", "here"]]
    live: list[list[object]] = [["live", "tau", "f ns-2", "+-", "f here", "agree", "inside", "largest ratio"]]
    for key, case in cases.items():
        ns, sim = case["ns2"], case["sim"]
        if "T" in ns:
            flows.append(
                [key.removesuffix(" backlogged"), f"{ns['T']:.2f}", ns["margin"], f"{sim['T']:.2f}", sim["margin"],
                 f"{sim['T'] / ns['T']:.4f}", ns["timeouts"], sim["timeouts"]]
            )  # fmt: skip
            continue
        summary = verdict(case)
        for k in (0, 3, 9):
            last = [f"{summary['agree']}/{summary['compared']}", f"{summary['inside']}/{summary['compared']}",
                    f"{summary['largest']:.2f}"]  # fmt: skip
            live.append([key if k == 0 else "", DELAYS[k], ns["f"][k], ns["margin"][k], sim["f"][k],
                         *(last if k == 0 else [""] * 3)])  # fmt: skip
    return columns(flows) + "\n\n" + columns(live)


def work(cases: Iterable[Case], record: Record) -> None:
    """Compare what is not in the record, on all cores."""
    missing = [case for case in cases if case.key not in record.cases]
    begin = time.perf_counter()
    with ProcessPoolExecutor(CORES) as pool:
        futures = {pool.submit(compare, case): case for case in missing}
        for number, future in enumerate(as_completed(futures), 1):
            key = futures[future].key
            record.add(key, future.result())
            print(f"{time.perf_counter() - begin:6.0f} s  {number}/{len(missing)}  {key}", flush=True)


def main() -> None:
    """Compare, record and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--recorded", action="store_true", help="print what was found before")
    options = parser.parse_args()
    settings = {"seeds": SEEDS, "backlogged_s": BACKLOGGED, "live_s": LIVE, "delays_s": DELAYS}
    record = Record("ns2_calibration.json", settings)
    if not options.recorded:
        require_ns()
        backlogged = [Case(*path, variant, every) for variant in VARIANTS for path in PATHS for every in (1, 2)]
        work(backlogged, record)
        work(
            [
                case._replace(ratio=ratio, rate=record.cases[case.key]["ns2"]["T"] / ratio)
                for case in backlogged if case.variant == "reno" for ratio in RATIOS
            ],
            record,
        )  # fmt: skip
    print(table(record.cases))


if __name__ == "__main__":
    main()
