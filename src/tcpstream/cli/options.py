"""The options that commands share, as decorators. An option that is not given is None."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import Field, fields
from functools import wraps
from typing import Any, TypeVar, cast

import click

from ..errors import AccuracyError, InputError
from ..path import PARAMETERS, Network
from ..sender import DEFAULT_SENDER, SENDERS, Sender, takes_text
from ..system.watch import time_limit as limited_time
from . import units
from .overrun import ended
from .progress import solving

PARSERS: dict[str, Callable[[str], Any]] = {
    "N": units.number,
    "P": units.probability,
    "R": units.rate,
    "T": units.seconds,
}
"""What reads the values of options, by what help says in their place."""

#: Parameters that messages of the library name; the command line has them as options, and has no quantum.
_PARAMETERS = (*(one.name for one in PARAMETERS if "_" in one.name), "packet_size", "time_limit", "on_stall")
_NAMES = re.compile(
    rf"\b({'|'.join(_PARAMETERS)}|(?<=shorter )(?:duration|rto)|(?:accuracy|player)(?==| must))\b"
    "|( or a larger quantum)"
)

F = TypeVar("F", bound=Callable[..., Any])
Decorator = Callable[[F], F]


def flag(name: str) -> str:
    """Return the option that stands for a parameter."""
    return "--" + name.replace("_", "-")


def option(name: str, parse: Callable[[str], Any], metavar: str, text: str, **settings: Any) -> Decorator[Any]:
    """Return an option that is parsed by `parse`, whose errors then name it, and that may be given once."""

    def value(_context: click.Context, _parameter: click.Parameter, given: tuple[str, ...]) -> Any:
        if len(given) > 1:
            raise InputError(f"{name} is given {len(given)} times: give it once")
        try:
            return parse(given[0]) if given else None
        except InputError as error:
            raise InputError(f"{name}: {error}") from None

    return click.option(name, multiple=True, callback=value, metavar=metavar, help=text, **settings)


def _all(*decorators: Decorator[Any]) -> Decorator[Any]:
    def decorate(command: Any) -> Any:
        for decorator in reversed(decorators):
            command = decorator(command)
        return command

    return decorate


def in_options(command: F) -> F:
    """Make what a command refuses name options where the library names parameters; watch the time that it takes."""

    @wraps(command)
    def call(time_limit: float | None, **options: Any) -> Any:
        try:
            if time_limit is None:
                with solving():
                    return command(**options)
            with limited_time(time_limit), ended(time_limit), solving():
                return command(**options)
        except (InputError, AccuracyError) as error:
            if str(error).startswith(f"{options.get('regimes')}: "):
                raise  # a file has names of the library
            text = _NAMES.sub(lambda found: flag(found[1]) if found[1] else "", str(error))
            raise type(error)(text) from error

    return cast(F, call)


def _parameter(one: Field[Any]) -> Decorator[Any]:
    """Return the option of a parameter of a path."""
    of, text = one.metadata["of"], one.metadata["text"]
    metavar = of if isinstance(of, str) else "|".join(map(str, of))
    parse = str if takes_text(one) else PARSERS.get(of, units.number)
    return option(flag(one.name), parse, metavar, text(of) if callable(text) else text)


sender_option = option(
    "--sender",
    str,
    "|".join(SENDERS),
    f"What sends, but for what follows: the paper's TCP, or today's.  [default: {DEFAULT_SENDER}; classic beside a "
    "capture, for what that does not show]",
)
sender_options = _all(*(_parameter(one) for one in fields(Sender)))

path_options = _all(
    in_options,
    *(_parameter(one) for one in fields(Network)),
    option(
        "--throughput",
        units.measured,
        "R[,R,R]",
        "Instead of --loss: throughput that TCP was seen to have, as 250pps or 3Mbps, and the ends of its interval.",
    ),
    option(
        "--capture",
        str,
        "FILE",
        "Instead of --loss, --throughput, --rtt, --rto and --timeout-ratio: pcap or pcapng file of a TCP flow over the "
        "path, measured.",
    ),
    sender_option,
    sender_options,
)

regimes_option = option(
    "--regimes",
    str,
    "FILE",
    "Instead of --loss, --rtt and --bottleneck: TOML of a path that changes between regimes, a table for each; or CSV, "
    "a row for each.",
)

packet_size_option = option(
    "--packet-size", units.number, "B", "Bytes of a packet, for rates in bit/s.  [default: the capture's, else 1500]"
)

limited_option = click.option(
    "--application-limited",
    "limited",
    is_flag=True,
    help="Live: the sender's window grows only while the stream uses it up, as in Linux.",
)
rate_option = option("--rate", units.rate, "R", "Playback rate mu, as 25pps or 600kbps.")
duration_option = option("--duration", units.seconds, "T", "Length of the video, as 80s or 10min.")
playback_option = _all(
    option(
        "--playback",
        str,
        "FILE",
        "Instead of --rate and --duration: CSV of time_s,packets, the packets due by then; or sizes of frames or "
        "segments, as CSV of time_s,bytes or duration_s,bytes, JSON of ffprobe, or a movie of Sabre.",
    ),
    option("--rung", units.number, "N", "Which bit rate of a movie of Sabre, from 1 on."),
)
delay_option = option(
    "--delay", units.times, "T[,T...]", "Startup delays tau, one or several, as 1,2.5,500ms.", required=True
)
accuracy_option = option(
    "--accuracy",
    str,
    "exact|fine|fast",
    "To the packet, if a live rate fits a lattice; to 1% of the late fraction; or faster.  "
    "[default: exact where that takes a second]",
)

time_limit_option = option("--time-limit", units.seconds, "T", "Give up after this time, as 30s or 2min.")
json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object and nothing else.")
