"""Times and rates as text."""

import math

import pytest

from tcpstream.cli import units
from tcpstream.errors import InputError


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        *(("0.11", 0.11), ("110ms", 0.11), ("0.11s", 0.11), ("2min", 120), ("1h", 3600), ("1.5H", 5400)),
        *((" 110 MS ", 0.11), (".5", 0.5), ("5.", 5), ("1e-3s", 1e-3), ("+2", 2), ("-3s", -3), ("1e400", math.inf)),
    ],
)
def test_times(text, seconds):
    assert units.seconds(text) == pytest.approx(seconds, rel=1e-15)


def test_lists_keep_order_and_duplicates():
    assert units.times("2, 500ms,2,1min") == [2, 0.5, 2, 60]


@pytest.mark.parametrize(
    ("text", "rate"),
    [
        *(("25pps", ("packet_rate", 25)), ("25 PPS", ("packet_rate", 25)), ("800bps", ("bitrate", 800))),
        *(("600kbps", ("bitrate", 600e3)), ("1.2Mbps", ("bitrate", 1.2e6)), ("5Gbps", ("bitrate", 5e9))),
        *(("1.2mbps", ("bitrate", 1.2e6)), ("1e3kbps", ("bitrate", 1e6)), ("3Mbit/s", ("bitrate", 3e6))),
        *(("3 Mbit", ("bitrate", 3e6)), ("3 Mbit/s", ("bitrate", 3e6)), ("3Mb/s", ("bitrate", 3e6))),
        *(("3MBps", ("bitrate", 24e6)), ("3MB/s", ("bitrate", 24e6)), ("3kB/s", ("bitrate", 24e3))),
        *(("3B/s", ("bitrate", 24)), ("3KBps", ("bitrate", 24e3)), ("2GB/s", ("bitrate", 16e9))),
        *(("3b/s", ("bitrate", 3)), ("3 bit/s", ("bitrate", 3)), ("91.13 packets/s", ("packet_rate", 91.13))),
    ],
)
def test_rates(text, rate):
    assert units.rate(text) == rate


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        *(("3MBPS", "is ambiguous"), ("3MB", "is ambiguous"), ("3Mb", "is ambiguous"), ("3B/S", "is ambiguous")),
        *(("nan", "is no rate above 0"), ("0", "is no rate above 0"), ("inf", "is no rate above 0")),
        *(("3", "has no unit"), ("3M", "is not a rate"), ("3MiB/s", "is not a rate"), ("3%", "is not a rate")),
    ],
)
def test_ambiguous_rates_are_refused_in_a_line_with_what_is_accepted(text, wrong):
    with pytest.raises(InputError) as caught:
        units.rate(text)
    accepted = "pps (packets/s), bps, kbps, Mbps or Gbps (bits), or kB/s, MB/s or GB/s (bytes), as 25pps"
    assert str(caught.value) == f"{text!r} {wrong}: give a number with {accepted}"


@pytest.mark.parametrize(("text", "value"), [("2%", 0.02), ("0.02", 0.02), (" 99.9 % ", 0.999), ("1e-4", 1e-4)])
def test_probabilities(text, value):
    assert units.probability(text) == value


@pytest.mark.parametrize("text", ["2%%", "%", "2 percent", "2ms", "2/100"])
def test_what_is_no_probability(text):
    with pytest.raises(InputError, match=r"is not a probability: give a number, as 0\.02 or 2%"):
        units.probability(text)


def test_more_than_a_hundred_percent():
    with pytest.raises(InputError, match="'101%' is more than 100%"):
        units.probability("101%")


def test_a_rate_with_the_ends_of_its_interval():
    assert units.measured("3Mbps") == [("bitrate", 3e6)]
    assert units.measured("250pps, 220pps,280pps") == [("packet_rate", rate) for rate in (250, 220, 280)]
    for text in ("250pps,220pps", "250pps,2Mbps,3Mbps", "250pps,260pps,280pps", "250pps,,1pps"):
        with pytest.raises(InputError):
            units.measured(text)


@pytest.mark.parametrize("text", ["", "ms", "1 000", "1_000", "0x10", "1ms2", "1m", "1 day", "--", "1e", "١"])
@pytest.mark.parametrize("parse", [units.seconds, units.number, units.rate, units.times])
def test_what_is_no_number_with_its_unit(parse, text):
    with pytest.raises(InputError):
        parse(text)
