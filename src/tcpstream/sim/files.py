"""Runs as files: .npz with everything, CSV with the packets of a flow."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from os import PathLike
from typing import IO, Any
from zipfile import ZipFile

import numpy as np

from .._version import __version__
from ..errors import InputError, cause, positive, real, shown, whole
from ..system.whole_files import written
from .application import Application, Unknown, label
from .arrays import array
from .clip import Clip
from .delivery import Delivery
from .layers.video_layers import VideoLayers
from .links import Change, CoDel, Link, TokenBucket
from .losses import Bernoulli, GilbertElliott, LossTrace, RoundLoss
from .player import Player
from .scenario import Flow, Scenario
from .senders import Tcp
from .sources import Backlogged, Requests, Steady, Stored
from .traffic import Traffic
from .traffic_files import as_arrays, from_arrays, notes, rows

KINDS = {
    kind.__name__: kind
    for kind in (
        Backlogged, Bernoulli, Change, Clip, CoDel, Flow, GilbertElliott, Link, LossTrace, Player, Requests, RoundLoss,
        Scenario, Steady, Stored, Tcp, TokenBucket, VideoLayers,
    )
}  # fmt: skip


def plain(value: Any) -> Any:
    """Return a scenario, or a part of it, as JSON has it: each object with its ``kind``, what is infinite left out."""
    if isinstance(value, Unknown):
        return {"kind": value.name} | plain(value.settings)
    if is_dataclass(value) and not isinstance(value, type):
        found = {field.name: getattr(value, field.name) for field in fields(value)}
        kind = label(type(value)) if isinstance(value, Application) else type(value).__name__
        return {"kind": kind} | {k: plain(v) for k, v in found.items() if _finite(v)}
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, tuple):
        return [plain(item) for item in value]
    return value.tolist() if isinstance(value, np.ndarray) else value


def from_plain(value: Any) -> Any:
    """Return what `plain` was given."""
    if isinstance(value, list):
        return tuple(from_plain(item) for item in value)
    if not isinstance(value, dict):
        return value
    parts = {key: from_plain(item) for key, item in value.items() if key != "kind"}
    if "kind" not in value:
        return parts
    kind = KINDS.get(value["kind"]) or Application.known.get(value["kind"])
    return kind(**parts) if kind else Unknown(value["kind"], parts)


def write_npz(file: str | PathLike[str], run: dict[str, Any]) -> None:
    """Write the parts of a `Run`, by their names: ``times_0``, ``times_1``, ... of its flows, and the rest."""
    numbers = [field.name for field in fields(Delivery) if field.name != "times"]
    arrays: dict[str, Any] = {name: np.array([getattr(flow, name) for flow in run["flows"]]) for name in numbers}
    arrays |= {f"times_{number}": flow.times for number, flow in enumerate(run["flows"])}
    arrays |= as_arrays(run["traffic"])
    about = _about(run["scenario"], run["seed"]) | {name: run[name] for name in ("duration", "packets", "events")}
    about["notes"] = notes(run["traffic"])
    with written(file) as out:
        np.savez_compressed(out, about=np.array(json.dumps(about)), **arrays)


def read_npz(file: str | PathLike[str]) -> dict[str, Any]:
    """Return the parts of a `Run` that `write_npz` wrote, or raise `InputError`."""
    try:
        with ZipFile(file) as archive:
            return _parts(archive)
    except OSError as error:
        raise InputError(f"cannot read {file}: {cause(error)}") from None
    except MemoryError:
        raise
    except Exception as error:  # a damaged archive, or scenario, makes what reads it raise anything
        raise InputError(f"{file} is not a saved run: {shown(str(error) or type(error).__name__)}") from None


def _parts(archive: ZipFile) -> dict[str, Any]:
    about = json.loads(str(array(archive, "about", "U", 0)))
    scenario = from_plain(about["scenario"])
    if not isinstance(scenario, Scenario):
        raise ValueError("it has no scenario")
    names = [field.name for field in fields(Delivery) if field.name != "times"]
    columns = [array(archive, name, "iuf", 1).tolist() for name in names]
    flows = []
    for number, row in enumerate(zip(*columns, strict=True)):
        times = array(archive, f"times_{number}", "f", 1)
        if not np.isfinite(times).all() or (np.diff(times) < 0).any():
            raise ValueError(f"times_{number} are not nondecreasing times")
        flow = Delivery(times=times, **dict(zip(names, row)))
        positive("duration", flow.duration, "s")
        if real("interval", flow.interval, "s") < 0:
            raise ValueError(f"interval must be at least 0 s, got {flow.interval:g} s")
        flows.append(flow)
    if len(flows) != len(scenario.measured):
        raise ValueError(f"it has {len(flows)} flows, and {len(scenario.measured)} are measured")
    duration = positive("duration", about["duration"], "s")
    packets, events = (whole(name, about[name], 0) for name in ("packets", "events"))
    seed = about["seed"]
    if not isinstance(seed, dict) or set(seed) != {"entropy", "spawn_key"}:
        raise ValueError("it has no seed")
    return {
        "scenario": scenario,
        "duration": duration,
        "flows": flows,
        "traffic": from_arrays(archive, scenario, about["notes"]) if "notes" in about else [],
        "packets": packets,
        "events": events,
        "seed": seed,
    }


def write_csv(file: str | PathLike[str], seen: Delivery, scenario: Scenario, seed: dict[str, Any]) -> None:
    """Write a row for each delivered packet of a measured flow, with what was simulated in lines that begin with #."""
    with written(file) as out:
        _head(out, scenario, seed)
        out.write(b"packet,generated_s,delivered_s\n")
        out.writelines(f"{row}\n".encode() for row in _rows(seen))


def write_traffic(
    file: str | PathLike[str], traffic: list[Traffic], scenario: Scenario, duration: float, seed: dict[str, Any]
) -> None:
    """Write bytes of all flows, in time bins where the scenario has them, after lines that begin with #."""
    with written(file) as out:
        _head(out, scenario, seed)
        out.writelines(f"{row}\n".encode() for row in rows(scenario, traffic, duration))


def _head(out: IO[bytes], scenario: Scenario, seed: dict[str, Any]) -> None:
    for key, value in _about(scenario, seed).items():
        out.write(f"# {key}: {value if isinstance(value, str) else json.dumps(value)}\n".encode())


def _rows(seen: Delivery) -> Iterator[str]:
    """Yield rows; what a backlogged sender sends exists from the start."""
    for packet, time in enumerate(seen.times.tolist()):
        yield f"{packet},{packet * seen.interval:.9g},{time:.9f}"


def _about(scenario: Scenario, seed: dict[str, Any]) -> dict[str, Any]:
    """Return where a run comes from."""
    return {"tcpstream": __version__, "seed": seed, "scenario": plain(scenario)}


def _finite(value: Any) -> bool:
    return not (isinstance(value, float) and math.isinf(value))
