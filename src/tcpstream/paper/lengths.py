"""Section 6.1: how the late fraction depends on the length of the video."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..answers.stored import stored, stored_many
from ..errors import NoFiniteDelayError
from ..video import Video
from .claim import Claim
from .late_fractions import STORED, printed_path
from .settings import SETTINGS
from .simulated import figure_8a
from .study import LENGTHS_DELAY, LENGTHS_OF, ROUNDS_DELAY, ROUNDS_OF, ROUNDS_RATE
from .study_figures import model_by_length

SHORT = (10.0, 20.0, 40.0, STORED, 2 * STORED, 4 * STORED)
"""Lengths of stored videos [s]."""


def lengths(**tcp: Any) -> Iterator[Claim]:
    """Yield the statements of Section 6.1; parameters as `claims`."""
    settings = {setting.name: setting for setting in SETTINGS}
    setting = settings[LENGTHS_OF]
    at = np.array([500.0, 2000.0, 7000.0])
    try:
        f = model_by_length(printed_path(setting, **tcp), setting.packet_rate, at)
        found = f"f = {f[0]:.4f} at 500 s, {f[1]:.4f} at 2000 s, {f[2]:.4f} at 7000 s"
        holds = bool(abs(f[1] / f[2] - 1) < 0.05)
    except NoFiniteDelayError as error:  # a TCP slower than the paper's
        found, holds = f"T = {error.throughput:.2f} packets/s, below mu = {error.packet_rate:g}", False
    yield Claim(
        "live-length",
        "6.1",
        f"Live, setting 2, tau = {LENGTHS_DELAY:g} s: from 2000 s on the late fraction hardly depends on the length "
        "(2000 s within 5% of 7000 s)",
        found,
        holds,
    )
    yield _beside_runs()
    yield from _stored(**tcp)


def _beside_runs() -> Claim:
    runs, model = figure_8a().curves[:2]
    ratios = model.y / runs.y
    return Claim(
        "live-length-simulated",
        "6.1",
        "Live, setting 2: the model predicts the simulated late fraction for every length (within a factor 1.5)",
        f"model over simulation, 500 to {runs.x[-1]:g} s: {ratios.min():.2f} to {ratios.max():.2f}",
        bool((ratios < 1.5).all() and (ratios > 1 / 1.5).all()),
    )


def _stored(**tcp: Any) -> Iterator[Claim]:
    setting = next(one for one in SETTINGS if one.name == ROUNDS_OF)
    path = printed_path(setting, **tcp)
    case = f"Stored, setting 4, mu = {ROUNDS_RATE:g}, tau = {ROUNDS_DELAY:g} s"
    P = stored(path, Video(packet_rate=ROUNDS_RATE, duration=STORED)).late_probability_per_round(ROUNDS_DELAY)
    peak, end = int(P.argmax()), int(STORED / path.rtt)
    falling = [P[int(t / path.rtt) - 1] for t in range(20, int(STORED) + 1, 10)]
    yield Claim(
        "stored-peak",
        "6.1",
        f"{case}: P_i is low at first, rises to a peak and then falls",
        f"largest P_i = {P[peak]:.2g} at {path.rtt * (peak + 1):.0f} s; at {STORED:g} s {P[end - 1]:.2g}",
        bool(5 < peak < end / 2 and P[0] < P[peak] / 10 and (np.diff([P[peak], *falling]) < 0).all()),
    )
    yield Claim(
        "stored-round-730",
        "6.1",
        f"{case}: P_i has fallen to 1e-4 in round 730, the 80th second (within a factor 1.5)",
        f"P_{end} = {P[end - 1]:.2g}",
        bool(1 / 1.5 < P[end - 1] / 1e-4 < 1.5),
    )
    videos = [Video(packet_rate=ROUNDS_RATE, duration=length) for length in SHORT]
    f = np.array([one.late_fraction(ROUNDS_DELAY) for one in stored_many((path, video) for video in videos)])
    predicted = f[3] * STORED / np.array(SHORT[4:])
    yield Claim(
        "stored-one-over-length",
        "6.1",
        f"{case}: from 80 s on f is inversely proportional to the length (within 10%)",
        "; ".join(f"{L:g} s: f = {g:.2e}, from 80 s {h:.2e}" for L, g, h in zip(SHORT[4:], f[4:], predicted)),
        bool((np.abs(predicted / f[4:] - 1) < 0.1).all()),
    )
    yield Claim(
        "stored-length",
        "6.3",
        f"{case}: f rises with the length at first and then falls",
        ", ".join(f"{L:g} s: {g:.2e}" for L, g in zip(SHORT, f)),
        bool(f[1] > f[0] and (np.diff(f[2:]) < 0).all()),
    )
