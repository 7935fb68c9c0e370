"""Mangled reports end in answers or in one line: a seeded fuzz of what reads ``ss -tin`` and ``iperf3 -J``.

Run ``python validation/fuzz_reports.py`` (500 mutations of the reports in examples/, some seconds; ``--count N`` for
others). Numbers become negative, huge, infinite, NaN, strings, lists or nothing; keys vanish, and values change places;
text is cut, repeated and overwritten. Each must end in a sound estimate or in a `TcpstreamError` of one printable
line, and no warning of NumPy.
"""

from __future__ import annotations

import argparse
import collections
import json
import random
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path as FilePath
from typing import Any

from tcpstream.errors import TcpstreamError
from tcpstream.traces import SenderReport, estimate_report

ROOT = FilePath(__file__).parents[1]
SS, IPERF3 = (ROOT / "examples" / name for name in ("linux-reno-ss.txt", "linux-reno-iperf3.json"))
ABSURD: tuple[Any, ...] = (
    *(0, -1, 1, 1e-300, 1e300, 2**63, 2**64, -(2**70), 10**400, float("inf"), float("nan"), 0.1, 1e18),
    *("12", "", "\x1b[31mred\x07", "nan", None, True, [], [1], {}, {"bytes": 1}, "é" * 50),
)
NUMBERS = ("-5", "nan", "inf", "1e400", "9" * 400, "0", "1.5.2", "/", "0/0", "1/2/3", "0x10", "\x1b[2J", "١٢", "5e-324")


def places(data: Any) -> Iterator[tuple[Any, Any]]:
    """Yield every list or dict within with each of its indices or keys."""
    if isinstance(data, (dict, list)):
        for key in list(data) if isinstance(data, dict) else range(len(data)):
            yield data, key
            yield from places(data[key])


def mangled_json(rng: random.Random) -> str:
    """Return the output of iperf3 with some of its values changed, in all intervals or in one place."""
    data = json.loads(IPERF3.read_text())
    del data["intervals"][rng.randrange(1, 6) :]
    for _ in range(rng.choice((1, 1, 2, 5))):
        found = list(places(data))
        if not found:
            break
        inner, key = rng.choice(found)
        value, gone = rng.choice(ABSURD), rng.random() < 0.15
        alike = rng.random() < 0.5 and isinstance(inner, dict)
        for other, name in found if alike else [(inner, key)]:
            if name != key or not isinstance(other, type(inner)):
                continue
            if gone and isinstance(other, dict):
                other.pop(name, None)
            else:
                other[name] = value
    return json.dumps(data)


def mangled_text(rng: random.Random) -> str:
    """Return the output of ss with some of its words changed."""
    lines = SS.read_text().splitlines()[: rng.randrange(4, 40)]
    for _ in range(rng.choice((1, 3, 20))):
        at = rng.randrange(len(lines))
        words = lines[at].split(" ")
        place = rng.randrange(len(words))
        key, colon, _ = words[place].partition(":")
        words[place] = rng.choice((key + colon + rng.choice(NUMBERS), "", rng.choice(NUMBERS), words[place] * 2))
        lines[at] = " ".join(words)
    return "\n".join(lines)


def sound(found: SenderReport) -> None:
    """Assert that a report is one."""
    values = found.to_dict()
    json.dumps(values, allow_nan=False)
    for key, (low, high) in values["intervals"].items():
        assert 0 <= low <= values[key] <= high, key
    assert values["loss"] <= 1
    assert 0 < values["rtt_s"] <= values["rto_s"]


def fuzz(first: int, count: int, folder: FilePath) -> dict[str, int]:
    """Try mutations `first` to ``first + count - 1``; return how many ended in an answer and in an error."""
    ends = collections.Counter[str]()
    file = folder / "report"
    for number in range(first, first + count):
        rng = random.Random(number)
        file.write_text((mangled_json if rng.random() < 0.6 else mangled_text)(rng), encoding="utf-8")
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                sound(estimate_report(file))
            ends["answers"] += 1
        except TcpstreamError as error:
            if not str(error).isprintable():
                raise
            ends["errors"] += 1
        except BaseException as error:
            error.add_note(f"mutation {number}")
            raise
    return dict(ends)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=500)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        print(json.dumps(fuzz(given.first, given.count, FilePath(folder))))


if __name__ == "__main__":
    main()
