"""The claims of Section 6 under the readings that the paper leaves open: ``python validation/readings.py``.

Judges every claim with the library's defaults and with one thing changed at a time, writes ``results/readings.json``
and prints the table of ``docs/figures-of-the-paper.md``. Takes some five minutes on two cores.
"""

import dataclasses
import json
from pathlib import Path
from typing import Any

from tcpstream.paper.claims import claims

READINGS: dict[str, dict[str, Any]] = {
    "default": {},
    "ceil": {"halving": "ceil"},
    "paper's back-off": {"backoff": "paper"},
    "b = 2": {"rounds_per_increase": 2},
    "W_max = 24": {"max_window": 24},
}


def main() -> None:
    """Judge, record and print."""
    found = {name: list(claims(**tcp)) for name, tcp in READINGS.items()}
    record = {name: [dataclasses.asdict(one) for one in judged] for name, judged in found.items()}
    file = Path(__file__).parent / "results" / "readings.json"
    file.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    print(f"| claim | {' | '.join(READINGS)} |\n|---|{'---|' * len(READINGS)}")
    for each in zip(*found.values()):
        print(f"| {each[0].key} | {' | '.join('holds' if one.holds else f'**no**: {one.found}' for one in each)} |")


if __name__ == "__main__":
    main()
