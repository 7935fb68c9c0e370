"""Windows Streaming Media 9 over UDP, as Nichols measured it (thesis, Worcester Polytechnic Institute, 2004)."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..application import Application, Client, Server
from ..traffic import Traffic
from .wsm_client import WsmClient
from .wsm_server import WsmServer
from .wsm_settings import WsmSettings


@dataclass(frozen=True)
class Wsm(WsmSettings, Application):
    """A player and its server, whose settings are those of `WsmSettings`.

    The client has its server send three packets back to back and chooses, once, by the larger of the two rates at which
    one follows the other: the highest level below it, or the lowest one; its video, with the audio of the top level.
    The media come faster than they are played until the client's buffer is full. Then the client settles: it keeps the
    level, or takes a lower one, or, where there is none, audio alone. All the while its server sends again what the
    client misses. Whether client or server decides the thesis cannot see; here the client does, by its own arrivals.
    """

    def server(self) -> Server:
        """Return the server of a run."""
        return WsmServer(self)

    def client(self) -> Client:
        """Return the client of a run."""
        return WsmClient(self)

    def figures(self, traffic: Traffic, duration: float) -> dict[str, float]:
        """Return the level chosen, how long buffering takes, and when it settled on less, since the first media [s]."""
        del duration
        begin, level, full, less = (_first(traffic, name) for name in ("plays", "level", "full", "less"))
        return {"level": level[1], "buffering_s": full[0] - begin[0], "less_s": less[0] - begin[0]}


def _first(traffic: Traffic, name: str) -> tuple[float, float]:
    """Return time and value of the first note with a name."""
    times, values = traffic.noted(name)
    return (float(times[0]), float(values[0])) if len(times) else (math.nan, math.nan)
