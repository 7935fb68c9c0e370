"""Late frames, and those that cannot be decoded: beside every transition in dictionaries, and runs one by one."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest

import tcpstream
from tcpstream import InputError, Path, Player, Video, play, stored
from tcpstream.answers.late_frames import late_frames
from tcpstream.video import Frames
from two_curves import outgoing

SACK = {"tcp": "reno-sack", "initial_window": 4, "detection": "rack"}
SIZES = [4.2, 0.9, 1.4, 0.3, 2.0, 5.0, 0.8, 0.8, 1.1, 3.9, 1.0, 0.7, 0.2, 2.2]  # packets, a frame every 70 ms
KEYS = [True, False, False, False, False, True, False, False, False, True, True, False, False, False]
FRAME = 0.07


def video(keys=True):
    times = FRAME * np.arange(len(SIZES) + 1)
    ends = np.cumsum(SIZES)
    frames = Frames(tuple(times[:-1]), tuple(ends), tuple(KEYS) if keys else None)
    return Video(curve=(times, [0, *ends]), frames=frames)


def needs():
    return np.ceil(np.cumsum(SIZES) - 1e-9).astype(int).tolist()


def existing(path, one, rounds, live):
    """What there is to send by the ends of rounds 0, 1, .."""
    if not live:
        return [needs()[-1]] * (rounds + 1)
    ended = [path.rtt * i > one.duration - 1e-9 for i in range(rounds + 1)]
    return [needs()[-1] if over else int(one.due(path.rtt * i) + 1e-6) for i, over in enumerate(ended)]


def in_dictionaries(path, one, start, live):
    """Every way of the chain, with the frames that it has shown so far: mean fractions, late and undecodable."""
    (first, moves), n = outgoing(path), len(SIZES)
    rounds = [int((start + FRAME * f) / path.rtt + 1e-9) + 1 for f in range(n)]
    exists = existing(path, one, rounds[-1], live)
    law, late, lost = {(first, 0, 0, False): 1.0}, 0.0, 0.0
    for i in range(1, rounds[-1] + 1):
        after = defaultdict(float)
        for (state, wait, packets, spoilt), chance in law.items():
            if wait > 0:
                ways = [(state, wait - 1, packets, packets, 1.0)]
            elif packets == exists[i - 1]:
                ways = [(state, 0, packets, packets, 1.0)]
            else:
                ways = [
                    (to, r - 1, min(packets + got, exists[i]), min(packets + ordered, exists[i]), p)
                    for to, r, got, ordered, p in moves[state]
                ]
            for to, r, got, ordered, p in ways:
                now = spoilt
                for f in range(n):
                    if rounds[f] == i:
                        now = (now and not KEYS[f]) or needs()[f] > ordered
                        late += chance * p * (needs()[f] > ordered)
                        lost += chance * p * now
                after[to, r, got, now] += chance * p
        law = after
    return late / n, lost / n


@pytest.mark.parametrize("live", [False, True])
@pytest.mark.parametrize(
    ("path", "start"),
    [
        ({"sender": "classic", "rto": 0.3, "max_window": 5}, 0.2),
        ({"sender": "classic", "rto": 0.2, "max_window": 7}, 0.33),
        (SACK | {"rto": 0.3, "max_window": 6}, 0.45),
    ],
)
def test_as_every_transition_in_dictionaries(path, start, live):
    path = Path(loss=0.06, rtt=0.1, **({"sender": "classic"} | path))
    found = late_frames(path, video(), [0, start], live=live)
    for k, delay in enumerate((0, start)):
        late, lost = in_dictionaries(path, video(), delay, live)
        assert found.late[k] == pytest.approx(late, abs=1e-10 + found.late_error[k])
        assert found.undecodable[k] == pytest.approx(lost, abs=1e-10 + found.undecodable_error[k])
        assert 0.001 < late < lost < 1 or delay == 0


@pytest.mark.parametrize("live", [False, True])
def test_as_runs_one_by_one(live):
    """Arrivals of packets in seconds, and frames that look at the clock."""
    path, start, runs = Path(loss=0.06, rtt=0.1, rto=0.3, sender="classic", max_window=6), 0.35, 1500
    rng, (first, moves), one = np.random.default_rng(5), outgoing(path), video()
    cumulated = {s: np.cumsum([move[4] for move in rows]) for s, rows in moves.items()}
    exists, shares = existing(path, one, 600, live), []
    for _ in range(runs):
        arrived, state, packets, i, arrivals = 0, first, 0, 0, np.full(needs()[-1] + 1, np.inf)
        arrivals[0] = 0.0
        while arrived < needs()[-1]:
            if packets == exists[i]:
                i += 1
                continue
            row = min(int(np.searchsorted(cumulated[state], rng.random())), len(moves[state]) - 1)
            state, lasts, got, ordered, _ = moves[state][row]
            for when, much in ((i, ordered), (i + 1, got)):
                upto = min(packets + much, exists[i + 1])
                arrivals[arrived + 1 : upto + 1] = when * path.rtt
                arrived = max(arrived, upto)
                if lasts == 1:
                    break
            packets, i = min(packets + got, exists[i + 1]), i + lasts
            arrivals[arrived + 1 : packets + 1] = i * path.rtt
            arrived = max(arrived, packets)
        late = [arrivals[need] > start + FRAME * f + 1e-9 for f, need in enumerate(needs())]
        begins = [max(g for g in range(f + 1) if KEYS[g]) for f in range(len(late))]
        shares.append((np.mean(late), np.mean([any(late[g : f + 1]) for f, g in enumerate(begins)])))
    found = late_frames(path, one, start, live=live)
    mean, sd = np.mean(shares, axis=0), np.std(shares, axis=0) / np.sqrt(runs)
    assert abs(found.late[0] - mean[0]) < 4 * sd[0]
    assert abs(found.undecodable[0] - mean[1]) < 4 * sd[1]


def test_of_results():
    path = Path(loss=0.03, rtt=0.1, sender="classic", rto=0.3)
    found = stored(path, video()).late_frames([0.2, 0.5, 1.0])
    assert np.all(np.diff(found.late) < 0)
    assert np.all(found.undecodable >= found.late)
    watched = play(path, video(), Player(start=0.5)).late_frames()
    assert watched.late[0] == found.late[1]
    live = play(path, video(), Player(start=0.5), live=True).late_frames()
    assert live.late[0] > watched.late[0]
    assert live.to_dict()["late_frame_fraction"] == live.late.tolist()


def test_what_needs_frames_and_keys():
    path = Path(loss=0.03, rtt=0.1, sender="classic", rto=0.3)
    assert late_frames(path, video(keys=False), 0.5).undecodable is None
    with pytest.raises(InputError, match="sizes of its frames only"):
        stored(path, Video(packet_rate=20, duration=5)).late_frames(1)
    with pytest.raises(InputError, match="each frame needs a time"):
        Video(curve=([0, 1], [0, 2]), frames=Frames((0.0,), (1.0, 2.0)))
    with pytest.raises(InputError, match="frames are those of a video with a playback curve"):
        Video(packet_rate=20, duration=5, frames=Frames((0.0,), (1.0,)))
    with pytest.raises(InputError, match="packets of frames must not decrease"):
        Video(curve=([0, 1], [0, 2]), frames=Frames((0.0, 0.5), (1.5, 1.0)))
    with pytest.raises(InputError, match="times of frames must not decrease"):
        Video(curve=([0, 1], [0, 2]), frames=Frames((0.5, 0.2), (1.0, 1.5)))
    assert tcpstream.Video(curve=([0, 1], [0, 2])).frames is None
