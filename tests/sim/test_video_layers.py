"""Layered video: its segments, the queue that filters it, what of it can be shown."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tcpstream.errors import InputError
from tcpstream.sim import Flow, Link, Observation, Run, Scenario, read_experiment, simulate
from tcpstream.sim.layers import Layered, SegmentQueue, Uncontrolled, VideoLayers, valid_layers, windowed_mean
from tcpstream.sim.layers.layered import LayeredFeed
from tcpstream.sim.layers.segment_queue import Held
from tcpstream.sim.layers.valid_layers import layer_figures
from tcpstream.sim.traffic import Arrivals, Count, Traffic

VIDEO = VideoLayers(duration=60.0)


def test_segments_of_the_video() -> None:
    """Four layers of 256 kbit/s: a segment of 1000 bytes in each 1/128 s, a frame in each 1/32 s."""
    assert VIDEO.frames == 32 * 60
    assert [VIDEO.layer(number) for number in range(6)] == [1, 2, 3, 4, 1, 2]
    assert [VIDEO.made(number) for number in (0, 1, 4)] == [0, 1 / 128, 1 / 32]


def twin(puts, room: int):
    """What is in a queue and what left it, with all that there is in one list: number, layer."""
    held, dropped = [], []
    for one in puts:
        if one is None:
            held = held[1:]
            continue
        held = [*held, one]
        if len(held) > room:
            highest = max(layer for _, layer in held)
            newest = max(number for number, layer in held if layer == highest)
            dropped += [one for one in held if one[0] == newest]
            held = [one for one in held if one[0] != newest]
    return held, dropped


@given(st.lists(st.one_of(st.none(), st.integers(1, 4)), max_size=60), st.integers(1, 12))
def test_the_queue_beside_its_twin(layers, room) -> None:
    count = itertools.count()
    puts = [None if layer is None else Held(next(count), layer) for layer in layers]
    queue, dropped = SegmentQueue(room), []
    for one in puts:
        if one is None:
            queue.take()
        elif (gone := queue.put(one)) is not None:
            dropped.append(gone)
    held, gone = twin(puts, room)
    assert dropped == gone
    assert len(queue) == len(held)
    assert [queue.take() for _ in held] == held
    assert queue.take() is None


def test_the_newest_of_the_highest_layer_is_dropped() -> None:
    queue = SegmentQueue(3)
    for number, layer in enumerate((1, 3, 3)):
        assert queue.put(Held(number, layer)) is None
    assert queue.put(Held(3, 2)) == (2, 3)
    assert queue.put(Held(4, 3)) == (4, 3)
    assert queue.put(Held(5, 1)) == (1, 3)
    assert [queue.take() for _ in range(3)] == [(0, 1), (3, 2), (5, 1)]


def test_a_feed_that_is_pulled_slowly() -> None:
    """From 2 s on twice a frame: layers 1 and 2 remain, once the queue of 8 is full."""
    feed = LayeredFeed(VIDEO, 8)
    pulled = [feed.pull(2.0 + k / 64) for k in range(400)]
    layers = [VIDEO.layer(one.tag) for one in pulled]
    assert layers[:4] == [1, 2, 3, 4]
    assert set(layers[40:]) == {1, 2}
    assert [one.tag for one in pulled] == sorted(one.tag for one in pulled)


def test_a_feed_that_is_pulled_often_and_ends() -> None:
    feed = LayeredFeed(VideoLayers(count=2, rate=8000.0, size=1000, duration=2.0), 10)  # a segment in each half second
    assert feed.pull(1.0).tag == 0
    assert feed.pull(1.2) is None
    assert feed.due(1.2) == 1.5
    assert [feed.pull(9.0).tag for _ in range(3)] == [1, 2, 3]
    assert feed.pull(9.0) is None
    assert feed.due(9.0) == np.inf


def test_valid_layers() -> None:
    """Frames with layers 1 to 4; 1, 2, 4; 2, 3; none."""
    video = VideoLayers(duration=4 / 32)
    arrived = [3, 2, 1, 0, 4, 5, 7, 9, 10]
    assert valid_layers(video, arrived).tolist() == [4, 2, 0, 0]
    assert valid_layers(video, arrived, hierarchical=False).tolist() == [4, 3, 2, 0]
    assert valid_layers(video, []).tolist() == [0, 0, 0, 0]
    with pytest.raises(InputError, match="numbers of segments must be 0 to 15"):
        valid_layers(video, [16])


def test_independent_losses_leave_what_arithmetic_says() -> None:
    """Half of four layers arrive: q + q^2 + q^3 + q^4 = .9375, within 5 standard errors of 20,000 frames."""
    video = VideoLayers(duration=20_000 / 32)
    arrived = np.flatnonzero(np.random.default_rng(1).random(video.segments) < 0.5)
    found = valid_layers(video, arrived)
    assert found.mean() == pytest.approx(0.9375, abs=5 * found.std() / np.sqrt(video.frames))


def test_figures_of_layers() -> None:
    """Four frames with 4, 2, 2 and 0 layers: two changes."""
    tags = np.array([0, 1, 2, 3, 4, 5, 8, 9])
    nothing = Count(0, 0, 0, 0, 0, 0)
    video = VideoLayers(duration=4 / 32)
    arrivals = Arrivals(np.arange(8.0), np.arange(8), np.full(8, 1000), tags)
    assert layer_figures(video, Traffic(nothing, nothing, None, arrivals)) == {
        "valid_layers": 2.0,
        "layer_changes": 2.0,
    }
    assert layer_figures(video, Traffic(nothing, nothing)) == {}


def test_windowed_mean() -> None:
    assert windowed_mean([4, 0, 2, 2], 2).tolist() == [4, 2, 1, 2]
    assert windowed_mean(np.arange(300))[[0, 100, 299]].tolist() == [0, 50, 249]


def test_half_of_a_video_over_a_link(tmp_path) -> None:
    """512 kbit/s for 1024: two layers arrive nearly always, in the order in which they were made."""
    links = {"down": Link(0.02, rate=512e3, queue=20), "up": Link(0.02)}
    flow = Flow(("down",), ("up",), None, Layered(video=VIDEO), measured=True)
    run = simulate(Scenario(links, (flow,)), 70.0, np.random.default_rng(1))
    run.save(tmp_path / "run.npz")
    assert Run.load(tmp_path / "run.npz").scenario.flows == run.scenario.flows
    arrivals = run.traffic[0].arrivals
    assert (np.diff(arrivals.tag) > 0).all()
    layers = valid_layers(VIDEO, arrivals.tag)[320:]
    assert 1.7 < layers.mean() < 2.1
    assert (layers >= 1).mean() > 0.96


def test_a_scenario_file(tmp_path) -> None:
    file = tmp_path / "layered.toml"
    file.write_text(
        """
        seconds = 5
        runs = 1
        links.down = { delay = 0.02, rate = 1e6, queue = 20 }
        links.up = { delay = 0.02 }
        [[flows]]
        there = ["down"]
        back = ["up"]
        tcp = false
        source = { kind = "layered", room = 5, cap = 5e5, video = { count = 2, size = 500 } }
        """
    )
    found = read_experiment(file)
    assert isinstance(found, Observation)
    source = found.run()[0].scenario.flows[0].source
    assert source == Layered(cap=5e5, room=5, video=VideoLayers(2, size=500))
    assert source.size == 500


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: VideoLayers(0), "number of layers must be a whole number of at least 1"),
        (lambda: VideoLayers(rate=-1), "rate of a layer must be greater than 0 bit/s"),
        (lambda: VideoLayers(duration=0.01), "duration of the video must be at least a frame, 0.03125 s, got 0.01 s"),
        (lambda: Layered(room=0), "room of a queue must be a whole number of at least 1 segments"),
    ],
)
def test_settings_are_checked(make, words) -> None:
    with pytest.raises(InputError, match=words):
        make()


def test_a_video_without_control_leaves_as_it_is_made() -> None:
    video = VideoLayers(duration=2.0)
    flow = Flow(("there",), ("there",), None, Uncontrolled(video), measured=True)
    run = simulate(Scenario({"there": Link(0.01)}, (flow,)), 5.0, np.random.default_rng(1))
    seen = run.traffic[0].arrivals
    assert seen.tag.tolist() == list(range(video.segments))
    assert seen.time == pytest.approx([video.made(number) + 0.01 for number in range(video.segments)], abs=1e-9)
    assert Uncontrolled(video).figures(run.traffic[0], 5.0) == {"valid_layers": 4.0, "layer_changes": 0.0}
