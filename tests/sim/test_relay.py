"""What a cache sends on: at once, or paced and filtered."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from tcpstream.errors import InputError
from tcpstream.sim import Bernoulli, Flow, Link, Scenario, Steady, Tfrc, simulate
from tcpstream.sim.layers import Forwarded, Layered, Relayed, VideoLayers, valid_layers
from tcpstream.sim.layers.relayed import RelayFeed
from tcpstream.sim.traffic import Datagram

VIDEO = VideoLayers(duration=40.0)
NARROW = Link(0.01, rate=512e3, queue=20)
UP = {"back": ("up",), "tcp": None, "measured": True}


@cache
def ran(source, relay, seconds: float = 45.0, down: Link = NARROW):
    """A server, 1 Mbit/s, a cache, a link down, a client: what became of both flows."""
    links = {"backbone": Link(0.02, rate=1.1e6, queue=30), "down": down, "up": Link(0.02)}
    flows = (Flow(("backbone",), name="first", source=source, **UP), Flow(("down",), source=relay, **UP))
    return simulate(Scenario(links, flows), seconds, np.random.default_rng(1)).traffic


def test_what_is_forwarded_leaves_when_it_arrives() -> None:
    """On a link without queue it is with the client 30 ms later, with its size and tag."""
    first, second = (seen.arrivals for seen in ran(Layered(video=VIDEO, cap=3e5), Forwarded("first"), down=Link(0.03)))
    assert second.time == pytest.approx(first.time[: len(second)] + 0.03, abs=1e-12)
    assert (second.tag == first.tag[: len(second)]).all()
    assert (second.size == 1000).all()
    assert second.number.tolist() == list(range(len(second)))


def test_accounts_of_a_relay() -> None:
    """It sends what came, no more; under TFRC what its queue does not drop."""
    for relay, least in ((Forwarded("first"), 1.0), (Relayed(of="first", video=VIDEO), 0.4)):
        first, second = ran(Layered(video=VIDEO), relay)
        assert second.there.under_way == 0
        assert least * first.there.received <= second.there.sent <= first.there.received
        assert set(second.arrivals.tag.tolist()) <= set(first.arrivals.tag.tolist())


def test_a_filter_keeps_the_lower_layers() -> None:
    """Four layers of 256 kbit/s over 512 kbit/s: TFRC has two layers valid; without it any is dropped."""
    paced = ran(Layered(video=VIDEO), Relayed(of="first", video=VIDEO))[1].arrivals
    blind = ran(Layered(video=VIDEO), Forwarded("first"))[1].arrivals
    late = slice(VIDEO.frames // 3, None)
    layers = valid_layers(VIDEO, paced.tag)[late]
    assert 1.7 < layers.mean() < 2.1
    assert (layers >= 1).mean() > 0.96
    assert valid_layers(VIDEO, blind.tag)[late].mean() < 0.8 * layers.mean()
    assert (np.diff(paced.tag) > 0).all()


def test_a_relay_of_any_flow_under_tfrc() -> None:
    first, second = ran(Tfrc(cap=4e5), Forwarded("first"), seconds=20.0, down=Link(0.01, loss=Bernoulli(0.1)))
    assert 0.05 < second.there.loss < 0.15
    assert first.there.loss == 0


def test_a_relay_has_nothing_until_something_came() -> None:
    feed = RelayFeed(VIDEO, 2)
    assert feed.pull(0.0) is None
    assert feed.due(0.0) == np.inf
    for number in range(4):
        feed.came(Datagram(0, 1000, number, None))
    assert [feed.pull(1.0).tag, feed.pull(1.0).tag] == [0, 1]


@pytest.mark.parametrize("name", ["other", "second"])
def test_a_relay_needs_its_flow(name) -> None:
    links = {"down": Link(0.1), "up": Link(0.1)}
    steady = Flow(("down",), tcp=None, source=Steady(10.0), name="second")
    relay = Flow(("down",), source=Forwarded(name), back=("up",), tcp=None)
    with pytest.raises(InputError, match=f"a relay needs one flow of an application's datagrams named '{name}'"):
        Scenario(links, (steady, relay))
    with pytest.raises(InputError, match="of must be the name of the flow that is relayed, got ''"):
        Relayed()


def test_figures_of_what_is_forwarded() -> None:
    """Over a wide link all layers of all frames, once the video is given; else none are known."""
    for relay in (Forwarded("first", VIDEO), Forwarded("first")):
        seen = ran(Layered(video=VIDEO, cap=1.05e6), relay, down=Link(0.03))[1]
        found = relay.figures(seen, 45.0)
        assert found == ({} if relay.video is None else {"valid_layers": 4.0, "layer_changes": 0.0})
