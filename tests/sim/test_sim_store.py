"""Runs as files."""

import dataclasses
import json

import numpy as np
import pytest

import tcpstream
from tcpstream.errors import InputError
from tcpstream.sim import (
    Bernoulli,
    Change,
    Flow,
    GilbertElliott,
    Link,
    LossTrace,
    Requests,
    Run,
    Scenario,
    Steady,
    TokenBucket,
    simulate,
    single_path,
)
from tcpstream.sim.store import from_plain, plain


@pytest.fixture
def run():
    path = single_path(Link(0.05, loss=Bernoulli(0.05)), Link(0.05), source=Steady(25))
    return simulate(path, 20.0, np.random.default_rng(4).spawn(2)[1])


def test_saved_and_loaded(run, tmp_path):
    run.save(tmp_path / "run.npz")
    again = Run.load(tmp_path / "run.npz")
    (seen,), (found,) = run.flows, again.flows
    assert (found.times == seen.times).all()
    assert dataclasses.replace(found, times=None) == dataclasses.replace(seen, times=None)
    assert again.scenario == run.scenario
    assert (again.duration, again.packets, again.events) == (run.duration, run.packets, run.events)
    assert again.seed == {"entropy": 4, "spawn_key": [1]}
    assert [file.name for file in tmp_path.iterdir()] == ["run.npz"]


def test_saved_scenario_runs_again(run, tmp_path):
    run.save(tmp_path / "run.npz")
    saved = Run.load(tmp_path / "run.npz")
    seeds = np.random.SeedSequence(saved.seed["entropy"], spawn_key=saved.seed["spawn_key"])
    again = simulate(saved.scenario, saved.duration, np.random.default_rng(seeds))
    assert (again.flows[0].times == run.flows[0].times).all()


def test_every_part_of_a_scenario_is_plain_json():
    links = {
        "a": Link(0.1, 1e6, queue=3, loss=LossTrace([True, False]), bucket=TokenBucket(1e6, 2000)),
        "b": Link(0.1, capacity=[0.1, 0.2], loss=GilbertElliott(0.1, 0.2), changes=(Change(1.0, delay=0.2),)),
    }
    requests = Requests([1.0, 2.0], [3, 4])
    flows = (
        Flow(("a",), ("b",), source=requests),
        Flow(("a", "b"), tcp=None, source=Steady(10.0)),
    )
    text = json.dumps(plain(Scenario(links, flows)), allow_nan=False)
    again = from_plain(json.loads(text))
    assert json.dumps(plain(again)) == text
    assert again.links["a"].loss.lost.tolist() == [True, False]
    assert again.flows[1] == flows[1]


def test_csv(run, tmp_path):
    run.write_csv(tmp_path / "run.csv")
    lines = (tmp_path / "run.csv").read_text().splitlines()
    about = [line for line in lines if line.startswith("# ")]
    assert about[0] == f"# tcpstream: {tcpstream.__version__}"
    assert json.loads(about[1].removeprefix("# seed: ")) == {"entropy": 4, "spawn_key": [1]}
    assert from_plain(json.loads(about[2].removeprefix("# scenario: "))) == run.scenario
    assert lines[len(about)] == "packet,generated_s,delivered_s"
    table = np.loadtxt(lines[len(about) + 1 :], delimiter=",")
    assert (table[:, 0] == np.arange(len(run.flows[0].times))).all()
    assert table[:, 1] == pytest.approx(table[:, 0] / 25)
    assert table[:, 2] == pytest.approx(run.flows[0].times, abs=1e-9)


@pytest.mark.parametrize("write", [Run.save, Run.write_csv])
def test_what_fails_leaves_the_old_file(run, tmp_path, monkeypatch, write):
    file = tmp_path / "run"
    file.write_text("old")
    monkeypatch.setattr("tcpstream.sim.store.plain", lambda _scenario: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        write(run, file)
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("run", "old")]


def test_nowhere_to_write(run, tmp_path):
    with pytest.raises(InputError, match=r"cannot write .*no/run.npz: No such file or directory"):
        run.save(tmp_path / "no" / "run.npz")


def test_not_a_saved_run(tmp_path):
    with pytest.raises(InputError, match=r"cannot read .*: No such file"):
        Run.load(tmp_path / "none.npz")
    (tmp_path / "text.npz").write_text("no run")
    with pytest.raises(InputError, match=r"text.npz is not a saved run"):
        Run.load(tmp_path / "text.npz")
    np.savez(tmp_path / "other.npz", a=1)
    with pytest.raises(InputError, match=r"other.npz is not a saved run"):
        Run.load(tmp_path / "other.npz")
    np.save(tmp_path / "one.npy", [1.0])
    with pytest.raises(InputError, match=r"one.npy is not a saved run"):
        Run.load(tmp_path / "one.npy")
