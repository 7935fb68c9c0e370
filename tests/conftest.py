"""Settings for all tests."""

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

LONGEST = ("notebooks", "claims", "notebook_browser", "live_model", "cubic", "cli_capture", "figures", "differential")
"""Modules that take longest, begun first: else one worker has them at the end, and the other nothing."""


def pytest_collection_modifyitems(items):
    """Order the modules; the tests of each stay in order."""
    items.sort(key=lambda item: item.path.stem.removeprefix("test_") not in LONGEST)
