"""``tcpstream share``: what the library says, in tables, in JSON, and in one line where it is refused."""

import pytest

from tcpstream import shared_bottleneck

LINE = "share --bottleneck 8Mbps --buffer 30 --rtt 50ms --flows 4 --tcp reno-sack"


def test_it_says_what_the_library_says(run):
    answer, out = run(f"{LINE} --json").answer, run(LINE).out
    found = shared_bottleneck(bottleneck=8e6 / 12e3, buffer=30, rtt=0.05, flows=4, tcp="reno-sack")
    known = found.to_dict()
    known["parameters"]["packet_size_bytes"] = 1500
    assert {key: answer[key] for key in known} == known
    assert answer["share_bps"] == pytest.approx(12e3 * found.share)
    for text in (f"{found.loss:.4g}", f"{found.rtt:.4g} s", f"{found.share:.4g} packets/s"):
        assert text in out


def test_rates_in_bits_follow_the_packet_size(run):
    answer = run(f"{LINE} --packet-size 1000 --json").answer
    assert answer["parameters"]["bottleneck_pps"] == 1000
    assert answer["share_bps"] == pytest.approx(8000 * answer["share_pps"])


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (LINE.replace("--flows 4", "--flows 0"), "flows must be a whole number of at least 1, got 0"),
        (LINE.replace("--flows 4", "--flows 40"), "pipe and buffer must hold at least 2 packets a flow"),
        (LINE.replace("reno-sack", "bbr"), "flows at a shared bottleneck are reno-sack or cubic, got tcp = bbr"),
        (f"{LINE} --max-window 12", "give more flows, or a larger --max-window"),
        (LINE.replace(" --rtt 50ms", ""), "missing option '--rtt'"),
        (f"{LINE} --rto 60ms", "at least the round trip time with a full queue, 0.095 s, got 0.06 s"),
        (f"{LINE} --packet-size 0", "packet size must be greater than 0 bytes, got 0 bytes"),
    ],
)
def test_bad_input_is_one_line(run, line, words):
    done = run(line)
    assert (done.status, done.out) == (2, "")
    assert words in done.err
    assert len(done.err.splitlines()) == 1
