"""What is not accepted: every message names the value and what would be."""

import re
from dataclasses import replace

import numpy as np
import pytest

from tcpstream.errors import InputError
from tcpstream.sim import (
    Application,
    Bernoulli,
    Change,
    Clip,
    Dumbbell,
    Flow,
    GilbertElliott,
    Link,
    LossTrace,
    Ping,
    Requests,
    RoundLoss,
    Scenario,
    Steady,
    Tcp,
    TokenBucket,
    read_capacity,
    read_losses,
    read_requests,
    simulate,
    single_path,
    web_requests,
)

PATH = single_path(Link(0.1), Link(0.1))
RNG = np.random.default_rng(1)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Link(-0.1), "delay of a link must be at least 0 s, got -0.1 s"),
        (lambda: Link("1"), "delay of a link must be a number in s, got '1'"),
        (lambda: Link(0.1, 0), "rate of a link must be greater than 0 bit/s, got 0 bit/s"),
        (lambda: Link(0.1, -np.inf), "rate of a link must be finite, got -inf bit/s"),
        (lambda: Link(0.1, queue=0), "queue must be a whole number of at least 1 packets, got 0 packets"),
        (lambda: Link(0.1, queue_bytes=1.5), "queue_bytes must be a whole number of at least 1 bytes, got 1.5 bytes"),
        (lambda: Link(0.1, capacity=[]), "a capacity trace is a row of nondecreasing times [s] that ends after 0"),
        (lambda: Link(0.1, capacity=[2, 1]), "a capacity trace is a row of nondecreasing times [s]"),
        (lambda: Link(0.1, capacity=[0, 0]), "that ends after 0"),
        (
            lambda: Link(0.1, changes=(Change(2.0), Change(1.0))),
            "must be in the order of their times, from 0 s on, got 1",
        ),
        (lambda: Link(0.1, changes=(Change(-1.0),)), "from 0 s on, got -1 s"),
        (lambda: Link(0.1, changes=(Change(1.0, rate=0),)), "rate of a link must be greater than 0 bit/s"),
        (lambda: Link(0.1, changes=(Change(1.0, loss=0.1),)), "needs a link with a loss process"),
        (lambda: Link(0.1, loss=Bernoulli(0.1), changes=(Change(1.0, loss=2),)), "must be in 0..1, got 2"),
        (lambda: TokenBucket(0, 3000), "token bucket rate must be greater than 0 bit/s, got 0 bit/s"),
        (lambda: TokenBucket(1e6, 1000), "token bucket depth must be at least 1500 bytes, got 1000 bytes"),
        (lambda: Bernoulli(1.1), "loss probability p must be in 0..1, got 1.1"),
        (lambda: RoundLoss(-0.1), "loss probability p must be in 0..1, got -0.1"),
        (lambda: GilbertElliott(0.1, 2), "Gilbert-Elliott to_good must be in 0..1, got 2"),
        (lambda: LossTrace([]), "a loss trace is a row of at least one 0 (arrived) or 1 (lost)"),
        (lambda: LossTrace([0, 2]), "a loss trace is a row of at least one 0 (arrived) or 1 (lost)"),
        (lambda: Tcp("cubic"), "TCP variant must be one of reno, newreno, sack, "),
        (lambda: Tcp(max_window=0), "max_window must be a whole number of at least 1 packets, got 0 packets"),
        (lambda: Tcp(initial_window=9, max_window=8), "initial_window must be at most max_window = 8 packets, got 9"),
        (lambda: Tcp(initial_rto=0), "initial_rto must be greater than 0 s, got 0 s"),
        (lambda: Tcp(min_rto=-1), "min_rto must be at least 0 s, got -1 s"),
        (lambda: Tcp(granularity=float("nan")), "granularity must be finite, got nan s"),
        (lambda: Steady(0), "packet rate of a source must be greater than 0 packets/s, got 0 packets/s"),
        (lambda: Requests([1.0], [1, 2]), "requests need as many pauses as lengths of answers, one at least"),
        (lambda: Requests([-1.0], [1]), "pauses between requests must be at least 0 s"),
        (lambda: Requests([1.0], [0]), "answers must be whole numbers of at least 1 packet"),
        (lambda: web_requests(RNG, 3, 0.0), "mean pause must be greater than 0 s, got 0 s"),
        (lambda: Flow(()), "a flow needs at least one link"),
        (lambda: Flow(("a",)), "a TCP flow needs at least one link back"),
        (lambda: Flow(("a",), tcp=None), "datagrams need a steady source or an application"),
        (lambda: Flow(("a",), tcp=None, source=Ping()), "an application needs at least one link back"),
        (lambda: Flow(("a",), ("b",), None, Application()), "an application is a frozen dataclass without a field"),
        (lambda: Flow(("a",), ("b",), name=3), "the name of a flow must be text, got 3"),
        (lambda: replace(PATH, bins=0), "width of time bins must be greater than 0 s, got 0 s"),
        (lambda: simulate(replace(PATH, bins=1e-9), 100.0, RNG), "GiB, more than 4 GiB: wider time bins"),
        (
            lambda: Scenario({"a": Link(0.1, loss=RoundLoss(0.1))}, (Flow(("a",), ("a",), None, Ping()),)),
            "link 'a' loses packets by rounds of TCP: an application cannot cross it",
        ),
        (lambda: Tcp(send_buffer=0), "send_buffer must be a whole number of at least 1 packets, got 0 packets"),
        (lambda: Ping(interval=0), "interval of pings must be greater than 0 s, got 0 s"),
        (lambda: Ping(size=20), "size of a ping must be a whole number of at least 28 bytes, got 20 bytes"),
        (lambda: Clip(0, (1e5,)), "duration of a clip must be greater than 0 s, got 0 s"),
        (lambda: Clip(60, ()), "rates of a clip must increase, one at least, got ()"),
        (lambda: Clip(60, (2e5, 1e5)), "rates of a clip must increase, one at least, got (200000.0, 100000.0)"),
        (lambda: Clip(60, 1e5), "rates of a clip must be numbers in bit/s, got 100000.0"),
        (lambda: Clip(60, (1e5,), (2e5,)), "audio of a clip must be 0 bit/s to the rate, for each level"),
        (lambda: Flow(("a",), ("b",), start=-1), "start of a flow must be at least 0 s, got -1 s"),
        (lambda: Scenario({}, ()), "a scenario needs at least one flow"),
        (lambda: Scenario({"b": Link(0.1)}, (Flow(("a",), ("b",)),)), "there is no link 'a'; there are 'b'"),
        (lambda: Dumbbell(1e6, 0.1, 0), "queue must be a whole number of at least 1, got 0"),
        (
            lambda: Dumbbell(1e6, 0.1, 5, transfers=-1),
            "number of transfers must be a whole number of at least 0, got -1",
        ),
        (lambda: Dumbbell(1e6, 0.1, 5, datagrams=-1), "rate of datagrams must be at least 0 bit/s, got -1 bit/s"),
        (lambda: Dumbbell(1e6, 0.1, 5, round_trip=0.1), "at least twice the bottleneck's delay, 0.2 s, got 0.1 s"),
        (lambda: Tcp(initial_rto=1e-300), "initial_rto must be at least 0.001 s, got 1e-300 s"),
        (lambda: Link(0.1, loss=3), "a link has a loss process and a bucket, or None, got 3 and None"),
        (lambda: Flow(("a",), ("b",), tcp=3), "a flow has a source and tcp, or None, got Backlogged() and 3"),
        (lambda: Flow(("a",), ("b",), packet_size="x"), "packet_size must be a number in bytes, got 'x'"),
        (lambda: Scenario({"a": 1}, (Flow(("a",), ("a",)),)), "link 'a' must be a Link, got 1"),
        (lambda: Dumbbell(1e6, [1], 5), "delay of a link must be a number in s, got [1]"),
        (lambda: Dumbbell(1e6, 0.1, 5, transfers=10**9), "at most 10,000 together, got 1,000,000,000"),
        (lambda: Dumbbell(1e6, 0.1, 5, web=2, think=1e-300), "mean pause of 2 web sources is too short, 1e-300 s"),
        (
            lambda: simulate(single_path(Link(0.1), Link(0.1), Tcp(max_window=10**12)), 1.0, RNG),
            "GiB, more than 4 GiB: lower max_window, or queue and queue_bytes",
        ),
        (lambda: simulate(single_path(Link(0.1, 1e6, queue=10**18), Link(0.1)), 1.0, RNG), "GiB, more than 4 GiB"),
        (lambda: simulate(single_path(Link(0), Link(0)), 1.0, RNG), "1 s may take inf packets, more than 1e+10"),
        (lambda: simulate(PATH, 1e300, RNG), "1e+300 s may take 3.2e+302 packets, more than 1e+10"),
        (lambda: simulate(PATH, 0.0, RNG), "duration must be greater than 0 s, got 0 s"),
    ],
)
def test_messages(make, words):
    with pytest.raises(InputError, match=re.escape(words)):
        make()


def test_whole_numbers_may_be_floats():
    path = single_path(Link(0.1, 1e6, queue=5.0), Link(0.1), Tcp(max_window=8.0, initial_window=1.0))
    same = single_path(Link(0.1, 1e6, queue=5), Link(0.1), Tcp(max_window=8, initial_window=1))
    found, wanted = (simulate(one, 5.0, np.random.default_rng(1)).flows[0].times for one in (path, same))
    assert (found == wanted).all()
    assert Dumbbell(1e6, 0.1, 5, transfers=2.0).transfers == 2


@pytest.mark.parametrize(
    ("read", "text", "words"),
    [
        (read_capacity, "1\n2\nx\n", "line 3: a whole number of milliseconds is wanted, got 'x'"),
        (read_capacity, "1\n\n5\n4\n", "line 4: times must not decrease, got 4 ms"),
        (read_capacity, "-1\n", "line 1: times must not decrease, got -1 ms"),
        (read_capacity, "0\n", "a capacity trace needs a time after 0 ms"),
        (read_capacity, "", "a capacity trace needs a time after 0 ms"),
        (read_capacity, "1.5\n", "line 1: a whole number of milliseconds is wanted, got '1.5'"),
        (read_losses, "0\n1\n2\n", "line 3: 0 (arrived) or 1 (lost) is wanted, got '2'"),
        (read_losses, "\n", "a loss trace needs at least one packet"),
        (read_requests, "a,b\n1,2\n", "line 1: the columns think_s,packets are wanted, got 'a,b'"),
        (read_requests, "think_s,packets\n1,2\n1\n", "line 3: a pause [s] and a whole number of packets are wanted"),
        (read_requests, "think_s,packets\n\n1,1.5\n", "line 3: a pause [s] and a whole number"),
        (read_requests, "think_s,packets\n-1,1\n", "line 2: a pause [s]"),
        (read_requests, "think_s,packets\ninf,inf\n", "line 2: a pause [s]"),
        (read_capacity, "9" * 400, "line 1: a time of at most 1000000000000 ms is wanted"),
        (read_requests, "think_s,packets\n1,1e300\n", "line 2: a pause [s]"),
        (read_requests, "think_s,packets\n1," + 200000 * "1", "line 2: field larger than field limit"),
        (read_requests, "think_s,packets\n", "at least one request is needed"),
    ],
)
def test_malformed_traces_name_the_line(tmp_path, read, text, words):
    file = tmp_path / "trace"
    file.write_text(text)
    with pytest.raises(InputError, match=re.escape(words)) as error:
        read(file)
    assert str(file) in str(error.value)


@pytest.mark.parametrize("read", [read_capacity, read_losses, read_requests])
def test_unreadable_traces(tmp_path, read):
    with pytest.raises(InputError, match=r"cannot read .*none: No such file or directory"):
        read(tmp_path / "none")
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="binary is not a text file"):
        read(tmp_path / "binary")


def test_traces_as_they_are_read(tmp_path):
    file = tmp_path / "trace"
    file.write_text("0\n5\n5\n\n12\n")
    assert read_capacity(file).tolist() == [0.0, 0.005, 0.005, 0.012]
    file.write_text("0\n1\n0\n")
    assert read_losses(file).lost.tolist() == [False, True, False]
    file.write_text("think_s,packets\n1.5,3\n0,1\n")
    assert (read_requests(file).think.tolist(), read_requests(file).packets.tolist()) == ([1.5, 0.0], [3, 1])
