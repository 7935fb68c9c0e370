"""Experiments and observations from TOML files."""

from __future__ import annotations

from dataclasses import replace
from os import PathLike
from pathlib import Path as FilePath
from typing import Any

from ..errors import InputError, shown
from ..system.text import read_toml
from ..video import Video
from .application import Application
from .application_file import application, read_application
from .dumbbell import WARMUP, Dumbbell
from .experiment import Experiment, source_of
from .layers import Forwarded, Layered, Relayed
from .lcrtp import LcRtp
from .links import Change, CoDel, Link, TokenBucket
from .losses import Bernoulli, GilbertElliott, Loss, RoundLoss
from .observation import Observation
from .ping import Ping
from .player import Player
from .players import PLAYERS, player
from .read import read_capacity, read_losses, read_requests
from .scenario import Flow, Scenario
from .senders import Tcp
from .sources import Backlogged, Requests, Source, Steady
from .tables import Table, as_list, as_names, as_table, kind_of, known, made
from .tfrc import Tfrc

PROCESSES = {"bernoulli": Bernoulli, "round": RoundLoss, "gilbert-elliott": GilbertElliott}
SOURCES: dict[str, type[Source]] = {
    "backlogged": Backlogged,
    "steady": Steady,
    "ping": Ping,
    "tfrc": Tfrc,
    "layered": Layered,
    "forwarded": Forwarded,
    "relayed": Relayed,
    "lc_rtp": LcRtp,
}
KINDS = (*SOURCES, "requests", "FILE.py:CLASS")
FROM_FILE = ("file",)


def read_experiment(file: str | PathLike[str], **instead: Any) -> Experiment | Observation:
    """Read an experiment, or, from a file without ``video``, an observation.

    Parameters
    ----------
    file : path
        TOML: the tables ``video``, and ``links`` and ``flows`` or ``dumbbell``; ``player``, ``bins``, ``seconds``,
        ``runs`` and ``seed``.
        Numbers are in s, bit/s and bytes; names of files are relative to this one. Python files that sources name are
        run.
    **instead
        Values for ``delays``, ``seconds``, ``runs`` and ``seed`` that replace those of the file.

    Raises
    ------
    InputError
        When the file cannot be read, or naming the key that is wrong or not known.
    """
    table = read_toml(file)
    try:
        return _Tables(FilePath(file).parent).experiment(table, instead)
    except InputError as error:
        raise InputError(f"{file}: {error}") from None
    except RecursionError:
        raise InputError(f"{file}: tables are nested too deeply") from None


class _Tables:
    """Tables of a file in a folder."""

    def __init__(self, folder: FilePath) -> None:
        self.folder = folder

    def experiment(self, table: Table, instead: Table) -> Experiment | Observation:
        known(table, ("video", "player", "links", "flows", "dumbbell", "bins", "seconds", "runs", "seed"), "the file")
        if ("dumbbell" in table) == ("links" in table or "flows" in table):
            raise InputError("give either [dumbbell], or [links.NAME] and [[flows]]")
        given = {key: table[key] for key in ("seconds", "runs", "seed") if key in table}
        if "video" not in table:
            return self.observation(table, given | dict(instead))
        player = made(Player, table["player"], "player") if "player" in table else None
        if "dumbbell" in table:
            dumbbell = self.dumbbell(table["dumbbell"])
            video, delays = _video(table["video"], dumbbell.tcp)
            source = source_of(video, player)
            values = {"make": lambda rng: dumbbell.scenario(rng, source), "start": WARMUP}
        else:
            network = self.network(table, video=True)
            carriers = [flow for flow in network.flows if flow.measured and flow.tcp]
            if len(carriers) != 1 or carriers[0].tcp is None:
                raise InputError(f"flows: exactly one of TCP must be measured, got {len(carriers)}")
            video, delays = _video(table["video"], carriers[0].tcp)
            scenario = replace(network, flows=tuple(_carrying(flow, video, player) for flow in network.flows))
            values = {"make": lambda _rng: scenario, "start": carriers[0].start}
        return Experiment(**{**values, "video": video, "delays": delays, "player": player, **given, **instead})

    def observation(self, table: Table, given: dict[str, Any]) -> Observation:
        if "player" in table or given.pop("delays", ()):
            raise InputError("startup delays and a player are those of a video: a table [video] is needed")
        if "dumbbell" in table:
            raise InputError("a dumbbell carries a video: a table [video] is needed")
        if "seconds" not in given:
            raise InputError("without [video] it must be said how many seconds are simulated: seconds = 100")
        scenario = self.network(table, video=False)
        return Observation(lambda _rng: scenario, **given)

    def network(self, table: Table, *, video: bool) -> Scenario:
        links = as_table(table.get("links"), "links")
        flows = as_list(table.get("flows"), "flows", lambda flow, where: self.flow(flow, where, video=video))
        return Scenario(
            {name: self.link(link, f"links.{name}") for name, link in links.items()}, flows, table.get("bins")
        )

    def dumbbell(self, table: Any) -> Dumbbell:
        return made(Dumbbell, table, "dumbbell", loss=self.loss, tcp=_tcp, requests=self.requests)

    def link(self, table: Any, where: str) -> Link:
        return made(
            Link,
            table,
            where,
            loss=self.loss,
            capacity=lambda name, where: read_capacity(self.file(name, where)),
            bucket=lambda bucket, where: made(TokenBucket, bucket, where),
            codel=lambda codel, where: made(CoDel, codel, where),
            changes=lambda changes, where: as_list(changes, where, lambda change, at: made(Change, change, at)),
        )

    def flow(self, table: Any, where: str, *, video: bool) -> Flow:
        carries = video and as_table(table, where).get("measured") and table.get("tcp") is not False
        if carries and "source" in table:
            raise InputError(f"{where}.source: the measured flow carries the video, it has no source of its own")
        return made(Flow, table, where, there=as_names, back=as_names, source=self.source, tcp=_tcp_or_datagrams)

    def loss(self, table: Any, where: str) -> Loss:
        kind, rest = kind_of(table, "process", (*PROCESSES, "trace"), where)
        if kind == "trace":
            known(rest, FROM_FILE, where)
            return read_losses(self.file(rest.get("file"), f"{where}.file"))
        return made(PROCESSES[kind], rest, where)

    def source(self, table: Any, where: str) -> Source:
        name = as_table(table, where).get("kind")
        if isinstance(name, str) and ".py:" in name:
            settings = {key: value for key, value in table.items() if key != "kind"}
            return read_application(self.folder, name, settings, where)
        kind, rest = kind_of(table, "kind", (*KINDS, *PLAYERS), where)
        if kind in PLAYERS:
            return application(player(kind), rest, where)
        if kind == "requests":
            known(rest, FROM_FILE, where)
            return self.requests(rest.get("file"), f"{where}.file")
        found = SOURCES[kind]
        return application(found, rest, where) if issubclass(found, Application) else made(found, rest, where)

    def requests(self, name: Any, where: str) -> Requests:
        return read_requests(self.file(name, where))

    def file(self, name: Any, where: str) -> FilePath:
        if not isinstance(name, str):
            raise InputError(f"{where} must be the name of a file, got {shown(name)}")
        return self.folder / name


def _video(table: Any, tcp: Tcp) -> tuple[Video, tuple[float, ...]]:
    """Return the video, in packets of its sender, and the startup delays."""
    known(as_table(table, "video"), ("packet_rate", "bitrate", "live", "duration", "delays"), "video")
    values = dict(table)
    live = values.pop("live", False)
    delays = values.pop("delays", [])
    if live not in (True, False) or live == ("duration" in values):
        raise InputError("video: give live = true, or the duration of a stored video [s]")
    if not isinstance(delays, list):
        raise InputError(f"video.delays must be a list of times [s], got {shown(delays)}")
    return Video(**values, packet_size=tcp.packet_size), tuple(delays)


def _carrying(flow: Flow, video: Video, player: Player | None) -> Flow:
    """Return the flow, with the video as its source if it is the measured one of TCP."""
    return replace(flow, source=source_of(video, player)) if flow.measured and flow.tcp else flow


def _tcp(table: Any, where: str) -> Tcp:
    return made(Tcp, table, where)


def _tcp_or_datagrams(table: Any, where: str) -> Tcp | None:
    """Return how TCP sends, or None where `table` is false: datagrams."""
    return None if table is False else _tcp(table, where)
