"""Settings for all tests."""

import gc
import signal
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, settings

settings.register_profile(
    "tcpstream",
    deadline=None,
    derandomize=True,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=[HealthCheck.too_slow],
    print_blob=True,
)
settings.load_profile("tcpstream")

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as in the background, and then so in all that tests start
    signal.signal(signal.SIGINT, signal.default_int_handler)

LONGEST = (
    "notebooks", "cli_play", "store", "live", "coarse_stored", "coarse_alpha", "long_videos", "buffered_play",
    "engines", "pausing_play", "varying_players", "scores", "cluster", "drawn_sessions", "reno_sack", "cubic",
    "bottleneck", "constancy", "sweep", "targets", "varying_path", "notebook_browser", "cli_simulate", "estimate",
    "figure",
)  # fmt: skip
"""Modules that take longest, in the order of their time, begun first: else one worker has them at the end, and the
other nothing."""

BEFORE_A_RELEASE = Path(__file__).with_name("before_a_release.txt").read_text("utf-8").splitlines()
"""Cases that take seconds and are much like quicker ones of the same test: these are run with those that take long."""

MANY = 5000
"""Tests: a part of them does not have all of these."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Mark what is run before a release, and order the modules; the tests of each stay in order."""
    later = set(BEFORE_A_RELEASE)
    for item in items:
        if f"{item.path.stem}::{item.name}" in later:
            later.remove(f"{item.path.stem}::{item.name}")
            item.add_marker("long")
    if later and len(items) > MANY:
        raise pytest.UsageError(
            f"tests/before_a_release.txt names cases that are not there: {', '.join(sorted(later))}"
        )
    rank = {name: i for i, name in enumerate(LONGEST)}
    items.sort(key=lambda item: rank.get(item.path.stem.removeprefix("test_"), len(rank)))


def pytest_collection_finish():
    """Do not look for garbage among modules and tests, which all stay."""
    gc.freeze()
