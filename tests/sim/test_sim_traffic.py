"""Accounts of all flows: nothing is lost that is not dropped, in packets and bytes, in any scenario."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tcpstream.sim import (
    Application,
    Backlogged,
    Bernoulli,
    Change,
    Client,
    Clip,
    Flow,
    GilbertElliott,
    Link,
    LossTrace,
    Ping,
    Requests,
    Run,
    Scenario,
    Server,
    Steady,
    Stored,
    Tcp,
    Tfrc,
    TokenBucket,
    simulate,
)
from tcpstream.sim import simulation as running
from tcpstream.sim import world as arrays
from tcpstream.sim.engine import records
from tcpstream.sim.layers import Forwarded, Layered, Relayed, Uncontrolled, VideoLayers
from tcpstream.sim.lcrtp import LcRtp
from tcpstream.sim.players import PLAYERS, player
from tcpstream.sim.toml import SOURCES


class Chatter(Server):
    """Sends datagrams or writes to TCP, and talks, at random until a time."""

    def __init__(self, until):
        self.until = until

    def start(self, host):
        self.timer(host, "")

    def timer(self, host, _name):
        if host.now > self.until:
            return
        for _ in range(int(host.rng.integers(0, 4))):
            if host._stream.send_buffer is None:
                host.send(int(host.rng.integers(28, 1500)), after=float(host.rng.choice([0, 0.05])))
            else:
                host.write(int(host.rng.integers(0, 4)))
        host.tell("talk", int(host.rng.integers(28, 200)))
        host.wake("", float(host.rng.random()) / 5)


class Answering(Client):
    """Answers each message, and looks at what came."""

    def message(self, host, message):
        host.arrived()
        host.tell(message, int(host.rng.integers(28, 1500)))


@dataclass(frozen=True)
class Chat(Application):
    """Talks until a time [s]."""

    until: float = 8.0

    def server(self):
        """Return what begins."""
        return Chatter(self.until)

    def client(self):
        """Return what answers."""
        return Answering()


losses = st.one_of(
    st.none(),
    st.builds(Bernoulli, st.floats(0, 0.3)),
    st.builds(GilbertElliott, st.floats(0, 0.1), st.floats(0.2, 1)),
    st.just(LossTrace([0, 1, 0, 0, 0])),
)


@st.composite
def links(draw):
    return Link(
        draw(st.sampled_from([0.001, 0.08])),
        draw(st.sampled_from([np.inf, 3e5])),
        queue=draw(st.sampled_from([None, 1, 8])),
        queue_bytes=draw(st.sampled_from([None, 5000])),
        loss=draw(losses),
        bucket=draw(st.sampled_from([None, TokenBucket(4e5, 1600)])),
        holds_delayed=draw(st.booleans()),
    )


ROUTES = {"there": ("a", "c"), "back": ("b",)}
FLOWS = (
    Flow(**ROUTES, tcp=None, source=Chat(), measured=True),
    Flow(**ROUTES, tcp=Tcp("sack", max_window=20, send_buffer=5), source=Chat(), start=1.0, measured=True),
    Flow(**ROUTES, tcp=Tcp("newreno", max_window=20, jitter=0.01), source=Steady(20.0, 8.0), measured=True),
    Flow(there=("c",), tcp=None, source=Steady(30.0, 8.0), measured=True, packet_size=333),
    Flow(there=("c", "b"), tcp=None, source=Steady(5.0, 8.0)),
    Flow(**ROUTES, tcp=None, source=Ping(0.3)),
    Flow(**ROUTES, tcp=None, source=Tfrc(400, 4e5, jitter=0.001), name="paced"),
    Flow(there=("c",), back=("b",), tcp=None, source=Forwarded("paced")),
)

CLIP, VIDEO = Clip(6.0, (20e3, 100e3, 300e3), (5e3, 8e3, 16e3)), VideoLayers(rate=64e3, size=500, duration=3.0)
DATAGRAMS = (
    Ping(0.3),
    Tfrc(400, 4e5),
    Layered(video=VIDEO),
    Forwarded("1"),
    Relayed(of="1", video=VIDEO),
    Uncontrolled(VIDEO),
    LcRtp(video=VIDEO, patience=0.5),
    *(player(name)(CLIP) for name in PLAYERS if name not in {"realplayer_tcp", "quicktime"}),
    player("quicktime")(),
)
EVERY_KIND = (
    Flow(there=("c",), tcp=None, source=Steady(30.0, 3.0), packet_size=333),
    Flow(**ROUTES, tcp=None, source=Layered(video=VIDEO), name="1"),
    *(Flow(**ROUTES, tcp=None, source=source) for source in DATAGRAMS),
    *(
        Flow(**ROUTES, tcp=Tcp("sack", max_window=20), source=source)
        for source in (Backlogged(), Stored(20.0, 3.0), Requests([0.0, 0.1], [5, 9]))
    ),
    Flow(**ROUTES, tcp=Tcp("sack", send_buffer=9), source=player("realplayer_tcp")(CLIP), measured=True),
)
"""A flow of each kind that a scenario file may name, and of what has no name there."""


def under_way(world):
    """Packets in the arrays that are not free and have left their sender, by flow, there and back, and their bytes."""
    used = np.ones(len(world.packets), dtype=bool)
    used[world.free[: int(world.clock["free"][0])]] = False
    events = world.heap[: int(world.clock["pending"][0])]
    used[events["who"][events["kind"] == records.SEND]] = False
    found = np.zeros((len(world.flows), 2, 2), dtype=int)
    for packet in world.packets[used]:
        if packet["back"] != records.ACK:
            found[packet["flow"], int(packet["back"] == records.REPORT)] += 1, packet["size"]
    return found.tolist()


def accounted(scenario, seconds, seed):
    """Return a run in which all that is sent is received, dropped, or in the arrays, in packets and in bytes."""
    worlds = []
    traffic = running.traffic
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(running, "traffic", lambda _s, world, *rest: worlds.append(world) or traffic(_s, world, *rest))
        run = simulate(scenario, seconds, np.random.default_rng(seed))
    for seen, left in zip(run.traffic, under_way(worlds[0]), strict=True):
        for count, (packets, octets) in zip((seen.there, seen.back), left):
            assert count.sent == count.received + count.dropped + packets
            assert count.sent_bytes == count.received_bytes + count.dropped_bytes + octets
            assert count.under_way == packets
        for name in ("sent", "received", "dropped"):
            assert getattr(seen.bins, name).sum() == getattr(seen.there, f"{name}_bytes")
    return run


@settings(max_examples=40)
@given(links(), links(), links(), st.integers(0, 5), st.sampled_from([0.3, 2.0, 5.0]), st.sampled_from([0.25, 3.0]))
def test_sent_is_received_dropped_or_under_way(a, b, c, seed, seconds, width):
    run = accounted(Scenario({"a": a, "b": b, "c": c}, FLOWS, bins=width), seconds, seed)
    for number in (0, 3):
        arrivals = run.traffic[number].arrivals
        assert (np.diff(arrivals.time) >= 0).all()
        assert len(set(arrivals.number.tolist())) == len(arrivals)
    assert run.traffic[3].there.received_bytes == run.traffic[3].arrivals.size.sum()


@settings(max_examples=20)
@given(links(), links(), links(), st.integers(0, 5), st.sampled_from([0.5, 2.0, 6.0]))
def test_and_so_it_is_of_every_kind(a, b, c, seed, seconds):
    accounted(Scenario({"a": a, "b": b, "c": c}, EVERY_KIND, bins=0.5), seconds, seed)


def test_every_kind_has_a_flow():
    """And each of them sends something."""
    kinds = {type(flow.source) for flow in EVERY_KIND}
    assert kinds == {*SOURCES.values(), *map(player, PLAYERS), Uncontrolled, Stored, Requests}
    wide = {name: Link(0.01, 1e7) for name in "abc"}
    run = accounted(Scenario(wide, EVERY_KIND, bins=1.0), 8.0, 1)
    assert all(seen.there.received for seen in run.traffic)


@settings(max_examples=15)
@given(links(), links(), links(), st.integers(0, 5))
def test_nothing_is_under_way_once_all_is_quiet(a, b, c, seed):
    run = simulate(Scenario({"a": a, "b": b, "c": c}, FLOWS[:5]), 1e4, np.random.default_rng(seed))
    assert [seen.there.under_way for seen in run.traffic] == [0] * 5
    assert [seen.back.under_way for seen in run.traffic] == [0] * 5
    for seen, flow in zip(run.flows, FLOWS[1:3]):
        first = run.traffic[FLOWS.index(flow)].there
        assert first.received >= len(seen.times)


def test_bins_of_a_steady_flow():
    """A packet of 500 bytes each quarter of a second from 1 s to 4 s on, half a second later there."""
    flow = Flow(("a",), (), None, Steady(4.0, 2.9), start=1.0, packet_size=500)
    bins = simulate(Scenario({"a": Link(0.5)}, (flow,), bins=1.0), 4.5, np.random.default_rng(1)).traffic[0].bins
    assert bins.sent.tolist() == [0, 2000, 2000, 2000, 0]
    assert bins.received.tolist() == [0, 1000, 2000, 2000, 1000]
    assert bins.dropped.tolist() == [0, 0, 0, 0, 0]


def test_bins_count_drops_when_they_happen():
    lossy = Link(0.1, loss=Bernoulli(0.0), changes=(Change(2.0, loss=1.0), Change(3.0, loss=0.0)))
    flows = (Flow(("a",), (), None, Steady(10.0), packet_size=100),)
    bins = simulate(Scenario({"a": lossy}, flows, bins=1.0), 3.95, np.random.default_rng(1)).traffic[0].bins
    assert bins.dropped.tolist() == [0, 0, 1000, 0]
    assert bins.sent.tolist() == [1000] * 4


@dataclass(frozen=True)
class Bursts(Application):
    """Six packets at once at each of some times [s]."""

    times: tuple[float, ...]

    def server(self):
        """Return what sends."""

        class Sending(Server):
            def start(_self, host):  # noqa: N805
                for time in self.times:
                    for _ in range(6):
                        host.send(1000, after=time)

        return Sending()

    def client(self):
        """Return what listens."""
        return Client()


@pytest.mark.parametrize(("holds", "arrive"), [(False, [6, 6, 6, 6]), (True, [4, 0, 4, 0])])
def test_a_queue_that_counts_delayed_packets(holds, arrive):
    """Four places; packets leave at once, and are there .1 s later. Bursts at 0, .05, .101 and .15 s."""
    links = {"a": Link(0.1, queue=4, holds_delayed=holds), "b": Link(0.1)}
    flow = Flow(("a",), ("b",), None, Bursts((0.0, 0.05, 0.101, 0.15)), measured=True)
    arrivals = simulate(Scenario(links, (flow,)), 5.0, np.random.default_rng(1)).traffic[0].arrivals
    assert np.bincount(arrivals.number // 6, minlength=4).tolist() == arrive


def test_held_packets_by_a_queue_of_bytes_and_a_rate():
    """1000 bytes take .01 s: of six at once in room for 3500 bytes three pass; .13 s later the last one has gone."""
    links = {"a": Link(0.1, 8e5, queue_bytes=3500, holds_delayed=True), "b": Link(0.1)}
    flow = Flow(("a",), ("b",), None, Bursts((0.0, 0.115, 0.3)), measured=True)
    arrivals = simulate(Scenario(links, (flow,)), 5.0, np.random.default_rng(1)).traffic[0].arrivals
    assert np.bincount(arrivals.number // 6).tolist() == [3, 1, 3]
    assert arrivals.time == pytest.approx([0.11, 0.12, 0.13, 0.225, 0.41, 0.42, 0.43])


def seen(run):
    return [
        (one.there, one.back, one.notes)
        + tuple(part.tobytes() for part in (one.bins.sent, one.bins.received, one.bins.dropped))
        + (() if one.arrivals is None else tuple(part.tobytes() for part in vars(one.arrivals).values()))
        for one in run.traffic
    ]


def network():
    links = {"a": Link(0.02, 3e5, queue=5, loss=Bernoulli(0.1)), "b": Link(0.02), "c": Link(0.1)}
    return Scenario(links, FLOWS, bins=0.7)


def test_arrays_that_grow_change_nothing(monkeypatch):
    wanted = seen(simulate(network(), 9.0, np.random.default_rng(7)))
    monkeypatch.setattr(arrays, "LOGGED", 1)
    monkeypatch.setattr(arrays, "ORDERS", 1)
    monkeypatch.setattr(arrays.size, "ROOM", 0)
    assert seen(simulate(network(), 9.0, np.random.default_rng(7))) == wanted


def test_saved_and_loaded(tmp_path):
    run = simulate(network(), 9.0, np.random.default_rng(7))
    run.save(tmp_path / "run.npz")
    again = Run.load(tmp_path / "run.npz")
    assert seen(again) == seen(run)
    assert again.scenario == run.scenario
    assert seen(simulate(again.scenario, again.duration, np.random.default_rng(7))) == seen(run)


def test_a_table_of_bytes(tmp_path):
    run = simulate(network(), 9.0, np.random.default_rng(7))
    run.write_traffic(tmp_path / "bins.csv")
    lines = [line for line in (tmp_path / "bins.csv").read_text().splitlines() if not line.startswith("#")]
    assert lines[0] == "flow,from_s,to_s,sent_bytes,received_bytes,dropped_bytes"
    assert len(lines) == 1 + 8 * 13
    assert lines[13].startswith('"flow 1",8.4,9,')
    rows = np.array([line.split(",")[3:] for line in lines[1:]], dtype=int).reshape(8, 13, 3).sum(axis=1)
    assert rows.tolist() == [list(one.there[3:]) for one in run.traffic]
    whole = simulate(replace(network(), bins=None), 9.0, np.random.default_rng(7))
    whole.write_traffic(tmp_path / "whole.csv")
    assert f'"flow 1",0,9,{",".join(map(str, rows[0]))}' in (tmp_path / "whole.csv").read_text().splitlines()


def test_a_stored_video_ends_a_run_and_its_bins():
    flow = Flow(("a",), ("b",), source=Stored(50.0, 10.0), measured=True)
    links = {"a": Link(0.05), "b": Link(0.05)}
    run = simulate(Scenario(links, (flow,), bins=1.0), 1000.0, np.random.default_rng(1))
    assert run.duration < 100
    assert len(run.traffic[0].bins.sent) == run.duration
    assert run.traffic[0].bins.received.sum() == 500 * 1500
