"""``tcpstream transfer``: its JSON is the library's answer."""

from __future__ import annotations

import pytest

import tcpstream
from tcpstream import InputError
from tcpstream.cli import sizes

PATH = "--loss 0.04 --rtt 100ms --rto 400ms --sender classic"


def test_the_answer_is_the_librarys(run):
    done = run(f"transfer {PATH} --size 100kB --setup-round-trips 2 --json")
    assert (done.status, done.err) == (0, "")
    path = tcpstream.Path(loss=0.04, rtt=0.1, rto=0.4, sender="classic")
    result = tcpstream.transfer_time(path, bytes=1e5, setup_round_trips=2)
    assert done.answer["transfer_time_s"]["mean"] == result.mean
    assert done.answer["transfer_time_s"]["p99"] == result.quantile(0.99)
    assert done.answer["parameters"]["packets"] == 70


def test_a_table_for_people(run):
    out = run(f"transfer {PATH} --size 70packets --start stationary").out
    assert out.splitlines()[0].split() == ["packets", "70"]
    assert "99%" in out


def test_a_capture_gives_intervals(run, capture):
    done = run(f"transfer --capture {capture} --size 200kB --sender classic --json").answer
    low, high = done["transfer_time_interval_s"]["mean"]
    assert low <= done["transfer_time_s"]["mean"] <= high


@pytest.mark.parametrize(
    ("text", "found"),
    [
        *(("2B", ("bytes", 2)), ("2.5MB", ("bytes", 2.5e6)), ("300KB", ("bytes", 3e5)), ("1TB", ("bytes", 1e12))),
        *(("1MiB", ("bytes", 2**20)), ("2 KiB", ("bytes", 2048)), ("2kbytes", ("bytes", 2e3))),
        *(("300kbit", ("bytes", 37500)), ("8 bits", ("bytes", 1)), ("1Mibit", ("bytes", 2**17))),
        *(("100pkts", ("packets", 100)), ("1 packet", ("packets", 1)), ("7Packets", ("packets", 7))),
    ],
)
def test_sizes(text, found):
    assert sizes.size(text) == found


@pytest.mark.parametrize(
    ("text", "wrong"),
    [("300kb", "is ambiguous"), ("3Mib", "is ambiguous"), ("5", "has no unit"), ("1iB", "is not a size"),
     ("1XB", "is not a size"), ("much", "is not a size")],
)  # fmt: skip
def test_what_is_wrong_with_a_size(text, wrong):
    with pytest.raises(InputError, match=f"{text!r} {wrong}: give a number with B, kB, MB, GB or TB"):
        sizes.size(text)


@pytest.mark.parametrize("size", ["2Mb", "much", "0B", "-3MB", "1.5packets", "1e99GB"])
def test_sizes_that_are_none(run, size):
    done = run(f"transfer {PATH} --size {size}")
    assert done.status == 2
    assert done.out == ""
    assert len(done.err.splitlines()) == 1


def test_a_window_and_an_idle_time(run):
    linux = "--loss 0.02 --rtt 100ms --sender linux --tcp reno-sack"
    done = run(f"transfer {linux} --size 20packets --start 12 --idle 2s --json")
    path = tcpstream.Path(loss=0.02, rtt=0.1, sender="linux", tcp="reno-sack")
    found = tcpstream.transfer_time(path, packets=20, start=12, idle=2)
    assert done.answer["transfer_time_s"]["mean"] == found.mean
    assert (done.answer["parameters"]["start"], done.answer["parameters"]["idle_s"]) == (12, 2)
    refused = run("transfer --loss 0.02 --rtt 100ms --sender classic --size 20packets --start warm")
    assert (refused.status, refused.out) == (2, "")
