"""`Path.from_throughput`: the loss rate at which a chain has a throughput, for every chain."""

from importlib import import_module

import pytest

import tcpstream
from tcpstream.errors import AccuracyError, InputError
from tcpstream.variants import enough_cubic, enough_window

CHAINS = [
    *({}, {"tcp": "reno-sack"}, {"tcp": "cubic"}, {"rounds_per_increase": 2, "halving": "ceil", "backoff": "paper"}),
    *({"tcp": "reno-sack", "detection": "rack", "initial_window": 10}, {"timeout_ratio": 2.5, "max_window": 30}),
    {"tcp": "reno-sack", "bottleneck": 120, "buffer": 10},
]


@pytest.mark.parametrize("chosen", CHAINS, ids=str)
@pytest.mark.parametrize("wanted", [2.5, 90])
def test_the_chain_has_the_throughput(chosen, wanted):
    path = tcpstream.Path.from_throughput(wanted, sender="classic", rtt=0.1, **chosen)
    assert tcpstream.throughput(path) == pytest.approx(wanted, rel=1e-6)
    assert all(getattr(path, name) == value for name, value in chosen.items())
    assert path.rto_assumed == ("timeout_ratio" not in chosen)


@pytest.mark.parametrize("tcp", ["reno", "reno-sack", "cubic"])
def test_it_is_the_inverse_where_the_largest_window_is_that_of_each_loss_rate(tcp):
    path = tcpstream.Path(sender="classic", loss=0.013, rtt=0.08, rto=0.31, tcp=tcp)
    found = tcpstream.Path.from_throughput(tcpstream.throughput(path), rtt=0.08, rto=0.31, sender="classic", tcp=tcp)
    assert found.loss == pytest.approx(0.013, rel=1e-6)
    enough = enough_cubic(found.loss, 0.08) if tcp == "cubic" else enough_window(found.loss)
    assert found.max_window == enough


def test_bits_are_those_of_packets():
    by_bits = tcpstream.Path.from_throughput(sender="classic", bitrate=240e3, packet_size=1000, rtt=0.1)
    assert by_bits == tcpstream.Path.from_throughput(30, sender="classic", rtt=0.1)


@pytest.mark.parametrize("wanted", [0.05, 500])
def test_out_of_reach_names_the_reach(wanted):
    """With windows of at most 20 packets: 20 / 0.1 s, and what the chain has at p = 0.5."""
    least = tcpstream.throughput(tcpstream.Path(sender="classic", loss=0.5, rtt=0.1, max_window=20))
    with pytest.raises(InputError) as caught:
        tcpstream.Path.from_throughput(wanted, sender="classic", rtt=0.1, max_window=20)
    assert f"{wanted:g} packets/s" in str(caught.value)
    assert f"{least:.4g} packets/s at a loss rate of 0.5 and 200 packets/s at most" in str(caught.value)


def test_without_a_largest_window_only_the_least_is_known(monkeypatch):
    monkeypatch.setattr(import_module("tcpstream.tcp.reno"), "MOST_STATES", 300)
    with pytest.raises(InputError, match=r"it has 0\.2071 packets/s at a loss rate of 0\.5, and more at any below"):
        tcpstream.Path.from_throughput(0.05, sender="classic", rtt=0.1)
    with pytest.raises(AccuracyError, match="give a smaller max_window"):
        tcpstream.Path.from_throughput(500, sender="classic", rtt=0.1)


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        ({}, "throughput [packets/s] or bitrate [bit/s]"),
        ({"throughput": 9, "bitrate": 9e5}, "throughput [packets/s] or bitrate [bit/s]"),
        ({"throughput": 9, "loss": 0.1}, "leave out loss"),
        ({"throughput": float("nan")}, "throughput must be finite"),
        ({"throughput": -2}, "throughput must be greater than 0 packets/s, got -2 packets/s"),
        ({"bitrate": "3Mbps"}, "bit rate must be a number in bit/s"),
        ({"bitrate": 3e6, "packet_size": 0}, "packet size must be greater than 0 bytes"),
        ({"throughput": 9, "rto": 0.01}, "retransmission timer (rto) must be at least the round trip time"),
    ],
)
def test_bad_input(arguments, part):
    with pytest.raises(InputError) as caught:
        tcpstream.Path.from_throughput(**({"sender": "classic"} | arguments), rtt=0.1)
    assert part in str(caught.value)
