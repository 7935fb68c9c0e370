"""Settings for all tests."""

import gc
import signal

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


def pytest_collection_modifyitems(items):
    """Order the modules; the tests of each stay in order."""
    rank = {name: i for i, name in enumerate(LONGEST)}
    items.sort(key=lambda item: rank.get(item.path.stem.removeprefix("test_"), len(rank)))


def pytest_collection_finish():
    """Do not look for garbage among modules and tests, which all stay."""
    gc.freeze()
