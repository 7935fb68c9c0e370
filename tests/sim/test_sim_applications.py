"""Applications on links where every time is known."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest

from tcpstream.errors import InputError
from tcpstream.sim import (
    Application,
    Bernoulli,
    Change,
    Client,
    Flow,
    Link,
    LossTrace,
    Ping,
    Scenario,
    Server,
    Steady,
    Tcp,
    simulate,
)

QUIET = Link(0.05)


def nothing(*_):
    pass


@dataclass(frozen=True)
class Script(Application):
    """What each end does when it is called, and what it was called for and when."""

    server_does: Callable[..., Any] = nothing
    client_does: Callable[..., Any] = nothing
    calls: list = field(default_factory=list)

    def server(self):
        return self._end(Server, "server", self.server_does)

    def client(self):
        return self._end(Client, "client", self.client_does)

    def _end(self, kind, who, does):
        calls = self.calls

        def act(what):
            def method(_self, host, *given):
                calls.append((who, what, *given, host.now))
                does(host, what, *given)

            return method

        return type(who, (kind,), {what: act(what) for what in ("start", "timer", "message")})()


def ran(script, down=QUIET, up=QUIET, tcp=None, seconds=10.0, seed=1, start=0.0):
    flow = Flow(("down",), ("up",), tcp, script, measured=True, start=start)
    return simulate(Scenario({"down": down, "up": up}, (flow,)), seconds, np.random.default_rng(seed))


def messages(script, who):
    return [call[2:] for call in script.calls if call[:2] == (who, "message")]


def test_a_burst_of_several_sizes_leaves_one_packet_after_the_other():
    sizes = [1500, 40, 700, 1500]

    def burst(host, what):
        assert [host.send(size, tag=10 * k) for k, size in enumerate(sizes)] == [0, 1, 2, 3]

    seen = ran(Script(burst), Link(0.05, 1e6), start=2.0).traffic[0]
    assert seen.arrivals.time == pytest.approx(2.05 + 8 * np.cumsum(sizes) / 1e6)
    assert seen.arrivals.size.tolist() == sizes
    assert seen.arrivals.number.tolist() == [0, 1, 2, 3]
    assert seen.arrivals.tag.tolist() == [0, 10, 20, 30]
    assert (seen.there.sent, seen.there.received_bytes, seen.there.under_way) == (4, sum(sizes), 0)


def test_packets_that_leave_later():
    seen = ran(Script(lambda host, _: [host.send(100, after=0.5 * (3 - k)) for k in range(3)])).traffic[0]
    assert seen.arrivals.number.tolist() == [2, 1, 0]
    assert seen.arrivals.time == pytest.approx([0.55, 1.05, 1.55])


def test_what_leaves_after_the_end_was_not_sent():
    seen = ran(Script(lambda host, _: [host.send(100, after=after) for after in (9.97, 11.0)])).traffic[0]
    assert (seen.there.sent, seen.there.received, seen.there.under_way) == (1, 0, 1)


def test_timers():
    """The later of one name counts; one that is forgotten does not come."""

    def act(host, what, *_):
        if what == "start":
            host.wake("a", 1.0)
            host.wake("b", 2.0)
            host.wake("a", 3.0)
            host.wake("c", 4.0)
        else:
            host.cancel("c")

    script = Script(act, lambda host, what, *_: host.wake("look", 4.0) if what == "start" else None)
    ran(script, start=1.0)
    assert script.calls == [
        ("server", "start", 1.0),
        ("client", "start", 1.0),
        ("server", "timer", "b", 3.0),
        ("server", "timer", "a", 4.0),
        ("client", "timer", "look", 5.0),
    ]


def test_messages_take_the_links_there_and_back():
    """100 bytes there and 200 back at 8 kbit/s: .1 and .2 s, and twice the delay."""
    script = Script(
        lambda host, what, *_: host.tell("who", 100) if what == "start" else None,
        lambda host, what, *_: host.tell({"me": 1}, 200) if what == "message" else None,
    )
    seen = ran(script, Link(0.05, 8e3), Link(0.3, 8e3)).traffic[0]
    assert messages(script, "client") == [("who", pytest.approx(0.15))]
    assert messages(script, "server") == [({"me": 1}, pytest.approx(0.65))]
    assert (seen.there.sent_bytes, seen.back.sent_bytes) == (100, 200)
    assert (seen.there.received, seen.back.received) == (1, 1)


def test_reports_are_lost_as_any_packet():
    script = Script(client_does=lambda host, _: [host.tell(k) for k in range(4)])
    seen = ran(script, up=Link(0.1, loss=LossTrace([0, 1, 0, 1]))).traffic[0]
    assert messages(script, "server") == [(0, 0.1), (2, 0.1)]
    assert seen.back == (4, 2, 2, 256, 128, 128)


def test_reports_wait_in_queues_and_for_a_longer_delay():
    script = Script(client_does=lambda host, _: [host.tell(k, 1000) for k in range(5)])
    ran(script, up=Link(0.1, 8e3, queue=3, changes=(Change(1.5, delay=2.0),)))
    assert [(what, pytest.approx(time)) for what, time in messages(script, "server")] == [(0, 1.1), (1, 4), (2, 5)]


def test_missing_datagrams_are_those_that_others_overtook():
    """Lost are the second, the third and the last; the last one is not missed yet."""
    found = []

    def look(host, what, *_):
        if what == "start":
            host.wake("look", 1.0)
        else:
            found.append((host.arrived().number.tolist(), host.missing, len(host.arrived())))

    ran(Script(lambda host, _: [host.send(100) for _ in range(6)], look), Link(0.1, loss=LossTrace([0, 1, 1, 0, 0, 1])))
    assert found == [([0, 3, 4], [1, 2], 0)]


def test_overtaken_are_those_that_are_newly_missing():
    """The second of four is lost: it is told once."""
    found = []

    def look(host, what, *_):
        host.wake("look", 0.1)
        if what == "timer":
            found.append((host.arrived().number.tolist(), host.overtaken, host.missing))

    def send(host, _):
        for after in (0.0, 0.15, 0.16, 0.31):
            host.send(100, after=after)

    late = Link(0.05, loss=LossTrace([0, 1, 0, 0]))
    ran(Script(send, look), late, seconds=0.55)
    assert found == [([0], [], []), ([], [], []), ([2], [1], [1]), ([3], [], [1]), ([], [], [1])]


def test_arrived_is_what_is_new():
    found = []

    def look(host, what, *_):
        found.append(host.arrived().number.tolist())
        host.wake("look", 1.0)

    ran(Script(lambda host, _: [host.send(100, after=0.4 * k) for k in range(5)], look), seconds=3.5)
    assert found == [[], [0, 1, 2], [3, 4], []]


def test_a_socket_buffer_drains_at_the_rate_of_the_link():
    """A buffer of 30 packets over 100 packets/s: it is full at once, and 100 packets a second are taken later on."""
    rooms, taken = [], []

    def fill(host, what, *_):
        rooms.append(host.room)
        taken.append(host.write(1000, tag=len(taken)))
        assert host.room == 0
        host.wake("fill", 0.1)

    arrived = []

    def look(host, what, *_):
        arrived.append(host.arrived())
        host.wake("look", 1.0)

    run = ran(Script(fill, look), Link(0.02, 1.2e6), Link(0.02), Tcp("sack", send_buffer=30), seconds=20.0)
    assert rooms == taken
    assert taken[0] == 30
    assert sum(taken[50:150]) == pytest.approx(1000, abs=2)
    tags = np.concatenate([one.tag for one in arrived])
    assert tags.tolist() == np.repeat(np.arange(len(taken)), taken)[: len(tags)].tolist()
    assert np.concatenate([one.time for one in arrived]) == pytest.approx(run.flows[0].times[: len(tags)])
    assert run.flows[0].sent == run.traffic[0].there.sent


def test_what_is_written_to_tcp_arrives_whole_in_spite_of_losses():
    script = Script(lambda host, what, *_: [host.write(25), host.tell("beside")] if what == "start" else None)
    run = ran(script, Link(0.02, loss=Bernoulli(0.2)), Link(0.02, loss=Bernoulli(0.2)), Tcp(), seconds=500.0, seed=3)
    there = run.traffic[0].there
    assert len(run.flows[0].times) == 25
    assert there.under_way == 0
    assert there.received >= 25
    assert there.sent == run.flows[0].sent + 1  # the message is no packet of TCP


@pytest.mark.parametrize("start", [0.0, 0.35])
def test_ping_sees_round_trips_and_losses(start):
    """84 bytes at 84 kbit/s take 8 ms; a quarter of the pings and none of the echoes are lost."""
    links = {"down": Link(0.05, 84e3, loss=LossTrace([1, 0, 0, 0])), "up": Link(0.03)}
    ping = Ping(0.5)
    run = simulate(Scenario(links, (Flow(("down",), ("up",), None, ping, start),)), 22.25, np.random.default_rng(1))
    times, rtts = run.traffic[0].noted("rtt")
    assert rtts == pytest.approx(0.088)
    assert times[0] == pytest.approx(start + 0.588)
    figures = ping.figures(run.traffic[0], 22.25)
    assert figures == {"rtt_s": pytest.approx(0.088), "rtt_median_s": pytest.approx(0.088), "loss": figures["loss"]}
    sent = len(np.arange(start, 20.25 + 1e-9, 0.5))
    assert figures["loss"] == pytest.approx(-(-sent // 4) / sent)


def random_walk(host, what, *_):
    host.note("draw", host.rng.random())
    host.send(int(host.rng.integers(28, 1500)), after=float(host.rng.random()))
    host.wake("again", float(host.rng.random()) / 10)


def told(script, seed):
    links = {"down": Link(0.02, 1e6, queue=10, loss=Bernoulli(0.02)), "up": Link(0.02, loss=Bernoulli(0.1))}
    flows = (
        Flow(("down",), ("up",), None, script, measured=True),
        Flow(("down",), ("up",), Tcp("sack", jitter=1e-3), measured=True),
    )
    run = simulate(Scenario(links, flows, bins=0.5), 30.0, np.random.default_rng(seed))
    one, other = run.traffic
    return (
        one.notes,
        one.arrivals.time.tobytes(),
        one.bins.received.tobytes(),
        one.there,
        other.there,
        run.flows[0].sent,
    )


def test_same_seed_same_run():
    script = Script(random_walk, lambda host, *_: [host.arrived(), host.tell(1), host.wake("x", 0.3)])
    assert told(script, 1) == told(script, 1)
    assert told(script, 1) != told(script, 2)


def test_what_one_end_draws_changes_nothing_else():
    def drawing(host, what, *_):
        host.rng.random(100)
        host.wake("x", 0.3)

    quiet, busy = Script(random_walk, lambda host, *_: host.wake("x", 0.3)), Script(random_walk, drawing)
    assert told(quiet, 1) == told(busy, 1)


@pytest.mark.parametrize(
    ("act", "tcp", "words"),
    [
        (lambda host: host.send(27), None, "size of a packet must be a whole number of at least 28 bytes, got 27"),
        (lambda host: host.send(70000), None, "size of a packet must be at most 65535 bytes, got 70000 bytes"),
        (lambda host: host.send(100, 0.5), None, "a tag must be a whole number, got 0.5"),
        (lambda host: host.send(100, after=-1), None, "after must be at least 0 s, got -1 s"),
        (lambda host: host.wake("a", np.nan), None, "after must be finite, got nan s"),
        (lambda host: host.tell(1, 3), None, "size of a packet must be a whole number of at least 28 bytes, got 3"),
        (lambda host: host.note("a", "b"), None, "value of a note must be a number, got 'b'"),
        (lambda host: host.write(1), None, "a flow of datagrams has no socket buffer: send them"),
        (lambda host: host.send(100), Tcp(), "datagrams are sent by a flow without TCP: write to this one"),
        (lambda host: host.write(-1), Tcp(), "packets must be a whole number of at least 0, got -1"),
    ],
)
def test_what_a_host_refuses(act, tcp, words):
    with pytest.raises(InputError, match=words):
        ran(Script(lambda host, _: act(host)), tcp=tcp)


def test_several_flows_are_measured():
    """A steady flow, 10 packets a second, and two of TCP, on links of their own."""
    links = {name: Link(0.05, loss=Bernoulli(0.1)) for name in "abc"} | {"up": QUIET}
    flows = (
        Flow(("a",), (), None, Steady(10.0, 19.95), measured=True, packet_size=500),
        *(Flow((name,), ("up",), Tcp("sack"), measured=True) for name in "bc"),
    )
    run = simulate(Scenario(links, flows), 30.0, np.random.default_rng(2))
    assert len(run.flows) == 2
    arrivals = run.traffic[0].arrivals
    assert arrivals.time == pytest.approx(arrivals.number / 10 + 0.05)
    assert set(arrivals.size.tolist()) == {500}
    assert run.traffic[0].there.sent == 200
    assert run.traffic[0].there.received == len(arrivals)
    alone = replace(run.scenario, flows=tuple(replace(flow, measured=False) for flow in flows))
    assert [one.there for one in simulate(alone, 30.0, np.random.default_rng(2)).traffic] == [
        one.there for one in run.traffic
    ]
