"""HyStart behind a bottleneck, by hand from its rules, and beside the simulator's, which sees every acknowledgement."""

import numpy as np
import pytest

from tcpstream import Path, sim
from tcpstream.tcp import chain_of
from tcpstream.tcp.hybrid_slow_start import hystart
from windows import watched


def path(rate, rtt, buffer, **others):
    return Path(loss=1e-4, rtt=rtt, tcp="cubic", sender="linux", bottleneck=rate, buffer=buffer, **others)


def test_a_train_of_acknowledgements_of_half_a_round_trip():
    """1000 packets/s, C R = 50: windows of 10, 20, 40; 26 acknowledgements take half of a round and of 1 ms."""
    assert hystart(path(1000, 0.05, 100)) == 66
    windows = chain_of(path(1000, 0.05, 100)).graph.windows
    assert windows[:4].tolist() == [10, 20, 40, 2]


def test_a_queue_that_grows():
    """400 packets/s, more than 2 ms apart, C R = 40, a rise of 12.5 ms is 5 packets.

    The window of 80 leaves a queue of 40 to that of 160, whose first 8 acknowledgements show it.
    """
    assert hystart(path(400, 0.1, 200)) == 168


def test_small_windows_are_not_looked_at():
    """1000 packets/s, C R = 14: half of it and of 1 ms is over after 7.5 packets of a window of 10, but 16 count."""
    assert hystart(path(1000, 0.014, 60)) == 20 + 8


def test_nothing_ends_slow_start_before_a_short_buffer_is_full():
    """The window of the train, 66, is more than C R + B = 60."""
    assert hystart(path(1000, 0.05, 10)) is None
    assert hystart(Path(loss=0.01, rtt=0.1, sender="linux", tcp="cubic")) is None


@pytest.mark.parametrize(
    ("rate", "rtt"), [(8e6, 0.05), (25e6, 0.05), (8e6, 0.15), (3e6, 0.15), (2e6, 0.1), (8e6, 0.014)]
)
def test_beside_the_simulator(rate, rtt):
    """The threshold that slow start leaves behind there, where every acknowledgement is looked at."""
    packets = rate / 12_000
    buffer = round(4 * packets * rtt)
    tcp = sim.Tcp("rack", 5000, 10, congestion="cubic", hystart=True, prr=True, timer="rfc6298", granularity=0.2)
    scenario = sim.single_path(sim.Link(rtt / 2, rate, queue=buffer), sim.Link(rtt / 2), tcp, sim.Backlogged())
    thresholds = np.array(watched(scenario, np.arange(1, 12) * rtt, "ssthresh"))
    found = thresholds[thresholds < thresholds[0]][0]
    assert hystart(path(packets, rtt + 1 / packets, buffer)) == pytest.approx(found, abs=4)
