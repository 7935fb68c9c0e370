"""Figures 9, 10 and 11: how much T/mu and how long a startup delay satisfy (Section 6.2)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .figure import Curve, Figure
from .late_fractions import LOSSES, RTTS, SATISFACTORY, TIMERS, Case, over_rate, over_rtt, required_delays, solve_live

DELAYS = np.arange(0, 30.5, 0.5)
"""Startup delays of Figure 9 [s]."""

FEW_RATIOS = tuple(np.arange(12, 25, 2) / 10)
RATIOS = {"live": tuple(np.arange(12, 25) / 10), "stored": tuple(np.arange(12, 21) / 10)}
"""T/mu of Figures 9, 10a and 11a."""

REQUIRED = "required startup delay (s)"


def figure_9a(**tcp: Any) -> Figure:
    """Late fraction for T/mu from 1.2 to 2.4: mu = 25 packets/s, R varied (live, p = 0.02, T_O = 4)."""
    return _gain("9a", "live, p = 0.02, $T_O$ = 4, 25 packets/s", [over_rtt(0.02, 4, x, **tcp) for x in FEW_RATIOS])


def figure_9b(**tcp: Any) -> Figure:
    """Late fraction for T/mu from 1.2 to 2.4: R = 100 ms, mu varied (live, p = 0.02, T_O = 4)."""
    return _gain("9b", "live, p = 0.02, $T_O$ = 4, R = 100 ms", [over_rate(0.02, 4, 0.1, x, **tcp) for x in FEW_RATIOS])


def figure_10a(**tcp: Any) -> Figure:
    """Required delay over T/mu, live: mu = 25 packets/s, R varied, T_O = 4."""
    return _over_ratio("10a", "live", **tcp)


def figure_10b(**tcp: Any) -> Figure:
    """Required delay over R and T_O at T/mu = 2, live: p = 0.04, mu varied."""
    return _over_path("10b", "live", **tcp)


def figure_11a(**tcp: Any) -> Figure:
    """Required delay over T/mu, stored: as Figure 10a, up to T/mu = 2."""
    return _over_ratio("11a", "stored", **tcp)


def figure_11b(**tcp: Any) -> Figure:
    """Required delay over R and T_O at T/mu = 2, stored: as Figure 10b."""
    return _over_path("11b", "stored", **tcp)


def _gain(number: str, title: str, cases: list[Case]) -> Figure:
    solved = solve_live(cases)
    curves = [
        Curve(
            f"$T/\\mu$ = {ratio:g}",
            {
                "startup_delay_s": DELAYS,
                "late_fraction": one.late_fraction(DELAYS),
                "T_over_mu": np.full(len(DELAYS), ratio),
                "rtt_s": np.full(len(DELAYS), one.path.rtt),
                "packet_rate_pps": np.full(len(DELAYS), one.video.packet_rate),
            },
        )
        for ratio, one in zip(FEW_RATIOS, solved)
    ]
    return Figure(number, title, "startup delay (s)", "fraction of late packets", tuple(curves), least=1e-7)


def _over_ratio(number: str, kind: str, **tcp: Any) -> Figure:
    ratios = RATIOS[kind]
    cases = [over_rtt(loss, 4, ratio, **tcp) for loss in LOSSES for ratio in ratios]
    delays = required_delays(kind, cases)
    curves = []
    for k, loss in enumerate(LOSSES):
        mine = slice(k * len(ratios), (k + 1) * len(ratios))
        columns: dict[str, ArrayLike] = {
            "T_over_mu": ratios,
            "required_startup_delay_s": delays[mine],
            "loss": np.full(len(ratios), loss),
            "rtt_s": [path.rtt for path, _ in cases[mine]],
        }
        curves.append(Curve(f"p = {loss:g}", columns))
    title = f"{kind}, $T_O$ = 4, 25 packets/s, f = $10^{{-4}}$"
    return Figure(number, title, "$T/\\mu$", REQUIRED, tuple(curves), level=SATISFACTORY)


def _over_path(number: str, kind: str, **tcp: Any) -> Figure:
    cases = [over_rate(0.04, timer, rtt, 2.0, **tcp) for timer in TIMERS for rtt in RTTS]
    delays = required_delays(kind, cases)
    curves = []
    for k, timer in enumerate(TIMERS):
        mine = slice(k * len(RTTS), (k + 1) * len(RTTS))
        columns: dict[str, ArrayLike] = {
            "rtt_ms": 1000 * np.array(RTTS),
            "required_startup_delay_s": delays[mine],
            "timeout_ratio": np.full(len(RTTS), timer),
            "packet_rate_pps": [video.packet_rate for _, video in cases[mine]],
        }
        curves.append(Curve(f"$T_O$ = {timer}", columns))
    title = f"{kind}, p = 0.04, $T/\\mu$ = 2, f = $10^{{-4}}$"
    return Figure(number, title, "round trip time R (ms)", REQUIRED, tuple(curves), level=SATISFACTORY)
