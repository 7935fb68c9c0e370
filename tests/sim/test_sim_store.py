"""Runs as files."""

import dataclasses
import io
import json
import os
import struct
import zipfile

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
from tcpstream.sim.files import from_plain, plain


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
    monkeypatch.setattr("tcpstream.sim.files.plain", lambda _scenario: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        write(run, file)
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("run", "old")]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="named pipes")
def test_what_is_no_regular_file_is_written_to_and_stays(run, tmp_path):
    """A pipe here; a device, as /dev/full, must not become a file either."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    run.write_csv(pipe)
    assert os.read(reader, 2) == b"# "
    assert pipe.is_fifo()
    os.close(reader)


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


def changed(file, name, member):
    """Write an archive again with another member."""
    with zipfile.ZipFile(file) as archive:
        members = {one: archive.read(one) for one in archive.namelist()}
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for one, data in (members | {name: member}).items():
            archive.writestr(one, data)


def npy(value):
    out = io.BytesIO()
    np.save(out, value, allow_pickle=True)
    return out.getvalue()


def claims(shape, kind="<f8"):
    header = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode() + bytes(80)


@pytest.mark.parametrize(
    ("name", "member", "words"),
    [
        ("times_0.npy", claims("(40000000000,)"), "times_0 claims 320,000,000,000 bytes and has 80"),
        ("times_0.npy", claims("(-10,)"), "times_0 "),
        ("times_0.npy", claims("(10,)", "|O"), "times_0 is object"),
        ("times_0.npy", npy(np.array([None, {}])), "times_0 is object of shape"),
        ("times_0.npy", npy([[1.0]]), r"times_0 is float64 of shape \(1, 1\)"),
        ("times_0.npy", npy([1.0, np.nan]), "times_0 are not nondecreasing times"),
        ("times_0.npy", npy([2.0, 1.0]), "times_0 are not nondecreasing times"),
        ("times_0.npy", b"", ""),
        ("rtt.npy", npy(["a"]), "rtt is <U1"),
        ("rtt.npy", npy([0.1, 0.2]), ""),
        ("duration.npy", npy([np.nan]), "duration must be finite"),
        ("interval.npy", npy([-1.0]), "interval must be at least 0 s, got -1 s"),
        ("about.npy", npy("[" * 9000), ""),
        ("about.npy", npy("{}"), ""),
        ("about.npy", npy('{"scenario": {"kind": []}}'), ""),
        ("about.npy", npy('{"scenario": {"kind": "Tcp"}}'), "it has no scenario"),
        ("about.npy", npy(3), "about is int64"),
    ],
)
def test_arrays_that_no_run_has(run, tmp_path, name, member, words):
    file = tmp_path / "run.npz"
    run.save(file)
    changed(file, name, member)
    with pytest.raises(InputError, match=rf"run\.npz is not a saved run: .*{words}") as error:
        Run.load(file)
    assert str(error.value).isprintable()


def test_an_archive_that_claims_more_than_it_holds(run, tmp_path):
    """A directory that says that some bytes are 3 GB when they are inflated is not believed."""
    file = tmp_path / "run.npz"
    run.save(file)
    with zipfile.ZipFile(file) as archive:
        info = archive.getinfo("rtt.npy")
    true, false = (struct.pack("<II", info.compress_size, size) for size in (info.file_size, 3 * 2**30))
    assert true in file.read_bytes()
    file.write_bytes(file.read_bytes().replace(true, false))
    with pytest.raises(InputError, match=f"claims 3,221,225,472 bytes in {info.compress_size} of the file"):
        Run.load(file)


@pytest.mark.parametrize("cut", [0, 3, 100, -1, -30])
def test_a_run_that_was_cut_off(run, tmp_path, cut):
    file = tmp_path / "run.npz"
    run.save(file)
    file.write_bytes(file.read_bytes()[:cut])
    with pytest.raises(InputError, match=r"run\.npz is not a saved run"):
        Run.load(file)
