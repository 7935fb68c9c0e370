"""Whether results are values: the same answers, bit for bit, to any number of threads, from copies and from pickles.

Run ``python validation/concurrency.py`` (10 minutes; ``--cases N``, ``--seed N``). Random paths of every chain and
option, random videos, stored (alone, and of `stored_many`) and live. Each question is first asked of a fresh result
that was asked nothing else. Then several threads ask one result everything, each in an order of its own, while it is
pickled and copied; pickles are asked in other processes, through joblib as well where it is installed.
"""

from __future__ import annotations

import argparse
import copy
import json
import multiprocessing
import pickle
import sys
import threading
import time
import warnings
from collections import Counter
from collections.abc import Callable
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path as FilePath
from typing import Any

import numpy as np

from tcpstream import (
    EndlessLive,
    InputWarning,
    Path,
    TcpstreamError,
    Video,
    live,
    live_many,
    stored,
    stored_many,
    throughput,
)

RESULTS = FilePath(__file__).parent / "results" / "concurrency.json"

SHORTEST = 0.002
"""Length of a video at least [s]."""

CASES, SEED, THREADS = 200, 14, 4

CHAINS = ("reno", "slow start", "reno-sack", "bottleneck", "cubic")
KINDS = ("stored", "stored_many", "finite live", "stored", "stored_many", "live")

Question = tuple[str, tuple[Any, ...], dict[str, Any]]
Make = Callable[[], Any]


def log_uniform(rng: np.random.Generator, low: float, high: float) -> float:
    """Return a number between two, each power of ten as likely as another."""
    return float(np.exp(rng.uniform(np.log(low), np.log(high))))


def draw_path(rng: np.random.Generator, chain: str, kind: str) -> Path:
    """Return a random path of a chain with windows small enough for many solves."""
    endless = kind == "live"  # whose solve is dear
    ratio = log_uniform(rng, 1, 3 if endless else 300)
    values: dict[str, Any] = {
        "loss": log_uniform(rng, 0.02, 0.1) if endless else log_uniform(rng, 0.001, 0.5),
        "rtt": log_uniform(rng, 1e-4, 3),
        "timeout_ratio": float(np.round(ratio)) if rng.random() < 0.5 else ratio,
        "backoff": str(rng.choice(["rfc6298", "paper"])),
        "halving": str(rng.choice(["floor", "ceil"])),
        "detection": str(rng.choice(["duplicates", "rack"])),
    }
    if chain == "bottleneck":
        pipe = log_uniform(rng, 2, 8)
        values |= {"tcp": "reno-sack", "bottleneck": pipe / values["rtt"], "buffer": int(rng.integers(0, 6))}
    else:
        values |= {
            "tcp": "reno" if chain == "slow start" else chain,
            "max_window": int(log_uniform(rng, 4 if endless else 1, 12)),
        }
    if chain == "slow start" or (chain != "reno" and rng.random() < 0.3):
        most = values.get("max_window", 2)
        values["initial_window"] = int(rng.integers(1, most + 1))
    if chain != "cubic":
        values["rounds_per_increase"] = int(rng.integers(1, 3))
    return Path(sender="classic", **values)


def draw_video(rng: np.random.Generator, path: Path, kind: str) -> Video:
    """Return a random video; some stored ones have a playback curve, some are long enough to be followed in part."""
    T = throughput(path)
    if kind == "live":
        return Video(packet_rate=T / log_uniform(rng, 1.5, 4))
    rounds, rate = max(log_uniform(rng, 2, 40), SHORTEST / path.rtt), T / log_uniform(rng, 0.3, 5)
    if kind == "finite live":
        return Video(packet_rate=rate, duration=rounds * path.rtt)
    if rng.random() < 0.05 and path.max_window < 6 and path.timeout_ratio < 10:
        return Video(packet_rate=T / 1.5, duration=2001 * path.rtt)
    if rng.random() < 0.2:
        times, packets = np.cumsum(rng.random(4)), np.cumsum(rng.random(4))
        times, packets = times * rounds * path.rtt / times[-1], packets * rounds * rate * path.rtt / packets[-1]
        return Video(curve=([0.0, *times], [0.0, *packets]))
    return Video(packet_rate=rate, duration=rounds * path.rtt)


def draw(number: int, seed: int) -> tuple[str, str, Make, list[Question]]:
    """Return chain and kind of a case, how its result is made, and what is asked."""
    rng = np.random.default_rng([seed, number])
    chain, kind = CHAINS[number % len(CHAINS)], KINDS[number // len(CHAINS) % len(KINDS)]
    path = draw_path(rng, chain, kind)
    video = draw_video(rng, path, kind)
    end = video.duration or 20 * path.rtt
    delays = [0.0, *(end * rng.random(2)), end * log_uniform(rng, 1, 3)]
    asked: list[Question] = [("late_fraction", (tau,), {}) for tau in delays]
    asked += [("late_fraction", (delays,), {}), ("to_dict", (delays[:2],), {}), ("error_bound", (), {})]
    asked += [("required_delay", (log_uniform(rng, 1e-4, 0.5),), {}), ("columns", (np.array(delays[1:]),), {})]
    if not kind.startswith("stored"):
        others = [(path, video), (path, Video(packet_rate=video.packet_rate / 2, duration=video.duration))]
        asked += [("lattice_error", (delays[1],), {})] + ([("decay_rates", (), {})] if kind == "live" else [])
        return chain, kind, (lambda: live(path, video)) if rng.random() < 0.5 else (lambda: live_many(others)[0]), asked
    asked += [(name, (delays[2],), {}) for name in ("late_probability_per_round", "no_late_lower_bound")]
    asked += [("no_late_probability", (tau,), {}) for tau in delays[:2]]
    asked += [("no_late_probability", (delays[1:],), {}), ("buffer_quantiles", (delays[1], [0.1, 0.9]), {})]
    asked += [("required_delay", (), {"no_late": float(rng.uniform(0.5, 0.99))}), ("quantum", (), {})]
    options: dict[str, Any] = {"horizon": str(rng.choice(["end", "paper"]))}
    if chain == "reno" and rng.random() < 0.4:
        options["quantum"] = int(rng.choice([2, 4]))
    if kind == "stored":
        return chain, kind, lambda: stored(path, video, **options), asked
    longer = Video(packet_rate=video.packet_rate * 1.3, duration=1.5 * end)
    cases = [(path, longer), (path, video), (path, Video(packet_rate=video.packet_rate, duration=3 * end))]
    return chain, kind, lambda: stored_many(cases, **options)[1], asked


def bits(value: Any) -> Any:
    """Return a value in which every bit counts: arrays and numbers as bytes."""
    if isinstance(value, dict):
        return {name: bits(one) for name, one in value.items()}
    if isinstance(value, (tuple, list)):
        return [bits(one) for one in value]
    return value if value is None or isinstance(value, str) else np.asarray(value).tobytes()


def ask(result: Any, question: Question) -> Any:
    """Return the answer to a question in bits, or the sentence of a refusal."""
    name, given, chosen = question
    try:
        found = getattr(result, name)
        return bits(found(*given, **chosen) if callable(found) else found)
    except TcpstreamError as error:
        return f"{type(error).__name__}: {error}"


def ask_all(result: Any, asked: list[Question], order: list[int]) -> list[tuple[int, Any]]:
    """Return the number and the answer of each question, asked in some order."""
    return [(i, ask(result, asked[i])) for i in order]


def disagreements(make: Make, asked: list[Question], rng: np.random.Generator, processes: Executor | None) -> list[str]:
    """Return a line for each way in which an answer was another than that of a fresh result."""
    try:
        fresh = make()
    except TcpstreamError as error:
        return [] if ask_making(make) == str(error) else ["refused otherwise"]
    alone = [fresh] * len(asked) if isinstance(fresh, EndlessLive) else [make() for _ in asked]  # solved when made
    serial = [ask(one, question) for one, question in zip(alone, asked)]
    shared = pickle.loads(pickle.dumps(fresh)) if rng.random() < 0.3 else make()
    orders = [rng.permutation(len(asked)).tolist() for _ in range(THREADS + 4)]
    start = threading.Barrier(THREADS + 1)
    found: list[tuple[str, list[tuple[int, Any]]]] = []

    def thread(order: list[int]) -> None:
        start.wait()
        found.append(("a thread", ask_all(shared, asked, order)))

    def copies() -> None:
        start.wait()
        for way, made, order in zip(WAYS, [one(shared) for one in WAYS.values()], orders[THREADS:]):
            found.append((way, ask_all(made, asked, order)))

    with ThreadPoolExecutor(THREADS + 1) as pool:
        for future in [*(pool.submit(thread, order) for order in orders[:THREADS]), pool.submit(copies)]:
            future.result()
    found.append(("afterwards", ask_all(shared, asked, orders[0])))
    if processes is not None:
        there = [processes.submit(ask_all, one, asked, orders[-1]) for one in (shared, fresh)]
        found += [("another process", future.result()) for future in there]
        found += through_joblib(shared, asked, orders[0])
    wrong = {f"{way}: {asked[i][0]}" for way, answers in found for i, answer in answers if answer != serial[i]}
    return sorted(wrong)


WAYS: dict[str, Callable[[Any], Any]] = {
    "a pickle": lambda result: pickle.loads(pickle.dumps(result)),
    "a copy": copy.copy,
    "a deep copy": copy.deepcopy,
}


def ask_making(make: Make) -> str:
    """Return the sentence with which a result is refused."""
    try:
        make()
    except TcpstreamError as error:
        return str(error)
    return "made"


def through_joblib(result: Any, asked: list[Question], order: list[int]) -> list[tuple[str, list[tuple[int, Any]]]]:
    """Return the answers from joblib's processes, if it is installed."""
    try:
        from joblib import Parallel, delayed
    except ImportError:
        return []
    answers = Parallel(n_jobs=2)(delayed(ask)(result, asked[i]) for i in order)
    return [("joblib", list(zip(order, answers)))]


def main() -> None:
    """Run the cases, print what disagrees, and record what was asked how often."""
    parser = argparse.ArgumentParser(description="whether results are values")
    parser.add_argument("--cases", type=int, default=CASES)
    parser.add_argument("--seed", type=int, default=SEED)
    chosen = parser.parse_args()
    sys.setswitchinterval(1e-4)
    warnings.simplefilter("ignore", InputWarning)  # the delays are longer than anyone waits
    counts: Counter[str] = Counter()
    questions, wrong, begun = 0, [], time.perf_counter()
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as processes:
        for number in range(chosen.cases):
            chain, kind, make, asked = draw(number, chosen.seed)
            lines = disagreements(make, asked, np.random.default_rng([chosen.seed, number, 1]), processes)
            counts[f"{kind}, {chain}"] += 1
            questions += len(asked)
            wrong += [f"case {number} ({kind}, {chain}): {line}" for line in lines]
            print(
                f"{number + 1} of {chosen.cases}, {time.perf_counter() - begun:.0f} s", *lines, sep="\n  ", flush=True
            )
    record = {"seed": chosen.seed, "cases": chosen.cases, "questions": questions, "threads": THREADS,
              "joblib": bool(through_joblib(1, [], [])), "of_each": dict(sorted(counts.items())),
              "disagreements": wrong}  # fmt: skip
    if chosen.cases >= CASES:
        RESULTS.write_text(json.dumps(record, indent=1) + "\n")
    print(json.dumps(record, indent=1))
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
