"""Rates and round trip times for a wanted T/mu, against the forward question."""

import pytest

from tcpstream import InputError, Path, throughput
from tcpstream.explore.load import rate_for, rtt_for

CHOSEN = dict(sender="classic", max_window=20, rounds_per_increase=2, backoff="paper", halving="ceil")


@pytest.mark.parametrize("ratio", [0.8, 1.0, 1.6, 2.4])
def test_a_rate_has_the_ratio(ratio):
    path = Path(loss=0.02, rtt=0.1, rto=0.33, **CHOSEN)
    assert throughput(path) / rate_for(path, ratio) == pytest.approx(ratio, rel=1e-12)


@pytest.mark.parametrize("ratio", [0.8, 1.0, 1.6, 2.4])
@pytest.mark.parametrize("chosen", [{}, CHOSEN])
def test_a_round_trip_time_has_the_ratio(ratio, chosen):
    rtt = rtt_for(loss=0.02, timeout_ratio=3.3, packet_rate=25, T_over_mu=ratio, **({"sender": "classic"} | chosen))
    path = Path(loss=0.02, rtt=rtt, timeout_ratio=3.3, **({"sender": "classic"} | chosen))
    assert throughput(path) / 25 == pytest.approx(ratio, rel=1e-12)


def test_the_paper_calls_300_ms_at_low_loss_about_twice_25_packets_a_second():
    """Section 4.1, Table II and III, setting 1: R = 285 ms has T/mu = 1.99 for 25 packets/s; ours within a fifth."""
    rtt = rtt_for(sender="classic", loss=0.004, timeout_ratio=3, packet_rate=25, T_over_mu=1.99)
    assert rtt == pytest.approx(0.285, rel=0.2)


@pytest.mark.parametrize("ratio", [0, -1, float("nan"), float("inf"), "two"])
def test_bad_ratio(ratio):
    with pytest.raises(InputError, match="T/mu must be"):
        rate_for(Path(sender="classic", loss=0.02, rtt=0.1, rto=0.3), ratio)
    with pytest.raises(InputError, match="T/mu must be"):
        rtt_for(sender="classic", loss=0.02, timeout_ratio=3, packet_rate=25, T_over_mu=ratio)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (dict(packet_rate=0), "playback rate must be greater than 0 packets/s"),
        (dict(loss=1), "loss rate must lie between 1e-09 and 0.999"),
        (dict(timeout_ratio=0.5), "timeout ratio T_O = rto/rtt must be at least 1"),
        (dict(backoff="linear"), "back-off must be one of"),
    ],
)
def test_bad_input(given, message):
    with pytest.raises(InputError, match=message):
        rtt_for(**(dict(sender="classic", loss=0.02, timeout_ratio=3, packet_rate=25, T_over_mu=2) | given))
