"""The package as a whole: typed, versioned, cheap to import."""

import importlib.metadata
import importlib.resources
import subprocess
import sys

import pytest

import tcpstream

ERRORS = [
    *("TcpstreamError", "InputError", "CaptureError", "MissingExtraError"),
    *("AccuracyError", "NoFiniteDelayError"),
]
PUBLIC = ["Path", "Video", "stored", "live", "estimate", "throughput", *ERRORS]
HEAVY = ("numba", "scipy", "matplotlib", "pandas", "rich", "dpkt", "click")


def test_typed():
    assert importlib.resources.files("tcpstream").joinpath("py.typed").is_file()


def test_version():
    assert tcpstream.__version__ == importlib.metadata.version("tcpstream")


@pytest.mark.parametrize("name", PUBLIC)
def test_public_name(name):
    assert name in tcpstream.__all__
    assert name in dir(tcpstream)
    assert getattr(tcpstream, name).__doc__


def test_every_public_name_resolves():
    assert len(set(tcpstream.__all__)) == len(tcpstream.__all__)
    for name in tcpstream.__all__:
        assert getattr(tcpstream, name) is not None


def test_unknown_name():
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = tcpstream.no_such_name


def test_import_is_lazy():
    code = (
        "import sys, tcpstream; tcpstream.Path; tcpstream.Video; "
        f"print(*[name for name in {HEAVY!r} if name in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.split() == []


def test_packages_are_there_without_an_import_of_their_own():
    code = (
        "import sys, tcpstream; assert 'tcpstream.explore' not in sys.modules; tcpstream.explore.sweep; "
        "tcpstream.sim.Tcp; tcpstream.plots.save; print('explore' in dir(tcpstream))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["True"]
