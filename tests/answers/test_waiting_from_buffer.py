"""Players that start with a buffer and wait for each missing packet: beside players that are followed, and drawn."""

from __future__ import annotations

import numpy as np
import pytest

from tcpstream import Path, Player, Video, play
from tcpstream.answers.buffered_play import BufferedPlay
from tcpstream.answers.two_finenesses import TwoFinenesses
from tcpstream.answers.waiting_from_buffer import WaitingFromBuffer, begun
from tcpstream.coarse.never_late_after import on_entries
from tcpstream.coarse.steps import Steps
from tcpstream.tcp import chain_of

PATH = Path(loss=0.02, rtt=0.1, max_window=24)
NAMES = "stall_probability", "mean_total_rebuffer", "rebuffering_ratio"


def video(ratio: float, seconds: float, path: Path = PATH) -> Video:
    return Video(packet_rate=chain_of(path).packets_per_round / path.rtt / ratio, duration=seconds)


def seen(of: Video, start: float, quick: bool, monkeypatch: pytest.MonkeyPatch) -> BufferedPlay:
    """Return what is seen where following players is quick, or takes long."""
    with monkeypatch.context() as patch:
        patch.setattr(WaitingFromBuffer, "is_quick", quick)
        return BufferedPlay(PATH, of, Player(start_buffer=start))


@pytest.mark.parametrize(("ratio", "seconds", "start"), [(1.6, 60, 0.5), (0.8, 20, 1.0)], ids=["faster", "slower"])
def test_it_is_what_players_that_are_followed_see(ratio, seconds, start, monkeypatch):
    of = video(ratio, seconds)
    found, followed = (seen(of, start, quick, monkeypatch) for quick in (False, True))
    for name in NAMES:
        expected = getattr(followed, name)
        off = found.errors[name] + followed.errors[name]
        assert abs(getattr(found, name) - expected) < off
        assert found.errors[name] < 0.1 * expected
    times = np.linspace(0, seconds, 7)
    off = found.errors["no_stall_until"] + followed.errors["no_stall_until"]
    assert np.abs(found.no_stall_until(times) - followed.no_stall_until(times)).max() < off
    assert found.first_stall_quantile(0.5) == pytest.approx(followed.first_stall_quantile(0.5), abs=0.1 * seconds)


@pytest.mark.parametrize(
    ("ratio", "seconds"),
    [(0.97, 200), *(pytest.param(*one, marks=pytest.mark.long) for one in ((1.04, 300), (0.7, 300)))],
)
def test_after_many_losses_one_mode_tells_what_follows(ratio, seconds, monkeypatch):
    """Of 440 or 660 losses 16 to 96 are followed."""
    of = video(ratio, seconds)
    told = []
    by_one_mode = WaitingFromBuffer._by_one_mode
    with monkeypatch.context() as patch:
        patch.setattr(WaitingFromBuffer, "_by_one_mode", lambda *args: told.append(by_one_mode(*args)) or told[-1])
        found = seen(of, 1.5, False, monkeypatch)
    assert None not in told
    assert len(told) == 2
    assert told[0][0].longer.args[0].known < 1000
    monkeypatch.setattr(WaitingFromBuffer, "_by_one_mode", lambda *_: None)
    every = seen(of, 1.5, False, monkeypatch)
    for name in NAMES:
        expected = getattr(every, name)
        assert getattr(found, name) == pytest.approx(expected, rel=0.01)
        assert abs(getattr(found, name) - expected) < found.errors[name] < 0.12 * expected
    times = np.linspace(0, seconds, 13)
    assert found.no_stall_until(times) == pytest.approx(every.no_stall_until(times), abs=0.01)
    assert found.mean_join_time == every.mean_join_time


def test_smallest_start_buffer_meets_its_target(monkeypatch):
    of = video(1.6, 30)
    monkeypatch.setattr(WaitingFromBuffer, "is_quick", False)
    target = 0.001
    start = BufferedPlay(PATH, of, Player(start_buffer=0.5)).required_start_buffer(stall_probability=target)
    found = BufferedPlay(PATH, of, Player(start_buffer=start))
    assert found.stall_probability + found.errors["stall_probability"] <= target
    assert found.stall_probability > 0.6 * target  # a few packets fill the buffer in a round: P has steps
    assert found._solver._suits(start)


def test_drawn_sessions_at_an_ordinary_rate():
    path, of = Path(loss=0.01, rtt=0.1), Video(bitrate=0.95e6, duration=60)
    found = play(path, of, Player(start_buffer=1.0))
    assert isinstance(found._solver, WaitingFromBuffer)
    assert found._solver._suits(1.0)
    drawn = found.sessions(40_000, np.random.default_rng(3)).total_rebuffer
    stalled = drawn > 1e-9
    error = 4 * stalled.std() / np.sqrt(len(drawn))
    assert abs(found.stall_probability - stalled.mean()) < error + found.errors["stall_probability"]
    error = 4 * drawn.std() / np.sqrt(len(drawn))
    assert abs(found.mean_total_rebuffer - drawn.mean()) < error + found.errors["mean_total_rebuffer"]
    assert error < drawn.mean()  # the comparison says something


def test_playback_begins_in_states_that_stand_for_those_of_the_chain():
    solver = TwoFinenesses(chain_of(PATH), PATH, video(1.3, 60))
    packets = 40.0
    law = begun(solver._moves(solver._fine), packets)
    steps = Steps.of(chain_of(PATH), 2, 1.15)
    on = on_entries(steps, law)
    assert law.chance.sum() == pytest.approx(1.0, abs=1e-9)
    assert on.chance.sum() == pytest.approx(1.0, abs=1e-9)
    assert on.chance @ on.lead == pytest.approx(law.chance @ law.lead)
    assert (steps.times[on.state] == 0).all()
    windows = chain_of(PATH).graph.windows
    sends = [float(weight @ windows[np.minimum(states, len(windows) - 1)]) for weight, states in (
        (law.chance, law.state), (on.chance, steps.grid.states[steps.points[on.state]]))]  # fmt: skip
    assert sends[1] == pytest.approx(sends[0], rel=0.02)


def test_players_that_resume_with_more_are_followed():
    assert type(play(PATH, video(1.3, 20), Player(start_buffer=1, resume_buffer=1))._solver) is TwoFinenesses
