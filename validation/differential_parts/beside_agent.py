"""A case beside the agent: which answers it is asked for, and how long it plays."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tcpstream import StoredStreaming
from tcpstream.answers.answer import Streaming

from .agent import Agent
from .cases import Case
from .evidence import STAGES, Claim, Sample, of_events, of_runs
from .identities import relative

ROUNDS = 500_000
"""Rounds of the first sample."""

MOST_ROUNDS = 4_000_000
"""Where fewer runs than `LEAST_RUNS` fit in these, the agent is not asked."""

LEAST_RUNS, MOST_RUNS = 32, 20_000

REPLICATIONS = 64

MIXING = 10.0
"""Times that a stream forgets its beginning, before it is counted."""

LEARNING = 500_000
"""Rounds from which the law of slow start thresholds is learnt."""

Record = dict[str, Any]
Samples = dict[str, Sample]


def beside_agent(
    case: Case, result: Streaming, delays: Any, f: Any, quick: bool, rng: np.random.Generator, record: Record
) -> None:
    """Add to a record what the agent says of a case."""
    path = case.to_path()
    agent = Agent(path, rng, LEARNING)
    learnt = 2 / math.sqrt(agent.thresholds) if agent.thresholds else 0.0
    play: Any = (_Endless if case.kind == "endless" else _Finite)(case, result, delays, f, agent, learnt, quick)
    claims: list[Claim] = play.claims
    suspects: dict[str, int] = {}
    record["agent"] = play.why or "asked"
    for number, stage in enumerate(STAGES):
        if not claims:
            return
        samples: Samples = play.sample(stage, rng)
        sides = {claim.name: claim.side(samples[claim.name]) for claim in claims}
        if number == 0:
            record["judged"] = [claim.name for claim in claims if claim.judged(samples[claim.name])]
            seen = [c.value for c in claims if c.name.startswith("f(") and c.judged(samples[c.name])]
            record["least"] = float(f"{min(seen):.3g}") if seen else None
            suspects = {name: side for name, side in sides.items() if side}
        else:
            suspects = {name: side for name, side in suspects.items() if sides[name] == side}
        claims = [claim for claim in claims if claim.name in suspects]
    for claim in claims:
        sample = samples[claim.name]
        record["wrong"].append(
            {
                "name": f"agent {claim.name}",
                "found": f"{claim.value:.6g} (stated error {claim.tolerance:.2g}), agent {sample.mean:.6g} "
                f"+- {sample.error:.2g}",
            }
        )


class _Finite:
    """A finite video, stored or live."""

    def __init__(
        self, case: Case, result: Streaming, delays: Any, f: Any, agent: Agent, learnt: float, quick: bool
    ) -> None:  # fmt: skip
        self.case, self.agent, self.video, self.delays = case, agent, case.to_video(), delays
        R = result.path.rtt
        assert self.video.duration is not None
        rounds = (self.video.duration + float(delays[-1])) / R
        self.runs = int(min(max(ROUNDS / rounds, LEAST_RUNS), MOST_RUNS))
        self.why = "too long" if self.runs * rounds > MOST_ROUNDS else None
        share = relative(result, delays) + learnt
        error = result.error_bound + 1e-12
        self.claims = [Claim(f"f({tau:.6g})", x, error + one * x) for tau, x, one in zip(delays, f, share)]
        self.looked = [0] * len(delays)
        self.watched = max(1, int(0.6 * self.video.duration / R))
        self.judged = self.video.packets
        if case.horizon == "paper":
            self.judged = float(self.video.due(math.floor(self.video.duration / R + 1e-9) * R))
        self.quantiles: list[tuple[float, float]] = []
        if isinstance(result, StoredStreaming) and quick and self.why is None:
            self._of_stored(result, float(share[0]), error)
        if self.why:
            self.claims = []

    def _of_stored(self, result: StoredStreaming, share: float, error: float) -> None:
        for k in (len(self.delays) // 2, len(self.delays) - 1):
            tau = float(self.delays[k])
            alpha = float(result.no_late_probability(tau))
            self.claims.append(Claim(f"alpha({tau:.6g})", alpha, 1e-10 + error + share * (1 - alpha), "share"))
        if result.quantum > 1:
            return
        for k, tau in enumerate(self.delays.tolist()):
            P = result.late_probability_per_round(tau)
            self.looked[k] = 1 + int(np.argmax(np.where(P < 0.9, P, 0)))
            value = float(P[self.looked[k] - 1])
            self.claims.append(Claim(f"P({tau:.6g})", value, error + share * value, "share"))
        if share == 0 and self.case.path["tcp"] == "reno":
            tau, levels = float(self.delays[0]), (0.1, 0.5, 0.95)
            _, ahead = result.buffer_quantiles(tau, levels)
            due = float(result.due_by_round(tau)[self.watched - 1])
            for level, packets in zip(levels, ahead[:, self.watched - 1].tolist()):
                received = packets + due
                if received < self.video.packets - 1:
                    self.quantiles.append((level, round(received)))
                    self.claims.append(Claim(f"P(A <= q_{level:g})", (1 + level) / 2, (1 - level) / 2, "share"))
                    self.claims.append(Claim(f"P(A < q_{level:g})", level / 2, level / 2, "share"))

    def sample(self, stage: int, rng: np.random.Generator) -> Samples:
        runs = self.runs * stage
        found = self.agent.finite(
            self.video, self.delays, self.looked, self.watched, runs, rng, live=self.case.kind == "finite",
            horizon=self.case.horizon,
        )  # fmt: skip
        samples = {}
        for k, tau in enumerate(self.delays.tolist()):
            samples[f"f({tau:.6g})"] = of_runs(found.late[:, k] / self.judged)
            samples[f"alpha({tau:.6g})"] = of_events(float(found.never[:, k].sum()), runs)
            samples[f"P({tau:.6g})"] = of_events(float(found.late_at[k]), runs)
        for level, received in self.quantiles:
            samples[f"P(A <= q_{level:g})"] = of_events(float((found.received <= received).sum()), runs)
            samples[f"P(A < q_{level:g})"] = of_events(float((found.received < received).sum()), runs)
        return samples


class _Endless:
    """A stream without end, and T."""

    def __init__(
        self, case: Case, result: Streaming, delays: Any, f: Any, agent: Agent, learnt: float, quick: bool  # noqa: ARG002
    ) -> None:  # fmt: skip
        self.agent = agent
        path, video = case.to_path(), case.to_video()
        self.m, self.ahead, self.delays = video.packet_rate * path.rtt, video.packet_rate * delays, delays
        T = result.throughput * path.rtt
        first = agent.packets_per_round(REPLICATIONS, self._rounds(ROUNDS / 2), np.random.default_rng([case.seed, 4]))
        variance = float(first.var(ddof=1)) * self._rounds(ROUNDS / 2)
        memory = 2 * variance / (T - self.m) ** 2
        self.rounds = max(self._rounds(ROUNDS), int(2 * MIXING * memory))
        self.why = "slow to mix" if 1.5 * REPLICATIONS * self.rounds > MOST_ROUNDS else None
        share, error = relative(result, delays) + learnt, result.error_bound + 1e-12
        self.claims = [Claim("T", T, 1e-9 * T, bounded=False)]
        if self.why is None:
            self.claims += [Claim(f"f({tau:.6g})", x, error + one * x) for tau, x, one in zip(delays, f, share)]

    @staticmethod
    def _rounds(rounds: float) -> int:
        return int(rounds / REPLICATIONS / 1.5)

    def sample(self, stage: int, rng: np.random.Generator) -> Samples:
        delivered = self.agent.packets_per_round(REPLICATIONS, self._rounds(ROUNDS / 2) * stage, rng)
        samples = {"T": of_runs(delivered)._replace(effective=math.inf)}
        if self.why is None:
            late = self.agent.endless(self.m, self.ahead, REPLICATIONS, self.rounds * stage, rng)
            for k, tau in enumerate(self.delays.tolist()):
                samples[f"f({tau:.6g})"] = of_runs(late[:, :, k].mean(axis=1), late[:, :, k])
        return samples
