"""Figures 4, 5 and 8: the model beside simulation (Sections 4.1, 4.2 and 6.1).

Simulated are the recorded runs of the bundled simulator (``tcpstream validate``), whose paths are not quite the
paper's. So the model is drawn on both: at what the runs saw, and at the parameters that the paper prints.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..answers.stored import stored
from ..path import Path
from ..system.threads import on_cores
from ..video import Video
from . import record
from .compare import Comparison
from .figure import Curve, Figure
from .late_fractions import printed_path, solve_live
from .study import LENGTHS_DELAY, LENGTHS_OF, ROUNDS_DELAY, ROUNDS_OF, ROUNDS_RATE, VIDEO
from .study_figures import LABELS, model_by_length

Floats = NDArray[np.float64]

GIVEN = "throughput"
"""What the model gets as p of the runs: the p at which it has their T."""

PRINTED = "model, path of the paper"


def figure_4() -> Figure:
    """Late fraction over the startup delay, live: setting 2, T/mu = 1.27, 7000 s."""
    return _over_delay("4", "live 2", "live, setting 2")


def figure_5() -> Figure:
    """Late fraction over the startup delay, stored: setting 4, T/mu = 1.1, 80 s."""
    return _over_delay("5", "stored 4", "stored, setting 4")


def figure_8a() -> Figure:
    """Late fraction over the length of a live video: setting 2, a startup delay of 6 s."""
    one, seen = _setting(LENGTHS_OF), record.figure_8()["8a"]
    lengths = np.array(seen["length_s"])

    models = {
        LABELS[GIVEN]: (one.path(GIVEN), one.packet_rate),
        PRINTED: (printed_path(one.setting), one.setting.packet_rate),
    }
    late = on_cores(lambda model: model_by_length(*model, lengths), models.values())
    curves = (
        Curve("simulation", seen),
        *(Curve(label, {"length_s": lengths, "late_fraction": f}) for label, f in zip(models, late)),
    )
    title = f"live, setting 2, startup delay {LENGTHS_DELAY:g} s"
    return Figure("8a", title, "length of the video (s)", "fraction of late packets", curves, least=1e-2)


def figure_8b() -> Figure:
    """P_i over a stored video: setting 4, T/mu = 1.4, a startup delay of 4 s."""
    one = _setting(ROUNDS_OF)

    def model(path: Path, packet_rate: float) -> dict[str, Floats]:
        P = stored(path, Video(packet_rate=packet_rate, duration=VIDEO)).late_probability_per_round(ROUNDS_DELAY)
        return {"time_s": np.asarray(path.rtt * np.arange(1, len(P) + 1)), "late_probability": P}

    curves = (
        Curve("simulation", record.figure_8()["8b"]),
        Curve(LABELS[GIVEN], model(one.path(GIVEN), one.throughput * ROUNDS_RATE / one.setting.throughput)),
        Curve(PRINTED, model(printed_path(one.setting), ROUNDS_RATE)),
    )
    title = f"stored, setting 4, startup delay {ROUNDS_DELAY:g} s, $T/\\mu$ = 1.4"
    ylabel = "probability of a late packet in the round"
    return Figure("8b", title, "time since the video was requested (s)", ylabel, curves, least=1e-5)


def _setting(name: str) -> Comparison:
    return next(one for one in record.recorded() if one.setting.name == name)


def _over_delay(number: str, name: str, title: str) -> Figure:
    one = _setting(name)
    delays = np.array([point.delay for point in one.points])
    video = Video(packet_rate=one.setting.packet_rate, duration=VIDEO if one.setting.kind == "stored" else None)
    path = printed_path(one.setting)
    answer = stored(path, video) if one.setting.kind == "stored" else solve_live([(path, video)])[0]
    printed = answer.late_fraction(delays)
    runs = {
        "startup_delay_s": delays,
        "late_fraction": np.array([point.simulated for point in one.points]),
        "low_95": np.array([point.low for point in one.points]),
        "high_95": np.array([point.high for point in one.points]),
    }
    models = {LABELS[given]: np.array([point.model[given] for point in one.points]) for given in (GIVEN, "events")}
    curves = [
        Curve(label, {"startup_delay_s": delays, "late_fraction": f})
        for label, f in (models | {PRINTED: printed}).items()
    ]
    title += f", $T/\\mu$ = {one.throughput / one.packet_rate:.2f}"
    every = (Curve("simulation", runs), *curves)
    return Figure(number, title, "startup delay (s)", "fraction of late packets", every, least=1e-4)
