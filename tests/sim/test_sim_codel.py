"""CoDel against RFC 8289's law, and policers."""

import math

import numpy as np
import pytest

from one_by_one import cross
from tcpstream.errors import InputError
from tcpstream.sim import (
    CoDel,
    Flow,
    Link,
    Run,
    Scenario,
    Steady,
    Tcp,
    TokenBucket,
    read_experiment,
    simulate,
    single_path,
)

SECOND = 12e3
"""A rate of one packet of 1500 bytes a second [bit/s]."""


def crowd(load, rate, seconds, codel):
    """Return the traffic of a steady source that sends `load` times what a link lets pass."""
    link = Link(0.0, rate * SECOND, queue=10**5, codel=codel)
    flow = Flow(("there",), tcp=None, source=Steady(load * rate, seconds - 0.5 / (load * rate)), measured=True)
    run = simulate(Scenario({"there": link}, (flow,)), 10 * seconds, np.random.default_rng(1))
    return run.traffic[0]


def twin(load, rate, seconds, target, interval):
    """CoDel's pseudocode over lists: which packets of a steady source leave, and when the others are dropped."""
    came = [k / (load * rate) for k in range(round(seconds * load * rate))]
    now, head, above, dropping, count, last, at = 0.0, 0, None, False, 0, 0, 0.0
    left, drops = [], []

    def take(now):
        nonlocal head, above
        if head == len(came) or came[head] > now:
            above = None
            return None, False
        number, head = head, head + 1
        behind = sum(1 for k in range(head, min(head + 2, len(came))) if came[k] <= now)
        if now - came[number] < target or behind <= 1:
            above = None
            return number, False
        if above is None:
            above = now + interval
            return number, False
        return number, now >= above

    while head < len(came):
        now = max(now, came[head])
        number, ok = take(now)
        if dropping:
            dropping = ok
            while dropping and now >= at:
                drops.append(now)
                count += 1
                number, dropping = take(now)
                at += interval / math.sqrt(count) if dropping else 0
        elif ok:
            drops.append(now)
            number, _ = take(now)
            dropping = True
            count = count - last if count - last > 1 and now - at < 16 * interval else 1
            last, at = count, now + interval / math.sqrt(count)
        if number is not None:
            now += 1 / rate
            left.append((number, now))
    return left, drops


@pytest.mark.parametrize(("load", "rate"), [(1.25, 64.0), (1.5, 128.0), (3.0, 256.0)])
def test_same_packets_as_the_pseudocode(load, rate):
    seen = crowd(load, rate, 8.0, CoDel(0.0625, 0.5))
    left, drops = twin(load, rate, 8.0, 0.0625, 0.5)
    assert seen.there.dropped == len(drops) > 10
    assert list(seen.arrivals.number) == [number for number, _ in left]
    assert list(seen.arrivals.time) == pytest.approx([time for _, time in left])


def test_drops_come_at_the_square_root_law():
    # The n-th drop follows the one before it after interval / sqrt(n - 1): each at the next packet that leaves.
    interval, rate = 0.5, 1000.0
    drops = np.array(twin(1.05, rate, 12.0, 0.01, interval)[1])
    law = drops[0] + np.cumsum([interval / math.sqrt(n) for n in range(1, len(drops))])
    assert len(drops) > 20
    assert (drops[1:] >= law - 1e-9).all()
    assert (drops[1:] - law < 2 / rate).all()
    assert crowd(1.05, rate, 12.0, CoDel(0.01, interval)).there.dropped == len(drops)


def test_short_waits_and_single_packets_are_left_alone():
    link = Link(0.0, SECOND, queue=10, codel=CoDel(0.005, 0.1))
    assert cross(link, [(0.0, 1500), (0.25, 1500), (3.0, 1500)]) == [1.0, 2.0, 4.0]
    steady = crowd(1.0, 64.0, 4.0, CoDel())
    assert (steady.there.dropped, steady.there.received) == (0, 256)


def test_what_does_not_fit_is_dropped():
    found = cross(
        Link(0.0, SECOND, queue=2, codel=CoDel(10.0, 100.0)), [(0.0, 1500), (0.25, 1500), (0.5, 1500), (1.5, 1500)]
    )
    assert found == [1.0, 2.0, None, 3.0]
    found = cross(Link(0.5, SECOND, queue_bytes=3000, codel=CoDel(10.0, 100.0)), [(0.0, 1500), (0.25, 1500), (0.5, 40)])
    assert found == [1.5, 2.5, None]


@pytest.mark.parametrize(("codel", "low", "high"), [(CoDel(), 0.0, 0.02), (None, 0.2, 0.5)])
def test_a_standing_queue_is_kept_near_the_target(codel, low, high):
    # SACK over 4 Mbit/s, R = 53 ms: a queue of 100 packets is up to 0.3 s. By CoDel it is a few times 5 ms, and the
    # link stands for a part of each recovery, since half of the 22 packets or so that are out fills no pipe of 18.
    there = Link(0.025, 4e6, queue=100, codel=codel)
    tcp = Tcp("sack", max_window=200, timer="rfc6298", granularity=0.2)
    seen = simulate(single_path(there, Link(0.025), tcp), 60.0, np.random.default_rng(1)).flows[0]
    assert low < seen.rtt - 0.053 < high
    assert 0.8 < seen.throughput / (4e6 / 12e3) <= 1


def test_policer():
    # two tokens for a packet at first, one more packet a second: the third finds a quarter, the fourth one
    link = Link(0.5, bucket=TokenBucket(SECOND, 3000, polices=True))
    assert cross(link, [(0.0, 1500), (0.0, 1500), (0.25, 1500), (1.0, 1500), (1.5, 1500)]) == [
        0.5,
        0.5,
        None,
        1.5,
        None,
    ]


def test_saved_and_wrong_links(tmp_path):
    path = single_path(
        Link(0.1, 1e6, queue=9, codel=CoDel(0.01)), Link(0.1, bucket=TokenBucket(1e6, 3000, polices=True))
    )
    simulate(path, 1.0, np.random.default_rng(1)).save(tmp_path / "run.npz")
    assert Run.load(tmp_path / "run.npz").scenario == path
    with pytest.raises(InputError, match="queue with a limit"):
        Link(0.1, codel=CoDel())
    with pytest.raises(InputError, match="target of CoDel"):
        CoDel(0.0)
    with pytest.raises(InputError, match="must be a CoDel"):
        Link(0.1, queue=9, codel=True)


def test_files_say_it_too(tmp_path):
    (tmp_path / "cell.toml").write_text("""
seconds = 10
links.there = { delay = 0.02, rate = 8e6, queue = 1000, codel = { target = 0.01 } }
links.back = { delay = 0.02, bucket = { rate = 1e6, depth = 3000, polices = true } }
[[flows]]
there = ["there"]
back = ["back"]
tcp = { variant = "rack", congestion = "cubic", hystart = true, prr = true, growth = "limited" }
""")
    scenario = read_experiment(tmp_path / "cell.toml").make(np.random.default_rng(1))
    assert scenario.links["there"].codel == CoDel(0.01, 0.1)
    assert scenario.links["back"].bucket == TokenBucket(1e6, 3000, polices=True)
    assert scenario.flows[0].tcp == Tcp("rack", congestion="cubic", hystart=True, prr=True, growth="limited")
