"""Flows that share a bottleneck: beside a plain twin, packets, limits that are known; and what is refused."""

import math

import numpy as np
import pytest

import tcpstream
from tcpstream import AccuracyError, InputError, Path, Sender, shared_bottleneck, sim
from tcpstream.tcp import chain_of, shared_queue
from tcpstream.tcp.sawtooth import Sawtooth, Windows, windows_of

LINK = {"bottleneck": 800.0, "buffer": 30, "rtt": 0.05}
RENO = {"tcp": "reno-sack", "sender": "classic"}


def walked(path):
    """W and g of a chain of Reno without slow start, from its written-out transitions, by walking until it settles."""
    chain = chain_of(path)
    rows = chain.transitions()
    moves = [*zip(rows.from_state, rows.to_state, rows.probability, rows.received, rows.rounds)]
    at = np.full(rows.n_states, 1 / rows.n_states)
    for _ in range(2000):
        at = np.bincount(rows.to_state, at[rows.from_state] * rows.probability, rows.n_states)
    packets = rounds = grown = 0.0
    repairs = chain.graph.n_preamble
    for a, b, chance, received, lasts in moves:
        weight = at[a] * chance
        packets, rounds = packets + weight * received, rounds + weight * lasts
        if repairs <= a < chain.graph.size and received == rows.labels[a][0] < rows.labels[b][0]:
            grown += weight * (rows.labels[b][0] - rows.labels[a][0])
    return packets / rounds, grown / rounds


def swept(flows, p, mean, growth, pipe, buffer):
    """Utilization and round trip [transmission times], from a sum that is followed in small steps."""
    full = pipe + buffer
    deep = flows * min(1, growth) * growth / (p * mean)
    share = p * full / (flows * growth)
    sums = np.append(full - deep * (np.arange(4000) + 0.5) / 4000, full)
    weights = np.append(np.full(4000, (1 - share) / 4000), share)
    lengths = np.maximum(sums, pipe)
    sent = weights @ sums
    return sent / (weights @ lengths), weights @ (sums * lengths) / sent


def test_the_chain_is_read_as_it_is_written_out():
    path = Path(loss=0.1, rtt=0.1, max_window=12, **RENO)
    assert windows_of(chain_of(path)) == pytest.approx(walked(path), rel=1e-9)


@pytest.mark.parametrize("pipe", [0.0, 40.0, 55.0, 70.0])
def test_the_sawtooth_beside_small_steps(pipe):
    """Its sum is 49 to 70: with a queue always, often, seldom, never."""
    total = Sawtooth.of(10, 0.02, Windows(6.0, 0.5), pipe, 70 - pipe)
    utilization, round_trip = swept(10, 0.02, 6.0, 0.5, pipe, 70 - pipe)
    assert total.low == pytest.approx(70 - 10 * 0.5**2 / 0.12)
    assert total.utilization == pytest.approx(utilization, rel=1e-6)
    assert total.round_trip == pytest.approx(round_trip, rel=1e-6)


def test_beside_a_plain_search():
    """Halving p and putting R in again, from the written-out chain; windows so small that it has few transitions."""
    given, n = {"bottleneck": 200.0, "buffer": 8, "rtt": 0.05}, 6
    low, high = 0.02, 0.4
    found = shared_bottleneck(**given, flows=n, max_window=12, **RENO)
    for _ in range(14):
        p = math.sqrt(low * high)
        mean, growth = walked(Path(loss=p, rtt=found.rtt, max_window=12, **RENO))
        u, round_trip = swept(n, p, mean, growth, 10, 8)
        low, high = (p, high) if n * mean > u * round_trip else (low, p)
    assert found.loss == pytest.approx(p, rel=1e-3)
    assert found.rtt == pytest.approx(round_trip / 200, rel=1e-3)
    assert found.utilization == pytest.approx(u, rel=1e-3)


@pytest.mark.parametrize("tcp", ["reno-sack", "cubic"])
def test_beside_packets(tcp):
    """Eight flows with 9 packets each in pipe and buffer: p within 20%, R within 8%, the share within 5%."""
    rate, buffer, rtt, n = 8e6, 30, 0.06, 8
    control = {"congestion": "cubic", "hystart": True} if tcp == "cubic" else {}
    sender = sim.Tcp(
        "rack", 2172, 10, timer="rfc6298", granularity=0.2, initial_rto=1.0, prr=True, jitter=12e3 / rate, **control
    )
    links = {"there": sim.Link(rtt / 2, rate, queue=buffer), "back": sim.Link(rtt / 2)}
    flows = [sim.Flow(("there",), ("back",), sender, start=0.1 * i, measured=True) for i in range(n)]
    seen = sim.simulate(sim.Scenario(links, tuple(flows)), 300.0, np.random.default_rng(3))
    sent, dropped, received = (
        sum(getattr(one.there, name) for one in seen.traffic) for name in ("sent", "dropped", "received")
    )
    C = rate / 12e3
    found = shared_bottleneck(bottleneck=C, buffer=buffer, rtt=rtt + 1 / C, flows=n, tcp=tcp)
    assert found.loss == pytest.approx(dropped / sent, rel=0.2)
    assert found.rtt == pytest.approx(np.mean([one.rtt for one in seen.flows]), rel=0.08)
    assert found.share == pytest.approx(received / 300 / n, rel=0.05)


@pytest.mark.parametrize("buffer", [10, 60])
def test_one_flow_beside_its_chain_with_a_bottleneck(buffer):
    """A window between half and all of pipe and buffer, 100 packets and more: the same share within 6%."""
    found = shared_bottleneck(bottleneck=2000, buffer=buffer, rtt=0.05, flows=1, tcp="reno-sack")
    alone = Path(loss=1e-9, rtt=0.05, tcp="reno-sack", bottleneck=2000, buffer=buffer)
    assert found.share == pytest.approx(tcpstream.throughput(alone), rel=0.06)
    assert (found.utilization < 0.97) == (buffer == 10)
    sawtooth = 8 / 3 / (100 + buffer) ** 2  # of windows that are halved each time: a loss in 3/8 W^2 packets
    assert found.loss == pytest.approx(sawtooth, rel=0.3)


def test_only_what_pipe_and_buffer_hold_for_each_flow_matters():
    """The fluid limit: a link of ten times the rate and the buffer for ten times the flows has the same p and R."""
    few = shared_bottleneck(**LINK, flows=6, tcp="reno-sack")
    many = shared_bottleneck(bottleneck=8000, buffer=300, rtt=0.05, flows=60, tcp="reno-sack")
    assert (many.loss, many.rtt, many.share) == pytest.approx((few.loss, few.rtt, few.share), rel=1e-4)


def test_more_flows_lose_more_and_wait_longer():
    found = [shared_bottleneck(**LINK, flows=n, tcp="reno-sack") for n in (4, 12, 32)]
    assert [one.loss for one in found] == sorted(one.loss for one in found)
    assert [one.queue for one in found] == sorted(one.queue for one in found)
    assert all(0 < one.queue < 30 and 0.9 < one.utilization <= 1 for one in found)


@pytest.mark.parametrize("tcp", ["reno-sack", "cubic"])
def test_the_path_has_the_share(tcp):
    found = shared_bottleneck(**LINK, flows=5, tcp=tcp)
    assert found.residual < 1e-4
    assert tcpstream.throughput(found.path) == pytest.approx(found.share, rel=2e-4)
    assert found.path == Path(loss=found.loss, rtt=found.rtt, tcp=tcp)
    assert found.share * 5 == pytest.approx(found.utilization * 800)
    assert found.queue == pytest.approx(800 * (found.rtt - 0.05))


def test_a_sender_is_a_name_or_a_record():
    named = shared_bottleneck(**LINK, flows=5, sender="classic")
    assert named.path.tcp == "reno-sack"  # that of independent losses
    assert shared_bottleneck(**LINK, flows=5, sender=Sender(tcp="reno-sack")).path == named.path


def test_it_is_shown():
    found = shared_bottleneck(**LINK, flows=5, tcp="reno-sack")
    assert found.to_dict()["path"] == found.path.to_dict()
    assert found.to_dict()["parameters"] == {"bottleneck_pps": 800.0, "buffer": 30, "rtt_s": 0.05, "flows": 5}
    assert f"{found.share:.4g} packets/s each" in repr(found)
    assert f"loss rate {found.loss:.4g}, round trip time {found.rtt:.4g} s" in found.summary()
    assert f"{found.loss:.4g}" in found._repr_html_()
    with pytest.raises(AttributeError):
        found.flows = 6


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"flows": 0}, "flows must be a whole number of at least 1, got 0"),
        ({"flows": 2.5}, "flows must be a whole number of at least 1, got 2.5"),
        ({"flows": 10**6}, "flows must be at most 100000, got 1e\\+06"),
        ({"flows": 36}, "pipe and buffer must hold at least 2 packets a flow, 72 for 36 flows, got 70"),
        ({"bottleneck": -1}, "bottleneck must be greater than 0 packets/s, got -1 packets/s"),
        ({"buffer": 1.5}, "buffer must be a whole number of at least 0 packets, got 1.5 packets"),
        ({"rtt": math.nan}, "round trip time must be finite, got nan s"),
        ({"tcp": "bbr"}, "reno-sack or cubic, got tcp = bbr"),
        ({"tcp": "reno"}, "reno-sack or cubic, got tcp = reno"),
        ({"max_window": 14}, "flows = 5 with windows of at most 14 packets do not fill pipe and buffer of 70 packets"),
        ({"sender": "tahoe"}, "sender must be one of classic, linux, got 'tahoe'"),
    ],
)
def test_what_is_refused(given, words):
    with pytest.raises(InputError, match=words):
        shared_bottleneck(**LINK | {"flows": 5} | given)


@pytest.mark.parametrize("name", ["loss", "losses", "capacity"])
def test_unknown_arguments(name):
    with pytest.raises(TypeError, match=f"unexpected keyword argument '{name}'"):
        shared_bottleneck(**LINK, flows=5, **{name: 0.1})


def test_what_does_not_settle_is_refused(monkeypatch):
    monkeypatch.setattr(shared_queue, "TRIES", 1)
    with pytest.raises(AccuracyError, match=r"of 5 flows do not settle in 1 steps: they still move by \d"):
        shared_bottleneck(**LINK, flows=5, tcp="reno-sack")
    monkeypatch.setattr(shared_queue, "MOST_LOSS", 0.001)
    with pytest.raises(AccuracyError, match=r"even with a loss rate of 0\.001 the flows do not fit"):
        shared_bottleneck(**LINK, flows=5, tcp="reno-sack")


def test_who_adds_more_than_a_packet_loses_one_that_reduces_the_window():
    """Of 2 packets a round, each of which takes 2 / 1.2 off the window, 1 counts; 20 of 620 are lost in an overflow."""
    total = Sawtooth.of(10, 0.02, Windows(60.0, 2.0), 320, 300)
    assert total.high - total.low == pytest.approx(10 * 2 / 1.2)
    assert total.overflowing == pytest.approx(0.02 * 620 / 20)


def test_without_a_buffer_there_is_no_queue():
    found = shared_bottleneck(bottleneck=100, buffer=0, rtt=0.1, flows=2, tcp="reno-sack")
    assert (found.queue, found.rtt) == (0, pytest.approx(0.1))
    assert found.utilization < 0.95
