"""A path that varies: its regimes, and the chain of them."""

import copy
import dataclasses
import pickle
import re
from pathlib import Path as FilePath

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tcpstream
from strategies import varying_paths
from tcpstream import InputError, Path, Varying
from tcpstream.tcp import chain_of, throughput
from tcpstream.tcp.switching import Switching
from tcpstream.transient.boundary import Boundary
from tcpstream.transient.select import limited
from tcpstream.transient.varying_backlogged import BackloggedVarying
from tcpstream.transient.written_out import BackloggedWrittenOut
from tcpstream.transient.written_out_limited import LimitedWrittenOut


def path(**change):
    return Path(
        **{"sender": "classic", "loss": 0.02, "rtt": 0.1, "rto": 0.3, "losses": "independent", "max_window": 12}
        | change
    )


GOOD, BAD = path(), path(loss=0.1)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Varying([], []), "between 1 and 8 regimes, got 0"),
        (lambda: Varying([GOOD] * 9, [1] * 9), "between 1 and 8 regimes, got 9"),
        (lambda: Varying("good", [1]), "regimes are a sequence of paths, got 'good'"),
        (lambda: Varying([GOOD, 0.1], [1, 1]), "a regime is a Path, got 0.1"),
        (lambda: Varying([GOOD, BAD], [1]), r"each of 2 regimes has a mean stay \[s\], got \[1\]"),
        (lambda: Varying([GOOD, BAD], [1, 1e-4]), "mean stay in 2 must lie between 0.001 and 1e"),
        (lambda: Varying([GOOD, BAD], [1, float("nan")]), "mean stay in 2 must be finite"),
        (lambda: Varying([GOOD, BAD], [1, 1], names=["a", "a"]), "each regime has a name of its own"),
        (lambda: Varying([GOOD, BAD], [1, 1], start="c"), "start is one of the regimes 1, 2, or its place"),
        (lambda: Varying([GOOD, BAD], [1, 1], start=2), "start is one of the regimes 1, 2, or its place"),
        (lambda: Varying([GOOD, BAD], [1, 1], to=[[0, 1]]), "a row of 2 probabilities for each of 2 regimes"),
        (lambda: Varying([GOOD, BAD], [1, 1], to=[[0, 1], [0.5, 0.5]]), "the probability from 2 to itself is 0"),
        (lambda: Varying([GOOD, BAD], [1, 1], to=[[0, 0.9], [1, 0]]), "changes from 1 must sum to 1, got 0.9"),
        (lambda: Varying([GOOD, BAD], [1, 1], to=[[0, 2], [1, 0]]), "from 1 to 2 lies between 0 and 1, got 2"),
        (
            lambda: Varying([GOOD, BAD, GOOD], [1, 1, 1], to=[[0, 1, 0], [1, 0, 0], [1, 0, 0]]),
            "but 1 never leads to 3",
        ),
        (lambda: Varying([GOOD, path(rtt=0.2)], [1, 1]), "the same round trip time, got 0.1 s and 0.2 s"),
        (lambda: Varying([GOOD, path(rto=0.4)], [1, 1]), "regimes have the same sender"),
        (
            lambda: Varying([Path(sender="classic", loss=0.02, rtt=0.1)], [1]),
            "is solved for tcp = reno-sack, cubic, got reno",
        ),
        (lambda: Varying([GOOD, BAD], [1, 1]).loss, "a loss rate in each regime, and none of its own"),
    ],
)
def test_what_is_no_path_that_varies(make, words):
    with pytest.raises(InputError, match=words) as error:
        make()
    assert "\n" not in str(error.value)


def test_shares_of_time_and_dict():
    varying = Varying([GOOD, BAD], [30, 10], names=["good", "bad"], start="bad")
    assert varying.shares == pytest.approx((0.75, 0.25))
    found = varying.to_dict()
    assert [one["name"] for one in found["regimes"]] == ["good", "bad"]
    assert [one["loss"] for one in found["regimes"]] == [0.02, 0.1]
    assert found["regimes"][0]["to"] == {"bad": 1.0}
    assert found["start_regime"] == "bad"


def test_copies_are_the_same():
    varying = Varying([GOOD, BAD], [30, 10], names=["good", "bad"], start="bad")
    for one in (pickle.loads(pickle.dumps(varying)), copy.deepcopy(varying), dataclasses.replace(varying)):
        assert one == varying
        assert hash(one) == hash(varying)


def test_regimes_that_hardly_change_have_the_mean_throughput_of_their_paths():
    varying = Varying([GOOD, BAD], [3e6, 1e6])
    assert throughput(varying) == pytest.approx(0.75 * throughput(GOOD) + 0.25 * throughput(BAD), rel=1e-5)


@given(st.data(), st.integers(1, 5), st.floats(0.1, 50))
def test_chances_of_regimes(data, k, rounds):
    """Rows sum to 1, two times are one after the other, and the long run stays what it is."""
    stays = np.array(data.draw(st.lists(st.floats(0.5, 1000), min_size=k, max_size=k)))
    to = np.array([[0.0 if i == j else data.draw(st.floats(0.01, 1)) for j in range(k)] for i in range(k)])
    to /= np.maximum(to.sum(axis=1, keepdims=True), 1e-300)
    switching = Switching.of(stays, to)
    once = switching.after(rounds)
    assert once.sum(axis=1) == pytest.approx(1)
    assert (once >= 0).all()
    assert once @ switching.after(2.5) == pytest.approx(switching.after(rounds + 2.5), abs=1e-12)
    assert switching.shares @ once == pytest.approx(switching.shares, abs=1e-10)


@settings(max_examples=12)
@given(varying_paths())
def test_chances_of_the_chain_sum_to_one(varying):
    chain = chain_of(varying)
    rows = chain.written_out
    sums = np.bincount(rows.from_state, rows.probability, rows.n_states)
    assert np.abs(sums - 1).max() < 1e-9
    from_, _, weights = chain.transform(0.0, 0.0)
    assert np.bincount(from_, weights, chain.n_states) == pytest.approx(1, abs=1e-9)


@settings(max_examples=8)
@given(varying_paths(), st.integers(1, 3))
def test_stored_transient_is_that_of_the_chain_written_out(varying, per_round):
    """Beside the operator that knows nothing of regimes: laws of what is in order, and what a floor leaves."""
    chain = chain_of(varying)
    fast, plain = BackloggedVarying(chain, 60), BackloggedWrittenOut(chain, 60)
    judged, plainly_judged = BackloggedVarying(chain, 60), BackloggedWrittenOut(chain, 60)
    for i in range(1, 31):
        for one in (fast, plain):
            one.step()
        assert np.abs(below(fast.distribution(), 60) - below(plain.distribution(), 60)).max() < 1e-12
        boundary = Boundary(min(60, per_round * max(0, i - 6)))
        for one in (judged, plainly_judged):
            one.step(boundary)
        assert judged.survivors() == pytest.approx(plainly_judged.survivors(), abs=1e-12)
    assert fast.unaccounted < 1e-12  # what is followed and what is done is 1
    assert judged.unaccounted < 1e-12


@settings(max_examples=8)
@given(varying_paths(), st.integers(1, 4))
def test_live_transient_is_that_of_the_chain_written_out(varying, per_round):
    chain = chain_of(varying)
    fast, plain = limited(chain, 0, 1, 0), LimitedWrittenOut(chain, 0, 1, 0)
    for i in range(1, 31):
        ceiling = min(per_round * i, 50)
        for one in (fast, plain):
            one.step(ceiling, final=ceiling == 50)
        assert np.abs(below(fast.distribution(), ceiling) - below(plain.distribution(), ceiling)).max() < 1e-12
        assert fast.left == pytest.approx(plain.left, abs=1e-12)
    assert fast.account.unaccounted < 1e-12


def below(measure, end):
    """Mass at positions 0 .. end - 1: what is done is left out in different ways."""
    found = np.zeros(end)
    for at, mass in enumerate(measure.mass, measure.origin):
        if 0 <= at < end:
            found[at] += mass
    return found


def test_a_chain_says_itself_whether_it_varies():
    two = chain_of(Varying([path(loss=0.01), path(loss=0.1)], mean_stay=[3, 4]))
    begun = chain_of(Varying([path(loss=0.01), path(loss=0.1)], mean_stay=[3, 4], start=1))
    for chain, first in ((two, 0), (begun, 1)):
        states = np.array([0, int(chain.offsets[1]) - 1, int(chain.offsets[1]), chain.first_state])
        assert (chain.varies, chain.n_regimes) == (True, 2)
        np.testing.assert_array_equal(chain.regime_of(states), [0, 0, 1, first])
    for tcp in ("reno", "reno-sack", "cubic"):
        constant = chain_of(Path(sender="classic", tcp=tcp, loss=0.1, rtt=0.1))
        assert (constant.varies, constant.n_regimes) == (False, 1)
        assert not constant.regime_of(np.arange(3)).any()


def test_nothing_asks_a_chain_whether_it_is_one_of_regimes():
    """It says so (`Chain.varies`), or functions are registered for it."""
    asked = re.compile(r"isinstance\([^()]*VaryingChain")
    files = FilePath(tcpstream.__file__).parent.rglob("*.py")
    assert [file.name for file in files if asked.search(file.read_text("utf-8"))] == []
