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
