"""Players of ``tcpstream simulate``: from options, and what their viewers see."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..errors import InputError
from . import options as opt
from . import units
from .blocks import Table

if TYPE_CHECKING:
    from ..sim import Player

SETTINGS = ("start", "start_buffer", "resume_buffer", "client_buffer", "refill_at", "idle")

_SEEN = {
    "join_time_s": "join time [s]",
    "stall_probability": "probability of a stall",
    "total_rebuffer_s": "stalled in total [s]",
    "rebuffer_count": "number of stalls",
    "rebuffering_ratio": "rebuffering ratio",
}


def player_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the settings of a player, as ``tcpstream play`` has them."""
    for option in reversed(
        (
            opt.option("--start", units.seconds, "T", "A player that starts after this delay, as 500ms."),
            opt.option("--start-buffer", units.seconds, "T", "Start with so much media held, instead of --start."),
            opt.option("--resume-buffer", units.seconds, "T", "Resume after a stall with so much held.  [default: 0s]"),
            opt.option("--client-buffer", units.seconds, "T", "Media that it holds at most.  [default: no limit]"),
            opt.option(
                "--refill-at", units.seconds, "T", "Read again when so much is held.  [default: --client-buffer]"
            ),
            opt.option("--idle", str, "restart|keep", "The window after an idle time, as play.  [default: restart]"),
        )
    ):
        command = option(command)
    return command


def player_of(options: dict[str, Any]) -> Player | None:
    """Return the player that the options describe, if they describe one."""
    from ..sim.player import Player

    given = {name: options[name] for name in SETTINGS if options[name] is not None}
    if not given:
        return None
    if options["live"]:
        raise InputError(f"{opt.flag(next(iter(given)))} is for a stored video: give --duration T, or leave it out")
    if "client_buffer" not in given:
        for name in ("refill_at", "idle"):
            if name in given:
                raise InputError(
                    f"{opt.flag(name)} is for a player that holds so much at most: give --client-buffer as well"
                )
    return Player(**given)


def viewers(data: dict[str, Any]) -> Table:
    """Return what the viewers of all runs saw."""
    rows = []
    for key, label in _SEEN.items():
        if data[key] is None:
            continue
        low, high = data["intervals"][key]
        mean = data[key]["mean"] if isinstance(data[key], dict) else data[key]
        rows.append((label, f"{mean:.4g}", f"{low:.4g} to {high:.4g}"))
    if data["stall_length_s"]:
        rows.insert(-1, ("length of a stall [s]", f"{data['stall_length_s']['mean']:.4g}", ""))
    return Table(rows, ("what viewers see", "mean", "95% interval"))


def told(player: Player) -> str:
    """Return the settings of a player in words."""
    if player.start is not None:
        return f"starts after {player.start:g} s"
    words = f"starts with {player.start_buffer:g} s, resumes with {player.resume_buffer:g} s"
    if player.client_buffer is None:
        return words
    return f"{words}, reads until {player.client_buffer:g} s are held and again at {player.refill_at:g} s"
