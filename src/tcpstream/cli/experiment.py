"""From the options of ``tcpstream simulate`` to an experiment on a single path."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..errors import InputError, choice
from .watching import player_of

if TYPE_CHECKING:
    from ..sim.experiment import Experiment
    from ..sim.losses import Loss

LOSSES = ("loss", "gilbert_elliott", "loss_trace")
TCP = ("max_window", "ack_every", "min_rto", "granularity", "initial_window")
REPEATED = ("seconds", "runs", "seed")


def single(options: dict[str, Any], delays: list[float]) -> Experiment:
    """Return the experiment that the options describe."""
    from ..sim import Link, Tcp, single_path
    from ..sim.experiment import Experiment, source_of
    from ..sim.read import read_capacity
    from ..video import Video

    if missing := [flag(name) for name in ("rtt", "rate") if options[name] is None]:
        raise InputError(f"missing {' and '.join(missing)}: give --rtt T --rate R, or the FILE of a scenario")
    if options["live"] == (options["duration"] is not None):
        raise InputError("give --live for a live stream, or --duration T for a stored video")
    size = 1500 if options["packet_size"] is None else options["packet_size"]
    chosen = {name: options[name] for name in TCP if options[name] is not None}
    tcp = Tcp(options["tcp"] or "reno", slow_start=not options["no_slow_start"], packet_size=size, **chosen)
    name, value = options["rate"]
    video = Video(**{name: value}, packet_size=tcp.packet_size, duration=options["duration"])
    limits: dict[str, Any] = {}
    if options["bandwidth"] is not None:
        name, value = options["bandwidth"]
        limits["rate"] = value if name == "bitrate" else value * 8 * tcp.packet_size
    if options["capacity"] is not None:
        if limits:
            raise InputError("give --bandwidth or --capacity, not both")
        limits["capacity"] = read_capacity(options["capacity"])
    there = Link(options["rtt"] / 2, queue=options["queue"], loss=_loss(options), **limits)
    player = player_of(options)
    scenario = single_path(there, Link(options["rtt"] / 2), tcp, source_of(video, player))
    return Experiment(lambda _rng: scenario, 0.0, video, tuple(delays), player=player, **repeated(options))


def repeated(options: dict[str, Any]) -> dict[str, Any]:
    """Return what was said of length, number and seed of the runs."""
    return {name: options[name] for name in REPEATED if options[name] is not None}


def flag(name: str) -> str:
    """Return the option of a parameter."""
    return "--" + name.replace("_", "-")


def _loss(options: dict[str, Any]) -> Loss | None:
    from ..sim import Bernoulli, GilbertElliott, RoundLoss
    from ..sim.read import read_losses

    given = [flag(name) for name in LOSSES if options[name] is not None]
    if len(given) > 1:
        raise InputError(f"give one of {', '.join(given)}")
    process = options["loss_process"]
    if process is not None:
        choice("--loss-process", process, ("bernoulli", "round"))
        if options["loss"] is None:
            raise InputError("--loss-process needs --loss P")
    if options["gilbert_elliott"] is not None:
        return GilbertElliott(*options["gilbert_elliott"])
    if options["loss_trace"] is not None:
        return read_losses(options["loss_trace"])
    if options["loss"] is None:
        return None
    return RoundLoss(options["loss"]) if process == "round" else Bernoulli(options["loss"])
