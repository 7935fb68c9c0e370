"""Flows that share a bottleneck: loss rate, round trip time and shares of the fixed point beside packets.

Run ``python validation/shared.py`` (a quarter of an hour on one core). Conditions are drawn before anything is solved;
what is recorded is not computed again; ``--table`` prints the tables of the documentation. The bundled simulator is the
witness: senders as Linux has them, a drop-tail queue, packets that take their sender up to one transmission time of the
bottleneck, at random. Every second condition has round trip times that differ by up to a fifth.

Beside the sawtooth of `tcpstream.shared_bottleneck` stands another closure: windows that are independent of each other,
whose sum is normal, and loses what is above pipe and buffer.

Of every third condition videos are asked as well: P(any stall) of a video of a minute by `SharedBottleneck.path`,
beside the flows after their start ("busy"), and beside a flow that begins while the others run ("new").
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path as FilePath
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import tcpstream
from queues import BITS, SENDERS, recorded
from tcpstream import Path, Video, sim
from tcpstream.numerics.roots import crossing
from tcpstream.tcp import chain_of

RESULTS = FilePath(__file__).parent / "results" / "shared.jsonl"

SEED, CONDITIONS, VIDEOS = 98, 60, 3
"""Conditions, and of how many one has videos."""

SECONDS, WARMUP, SPREAD = 660.0, 60.0, 0.2
"""Of a run, and of its begin that does not count [s]; largest deviation of a round trip time from the mean."""

DURATION, SESSIONS, LATE = 60.0, 30, 60.0
"""Of a video [s], how many begin beside running flows, and time after its end in which all of it has arrived [s]."""

SHARES = 0.5, 0.1
"""Of the sessions that stall at the delays which are looked at."""

LEAST_DELAY = 2.0
"""Round trips of a startup delay that is looked at; the chain has no shorter times than one."""

SMALL, LARGE, FEW = 5.0, 20.0, 5
"""Packets a flow in pipe and buffer, and flows, by which conditions are told apart."""


class Condition(NamedTuple):
    """Flows, the bottleneck that they share, and a video.

    Attributes
    ----------
    tcp : {"reno-sack", "cubic"}
    flows : int
    rate : float
        Of the bottleneck [Mbit/s].
    rtt : float
        Mean of propagation [s].
    pipes : float
        Room before it, in bandwidth-delay products.
    spread : float
        Largest deviation of a flow's propagation time from the mean, relative.
    load : float
        Rate of the video over the share of a flow.
    """

    tcp: str
    flows: int
    rate: float
    rtt: float
    pipes: float
    spread: float
    load: float

    @property
    def packets(self) -> float:
        """Of the bottleneck in a second."""
        return self.rate * 1e6 / BITS

    @property
    def buffer(self) -> int:
        """Room before it [packets]."""
        return max(1, round(self.pipes * self.packets * self.rtt))

    @property
    def base_rtt(self) -> float:
        """R0, with the transmission of a packet [s]."""
        return self.rtt + 1 / self.packets

    @property
    def each(self) -> float:
        """What pipe and buffer hold for each flow [packets]."""
        return (self.packets * self.base_rtt + self.buffer) / self.flows


def conditions() -> list[Condition]:
    """Return conditions drawn evenly on logarithmic scales; those of less than 2 packets a flow are drawn again."""
    rng = np.random.default_rng(SEED)
    found: list[Condition] = []
    while len(found) < CONDITIONS:
        logs = [math.exp(rng.uniform(math.log(a), math.log(b))) for a, b in ((2, 30), (4, 50), (0.02, 0.15), (0.3, 4))]
        tcp, spread = ("reno-sack", "cubic")[len(found) % 2], SPREAD * (len(found) // 2 % 2)
        rounded = round(logs[1], 2), round(logs[2], 4), round(logs[3], 2)
        one = Condition(tcp, round(logs[0]), *rounded, spread, float(rng.choice([0.6, 0.75, 0.9])))
        if one.each >= 2:
            found.append(one)
    return found


def scenario(one: Condition, rng: np.random.Generator, begin: float) -> sim.Scenario:
    """Return the flows, which start at random in the first ten seconds, but for the first: at `begin` [s]."""
    settings: dict[str, Any] = {"timer": "rfc6298", "granularity": 0.2, "initial_rto": 1.0} | SENDERS[one.tcp]
    tcp = sim.Tcp("rack", 2172, 10, jitter=1 / one.packets, **settings)
    links = {"bottleneck": sim.Link(one.rtt / 4, one.rate * 1e6, queue=one.buffer), "back": sim.Link(one.rtt / 4)}
    flows = []
    for i, where in enumerate(rng.permutation(one.flows)):
        own = one.rtt * (0.5 + one.spread * (2 * (where + 0.5) / one.flows - 1))
        links[f"own {i}"] = sim.Link(float(own))
        start = float(rng.uniform(0, 10)) if i else begin
        flows.append(sim.Flow((f"own {i}", "bottleneck"), ("back",), tcp, start=start, measured=True))
    return sim.Scenario(links, tuple(flows), bins=WARMUP)


def measured(run: sim.Run, one: Condition) -> dict[str, float]:
    """Return loss rate, round trip time and shares of all flows after the warm-up."""
    bins = [flow.bins for flow in run.traffic]
    sent, dropped, received = (
        np.array([getattr(each, name)[1:] for each in bins if each]).sum(axis=1)
        for name in ("sent", "dropped", "received")
    )
    shares = received * 8 / BITS / (SECONDS - WARMUP)
    return {
        "p": float(dropped.sum() / sent.sum()),
        "R": float(np.average([flow.rtt for flow in run.flows], weights=sent)),
        "u": float(shares.sum() / one.packets),
        "least_share": float(shares.min() / shares.mean()),
        "largest_share": float(shares.max() / shares.mean()),
    }


def independent(one: Condition) -> dict[str, float]:
    """Return p and R of windows that are independent of each other, with a normal sum."""
    full, pipe, rtt = one.packets * one.base_rtt + one.buffer, one.packets * one.base_rtt, one.base_rtt
    points = np.linspace(-6, 6, 2001)
    normal = np.exp(-(points**2) / 2) / np.exp(-(points**2) / 2).sum()

    def total(log_loss: float) -> NDArray[np.float64]:
        chain: Any = chain_of(Path(loss=math.exp(log_loss), rtt=rtt, tcp=one.tcp, sender="linux"))
        rounds = chain.stationary * chain.per_transition[1]
        windows = np.append(chain.graph.windows, np.ones(chain.n_states - chain.graph.size))
        mean = rounds @ windows / rounds.sum()
        variance = rounds @ windows**2 / rounds.sum() - mean**2
        return np.asarray(one.flows * mean + math.sqrt(one.flows * variance) * points)

    def gap(log_loss: float) -> float:
        S = total(log_loss)
        return log_loss - math.log(max(normal @ np.maximum(S - full, 0) / (normal @ np.clip(S, 0, full)), 1e-300))

    for _ in range(4):
        low = high = -2 * math.log(one.each)
        while gap(low) > 0:
            low -= 0.5
        while gap(high) < 0:
            high += 0.5
        log_loss = crossing(gap, low, high, 1e-4) if low < high else low
        rtt = one.base_rtt + float(normal @ np.clip(total(log_loss) - pipe, 0, one.buffer)) / one.packets
    return {"p_independent": math.exp(log_loss), "R_independent": rtt}


def needed(times: NDArray[np.float64], begin: float, video_rate: float) -> float:
    """Return the startup delay without which a session that begins then stalls [s]."""
    due = np.arange(math.ceil(video_rate * DURATION)) / video_rate
    came = times[np.searchsorted(times, begin) :][: len(due)] - begin
    return math.inf if len(came) < len(due) else float((came - due).max())


def videos(one: Condition, run: sim.Run, path: Path, share: float, seed: list[int]) -> dict[str, Any]:
    """Return P(any stall) at some delays, of flows that are busy, of a new one, and by the chain."""
    video_rate = one.load * share
    begins = np.arange(WARMUP, SECONDS - DURATION - LATE / 2, DURATION)
    waits = {"busy": [needed(flow.times, begin, video_rate) for flow in run.flows for begin in begins], "new": []}
    for rng in np.random.default_rng([*seed, 1]).spawn(SESSIONS):
        begin = float(rng.uniform(WARMUP / 2, WARMUP))
        new = sim.simulate(scenario(one, rng, begin), begin + DURATION + LATE, rng).flows[0]
        waits["new"].append(needed(new.times, 0.0, video_rate) - one.rtt / 2)
    stored = tcpstream.stored(path, Video(packet_rate=video_rate, duration=DURATION))
    found: dict[str, Any] = {}
    for kind, of in waits.items():
        delays = [max(float(np.quantile(of, 1 - wanted, method="higher")), 1.001 * path.rtt) for wanted in SHARES]
        if all(map(math.isfinite, delays)):
            found[f"delays_{kind}"] = delays
            found[f"stalled_{kind}"] = [float((np.array(of) > delay).mean()) for delay in delays]
            found[f"stalled_{kind}_chain"] = [1 - float(stored.no_late_probability(delay)) for delay in delays]
    return found


def row(number: int, one: Condition) -> dict[str, Any]:
    """Return what packets, the fixed point and the other closure say of a condition."""
    rng = np.random.default_rng([SEED, number])
    run = sim.simulate(scenario(one, rng, 0.0), SECONDS, rng)
    seen = measured(run, one)
    found = tcpstream.shared_bottleneck(
        bottleneck=one.packets, buffer=one.buffer, rtt=one.base_rtt, flows=one.flows, tcp=one.tcp
    )
    model = {"p_model": found.loss, "R_model": found.rtt, "u_model": found.utilization, "residual": found.residual}
    result = {"number": number, **one._asdict(), "each": one.each, **seen, **model, **independent(one)}
    if number % VIDEOS == 0:
        result |= videos(one, run, found.path, found.share, [SEED, number])
    return result


def off(rows: list[dict[str, Any]], measured: str, model: str) -> str:
    """Return the median and the 90% quantile of how far a figure is off."""
    errors = [abs(one[model] / one[measured] - 1) for one in rows]
    return f"{np.median(errors):.1%}, {np.quantile(errors, 0.9):.1%}" if errors else ""


def table(rows: list[dict[str, Any]]) -> Iterator[str]:
    """Give the lines of the tables."""
    yield "| conditions | | p | R | mean share | share of the farthest flow | p, independent | R, independent |"
    yield "|---|--:|--:|--:|--:|--:|--:|--:|"
    for one in rows:
        ends = (one[name] * one["u"] / one["u_model"] for name in ("least_share", "largest_share"))
        one |= {"farthest": max(ends, key=lambda end: abs(1 / end - 1)), "one": 1.0}
    few, small = [one for one in rows if one["flows"] < FEW], [one for one in rows if one["each"] < SMALL]
    groups = {
        "all": rows,
        "reno-sack": [one for one in rows if one["tcp"] == "reno-sack"],
        "cubic": [one for one in rows if one["tcp"] == "cubic"],
        "one round trip time": [one for one in rows if not one["spread"]],
        "round trip times that differ by up to 20%": [one for one in rows if one["spread"]],
        f"fewer than {FEW} flows": few,
        f"fewer than {SMALL:g} packets a flow": small,
        f"{FEW} flows and {SMALL:g} packets a flow, or more": [o for o in rows if o not in few and o not in small],
    }
    groups["of these, one round trip time"] = [one for one in [*groups.values()][-1] if not one["spread"]]
    pairs = (
        ("p", "p_model"), ("R", "R_model"), ("u", "u_model"), ("farthest", "one"),
        ("p", "p_independent"), ("R", "R_independent"),
    )  # fmt: skip
    for name, of in groups.items():
        yield f"| {name} | {len(of)} | {' | '.join(off(of, *pair) for pair in pairs)} |"
    yield ""
    over = [one["p_model"] / one["p"] for one in rows]
    yield f"p over that of packets: {min(over):.2f} to {max(over):.2f}, median {np.median(over):.2f}"
    worst = max(rows, key=lambda one: abs(math.log(one["R_model"] / one["R"])))
    yield f"R over that of packets, worst: {worst['R_model'] / worst['R']:.3f} (condition {worst['number']})"
    for tcp in ("reno-sack", "cubic"):
        for low, high in ((0.0, SMALL), (SMALL, LARGE), (LARGE, math.inf)):
            of = [one for one in rows if one["tcp"] == tcp and low <= one["each"] < high]
            full = [one["u"] * one["rate"] * 1e6 / BITS * one["R"] / (one["each"] * one["flows"]) for one in of]
            if full:
                about = f"{tcp}, {low:g} {f'to {high:g}' if high < math.inf else 'or more'} packets a flow"
                yield f"under way of what pipe and buffer hold, {about}: {min(full):.2f} to {max(full):.2f}"
    yield ""
    yield "| video | share that stalls, packets | chain: median, 10% to 90% |"
    yield "|---|--:|---|"
    for kind in ("busy", "new"):
        for i in range(len(SHARES)):
            of = [o for o in rows if f"delays_{kind}" in o and o[f"delays_{kind}"][i] >= LEAST_DELAY * o["R_model"]]
            seen = [one[f"stalled_{kind}"][i] for one in of]
            said = np.quantile([one[f"stalled_{kind}_chain"][i] for one in of], [0.5, 0.1, 0.9])
            words = "{:.3f}, {:.3f} to {:.3f}".format(*said)
            yield f"| {kind} ({len(of)} conditions) | {np.median(seen):.2f} | {words} |"


if __name__ == "__main__":
    raise SystemExit(recorded(__doc__, RESULTS, conditions(), row, table))
