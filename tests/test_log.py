"""Logs of records: nothing is lost but a last line that was cut off."""

import json

import pytest

from tcpstream.system.log import appending, read, whole_lines

ONE, OTHER = {"run": 1, "name": "ü"}, {"run": 2, "late": [0.1, 0.0]}


@pytest.fixture
def file(tmp_path):
    file = tmp_path / "runs.jsonl"
    with appending(file) as append:
        append(ONE)
        append(OTHER)
    return file


def test_what_was_appended_is_read(file):
    assert read(file) == [ONE, OTHER]
    assert read(file.with_name("none")) == []


def test_a_record_is_there_at_once(file):
    with appending(file) as append:
        append(3)
        assert read(file) == [ONE, OTHER, 3]


def test_wherever_it_is_cut_off(file):
    """Reading changes nothing; what is appended then is a line of its own."""
    whole = file.read_bytes()
    begins = len(json.dumps(ONE)) + 1
    for size in range(len(whole)):
        file.write_bytes(whole[:size])
        there = [ONE] * (size >= begins - 1) + [OTHER] * (size == len(whole) - 1)
        assert read(file) == there
        assert file.stat().st_size == size
        with appending(file) as append:
            append(4)
        assert read(file) == [*there, 4]
        assert all(map(json.loads, whole_lines(file)))
