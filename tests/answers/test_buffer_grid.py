"""Pairs of buffers: the answers about each player alone, and sessions that are simulated round by round."""

from __future__ import annotations

import numpy as np
import pytest

import tcpstream
from buffered_sessions import close, simulated
from tcpstream import InputError, Path, Player, Video, buffer_grid, play

PATH = Path(sender="classic", loss=0.03, rtt=0.1, rto=0.3, tcp="reno-sack", max_window=12)
STARTS, RESUMES = (0.3, 1.0), (0.5, 1.5)
NAMES = ("stall_probability", "mean_stalls", "mean_total_rebuffer", "rebuffering_ratio")


@pytest.fixture(scope="module")
def whole():
    """A round plays four packets."""
    video = Video(packet_rate=40, duration=4)
    return video, buffer_grid(PATH, video, STARTS, RESUMES)


@pytest.fixture(scope="module")
def between():
    """A round plays 12.4 packets, and no lattice has them."""
    path = Path(sender="classic", loss=0.005, rtt=0.1, rto=0.3, tcp="reno-sack", max_window=18)
    video = Video(packet_rate=124, duration=20)
    return path, video, buffer_grid(path, video, STARTS, RESUMES)


def as_each(path, video, found, pairs):
    for i, j in pairs:
        start, resume = STARTS[i], RESUMES[j]
        one = play(path, video, Player(start_buffer=start, resume_buffer=resume))
        for name in NAMES:
            error = one.errors[name] + found.errors[name][i, j]
            assert getattr(found, name)[i, j] == pytest.approx(getattr(one, name), abs=error), (start, resume, name)
        off = one.errors["mean_join_time"] + found.errors["mean_join_time"][i]
        assert found.mean_join_time[i] == pytest.approx(one.mean_join_time, abs=off + 1e-9)
        for u in (0.5, 0.99):
            off = one.errors["join_time_cdf"] + found.errors["join_time_cdf"][i] + 1e-9
            assert one.join_time_cdf(found.join_time_quantile(u)[i]) >= u - off
            assert one.join_time_cdf(found.join_time_quantile(u)[i] - path.rtt) <= u + off


def test_pairs_are_what_each_player_sees(whole):
    video, found = whole
    as_each(PATH, video, found, np.ndindex(2, 2))
    assert (found.errors["stall_probability"] < 0.01 * found.stall_probability).all()


def test_pairs_are_what_each_player_sees_between_packets(between):
    as_each(*between, [(1, 0)])


def test_pairs_as_sessions_that_are_simulated(between):
    path, video, found = between
    for i, j in ((0, 1), (1, 0)):
        player = Player(start_buffer=STARTS[i], resume_buffer=RESUMES[j])
        stalls, stalled, joined, _ = simulated(path, video, player, 15_000, 5).T
        seconds = stalled * path.rtt
        seen = (stalls > 0, stalls, seconds, seconds / (seconds + video.duration))
        for name, sample in zip(NAMES, seen):
            close(sample, getattr(found, name)[i, j], found.errors[name][i, j])
        close(joined * path.rtt, found.mean_join_time[i], found.errors["mean_join_time"][i])


def test_leads_that_are_apart_are_those_of_each_quantum(between, monkeypatch):
    path, video, found = between
    monkeypatch.setattr("tcpstream.playout.fineness.APART", 0.0)
    each = buffer_grid(path, video, STARTS[1:], RESUMES[:1])
    for name in NAMES:
        value = getattr(each, name)[0, 0]
        assert getattr(found, name)[1, 0] != value
        assert getattr(found, name)[1, 0] == pytest.approx(value, rel=1e-3)


def test_its_json_and_table_are_its_answers(whole):
    pd = pytest.importorskip("pandas")
    _, found = whole
    assert isinstance(found, tcpstream.BufferGrid)
    data, frame = found.to_dict(), found.to_pandas()
    assert data["stall_probability"] == found.stall_probability.tolist()
    assert data["join_time_s"]["p90"] == found.join_time_quantile(0.9).tolist()
    assert data["error_bound"]["mean_stalls"] == found.errors["mean_stalls"].tolist()
    assert isinstance(frame, pd.DataFrame)
    row = frame[frame["resume_buffer_s"] == 1.5].loc[0.3]
    assert row["rebuffering_ratio"] == found.rebuffering_ratio[0, 1]
    assert row["mean_join_time_error"] == found.errors["mean_join_time"][0]
    assert "2 start buffers, 2 resume buffers" in repr(found)


@pytest.mark.parametrize(
    ("starts", "resumes", "message"),
    [
        ([], [1], "1 to 10,000 pairs of buffers, got 0 x 1"),
        (np.ones(101), np.ones(100), "1 to 10,000 pairs of buffers, got 101 x 100"),
        ([1, 0], [1], "start buffer must be above 0, got 0 s"),
        ([1, -2], [1], "start buffer must not be negative, got -2 s"),
        ([1], [0, 1], "resume buffers must be above 0, got 0 s"),
        ([1], [float("inf")], "resume buffer"),
    ],
)
def test_pairs_that_there_are_not(starts, resumes, message):
    with pytest.raises(InputError, match=message):
        buffer_grid(PATH, Video(packet_rate=40, duration=10), starts, resumes)


def test_videos_that_pairs_have_not():
    with pytest.raises(InputError, match="duration"):
        buffer_grid(PATH, Video(packet_rate=40), [1], [1])
    with pytest.raises(InputError, match="constant rate"):
        buffer_grid(PATH, Video(curve=([0, 1, 5], [0, 30, 100])), [1], [1])
    with pytest.raises(InputError, match="quantile"):
        buffer_grid(PATH, Video(packet_rate=40, duration=1), [1], [1]).join_time_quantile(2)


def test_its_summary_has_a_line_for_each_pair(whole):
    _, found = whole
    lines = found.summary().splitlines()
    assert len(lines) == 1 + found.stall_probability.size
    first = f"starts with {found.start_buffers[0]:g} s, resumes with {found.resume_buffers[0]:g} s"
    assert lines[1].startswith(f"{first}: P(any stall) {found.stall_probability[0, 0]:.4g}")
    assert f"rebuffering ratio {found.rebuffering_ratio[-1, -1]:.4g}" in lines[-1]
