"""What a sweep has computed survives: interruptions, SIGKILL, other sweeps in the same folder."""

import json
import shutil
import signal
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pytest

from tcpstream import InputError, explore
from tcpstream.errors import WriteError
from tcpstream.explore import store

AXES = dict(
    sender="classic",
    loss=[0.02, 0.03, 0.04, 0.05], rtt=[0.1, 0.2], timeout_ratio=[1, 1.5, 2, 2.5], packet_rate=[10, 20], max_window=20,
    delay=[1, 2, 4],
)  # fmt: skip
POINTS, ENDLESS = explore.grid(**AXES | {"delay": [1, 2], "max_window": 12}, duration=3), explore.grid(**AXES)

SCRIPT = """
import sys
import pandas as pd
from tcpstream import explore
points = pd.read_parquet(sys.argv[1])
points.attrs = {"axes": sys.argv[4:]}
explore.sweep(points, sys.argv[2], alpha=sys.argv[2] == "stored", store=sys.argv[3])
"""


def same(table, other):
    pd.testing.assert_frame_equal(table, other, check_exact=True)
    assert table.attrs == other.attrs


def parts(folder):
    return sorted(folder.glob("part-*.parquet"))


@pytest.fixture(scope="module")
def live_ones(tmp_path_factory):
    """The table of six live points, and the folder that it is kept in."""
    folder = tmp_path_factory.mktemp("six") / "sweep"
    return explore.sweep(POINTS.iloc[:6], "live", store=folder), folder


@pytest.fixture
def sweep(live_ones, tmp_path):
    """The same table, in a folder of one's own."""
    table, folder = live_ones
    return table, shutil.copytree(folder, tmp_path / "sweep")


def test_a_store_continues(tmp_path):
    points = ENDLESS.iloc[:48]
    points.attrs = ENDLESS.attrs
    whole = explore.sweep(points, "live")
    kept = explore.sweep(points, "live", store=tmp_path / "sweep")
    same(kept, whole)
    same(explore.read(tmp_path / "sweep"), whole)
    lost = parts(tmp_path / "sweep")[1]
    lost.unlink()
    times = {file: file.stat().st_mtime_ns for file in parts(tmp_path / "sweep")}
    some = explore.read(tmp_path / "sweep")
    assert 0 < len(some) < len(whole)
    pd.testing.assert_frame_equal(some, whole.loc[some.index], check_exact=True)
    same(explore.sweep(points, "live", store=tmp_path / "sweep"), whole)
    assert lost.exists()
    assert {file: file.stat().st_mtime_ns for file in times} == times


def test_what_is_there_is_not_solved_again(sweep, monkeypatch):
    whole, folder = sweep
    monkeypatch.setattr("tcpstream.explore.run.solve", lambda *_: pytest.fail("solved again"))
    same(explore.sweep(POINTS.iloc[:6], "live", store=folder), whole)


@pytest.mark.parametrize("kind", ["stored", pytest.param("live", marks=pytest.mark.long)])
def test_killed_at_random_moments(tmp_path, kind):
    """A process that is killed again and again ends with the table of one that is not, and repeats nothing."""
    rng = np.random.default_rng(7)
    points, folder = POINTS if kind == "stored" else ENDLESS, tmp_path / "sweep"
    whole = explore.sweep(points, kind, alpha=kind == "stored")
    points.to_parquet(tmp_path / "points.parquet")
    command = [sys.executable, "-c", SCRIPT, tmp_path / "points.parquet", kind, folder, *points.attrs["axes"]]
    interrupted, kept = 0, {}
    for _ in range(2):
        process = subprocess.Popen(list(map(str, command)))
        wanted, seen = len(parts(folder)) + rng.integers(1, 4), 0  # of six, live
        deadline = time.monotonic() + 120
        while process.poll() is None and seen < wanted and time.monotonic() < deadline:
            time.sleep(rng.uniform(0, 0.02))
            seen = len(parts(folder))
        process.send_signal(signal.SIGKILL)
        if process.wait() == 0:
            break
        interrupted += 1
        assert all(file.stat().st_mtime_ns == at for file, at in kept.items())
        kept = {file: file.stat().st_mtime_ns for file in parts(folder)}
        table = explore.read(folder)
        pd.testing.assert_frame_equal(table, whole.loc[table.index], check_exact=True)
    assert interrupted > 0
    same(explore.sweep(points, kind, alpha=kind == "stored", store=folder), whole)
    same(explore.read(folder), whole)


def test_a_file_that_was_being_written_does_no_harm(sweep):
    whole, folder = sweep
    (folder / ".part-000000.parquet.1234").write_bytes(b"PAR1 cut off")
    same(explore.read(folder), whole)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda points: dict(points=points.iloc[:5], kind="live"), "other points"),
        (lambda points: dict(points=points.iloc[::-1], kind="live"), "other points"),
        (lambda points: dict(points=points, kind="stored"), "kind live, not stored"),
        (lambda points: dict(points=points, kind="live", alpha=True), "alpha False, not True"),
    ],
)
def test_another_sweep_is_refused(sweep, change, words):
    given = change(POINTS.iloc[:6])
    with pytest.raises(InputError, match=f"holds another sweep .*{words}.*give another folder"):
        explore.sweep(given.pop("points"), given.pop("kind"), store=sweep[1], **given)


def test_another_version_is_refused(sweep):
    manifest = sweep[1] / "sweep.json"
    manifest.write_text(json.dumps(json.loads(manifest.read_text()) | {"version": "0.0.1"}))
    with pytest.raises(InputError, match=r"version 0\.0\.1, not"):
        explore.sweep(POINTS.iloc[:6], "live", store=sweep[1])


def test_a_sweep_of_before_the_default_sender_changed_is_read_and_not_gone_on_with(tmp_path, monkeypatch):
    monkeypatch.setattr(store, "ABOUT", tuple(name for name in store.ABOUT if name != "sender"))
    made = explore.sweep(POINTS.iloc[:3], "live", store=tmp_path)
    monkeypatch.undo()
    manifest = tmp_path / "sweep.json"
    manifest.write_text(json.dumps({k: v for k, v in json.loads(manifest.read_text()).items() if k != "sender"}))
    same(explore.read(tmp_path), made)
    with pytest.raises(InputError, match=r"holds another sweep \(sender classic, not linux\): give another folder"):
        explore.sweep(POINTS.iloc[:3], "live", store=tmp_path)


def test_folders_that_are_no_store(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="has other files: give an empty or a new folder"):
        explore.sweep(POINTS.iloc[:3], "live", store=tmp_path)
    with pytest.raises(InputError, match=r"cannot keep a sweep in .*file: "):
        explore.sweep(POINTS.iloc[:3], "live", store=tmp_path / "file")
    with pytest.raises(InputError, match=r"holds no sweep: it has no readable sweep\.json"):
        explore.read(tmp_path)


def test_a_damaged_part_is_named(sweep):
    parts(sweep[1])[0].write_bytes(b"not parquet")
    with pytest.raises(InputError, match=r"cannot read .*part-000000\.parquet: "):
        explore.read(sweep[1])


def test_a_foreign_or_duplicated_part_is_named(tmp_path):
    """Also the part of another sweep of as many points, and one under another's name."""
    points = ENDLESS.iloc[:30]
    whole = explore.sweep(points, "live", store=tmp_path / "one")
    other = points.assign(loss=points["loss"] * 1.01)
    explore.sweep(other, "live", store=tmp_path / "other")
    first, last = parts(tmp_path / "one")[0], parts(tmp_path / "one")[-1]
    assert first != last
    kept = first.read_bytes()
    for data in ((tmp_path / "other" / first.name).read_bytes(), last.read_bytes()):
        first.write_bytes(data)
        for work in (
            lambda: explore.sweep(points, "live", store=tmp_path / "one"),
            lambda: explore.read(tmp_path / "one"),
        ):
            with pytest.raises(
                InputError, match=r"part-000000\.parquet is not what this sweep keeps there: move it away"
            ):
                work()
    first.write_bytes(kept)
    for name in ("part-000000 copy.parquet", "part-x.parquet", "part-000099.parquet"):
        (tmp_path / "one" / name).write_bytes(kept)
        with pytest.raises(InputError, match="is not what this sweep keeps there"):
            explore.read(tmp_path / "one")
        (tmp_path / "one" / name).unlink()
    first.unlink()
    same(explore.sweep(points, "live", store=tmp_path / "one"), whole)


def test_numbers_that_changed_in_a_part_are_noticed(sweep):
    (file,) = parts(sweep[1])
    table = pd.read_parquet(file)
    changed = table.assign(late_fraction=table["late_fraction"] * (1 + 1e-12))
    changed.attrs = table.attrs
    changed.to_parquet(file)
    with pytest.raises(InputError, match="is not what this sweep keeps there"):
        explore.read(sweep[1])


@pytest.mark.parametrize("text", ["", "[]", "null", "{}", '{"kind": "live"}', "[" * 5000])
def test_a_damaged_manifest(sweep, text):
    folder = sweep[1]
    (folder / "sweep.json").write_text(text)
    for work in (lambda: explore.sweep(POINTS.iloc[:6], "live", store=folder), lambda: explore.read(folder)):
        with pytest.raises(InputError, match=r"holds no sweep: it has no readable sweep\.json"):
            work()


def test_damaged_points(sweep):
    POINTS.iloc[6:12].to_parquet(sweep[1] / "points.parquet")
    with pytest.raises(InputError, match=r"points\.parquet is not as it was written"):
        explore.read(sweep[1])


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX limits")
def test_a_full_disk_loses_nothing_that_is_kept(tmp_path, capsys, monkeypatch):
    """Files may have no more than some bytes for the second chunk: the system says so as it does for a full disk."""
    import resource

    from tcpstream.explore import store

    points = ENDLESS.iloc[:30]
    whole = explore.sweep(points, "live")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    put = store.Store.put

    def full(self, chunk, answers):
        if parts(tmp_path):
            resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))
        put(self, chunk, answers)

    monkeypatch.setattr(store.Store, "put", full)
    try:
        with pytest.raises(WriteError, match=r"cannot write .*part-.*: File too large; what is kept stays"):
            explore.sweep(points, "live", store=tmp_path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    monkeypatch.undo()
    assert len(parts(tmp_path)) == 1
    assert not list(tmp_path.glob(".*"))
    same(explore.sweep(points, "live", store=tmp_path), whole)


def test_a_sweep_that_ended_before_its_manifest_starts_over(tmp_path):
    (tmp_path / "points.parquet").write_bytes(b"cut")
    (tmp_path / ".sweep.json.77").write_text("")
    whole = explore.sweep(POINTS.iloc[:3], "live", store=tmp_path)
    same(explore.read(tmp_path), whole)


def test_points_that_no_file_holds(tmp_path):
    points = POINTS.iloc[:2].assign(delay=pd.Series([1, "2s"], dtype=object))
    with pytest.raises(InputError, match="cannot keep these points in "):
        explore.sweep(points, "live", store=tmp_path / "sweep")
