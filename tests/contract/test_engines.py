"""One contract for every chain and every engine: the fast operators do what the written-out transitions say.

The chains' own transitions are held against agents and Table VI elsewhere (tests/tcp).
"""

from functools import cache

import numpy as np
import pytest

from tcpstream import Path, Video, live, stored
from tcpstream.explicit import explicit_live_finite, explicit_stored
from tcpstream.numerics.lattices import Lattice
from tcpstream.stationary.solve import solve
from tcpstream.tcp import Chain, chain_of
from tcpstream.transient.boundary import Boundary, OnFloor
from tcpstream.transient.finite_backlog import FiniteBacklog
from tcpstream.transient.select import backlogged

PATH = {"sender": "classic", "loss": 0.08, "rtt": 0.1, "timeout_ratio": 1.5, "max_window": 5}

CHAINS = {
    "reno": {},
    "reno, b = 2, ceil, the paper's back-off": {"rounds_per_increase": 2, "halving": "ceil", "backoff": "paper"},
    "reno, slow start": {"initial_window": 3},
    "reno, RACK": {"detection": "rack"},
    "reno-sack": {"tcp": "reno-sack"},
    "reno-sack, b = 2": {"tcp": "reno-sack", "rounds_per_increase": 2},
    "reno-sack, slow start, RACK": {"tcp": "reno-sack", "initial_window": 2, "detection": "rack"},
    "reno-sack, bottleneck": {"tcp": "reno-sack", "max_window": None, "bottleneck": 30.0, "buffer": 2},
    "cubic": {"tcp": "cubic"},
    "cubic, bottleneck": {"tcp": "cubic", "max_window": None, "bottleneck": 25.0, "buffer": 2},
    "cubic, bottleneck, slow start": {
        "tcp": "cubic",
        "max_window": None,
        "bottleneck": 24.0,
        "buffer": 2,
        "initial_window": 2,
    },
    "cubic, slow start, RACK": {"tcp": "cubic", "initial_window": 3, "detection": "rack"},
}

every_chain = pytest.mark.parametrize("options", CHAINS.values(), ids=CHAINS.keys())


class WrittenOut(Chain):
    """A chain of which only the transitions are known."""

    def __init__(self, chain):
        self.chain = chain

    def transitions(self):
        return self.chain.transitions()


written_out = cache(lambda path: WrittenOut(chain_of(path)))


def both(options):
    path = Path(**(PATH | options))
    return path, chain_of(path), written_out(path)


@every_chain
def test_what_follows_from_the_transitions(options):
    _, fast, slow = both(options)
    assert fast.packets_per_round == pytest.approx(slow.packets_per_round, rel=1e-12)
    assert fast.largest_round >= slow.largest_round
    assert fast.longest_wait() == slow.longest_wait()
    for levels in (3, 7):
        radii = []
        for chain in (fast, slow):
            rows, columns, values = chain.transform(0.01, 0.5, levels)
            matrix = np.zeros((chain.n_states, chain.n_states))
            np.add.at(matrix, (rows, columns), values)
            radii.append(np.abs(np.linalg.eigvals(matrix)).max())
        assert (radii[0] > 1) == (radii[1] > 1)  # short rounds are states of the one and not of the other


@every_chain
def test_backlogged(options):
    _, fast, slow = both(options)
    one, other = backlogged(fast, 60), backlogged(slow, 60)
    for _ in range(25):
        one.step()
        other.step()
        laws = []
        for measure in (one.distribution(), other.distribution()):
            at = np.arange(measure.origin, measure.end)
            inside = (at >= 0) & (at < 50)  # done is left out
            laws.append(np.bincount(at[inside], measure.mass[inside], 50))
        np.testing.assert_allclose(*laws, rtol=0, atol=1e-14)
    assert max(one.account.residual, other.account.residual) < 1e-13


@every_chain
def test_never_below_the_floor(options):
    _, fast, slow = both(options)
    one, other = backlogged(fast, 60), backlogged(slow, 60)
    for i in range(1, 31):
        boundary = Boundary(floor=max(0, i - 4), safe=2 * i + 30)
        one.step(boundary)
        other.step(boundary)
        assert one.survivors() == pytest.approx(other.survivors(), abs=1e-14)
    assert 1e-5 < 1 - one.survivors() < 0.9


@every_chain
def test_what_crosses_the_floor(options):
    """Killed once, it is first late; counted, it is late; and the deficits add up to the late packets."""
    _, fast, slow = both(options)
    killed, counted, reflected = (backlogged(slow, 60, on_floor=each) for each in OnFloor)
    survivors, late, packets = 1.0, 0.0, 0.0
    plain = backlogged(fast, 60)
    for i in range(1, 31):
        floor = max(0, i - 8)
        first = killed.step(Boundary(floor))
        survivors -= first.total
        assert killed.survivors() == pytest.approx(survivors, abs=1e-13)
        crossed = counted.step(Boundary(floor, on_floor=OnFloor.COUNT))
        plain.step()
        measure = plain.distribution()
        missing = np.maximum(floor - np.arange(measure.origin, measure.end), 0)
        late = float(measure.mass[missing > 0].sum())
        packets = float(measure.mass @ missing)
        assert crossed.total == pytest.approx(late, abs=1e-13)
        deficits = np.arange(crossed.measure.mass.shape[1])
        assert float((crossed.measure.mass @ deficits).sum()) == pytest.approx(packets, abs=1e-13)
        stalled = reflected.step(Boundary(floor, on_floor=OnFloor.REFLECT))
        assert reflected.account.residual < 1e-13
        assert stalled.total >= first.total - 1e-15
    assert packets > 0


def on_lattices(name):
    """Return a chain with lattices as parameters: every chain has one that leaves a trace."""
    for lattice in (Lattice(1, 1), Lattice(3, 2), Lattice(1, 1, trace=1)):
        short = lattice.trace or (lattice.steps == 3 and name in ("reno", "reno-sack", "cubic", "cubic, bottleneck"))
        yield pytest.param(CHAINS[name], lattice, id=f"{lattice}-{name}", marks=[] if short else [pytest.mark.long])


@pytest.mark.parametrize(("options", "lattice"), [one for name in CHAINS for one in on_lattices(name)])
def test_finite_live(options, lattice):
    _, fast, slow = both(options)
    one, other = (FiniteBacklog(chain, lattice, 6.0) for chain in (fast, slow))
    for delay in (0, 1, 2.5, 5):
        assert one.late_fraction(delay) == pytest.approx(other.late_fraction(delay), abs=1e-12)


def without_end(name):
    """Return a chain as a parameter: some take many seconds, written out."""
    slow = any(part in name for part in ("b = 2", "bottleneck", "cubic, slow start"))
    return pytest.param(CHAINS[name], id=name, marks=[pytest.mark.long] * slow)


@pytest.mark.parametrize("options", [*map(without_end, CHAINS)])
def test_endless_live(options):
    _, fast, slow = both({"timeout_ratio": 1, "loss": 0.05, "max_window": 3} | options)
    lattice = Lattice(1, 1, trace=len(options) % 2)
    one, other = solve(fast, lattice), solve(slow, lattice)
    for delay in (0, 2.5, 20):
        allowed = one.error_bound + other.error_bound
        assert one.late_fraction(delay) == pytest.approx(other.late_fraction(delay), abs=allowed + 1e-14)


@every_chain
def test_explicit(options):
    """The chain of a video, all states written out: f and alpha of stored media, f of a live stream."""
    path, *_ = both(options)
    video = Video(packet_rate=20, duration=1.5)
    own, written = stored(path, video), explicit_stored(path, video).judge(0.4)
    assert own.late_fraction(0.4) == pytest.approx(written.late_fraction, abs=1e-11)
    assert own.no_late_probability(0.4) == pytest.approx(written.no_late_probability, abs=1e-11)
    np.testing.assert_allclose(own.late_probability_per_round(0.4), written.late_probabilities, rtol=0, atol=1e-11)
    found = explicit_live_finite(path, video, 0.4).late_fraction
    assert live(path, video).late_fraction(0.4) == pytest.approx(found, abs=1e-11)
