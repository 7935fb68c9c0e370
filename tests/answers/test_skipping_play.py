"""Players of a live stream that skip what comes too late, against players with a clock, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from numba import njit

import tcpstream
from tcpstream import InputError, NoFiniteDelayError, Path, Player, Video, live, play
from tcpstream.tcp import chain_of

SACK = {"tcp": "reno-sack", "initial_window": 4, "detection": "rack"}


@njit(cache=True)
def standing(rounds, rng, starts, to, lasts, received, in_order, cumulated, first, due, lag):
    """Part of the time in which a player stands, in parts of some rounds of one long stream.

    What round i delivers is there from its begin on. The player shows the packet that is due then, as long as that is
    there; time goes on packet by packet, or by parts of one.
    """
    parts = np.zeros(50)
    state, arrived, wait = first, 0.0, 0
    for part in range(-1, len(parts)):  # the first one is forgotten
        stood = 0.0
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
            if ordered < at:
                stood += 1.0
            elif ordered < end:
                stood += (end - ordered) / due
        if part >= 0:
            parts[part] = stood / rounds
    return parts


@pytest.mark.parametrize(
    ("path", "rate", "start"),
    [
        ({"sender": "classic", "rto": 0.3}, 40, 1.0),
        ({"sender": "classic", "rto": 0.35}, 33.7, 0.73),
        (SACK | {"rto": 0.3}, 67.3, 0.5),
        (SACK | {"rto": 0.3, "tcp": "cubic"}, 50, 0.5),
    ],
)
def test_as_a_player_with_a_clock(path, rate, start):
    path, video = Path(loss=0.03, rtt=0.1, max_window=20, **path), Video(packet_rate=rate)
    result = play(path, video, Player(start=start, on_stall="skip"), live=True)
    rows = chain_of(path).written_out
    order = np.argsort(rows.from_state, kind="stable")
    starts = np.searchsorted(rows.from_state[order], np.arange(rows.n_states + 1))
    sums = np.cumsum(rows.probability[order])
    cumulated = sums - np.repeat(np.append(0.0, sums)[starts[:-1]], np.diff(starts))
    parts = standing(
        40_000, np.random.default_rng(7), starts, rows.to_state[order], rows.rounds[order], rows.received[order],
        rows.in_order[order], cumulated, rows.start, rate * path.rtt, rate * start,
    )  # fmt: skip
    allowed = 4 * parts.std(ddof=1) / np.sqrt(len(parts)) + result.errors["skipped_fraction"]
    assert abs(parts.mean() - result.skipped_fraction) <= allowed


def test_its_json_and_table_are_its_answers():
    pd = pytest.importorskip("pandas")
    path, video = Path(loss=0.03, rtt=0.1, max_window=20, sender="classic", rto=0.3), Video(packet_rate=40)
    result = play(path, video, Player(start=1, on_stall="skip"), live=True)
    assert isinstance(result, tcpstream.SkippingPlay)
    data = result.to_dict()
    assert data["skipped_fraction"] == result.skipped_fraction == live(path, video).late_fraction(1.0)
    assert data["stalls_per_hour"] is None
    assert data["parameters"]["on_stall"] == "skip"
    assert data["error_bound"] == result.errors
    frame = result.to_pandas([1, 2])
    assert isinstance(frame, pd.DataFrame)
    assert frame["skipped_fraction"].iloc[0] == result.skipped_fraction > frame["skipped_fraction"].iloc[1]
    needed = result.required_start(skipped_fraction=0.01)
    assert play(path, video, Player(start=needed, on_stall="skip"), live=True).skipped_fraction <= 0.01
    assert "skipped, and stalled" in result.summary()
    assert "start 1 s" in repr(result)


def test_what_is_refused():
    path, skips = Path(loss=0.03, rtt=0.1), Player(on_stall="skip")
    with pytest.raises(InputError, match="leave out the duration, got 10 s"):
        play(path, Video(packet_rate=20, duration=10), skips, live=True)
    with pytest.raises(InputError, match="a stored video waits"):
        play(path, Video(packet_rate=20, duration=10), skips)
    with pytest.raises(InputError, match="leave out the start buffer"):
        Player(start_buffer=1, on_stall="skip")
    with pytest.raises(InputError, match="on_stall must be one of wait, skip, got 'jump'"):
        Player(on_stall="jump")
    with pytest.raises(NoFiniteDelayError):
        play(path, Video(packet_rate=2000), skips, live=True)
