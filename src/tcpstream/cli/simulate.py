"""``tcpstream simulate``: a video over simulated TCP, packet by packet."""

from __future__ import annotations

import os
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any

import click

from ..errors import InputError
from . import options as opt
from . import units
from .blocks import Table
from .report import Report
from .sections import Sectioned
from .watching import player_options, told, viewers
from .words import number_of_runs, packets_per_second, spanned

if TYPE_CHECKING:
    from ..sim import Observation, Run
    from ..sim.experiment import Experiment

_MEASURED = {
    "loss": "lost of sent packets p",
    "loss_event_rate": "loss-event rate",
    "rtt_s": "round trip time R [s]",
    "rto_s": "retransmission timer [s]",
    "timeout_ratio": "timer over round trip T_O",
    "throughput_pps": "throughput T [packets/s]",
}
_LATE = ("startup delay [s]", "late fraction", "95% interval", "runs without", "stalls a run", "stalled [s]")


def _states(text: str) -> list[float]:
    parts = [units.number(part) for part in text.split(",")]
    if len(parts) not in (3, 4):
        raise InputError(f"three or four numbers are wanted, to_bad,to_good,bad[,good], got {text!r}")
    return parts


@click.command(cls=Sectioned)
@click.argument("file", required=False)
@opt.option("--rtt", units.seconds, "T", "Round trip propagation delay, as 0.11 or 110ms.")
@opt.option("--loss", units.probability, "P", "Loss probability of data packets, as 0.02 or 2%.  [default: 0]")
@opt.option("--loss-process", str, "bernoulli|round", "Independent, or with the rest of a round.  [default: bernoulli]")
@opt.option("--gilbert-elliott", _states, "B,G,PB[,PG]", "Loss in two states: to bad, to good, loss in bad, in good.")
@opt.option("--loss-trace", str, "FILE", "Loss of a recorded row of packets: a line each, 0 arrived, 1 lost.")
@opt.option("--bandwidth", units.rate, "R", "Rate of the bottleneck, as 5Mbps.  [default: infinite]")
@opt.option("--queue", units.number, "N", "Room at the bottleneck [packets].  [default: infinite]")
@opt.option("--capacity", str, "FILE", "Instead of --bandwidth: a Mahimahi trace, a line [ms] for each 1500 bytes.")
@opt.option("--tcp", str, "reno|newreno|sack|rack", "Loss recovery.  [default: reno]")
@opt.option("--max-window", units.number, "N", "Largest window [packets].  [default: 64]")
@opt.option("--initial-window", units.number, "N", "First window [packets].  [default: 2]")
@opt.option("--ack-every", units.number, "N", "Packets an acknowledgement; 2 for delayed ones.  [default: 1]")
@opt.option("--min-rto", units.seconds, "T", "Least retransmission timer.  [default: 200ms]")
@opt.option("--granularity", units.seconds, "T", "Tick of the retransmission timer.  [default: 10ms]")
@click.option("--no-slow-start", is_flag=True, help="Windows grow by a packet a round only.")
@opt.option("--packet-size", units.number, "B", "Bytes of a packet.  [default: 1500]")
@opt.rate_option
@click.option("--live", is_flag=True, help="A live stream.")
@opt.option("--duration", units.seconds, "T", "A stored video of this length, as 80s or 10min.")
@opt.option("--delay", units.times, "T[,T...]", "Startup delays tau, one or several, as 1,2.5,500ms.")
@player_options
@opt.option("--seconds", units.seconds, "T", "Simulated time.  [default: 1000s live; stored: as long as needed]")
@opt.option("--runs", units.number, "N", "Independent repetitions.  [default: 10]")
@opt.option("--seed", units.number, "N", "Of the random numbers.  [default: 1]")
@opt.option("--csv", str, "FILE", "Write packet,generated_s,delivered_s; several runs: FILE-1, FILE-2, ...")
@opt.option("--save", str, "FILE", "Write each run for `tcpstream.sim.Run.load` (.npz), in the same manner.")
@opt.json_option
def simulate(
    as_json: bool, file: str | None, delay: list[float] | None, csv: str | None, save: str | None, **options: Any
) -> Report:
    """Late packets of a video, and what viewers see, over simulated TCP.

    Packet by packet, with queues and acknowledgements, several times with other random numbers: means and their 95%
    intervals. One path from the options, or any network from the TOML file FILE, which without a video tells what
    becomes of the traffic of all flows. With --start or --start-buffer a player shows the stored video, as in play.
    """
    from .._version import __version__
    from ..answers.answer import SCHEMA
    from ..sim.experiment import Experiment
    from .progress import progress

    experiment = _experiment(file, delay, options)
    for out in (csv, save):
        if out is not None and (not FilePath(out).name or os.path.isdir(out)):  # noqa: PTH112
            raise InputError(f"cannot write {out}: it is no name of a file")
        if out is not None and not os.path.isdir(FilePath(out).parent):  # noqa: PTH112
            raise InputError(f"cannot write {out}: no such folder")
    with progress(experiment.runs, "simulating") as done:
        runs = experiment.run(done)
    for number, run in enumerate(runs, 1):
        _write(run, number if len(runs) > 1 else None, csv, save, traffic=not isinstance(experiment, Experiment))
    data = experiment.outcome(runs)
    head = {"schema": SCHEMA, "version": __version__}
    if not isinstance(experiment, Experiment):
        from .observed_traffic import blocks as of_traffic
        from .observed_traffic import parameters

        told = {"parameters": parameters(experiment, file, runs[0])}
        return Report(head | told | data, of_traffic(experiment, data), as_json)
    blocks = [_late(data)] if data["startup_delay_s"] else []
    blocks += [viewers(data)] if experiment.player else []
    blocks += [_measured(data), _setting(experiment)]
    return Report(head | {"parameters": _parameters(experiment, file, runs[0])} | data, blocks, as_json)


def _experiment(file: str | None, delays: list[float] | None, options: dict[str, Any]) -> Experiment | Observation:
    from .experiment import REPEATED, flag, repeated, single

    if file is None:
        return single(options, delays or [])
    from ..sim.toml import read_experiment

    if twice := [flag(name) for name, value in options.items() if value not in (None, False) and name not in REPEATED]:
        raise InputError(f"{file} describes the scenario: leave out {' and '.join(twice)}, or FILE")
    instead = {} if delays is None else {"delays": tuple(delays)}
    return read_experiment(file, **repeated(options), **instead)


def _write(run: Run, number: int | None, csv: str | None, save: str | None, *, traffic: bool) -> None:
    for name, write in ((csv, run.write_traffic if traffic else run.write_csv), (save, run.save)):
        if name is not None:
            path = FilePath(name)
            write(path if number is None else path.with_stem(f"{path.stem}-{number}"))


def _parameters(experiment: Experiment, file: str | None, run: Run) -> dict[str, Any]:
    """Return what was simulated; a network that is drawn is that of the first run."""
    from ..sim.files import plain

    player = {} if experiment.player is None else experiment.player.to_dict()
    return (
        experiment.video.to_dict()
        | player
        | {
            "file": file,
            "simulated_s": experiment.seconds,
            "runs": experiment.runs,
            "seed": experiment.seed,
            "scenario": plain(run.scenario),
        }
    )


def _late(data: dict[str, Any]) -> Table:
    rows = [
        (f"{tau:g}", f"{late:.4g}", spanned(ends), f"{share:.4g}", f"{stalls:.4g}", f"{stalled:.4g}")
        for tau, late, ends, share, stalls, stalled in zip(
            data["startup_delay_s"],
            data["late_fraction"],
            data["intervals"]["late_fraction"],
            data["no_late_share"],
            data["stalls"],
            data["stalled_s"],
        )
    ]
    return Table(rows, _LATE)


def _measured(data: dict[str, Any]) -> Table:
    rows = [(label, f"{data[key]:.4g}", spanned(data["intervals"][key])) for key, label in _MEASURED.items()]
    return Table(rows, ("measured in the runs", "mean", "95% interval"))


def _setting(experiment: Experiment) -> Table:
    video = experiment.video
    length = "live" if experiment.live else f"stored, {video.duration:g} s"
    rows = [("video", f"{length}, {packets_per_second(video.packet_rate, video.packet_size)}")]
    many, seed = number_of_runs(experiment.runs), f"seed {experiment.seed}"
    if experiment.player is None:
        return Table([*rows, ("simulated", f"{many} of {experiment.seconds:g} s, {seed}")])
    return Table([*rows, ("player", told(experiment.player)), ("simulated", f"{many}, {seed}")])
