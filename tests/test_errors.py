"""Messages never hold what a terminal obeys."""

from __future__ import annotations

import pickle

import pytest

from tcpstream.errors import CaptureError, InputError, NoFiniteDelayError, printable
from tcpstream.traces import estimate, estimate_report

ESCAPE = "\x1b]0;owned\x07"


def test_what_is_printable_stays():
    text = "the capture été.pcap: 3 µs, 'a b' ─ \\x1b"
    assert printable(text) == printable(printable(text)) == text
    assert printable("a\x1b[2Jb\nc\x9bd\x7f\udcff\u202e") == r"a\x1b[2Jb\nc\x9bd\x7f\udcff\u202e"


@pytest.mark.parametrize("read", [estimate, estimate_report])
def test_the_name_of_a_file_gives_no_orders(tmp_path, read):
    with pytest.raises(CaptureError, match=r"\\x1b\]0;owned\\x07") as caught:
        read(tmp_path / f"{ESCAPE}.pcap")
    assert str(caught.value).isprintable()


def test_errors_still_cross_process_borders():
    for error in (InputError(f"rate {ESCAPE}"), NoFiniteDelayError(1.0, 2.0)):
        copy = pickle.loads(pickle.dumps(error))
        assert (type(copy), str(copy)) == (type(error), str(error))
