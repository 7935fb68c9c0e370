"""A cache that repairs its copy: under losses, with each message lost, in both modes."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tcpstream.errors import InputError
from tcpstream.sim import Bernoulli, Flow, Link, LossTrace, Scenario, simulate
from tcpstream.sim.hosts import ClientHost, ServerHost
from tcpstream.sim.layers import VideoLayers
from tcpstream.sim.lcrtp import LcRtp
from tcpstream.sim.lcrtp.copy_of_video import Copy, content, original
from tcpstream.sim.lcrtp.messages import LARGEST_LIST, Bye, Request, requests

VIDEO = VideoLayers(duration=1.0)
R = 0.04


def ran(there, back, seed: int = 1, rate: float = 1.1e6, **settings):
    links = {"there": Link(R / 2, rate=rate, queue=30, loss=there), "back": Link(R / 2, loss=back)}
    flow = Flow(("there",), ("back",), None, LcRtp(video=VIDEO, **settings))
    return simulate(Scenario(links, (flow,)), 600.0, np.random.default_rng(seed)).traffic[0]


def end(traffic):
    """Lists, segments that are lacking, whether the others are the server's, whether it said BYE; once each."""
    found = [traffic.noted(name)[1].tolist() for name in ("lists", "lacking", "same", "bye")]
    assert [len(one) for one in found] == [1, 1, 1, 1]
    return [one[0] for one in found]


def test_nothing_is_lost() -> None:
    assert end(ran(None, None, rate=2e6)) == [0, 0, 1, 0]


@pytest.mark.parametrize("loss", [0.01, 0.1, 0.3])
@pytest.mark.parametrize("seed", [1, 2])
def test_mode_1_ends_with_a_whole_copy(loss: float, seed: int) -> None:
    traffic = ran(Bernoulli(loss), Bernoulli(loss), seed, mode=1)
    _, lacking, same, bye = end(traffic)
    assert (lacking, same, bye) == (0, 1, 0)
    missing = traffic.noted("missing")[1]
    assert (np.diff(missing) <= 0).all()


@pytest.mark.parametrize("loss", [0.01, 0.1, 0.3])
@pytest.mark.parametrize("seed", [1, 2])
def test_mode_0_ends_with_what_was_sent(loss: float, seed: int) -> None:
    """512 kbit/s, so that the filter drops segments: a list that names only these is answered with BYE."""
    traffic = ran(Bernoulli(loss), Bernoulli(loss), seed, rate=512e3, mode=0)
    _, lacking, same, bye = end(traffic)
    sent = traffic.noted("sent")[1][0]
    assert sent < VIDEO.segments
    assert (lacking, same, bye) == (VIDEO.segments - sent, 1, 1)


def test_fewer_tries_stop_the_same_run() -> None:
    many, few = (ran(Bernoulli(0.3), Bernoulli(0.3), 5, tries=tries) for tries in (60, 2))
    missing = many.noted("missing")[1]
    assert len(missing) > 2
    assert end(few)[:2] == [2, missing[2]]


class Lossy:
    """Loses the first of one kind of message or segment, wherever it is sent from."""

    def __init__(self, monkeypatch, lost) -> None:
        self.lost, self.count = lost, 0
        for host, name, what in ((ServerHost, "tell", 0), (ClientHost, "tell", 0), (ServerHost, "send", 3)):
            monkeypatch.setattr(host, name, self.losing(host, getattr(host, name), what))

    def losing(self, kind, passes, place):
        def called(host, *args):
            if self.lost(kind, args[place]):
                self.count += 1
                if self.count == 1:
                    return None  # a segment whose sending is left out has no number either: nobody misses it
            return passes(host, *args)

        return called


KINDS = {
    "BYE of the stream": lambda kind, one: kind is ServerHost and one == Bye(),
    "BYE to a list": lambda _, one: isinstance(one, Bye) and one.answers > 0,
    "BYE of the cache": lambda kind, one: kind is ClientHost and one == Bye(),
    "a list": lambda _, one: isinstance(one, Request),
    "a segment that is sent again": lambda _, one: getattr(one, "time", 0) > 1.2 and hasattr(one, "payload"),
    "the last segment of a list": lambda _, one: getattr(getattr(one, "payload", None), "last", 0) > 0,
    "feedback": lambda _, one: hasattr(one, "events"),
}


@pytest.mark.parametrize("name", KINDS)
def test_each_message_may_be_lost(name: str, monkeypatch) -> None:
    """The link loses the second segment, the filter drops some: what is lost besides costs time, and no segment."""
    lossy = Lossy(monkeypatch, KINDS[name])
    for mode in (0, 1):
        lossy.count = 0
        traffic = ran(LossTrace((0, 0, 1) + (0,) * 2000), None, rate=512e3, mode=mode)
        assert lossy.count >= 1 or (name == "BYE to a list" and mode == 1)
        _, lacking, same, bye = end(traffic)
        assert same == 1
        assert (lacking, bye) == ((0, 0) if mode else (VIDEO.segments - traffic.noted("sent")[1][0], 1))


@given(st.lists(st.integers(0, 30_000), unique=True, max_size=2000), st.sampled_from([0, 1]))
def test_lists_are_cut_into_packets(missing: list[int], mode: int) -> None:
    made = requests(7, mode, missing)
    assert [number for one in made for number in one.segments] == missing
    assert [(one.part, one.parts) for one in made] == [(part, len(made)) for part in range(len(made))]
    assert all(one.size <= LARGEST_LIST and one.number == 7 and one.mode == mode for one in made)


def test_lists_of_several_packets() -> None:
    """Ten seconds at 300 kbit/s: some 900 segments are missing, in four packets a list."""
    global_video = VideoLayers(duration=10.0)
    links = {"there": Link(R / 2, rate=300e3, queue=30), "back": Link(R / 2, loss=Bernoulli(0.2))}
    for mode in (0, 1):
        flow = Flow(("there",), ("back",), None, LcRtp(video=global_video, mode=mode))
        traffic = simulate(Scenario(links, (flow,)), 300.0, np.random.default_rng(3)).traffic[0]
        sent = traffic.noted("sent")[1][0]
        assert traffic.noted("missing")[1][0] > 800
        assert end(traffic)[1:] == ([0, 1, 0] if mode else [global_video.segments - sent, 1, 1])


def test_a_wrong_byte_is_seen() -> None:
    copy = Copy(VIDEO)
    assert copy.missing == list(range(VIDEO.segments))
    for number in range(VIDEO.segments):
        copy.write(number, content(VIDEO, number))
    assert copy.same
    assert copy.missing == []
    assert len(original(VIDEO)) == VIDEO.segments * 972
    wrong = bytearray(content(VIDEO, 5))
    wrong[971] ^= 1
    copy.write(5, bytes(wrong))
    assert not copy.same


def test_figures() -> None:
    traffic = ran(Bernoulli(0.1), None)
    found = LcRtp(video=VIDEO).figures(traffic, 600.0)
    assert (found["lists"], found["lacking"]) == tuple(end(traffic)[:2])
    short = ran(Bernoulli(0.1), None)
    assert math.isnan(LcRtp(video=VIDEO).figures(short.__class__(short.there, short.back), 1.0)["lists"])


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"mode": 2}, "mode must be one of 0, 1, got 2"),
        ({"tries": 0}, "tries"),
        ({"patience": 0.0}, "patience must be greater than 0 s, got 0 s"),
    ],
)
def test_errors(settings, words: str) -> None:
    with pytest.raises(InputError, match=words):
        LcRtp(**settings)
