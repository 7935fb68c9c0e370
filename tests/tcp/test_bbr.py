"""BBR's throughput: its formula by hand, beside the simulator, and what is refused."""

import numpy as np
import pytest

import tcpstream
from tcpstream import InputError, Path, Player, Video, sim
from tcpstream.tcp import chain_of
from tcpstream.tcp.bbr_throughput import held_back, pause_probability, sent_in_a_round, throughput

RATE, R = 8e6, 0.05
PACKETS = RATE / 12e3
"""Rate of the link [packets/s]."""


def path(loss=1e-6, buffer=33, rtt=R, rate=PACKETS):
    return Path(loss=loss, rtt=rtt, tcp="bbr", sender="linux", bottleneck=rate, buffer=buffer)


def test_ten_seconds_and_a_pause():
    """200 rounds of 50 ms with C R packets; then 200 ms and a round with four: 5 rounds."""
    assert pause_probability(path()) == pytest.approx(1, abs=1e-3)
    assert throughput(path()) == pytest.approx((200 * PACKETS * R + 5 * 4) / 205 / R, rel=1e-4)
    assert tcpstream.throughput(path()) == throughput(path())


def test_an_empty_buffer_leaves_no_queue_to_drain():
    """Two packets of the buffer are lost in each cycle, and as many were left in the queue."""
    assert pause_probability(path(buffer=2)) == 0
    assert throughput(path(buffer=2)) == pytest.approx(PACKETS, rel=1e-6)
    with pytest.raises(InputError, match="tcp = bbr sends bursts of 2 packets: buffer must be at least as many, got 1"):
        throughput(path(buffer=1))


def test_packets_held_back():
    """Linux: a millisecond's worth in a burst, two packets at least from 1.2 Mbit/s on; three bursts, and one more."""
    assert [held_back(path(rate=rate, buffer=9)) for rate in (99.0, PACKETS, 8192.0)] == [4, 7, 25]


def test_losses_empty_the_queue():
    """What the second phase of a cycle leaves, drained by a hundredth of the rate and by losses, drawn."""
    rng, one = np.random.default_rng(5), path(loss=0.01)
    pipe, left = one.pipe, held_back(one)
    cycles = 10 / (8 * R * (1 + left / pipe))
    drained = 6 * 0.01 * pipe + rng.poisson(7 * pipe * one.loss, 1_000_000)
    kept = (drained < left).mean()
    error = 4 * np.sqrt((1 - kept) / (kept * 1_000_000))
    assert pause_probability(one) == pytest.approx(kept**cycles, rel=cycles * error)
    assert pause_probability(path(loss=0.05)) < 0.01


@pytest.mark.parametrize(("loss", "buffer", "rtt"), [(1e-6, 33, 0.05), (0.02, 9, 0.05), (0.002, 53, 0.02)])
def test_beside_the_simulator(loss, buffer, rtt):
    tcp = sim.Tcp("rack", 1000, 10, congestion="bbr", timer="rfc6298", granularity=0.2)
    there = sim.Link(rtt / 2, RATE, queue=buffer, loss=sim.Bernoulli(loss) if loss > 1e-5 else None)
    seen = sim.simulate(sim.single_path(there, sim.Link(rtt / 2), tcp), 240.0, np.random.default_rng(8)).flows[0]
    assert throughput(path(loss, buffer, rtt + 1 / PACKETS)) == pytest.approx(seen.throughput, rel=0.02)


def test_no_more_than_the_link_carries():
    for p in (1e-6, 1e-3, 0.03, 0.1):
        one = path(loss=p)
        assert 0.95 * one.pipe < sent_in_a_round(one) <= one.pipe / (1 - p)
        assert throughput(one) <= PACKETS * (1 + 1e-12)


def test_no_chain():
    video = Video(packet_rate=400, duration=60)
    for ask in (
        lambda: chain_of(path()),
        lambda: tcpstream.stored(path(), video),
        lambda: tcpstream.live(path(), Video(packet_rate=400)),
        lambda: tcpstream.play(path(), video, Player()),
        lambda: tcpstream.transfer_time(path(), bytes=1e6),
        lambda: tcpstream.largest_rate(path(), delay=1.0, duration=60),
    ):
        with pytest.raises(InputError, match=r"tcp = bbr has a throughput and no chain: .* simulate follows"):
            ask()


def test_refused():
    with pytest.raises(InputError, match=r"tcp = bbr is solved for loss rates up to 0\.1, got 0\.2"):
        path(loss=0.2)
    with pytest.raises(
        InputError,
        match="is solved behind a bottleneck, for its throughput only: give bottleneck",
    ):
        Path(loss=0.01, rtt=R, tcp="bbr", sender="linux")
