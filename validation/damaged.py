"""What `fuzz_inputs.py` damages: saved runs, and stores of sweeps.

Each function takes a seeded generator and an empty folder to work in, and returns what asks the damaged files.
"""

from __future__ import annotations

import io
import json
import random
import shutil
import tempfile
import zipfile
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path as FilePath
from typing import Any

import numpy as np
import pandas as pd

from hostile import ESCAPE, mangled
from tcpstream import explore, sim
from tcpstream.errors import InputError

Ask = Callable[[], object]


@cache
def saved() -> tuple[bytes, dict[str, bytes], Any]:
    """Return a run as it is saved, the files of a finished sweep, and its table."""
    with tempfile.TemporaryDirectory() as name:
        folder = FilePath(name)
        path = sim.single_path(sim.Link(0.05, loss=sim.Bernoulli(0.05)), sim.Link(0.05), source=sim.Steady(25))
        sim.simulate(path, 5.0, np.random.default_rng(4)).save(folder / "run.npz")
        table = explore.sweep(points(), "live", store=folder / "store")
        files = {file.name: file.read_bytes() for file in (folder / "store").iterdir()}
        return (folder / "run.npz").read_bytes(), files, table


def points() -> Any:
    """Return the points of a small sweep, of two chunks."""
    loss = [0.05 + 0.01 * i for i in range(9)]
    return explore.grid(
        sender="classic", loss=loss, rtt=0.1, timeout_ratio=2, max_window=6, packet_rate=5, delay=[1, 2]
    )


def run_file(rng: random.Random, folder: FilePath) -> Ask:
    """Return what loads a run that is damaged, and asks it something."""
    data = saved()[0]
    action = rng.randrange(4)
    if action == 0:
        data = mangled(rng, data)
    elif action == 1:
        data = rng.choice((b"", b"PK", b"text", data[: rng.randrange(len(data))], data + data, rng.randbytes(500)))
    else:
        data = _repacked(rng, data)
    (folder / "run.npz").write_bytes(data)

    def ask() -> None:
        run = sim.Run.load(folder / "run.npz")
        run.save(folder / "again.npz")
        run.write_csv(folder / "again.csv")
        with suppress(InputError):  # as short as it may be
            run.flows[0].late_fraction([0.5, 1.0], packet_rate=20.0)

    return ask


def _repacked(rng: random.Random, data: bytes) -> bytes:
    """Return an archive of which a member is changed, with checksums that are right."""
    source, out = zipfile.ZipFile(io.BytesIO(data)), io.BytesIO()
    names = source.namelist()
    victim = rng.choice(names)
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in names:
            member = source.read(name)
            if name == victim:
                if rng.random() < 0.1:
                    continue
                member = (
                    _other_about(rng, member) if name == "about.npy" and rng.random() < 0.7 else _other(rng, member)
                )
            archive.writestr(name, member)
    return out.getvalue()


def _other(rng: random.Random, member: bytes) -> bytes:
    """Return another array in place of one."""
    if rng.random() < 0.2:
        return mangled(rng, member)
    if rng.random() < 0.3:  # a header that claims 320 GB, or nothing, or another number
        shape = rng.choice(("(40000000000,)", "(-1,)", "()", "(1, 2)", "(9999999999999999999999,)", "(1.5,)", "None"))
        kind = rng.choice(("<f8", "|O", "<U5", "<i4", "|V8", "<M8[s]", "x"))
        header = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
        return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode() + member[128:]
    out = io.BytesIO()
    arrays: tuple[Any, ...] = (
        *([], [1.0], [[1.0, 2.0]], 3.5, "text", ["a", "b"], [np.nan], [-1], [2**62], [True], [1j], [1e300, -1e300]),
        *(
            np.array([None, {}]),
            np.zeros(3, dtype="M8[s]"),
            np.zeros(2, dtype=[("a", "f8")]),
            np.arange(5.0),
            np.arange(9)[::-1],
        ),
    )
    value = rng.choice(arrays)
    np.save(out, np.asarray(value), allow_pickle=True)
    return out.getvalue()


def _other_about(rng: random.Random, member: bytes) -> bytes:
    """Return what a run says of itself, with something replaced."""
    text = str(np.load(io.BytesIO(member)))
    about = json.loads(text)
    places: list[tuple[Any, Any]] = []

    def walk(part: Any) -> None:
        for key, value in part.items() if isinstance(part, dict) else enumerate(part):
            places.append((part, key))
            if isinstance(value, (dict, list)):
                walk(value)

    walk(about)
    part, key = rng.choice(places)
    part[key] = rng.choice((None, -1, 0, 1e308, 10**30, "x", ESCAPE, [], {}, [1], True, {"kind": "Tcp"}, {"kind": []}))
    out = io.BytesIO()
    np.save(out, np.array("[" * 5000 if rng.random() < 0.05 else json.dumps(about)))
    return out.getvalue()


def store(rng: random.Random, folder: FilePath) -> Ask:
    """Return what reads a damaged store, and goes on with its sweep; answers must be those of the whole one."""
    _, files, table = saved()
    place = folder / "store"
    place.mkdir()
    for name, data in files.items():
        (place / name).write_bytes(data)
    victim = place / rng.choice(sorted(files))
    action = rng.randrange(8)
    if action < 3:
        victim.write_bytes(mangled(rng, victim.read_bytes()))
    elif action == 3:
        victim.unlink()
    elif action == 4:
        data = victim.read_bytes()
        (place / rng.choice((*sorted(files), "part-000099.parquet"))).write_bytes(data)
    elif action == 5:
        shutil.copy(
            victim, place / rng.choice(("part-1.parquet", "part-000000 copy.parquet", "part-x.parquet", "notes"))
        )
    elif action == 6:
        victim.write_bytes(rng.choice((b"", b"PAR1", b"{}", b"[]", b"null", b'{"kind": 3}', b"[" * 5000)))
    else:
        about = json.loads((place / "sweep.json").read_text())
        about[rng.choice(sorted(about))] = rng.choice((None, 3, "stored", [], {}, -1, ESCAPE, [["a"]]))
        (place / "sweep.json").write_text(json.dumps(about))

    def ask() -> None:
        failed: InputError | None = None
        works: tuple[Callable[[], Any], ...] = (
            lambda: explore.read(place),
            lambda: explore.sweep(points(), "live", store=place),
        )
        for work in works:
            try:
                found = work()
            except InputError as error:
                failed = error
                continue
            pd.testing.assert_frame_equal(found, table.loc[found.index], check_exact=True)
        if failed is not None:
            raise failed

    return ask
