"""Long videos: what a fixed point and a single mode say, against following every step."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tcpstream import InputWarning, Path, Video, stored
from tcpstream.answers import arrival_levels, coarse_arrivals
from tcpstream.answers.coarse_alpha import NeverLateCurve
from tcpstream.answers.coarse_arrivals import CoarseArrivals
from tcpstream.answers.timeline import Timeline
from tcpstream.coarse.first_passage import FirstPassage
from tcpstream.coarse.law import Law
from tcpstream.coarse.lead import Tilted, decay, late_after
from tcpstream.coarse.lead_turns import MANY, by_age
from tcpstream.coarse.long_law import LongLaw
from tcpstream.coarse.many_losses import many_losses
from tcpstream.coarse.modes import Modes
from tcpstream.coarse.never_late import NeverLate
from tcpstream.coarse.resolution import FAST, Scale
from tcpstream.coarse.steps import Steps
from tcpstream.coarse.without_end import without_end
from tcpstream.errors import AccuracyError
from tcpstream.tcp import chain_of

USUAL = {"sender": "classic", "loss": 0.02, "rtt": 0.1, "rto": 0.3, "max_window": 32}
TCPS = [{}, {"tcp": "reno-sack"}, {"tcp": "cubic", "initial_window": 10, "detection": "rack", "max_window": 12}]


def steps_of(tcp: dict[str, object], ratio: float, step: int = 1) -> tuple[Steps, float]:
    """Return a chain in steps, and m at T over a ratio."""
    chain = chain_of(Path(**(USUAL | tcp)))  # type: ignore[arg-type]
    due = chain.packets_per_round / ratio
    return Steps.of(chain, step, 1.15, due), due


@pytest.mark.parametrize(
    ("tcp", "ratio", "number"),
    [
        *((tcp, 2.0, 800) for tcp in TCPS[:2]),
        *(pytest.param(*one, marks=pytest.mark.long) for one in ((TCPS[2], 2.0, 800), (TCPS[0], 1.2, 5000))),
    ],
)
def test_a_video_without_end_is_where_steps_lead(tcp: dict[str, object], ratio: float, number: int) -> None:
    steps, due = steps_of(tcp, ratio)
    found = decay(steps, due)
    assert found is not None
    followed, solved = (NeverLate(steps, due, due / 8.3, found.safe, 256) for _ in range(2))
    for _ in range(number):
        followed.step()
    assert without_end(solved, found.rate)
    leads = np.geomspace(due, 0.3 * found.safe, 16)
    one, other = ([1 - x.read(x.start_row(), lead) for lead in leads] for x in (followed, solved))
    late = np.array(one)
    used = late > 1e-6
    assert used.sum() > 4
    assert np.array(other)[used] == pytest.approx(late[used], rel=5e-3)


@pytest.mark.parametrize(("loss", "step"), [(0.02, 1), (0.01, 2)])
@pytest.mark.long
def test_many_states_are_solved_age_by_age(loss: float, step: int) -> None:
    chain = chain_of(Path(loss=loss, rtt=0.1, rto=0.3, sender="linux", losses="independent"))
    due = chain.packets_per_round / 2
    steps = by_age(Steps.of(chain, step, 1.15, due))
    assert steps.entries > MANY
    found = decay(steps, due)
    assert found is not None
    followed, solved = (NeverLate(steps, due, due / 8.3, found.safe, 128) for _ in range(2))
    for _ in range(400):
        followed.step()
    assert without_end(solved, found.rate)
    leads = np.geomspace(due, 0.2 * found.safe, 8)
    one, other = (np.array([1 - x.read(x.start_row(), lead) for lead in leads]) for x in (followed, solved))
    assert other[one > 1e-9] == pytest.approx(one[one > 1e-9], rel=1e-5)


def test_one_mode_holds_above_the_mean_after_a_slow_start_without_loss() -> None:
    """E[(y - A)+] is y - E[A], and little more, far above the mean, however much a slow start may deliver."""
    chain = chain_of(Path(loss=0.00374, rtt=0.0442, rto=0.254, sender="linux", losses="independent"))
    modes = Modes(Steps.of(chain, 2, 1.3))
    n = 1000.0
    law = LongLaw(modes, n, 1400.0, 0.0, 16.0, 50.0)
    mean, sigma = modes.first + modes.mean * n / modes.rounds, math.sqrt(modes.variance * n / modes.rounds)
    y = np.array([0.0, 1.0, 2.0, 4.0])
    more = law.missing(np.full(4, n), mean + sigma * y) / sigma - y  # E[(A - y)+]
    assert (np.diff(more) < 0).all()
    assert 0.3 < more[0] < 1.0  # .399 of a normal law
    assert 0.0 < more[-1] < 0.1


def test_only_a_long_video_is_without_end() -> None:
    steps, due = steps_of({"sender": "classic"}, 1.3)
    found = decay(steps, due)
    assert found is not None
    one, other = (late_after(steps, due, found.rate, number) for number in (100, 100_000))
    assert one.at(0.0) > 1e-3
    assert other.at(0.0) < 1e-9


def test_what_is_late_after_some_steps_is_bounded_at_every_lead() -> None:
    """Beside the difference of two videos, one of which goes on for ever."""
    steps, due = steps_of({"sender": "classic"}, 1.3)
    found = decay(steps, due)
    assert found is not None
    ended, endless = (NeverLate(steps, due, due / 8.3, found.safe, 256) for _ in range(2))
    for _ in range(100):
        ended.step()
    assert without_end(endless, found.rate)
    bound = late_after(steps, due, found.rate, 100.0)
    leads = np.geomspace(due, 0.2 * found.safe, 12)
    later = np.array([ended.read(ended.start_row(), x) - endless.read(endless.start_row(), x) for x in leads])
    bounds = np.array([bound.at(x) for x in leads])
    assert (later <= bounds).all()
    assert (np.diff(bounds) < 0).all()
    assert bounds[-1] < 1e-2 * bounds[0]


def test_what_is_late_has_no_bound_from_a_vector_with_nothing_at_some_entries(monkeypatch: pytest.MonkeyPatch) -> None:
    steps, due = steps_of({"sender": "classic"}, 1.3)

    def nothing_at_one(*_: object) -> tuple[float, np.ndarray]:
        vector = np.ones(steps.entries)
        vector[-1] = 0.0
        return 0.5, vector

    monkeypatch.setattr(Tilted, "at", nothing_at_one)
    assert (late_after(steps, due, 0.1, 100.0).bounds == 1.0).all()


def test_nothing_decays_where_more_is_due_than_comes() -> None:
    steps, due = steps_of({"sender": "classic"}, 0.9)
    assert decay(steps, due) is None


@pytest.mark.parametrize(("tcp", "ratio"), [(TCPS[0], 0.9), (TCPS[0], 1.05), (TCPS[1], 0.9), (TCPS[2], 1.05)])
def test_one_mode_is_the_law_after_many_losses(tcp: dict[str, object], ratio: float) -> None:
    steps, due = steps_of(tcp, ratio)
    chain = steps.chain
    begin, end = 500.0, 900.0
    lattice = Law(steps, 4.0, 2 * end * chain.packets_per_round, due, math.inf)
    modes, found = Modes(steps), decay(steps, due)
    law = LongLaw(modes, begin, end, found.rate if found else 0.0, 10.0, 4.0)
    for rounds in (begin, end):
        sigma = math.sqrt(modes.variance / modes.rounds * rounds)
        y = chain.packets_per_round * rounds - sigma * np.array([-9.5, -3.0, -0.5, 0.0, 0.5, 1.5, 3.0])
        t = np.full(len(y), rounds)
        assert law.missing(t, y) == pytest.approx(lattice.missing(t, y), rel=5e-3)


@pytest.mark.parametrize("tcp", TCPS)
def test_what_is_never_late_is_bounded(tcp: dict[str, object]) -> None:
    steps, due = steps_of(tcp, 1.3)
    lattice = Law(steps, 1.0, 3e4, due, math.inf)
    bounds = Modes(steps).bounds
    for rounds in (20.0, 100.0, 300.0):
        mean = steps.chain.packets_per_round * rounds
        y = mean * np.array([0.5, 0.7, 0.9])
        bound = np.exp([[theta * one + a + b * rounds - 1 for one in y] for theta, b, a in bounds])
        bound /= np.array([[theta] for theta, _, _ in bounds])
        missing = lattice.missing(np.full(len(y), rounds), y)
        assert np.all(missing <= bound.min(axis=0))
    assert bound.min(axis=0)[-1] <= 100 * missing[-1]


@pytest.mark.parametrize(
    ("tcp", "ratio", "losses"),
    [
        *((TCPS[0], 0.95, 300), (TCPS[1], 1.0, 300), (TCPS[2], 0.97, 300)),
        pytest.param(TCPS[1], 0.9, 300, marks=pytest.mark.long),
        pytest.param(TCPS[0], 1.03, 1024, marks=pytest.mark.long),
    ],
)  # in the last one waits that follow each other have a mode as large, where the line would lie first
def test_after_many_losses_is_where_steps_lead(tcp: dict[str, object], ratio: float, losses: int) -> None:
    steps, due = steps_of(tcp, ratio)
    modes, scale = Modes(steps), Scale.of(steps.chain)
    rounds = float(math.ceil(losses * scale.rounds))
    found = many_losses(steps, modes, due, due / 4.3, math.inf, 256, scale.rounds, rounds)
    assert found is not None
    sigma, fall = math.sqrt(modes.variance * rounds), max(0.0, due - modes.mean) * rounds
    followed = NeverLate(steps, due, due / 4.3, fall + 6 * sigma, 256)
    for _ in range(int(rounds) - followed.opening):
        followed.step()
    leads = np.concatenate([[due], sigma * np.array([0.1, 0.5]), fall + sigma * np.array([-0.5, 0.0, 1.0, 2.0])])
    row = followed.start_row()
    for lead in leads[leads > 0].tolist():
        expected = 1 - followed.read(row, lead)
        assert 1 - found.at(lead, rounds) == pytest.approx(expected, rel=6e-3)


@pytest.mark.long
def test_many_states_are_followed_through_fewer_losses() -> None:
    chain = chain_of(Path(loss=0.012, rtt=0.16, rto=0.36, sender="linux", losses="independent"))
    due = chain.packets_per_round / 0.97
    steps, scale = by_age(Steps.of(chain, 1, 1.15, due, diffusive=True)), Scale.of(chain)
    assert steps.entries > MANY
    rounds = float(math.ceil(130 * scale.rounds))
    modes = Modes(steps)
    found = many_losses(steps, modes, due, due / 4.3, math.inf, 256, scale.rounds, rounds)
    assert found is not None
    sigma = math.sqrt(modes.variance * rounds)
    followed = NeverLate(steps, due, due / 4.3, 5 * sigma, 256)
    for _ in range(int(rounds) - followed.opening):
        followed.step()
    row = followed.start_row()
    for lead in sigma * np.array([0.1, 0.5, 1.0, 2.0]):
        assert 1 - found.at(lead, rounds) == pytest.approx(1 - followed.read(row, lead), rel=1e-2)


def test_a_slow_start_without_loss_does_not_outweigh_all_else() -> None:
    """On a line left of 0 it would: P(any late) would come out as 1 for all leads but the last."""
    chain = chain_of(Path(loss=0.016266, rtt=0.03924, rto=0.23924, sender="linux", losses="independent"))
    due, rounds = chain.packets_per_round / 0.8504, 195 * Scale.of(chain).rounds
    passage = FirstPassage(Modes(Steps.of(chain, 1, 1.15, due)), due, rounds, 1.5 * rounds)
    late = passage.late(np.array([54.0, 182.0, 364.0, 728.0, 1456.0]), rounds, np.zeros(2))
    assert (np.diff(late) < -1e-3).all()
    assert late[0] < 0.99


def test_a_few_losses_are_not_many() -> None:
    steps, due = steps_of(TCPS[1], 0.95)
    assert many_losses(steps, Modes(steps), due, due / 4.3, math.inf, 256, Scale.of(steps.chain).rounds, 100.0) is None


def test_early_on_there_is_no_single_mode() -> None:
    steps, due = steps_of({"sender": "classic"}, 1.0)
    with pytest.raises(AccuracyError, match="mode"):
        LongLaw(Modes(steps), 2.0, 40.0, 0.0, 1.0, due)


@pytest.mark.parametrize("ratio", [0.93, pytest.param(1.06, marks=pytest.mark.long), 1.3])
def test_with_and_without_modes_is_the_same(ratio: float, monkeypatch: pytest.MonkeyPatch) -> None:
    path = Path(**(USUAL | {"sender": "classic"}))  # type: ignore[arg-type]
    video = Video(packet_rate=chain_of(path).packets_per_round / 0.1 / ratio, duration=200)
    delays = np.array([2.0, 10.0, 40.0])
    by_modes = stored(path, video, accuracy="fine")
    f = by_modes.late_fraction(delays)
    assert any(isinstance(law, LongLaw) for _, law in by_modes._arrivals.levels())  # type: ignore[union-attr]
    monkeypatch.setattr(arrival_levels, "LOSSES", math.inf)
    followed = stored(path, video, accuracy="fine").late_fraction(delays)
    used = followed > 1e-9
    assert f[used] == pytest.approx(followed[used], rel=2e-2)


def test_late_packets_of_the_first_losses_are_all_counted() -> None:
    """About here 60 rounds pass until the first loss, in 40 of which a startup delay of 3.6 s is made up for."""
    path = Path(sender="linux", losses="bursts", loss=5.02e-4, rtt=0.353, rto=0.621)
    f = stored(path, Video(bitrate=1.05e6, duration=400), accuracy="fine").late_fraction(np.linspace(3.5, 3.65, 4))
    assert np.all((f[1:] < f[:-1]) & (f[1:] > 0.95 * f[:-1]))


def test_sums_over_time_do_not_end_with_a_lattice() -> None:
    """Between 0.56 and 0.6 s a lattice ends a few rounds after a look at what is still to come."""
    path, delays = Path(sender="classic", loss=0.0085, rtt=0.0192, rto=0.2192), np.linspace(0.55, 0.61, 25)
    f = stored(path, Video(packet_rate=320, duration=31), accuracy="fine").late_fraction(delays)
    assert np.all((f[1:] < f[:-1]) & (f[1:] > 0.98 * f[:-1]))


def test_before_the_first_loss_a_video_is_as_exact_as_after_many() -> None:
    """Nearly all mass is in one place then, between two points of a lattice: weights of four, not all positive."""
    path, video = Path(sender="classic", loss=0.000787, rtt=0.2, rto=0.4), Video(packet_rate=200, duration=24)
    delays = [0.1, 0.7, 2.0, 4.0, 8.0]
    exact, fine = (stored(path, video, accuracy=accuracy) for accuracy in ("exact", "fine"))
    assert fine.late_fraction(delays) == pytest.approx(exact.late_fraction(delays), rel=1e-3)


def test_one_mode_is_the_same_above_and_below_the_mean() -> None:
    path, delays = Path(sender="classic", loss=0.00151, rtt=0.141, rto=0.349), np.linspace(200, 300, 21)
    f = stored(path, Video(bitrate=2.78e6, duration=2820), accuracy="fine").late_fraction(delays)
    assert np.all(np.abs(np.diff(np.log(f), 2)) < 0.01)


@pytest.mark.long
def test_what_is_late_after_the_video_is_not_late() -> None:
    """Timeouts back off to 485 round trips, half of the video and its longest startup delay."""
    path = Path(sender="classic", tcp="reno", loss=0.0587, rtt=0.0322, rto=0.244, initial_window=10, detection="rack")
    video, delays = Video(bitrate=1.05e6, duration=11), [0.73, 3.7, 9.3, 17.0]
    exact, fine = (stored(path, video, accuracy=accuracy) for accuracy in ("exact", "fine"))
    late = 1 - exact.no_late_probability(delays)
    assert late[-1] > 1e-5
    assert 1 - fine.no_late_probability(delays) == pytest.approx(late, rel=2e-3)
    with pytest.warns(InputWarning):
        assert fine.no_late_probability(1000.0) == 1.0


@pytest.mark.parametrize("rate", [120.0, pytest.param(240.0, marks=pytest.mark.long)])
def test_what_a_lattice_may_still_bring_is_left_out_where_it_is_nothing(monkeypatch, rate):
    """With long waits next to nothing is below the edge of a lattice for thousands of rounds."""
    path, video = Path(loss=0.03, rtt=0.03, tcp="reno-sack"), Video(packet_rate=rate, duration=100)
    delays = np.array([0.5, 5.0, 40.0])
    found = stored(path, video, accuracy="fine")
    late = found.late_fraction(delays)
    monkeypatch.setattr(coarse_arrivals, "LEFT", 0.0)
    monkeypatch.setattr(coarse_arrivals, "SLIGHT", 0.0)
    np.testing.assert_allclose(late, stored(path, video, accuracy="fine").late_fraction(delays), rtol=1e-5, atol=2e-12)


@pytest.mark.long
def test_steps_are_followed_until_they_are_near_the_video_without_end() -> None:
    path = Path(loss=0.02, rtt=0.1, rto=0.3, sender="linux", losses="independent")
    chain = chain_of(path)
    video = Video(packet_rate=chain.packets_per_round / 1.6 / 0.1, duration=50.0)
    timeline, resolution = Timeline.of(path, video), FAST
    arrivals = CoarseArrivals(path, (timeline,), resolution)
    steps = arrivals.steps
    curve, followed = (NeverLateCurve(steps, resolution, arrivals.scale, timeline, Modes(steps)) for _ in range(2))
    followed._decay = None
    followed._modes = None
    for delay in (2.0, 4.0):
        found, expected = (1 - one.at(timeline, delay)[0] for one in (curve, followed))
        assert found == pytest.approx(expected, rel=1e-3)
    assert followed._values is not None
    assert curve._values is not None
    assert curve._values.number < 0.8 * followed._values.number
