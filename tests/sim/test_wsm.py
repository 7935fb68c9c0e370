"""Windows Streaming Media: each of its rules, on a link that is wide, narrow or lossy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tcpstream import sim
from tcpstream.errors import InputError
from tcpstream.sim.players.wsm import Wsm
from tcpstream.sim.players.wsm_messages import Missing, Play
from tcpstream.sim.traffic import Traffic

LEVELS = {148e3: 20e3, 340e3: 40e3, 1128e3: 128e3}


def one(*rates: float, **settings: Any) -> Wsm:
    rates = rates or tuple(LEVELS)
    return Wsm(sim.Clip(60.0, rates, tuple(LEVELS[rate] for rate in rates)), **settings)


def seen(player: Wsm, rate: float = 725e3, loss: float = 0.0, queue: int = 80, changes: Any = ()) -> Traffic:
    lossy = sim.Bernoulli(loss) if loss or changes else None
    links = {"out": sim.Link(0.02, rate=rate, queue=queue, loss=lossy, changes=changes), "back": sim.Link(0.02)}
    flow = sim.Flow(("out",), ("back",), None, player)
    return sim.simulate(sim.Scenario(links, (flow,), 1.0), 75.0, np.random.default_rng(4)).traffic[0]


def listening() -> tuple[Any, list[int]]:
    """Return a host, and the sizes of the packets that it is to send."""
    sent: list[int] = []

    class Host:
        now = 0.0

        def send(self, size: int, tag: int, after: float) -> int:
            del tag, after
            sent.append(size)
            return len(sent) - 1

        def wake(self, name: str, after: float) -> None: ...

    return Host(), sent


def when(traffic: Traffic, name: str) -> float:
    return float(traffic.noted(name)[0][0])


def received(traffic: Traffic, begin: float, end: float) -> float:
    """Return what is received between two times [bit/s]."""
    assert traffic.bins is not None
    return 8 * float(traffic.bins.received[int(begin) : int(end)].mean())


@pytest.mark.parametrize(("rate", "level"), [(100e3, 0), (160e3, 0), (725e3, 1), (1500e3, 2)])
def test_the_level_is_the_highest_below_what_the_probe_shows(rate: float, level: int) -> None:
    traffic = seen(one(), rate)
    times, levels = traffic.noted("level")
    assert levels[0] == level
    assert times[0] == pytest.approx(5.0)
    assert traffic.noted("estimate")[1][0] == pytest.approx(rate, rel=1e-6)


def test_the_video_of_a_level_has_the_audio_of_the_top_level() -> None:
    assert one().rate(1) == 340e3 - 40e3 + 128e3
    assert received(seen(one(340e3, 1128e3)), 32, 50) == pytest.approx(428e3, rel=0.02)
    assert received(seen(one(340e3)), 32, 50) == pytest.approx(340e3, rel=0.02)


@pytest.mark.parametrize(("rate", "speed"), [(10e6, 4), (1100e3, 3), (725e3, 2), (400e3, 1), (250e3, 1)])
def test_media_are_buffered_a_whole_number_of_times_faster(rate: float, speed: int) -> None:
    player = one(340e3)
    assert player.speed(340e3, rate) == speed
    if rate > 340e3:
        traffic = seen(player, rate)
        begin, full = when(traffic, "plays"), when(traffic, "full")
        assert full - begin == pytest.approx(player.buffer / speed, abs=0.6)
        assert received(traffic, begin + 0.5, full) == pytest.approx(speed * 340e3, rel=0.2)
        assert received(traffic, 32, 50) == pytest.approx(340e3, rel=0.02)  # its end


def test_a_clip_that_is_shorter_than_the_buffer_fills_it() -> None:
    traffic = seen(Wsm(sim.Clip(6.0, (340e3,), (40e3,))))
    assert when(traffic, "full") - when(traffic, "plays") == pytest.approx(3.0, abs=0.5)


@pytest.mark.parametrize(("loss", "thins"), [(0.0, False), (0.2, True)])
def test_after_buffering_a_lossy_clip_of_one_level_keeps_audio_alone(loss: float, thins: bool) -> None:
    traffic = seen(one(340e3, most_speed=1, settling=3.0), loss=loss)
    assert len(traffic.noted("less")[0]) == thins
    if thins:
        assert when(traffic, "less") - when(traffic, "full") == pytest.approx(3.0)
        assert received(traffic, 32, 50) == pytest.approx(40e3, rel=0.15)


def test_buffering_faster_makes_up_for_losses() -> None:
    assert not len(seen(one(340e3, most_speed=2), loss=0.2).noted("less")[0])


def test_a_clip_of_more_levels_takes_the_next_lower_one() -> None:
    traffic = seen(one(148e3, 340e3, most_speed=1), loss=0.2)
    assert traffic.noted("level")[1].tolist() == [1, 0]
    assert received(traffic, 32, 50) == pytest.approx(148e3 + 20e3, rel=0.1)


def test_losses_now_and_then_change_nothing() -> None:
    """Two of fourteen seconds without a loss are enough; a client that asks for more of them settles on less."""
    now_and_then = (sim.Change(8.5, loss=0.3), sim.Change(17.5, loss=0.0))
    assert not len(seen(one(340e3, most_speed=1), changes=now_and_then).noted("less")[0])
    assert len(seen(one(340e3, most_speed=1, clean=0.9), changes=now_and_then).noted("less")[0])


def test_nothing_of_an_old_stream_is_sent_again() -> None:
    server = one(340e3).server()
    host, sent = listening()
    server.message(host, Play(8e3, 1, 1.0))
    server.message(host, Play(4e3, 1, 1.0))
    server.message(host, Missing((0,)))
    assert len(sent) == 1


def test_losses_that_begin_after_buffering_change_nothing() -> None:
    traffic = seen(one(340e3, most_speed=1), changes=(sim.Change(25.0, loss=0.2),))
    assert when(traffic, "full") < 25
    assert traffic.there.dropped > 0
    assert not len(traffic.noted("less")[0])


def test_patience_ends_while_most_is_lost() -> None:
    traffic = seen(one(1128e3, patience=12.0), rate=150e3)
    assert when(traffic, "less") - when(traffic, "plays") == pytest.approx(12.0)
    assert not len(traffic.noted("full")[0]) or when(traffic, "full") > when(traffic, "less")


@pytest.mark.parametrize("resends", [0, 1, 3])
def test_a_packet_is_sent_again_so_often_at_most(resends: int) -> None:
    server = one(340e3, resends=resends).server()
    host, sent = listening()
    server.message(host, Play(8e3, 1, 1.0))  # a packet of 1000 bytes
    assert len(sent) == 1
    for _ in range(6):
        server.message(host, Missing((len(sent) - 1,)))
    assert len(sent) == 1 + resends


def test_a_lost_probe_is_sent_anew() -> None:
    traffic = seen(one(340e3), changes=(sim.Change(0.0, loss=1.0), sim.Change(5.5, loss=0.0)))
    assert when(traffic, "level") in (7.0, 8.0)


@pytest.mark.parametrize("settings", [{"packet": 10}, {"buffer": 0}, {"clean": 2}, {"spacing": -1}, {"resends": -1}])
def test_bad_settings_are_refused(settings: dict[str, float]) -> None:
    with pytest.raises(InputError, match=next(iter(settings))):
        one(340e3, **settings)


def test_a_clip_without_audio_is_refused() -> None:
    with pytest.raises(InputError, match="needs audio"):
        Wsm(sim.Clip(60.0, (340e3,)))
