"""No verdict that a capture contradicts; what is assumed, inverted and carried is said."""

from dataclasses import replace
from functools import cache

import pytest

import tcpstream
from tcpstream.answers import live as live_model
from tcpstream.errors import ModelMismatchError
from tcpstream.traces import UNKNOWN, Limitation, Measured

WINDOW = Limitation("receive-window", "the receiver's window was full half of the time", "ask with --max-window 12")


@pytest.fixture(scope="module")
def recorded():
    from conftest import CAPTURE  # ours, beside this file

    rtt, rto = Measured(0.1, 0.1, 0.1, ""), Measured(0.3, 0.3, 0.3, "")  # 20 packets/s are 2 a round, at both ends too
    return replace(tcpstream.estimate(CAPTURE), rtt=rtt, rto=rto)


@pytest.fixture(scope="module")
def steady(recorded):
    """How constant the path of the recorded flow was, in every second of it."""
    return tcpstream.constancy(recorded)


@pytest.fixture
def measured(recorded, steady, monkeypatch):
    """Let captures have another throughput than the recorded one: T of the model is 91 packets/s."""
    monkeypatch.setattr("tcpstream.answers.constancy.constancy", lambda _found: steady)

    def give(value, low, high, limitation=None):
        found = replace(recorded, throughput_pps=Measured(value, low, high, ""), limitation=limitation)
        monkeypatch.setattr("tcpstream.traces.estimate", lambda _file: found)
        return found

    return give


@pytest.fixture(scope="module")
def solved():
    """Live streams by path and video, of whichever test asked for them first."""
    known = cache(live_model.live)
    return lambda path, video, *, accuracy=None, growth="unlimited": known(
        path, video, accuracy=accuracy, growth=growth
    )


@pytest.fixture
def solved_once(solved, monkeypatch):
    """The command solves no live stream that another test of this module has solved."""
    monkeypatch.setattr(live_model, "live", solved)


ASKED = [
    "delay --rate 30pps --live",
    "delay --rate 30pps --duration 20 --target-no-late 90%",
    "delay --rate 500pps --live",
    "stored --rate 30pps --duration 20 --delay 1",
    "live --rate 30pps --delay 1",
    "rate --duration 10 --delay 1",
]


@pytest.mark.parametrize(("line", "seen"), [(line, (1779, 1700, 1850)) for line in ASKED] + [(ASKED[0], (10, 9, 11))])
def test_no_verdict_where_the_flow_contradicts_the_model(run, measured, line, seen):
    found = measured(*seen, WINDOW)
    done = run(f"{line} --capture x.pcap --json")
    assert done.status == 1
    assert done.answer["verdict"] is None
    assert done.answer["capture"] == found.to_dict()
    assert done.answer["throughput_pps"] == tcpstream.throughput(found.path())
    reason = done.answer["reason"]
    assert f"it had {seen[0]:.4g} packets/s" in reason
    assert f"has {done.answer['throughput_pps']:.4g} packets/s" in reason
    assert reason.endswith(f"Likeliest cause, receive-window: {WINDOW.evidence}. Instead: {WINDOW.ask_instead}")
    assert done.err == f"tcpstream: {reason}\n"
    unanswered = {"required_startup_delay_s", "late_fraction", "packet_rate_pps"}
    assert not unanswered & done.answer.keys()


@pytest.mark.usefixtures("solved_once")
@pytest.mark.parametrize("line", ["delay --live", "live --delay 1", "play --live --on-stall skip"])
def test_a_rate_that_the_flow_itself_had_is_not_called_not_carried(run, measured, line):
    """T is 94.6 packets/s, the rate 96: not sustained, unless the flow was surely and much faster."""
    for seen in ((120, 95, 145), (110, 97, 123)):
        measured(*seen)
        assert run(f"{line} --rate 96pps --capture x.pcap").status == 3
    measured(120, 97, 143, WINDOW)
    done = run(f"{line} --rate 96pps --capture x.pcap --json")
    assert (done.status, done.answer["verdict"]) == (1, None)
    assert "it had 120 packets/s" in done.answer["reason"]
    assert WINDOW.evidence in done.err


def test_the_table_shows_what_was_measured_without_a_verdict(run, measured):
    measured(10, 9, 11, WINDOW)
    done = run(f"{ASKED[0]} --capture x.pcap")
    assert done.status == 1
    shown = [line.split() for line in done.out.splitlines()]
    assert ["throughput", "[packets/s]", "10", "9", "to", "11"] in shown
    assert shown[-1][:3] == ["modelled", "throughput", "[packets/s]"]
    assert "Wait" not in done.out


@pytest.mark.usefixtures("solved_once")
def test_an_application_limited_stream_may_be_asked_about_as_such(run, measured, solved):
    """Its own throughput is that of the application; its p and R are those of the path."""
    found = measured(10, 9, 11, Limitation("application", "the sender had nothing to send", "--application-limited"))
    line = "delay --rate 20pps --live --capture x.pcap --max-window 6"
    assert run(line).status == 1
    done = run(f"{line} --application-limited --json")
    assert done.status == 0
    delay = solved(found.path(max_window=6), tcpstream.Video(packet_rate=20), growth="limited").required_delay()
    assert done.answer["required_startup_delay_s"] == delay
    assert "above the measured 10 packets/s" in done.err


def test_throughput_prints_both_and_says_so(run, measured):
    measured(1779, 1700, 1850)
    done = run("throughput --capture x.pcap --json")
    assert done.status == 0
    warning = done.answer["warnings"][-1]
    assert "the model does not describe this flow: it had 1779 packets/s" in warning
    assert UNKNOWN.evidence in warning


@pytest.mark.parametrize(("factor", "described"), [(1.999, True), (2.001, False), (0.501, True), (0.499, False)])
def test_a_factor_of_two_beyond_the_intervals(recorded, factor, described):
    """Measured just inside and just outside of twice the model's interval."""
    best, worst = (tcpstream.throughput(path) for path in recorded.ends())
    edge = factor * (best if factor > 1 else worst)
    ends = (edge, 1.1 * edge) if factor > 1 else (0.9 * edge, edge)
    found = replace(recorded, throughput_pps=Measured(edge, *ends, ""))
    if described:
        tcpstream.require_match(found)
    else:
        with pytest.raises(ModelMismatchError) as caught:
            tcpstream.require_match(found)
        assert caught.value.measured == edge
        assert caught.value.modelled == tcpstream.throughput(recorded.path())


def test_python_gives_no_delay_either(recorded):
    found = replace(recorded, throughput_pps=Measured(1779, 1700, 1850, ""))
    with pytest.raises(ModelMismatchError, match="no verdict"):
        tcpstream.delay_interval(found, tcpstream.Video(packet_rate=30), live=True)


def test_what_is_chosen_may_be_another_tcp_or_the_right_one(recorded):
    """A window of 3 over a path that the model describes; and over one that a window of 3 limits."""
    tcpstream.require_match(recorded, max_window=3)
    T = tcpstream.throughput(recorded.path(max_window=3))
    found = replace(recorded, throughput_pps=Measured(T, 0.9 * T, 1.1 * T, ""))
    worst = tcpstream.throughput(recorded.ends()[1])
    assert worst > 2.2 * T
    with pytest.raises(ModelMismatchError):
        tcpstream.require_match(found)
    tcpstream.require_match(found, max_window=3)


PATH = "--sender classic --rtt 100ms --max-window 12"


def test_a_measured_throughput_in_place_of_the_loss_rate(run):
    done = run(f"throughput --throughput 60pps,50pps,70pps {PATH} --json")
    path, low, high = (
        tcpstream.Path.from_throughput(T, sender="classic", rtt=0.1, max_window=12) for T in (60, 50, 70)
    )
    assert done.answer["parameters"] == path.to_dict() | {"packet_size_bytes": 1500}
    assert done.answer["measured_throughput_pps"] == [60, 50, 70]
    assert done.answer["throughput_interval_pps"] == pytest.approx([50, 70], rel=1e-6)
    line = f"delay --throughput 720kbps,600kbps,840kbps {PATH} --rate 600kbps --duration 4"
    answer = run(f"{line} --json").answer
    video = tcpstream.Video(packet_rate=50, duration=4)
    delays = [tcpstream.stored(one, video).required_delay() for one in (path, high, low)]
    assert answer["required_startup_delay_s"] == delays[0]
    assert answer["required_startup_delay_interval_s"] == delays[1:]
    assert "Over the interval of the throughput: " in run(line).out


def test_a_report_is_asked_by_its_throughput(run, capture):
    file = capture.with_name("linux-reno-ss.txt")
    report = tcpstream.traces.estimate_report(file)
    T = report.throughput_pps
    done = run(f"delay --capture {file} --rate 30pps --live")
    assert done.status == 2
    assert f"instead of --capture give --throughput {T.value:.4g}pps,{T.low:.4g}pps,{T.high:.4g}pps --rtt" in done.err


@pytest.mark.parametrize("timer", ["", "--rto 300ms", "--timeout-ratio 3"])
def test_an_assumed_timer_is_told(run, timer):
    done = run(f"throughput --loss 2% --rtt 100ms --sender classic {timer} --json")
    assert done.answer["parameters"]["rto_assumed"] == (timer == "")
    assert done.answer["parameters"]["rto_s"] == pytest.approx(0.3)
    out = run(f"throughput --loss 2% --rtt 100ms --sender classic {timer}").out
    assert ("0.3 s (R + 0.2 s, assumed as in Linux)" in out) == (timer == "")


@pytest.mark.usefixtures("solved_once")
@pytest.mark.parametrize(
    "line",
    [
        "live --delay 4",
        "delay --live --target 1e-3",
        pytest.param("delay --live --application-limited", marks=pytest.mark.long),
    ],
)
def test_without_a_finite_delay_the_rate_that_the_path_carries(run, solved, line):
    done = run(f"{line} --loss 0.1 --rtt 100ms --timeout-ratio 1 --sender classic --max-window 8 --rate 5Mbps --json")
    path = tcpstream.Path(sender="classic", loss=0.1, rtt=0.1, timeout_ratio=1, max_window=8)
    carried = done.answer["carried"]
    assert done.status == 3
    video = tcpstream.Video(bitrate=carried["bitrate_bps"])
    assert carried["packet_rate_pps"] == video.packet_rate
    assert 0.8 < video.packet_rate / tcpstream.throughput(path) <= 0.9
    growth = "limited" if "limited" in line else "unlimited"
    target = 1e-3 if "target" in line else 1e-4
    assert carried["required_startup_delay_s"] == solved(path, video, growth=growth).required_delay(target)
    out = run(f"{line} --loss 0.1 --rtt 100ms --timeout-ratio 1 --sender classic --max-window 8 --rate 5Mbps").out
    assert f"{carried['bitrate_bps'] / 1e3:g} kbit/s) play after " in out


@pytest.mark.parametrize(
    "line",
    [
        "throughput --loss 1e-9 --rtt 100ms --sender classic --tcp cubic",
        "stored --loss 10% --rtt 100ms --sender classic --rate 5pps --duration 4s --delay 1",
    ],
)
def test_remedies_are_options(run, line, monkeypatch):
    """They name --max-window, not a parameter of the library, and no quantum, which is no option."""
    monkeypatch.setattr("tcpstream.transient.cost.MOST_CELLS", 1.0)
    done = run(line)
    assert done.status == 1
    assert "a smaller --max-window" in done.err
    assert "a shorter --duration" in done.err or line.startswith("throughput")
    assert "max_window" not in done.err
    assert "quantum" not in done.err
