"""The options that commands share, as decorators. An option that is not given is None."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

import click

from ..errors import AccuracyError, InputError
from . import units

#: Parameters that messages of the library name; the command line has them as options, and has no quantum.
_NAMES = re.compile(r"\b(max_window|initial_window|timeout_ratio|packet_size)\b|( or a larger quantum)")

F = TypeVar("F", bound=Callable[..., Any])
Decorator = Callable[[F], F]


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
    """Make what a command refuses name options where the library names parameters."""

    @wraps(command)
    def call(**options: Any) -> Any:
        try:
            return command(**options)
        except (InputError, AccuracyError) as error:
            text = _NAMES.sub(lambda found: "--" + found[1].replace("_", "-") if found[1] else "", str(error))
            raise type(error)(text) from error

    return cast(F, call)


path_options = _all(
    in_options,
    option("--loss", units.probability, "P", "Loss rate p: probability that a packet starts a loss, as 0.02 or 2%."),
    option(
        "--throughput",
        units.measured,
        "R[,R,R]",
        "Instead of --loss: throughput that TCP was seen to have, as 250pps or 3Mbps, and the ends of its interval.",
    ),
    option("--rtt", units.seconds, "T", "Round trip time R, as 0.11 or 110ms."),
    option("--rto", units.seconds, "T", "First retransmission timer.  [default: R + 200ms, as Linux]"),
    option("--timeout-ratio", units.number, "N", "Instead of --rto: timer over round trip time, at least 1."),
    option(
        "--capture",
        str,
        "FILE",
        "Instead of the five above: pcap or pcapng file of a TCP flow over the path, measured.",
    ),
    option("--max-window", units.number, "N", "Largest window [packets].  [default: too large to matter]"),
    option(
        "--rounds-per-increase",
        units.number,
        "1|2",
        "Rounds of full windows per window increase; 2 for delayed ACKs.  [default: 1]",
    ),
    option(
        "--backoff", str, "rfc6298|paper", "Timers doubled 6 times at most, or from the second.  [default: rfc6298]"
    ),
    option("--halving", str, "floor|ceil", "How half of an odd window is rounded.  [default: floor]"),
    option(
        "--tcp",
        str,
        "reno|reno-sack|cubic",
        "Losses in bursts; or SACK with independent losses, as Reno or CUBIC.  [default: what fits the capture, else "
        "reno]",
    ),
    option(
        "--initial-window",
        units.number,
        "N",
        "Slow start, from this window on and after timeouts; 10 as RFC 6928.  [default: what the capture shows, else "
        "none]",
    ),
    option(
        "--detection",
        str,
        "duplicates|rack",
        "Losses seen by duplicate acknowledgements, or by RACK-TLP.  [default: what the capture shows, else "
        "duplicates]",
    ),
    option("--bottleneck", units.rate, "R", "Rate of a link that the flow fills, as 667pps or 8Mbps.  [default: none]"),
    option("--buffer", units.number, "N", "Packets that wait before the bottleneck at most."),
)

packet_size_option = option(
    "--packet-size", units.number, "B", "Bytes of a packet, for rates in bit/s.  [default: the capture's, else 1500]"
)

limited_option = click.option(
    "--application-limited",
    "limited",
    is_flag=True,
    help="Live: the sender's window grows no further than the stream needs, as in Linux.",
)
rate_option = option("--rate", units.rate, "R", "Playback rate mu, as 25pps or 600kbps.")
duration_option = option("--duration", units.seconds, "T", "Length of the video, as 80s or 10min.")
playback_option = option(
    "--playback", str, "FILE", "Instead of --rate and --duration: CSV of time_s,packets, the packets due by then."
)
delay_option = option(
    "--delay", units.times, "T[,T...]", "Startup delays tau, one or several, as 1,2.5,500ms.", required=True
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object and nothing else.")
