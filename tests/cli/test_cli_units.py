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
        *(("1.2mbps", ("bitrate", 1.2e6)), ("1e3kbps", ("bitrate", 1e6))),
    ],
)
def test_rates(text, rate):
    assert units.rate(text) == rate


@pytest.mark.parametrize("text", ["", "ms", "1 000", "1_000", "0x10", "1ms2", "1m", "1 day", "--", "1e", "١"])
@pytest.mark.parametrize("parse", [units.seconds, units.number, units.rate, units.times])
def test_what_is_no_number_with_its_unit(parse, text):
    with pytest.raises(InputError):
        parse(text)
