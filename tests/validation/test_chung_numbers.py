"""Numbers of the page of Chung et al. besides rows and tables."""

from __future__ import annotations

from pathlib import Path as FilePath

from chung import as_assumed, numbers
from tcpstream.testbeds.chung_table import FAIR
from tcpstream.testbeds.measured import Seen


def test_the_page_has_what_the_command_prints() -> None:
    page = (FilePath(__file__).parents[2] / "docs" / "chung.md").read_text(encoding="utf-8")
    assert numbers(as_assumed()) in page


def test_numbers_by_hand() -> None:
    """Two clips at each rate; 8e-3 1500 sqrt(1.5) / (R sqrt p) kbit/s at p = .1 and R = .5 s are 92.95."""
    clips = [
        {"rtt": 0.5, "p": 0.0, "udp": 90.0, "tcp": 80.0, "most": 34.0, "chain": None},
        {"rtt": 0.5, "p": 0.1, "udp": 90.0, "tcp": 88.0, "most": 225.0, "chain": 20.0},
    ]
    told = numbers(Seen({"condition": rate, "figures": clip} for rate in (*FAIR, "600") for clip in clips))
    first, quiet, least, more, changed = told.splitlines()
    assert first.endswith("0.50 s")
    assert quiet.endswith("75: 50%, 150: 50%, 300: 50%, 600: 50%")
    shares = {rate: 0.1 * (92.95160031 / fair) ** 2 for rate, fair in FAIR.items()}
    assert least.endswith(", ".join(f"{rate}: {share:.0%}" for rate, share in shares.items()))
    assert more.endswith("50% of the clips")
    assert changed.endswith("chain: 3 of 6")
