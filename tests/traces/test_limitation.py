"""What limits a flow: senders that wait, queues and policers of known rates, and flows that losses alone limit."""

from __future__ import annotations

import json

import dpkt
import numpy as np
import pytest
from synthetic import MSS, RECEIVER, SENDER, Run, Seen, Sender, capture, frames, pcap_bytes, simulate

from tcpstream.cli import main
from tcpstream.traces import estimate

VANTAGES = ["sender", "receiver", 0.5]


class Chunks(Sender):
    """Writes 40 packets every two seconds, as a player that fetches segments makes a server do."""

    def write(self, time):
        self.written += 39
        super().write(time)


class Link(Sender):
    """Behind a link of 100 packets/s with a queue of 20 packets before it."""

    rate, room, free = 100.0, 20, 0.0

    def is_lost(self, time):
        if (self.free - time) * self.rate > self.room:
            return True
        self.free = max(self.free, time) + 1 / self.rate
        return super().is_lost(time)

    def travel(self, time, from_sender):
        waiting = max(self.free - time - 1 / self.rate, 0.0) if from_sender else 0.0
        return super().travel(time + waiting, from_sender)


class DeepLink(Link):
    """With a queue that the first slow start overfills, and congestion avoidance not so soon."""

    rate, room = 200.0, 80


class Policer(Sender):
    """A token bucket of 15 packets, filled at 150 a second; what finds it empty is dropped, nothing waits."""

    rate, bucket, tokens, filled = 150.0, 15.0, 15.0, 0.0

    def is_lost(self, time):
        self.tokens = min(self.tokens + (time - self.filled) * self.rate, self.bucket)
        self.filled = time
        if self.tokens < 1:
            return True
        self.tokens -= 1
        return False


class Paced(Sender):
    """Sends by its own clock whatever is lost, as BBR does, at a rate that it estimates anew every round trip."""

    begun, gap, until = False, 0.0071, 0.0

    def fill(self, time):
        if not self.begun:
            self.begun = True
            self.tick(time)

    def tick(self, time):
        self.transmit(time, min(self.lost) if self.lost else self.next)
        if time >= self.until:
            self.until, self.gap = time + self.rtt, 0.0071 * self.rng.lognormvariate(0, 0.2)
        if time < self.seconds:
            self.at(time + self.gap, self.tick)

    def timeout(self, time, version):
        """Not in this sender."""


def limits(tmp_path, run, **options):
    """Return what limits the flow as seen from the sender, from the receiver and from half-way."""
    return [estimate(capture(tmp_path, run, vantage, **options)).limitation for vantage in VANTAGES]


@pytest.mark.parametrize(
    "conditions",
    [
        {"p": 0.02, "seed": 2},
        {"p": 0.05, "seed": 4},
        {"p": 0.01, "rtt": 0.2, "seed": 3, "sender_opens": False},
        {"p": 0.01, "process": "round", "seed": 7},
        {"p": 0.02, "sack": False, "seed": 5},
        {"p": 0.02, "timestamps": False, "seed": 6},
        {"p": 0.02, "decrease": 0.7, "seed": 8},
        {"p": 0.02, "detection": "rack", "seed": 9},
        {"p": 0.001, "window": 20, "seconds": 20.0, "seed": 1},  # its largest window limits it
    ],
    ids=lambda c: ",".join(f"{k}={v}" for k, v in c.items()),
)
def test_losses_alone_are_no_other_limit(tmp_path, conditions):
    assert limits(tmp_path, simulate(**conditions)) == [None] * 3


def test_a_live_stream_of_constant_rate(tmp_path):
    for found in limits(tmp_path, simulate(0.01, app_gap=0.02, seed=2)):
        assert found.cause == "application"
        assert "constant rate of 50 packets/s" in found.evidence
        assert "--application-limited" in found.ask_instead


def test_a_sender_that_has_nothing_to_send(tmp_path):
    for found in limits(tmp_path, simulate(0.005, app_gap=2.0, seconds=40, seed=2, kind=Chunks)):
        assert found.cause == "application"
        assert "nothing to send" in found.evidence


def test_a_receiver_that_announces_little(tmp_path):
    run = simulate(0.002, window=10, seconds=20, seed=3)
    for packet in run.packets:
        packet.scale = 3 if packet.flags & 2 else None
        packet.window = 10 * MSS >> 3
    for found in limits(tmp_path, run):
        assert found.cause == "receive-window"
        assert f"{10 * MSS} bytes" in found.evidence
        assert "--max-window 10" in found.ask_instead
    assert limits(tmp_path, run, handshake=False) == [None] * 3  # then the scale is not known


def test_a_queue_that_the_flow_fills(tmp_path):
    for found in limits(tmp_path, simulate(0.0, seconds=40, window=200, jitter=1e-4, kind=Link)):
        assert found.cause == "bottleneck"
        rate = float(found.ask_instead.split("--bottleneck ")[1].split("pps")[0])
        assert rate == pytest.approx(100, rel=0.05)


def test_a_policer(tmp_path):
    assert [found.cause for found in limits(tmp_path, simulate(0.0, seconds=40, kind=Policer))] == ["policer"] * 3


def test_a_first_slow_start_that_overshoots(tmp_path):
    run = simulate(0.0, seconds=10, window=1000, jitter=1e-4, kind=DeepLink)
    assert [found.cause for found in limits(tmp_path, run)] == ["slow-start"] * 3


def test_bbr(tmp_path):
    found = estimate(capture(tmp_path, simulate(0.02, seconds=40, seed=5, kind=Paced)))
    assert found.limitation.cause == "bbr"
    assert found.proposal.reason.endswith("the sender's congestion control, bbr, has no chain that fits")
    few = estimate(capture(tmp_path, simulate(0.001, seconds=20, seed=5, kind=Paced)))
    assert few.limitation.cause == "unknown"  # its application could pace it as well
    assert few.limitation.ask_instead.startswith("Capture a download in which the sender never pauses. If it did not: ")


def test_keystrokes(tmp_path):
    """Every second or so a packet of 48 bytes, acknowledged after 50 ms; one is sent twice."""
    moments = np.cumsum(np.random.default_rng(1).exponential(1.0, 80))
    seq, packets = 1, []
    for number, t in enumerate(moments):
        for later in (0.0, 0.3) if number == 40 else (0.0,):
            packets.append(Seen(t + later, t + later + 0.025, True, seq, 1, 48))
        answer = t + (0.3 if number == 40 else 0) + 0.025
        seq += 48
        packets.append(Seen(answer + 0.025, answer, False, 1, seq, 0))
    packets.append(Seen(0.0, 0.025, True, 0, 0, 0, flags=2, mss=1460))
    packets.append(Seen(0.05, 0.025, False, 0, 1, 0, flags=18, mss=1460))
    packets.append(Seen(0.05, 0.075, True, 1, 1, 0))
    found = estimate(capture(tmp_path, Run(packets=packets))).limitation
    assert found.cause == "interactive"
    assert "at most 48 bytes" in found.evidence


@pytest.mark.parametrize("acknowledged", [True, False])
def test_answers_to_requests(tmp_path, acknowledged):
    """Half a second after the last answer the client asks again; its request acknowledges if nothing else does."""
    packets, seq, asked, t = [], 1, 1, 0.2
    for number in range(60):
        packets.append(Seen(t, t - 0.025, False, asked, seq, 100))
        asked += 100
        for part in range(3):
            lost = number in (20, 40) and part == 1
            leaves, size = t + 1e-4 * (part + 1), 1448 if part < 2 else 700
            packets.append(Seen(leaves, leaves + 0.025, True, seq, asked, size, lost=lost))
            if lost:
                packets.append(Seen(leaves + 0.3, leaves + 0.325, True, seq, asked, size))
            seq += size
        t += 0.05 + 0.3 * (number in (20, 40))
        if acknowledged:
            packets.append(Seen(t, t - 0.025, False, asked, seq, 0))
        t += 0.5
    packets.append(Seen(0.05, 0.025, False, 0, 0, 0, flags=2, mss=1460))
    packets.append(Seen(0.05, 0.075, True, 0, 1, 0, flags=18, mss=1460))
    packets.append(Seen(0.1, 0.075, False, 1, 1, 0))
    found = estimate(capture(tmp_path, Run(packets=packets))).limitation
    assert found.cause == "application"


def test_a_download_over_udp(tmp_path):
    """QUIC beside a TCP connection: the capture is of the former."""
    run = simulate(0.02, seconds=20)
    rows = frames(run)
    payload = sum(s.payload for s in run.packets if s.from_sender)
    udp = dpkt.udp.UDP(sport=443, dport=50000, ulen=8 + 1350, sum=1)
    size = 28 + 1350
    packet = bytes(dpkt.ip.IP(src=SENDER[0], dst=RECEIVER[0], p=17, len=size, sum=1)) + bytes(udp)
    for many, expected in ((payload // 1350 + 1, "udp"), (payload // 1350 // 2, None)):
        file = tmp_path / "quic.pcap"
        times = np.linspace(rows[0][0], rows[-1][0], many)
        file.write_bytes(pcap_bytes(sorted(rows + [(float(t), packet) for t in times], key=lambda row: row[0])))
        found = estimate(file).limitation
        assert (found and found.cause) == expected


def test_the_command_says_it(tmp_path, capsys):
    file = capture(tmp_path, simulate(0.01, app_gap=0.02, seed=2))
    assert main(["estimate", str(file), "--json"]) == 0
    said = json.loads(capsys.readouterr().out)["limitation"]
    assert said["cause"] == "application"
    assert set(said) == {"cause", "evidence", "ask_instead"}
    assert main(["estimate", str(file)]) == 0
    assert "application: " in capsys.readouterr().out


def test_a_flow_that_its_application_limits_gives_no_verdict(tmp_path, capsys):
    """20 packets/s, where losses of 1% leave room for a hundred: what was measured, the cause, exit status 1."""
    file = capture(tmp_path, simulate(0.01, app_gap=0.05, seed=2))
    assert main(["delay", "--capture", str(file), "--rate", "20pps", "--live", "--json"]) == 1
    answer = json.loads(capsys.readouterr().out)
    assert answer["verdict"] is None
    assert "required_startup_delay_s" not in answer
    assert answer["throughput_pps"] > 2 * answer["capture"]["intervals"]["throughput_pps"][1]
    assert f"Likeliest cause, application: {answer['capture']['limitation']['evidence']} Instead: " in answer["reason"]
