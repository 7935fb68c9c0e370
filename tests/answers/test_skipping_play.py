"""Players of a live stream that skip what comes too late, against players with a clock, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from numba import njit

import tcpstream
from tcpstream import AccuracyError, InputError, NoFiniteDelayError, Path, Player, Video, live, play
from tcpstream.tcp import chain_of
from written_rows import by_source

SACK = {"tcp": "reno-sack", "initial_window": 4, "detection": "rack"}


@njit(cache=True)
def standing(rounds, rng, starts, to, lasts, received, in_order, cumulated, first, due, lag, buffer):
    """Part of the time in which a player stands, and stalls per round, in parts of some rounds of one long stream.

    What round i delivers is there from its begin on. The player shows the packet that is due then, as long as that is
    there; time goes on packet by packet, or by parts of one. It resumes with some packets beyond.
    """
    parts = np.zeros((50, 2))
    state, arrived, wait, plays = first, 0.0, 0, True
    for part in range(-1, len(parts)):  # the first one is forgotten
        stood, stalls = 0.0, 0
        for j in range(rounds):
            i = (part + 1) * rounds + j + 1
            ordered = arrived
            if wait > 0:
                wait -= 1
            elif arrived < due * (i - 1) - 1e-6:
                u, row = rng.random(), starts[state]
                while cumulated[row] < u and row < starts[state + 1] - 1:
                    row += 1
                ordered = min(due * i, arrived + in_order[row])
                arrived, wait, state = min(due * i, arrived + received[row]), lasts[row] - 1, to[row]
            at, end = due * (i - 1) - lag, due * i - lag  # the live position of the player at its startup delay
            if not plays and ordered - at >= buffer - 1e-9:
                plays = True
            if not plays:
                stood += 1.0
            elif ordered < end - 1e-9:
                plays, stalls = False, stalls + 1
                stood += (end - max(ordered, at)) / due
        if part >= 0:
            parts[part] = stood / rounds, stalls / rounds
    return parts


def simulated(path, rate, start, buffer):
    rows = chain_of(path).written_out
    return standing(
        40_000, np.random.default_rng(7), *by_source(rows), rows.start, rate * path.rtt, rate * start, rate * buffer,
    ).T  # fmt: skip


def close(parts, value, error):
    assert abs(parts.mean() - value) <= 4 * parts.std(ddof=1) / np.sqrt(len(parts)) + error


@pytest.mark.parametrize(
    ("path", "rate", "start"),
    [
        ({"sender": "classic", "rto": 0.3}, 20, 1.0),
        ({"sender": "classic", "rto": 0.35}, 23.7, 0.73),
        (SACK | {"rto": 0.3}, 67.3, 0.5),
        (SACK | {"rto": 0.3, "tcp": "cubic", "max_window": 10}, 40, 0.5),
    ],
)
def test_as_a_player_with_a_clock(path, rate, start):
    path = Path(**{"sender": "classic", "loss": 0.03, "rtt": 0.1, "max_window": 20} | path)
    result = play(path, Video(packet_rate=rate), Player(start=start, on_stall="skip"), live=True)
    close(simulated(path, rate, start, 0.0)[0], result.skipped_fraction, result.errors["skipped_fraction"])


@pytest.mark.parametrize(
    ("path", "rate", "start", "buffer"),
    [
        ({"sender": "classic", "rto": 0.3}, 10, 0.35, 0.3),
        ({"sender": "classic", "rto": 0.35, "max_window": 6}, 23.7, 0.73, 0.3),
        (SACK | {"rto": 0.3, "max_window": 12}, 40, 0.5, 0.1),
        pytest.param(SACK | {"rto": 0.3}, 53.3, 0.5, 0.5, marks=pytest.mark.long),
        ({"tcp": "reno-sack", "rto": 0.3}, 20, 0.3, 0.2),
    ],
)
def test_stalls_with_a_resume_buffer_as_those_of_a_player_with_a_clock(path, rate, start, buffer):
    path = Path(**{"sender": "classic", "loss": 0.03, "rtt": 0.1, "max_window": 20} | path)
    player = Player(start=start, resume_buffer=buffer, on_stall="skip")
    result = play(path, Video(packet_rate=rate), player, live=True)
    stood, stalls = simulated(path, rate, start, buffer)
    errors = result.errors
    close(stood, result.skipped_fraction, errors["skipped_fraction"])
    close(stalls / (1 - stood) * 36_000, result.stalls_per_hour, errors["stalls_per_hour"])
    length = 0.1 * stood.mean() / stalls.mean()
    assert result.mean_stall_length == pytest.approx(length, abs=0.05 * length + errors["mean_stall_length"])
    assert max(errors.values()) < 0.3 * max(result.stalls_per_hour, result.mean_stall_length)
    without = play(path, Video(packet_rate=rate), Player(start=start, on_stall="skip"), live=True)
    assert result.skipped_fraction > without.skipped_fraction


def test_its_json_and_table_are_its_answers():
    pd = pytest.importorskip("pandas")
    path, video = Path(loss=0.03, rtt=0.1, max_window=9, sender="classic", rto=0.3), Video(packet_rate=20)
    result = play(path, video, Player(start=1, on_stall="skip"), live=True)
    assert isinstance(result, tcpstream.SkippingPlay)
    data = result.to_dict()
    assert data["skipped_fraction"] == result.skipped_fraction == live(path, video).late_fraction(1.0)
    assert data["stalls_per_hour"] is None
    assert data["parameters"]["on_stall"] == "skip"
    assert data["error_bound"] == result.errors
    frame = result.to_pandas()
    assert isinstance(frame, pd.DataFrame)
    assert frame["skipped_fraction"].iloc[0] == result.skipped_fraction
    counted = play(path, Video(packet_rate=20), Player(start=1, resume_buffer=0.5, on_stall="skip"), live=True)
    assert counted.to_dict()["stalls_per_hour"] == counted.stalls_per_hour > 0
    assert counted.to_dict()["stall_length_s"] == {"mean": counted.mean_stall_length}
    assert "per hour" in counted.summary()
    assert "skipped, and stalled" in result.summary()
    assert "start 1 s" in repr(result)


def test_what_is_refused():
    path, skips = Path(sender="classic", loss=0.03, rtt=0.1), Player(on_stall="skip")
    with pytest.raises(InputError, match="leave out the duration, got 10 s"):
        play(path, Video(packet_rate=20, duration=10), skips, live=True)
    with pytest.raises(InputError, match="a stored video waits"):
        play(path, Video(packet_rate=20, duration=10), skips)
    with pytest.raises(InputError, match="leave out the start buffer"):
        Player(start_buffer=1, on_stall="skip")
    with pytest.raises(InputError, match="on_stall must be one of wait, skip, got 'jump'"):
        Player(on_stall="jump")
    with pytest.raises(InputError, match="at most its startup delay of 2 s, got 3 s"):
        Player(resume_buffer=3, on_stall="skip")
    with pytest.raises(InputError, match=r"must be 0, or at least a round trip time of 0\.1 s, got 0\.05 s"):
        play(path, Video(packet_rate=20), Player(resume_buffer=0.05, on_stall="skip"), live=True)
    player = Player(resume_buffer=1, on_stall="skip")
    with pytest.raises(AccuracyError, match="not counted over CUBIC"):
        play(
            Path(sender="classic", loss=0.03, rtt=0.1, tcp="cubic", max_window=9),
            Video(packet_rate=20),
            player,
            live=True,
        )
    with pytest.raises(NoFiniteDelayError):
        play(path, Video(packet_rate=2000), skips, live=True)


def test_what_is_skipped_where_next_to_nothing_is_late_is_known():
    path = Path(loss=0.03, rtt=0.1, max_window=9, sender="classic", rto=0.3, tcp="reno-sack")
    skips = Player(start=200, on_stall="skip")
    result = play(path, Video(packet_rate=20), skips, live=True, accuracy="fast")
    assert result.solved.relative_error(200) == np.inf
    assert 0 < result.errors["skipped_fraction"] < 1e-9
