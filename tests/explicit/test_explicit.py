"""The chains written out: against simulation and against what can be worked out by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

import monte_carlo as mc
from tcpstream.errors import AccuracyError, InputError
from tcpstream.explicit import chain, explicit_live, explicit_live_finite, explicit_stored
from tcpstream.explicit.rounds import round_chain
from tcpstream.explicit.stationary import stationary
from tcpstream.path import Path
from tcpstream.tcp.table_vi import packets_per_round
from tcpstream.video import Video

SOURCES = {
    "rfc6298": Path(sender="classic", loss=0.03, rtt=0.1, timeout_ratio=1.2, max_window=8),
    "paper": Path(
        sender="classic", loss=0.05, rtt=0.1, timeout_ratio=1.5, max_window=6, backoff="paper", halving="ceil"
    ),
    "delayed": Path(sender="classic", loss=0.04, rtt=0.1, timeout_ratio=1, max_window=5, rounds_per_increase=2),
    "three": Path(sender="classic", loss=0.05, rtt=0.1, timeout_ratio=3, max_window=3, backoff="paper"),
}
path_of_kind = pytest.mark.parametrize("path", SOURCES.values(), ids=SOURCES)
SMALL = Path(sender="classic", loss=0.05, rtt=0.1, timeout_ratio=1, max_window=4)


def throughput(path):
    names = ("max_window", "timeout_ratio", "rounds_per_increase", "backoff", "halving")
    return packets_per_round(p=path.loss, **{name: getattr(path, name) for name in names})


def rate_at_load(path, load, q):
    """Playback rate [packets/s] near a share of the throughput, m a multiple of 1/q."""
    return max(round(load * throughput(path) * q), 1) / q / path.rtt


def assert_agree(estimate, error, expected):
    assert np.all(np.abs(estimate - expected) < 4 * error + 1e-12), (estimate - expected) / error


# the chain


@path_of_kind
def test_one_round_clock_has_the_throughput_of_table_vi(path):
    tcp = round_chain(path)
    n = len(tcp.states)
    matrix = np.zeros((n, n))
    np.add.at(matrix, (tcp.source, tcp.target), tcp.probability)
    assert matrix.sum(axis=1) == pytest.approx(np.ones(n), abs=1e-14)
    balance = matrix.T - np.eye(n)
    balance[-1] = 1
    weights = np.linalg.solve(balance, np.eye(n)[-1])
    assert weights[tcp.source] @ (tcp.probability * tcp.packets) == pytest.approx(throughput(path), rel=1e-12)


@path_of_kind
def test_rows_sum_to_one(path):
    live = explicit_live(path, Video(packet_rate=rate_at_load(path, 0.7, 2)), 1, depth=40)
    stored = explicit_stored(path, Video(packet_rate=15, duration=2))
    for explicit in (live, stored):
        assert explicit.matrix.sum(axis=1) == pytest.approx(np.ones(len(explicit.states)), abs=1e-14)
        assert explicit.matrix.min() >= 0
        assert len(np.unique(explicit.states)) == len(explicit.states)
        first = explicit.states[explicit.initial]
        assert first.tolist()[:6] == (1, 0, 0, 0, 0, 0)
    assert live.states[live.initial]["n"] == pytest.approx(live.packet_rate * 1)
    assert stored.states[stored.initial]["n"] == 0


def test_a_round_that_starts_without_backlog_is_lost():
    live = explicit_live(SMALL, Video(packet_rate=15), 2, depth=12)  # m = 1.5
    assert len(np.unique(live.backlog)) == 25
    assert live.states["n"] == pytest.approx(30 - live.backlog)
    matrix, states = live.matrix.toarray(), live.states
    tcp = states[["w", "c", "l", "e", "r"]]
    for i in np.flatnonzero(live.backlog == 0):
        (j,) = np.flatnonzero(matrix[i])
        assert live.backlog[j] == 1.5
        assert tcp[j] == tcp[i]
        assert states["waiting"][j] == max(states["waiting"][i] - 1, 0)
    # a full round of 4 from D = 6 leaves 3.5, from D = 1.5 or 2.5 nothing; a lost one adds 1.5, up to the depth
    for before, after in ((6, 3.5), (1.5, 0), (2.5, 0), (12, 9.5)):
        (i,) = np.flatnonzero((states["w"] == 4) & (states["l"] == 0) & (live.backlog == before))
        full = (live.backlog == after) & (states["w"] == 4) & (states["l"] == 0)
        lost = (live.backlog == min(before + 1.5, 12)) & (states["e"] == 1) & (states["waiting"] == 0)
        assert matrix[i] @ full == pytest.approx(0.95**4)
        assert matrix[i] @ lost == pytest.approx(0.05)


# live streaming


@path_of_kind
def test_live_agrees_with_simulation(path):
    m = rate_at_load(path, 0.8, 1) * path.rtt
    taus = np.array([0, 0.3, 0.6, 1.2])
    video = Video(packet_rate=m / path.rtt)
    f = explicit_live(path, video, 1, depth=m * 250).late_fraction(taus)
    found = mc.live(path, video, taus, 2_000_000, np.random.default_rng(11))
    assert_agree(found.f, found.f_se, f)
    assert np.all(np.diff(f) < 0)


@pytest.mark.parametrize("q", [2, 3, pytest.param(4, marks=pytest.mark.long)])
def test_live_on_a_lattice_agrees_with_simulation(q):
    path = SOURCES["rfc6298"]
    video = Video(packet_rate=(2 + 1 / q) / path.rtt)
    f = explicit_live(path, video, 1, depth=300).late_fraction([0, 0.3, 1])
    found = mc.live(path, video, [0, 0.3, 1], 2_000_000, np.random.default_rng(12))
    assert_agree(found.f, found.f_se, f)


def test_live_below_two_packets_a_round_freezes_tcp():
    video = Video(packet_rate=5)  # m = 1/2: nearly every second round starts without backlog
    f = explicit_live(SMALL, video, 1, depth=250).late_fraction([0, 0.1])
    found = mc.live(SMALL, video, [0, 0.1], 2_000_000, np.random.default_rng(13))
    assert_agree(found.f, found.f_se, f)


def test_finite_live_agrees_with_simulation():
    path, taus = SOURCES["rfc6298"], [0.0, 0.5, 1.0]
    video = Video(packet_rate=rate_at_load(path, 0.9, 2), duration=3.05)
    found = mc.live_finite(path, video, taus, 20_000, np.random.default_rng(14))
    for k, tau in enumerate(taus):
        exact = explicit_live_finite(path, video, tau)
        assert_agree(found.f[k], found.f_se[k], exact.late_fraction)
        assert_agree(found.alpha[k], found.alpha_se[k], exact.no_late_probability)
        P = exact.late_probabilities
        error = np.sqrt(P * (1 - P) / 20_000)
        frequent = P > 2e-3
        assert_agree(found.late[k, : len(P)][frequent], 1.2 * error[frequent], P[frequent])


def test_a_long_live_video_is_an_endless_one():
    path, m = SOURCES["rfc6298"], 2
    endless = explicit_live(path, Video(packet_rate=m / path.rtt), 1, depth=250)
    f = endless.late_fraction(0.3)
    assert f.shape == ()
    short, long = (
        explicit_live_finite(path, Video(packet_rate=m / path.rtt, duration=t), 0.3, horizon="paper").late_fraction
        for t in (6, 12)
    )
    assert short < long < f
    # what the empty start saves is a constant number of packets
    assert 12 * (f - long) == pytest.approx(6 * (f - short), rel=0.05)


# stored media


@path_of_kind
@pytest.mark.parametrize("horizon", ["end", "paper"])
def test_stored_agrees_with_simulation(path, horizon):
    taus = [0.0, 0.25, 0.9]
    video = Video(packet_rate=rate_at_load(path, 0.8, 4) * 1.01, duration=4.04)
    explicit = explicit_stored(path, video)
    found = mc.stored(path, video, taus, 20_000, np.random.default_rng(15), horizon)
    for k, tau in enumerate(taus):
        exact = explicit.judge(tau, horizon=horizon)
        assert_agree(found.f[k], found.f_se[k], exact.late_fraction)
        assert_agree(found.alpha[k], found.alpha_se[k], exact.no_late_probability)
        P = exact.late_probabilities
        assert len(P) == (40 if horizon == "paper" else math.ceil((4.04 + tau) / 0.1))
        frequent = P > 2e-3
        error = np.sqrt(P * (1 - P) / 20_000)[frequent]
        assert_agree(found.late[k, : len(P)][frequent], 1.2 * error, P[frequent])
        assert exact.no_late_bound <= exact.no_late_probability


def test_window_one_delivers_like_a_coin():
    # one packet a round, lost with probability p; until the first loss A_i = i
    path = Path(sender="classic", loss=0.1, rtt=1, timeout_ratio=1, max_window=1)
    table = explicit_stored(path, Video(packet_rate=1, duration=5)).arrivals(4)
    assert table[0].tolist() == [1, 0, 0, 0, 0, 0]
    assert np.diag(table)[:5] == pytest.approx(0.9 ** np.arange(5))
    assert table.sum(axis=1) == pytest.approx(np.ones(5))
    # a packet is due every round from round 1 on: in time if nothing is lost; f by hand for two rounds
    judged = explicit_stored(path, Video(packet_rate=1, duration=2)).judge(0)
    assert judged.no_late_probability == pytest.approx(0.9**2)
    assert judged.late_probabilities == pytest.approx([0.1, 1 - 0.9**2])
    assert judged.late_fraction == pytest.approx((0.1 + 1 - 0.9**2) / 2)


def test_a_packet_that_arrives_when_it_is_due_is_on_time():
    # mu (i R - tau) is a whole number that floating point misses on both sides
    path = Path(sender="classic", loss=1e-9, rtt=0.1, timeout_ratio=1, max_window=1)
    judged = explicit_stored(path, Video(packet_rate=10, duration=3)).judge(0)
    assert set(np.arange(31) * 0.1 * 10 - np.arange(31)) > {0.0}
    assert judged.late_fraction == pytest.approx(0, abs=1e-7)
    assert judged.no_late_probability == pytest.approx(1, abs=1e-7)


def test_variable_rate_counts_what_is_due():
    path = Path(sender="classic", loss=1e-9, rtt=1, timeout_ratio=1, max_window=1)  # A_i = i
    explicit = explicit_stored(path, Video(curve=([0, 2, 4, 6], [0, 1, 7, 8])))
    # B_i = 0.5, 1, 4, 7, 7.5, 8: behind by 1 and 3, then at most what became due: 0.5, 0.5
    assert explicit.judge(0).late_fraction == pytest.approx((1 + 3 + 0.5 + 0.5) / 8)
    assert explicit.judge(3).late_fraction == pytest.approx(0, abs=1e-7)


# refusals


def test_inputs_are_refused_by_name():
    with pytest.raises(InputError, match=r"m = mu R = 2\.1 packets"):
        explicit_live(SMALL, Video(packet_rate=21), 1, depth=40)
    with pytest.raises(InputError, match="constant playback rate"):
        explicit_live(SMALL, Video(curve=([0, 1], [0, 20])), 1, depth=40)
    with pytest.raises(InputError, match=r"depth must be at least m = mu R = 2 packets"):
        explicit_live(SMALL, Video(packet_rate=20), 1, depth=1)
    with pytest.raises(InputError, match="needs its duration"):
        explicit_live_finite(SMALL, Video(packet_rate=20), 1)
    with pytest.raises(InputError, match="duration"):
        explicit_stored(SMALL, Video(packet_rate=20))
    stored = explicit_stored(SMALL, Video(packet_rate=20, duration=1))
    with pytest.raises(InputError, match="horizon"):
        stored.judge(1, horizon="never")
    with pytest.raises(InputError, match="at least 0 s"):
        stored.judge(-1)
    live = explicit_live(SMALL, Video(packet_rate=10), 1, depth=40)
    with pytest.raises(InputError, match="at least 0 s"):
        live.late_fraction([-1])


def test_a_depth_that_matters_is_an_error():
    live = explicit_live(SMALL, Video(packet_rate=20), 1, depth=60)
    with pytest.raises(AccuracyError, match="increase depth"):
        live.late_fraction([0, 2])
    with pytest.raises(AccuracyError, match="increase depth"):
        explicit_live(SMALL, Video(packet_rate=10), 1, depth=60).late_fraction(6)


def test_a_chain_that_is_too_large_is_refused(monkeypatch):
    monkeypatch.setattr(chain, "MAX_NONZEROS", 1000)
    with pytest.raises(AccuracyError, match=r"nonzero probabilities, more than 1,000"):
        explicit_live(SMALL, Video(packet_rate=20), 1, depth=60)
    with pytest.raises(AccuracyError, match=r"nonzero probabilities, more than 1,000"):
        explicit_stored(SMALL, Video(packet_rate=20, duration=60))


def test_a_table_that_is_too_large_is_refused(monkeypatch):
    monkeypatch.setattr(chain, "MAX_TABLE", 1000)
    with pytest.raises(AccuracyError, match=r"states is refused, at most 1,000"):
        explicit_live(SMALL, Video(packet_rate=20), 1, depth=60).to_pandas()


def test_a_solve_that_does_not_converge_is_an_error():
    live = explicit_live(SMALL, Video(packet_rate=10), 1, depth=60)
    assert live.stationary().sum() == pytest.approx(1)
    with pytest.raises(AccuracyError, match="did not converge"):
        stationary(live.matrix, live.initial, accuracy=1e-30)
