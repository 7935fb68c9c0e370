"""Every kind of bad input: one line on stderr and exit status 2, and the same from the Python call beside it."""

from __future__ import annotations

import os
import shlex
import socket
from collections.abc import Callable
from pathlib import Path as FilePath
from typing import NamedTuple

import dpkt
import pytest

import tcpstream
from tcpstream.cli import main
from tcpstream.errors import CaptureError, InputError

PATH = "--loss 0.02 --rtt 0.1 --rto 0.3 --sender classic"
VIDEO = "--rate 10pps"
STORED = f"stored {PATH} {VIDEO} --duration 80"
LIVE = f"live {PATH} {VIDEO}"
DELAY = f"delay {PATH} {VIDEO}"


def path(**change):
    return tcpstream.Path(**{"sender": "classic", "loss": 0.02, "rtt": 0.1, "timeout_ratio": 3, **change})


def video(**change):
    return tcpstream.Video(**{"packet_rate": 10, "duration": 80, **change})


def stored(**change):
    return tcpstream.stored(path(), video(**change))


def live(**change):
    return tcpstream.live(path(), video(**{"duration": None, **change}))


class Bad(NamedTuple):
    """A command line, a fragment of its message, and a Python call whose message has the same fragment."""

    command: str
    fragment: str
    call: Callable[[], object] | None = None
    error: type[Exception] = InputError


BAD = [
    # the command line itself
    Bad("", "missing command"),
    Bad("watch", "no such command 'watch'"),
    Bad("--colour", "no such option"),
    Bad(f"throughput {PATH} --los 0.1", "no such option"),
    Bad(f"delay {PATH} --pace 1.2", "no such option '--pace': it is one of play (see tcpstream delay --help)"),
    Bad(f"rate {PATH} --rate 3Mbps", "no such option '--rate': it is one of stored, live, delay, play,"),
    Bad(f"throughput {PATH} 0.1", "unexpected extra argument"),
    Bad("throughput --rtt 100 ms --loss 2%", "without a space, as 2% or 100ms"),
    Bad("delay --rtt 100ms --loss 2 % --rate 5Mbps --live", "without a space, as 2% or 100ms"),
    Bad(f"throughput {PATH} --packet-size", "requires an argument"),
    Bad(f"throughput {PATH} --loss 0.03", "--loss is given 2 times"),
    # a bottleneck
    Bad(
        f"throughput {PATH} --bottleneck 100pps --buffer 5",
        "a bottleneck is solved for tcp = reno-sack, cubic, bbr, got reno",
        lambda: path(bottleneck=100, buffer=5),
    ),
    Bad(
        f"throughput {PATH} --tcp reno-sack --bottleneck 100pps",
        "a bottleneck needs its buffer [packets], 0 or more",
        lambda: path(tcp="reno-sack", bottleneck=100),
    ),
    Bad(
        f"throughput {PATH} --tcp reno-sack --buffer 5",
        "a buffer is that of a bottleneck: give bottleneck [packets/s] as well, or leave out buffer",
        lambda: path(tcp="reno-sack", buffer=5),
    ),
    Bad(
        f"throughput {PATH} --tcp reno-sack --bottleneck 100pps --buffer 5 --max-window 20",
        "a bottleneck sets the largest window: leave out ",
        lambda: path(tcp="reno-sack", bottleneck=100, buffer=5, max_window=20),
    ),
    Bad(
        f"throughput {PATH} --tcp reno-sack --bottleneck 192kbps --packet-size 1500 --buffer 5",
        "a bottleneck must carry at least 2 packets in a round trip, got 1.6: 16 packets/s x 0.1 s",
        lambda: path(tcp="reno-sack", bottleneck=16, buffer=5),
    ),
    Bad(
        f"throughput {PATH} --tcp reno-sack --bottleneck 100pps --buffer -1",
        "buffer must be a whole number of at least 0 packets, got -1 packets",
        lambda: path(tcp="reno-sack", bottleneck=100, buffer=-1),
    ),
    Bad(
        f"throughput {PATH} --tcp reno-sack --bottleneck 0pps --buffer 1",
        "bottleneck must be greater than 0 packets/s",
        lambda: path(tcp="reno-sack", bottleneck=0, buffer=1),
    ),
    Bad(f"throughput {PATH} --tcp reno-sack --bottleneck 100 --buffer 1", "--bottleneck: '100' has no unit"),
    Bad("throughput --capture x.pcap --bottleneck 8Mbps --buffer 1", "--bottleneck in bit/s with --capture needs"),
    Bad(f"{STORED} --delay 1 --delay 2", "--delay is given 2 times"),
    Bad(f"throughput {PATH} --json=yes", "does not take a value"),
    # path: missing, contradictory
    Bad(
        "throughput",
        "missing --loss (or --throughput) and --rtt: a path is --loss P --rtt T, or --capture FILE",
    ),
    Bad("throughput --rtt 0.1 --rto 0.3", "missing --loss (or --throughput):"),
    Bad("throughput --loss 0.02 --rto 0.3", "missing --rtt:"),
    Bad(f"throughput {PATH} --timeout-ratio 4", "contradict each other", lambda: path(rto=0.3, timeout_ratio=4)),
    # path: loss rate
    Bad(
        "throughput --loss 0 --rtt 0.1 --rto 0.3 --sender classic",
        "between 1e-09 and 0.999, got 0",
        lambda: path(loss=0),
    ),
    Bad(
        "throughput --loss 1 --rtt 0.1 --rto 0.3 --sender classic",
        "between 1e-09 and 0.999, got 1",
        lambda: path(loss=1),
    ),
    Bad("throughput --loss -0.1 --rtt 0.1 --rto 0.3 --sender classic", "loss rate must lie", lambda: path(loss=-0.1)),
    Bad(
        "throughput --loss nan --rtt 0.1 --rto 0.3 --sender classic",
        "loss rate must be finite",
        lambda: path(loss=float("nan")),
    ),
    Bad(
        "throughput --loss 2%% --rtt 0.1 --rto 0.3 --sender classic",
        "'2%%' is not a probability: give a number, as 0.02 or 2%",
    ),
    Bad(
        "throughput --loss 2 --rtt 0.1 --sender classic",
        "between 1e-09 and 0.999, got 2: 2% is 0.02",
        lambda: path(loss=2),
    ),
    Bad("throughput --loss= --rtt 0.1 --rto 0.3", "--loss: '' is not a probability", None),
    # path: a measured throughput
    Bad("throughput --throughput 30pps --loss 0.1 --rtt 0.1 --sender classic", "give --loss or --throughput, not both"),
    Bad("throughput --throughput 30 --rtt 0.1 --sender classic", "--throughput: '30' has no unit"),
    Bad(
        "throughput --throughput 30pps,20pps --rtt 0.1 --sender classic",
        "is not a rate, or a rate and the ends of its interval",
    ),
    Bad(
        "throughput --throughput 30pps,40pps,50pps --rtt 0.1 --sender classic",
        "does not lie between the ends of its interval",
    ),
    Bad("throughput --capture x.pcap --throughput 30pps", "--capture measures the path: leave out --throughput"),
    Bad(
        "throughput --throughput 300pps --rtt 0.1 --sender classic --max-window 8",
        "300 packets/s is not what this path can have: it has 0.2071 packets/s at a loss rate of 0.5 and 80 packets/s",
        lambda: tcpstream.Path.from_throughput(300, sender="classic", rtt=0.1, max_window=8),
    ),
    Bad(
        "throughput --throughput 0pps --rtt 0.1 --sender classic",
        "throughput must be greater than 0 packets/s",
        lambda: tcpstream.Path.from_throughput(0, sender="classic", rtt=0.1),
    ),
    # the range in which a path makes sense
    Bad("throughput --loss 0.02 --rtt 1e-300 --sender classic", "between 1e-06 and 1000 s", lambda: path(rtt=1e-300)),
    Bad(
        "throughput --loss 0.02 --rtt 0.1 --rto 1e300 --sender classic",
        "must be at most 10000 s, got 1e+300 s",
        lambda: path(rto=1e300, timeout_ratio=None),
    ),
    Bad(f"{LIVE} --delay 1e300", "startup delay must be at most 1e+08 s", lambda: live().late_fraction(1e300)),
    # path: times
    Bad(
        "throughput --loss 0.02 --rtt 0 --rto 0.3 --sender classic",
        "time must be greater than 0 s, got 0 s",
        lambda: path(rtt=0),
    ),
    Bad("throughput --loss 0.02 --rtt -100ms --rto 0.3 --sender classic", "got -0.1 s", lambda: path(rtt=-0.1)),
    Bad(
        "throughput --loss 0.02 --rtt inf --rto 0.3 --sender classic",
        "must be finite, got inf s",
        lambda: path(rtt=float("inf")),
    ),
    Bad(
        "throughput --loss 0.02 --rtt 1e400 --rto 0.3 --sender classic",
        "time must be finite, got inf s",
        lambda: path(rtt=1e400),
    ),
    Bad("throughput --loss 0.02 --rtt fast --rto 0.3 --sender classic", "'fast'", lambda: path(rtt="fast")),
    Bad(
        "throughput --loss 0.02 --rtt 100m --rto 0.3 --sender classic",
        "'100m' is not a time: give seconds, or a number with ms, s",
    ),
    Bad("throughput --loss 0.02 --rtt 0,1 --rto 0.3 --sender classic", "--rtt: '0,1' is not a time"),
    Bad("throughput --loss 0.02 --rtt 1e --rto 0.3 --sender classic", "--rtt: '1e' is not a time"),
    Bad(
        "throughput --loss 0.02 --rtt 100ms --rto 50ms --sender classic",
        "must be at least the round trip time of 0.1 s, got 0.05 s",
        lambda: path(rto=0.05, timeout_ratio=None),
    ),
    Bad(
        "throughput --loss 0.02 --rtt 0.1 --rto 0 --sender classic",
        "greater than 0 s, got 0 s",
        lambda: path(rto=0, timeout_ratio=None),
    ),
    Bad(
        "throughput --loss 0.02 --rtt 0.1 --timeout-ratio 0.5 --sender classic",
        "must be at least 1, got 0.5",
        lambda: path(timeout_ratio=0.5),
    ),
    Bad("throughput --loss 0.02 --rtt 0.1 --timeout-ratio 3s --sender classic", "'3s' is not a number"),
    # path: how its TCP behaves
    Bad(f"throughput {PATH} --max-window 0", "at least 1 packets, got 0", lambda: path(max_window=0)),
    Bad(f"throughput {PATH} --max-window 12.5", "whole number", lambda: path(max_window=12.5)),
    Bad(f"throughput {PATH} --max-window inf", "largest window must be finite", lambda: path(max_window=float("inf"))),
    Bad(f"throughput {PATH} --rounds-per-increase 3", "one of 1, 2, got 3", lambda: path(rounds_per_increase=3)),
    Bad(f"throughput {PATH} --backoff linux", "one of rfc6298, paper, got 'linux'", lambda: path(backoff="linux")),
    Bad(
        f"throughput {PATH} --tcp tahoe",
        "tcp must be one of reno, reno-sack, cubic, bbr, got 'tahoe'",
        lambda: path(tcp="tahoe"),
    ),
    Bad(
        f"throughput {PATH} --tcp cubic --rounds-per-increase 2",
        "tcp = cubic counts acknowledged packets: rounds per increase must be 1, got 2",
        lambda: path(tcp="cubic", rounds_per_increase=2),
    ),
    Bad(f"throughput {PATH} --halving round", "one of floor, ceil, got 'round'", lambda: path(halving="round")),
    # video
    Bad(f"live {PATH} --delay 1", "missing --rate: a live video is --rate R"),
    Bad(f"stored {PATH} --delay 1", "missing --rate and --duration: a stored video is --rate R --duration T"),
    Bad(f"stored {PATH} --rate 10pps --delay 1", "duration", lambda: stored(duration=None)),
    Bad(f"live {PATH} --rate 25 --delay 1", "'25' has no unit: give a number with pps (packets/s), bps, kbps, Mbps"),
    Bad(f"live {PATH} --rate 25fps --delay 1", "'25fps' is not a rate"),
    Bad(f"live {PATH} --rate pps --delay 1", "'pps' is not a rate"),
    Bad(f"live {PATH} --rate 0pps --delay 1", "rate must be greater than 0 packets/s", lambda: live(packet_rate=0)),
    Bad(f"live {PATH} --rate -1pps --delay 1", "got -1 packets/s", lambda: live(packet_rate=-1)),
    Bad(f"live {PATH} --rate nanpps --delay 1", "rate must be finite", lambda: live(packet_rate=float("nan"))),
    Bad(
        f"live {PATH} --rate 1e400kbps --delay 1",
        "bit rate must be finite, got inf bit/s",
        lambda: live(packet_rate=None, bitrate=1e400),
    ),
    Bad(f"{LIVE} --packet-size 0 --delay 1", "size must be greater than 0 bytes", lambda: live(packet_size=0)),
    Bad(f"{LIVE} --packet-size 1500B --delay 1", "--packet-size: '1500B' is not a number"),
    Bad(f"throughput {PATH} --packet-size -5", "packet size must be greater than 0 bytes, got -5 bytes"),
    Bad(f"stored {PATH} {VIDEO} --duration 0 --delay 1", "duration must be greater", lambda: stored(duration=0)),
    Bad(f"stored {PATH} {VIDEO} --duration 10years --delay 1", "--duration: '10years' is not a time"),
    Bad(f"stored {PATH} {VIDEO} --duration 50ms --delay 1", "at least one round trip", lambda: stored(duration=0.05)),
    Bad(f"{LIVE} --duration 50ms --delay 1", "at least one round trip", lambda: live(duration=0.05)),
    Bad(
        f"{STORED} --delay 1 --horizon never",
        "horizon must be one of end, paper",
        lambda: tcpstream.stored(path(), video(), horizon="never"),
    ),
    # startup delays
    Bad(STORED, "missing option '--delay'"),
    Bad(LIVE, "missing option '--delay'"),
    Bad(f"{STORED} --delay -1", "delay must not be negative, got -1 s", lambda: stored().late_fraction(-1)),
    Bad(f"{LIVE} --delay 1,-2s", "delay must not be negative, got -2 s", lambda: live().late_fraction([1, -2])),
    Bad(f"{LIVE} --delay nan", "delay must be finite", lambda: live().late_fraction(float("nan"))),
    Bad(f"{LIVE} --delay inf", "delay must be finite", lambda: live().late_fraction(float("inf"))),
    Bad(f"{LIVE} --delay 1,,2", "--delay: empty time in '1,,2'"),
    Bad(f"{LIVE} --delay 1,", "--delay: empty time in '1,'"),
    Bad(f"{LIVE} --delay ''", "--delay: empty time in ''"),
    Bad(f"{LIVE} --delay --json", "--delay: '--json' is not a time"),
    # targets
    Bad(DELAY, "give --live for a live stream, or --duration T"),
    Bad(f"{DELAY} --live --duration 80", "give --live or --duration (a stored video), not both"),
    Bad(f"{DELAY} --live --target 0", "strictly between 0 and 1, got 0", lambda: live().required_delay(0)),
    Bad(f"{DELAY} --duration 80 --target 1", "between 0 and 1, got 1", lambda: stored().required_delay(1)),
    Bad(f"{DELAY} --live --target nan", "must be finite", lambda: live().required_delay(float("nan"))),
    Bad(f"{DELAY} --live --target few", "--target: 'few' is not a probability"),
    Bad(
        f"{DELAY} --duration 80 --target-no-late 1.5",
        "no late packet must lie strictly between 0 and 1",
        lambda: stored().required_delay(no_late=1.5),
    ),
    Bad(
        f"{DELAY} --duration 80 --target 1e-3 --target-no-late 0.9",
        "not both",
        lambda: stored().required_delay(1e-3, no_late=0.9),
    ),
    Bad(f"{DELAY} --live --target-no-late 0.9", "--target-no-late is for a stored video"),
    # playback files
    Bad(f"{STORED} --playback good.csv --delay 1", "leave out --rate and --duration, or --playback"),
    Bad(
        f"live {PATH} --playback good.csv --delay 1",
        "live streaming takes a constant playback rate",
        lambda: tcpstream.live(path(), tcpstream.Video.from_file("good.csv")),
    ),
    Bad(f"delay {PATH} --playback good.csv --live", "live streaming takes a constant playback rate"),
    *(
        Bad(f"stored {PATH} --playback {name} --delay 1", fragment, lambda name=name: tcpstream.Video.from_file(name))
        for name, fragment in {
            "missing.csv": "missing.csv: No such file",
            "folder": "folder: Is a directory",
            "empty.csv": "at least two points",
            "words.csv": "words.csv, line 3: expected two numbers",
            "columns.csv": "columns.csv, line 2: expected two numbers",
            "binary.csv": "binary.csv: not a text file",
            "late-start.csv": "starts at time 0 s with 0 packets",
            "backwards.csv": "times must increase, got 2 s followed by 1 s",
            "shrinking.csv": "packets must not decrease",
            "nan.csv": "must be finite",
        }.items()
    ),
    # captures
    Bad("estimate", "missing argument 'FILE'"),
    Bad("estimate gap.pcap gap.pcap", "unexpected extra argument"),
    *(
        Bad(f"estimate {name}", fragment, lambda name=name: tcpstream.estimate(name), CaptureError)
        for name, fragment in {
            "missing.pcap": "cannot read the capture missing.pcap: No such file",
            "folder": "cannot read the capture folder: Is a directory",
            "empty.pcap": "empty.pcap is empty",
            "words.csv": "words.csv is no capture",
            "header.pcap": "header.pcap holds no TCP packet",
            "arp.pcap": "arp.pcap holds no TCP packet",
            "udp.pcap": "udp.pcap holds no TCP packet",
            "acks.pcap": "acks.pcap holds no TCP packet with payload",
            "snaplen.pcap": "snaplen.pcap is cut inside the TCP headers",
        }.items()
    ),
    Bad("estimate ss.txt --all", "the report ss.txt has no packets: --all and --segments need a capture"),
    Bad("estimate damaged.json", "damaged.json is no output of iperf3 -J"),
    Bad(
        "throughput --capture ss.txt",
        "shows no loss-event rate, only",
        lambda: tcpstream.traces.estimate_report("ss.txt").path(),
    ),
    Bad("estimate flow.pcap --all --segments 5", "--all and --segments contradict each other"),
    Bad("estimate flow.pcap --segments 5parsecs", "--segments: '5parsecs' is not a time"),
    Bad(
        "estimate flow.pcap --segments 0",
        "length of a segment must be at least 1 s, got 0 s",
        lambda: tcpstream.traces.estimate_segments("flow.pcap", 0),
    ),
    Bad("throughput --capture missing.pcap", "cannot read the capture missing.pcap"),
    Bad("throughput --capture udp.pcap", "udp.pcap holds no TCP packet"),
    Bad("throughput --capture flow.pcap --loss 0.1", "--capture measures the path: leave out --loss, or --capture"),
    Bad(
        f"live --capture flow.pcap {PATH} {VIDEO} --delay 1",
        "leave out --loss and --rtt and --rto, or --capture",
    ),
    Bad(f"delay --capture flow.pcap --timeout-ratio 3 {VIDEO} --live", "leave out --timeout-ratio"),
    Bad("throughput --capture flow.pcap", "no loss", lambda: tcpstream.estimate("flow.pcap").path()),
]


@pytest.fixture(autouse=True)
def files(tmp_path, monkeypatch):
    """Work in a folder with all the files that the commands name."""
    monkeypatch.chdir(tmp_path)
    FilePath("folder").mkdir()
    texts = {
        "good.csv": "time_s,packets\n0,0\n1,25\n",
        "empty.csv": "",
        "words.csv": "time_s,packets\n0,0\none,25\n",
        "columns.csv": "0,0\n1,25,3\n",
        "late-start.csv": "1,0\n2,25\n",
        "backwards.csv": "0,0\n2,25\n1,50\n",
        "shrinking.csv": "0,0\n1,25\n2,20\n",
        "nan.csv": "0,0\n1,nan\n",
        "damaged.json": "{",
        "ss.txt": "ESTAB 0 0 10.0.0.1:1 10.0.0.2:2\n rtt:100/1 rto:300 cwnd:9 mss:9 data_segs_out:5 bytes_acked:45\n",
    }
    for name, text in texts.items():
        FilePath(name).write_text(text)
    FilePath("binary.csv").write_bytes(b"\xff\xfe\x00\x01")
    FilePath("empty.pcap").touch()
    capture("header.pcap", [])
    arp = dpkt.ethernet.Ethernet(type=dpkt.ethernet.ETH_TYPE_ARP, data=dpkt.arp.ARP())
    capture("arp.pcap", [(i, arp) for i in range(20)])
    capture("udp.pcap", [(i, packet(dpkt.udp.UDP(sport=1, dport=2, data=b"x"), 17)) for i in range(20)])
    capture("acks.pcap", [(i, packet(segment(2, 1, ack=i), 6, back=True)) for i in range(20)])
    capture("flow.pcap", exchange())
    capture("snaplen.pcap", exchange(), keep=40)


def segment(sport, dport, seq=1, ack=1, data=b""):
    return dpkt.tcp.TCP(sport=sport, dport=dport, seq=seq, ack=ack, flags=dpkt.tcp.TH_ACK, data=data)


def packet(payload, protocol, *, back=False):
    ends = [socket.inet_aton("10.0.0.1"), socket.inet_aton("10.0.0.2")]
    chain, target = reversed(ends) if back else ends
    ip = dpkt.ip.IP(src=chain, dst=target, p=protocol, data=payload)
    ip.len = len(ip)
    return dpkt.ethernet.Ethernet(data=ip)


def exchange():
    """Return 20 data packets, each acknowledged after 100 ms: a flow without loss."""
    for i in range(20):
        yield 0.2 * i, packet(segment(1, 2, seq=1 + 100 * i, data=bytes(100)), 6)
        yield 0.2 * i + 0.1, packet(segment(2, 1, ack=101 + 100 * i), 6, back=True)


def capture(name, frames, keep=65535):
    with FilePath(name).open("wb") as file:
        file.write(bytes(dpkt.pcap.FileHdr(snaplen=keep)))
        for moment, frame in frames:
            seconds, microseconds = divmod(round(moment * 1e6), 10**6)
            data = bytes(frame)
            kept = min(keep, len(data))
            file.write(bytes(dpkt.pcap.PktHdr(tv_sec=seconds, tv_usec=microseconds, caplen=kept, len=len(data))))
            file.write(data[:kept])


def assert_one_line(capsys, status, fragment):
    out, err = capsys.readouterr()
    assert status == 2
    assert out == ""
    assert err.startswith("tcpstream: error: ")
    assert err.count("\n") == 1
    assert err.endswith("\n")
    assert fragment in err


@pytest.mark.parametrize("bad", BAD, ids=[bad.command or "nothing" for bad in BAD])
def test_command(bad, capsys):
    assert_one_line(capsys, main(shlex.split(bad.command)), bad.fragment)


CALLS = [bad for bad in BAD if bad.call]


@pytest.mark.parametrize("bad", CALLS, ids=[bad.command for bad in CALLS])
def test_python_call(bad):
    assert issubclass(bad.error, InputError)
    with pytest.raises(bad.error) as raised:
        bad.call()
    assert type(raised.value) is bad.error
    assert bad.fragment in str(raised.value)
    assert "\n" not in str(raised.value)


def test_there_are_enough_kinds():
    assert len({bad.command for bad in BAD}) == len(BAD) >= 60


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="everything is readable for root")
@pytest.mark.parametrize("command", ["estimate flow.pcap", f"stored {PATH} --playback good.csv --delay 1"])
def test_unreadable_file(command, capsys):
    for name in ("flow.pcap", "good.csv"):
        FilePath(name).chmod(0)
    assert_one_line(capsys, main(shlex.split(command)), "Permission denied")


def test_strange_characters_stay_on_one_line(capsys):
    assert_one_line(capsys, main(["estimate", "a\nb.pcap"]), r"a\nb.pcap")
    assert_one_line(capsys, main(["throughput", "--rtt", "1\x1b[31m\n2"]), r"\x1b[31m\n2")
