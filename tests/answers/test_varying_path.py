"""Answers of a path that varies: beside a path that does not, and beside an agent that knows nothing of the chain."""

from functools import cache

import numpy as np
import pytest

import regime_agent
import tcpstream
from tcpstream import InputError, Path, PausingPlayer, Player, SegmentPlayer, Varying, Video
from tcpstream.coarse import never_late
from tcpstream.explicit import explicit_live, explicit_live_finite, explicit_stored
from tcpstream.layered.sustained import tfrc_layers
from tcpstream.tcp import formulas

DELAYS = np.array([0.0, 0.4, 1.0])
RUNS = 15_000


def path(**change):
    return Path(
        **{"sender": "classic", "loss": 0.03, "rtt": 0.125, "rto": 0.3, "losses": "independent", "max_window": 16}
        | change
    )


def narrow(**change):
    return path(**{"max_window": None, "bottleneck": 80, "buffer": 6} | change)


VIDEO = Video(packet_rate=40, duration=3)

ALIKE = [path(), narrow(), path(tcp="cubic", max_window=10), path(initial_window=4, rounds_per_increase=2)]


@pytest.mark.parametrize(
    ("one", "start"),
    [pytest.param(ALIKE[0], None, marks=pytest.mark.long), *((one, None) for one in ALIKE[1:]), (ALIKE[0], 1)],
    ids=["reno", "bottleneck", "cubic", "slow start", "reno from a regime"],
)
def test_equal_regimes_are_a_path_that_does_not_vary(one, start):
    varying = Varying([one, one, one], [3.0, 1.0, 7.0], start=start)
    a, b = (tcpstream.stored(each, VIDEO, accuracy="exact") for each in (one, varying))
    assert b.late_fraction(DELAYS) == pytest.approx(a.late_fraction(DELAYS), rel=1e-10, abs=1e-13)
    assert b.no_late_probability(DELAYS) == pytest.approx(a.no_late_probability(DELAYS), abs=1e-12)
    a, b = (tcpstream.live(each, Video(packet_rate=24, duration=2), accuracy="exact") for each in (one, varying))
    assert b.late_fraction(DELAYS) == pytest.approx(a.late_fraction(DELAYS), rel=1e-10, abs=1e-13)
    a, b = (tcpstream.play(each, VIDEO, Player(start=1.0), accuracy="exact") for each in (one, varying))
    assert b.stall_probability == pytest.approx(a.stall_probability, rel=1e-10)


CASES = {
    "losses": Varying(
        [path(loss=loss, max_window=8) for loss in (0.01, 0.05, 0.2)],
        [3, 1.5, 1],
        to=[[0, 1, 0], [0.5, 0, 0.5], [0.2, 0.8, 0]],
        names=["good", "fair", "bad"],
        start="bad",
    ),
    "bottleneck": Varying([narrow(), narrow(bottleneck=24, buffer=3, loss=0.01)], [3, 1.5], start=0),
    "cubic": Varying([path(tcp="cubic", max_window=8, loss=loss) for loss in (0.01, 0.1)], [3, 1]),
}


@cache
def drawn(name, live):
    """Packets in order by round and run; of a live stream, where packets come to exist."""
    varying, rounds = CASES[name], int(VIDEO.duration / 0.125)
    m = VIDEO.packet_rate * 0.125
    exists = np.minimum(m * np.arange(rounds + 31), m * rounds) if live else None
    rng = np.random.default_rng(20 + live)
    return np.minimum(regime_agent.delivered(varying, rounds + 30, RUNS, rng, exists), VIDEO.packets)


def judged(name, live, delay):
    """Mean late packets and whether any is late, by run."""
    rounds = int((VIDEO.duration + delay) / 0.125)
    due = np.clip(VIDEO.packet_rate * (0.125 * np.arange(rounds + 1) - delay), 0, VIDEO.packets)
    return regime_agent.lateness(drawn(name, live)[:, :rounds], due)


def near(value, samples):
    """Whether a value is the mean of samples, within four standard errors."""
    error = samples.std(ddof=1) / np.sqrt(len(samples))
    assert abs(value - samples.mean()) < 4 * error, (value, samples.mean(), error)


@pytest.mark.parametrize("name", CASES)
def test_stored_video_beside_the_agent(name):
    solved = tcpstream.stored(CASES[name], VIDEO, accuracy="exact")
    watched = tcpstream.play(CASES[name], VIDEO, Player(start=1.0), accuracy="exact")
    for delay in (0.5, 1.0, 2.5):
        late, any_late = judged(name, False, delay)
        near(solved.late_fraction(delay), late / VIDEO.packets)
        near(1 - solved.no_late_probability(delay), any_late)
    near(watched.longer_than(1.5), judged(name, False, 2.5)[1])


@pytest.mark.parametrize("name", CASES)
def test_live_stream_beside_the_agent(name):
    solved = tcpstream.live(CASES[name], VIDEO, accuracy="exact")
    for delay in (0.5, 2.0):
        near(solved.late_fraction(delay), judged(name, True, delay)[0] / VIDEO.packets)


BEHIND_AT_FIRST = Varying([narrow(bottleneck=24, buffer=0), narrow()], [1, 20], start=0)
"""Its first regime is slower than the video: followed to the packet as long as other paths are, it took all memory."""


@pytest.mark.parametrize("varying", [CASES["losses"], CASES["bottleneck"], BEHIND_AT_FIRST])
def test_coarse_lattices_are_as_near_as_they_say(varying):
    video = Video(packet_rate=40, duration=15)
    exact, coarse = (tcpstream.stored(varying, video, accuracy=one) for one in ("exact", "fine"))
    for delay in (0.5, 1.0, 2.5):
        f, other = exact.late_fraction(delay), coarse.late_fraction(delay)
        assert abs(other / f - 1) < coarse.relative_error(delay)
        late, other = 1 - exact.no_late_probability(delay), 1 - coarse.no_late_probability(delay)
        assert abs(other / late - 1) < coarse.no_late_error(delay) + 1e-9


def test_where_the_largest_window_limits_steps_the_first_rounds_stay_few(monkeypatch):
    """CUBIC of three regimes: followed to the packet for 96 rounds, as other paths are, it took all memory."""
    opening = never_late.opening

    def few(steps, count, box):
        assert steps.step * count <= never_late.OPENING
        return opening(steps, count, box)

    monkeypatch.setattr(never_late, "opening", few)
    sender = {"sender": "classic", "rto": 0.1, "tcp": "cubic", "max_window": 6, "initial_window": 2}
    regimes = [Path(loss=loss, rtt=0.1, **sender) for loss in (0.0095, 0.0148, 0.125)]
    varying, video = Varying(regimes, [47, 3.6, 4.1], start=1), Video(packet_rate=20, duration=17)
    exact, coarse = (tcpstream.stored(varying, video, accuracy=one) for one in ("exact", "fine"))
    late, other = (1 - one.no_late_probability(1.36) for one in (exact, coarse))
    assert abs(other / late - 1) < coarse.no_late_error(1.36)


def test_stream_without_end():
    """Beside the agent from the 500th round on, when the start is forgotten, and beside equal regimes."""
    varying, m, rounds, first = CASES["bottleneck"], 4.0, 3500, 500
    solved = tcpstream.live(varying, Video(packet_rate=m / 0.125))
    found = regime_agent.delivered(varying, rounds, 1500, np.random.default_rng(3), m * np.arange(rounds + 1))
    for delay in (0.5, 1.5):
        due = m * np.maximum(np.arange(rounds + 1) - delay / 0.125, 0.0)
        late, _ = regime_agent.lateness(found[:, first:] - due[first], due[first:] - due[first])
        samples, f = late / (m * (rounds - first)), solved.late_fraction(delay)
        error = 4 * samples.std(ddof=1) / np.sqrt(len(samples)) + solved.lattice_error(delay) * f
        assert abs(f - samples.mean()) < error
    alike = tcpstream.live(Varying([narrow()] * 2, [2, 1]), Video(packet_rate=m / 0.125), accuracy="fine")
    one = tcpstream.live(narrow(), Video(packet_rate=m / 0.125), accuracy="exact")
    assert alike.late_fraction(1.0) == pytest.approx(one.late_fraction(1.0), rel=alike.lattice_error(1.0))


def test_stream_without_end_that_a_path_does_not_carry():
    with pytest.raises(tcpstream.NoFiniteDelayError, match="TCP achieves"):
        tcpstream.live(CASES["bottleneck"], Video(packet_rate=100))


V = CASES["losses"]

REFUSED = {
    "live without end, exact": lambda: tcpstream.live(V, Video(packet_rate=20), accuracy="exact"),
    "live without end, cubic": lambda: tcpstream.live(CASES["cubic"], Video(packet_rate=10)),
    "live with a duration, fine": lambda: tcpstream.live(V, VIDEO, accuracy="fine"),
    "growth": lambda: tcpstream.live(V, Video(packet_rate=20), growth="limited"),
    "play live": lambda: tcpstream.play(V, VIDEO, live=True),
    "play segments": lambda: tcpstream.play(V, VIDEO, SegmentPlayer(segment=2)),
    "play skipping": lambda: tcpstream.play(V, VIDEO, Player(on_stall="skip")),
    "play pausing": lambda: tcpstream.play(V, VIDEO, PausingPlayer(start_buffer=2, resume_buffer=2, client_buffer=5)),
    "play pacing": lambda: tcpstream.play(V, VIDEO, pacing=tcpstream.Pacing(2)),
    "play without a duration": lambda: tcpstream.play(V, Video(packet_rate=20)),
    "transfer_time": lambda: tcpstream.transfer_time(V, packets=10),
    "explicit_stored": lambda: explicit_stored(V, VIDEO),
    "explicit_live": lambda: explicit_live(V, Video(packet_rate=8), 1.0, depth=10),
    "explicit_live_finite": lambda: explicit_live_finite(V, Video(packet_rate=8, duration=2), 1.0),
    "tfrc_layers": lambda: tfrc_layers(V, 1e5),
    "pftk": lambda: formulas.pftk(V),
    "mathis": lambda: formulas.mathis(V),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_takes_no_path_that_varies_says_so(name):
    with pytest.raises(InputError) as error:
        REFUSED[name]()
    assert "\n" not in str(error.value)
