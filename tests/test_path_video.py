"""Path and Video: what they accept, what they refuse and how they say it."""

import dataclasses
import math
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tcpstream import errors
from tcpstream.errors import InputError
from tcpstream.path import Path
from tcpstream.variants import REACHES_MAX_WINDOW, enough_window
from tcpstream.video import Video

GOOD_PATH = {"sender": "classic", "loss": 0.02, "rtt": 0.1, "timeout_ratio": 3}
CURVE = ((0, 2, 5, 6), (0, 10, 10, 40))

# Path: values -------------------------------------------------------------------------------------


def test_path_defaults():
    path = Path(sender="classic", loss=0.02, rtt=0.1, rto=0.25)
    assert (path.loss, path.rtt, path.rto, path.timeout_ratio) == (0.02, 0.1, 0.25, 2.5)
    assert (path.max_window, path.rounds_per_increase) == (enough_window(0.02), 1)
    assert (path.backoff, path.halving) == ("rfc6298", "floor")


def test_path_to_dict_puts_units_into_names():
    options = {
        "rounds_per_increase": 2,
        "backoff": "paper",
        "halving": "ceil",
        "tcp": "reno-sack",
        "initial_window": 10,
        "detection": "duplicates",
    }
    path = Path(sender="classic", loss=0.01, rtt=0.2, rto=0.5, max_window=40, **options)
    values = {"loss": 0.01, "rtt_s": 0.2, "rto_s": 0.5, "timeout_ratio": 2.5, "max_window": 40}
    values |= {"rto_assumed": False, "losses": "independent", "sender": None}
    assert path.to_dict() == values | options | {"bottleneck_pps": None, "buffer": None}
    path = Path(sender="classic", loss=0.01, rtt=0.2, rto=0.5, bottleneck=150, buffer=10, **options)
    assert path.to_dict() == values | options | {"bottleneck_pps": 150.0, "buffer": 10}


def test_path_takes_numbers_of_any_kind():
    path = Path(sender="classic", loss=np.float64(0.5), rtt=1, timeout_ratio=np.int64(2), max_window=np.float32(8))
    assert path == Path(sender="classic", loss=0.5, rtt=1.0, timeout_ratio=2.0, max_window=8)
    assert all(type(path.to_dict()[name]) is float for name in ("loss", "rtt_s", "rto_s", "timeout_ratio"))
    assert type(path.max_window) is int


@given(st.floats(1e-3, 3), st.floats(1, 1000))
def test_rto_and_timeout_ratio_are_equivalent(rtt, ratio):
    by_ratio = Path(sender="classic", loss=0.02, rtt=rtt, timeout_ratio=ratio)
    by_rto = Path(sender="classic", loss=0.02, rtt=rtt, rto=by_ratio.rto)
    assert by_rto.timeout_ratio == pytest.approx(by_ratio.timeout_ratio, rel=2e-12)
    assert by_rto.rto == by_ratio.rto
    assert Path(sender="classic", loss=0.02, rtt=rtt, timeout_ratio=ratio, rto=by_ratio.rto) == by_ratio


@given(st.integers(1, 100), st.integers(1, 1000))
def test_whole_timeout_ratios_stay_whole(ratio, milliseconds):
    rtt, rto = milliseconds / 1000, ratio * milliseconds / 1000
    assert Path(sender="classic", loss=0.02, rtt=rtt, rto=rto).timeout_ratio == ratio  # 0.3 / 0.1 is 2.9999999999999996


def naive_enough_window(loss, b):
    w = 4
    while True:
        success = 1.0
        for window in range(w // 2, w):
            for _ in range(b):
                success *= (1 - loss) ** window
        if success <= REACHES_MAX_WINDOW:
            return w
        w += 1


@pytest.mark.parametrize("b", [1, 2])
@pytest.mark.parametrize("loss", [0.9999, 0.9, 0.7, 0.3, 0.1, 0.04, 0.02, 0.014, 0.004, 0.001])
def test_enough_window_against_a_product_loop(loss, b):
    assert enough_window(loss, b) == naive_enough_window(loss, b)


@given(st.floats(-4, math.log10(0.999)).map(lambda x: 10**x), st.sampled_from([1, 2]))
def test_enough_window_is_the_smallest(loss, b):
    def log_reach(w):
        return b * math.log1p(-loss) * sum(range(w // 2, w))

    w = enough_window(loss, b)
    assert w >= 4
    assert log_reach(w) <= math.log(REACHES_MAX_WINDOW) + 1e-9
    assert w == 4 or log_reach(w - 1) > math.log(REACHES_MAX_WINDOW) - 1e-9


@pytest.mark.parametrize("loss", [1e-12, 1e-300, 5e-324])
def test_enough_window_returns_for_the_smallest_loss_rates(loss):
    assert enough_window(loss) > 1e6


@pytest.mark.parametrize(("tcp", "window"), [("reno", 16), ("reno-sack", 16), ("cubic", 14)])
def test_application_limited_by_hand(tcp, window):
    """10 packets a round: half, or seven tenths, after a loss; caught up at 15, or 13; and one more."""
    path = Path(
        sender="classic", loss=0.01, rtt=0.2, rto=0.5, tcp=tcp, detection="rack", initial_window=20, backoff="paper"
    )
    limited = path.application_limited(50)
    assert (limited.max_window, limited.initial_window) == (window, window)
    changed = {"max_window", "initial_window"}
    assert {k: v for k, v in limited.to_dict().items() if k not in changed} == {
        k: v for k, v in path.to_dict().items() if k not in changed
    }
    assert Path(sender="classic", loss=0.01, rtt=0.2, rto=0.5, max_window=8).application_limited(50).max_window == 8
    assert path.application_limited(1e308).max_window == path.max_window
    assert Path(sender="classic", loss=0.01, rtt=0.2, rto=0.5).application_limited(50).initial_window is None


def test_application_limited_goes_with_no_bottleneck():
    with pytest.raises(InputError, match="leave out bottleneck 500 packets/s"):
        Path(
            sender="classic", loss=0.01, rtt=0.2, rto=0.5, tcp="reno-sack", bottleneck=500, buffer=9
        ).application_limited(50)


@pytest.mark.parametrize("rate", [0, -1, math.inf, math.nan, "50"])
def test_application_limited_needs_a_rate(rate):
    with pytest.raises(InputError, match="playback rate"):
        Path(sender="classic", loss=0.01, rtt=0.2, rto=0.5).application_limited(rate)


# Path: errors -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "parts"),
    [
        ({"loss": 0}, ["loss rate", "between 1e-09 and 0.999", "got 0"]),
        ({"loss": 1}, ["loss rate", "between 1e-09 and 0.999", "got 1"]),
        ({"loss": -0.1}, ["loss rate", "got -0.1"]),
        ({"loss": math.nan}, ["loss rate", "finite", "nan"]),
        ({"loss": "2%"}, ["loss rate", "number", "'2%'"]),
        ({"loss": None}, ["loss rate", "number", "None"]),
        ({"loss": True}, ["loss rate", "number", "True"]),
        ({"loss": 1j}, ["loss rate", "number", "1j"]),
        ({"rtt": 0}, ["round trip time", "greater than 0 s", "got 0 s"]),
        ({"rtt": -0.2}, ["round trip time", "got -0.2 s"]),
        ({"rtt": math.inf}, ["round trip time", "finite", "inf s"]),
        ({"rtt": "100ms"}, ["round trip time", "number in s", "'100ms'"]),
        ({"rtt": 10**400}, ["round trip time", "number in s"]),
        ({"timeout_ratio": 0.99}, ["T_O", "at least 1", "got 0.99"]),
        ({"timeout_ratio": -3}, ["timeout ratio", "got -3"]),
        ({"timeout_ratio": 1e308}, ["retransmission timer", "at most 10000 s", "got 1e+307 s"]),
        ({"timeout_ratio": 2e6, "rtt": 1e-3}, ["T_O", "at most 1e+06", "got 2e+06"]),
        ({"timeout_ratio": None, "rto": 0.09}, ["retransmission timer", "0.1 s", "got 0.09 s"]),
        ({"timeout_ratio": None, "rto": 0}, ["retransmission timer", "greater than 0 s", "got 0 s"]),
        ({"timeout_ratio": None, "rto": 1e300}, ["retransmission timer", "at most 10000 s", "got 1e+300 s"]),
        ({"timeout_ratio": None, "rto": 9.0, "rtt": 1e-6}, ["T_O", "at most 1e+06", "got 9e+06"]),
        ({"rtt": 1e-300}, ["round trip time", "between 1e-06 and 1000 s", "got 1e-300 s"]),
        ({"rtt": 1e300}, ["round trip time", "between 1e-06 and 1000 s", "got 1e+300 s"]),
        ({"loss": 1e-300}, ["loss rate", "between 1e-09 and 0.999", "got 1e-300"]),
        ({"loss": 1 - 1e-6}, ["loss rate", "between 1e-09 and 0.999", "got 0.999999"]),
        ({"loss": 2}, ["loss rate", "between 1e-09 and 0.999", "got 2: 2% is 0.02"]),
        ({"max_window": 1e300}, ["largest window", "at most 1e+09 packets", "got 1e+300 packets"]),
        ({"initial_window": 1e300}, ["initial window", "at most 1e+09 packets"]),
        ({"tcp": "reno-sack", "bottleneck": 1e300, "buffer": 9}, ["bottleneck", "at most 1e+09 packets/s"]),
        ({"tcp": "reno-sack", "bottleneck": 100, "buffer": 1e308}, ["buffer", "at most 1e+09 packets"]),
        ({"rto": 0.2}, ["rto = 0.2 s", "timeout_ratio = 3", "contradict", "rtt = 0.1 s"]),
        ({"max_window": 0}, ["largest window", "at least 1 packets", "got 0 packets"]),
        ({"max_window": 24.5}, ["largest window", "whole number", "got 24.5 packets"]),
        ({"max_window": math.inf}, ["largest window", "finite", "inf packets"]),
        ({"rounds_per_increase": 0}, ["rounds per increase", "at least 1", "got 0"]),
        ({"rounds_per_increase": 3}, ["rounds per increase", "one of 1, 2", "got 3"]),
        ({"backoff": "rfc"}, ["back-off", "one of rfc6298, paper", "got 'rfc'"]),
        ({"halving": None}, ["halving", "one of floor, ceil", "got None"]),
    ],
)
def test_path_errors_name_value_and_unit(change, parts):
    with pytest.raises(InputError) as caught:
        Path(**(GOOD_PATH | change))
    for part in parts:
        assert part in str(caught.value)


# Video: values ------------------------------------------------------------------------------------


def test_video_from_rate_or_bitrate():
    by_rate = Video(packet_rate=50, duration=80)
    by_bits = Video(bitrate=600e3, duration=80)
    assert by_rate == by_bits
    assert (by_rate.packet_rate, by_rate.bitrate, by_rate.packets) == (50, 600e3, 4000)
    assert (by_rate.packet_size, by_rate.duration, by_rate.curve) == (1500, 80, None)
    assert Video(bitrate=400e3, packet_size=1000).packet_rate == 50


def test_video_without_duration_never_ends():
    live = Video(packet_rate=50)
    assert live.duration is None
    assert live.packets == math.inf
    np.testing.assert_array_equal(live.due([-1, 0, 1e6]), [0, 0, 5e7])


def test_due_at_a_constant_rate():
    video = Video(packet_rate=5, duration=10)
    np.testing.assert_array_equal(video.due([-3, 0, 0.5, 10, 11, math.inf]), [0, 0, 2.5, 50, 50, 50])
    assert video.due(2).shape == ()
    assert video.due(np.ones((2, 3))).shape == (2, 3)


def test_due_along_a_curve():
    video = Video(curve=CURVE, packet_size=100)
    assert (video.duration, video.packets) == (6, 40)
    assert video.packet_rate == pytest.approx(40 / 6)
    assert video.bitrate == pytest.approx(40 / 6 * 800)
    np.testing.assert_array_equal(video.due([-1, 0, 1, 2, 4, 5.5, 6, 99]), [0, 0, 5, 10, 10, 25, 40, 40])


def test_video_to_dict_puts_units_into_names():
    assert Video(packet_rate=50).to_dict() == {
        "packet_rate_pps": 50,
        "bitrate_bps": 600e3,
        "packet_size_bytes": 1500,
        "duration_s": None,
        "playback_curve_points": None,
    }
    assert Video(curve=CURVE).to_dict()["playback_curve_points"] == 4


@given(st.floats(1e4, 1e9), st.floats(1, 65536))
def test_bitrate_round_trip(bitrate, packet_size):
    video = Video(bitrate=bitrate, packet_size=packet_size)
    assert video.bitrate == pytest.approx(bitrate, rel=1e-14)
    assert Video(packet_rate=video.packet_rate, packet_size=packet_size) == video


# At least a millisecond and a tenth of a packet: what a curve needs, and far from the limits of floats.
steps = st.lists(st.tuples(st.floats(1e-3, 1e3), st.floats(0.1, 1e4)), min_size=1, max_size=20)


def as_curve(increments):
    times, packets = (tuple(np.cumsum([0.0, *column]).tolist()) for column in zip(*increments))
    return times, packets


@given(steps)
def test_due_runs_through_the_points_and_never_falls(increments):
    times, packets = as_curve(increments)
    video = Video(curve=(times, packets))
    np.testing.assert_allclose(video.due(times), packets, rtol=1e-12)
    fine = video.due(np.linspace(-1, times[-1] + 1, 200))
    assert (np.diff(fine) >= -1e-9).all()
    assert (fine[0], fine[-1], video.packets, video.duration) == (0, packets[-1], packets[-1], times[-1])


@given(st.floats(1e-3, 1e6), st.floats(1e-3, 1e6))
def test_a_straight_curve_is_a_constant_rate(rate, duration):
    constant, curve = (
        Video(packet_rate=rate, duration=duration),
        Video(curve=((0, duration), (0, rate * duration))),
    )
    t = np.linspace(-1, 1.5 * duration, 50)
    np.testing.assert_allclose(curve.due(t), constant.due(t), rtol=1e-12)
    assert curve.packet_rate == pytest.approx(rate, rel=1e-14)
    assert curve.packets == constant.packets


# Video: errors ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        ({}, ["exactly one of packet_rate, bitrate and curve"]),
        ({"packet_rate": 50, "bitrate": 6e5}, ["exactly one of packet_rate, bitrate and curve"]),
        ({"packet_rate": 50, "curve": CURVE}, ["exactly one of packet_rate, bitrate and curve"]),
        ({"packet_rate": 0}, ["playback rate", "greater than 0 packets/s", "got 0 packets/s"]),
        ({"packet_rate": math.nan}, ["playback rate", "finite", "nan packets/s"]),
        ({"bitrate": -1}, ["bit rate", "greater than 0 bit/s", "got -1 bit/s"]),
        ({"bitrate": "400kbps"}, ["bit rate", "number in bit/s", "'400kbps'"]),
        ({"packet_rate": 50, "packet_size": 0}, ["packet size", "greater than 0 bytes", "got 0 bytes"]),
        ({"packet_rate": 50, "duration": 0}, ["duration", "greater than 0 s", "got 0 s"]),
        ({"packet_rate": 50, "duration": math.inf}, ["duration", "finite", "inf s"]),
        ({"packet_rate": 50, "duration": 1e300}, ["duration", "between 0.001 and 1e+08 s", "got 1e+300 s"]),
        ({"packet_rate": 1e300}, ["playback rate", "between 1e-06 and 1e+09 packets/s", "got 1e+300"]),
        ({"packet_rate": 50, "packet_size": 1e300}, ["packet size", "between 1 and 1e+06 bytes", "got 1e+300"]),
        ({"curve": ((0, 1e300), (0, 1))}, ["duration", "between 0.001 and 1e+08 s", "got 1e+300 s"]),
        ({"curve": CURVE, "duration": 7}, ["duration = 7 s", "ends at 6 s"]),
        ({"curve": ((0, 1, 2), (0, 1))}, ["as many times as packet counts", "got 3 and 2"]),
        ({"curve": ((0,), (0,))}, ["at least two points", "got 1 and 1"]),
        ({"curve": ((1, 2), (0, 1))}, ["starts at time 0 s with 0 packets", "got 1 s and 0"]),
        ({"curve": ((0, 2), (5, 10))}, ["starts at time 0 s with 0 packets", "got 0 s and 5"]),
        ({"curve": ((0, 2, 2), (0, 1, 2))}, ["times must increase", "got 2 s followed by 2 s"]),
        ({"curve": ((0, 2, 3), (0, 4, 1))}, ["packets must not decrease", "got 4 followed by 1 at 3 s"]),
        ({"curve": ((0, math.nan), (0, 1))}, ["playback curve time", "finite", "nan s"]),
        ({"curve": ((0, 1), (0, "a"))}, ["playback curve packets", "number", "'a'"]),
        ({"curve": ((0, 1), (0, 0))}, ["playback rate", "greater than 0 packets/s"]),
    ],
)
def test_video_errors_name_value_and_unit(arguments, parts):
    with pytest.raises(InputError) as caught:
        Video(**arguments)
    for part in parts:
        assert part in str(caught.value)


# Video: files -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "0,0\n2,10\n5,10\n6,40\n",
        "time_s,packets\n0,0\n2,10\n5,10\n6,40",
        "time_s,packets\r\n0,0\r\n2,10\r\n\r\n5,10\r\n6,4e1\r\n",
        "\ufeff0,0\n2,10\n5,10\n6,40\n",  # as spreadsheets save it
    ],
)
def test_curve_from_file(tmp_path, text):
    file = tmp_path / "curve.csv"
    file.write_text(text, encoding="utf-8", newline="")
    assert Video.from_file(file) == Video(curve=CURVE)
    assert Video.from_file(str(file), packet_size=800) == Video(curve=CURVE, packet_size=800)


@given(steps)
def test_curve_file_round_trip(tmp_path_factory, increments):
    curve = as_curve(increments)
    file = tmp_path_factory.getbasetemp() / "round-trip.csv"
    file.write_text("time_s,packets\n" + "".join(f"{t!r},{n!r}\n" for t, n in zip(*curve)))
    assert Video.from_file(file).curve == curve


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("0,0\n1,x\n", ["line 2", "'time_s,packets'", "'1,x'"]),
        ("time_s,packets\n0,0\n1,2,3\n", ["line 3", "'1,2,3'"]),
        ("0,0\n\n7\n", ["line 3", "'7'"]),
        ("0,0\ntime_s,packets\n", ["line 2", "'time_s,packets'"]),
        ("0,0\n3,5\n2,9\n", ["line 3", "times must increase", "3 s followed by 2 s"]),
        ("", ["at least two points", "got 0"]),
    ],
)
def test_malformed_curve_file(tmp_path, text, parts):
    file = tmp_path / "curve.csv"
    file.write_text(text)
    with pytest.raises(InputError) as caught:
        Video.from_file(file)
    for part in parts:
        assert part in str(caught.value)


def test_unreadable_curve_file(tmp_path):
    with pytest.raises(InputError, match=r"missing\.csv: No such file"):
        Video.from_file(tmp_path / "missing.csv")
    (tmp_path / "film.mp4").write_bytes(b"\x00\xff\xfe\x80")
    with pytest.raises(InputError, match=r"film\.mp4: not a text file"):
        Video.from_file(tmp_path / "film.mp4")


# Both ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [Path(**GOOD_PATH), Video(packet_rate=50, duration=9), Video(curve=CURVE)])
def test_frozen_hashable_and_picklable(value):
    field = dataclasses.fields(value)[0].name
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(value, field, 0.5)
    copy = pickle.loads(pickle.dumps(value))
    assert copy == value
    assert copy is not value
    assert len({copy, value}) == 1


def test_equality_is_by_value():
    assert Path(**GOOD_PATH) == Path(**GOOD_PATH, max_window=enough_window(0.02))
    assert Path(**GOOD_PATH) != Path(**GOOD_PATH, halving="ceil")
    assert Video(curve=CURVE) == Video(curve=(np.array(CURVE[0]), list(CURVE[1])), duration=6)
    assert Video(packet_rate=50) != Video(packet_rate=50, duration=80)


def test_input_error_is_a_value_error_and_ours():
    with pytest.raises(ValueError, match="loss rate"):
        Path(sender="classic", loss=2, rtt=0.1, rto=0.3)
    assert issubclass(InputError, errors.TcpstreamError)


@pytest.mark.parametrize(
    ("error", "part"),
    [
        (errors.NoFiniteDelayError(40.0, 50.0), "T/mu = 0.8"),
        (errors.MissingExtraError("plotting", "matplotlib", "plot"), "pip install 'tcpstream[plot]'"),
    ],
)
def test_errors_cross_process_borders(error, part):
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is type(error)
    assert str(copy) == str(error)
    assert part in str(error)
    assert getattr(copy, "throughput", 40) == 40
