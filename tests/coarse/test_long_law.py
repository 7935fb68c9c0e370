"""The law of one mode after many losses, beside a lattice that is followed, and the late packets of the far tail."""

from __future__ import annotations

import numpy as np
import pytest

from tcpstream import Path, Video
from tcpstream.answers.coarse_arrivals import CoarseArrivals
from tcpstream.answers.timeline import Timeline
from tcpstream.coarse.first_passage import _is_single, _root
from tcpstream.coarse.law import Law
from tcpstream.coarse.long_law import LongLaw
from tcpstream.coarse.modes import Modes
from tcpstream.coarse.resolution import FINE
from tcpstream.coarse.steps import Steps
from tcpstream.tcp import chain_of

RARE_WAITS = (
    Path(sender="classic", loss=0.0272, rtt=0.0402, rto=0.299, tcp="reno-sack"),
    Video(bitrate=1.52e6, duration=88.0),
)
"""Case 139 of `validation/coarse.py`: where f is 1e-6 and less, waits of hundreds of round trips decide."""


def _arrivals(path: Path, video: Video) -> CoarseArrivals:
    return CoarseArrivals(path, [Timeline.of(path, video)], FINE)


def _followed(arrivals: CoarseArrivals, quantum: float, rounds: float) -> Law:
    m = arrivals.due
    law = Law(arrivals.steps, quantum, m * rounds + 2 * arrivals.lead, m, 2 * arrivals.lead)
    law.until(rounds)
    return law


def test_law_of_one_mode_is_that_of_a_lattice_where_waits_have_modes_of_their_own() -> None:
    arrivals = _arrivals(
        Path(sender="classic", loss=0.0486, rtt=0.2, rto=0.481), Video(packet_rate=13.7, duration=9000.0)
    )
    decay, t = arrivals._decay, 3800.0
    assert decay is not None
    law = LongLaw(Modes(arrivals.steps), t, 14_000.0, decay.rate, 60.0, 8.0)
    due = arrivals.due * t - np.array([0.0, 150.0, 300.0])
    times = np.full(3, t)
    lattice = _followed(arrivals, 8.0, t)
    np.testing.assert_allclose(law.missing(times, due), lattice.missing(times, due), rtol=3e-3)


def test_law_of_one_mode_has_waits_that_are_rare_and_long() -> None:
    arrivals = _arrivals(*RARE_WAITS)
    decay, t = arrivals._decay, 2189.0
    assert decay is not None
    law = LongLaw(Modes(arrivals.steps), t, 2 * t, decay.rate, 60.0, 8.0)
    due = arrivals.due * (t - np.array([0.0, 200.0, 450.0]))
    times = np.full(3, t)
    lattice = _followed(arrivals, 16.0, t)
    found = law.missing(times, due)  # after some five of the longest waits one mode is right to some percent
    np.testing.assert_allclose(found, lattice.missing(times, due), rtol=0.05)


@pytest.mark.long
def test_far_tail_is_that_of_an_exact_solve() -> None:
    """By ``accuracy="exact"``, in some minutes: `validation/results/coarse.jsonl`."""
    arrivals = _arrivals(*RARE_WAITS)
    timeline = arrivals.cases[0]
    delays = 3.6407980366624995, 8.215890372809993, 18.432019224788462
    f = [arrivals.late_packets(timeline, delay) / timeline.judged for delay in delays]
    assert f == pytest.approx([1.0000751e-5, 1.0001615e-6, 1.0029122e-7], rel=1e-3)


def test_modes_are_those_of_states_that_are_visited_again() -> None:
    """A first slow start that doubles to hundreds of packets makes the vector of a mode at theta < 0 huge there."""
    path = Path(loss=0.0243, rtt=0.0136, rto=0.261, sender="linux")
    modes = Modes(_arrivals(path, Video(packet_rate=529.0, duration=100.0)).steps)
    slopes = [modes.at(complex(theta), modes.about(complex(theta))).slope.real for theta in (-0.012, -0.01, -0.008)]
    assert slopes == sorted(slopes)  # log lambda is convex
    per_round = np.array(slopes) / modes.rounds
    assert -9 < per_round[0] < per_round[-1] < -7.5  # packets: 6.5 at theta = 0, more where they count more


def test_windows_that_are_left_for_good_bend_no_mode() -> None:
    """A slow start without loss ends at windows that stand between others, with weights below 0."""
    chain = chain_of(Path(loss=0.007, rtt=0.02, rto=0.22))
    modes = Modes(Steps.of(chain, 1, 1.15, chain.packets_per_round / 1.1, 22.0, diffusive=True))
    root = _root(modes, chain.packets_per_round / 1.1)
    mode = modes.at(complex(1.1 * root), modes.about(complex(1.1 * root)))
    assert mode.right.real.min() < 0 < mode.right.real[modes.visited].min()
    assert _is_single(modes, 1.1 * root)
