"""Players over CUBIC whose lines are too many to follow each: few of them stand for the others."""

from __future__ import annotations

from dataclasses import replace

import pytest

from buffered_sessions import close, simulated
from tcpstream import Path, PausingPlayer, Player, Video, play
from tcpstream.answers.held_at_most import held_at_most
from tcpstream.answers.two_finenesses import COUNTS, TwoFinenesses
from tcpstream.coarse.in_moments import in_moments, long_run
from tcpstream.playout.deliveries import deliveries
from tcpstream.playout.fineness import Fineness
from tcpstream.tcp import chain_of


@pytest.mark.parametrize(("loss", "rtt"), [(0.03, 0.1), pytest.param(0.005, 0.04, marks=pytest.mark.long)])
def test_few_lines_deliver_what_all_do(loss, rtt):
    """Mean and variance of what arrives in the long run are those of the whole chain."""
    chain = chain_of(Path(loss=loss, rtt=rtt))
    fine = Fineness.with_few_lines(16.3, 1, 100.0)
    for on, off in ((fine, 5e-3), (fine.coarser(), 2e-2)):
        found = deliveries(chain, on.step, on.ratio, on.further)
        packets = (found.ordered + found.held + found.second).astype(float)
        made = long_run(
            found.source, found.target, found.chance, packets, 0 * packets, found.rounds.astype(float), found.states
        )
        assert found.states < chain.n_states / 4
        assert found.scale == pytest.approx(1, abs=off)
        assert found.scale * made[0] == pytest.approx(chain.packets_per_round, rel=1e-9)
        assert made[1] == pytest.approx(in_moments(chain).rates[1], rel=3e-2)


def test_players_over_few_lines_see_what_is_simulated():
    path = Path(loss=0.04, rtt=0.1, max_window=26)
    assert chain_of(path).n_states > 800
    video = Video(packet_rate=43, duration=6)
    player = Player(start_buffer=1, resume_buffer=1)
    found = play(path, video, player)
    stalls, stalled, joined, _ = simulated(path, video, player, 15_000, 5).T
    seconds = stalled * path.rtt
    ratio = seconds / (seconds + video.duration)
    for sample, value, error in (
        (stalls > 0, found.stall_probability, found.errors["stall_probability"]),
        (stalls, found.mean_stalls, found.errors["mean_stalls"]),
        (seconds, found.mean_total_rebuffer, found.errors["mean_total_rebuffer"]),
        (ratio, found.rebuffering_ratio, found.errors["rebuffering_ratio"]),
        (joined * path.rtt, found.mean_join_time, found.errors["mean_join_time"]),
    ):
        close(sample, value, error)
        assert error < 0.2 * value


@pytest.mark.long
def test_what_lines_further_apart_may_miss_is_stated():
    """Two passes over few lines agree here by chance: P(any stall) of more lines is 2.7% larger."""
    path, video = Path(loss=0.01, rtt=0.05), Video(bitrate=2.5e6, duration=120)
    player = PausingPlayer(start_buffer=1, resume_buffer=2, client_buffer=5)
    seen = play(path, video, player)
    solver = TwoFinenesses(chain_of(path), path, video, held_at_most(path, video, player))
    more = solver._renewed(replace(solver._fine, ratio=1.15), [1.0], 2.0, 0.0, 1).seen[-1, 0]
    assert 1 - more[0] > 1.02 * seen.stall_probability
    assert abs(1 - more[0] - seen.stall_probability) <= seen.errors["stall_probability"]
    assert abs(more[COUNTS] - seen.mean_stalls) <= seen.errors["mean_stalls"]
