"""What people type by mistake is named in one line."""

import pytest

import tcpstream

PATH = tcpstream.Path(sender="classic", loss=0.02, rtt=0.1, rto=0.3)
VIDEO = tcpstream.Video(packet_rate=40, duration=4)
PAIR = "a case must be a pair of a Path and a Video"
PLACES = "path and video have changed places"


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: tcpstream.stored(VIDEO, PATH), PLACES),
        (lambda: tcpstream.live(VIDEO, PATH), PLACES),
        (lambda: tcpstream.play(VIDEO, PATH), PLACES),
        (lambda: tcpstream.buffer_grid(VIDEO, PATH, [1], [1]), PLACES),
        (lambda: tcpstream.stored_many([(VIDEO, PATH)]), PLACES),
        (lambda: tcpstream.live_many([(VIDEO, PATH)]), PLACES),
        (lambda: tcpstream.stored_many([PATH, VIDEO]), f"{PAIR}, got a Path"),
        (
            lambda: tcpstream.stored_many([(PATH, VIDEO, 1)]),
            f"{PAIR}, got 3 values",
        ),
        (lambda: tcpstream.stored(PATH, 40), "video must be a Video, got 40"),
        (lambda: tcpstream.stored(PATH, PATH), "video must be a Video, got a Path"),
        (lambda: tcpstream.stored(PATH.network, VIDEO), "path must be a Path, got a Network"),
        (lambda: tcpstream.throughput(VIDEO), "path must be a Path, got a Video"),
        (lambda: tcpstream.throughput(0.02), "path must be a Path, got 0.02"),
        (lambda: tcpstream.transfer_time(VIDEO, packets=5), "path must be a Path, got a Video"),
        (lambda: tcpstream.largest_rate(VIDEO, delay=1), "path must be a Path, got a Video"),
        (lambda: tcpstream.delay_interval(PATH, VIDEO), "estimate must be a PathEstimate, got a Path"),
        (
            lambda: tcpstream.play(PATH, VIDEO, 2),
            r"or a SegmentPlayer, got 2: Player\(start=2\)",
        ),
        (lambda: tcpstream.play(PATH, VIDEO, "hls.js"), "player must be a Player or a SegmentPlayer, got 'hls.js'"),
        (
            lambda: tcpstream.Path(sender="classic", loss=0.02, rtt="100ms"),
            "round trip time must be a number in s, got '100ms'",
        ),
        (lambda: tcpstream.stored(PATH, VIDEO).late_fraction("2s"), "startup delay must be a number in s, got '2s'"),
    ],
)
def test_it_is_named(call, says):
    with pytest.raises(tcpstream.InputError, match=says) as caught:
        call()
    assert len(str(caught.value).splitlines()) == 1


def test_an_estimate_is_no_path_yet():
    class Estimate:
        def path(self):
            return PATH

    with pytest.raises(tcpstream.InputError, match=r"path must be a Path, got an Estimate: take its path\(\)"):
        tcpstream.throughput(Estimate())


@pytest.mark.parametrize(
    ("wrong", "right"),
    [("p", "loss"), ("T_O", "timeout_ratio"), ("max_win", "max_window"), ("bufer", "buffer")],
)
def test_a_parameter_by_another_name(wrong, right):
    with pytest.raises(TypeError, match=rf"unexpected keyword argument '{wrong}': is {right} meant\?"):
        tcpstream.Path(loss=0.02, rtt=0.1, **{"sender": "classic", wrong: 1})


def test_a_parameter_that_is_like_none():
    with pytest.raises(TypeError, match=r"unexpected keyword argument 'xyz'$"):
        tcpstream.Path(sender="classic", loss=0.02, rtt=0.1, xyz=1)
