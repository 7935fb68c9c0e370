"""`transfer_time`: beside every transition followed one by one, transfers drawn at random, and itself."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import cubic_segment_agent
import tcpstream
from tcpstream import InputError, Path, transfer_time
from tcpstream.tcp import chain_of
from tcpstream.tcp.independent import IndependentChain

PATHS = [
    {"tcp": "reno-sack", "max_window": 9},
    {"tcp": "reno-sack", "max_window": 8, "initial_window": 4, "rounds_per_increase": 2},
    {"tcp": "reno-sack", "max_window": 7, "detection": "rack", "initial_window": 3},
    {"tcp": "cubic", "max_window": 8, "initial_window": 3},
    {"tcp": "reno", "max_window": 8},
    {"tcp": "reno", "max_window": 8, "initial_window": 2, "detection": "rack"},
]


def path(**settings) -> Path:
    return Path(loss=0.07, rtt=0.1, timeout_ratio=2.5, **({"sender": "classic"} | settings))


def last_round(chain, need):
    """Give what becomes of the last packets where each is lost for itself: every pattern of losses.

    As rounds until all are there, or None; rounds of silence, packets delivered and the back-off level then; and the
    probability.
    """
    p, silences, rack = chain.loss, chain.silences, chain.lost_unseen == 0
    for lost in itertools.product((False, True), repeat=need):
        chance = np.prod([p if one else 1 - p for one in lost])
        if not any(lost):
            yield 0, None, chance
        elif all(lost):
            yield from ((None, (d, 0, 1), chance * share) for d, share in silences.whole_loss)
        elif lost[-1] and rack:  # a probe, which may be lost
            for d, share in silences.whole_loss:
                yield d, None, chance * share * (1 - p)
                for more, part in silences.backoff[0]:
                    yield None, (d + more, need - 1, 2), chance * share * p * part
        elif lost[-1]:
            yield from ((None, (d, need - 1, 1), chance * share) for d, share in silences.whole_loss)
        else:
            again = 1 - (1 - p) ** sum(lost)
            yield 1, None, chance * (1 - again)
            for d, share in silences.backoff[0] if rack else silences.unrepaired:
                silence = (1 + d, need - 1, 1) if rack else (d, lost.index(True), 1)
                yield None, silence, chance * again * share


def one_by_one(chain, packets: int, begin, most=2000):
    """Return the law of the rounds of a transfer, from every transition of every state and place in a dictionary."""
    rows, independent = chain.written_out, isinstance(chain, IndependentChain)
    by = [[] for _ in range(rows.n_states)]
    columns = rows.from_state, rows.to_state, rows.probability, rows.received, rows.in_order, rows.rounds
    for source, *rest in zip(*(one.tolist() for one in columns)):
        by[source].append(rest)
    coming, law = {0: {(s, 0): chance for s, chance in begin.items()}}, np.zeros(most + 200)
    for t in range(most):
        for (s, held), mass in coming.pop(t, {}).items():
            if mass < 1e-17:
                continue
            need = packets - held
            if independent and s < chain.graph.size and chain.graph.windows[s] >= need:
                for after, silence, chance in last_round(chain, need):
                    if after is not None:
                        law[t + after] += mass * chance
                    else:
                        later = coming.setdefault(t + silence[0], {})
                        state = chain.graph.size + 2 * (silence[2] - 1), held + silence[1]
                        later[state] = later.get(state, 0.0) + mass * chance
                continue
            for to, chance, received, in_order, rounds in by[s]:
                if held + in_order >= packets:
                    law[t] += mass * chance
                elif held + received >= packets:
                    law[t + 1] += mass * chance
                else:
                    later = coming.setdefault(t + rounds, {})
                    later[to, held + received] = later.get((to, held + received), 0.0) + mass * chance
        if 1 - law.sum() < 1e-9:
            break
    return law[: t + 2]


@pytest.mark.parametrize("settings", PATHS, ids=lambda one: "-".join(map(str, one.values())))
def test_every_transition_followed_one_by_one(settings):
    chain = chain_of(path(**settings))
    law = one_by_one(chain, 16, {chain.written_out.start: 1.0})
    found = transfer_time(path(**settings), packets=16)
    times = (1 + np.arange(len(law))) * 0.1
    np.testing.assert_allclose(found.cdf(times), np.cumsum(law), rtol=0, atol=3e-9)
    assert found.errors["cdf"] < 1e-8
    assert found.mean == pytest.approx(0.1 + 0.1 * law @ np.arange(len(law)), abs=1e-6)


def test_a_busy_connection_begins_in_the_stationary_distribution():
    chain = chain_of(path(**PATHS[0]))
    law = one_by_one(chain, 12, dict(enumerate(chain.stationary)))
    found = transfer_time(path(**PATHS[0]), packets=12, start="stationary")
    np.testing.assert_allclose(found.cdf((1 + np.arange(len(law))) * 0.1), np.cumsum(law), rtol=0, atol=3e-9)


@pytest.mark.parametrize(("tcp", "window", "packets"), [("reno", 9, 250), ("reno-sack", 12, 400)])
def test_a_busy_connection_has_the_throughput_in_the_long_run(tcp, window, packets):
    one = Path(loss=0.02, rtt=0.1, rto=0.3, sender="classic", tcp=tcp, max_window=window)
    a, b = (transfer_time(one, packets=n, start="stationary").mean for n in (100, packets))
    assert (packets - 100) / (b - a) == pytest.approx(tcpstream.throughput(one), rel=2e-3)


@pytest.mark.parametrize("most", [30, 120])
def test_transfers_drawn_at_random(most):
    """P(T <= t) of 1,500 transfers drawn from the transitions, within four standard errors."""
    one = Path(sender="classic", loss=0.03, rtt=0.1, timeout_ratio=3, max_window=16, initial_window=10)
    found, rows = transfer_time(one, packets=most), chain_of(one).written_out
    rng, runs = np.random.default_rng(1), 1500
    order = np.argsort(rows.from_state, kind="stable")
    first = np.searchsorted(rows.from_state[order], np.arange(rows.n_states + 1))
    sums = np.append(0.0, np.cumsum(rows.probability[order]))
    taken = np.empty(runs)
    for run in range(runs):
        s, held, at = rows.start, 0, 0
        while True:
            draw = sums[first[s]] + rng.random() * (sums[first[s + 1]] - sums[first[s]])
            o = order[min(int(np.searchsorted(sums, draw, side="right")) - 1, first[s + 1] - 1)]
            if held + rows.in_order[o] >= most:
                break
            if held + rows.received[o] >= most:
                at += 1
                break
            s, held, at = rows.to_state[o], held + rows.received[o], at + rows.rounds[o]
        taken[run] = 0.1 * (1 + at)
    for u in (0.1, 0.5, 0.9):
        t = found.quantile(u)
        chance = found.cdf(t)
        assert abs((taken <= t + 1e-9).mean() - chance) < 4 * np.sqrt(chance * (1 - chance) / runs)
    assert abs(taken.mean() - found.mean) < 4 * taken.std() / np.sqrt(runs)


@pytest.mark.parametrize(
    ("settings", "packets"),
    [
        (PATHS[2], 300),
        *(
            pytest.param(PATHS[i], n, marks=pytest.mark.long)
            for i, n in ((2, 400), (2, 500), (4, 104), (4, 300), (4, 400), (4, 500))
        ),
    ],
)
def test_a_long_transfer_in_quanta_is_as_near_as_it_says(settings, packets, monkeypatch):
    from tcpstream.answers import transfer_time as module

    exact = transfer_time(path(**settings), packets=packets)
    monkeypatch.setattr(module, "EXACT", 100)
    monkeypatch.setattr(module, "MOST_OF", 4)
    coarse = transfer_time(path(**settings), packets=packets)
    assert 0 < abs(coarse.mean - exact.mean) <= coarse.errors["mean"] < 0.03 * exact.mean
    if settings["tcp"] == "reno-sack":  # a packet takes a part of the mean: places lie between packets
        assert abs(coarse.mean - exact.mean) < 0.1 * exact.mean / packets
    t = np.linspace(0, 2 * exact.mean, 300)
    assert np.abs(coarse.cdf(t) - exact.cdf(t)).max() <= coarse.errors["cdf"] < 0.2


@pytest.mark.parametrize("most_of", [2, 3, 4])
def test_quanta_keep_slow_start(most_of, monkeypatch):
    """Where a place has less than nothing it has so in the last round as well."""
    from tcpstream.answers import transfer_time as module

    today = Path(loss=0.02, rtt=0.1, sender="linux", tcp="reno-sack", max_window=64)
    exact = transfer_time(today, packets=234)
    monkeypatch.setattr(module, "EXACT", 0)
    monkeypatch.setattr(module, "MOST_OF", most_of)
    coarse = transfer_time(today, packets=234)
    assert abs(coarse.mean - exact.mean) <= min(coarse.errors["mean"], 0.5 * exact.mean / 234)


def test_a_repair_at_the_end_may_be_lost():
    """So the tail of more packets is no thinner than that of one."""
    one = Path(loss=0.05, rtt=0.02, sender="linux", tcp="reno-sack")
    beyond = [1 - transfer_time(one, packets=n).cdf(0.061) for n in (1, 2, 4, 10)]
    assert beyond == sorted(beyond)
    assert beyond[-1] > 5 * beyond[0]


def test_without_losses_slow_start_doubles():
    found = transfer_time(Path(loss=1e-9, rtt=0.1, sender="linux"), packets=70)
    assert found.quantile(0.5) == pytest.approx(0.3)  # 10 + 20 + 40: three round trips
    assert transfer_time(found.path, packets=71, setup_round_trips=2).quantile(0.5) == pytest.approx(0.6)
    assert transfer_time(found.path, bytes=70 * 1448).packets == 70
    assert transfer_time(found.path, bytes=70 * 1448 + 1).packets == 71


@pytest.mark.parametrize(("packets", "rounds"), [(631, 7), (1270, 7), (1271, 8), (2550, 8)])
def test_a_long_transfer_without_losses_takes_a_round_more_at_a_boundary(packets, rounds):
    """10 + 20 + ... packets in slow start: never sooner, and then at least as probably as nothing is lost."""
    p = 1e-5
    found = transfer_time(Path(loss=p, rtt=0.02, sender="linux", tcp="reno-sack"), packets=packets)
    assert found.cdf(0.02 * (rounds - 1)) == pytest.approx(0, abs=1e-12)
    assert found.cdf(0.02 * rounds) >= (1 - p) ** packets - 1e-12
    assert found.errors["cdf"] < 1e-3


def test_samples_have_the_law():
    found = transfer_time(path(**PATHS[0]), packets=25)
    drawn = found.sample(20000, np.random.default_rng(2))
    for u, t in itertools.product((0.2, 0.7), (0.0,)):
        q = found.quantile(u) + t
        assert (drawn <= q + 1e-9).mean() == pytest.approx(found.cdf(q), abs=0.02)
    assert drawn.mean() == pytest.approx(found.mean, abs=4 * drawn.std() / 141)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({}, "bytes or the packets"),
        ({"bytes": 1, "packets": 1}, "one of them"),
        ({"bytes": 0}, "size must"),
        ({"bytes": float("nan")}, "size"),
        ({"packets": 1.5}, "packets must be a whole number"),
        ({"packets": 1, "start": "warm"}, "connection"),
        ({"packets": 1, "setup_round_trips": -1}, "round trips before the request"),
    ],
)
def test_what_is_refused(settings, message):
    with pytest.raises(InputError, match=message):
        transfer_time(path(), **settings)


def test_times_and_quantiles_out_of_range():
    found = transfer_time(path(**PATHS[0]), packets=3)
    assert found.cdf(-1.0) == 0.0 == found.cdf(0.09)
    assert found.cdf(1e9) == pytest.approx(1.0)
    with pytest.raises(InputError, match="nan"):
        found.cdf(float("nan"))
    with pytest.raises(InputError, match="known up to"):
        found.quantile(1 - 1e-15)
    assert "50%, 90%, 99% of transfers" in found.summary()


def test_every_transfer_is_over_at_last():
    found = transfer_time(path(tcp="reno-sack", max_window=9), packets=20)
    assert found.cdf([np.inf, -np.inf]).tolist() == [1, 0]
    assert found.cdf(1e9) == pytest.approx(1, abs=found.errors["cdf"] + 1e-12)


def test_a_window_that_is_there():
    one = path(**PATHS[0])
    chain = chain_of(one)
    state = next(s for s in range(chain.graph.n_preamble, chain.graph.size) if chain.graph.windows[s] == 6)
    law = one_by_one(chain, 20, {state: 1.0})
    found = transfer_time(one, packets=20, start=6)
    np.testing.assert_allclose(found.cdf((1 + np.arange(len(law))) * 0.1), np.cumsum(law), rtol=0, atol=3e-9)


@pytest.mark.parametrize(
    ("idle", "rounds"),
    [(0.0, [40, 41, 42]), (0.15, [40, 41, 42]), (0.25, [20, 30, 31]), (0.55, [10, 20, 30, 31]), (60, [10, 20, 30, 31])],
)
def test_idle_times_halve_the_window(idle, rounds):
    """By hand: once for each timer of 0.3 s but the first since the last packet, to 10 at least; slow start to 30."""
    one = Path(sender="classic", loss=1e-9, rtt=0.1, rto=0.3, tcp="reno-sack", initial_window=10, max_window=60)
    for n in range(len(rounds)):
        most = sum(rounds[: n + 1])
        assert transfer_time(one, packets=most, start=40, idle=idle).quantile(0.5) == pytest.approx(0.1 * (n + 1))
        assert transfer_time(one, packets=most + 1, start=40, idle=idle).quantile(0.5) == pytest.approx(0.1 * (n + 2))


def test_an_idle_busy_connection_is_a_mixture_of_windows():
    one = Path(sender="classic", loss=0.05, rtt=0.1, rto=0.3, tcp="reno-sack", initial_window=3, max_window=12)
    chain = chain_of(one)
    busy = chain.stationary[: chain.graph.size] / chain.stationary[: chain.graph.size].sum()
    by_window = np.bincount(chain.graph.windows, busy)
    t, expected = 0.1 * np.arange(1, 30), 0.0
    for w in np.flatnonzero(by_window):
        expected = expected + by_window[w] * transfer_time(one, packets=15, start=int(w), idle=5).cdf(t)
    found = transfer_time(one, packets=15, start="stationary", idle=5).cdf(t)
    slow = busy[: chain.graph.n_preamble].sum()  # slow start knows its threshold
    np.testing.assert_allclose(found, expected, rtol=0, atol=slow + 1e-9)
    assert found[3] < transfer_time(one, packets=15, start="stationary").cdf(0.4)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"start": "connection", "idle": 1}, "a new connection has not been idle"),
        ({"start": 0}, "start must be a whole number of at least 1 packets"),
        ({"start": "stationary", "idle": -1}, "idle must lie between 0 and 1e.08 s, got -1 s"),
        ({"start": "warm"}, "start"),
    ],
)
def test_starts_that_are_refused(settings, message):
    with pytest.raises(InputError, match=message):
        transfer_time(path(**PATHS[1]), packets=20, **settings)
    with pytest.raises(InputError, match="tcp = cubic or reno-sack"):
        transfer_time(path(tcp="reno"), packets=20, start=5)


@pytest.mark.parametrize(
    ("idle", "rounds"), [(0.0, [40]), (0.15, [40]), (0.25, [20, 32.5, 41]), (60, [10, 20, 32.5, 41])]
)
def test_cubic_comes_back_to_its_line_after_idle_times(idle, rounds):
    """As of Reno; the threshold is three quarters of the window, or what the last loss left, some 30 to 35 packets."""
    one = Path(loss=1e-3, rtt=0.1, rto=0.3, losses="independent")
    for n, sent in enumerate(np.cumsum(rounds), start=1):
        for packets, taken in ((math.floor(0.93 * sent), n), (math.ceil(1.07 * sent), n + 1)):
            found = transfer_time(one, packets=packets, start=40, idle=idle)
            assert found.quantile(0.5) == pytest.approx(0.1 * taken)
            assert found.errors["cdf"] > 0.0149
    first = transfer_time(one, packets=8, start=40, idle=idle)
    assert first.cdf(0.1) == pytest.approx(0.999**8, abs=first.errors["cdf"])


def test_transfers_over_cubic_that_was_idle_beside_the_agent():
    """Mean times within the stated errors and 4 standard errors, for a window that is rarely as large."""
    one, runs = Path(loss=0.003, rtt=0.04, losses="independent"), 10_000
    drawn = 0.04 * cubic_segment_agent.from_window(
        cubic_segment_agent.connection(10), runs, 40, 600, 0.003, one.timeout_ratio, 0.04, 10, np.array([0, 1, 2]),
        np.random.default_rng(1),
    )  # fmt: skip
    for idle, taken in zip((0, 1.5 * one.rto, 2.5 * one.rto), drawn.T):
        found = transfer_time(one, packets=600, start=40, idle=idle)
        room = found.errors["mean"] + 4 * taken.std() / math.sqrt(runs)
        assert found.mean == pytest.approx(taken.mean(), abs=room)


def test_windows_of_cubic_lie_on_the_lines_of_the_long_run():
    """In the mean over the windows of the long run, a transfer takes as long as one over a connection that is busy."""
    one = Path(loss=0.05, rtt=0.1, rto=0.3, losses="independent", max_window=12)
    chain = chain_of(one)
    places, before = chain.graph.places, chain.graph.n_preamble
    busy = chain.stationary[before : chain.graph.size]
    by_window = np.bincount(places.window[before:], busy / busy.sum())
    mean = sum(by_window[w] * transfer_time(one, packets=30, start=int(w)).mean for w in np.flatnonzero(by_window))
    found = transfer_time(one, packets=30, start="stationary")
    slow = 1 - busy.sum() / chain.stationary[: chain.graph.size].sum()
    assert mean == pytest.approx(found.mean, abs=2 * slow * found.mean)  # slow start is no line
