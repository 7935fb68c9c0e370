"""What it costs that the chain forgets its slow start threshold in timeouts.

Run ``python validation/slow_start.py`` (about ten minutes; cases are recorded in ``results/slow_start.json`` as they
come and not simulated again). An agent follows the same rules round by round, remembers every threshold, and plays
stored and live video. Its late fractions are set beside those of the chain, at the delays at which the chain has 1e-1
to 1e-5, and its required delays, read between these, beside the chain's; and so is the chain without slow start.
"""

from __future__ import annotations

import json
from pathlib import Path as FilePath
from typing import Any

import numpy as np
from numba import njit

from tcpstream import Path, Video, live, stored, throughput
from tcpstream.answers.answer import Streaming

RESULTS = FilePath(__file__).parent / "results" / "slow_start.json"
RUNS, LIVE_RUNS, LIVE_ROUNDS = 400_000, 64, 2_000_000
TARGETS = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5)

#: TCP, loss, T_O, W_max, initial window, T/mu
CASES = [
    ("reno", 0.005, 2, 100, 10, 1.3),
    ("reno", 0.02, 3, 53, 10, 1.3),
    ("reno", 0.02, 8, 53, 10, 1.6),
    ("reno", 0.05, 2, 33, 10, 1.4),
    ("reno-sack", 0.01, 3, 74, 10, 1.3),
    ("reno-sack", 0.05, 3, 33, 10, 1.3),
]


@njit(cache=True)
def packet_by_packet(w: int, p: float, rng: np.random.Generator) -> tuple[int, int, bool]:
    """Return what is in order and what is received of w packets, and whether one is lost twice."""
    j, k, lost, twice = -1, 0, 0, False
    while True:
        k += int(np.log(1.0 - rng.random()) / np.log(1.0 - p))
        if k >= w:
            return (w if lost == 0 else j), w - lost, twice
        j = k if lost == 0 else j
        lost += 1
        twice = twice or rng.random() < p
        k += 1


@njit(cache=True)
def repair(w: int, left: int) -> tuple[int, float]:
    """Return what is sent in the round that repairs a loss of one of w, and the share before the loss shows."""
    before, sent = 0.0, 0.0
    for j in range(w):
        known = j + min(2, w - 1 - j)
        before += known / w
        sent += (known + left / w * (w - known)) / w
    return int(np.round(sent)), before / np.round(sent)


@njit(cache=True)
def send_with_sack(tcp: Any, path: Any, rng: np.random.Generator) -> tuple[int, int]:
    """As `send`, with SACK and no timeout under way."""
    p, largest, timer, _ = path
    w, before, threshold = tcp[0], tcp[1], tcp[5]
    sent, merged = repair(before, w) if before > 0 else (w, 0.0)
    in_order, received, twice = packet_by_packet(sent, p, rng)
    grown = min(min(2 * w, threshold) if w < threshold else w + 1, largest)
    tcp[1] = 0
    if received == sent:
        tcp[0] = w if before > 0 else grown
        return sent, sent
    if received > 0 and not twice:
        if rng.random() >= merged:
            larger = rng.random() < (w - 1) / (2 * w) and before == 0 and (w >= threshold or threshold == largest)
            lost = max(grown if larger else w, 2)
            tcp[0], tcp[1], tcp[5] = max(lost // 2, 1), lost, 0
        return in_order, received
    tcp[2], tcp[3], tcp[4], tcp[5] = 1, 1, timer - 1 if received == 0 else timer, max(2, w // 2)
    return in_order, in_order


@njit(cache=True)
def send(tcp: Any, path: Any, rng: np.random.Generator) -> tuple[int, int]:
    """Make a round in which TCP does not wait; return what is in order at its end, and what is received.

    tcp: window, window of the round of a loss or 0, back-off level or 0, 1 for a retransmission, rounds to wait,
    threshold.
    """
    p, largest, timer, sack = path
    w, before, level = tcp[0], tcp[1], tcp[2]
    if level > 0:
        if rng.random() < p:
            if tcp[3] == 0:
                tcp[5] = 2
            tcp[2], tcp[3], tcp[4] = min(level + 1, 7), 1, timer * 2 ** min(level, 6) - 1
            return 0, 0
        if tcp[3] == 1:
            tcp[3] = 0
        else:
            tcp[0], tcp[2] = 2, 0
        return 1, 1
    if sack == 1:
        return send_with_sack(tcp, path, rng)
    in_order, received, _ = packet_by_packet(w, p, rng)
    if received == w:
        if before == 0:
            tcp[0] = min(min(2 * w, tcp[5]) if w < tcp[5] else w + 1, largest)
            return w, w
    else:
        received = in_order
    if before > 0:  # the short round
        tcp[1], tcp[0], tcp[5] = 0, before // 2, max(2, before // 2)
        if received < 3:
            tcp[2], tcp[3], tcp[4] = 1, 1, max(timer - 1, 1) - 1
    elif received == 0:
        tcp[2], tcp[3], tcp[4], tcp[5] = 1, 1, timer - 1, max(2, w // 2)
    else:
        opening = w < tcp[5] and tcp[5] == largest  # each acknowledgement lets out two packets
        tcp[0] = min(2 * received, largest - (w - received)) if opening else received
        tcp[1] = w - received + tcp[0]
    return received, received


@njit(cache=True)
def play_stored(path: Any, first: int, due: Any, runs: int, rng: np.random.Generator) -> Any:
    """Return late packets by run and delay; due[k, i]: packets due by round i."""
    late = np.zeros((runs, len(due)))
    for run in range(runs):
        tcp = np.array([first, 0, 0, 0, 0, path[1]])
        delivered = 0
        for i in range(1, due.shape[1]):
            shown = delivered
            if tcp[4] > 0:
                tcp[4] -= 1
            else:
                in_order, received = send(tcp, path, rng)
                shown, delivered = delivered + in_order, delivered + received
            for k in range(len(due)):
                behind = due[k, i] - shown
                if behind > 1e-9:
                    late[run, k] += min(behind, due[k, i] - due[k, i - 1])
            if delivered >= due[0, -1] + path[1]:
                break
    return late


@njit(cache=True)
def play_live(path: Any, first: int, m: float, ahead: Any, runs: int, rounds: int, rng: np.random.Generator) -> Any:
    """Return the fraction of late packets by run and delay, after a tenth of the rounds."""
    late = np.zeros((runs, len(ahead)))
    for run in range(runs):
        tcp = np.array([first, 0, 0, 0, 0, path[1]])
        backlog = 0.0
        for i in range(rounds + rounds // 10):
            behind = 0.0
            if tcp[4] > 0:
                tcp[4] -= 1
                backlog += m
            elif backlog < 1e-9:
                backlog = m
            else:
                in_order, received = send(tcp, path, rng)
                behind = backlog + m - in_order
                backlog = max(backlog + m - received, 0.0)
            behind = max(behind, backlog)
            if i >= rounds // 10:
                for k in range(len(ahead)):
                    late[run, k] += min(m, max(behind - ahead[k], 0.0))
    return late / (rounds * m)


def beside(late: Any, result: Streaming, without: Streaming, delays: list[float]) -> dict[str, Any]:
    """Return the agent's late fractions over the chain's, with standard errors, and its required delays over these.

    And the late fractions of the chain without slow start over the chain's.
    """
    found = np.asarray(result.late_fraction(delays))
    mean, error = late.mean(axis=0), late.std(axis=0, ddof=1) / np.sqrt(len(late))
    required = np.interp(-np.log(TARGETS[1:4]), -np.log(mean), delays)
    return {
        "delays": delays,
        "agent_over_chain": (mean / found).tolist(),
        "standard_error": (error / found).tolist(),
        "delay_over_chain": [one / delay if delay > 0 else None for one, delay in zip(required, delays[1:4])],
        "without_over_chain": (np.asarray(without.late_fraction(delays)) / found).tolist(),
    }


def compare(tcp: str, loss: float, timer: int, window: int, first: int, headroom: float) -> dict[str, Any]:
    """Return how a case of the agent differs from the chain."""
    rng = np.random.default_rng(1)
    path, old = (
        Path(
            sender="classic",
            loss=loss,
            rtt=0.1,
            timeout_ratio=timer,
            max_window=window,
            tcp=tcp,
            initial_window=initial,
        )
        for initial in (first, None)
    )
    plain = (loss, window, timer, int(tcp == "reno-sack"))
    m = float(np.floor(4 * throughput(path) * path.rtt / headroom) / 4)  # on a lattice
    rate = m / path.rtt
    film = stored(path, Video(packet_rate=rate, duration=60))
    delays = [film.required_delay(target) for target in TARGETS]
    due = np.array([film.due_by_round(tau, rounds=int(600 + delays[-1] / path.rtt) + 1) for tau in delays])
    due = np.pad(due, ((0, 0), (1, 0)))
    late = play_stored(plain, first, due, RUNS, rng) / film.video.packets
    result = {"stored": beside(late, film, stored(old, film.video), delays)}
    stream = live(path, Video(packet_rate=rate), accuracy="exact")
    delays = [stream.required_delay(target) for target in TARGETS]
    late = play_live(plain, first, m, rate * np.array(delays), LIVE_RUNS, LIVE_ROUNDS, rng)
    return result | {"live": beside(late, stream, live(old, stream.video), delays)}


def main() -> None:
    """Simulate what is not recorded yet; record and print it."""
    done: dict[str, Any] = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    for case in CASES:
        name = "{} p {:g} T_O {} W_max {} IW {} T/mu {:g}".format(*case)
        if name not in done:
            done[name] = compare(*case)
            RESULTS.write_text(json.dumps(done, indent=1) + "\n")
        for kind, row in done[name].items():
            pairs = list(zip(row["agent_over_chain"], row["standard_error"]))[:4]
            print(f"{name}, {kind}: f " + ", ".join(f"{ratio:.3f} +- {error:.3f}" for ratio, error in pairs), end="")
            print("; delay " + ", ".join(f"{ratio:.3f}" for ratio in row["delay_over_chain"] if ratio), end="")
            print("; without " + ", ".join(f"{ratio:.3g}" for ratio in row["without_over_chain"][:4]), flush=True)


if __name__ == "__main__":
    main()
