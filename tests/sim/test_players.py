"""Players of the papers: each rule, on a link that is wide, or lossy, or both."""

from __future__ import annotations

import re

import numpy as np
import pytest

from tcpstream import sim
from tcpstream.errors import InputError
from tcpstream.sim.players import PLAYERS, player
from tcpstream.sim.players.quicktime import QuickTime
from tcpstream.sim.players.realplayer import RealPlayer
from tcpstream.sim.players.reports import Report
from tcpstream.sim.players.wmp import AUDIENCE, Wmp
from tcpstream.sim.traffic import Traffic


def seen(
    one: sim.Application, rate: float = 1e8, loss: float = 0.0, seconds: float = 130.0, queue: int = 1000,
    changes: tuple[sim.Change, ...] = (),
) -> Traffic:  # fmt: skip
    links = {
        "out": sim.Link(
            0.01, rate=rate, queue=queue, loss=sim.Bernoulli(loss) if loss or changes else None, changes=changes
        ),
        "back": sim.Link(0.01),
    }
    flow = sim.Flow(("out",), ("back",), None, one, measured=True)
    return sim.simulate(sim.Scenario(links, (flow,), 1.0), seconds, np.random.default_rng(4)).traffic[0]


@pytest.mark.parametrize("name", PLAYERS)
def test_players_are_found_by_name(name: str) -> None:
    settings = {} if name in ("wmp", "quicktime") else {"clip": sim.Clip(60.0, (340e3,), (40e3,))}
    assert isinstance(player(name)(**settings), sim.Application)


@pytest.mark.parametrize(("link", "level"), [(1e6, 3), (500e3, 2), (100e3, 1), (10e3, 0)])
def test_wmp_sends_the_highest_level_below_the_link(link: float, level: int) -> None:
    traffic = seen(Wmp(link=link))
    _, levels = traffic.noted("level")
    assert levels.tolist() == [level]
    assert traffic.there.sent_bytes == pytest.approx(1.03 * AUDIENCE[level] / 8 * 120, rel=0.01)


def test_wmp_sends_what_is_lost_once_again_and_no_slower() -> None:
    clean, lossy = seen(Wmp()).there, seen(Wmp(), loss=0.1).there
    assert lossy.sent == pytest.approx(clean.sent * 1.1, rel=0.02)


def test_wmp_gives_up_after_its_patience() -> None:
    traffic = seen(Wmp(patience=10.0), loss=0.6)
    times, _ = traffic.noted("gives up")
    assert len(times) == 1
    assert 10 <= times[0] <= 20
    assert traffic.bins is not None
    assert traffic.bins.sent[int(times[0]) + 1 :].sum() == 0
    assert len(seen(Wmp(patience=10.0), loss=0.1).noted("gives up")[0]) == 0


def test_quicktime_sends_a_clip_at_its_rate() -> None:
    one = QuickTime()
    traffic = seen(one)
    assert traffic.there.sent_bytes == pytest.approx(one.rate * one.duration, rel=1e-3)
    assert traffic.bins is not None
    np.testing.assert_allclose(traffic.bins.sent[1:119], one.rate, atol=2 * one.packet)


def test_quicktime_cuts_its_rate_at_once_and_catches_up() -> None:
    one = QuickTime()
    narrow = sim.Change(30.0, rate=200e3), sim.Change(60.0, rate=1e6)
    traffic = seen(one, rate=1e6, queue=40, changes=narrow)
    assert traffic.bins is not None
    sent = traffic.bins.sent
    assert sent[33:60].mean() <= 200e3 / 8 * 1.05
    assert sent[61:66].mean() > 1.2 * one.rate
    assert traffic.there.received_bytes == pytest.approx(one.rate * one.duration, rel=0.01)
    assert traffic.there.loss < 0.01


def test_quicktime_halves_its_window_once_for_a_round_of_losses() -> None:
    server = QuickTime().server()
    sent: list[int] = []

    class Host:
        now = 0.0

        def send(self, size: int) -> int:
            sent.append(size)
            return len(sent) - 1

        def wake(self, name: str, after: float) -> None: ...

    host = Host()
    server.start(host)  # type: ignore[arg-type]
    host.now = 3.0
    server.timer(host, "tick")  # type: ignore[arg-type]
    assert len(sent) == int(64_000 / 1492)  # as many as the window has room for
    before = server._window  # type: ignore[attr-defined]
    server.message(host, Report(0, 0, (2, 3)))  # type: ignore[arg-type]
    server.message(host, Report(1492, 1, (5,)))  # type: ignore[arg-type]
    assert server._window == before / 2  # type: ignore[attr-defined]


def test_a_report_tells_the_share_that_is_missing() -> None:
    assert Report(1000, 1, (3, 4, 5)).loss == 0.75
    assert Report(0, 0, ()).loss == 1.0


@pytest.mark.parametrize(
    ("make", "settings", "words"),
    [
        (Wmp, {"clip": 3}, "clip of a player must be a Clip, got 3"),
        (Wmp, {"link": -1}, "link must be greater than 0 bit/s, got -1 bit/s"),
        (Wmp, {"packet": 10}, "packet must be"),
        (Wmp, {"overhead": -0.1}, "overhead must be at least 0, got -0.1"),
        (Wmp, {"hopeless": 2}, "hopeless must lie between 0 and 1, got 2"),
        (Wmp, {"patience": 0}, "patience must be greater than 0 s, got 0 s"),
        (QuickTime, {"rate": 0}, "rate must be greater than 0 bytes/s"),
        (QuickTime, {"packet": 100_000}, "packet must be at most 65535 bytes"),
        (QuickTime, {"every": float("nan")}, "every must be"),
        (QuickTime, {"window": 100}, "window must hold a packet of 1492 bytes, got 100 bytes"),
        (RealPlayer, {"speeds": ((1e5, 2.0),)}, "speeds must be at least 1, the last one of rates up to inf"),
        (RealPlayer, {"patience": 0.5}, "patience must be at least 1, got 0.5"),
        (RealPlayer, {"burst": -1}, "burst must be greater than 0 s, got -1 s"),
    ],
)
def test_settings_out_of_range_are_refused(make, settings, words):
    given = {"clip": sim.Clip(60.0, (20e3, 45e3))} if make is RealPlayer else {}
    with pytest.raises(InputError, match=re.escape(words)):
        make(**(given | settings))


def test_a_player_has_no_more_levels_than_its_tags_tell_apart():
    with pytest.raises(InputError, match="at most 100 levels, got 101"):
        RealPlayer(sim.Clip(60.0, tuple(range(1000, 1101))))
