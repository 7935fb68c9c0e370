"""The group of commands, and how every outcome becomes an exit status and at most one line on stderr."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path as FilePath

import click

from .._version import __version__
from ..errors import InputError, MissingExtraError, TcpstreamError, cause
from .claims import claims
from .delay import delay
from .doctor import doctor
from .estimate import estimate
from .figure import figure
from .fit import fit
from .interrupt import INTERRUPTED
from .live import live
from .notes import collected
from .play import play
from .rate import rate
from .report import Report
from .schema import schema
from .score import score
from .share import share
from .simulate import simulate
from .stored import stored
from .streams import abandon, say, settle
from .sweep import sweep
from .throughput import throughput
from .transfer import transfer
from .validate import validate

FAILED, BAD_INPUT, BROKEN_PIPE = 1, 2, 141

_EXTRA_UNIT = re.compile(r"extra arguments? \((%|ms|s|min|h|pps|packets?|[kmg]?i?(bps|b/s|bit/s|bit|b))[) ]", re.I)
"""What click says of a number whose unit is a word of its own."""


class _InOrder(click.Group):
    """A group that lists its commands in the order in which they were added."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(self.commands)


@click.group(
    cls=_InOrder,
    no_args_is_help=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, prog_name="tcpstream", message="%(prog)s %(version)s")
def group() -> None:
    """Will this video play without glitches over this TCP path, and how long must the player wait first?

    Times are seconds or carry a unit: 0.11, 110ms, 2min, 1h. Rates carry a unit: 25pps, 600kbps, 1.2Mbit/s, 5Gbps;
    3MB/s are bytes, 24 Mbit/s. Every command prints a table, or with --json one JSON object.
    `tcpstream COMMAND --help` says more.

    \b
    tcpstream delay  --loss 2% --rtt 100ms --rate 25pps --live
    tcpstream delay  --capture flow.pcap --rate 300kbps --duration 10min
    tcpstream play   --loss 2% --rtt 100ms --rate 40pps --duration 60s --start 1s
    tcpstream stored --loss 2% --rtt 100ms --rate 25pps --duration 80s --delay 1,2

    Exit status: 0 an answer, 2 bad input, 3 no finite startup delay suffices, 1 no accurate answer, or a capture that
    the model does not describe.
    """


for _command in (
    throughput,
    share,
    stored,
    live,
    delay,
    play,
    transfer,
    rate,
    estimate,
    fit,
    sweep,
    score,
    simulate,
    validate,
    figure,
    claims,
    doctor,
    schema,
):
    group.add_command(_command)


def answer(argv: Sequence[str] | None = None) -> int:
    """Run the command line on `argv` (by default the process's own) and return the exit status."""
    settle()
    if sys.stdout is None:
        return _error("cannot write the answer: standard output is closed", FAILED)
    notes: dict[str, None] = {}
    try:
        with collected() as notes:
            outcome = group.main(args=argv, prog_name="tcpstream", standalone_mode=False)
        if isinstance(outcome, Report):
            return _write(replace(outcome, notes=tuple(notes)))
        return int(outcome or 0)
    except click.ClickException as error:
        return _error(_usage(error), BAD_INPUT)
    except (InputError, MissingExtraError) as error:
        return _error("; ".join([str(error), *notes]), BAD_INPUT)
    except TcpstreamError as error:
        return _error("; ".join([str(error), *notes]), FAILED)
    except click.Abort:
        return INTERRUPTED
    except SystemExit as end:  # click's way to end after shell completion, and where nobody reads its help
        return BROKEN_PIPE if end.code else 0
    except OSError as error:
        abandon(sys.stdout)  # it may be what failed
        return _error(f"{error.filename}: {cause(error)}" if error.filename else cause(error), FAILED)
    except MemoryError:
        return _error("not enough memory for this solve", FAILED)
    except (OverflowError, RecursionError) as error:
        return _error(f"no answer: {type(error).__name__}: {error} ({_place(error)}); please report this", FAILED)


def _write(report: Report) -> int:
    try:
        report.write()
        sys.stdout.flush()
    except OSError as error:
        abandon(sys.stdout)
        if isinstance(error, BrokenPipeError):
            return BROKEN_PIPE
        return _error(f"cannot write the answer: {cause(error)}", FAILED)
    return report.status


def _error(message: str, status: int) -> int:
    say(f"error: {message}")
    return status


def _place(error: BaseException) -> str:
    """Return the file and the line that raised an exception."""
    at = error.__traceback__
    while at is not None and at.tb_next is not None:
        at = at.tb_next
    return "" if at is None else f"{FilePath(at.tb_frame.f_code.co_filename).name}, line {at.tb_lineno}"


def _usage(error: click.ClickException) -> str:
    message = error.format_message().rstrip(".")
    context = getattr(error, "ctx", None)
    if isinstance(error, click.NoSuchOption) and (others := _with_option(error.option_name)):
        message = f"no such option '{error.option_name}': it is one of {', '.join(others)}"
    if _EXTRA_UNIT.search(message):
        message += ": write a number and its unit without a space, as 2% or 100ms"
    hint = f" (see {context.command_path} --help)" if context else ""
    return message[:1].lower() + message[1:] + hint


def _with_option(name: str) -> list[str]:
    """Return the commands that have an option."""
    return [one for one, command in group.commands.items() if any(name in given.opts for given in command.params)]
