"""Players with buffer thresholds, against sessions that are simulated round by round, and known values."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest

import tcpstream
from buffered_sessions import close, simulated
from tcpstream import AccuracyError, InputError, Path, Player, Video, play
from tcpstream.answers.buffered_play import BufferedPlay
from tcpstream.answers.quadrature import NODES, quadrature_error
from tcpstream.answers.rarely_stalled import RarelyStalled
from tcpstream.answers.two_finenesses import TwoFinenesses
from tcpstream.playout.fineness import Fineness
from tcpstream.tcp import chain_of

PATH = Path(sender="classic", loss=0.02, rtt=0.1, timeout_ratio=3, max_window=53, backoff="rfc6298", halving="floor")


SMALL = Path(sender="classic", loss=0.02, rtt=0.1, timeout_ratio=3, max_window=11, backoff="rfc6298", halving="floor")


SACK = {"tcp": "reno-sack", "initial_window": 4, "detection": "rack"}


@pytest.mark.parametrize(
    ("path", "rate", "duration", "player"),
    [
        ({"sender": "classic", "rto": 0.3}, 40, 10, Player(start_buffer=1, resume_buffer=1.5)),
        ({"sender": "classic", "rto": 0.35}, 50, 10, Player(start_buffer=0.3, resume_buffer=0.5)),
        ({"sender": "classic", "rto": 0.3, "halving": "ceil"}, 43.2, 8, Player(start_buffer=1, resume_buffer=1.5)),
        ({"sender": "classic", "rto": 0.3}, 40, 8.13, Player(start_buffer=0.5, resume_buffer=0.07)),
        (SACK | {"rto": 0.3}, 60, 8, Player(start_buffer=1, resume_buffer=1.5)),
        pytest.param(
            {"tcp": "reno-sack", "rto": 1.0}, 63, 15, Player(start_buffer=1, resume_buffer=1), marks=pytest.mark.long
        ),
        (SACK | {"rto": 0.3, "tcp": "cubic", "max_window": 9}, 50, 5, Player(start_buffer=0.5, resume_buffer=1)),
    ],
)
def test_as_sessions_that_are_simulated(path, rate, duration, player):
    path = Path(**({"sender": "classic", "loss": 0.03, "rtt": 0.1, "max_window": 14} | path))
    video = Video(packet_rate=rate, duration=duration)
    result = play(path, video, player)
    stalls, stalled, joined, first = simulated(path, video, player, 15_000, 3).T
    seconds, errors = stalled * path.rtt, result.errors
    close(stalls > 0, result.stall_probability, errors["stall_probability"])
    close(seconds, result.mean_total_rebuffer, errors["mean_total_rebuffer"])
    close(seconds / (seconds + duration), result.rebuffering_ratio, errors["rebuffering_ratio"])
    close(stalls, result.mean_stalls, errors["mean_stalls"])
    for count, chance in enumerate(result.stall_counts[:-1]):
        close(np.append(stalls == count, [True, False]), chance, errors["stall_counts"] + 1 / len(stalls))
    close(joined * path.rtt, result.mean_join_time, 1e-6)
    assert (joined * path.rtt <= result.join_time_quantile(0.9) + 1e-9).mean() >= 0.89
    half = duration / 2
    close(~((stalls > 0) & (first * path.rtt < half)), result.no_stall_until(half), errors["no_stall_until"])


@pytest.mark.long
def test_known_values():
    """10^6 sessions simulated by another program than that above gave 1.923 s, .0384 +- .0002 and .1600 +- .0008 s."""
    result = play(PATH, Video(packet_rate=40, duration=60), Player(start_buffer=2, resume_buffer=5))
    assert result.mean_join_time == pytest.approx(1.923, abs=0.002)
    assert result.stall_probability == pytest.approx(0.0384, abs=4 * 0.0002)
    assert result.mean_total_rebuffer == pytest.approx(0.1600, abs=4 * 0.0008)


@pytest.mark.parametrize(
    ("loss", "window", "rate", "begin"),
    [pytest.param(0.0012292, 16, 117, 0.47, marks=pytest.mark.long), (0.0049736, 14, 82, 0.55)],
)
def test_a_start_buffer_is_filled_by_whole_packets(loss, window, rate, begin):
    path = Path(sender="classic", loss=loss, rtt=0.1, rto=0.3, max_window=window)
    video = Video(packet_rate=rate, duration=7)
    stalls = simulated(path, video, Player(start_buffer=begin, resume_buffer=1), 40_000, 3)[:, 0]
    results = [
        play(path, video, Player(start_buffer=one, resume_buffer=1))
        for one in (begin, (np.ceil(begin * rate) - 0.9) / rate)
    ]
    assert results[0].stall_probability == results[1].stall_probability
    close(stalls > 0, results[0].stall_probability, results[0].errors["stall_probability"])


def test_resuming_with_the_missing_packet_is_counting_no_stalls():
    result = play(SMALL, Video(packet_rate=40, duration=10), Player(start_buffer=0.5))
    assert result.mean_stalls is None
    assert result.stall_counts is None
    assert result.to_dict()["rebuffer_count"] is None
    assert "stall_counts" not in result.errors


@pytest.mark.filterwarnings("ignore:a start buffer")
def test_a_buffer_that_holds_the_whole_video_never_stalls():
    result = play(SMALL, Video(packet_rate=40, duration=2), Player(start_buffer=1e7, resume_buffer=1e7))
    assert result.stall_probability <= result.errors["stall_probability"]
    assert result.mean_total_rebuffer <= result.errors["mean_total_rebuffer"]
    with pytest.raises(AccuracyError, match="no first stall"):
        result.first_stall_quantile(0.5)


@pytest.mark.parametrize(
    ("path", "video", "buffers"),
    [
        ({"loss": 1e-9, "rto": 0.1, "max_window": 2}, (40, 0.3), (0.1, 0.1)),  # 1.25 stalls, where there is one
        ({"loss": 0.05, "rto": 0.1, "max_window": 20}, (100, 0.3), (0.1, 0.1)),
        ({"loss": 0.02, "rto": 0.2, "max_window": 20}, (100, 1.02), (0.5, 0.7)),  # ends within a round
        ({"loss": 0.2, "rto": 0.3, "max_window": 8}, (40, 5), (0.5, 0.5)),  # stalls for six times its length
    ],
)
def test_the_errors_of_short_videos_hold(path, video, buffers):
    path, video = Path(sender="classic", rtt=0.1, **path), Video(packet_rate=video[0], duration=video[1])
    result = play(path, video, Player(start_buffer=buffers[0], resume_buffer=buffers[1]))
    found, errors = result.sessions(20_000, np.random.default_rng(3)), result.errors
    stalls = np.bincount(found.stall_session, minlength=20_000)
    seconds = np.bincount(found.stall_session, found.stall_length, minlength=20_000)
    close(stalls > 0, result.stall_probability, errors["stall_probability"])
    close(stalls, result.mean_stalls, errors["mean_stalls"])
    close(seconds, result.mean_total_rebuffer, errors["mean_total_rebuffer"])
    close(seconds / (seconds + video.duration), result.rebuffering_ratio, errors["rebuffering_ratio"])
    mean = result.mean_total_rebuffer
    assert result.rebuffering_ratio <= mean / (mean + video.duration)


def test_sessions_of_a_rate_that_is_whole_but_for_rounding():
    path, player = Path(sender="classic", loss=0.05, rtt=0.6, max_window=40), Player(start_buffer=1, resume_buffer=2)
    found = [
        play(path, Video(packet_rate=rate, duration=6), player).sessions(2_000, np.random.default_rng(3))
        for rate in (25 / 0.6, 500e3 / 12000)  # an ulp apart
    ]
    np.testing.assert_allclose(found[0].stall_length, found[1].stall_length)


def test_more_buffer_never_stalls_more_often():
    video = Video(packet_rate=50, duration=10)
    found = [play(SMALL, video, Player(start_buffer=b, resume_buffer=1)).stall_probability for b in (0.5, 1, 2)]
    assert found[0] > found[1] > found[2] > 0


def test_the_required_start_buffer_meets_its_target_and_a_packet_less_does_not():
    video = Video(packet_rate=50, duration=3)

    @cache
    def seen(packets):
        return play(SMALL, video, Player(start_buffer=packets / 50, resume_buffer=1))

    result = seen(50)
    found = round(50 * result.required_start_buffer(stall_probability=0.05), 6)
    assert found == round(found)
    assert seen(found).stall_probability <= 0.05 < seen(found - 1).stall_probability
    found = round(50 * result.required_start_buffer(ratio=0.004), 6)
    enough, less = (one.rebuffering_ratio + one.errors["rebuffering_ratio"] for one in (seen(found), seen(found - 1)))
    assert enough <= 0.004 < less
    with pytest.raises(InputError, match="stall probability or a rebuffering ratio"):
        result.required_start_buffer()


def test_the_rest_of_a_long_video_is_left_out_where_nothing_stalls_any_more(monkeypatch):
    player = Player(start_buffer=0.5, resume_buffer=1)
    long = play(SMALL, Video(packet_rate=20, duration=7200), player)
    monkeypatch.setattr("tcpstream.playout.settling.SETTLED", -1.0)
    monkeypatch.setattr("tcpstream.playout.settling.NOTHING", -1.0)
    followed = play(SMALL, Video(packet_rate=20, duration=100), player)
    for name in ("stall_probability", "mean_stalls", "mean_total_rebuffer"):
        error = long.errors[name] + followed.errors[name]
        assert getattr(long, name) == pytest.approx(getattr(followed, name), abs=error)
        assert error < 0.01 * getattr(long, name)
    assert long.rebuffering_ratio == pytest.approx(long.mean_total_rebuffer / 7200, rel=0.01)
    assert long.errors["rebuffering_ratio"] < 0.01 * long.rebuffering_ratio


def test_its_json_and_table_are_its_answers():
    pd = pytest.importorskip("pandas")
    result = play(SMALL, Video(packet_rate=40, duration=5), Player(start_buffer=1, resume_buffer=1))
    assert isinstance(result, BufferedPlay)
    assert isinstance(result, tcpstream.BufferedPlay)
    data = result.to_dict()
    assert data["parameters"]["start_buffer_s"] == 1
    assert data["rebuffer_count"]["pmf"] == result.stall_counts.tolist()
    assert sum(data["rebuffer_count"]["pmf"]) == pytest.approx(1)
    assert data["stall_length_s"]["mean"] == pytest.approx(result.mean_total_rebuffer / result.mean_stalls)
    assert data["first_stall_s"]["p50"] <= data["first_stall_s"]["p99"] <= 5
    frame = result.to_pandas([1, 5])
    assert isinstance(frame, pd.DataFrame)
    assert frame["no_stall"].iloc[-1] == pytest.approx(1 - result.stall_probability)
    assert "P(any stall)" in result.summary()
    assert "resume buffer 1 s" in repr(result)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"resume_buffer": 1}, "a resume buffer of 1 s needs a start buffer"),
        ({"start": 1, "start_buffer": 1}, "not both"),
        ({"start_buffer": 0}, "start buffer must be above 0, got 0 s"),
        ({"start_buffer": -1}, "start buffer must not be negative, got -1 s"),
        ({"start_buffer": 1, "resume_buffer": float("nan")}, "resume buffer"),
    ],
)
def test_players_that_there_are_not(settings, message):
    with pytest.raises(InputError, match=message):
        Player(**settings)


def test_what_is_refused():
    buffered = Player(start_buffer=1, resume_buffer=1)
    with pytest.raises(InputError, match="constant rate"):
        play(SMALL, Video(curve=([0, 1, 5], [0, 30, 100])), buffered)
    with pytest.raises(InputError, match="accuracy=fine"):
        play(SMALL, Video(packet_rate=40, duration=5), buffered, accuracy="fine")
    with pytest.raises(InputError, match="0 and the duration of 5 s, got 6 s"):
        play(SMALL, Video(packet_rate=40, duration=5), buffered).no_stall_until(6)
    with pytest.raises(AccuracyError, match="up to 800 states"):
        play(Path(loss=1e-3, rtt=0.04), Video(packet_rate=50, duration=600), Player(start_buffer=0.1, resume_buffer=1))
    with pytest.raises(AccuracyError, match=r"three packets.* as to [0-9.]+ packets$"):
        play(SMALL, Video(packet_rate=np.pi, duration=60), buffered)
    for due in (2.113, 0.3141, 2.9):
        with pytest.raises(AccuracyError, match="three packets") as refused:
            Fineness.of(due + 1e-5, 10.0, 100.0)
        named = float(str(refused.value).split()[-2])
        assert Fineness.of(named, 10.0, 100.0).exact
        assert named == pytest.approx(due, rel=0.03)
    with pytest.raises(AccuracyError, match="minutes"):
        play(
            Path(sender="classic", loss=1e-2, rtt=0.04, tcp="reno-sack", max_window=64),
            Video(packet_rate=350, duration=1e5),
            Player(start_buffer=1, resume_buffer=0.2),
        )


@pytest.mark.parametrize(("packets", "rounds"), [(29.5, 4), (30, 4), (30.1, 5), (52, 6)])
def test_join_times_are_those_of_whole_packets(packets, rounds):
    """2, 3, 5, 8, 12 and 18 packets where nothing is lost, though 8.37 are played in a round."""
    path = Path(sender="classic", loss=1e-9, rtt=0.1, rto=0.3, initial_window=2, max_window=20, rounds_per_increase=2)
    video = Video(packet_rate=83.7, duration=1.5)
    result = play(path, video, Player(start_buffer=packets / 83.7, resume_buffer=1))
    assert result.mean_join_time == pytest.approx(0.1 * rounds, abs=1e-6)
    assert result.join_time_cdf(0.1 * rounds - 0.01) < 1e-6
    assert result.errors["mean_join_time"] == result.errors["join_time_cdf"] == 0


def test_join_times_of_many_packets_state_how_far_they_are_off(monkeypatch):
    path, video = replace(SMALL, max_window=16), Video(packet_rate=43.7, duration=4)
    exact = play(path, video, Player(start_buffer=2, resume_buffer=1))
    mean = exact.mean_join_time  # the law is found when it is asked for
    monkeypatch.setattr("tcpstream.answers.joining.EXACT", 40)
    coarse = play(path, video, Player(start_buffer=2, resume_buffer=1))
    assert 0 < abs(coarse.mean_join_time - mean) <= coarse.errors["mean_join_time"] < 0.2
    t = np.arange(100) * path.rtt
    off = np.abs(coarse.join_time_cdf(t) - exact.join_time_cdf(t)).max()
    assert 0 < off <= coarse.errors["join_time_cdf"] < 0.3


@pytest.mark.long
def test_start_buffers_of_most_of_the_video_are_filled():
    """Of 800 packets 760, or all, which are followed two by two; a player that has all of them starts."""
    few = Path(sender="classic", loss=0.02, rtt=0.1, timeout_ratio=3, max_window=6)
    solver = TwoFinenesses(chain_of(few), few, Video(packet_rate=40, duration=20))
    most, whole, more = solver.joined([19, 20, 21])
    for one, packets in ((most, 760), (whole, 800)):
        delivered = tcpstream.transfer_time(few, packets=packets)
        mean, error = one.chance @ np.arange(len(one.chance)), delivered.errors["mean"] / few.rtt
        assert abs(mean - (delivered.mean / few.rtt - 1)) <= one.mean_error + error < 1
        assert 1 - one.chance.sum() <= one.error < 0.05
    assert (more.chance == whole.chance).all()


def test_what_takes_too_long_is_refused_before_anything_is_followed(monkeypatch):
    monkeypatch.setattr(TwoFinenesses, "_pass", lambda *_: pytest.fail("a pass was begun"))
    path = Path(loss=0.01, rtt=0.04, sender="linux", losses="independent", max_window=64)
    video = Video(packet_rate=1.02 * tcpstream.throughput(path), duration=20_000)
    with pytest.raises(AccuracyError, match=r"a player with buffers would take about .* minutes to follow"):
        play(path, video, Player(start_buffer=2, resume_buffer=0.2))


def test_a_probability_of_a_stall_below_0_by_rounding_has_no_quadrature_to_miss():
    assert quadrature_error(-1e285) == 0.0
    assert 0.0 < quadrature_error(0.1) < quadrature_error(4.0)


def test_where_next_to_nobody_stalls_bounds_are_the_answer():
    path = Path(loss=0.005, rtt=0.01)
    video, player = Video(packet_rate=131.7, duration=600), Player(start_buffer=2, resume_buffer=1)
    seen = play(path, video, player)  # 1.317 packets a round: on no lattice
    off = seen.errors
    for name in ("stall_probability", "mean_stalls", "mean_total_rebuffer", "rebuffering_ratio"):
        assert 0 < getattr(seen, name) <= off[name] < 1e-4
    assert off["stall_probability"] < 1e-6
    assert seen.mean_stall_length is None
    assert seen.to_dict()["first_stall_s"] is None
    assert seen.no_stall_until(600) == pytest.approx(1, abs=1e-6)
    assert "P(any stall) at most" in seen.summary()
    held = seen.required_start_buffer(stall_probability=0.01)  # with less it is not known
    assert play(path, video, replace(player, start_buffer=held)).errors["stall_probability"] < 1e-3
    with pytest.raises(AccuracyError, match="finer than the solve"):
        seen.required_start_buffer(stall_probability=1e-30)


@pytest.mark.parametrize("tcp", ["reno-sack", "cubic"])
def test_join_times_beside_bounds_are_those_beside_passes(tcp):
    path, video = Path(loss=0.02, rtt=0.1, tcp=tcp, max_window=120), Video(packet_rate=40, duration=60)
    chain = chain_of(path)
    rarely = RarelyStalled(chain, path, 4.0, video.packets, 4, True)
    other = TwoFinenesses(chain, path, video)
    other._rare = None
    for mine, whole in zip(rarely.joined([30.0, 50.0]), other.joined([0.75, 1.25])):
        rounds = max(len(mine.chance), len(whole.chance))
        laws = [np.cumsum(np.pad(one.chance, (0, rounds - len(one.chance)))) for one in (mine, whole)]
        assert np.abs(laws[0] - laws[1]).max() <= mine.error + whole.error + 1e-9
        assert mine.mean_error < 0.2


@pytest.mark.parametrize(
    ("path", "rate", "enough"),
    [
        (Path(loss=0.005, rtt=0.04), 333, [True, True, False]),
        (Path(sender="classic", loss=0.02, rtt=0.1, max_window=8), 20, [True, False, False]),
    ],
    ids=["on a lattice", "to the packet"],
)
def test_leads_are_large_enough_where_larger_ones_change_next_to_nothing(path, rate, enough):
    """A few in a million on lattices, where long silences hardly fall with the lead; it is stated."""
    solver = TwoFinenesses(chain_of(path), path, Video(packet_rate=rate, duration=60))
    nobody = np.zeros(solver._columns)
    nobody[[0, *range(-NODES, 0)]] = 1  # no stall, and a rebuffering ratio of 0
    for left, is_enough in zip((1e-12, 1e-6, 1e-5), enough):
        slack = np.zeros((1, solver._columns))
        slack[0, 0] = left
        assert solver._is_enough(SimpleNamespace(slack=slack, seen=nobody[np.newaxis, np.newaxis])) is is_enough
