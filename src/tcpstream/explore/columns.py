"""The columns of a sweep: what may be asked, in which units, and what comes back."""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Integral, Real

from ..errors import InputError, choice, shown
from ..path import PARAMETERS
from ..sender import SUFFIXES, takes_text
from .frames import pandas

KINDS = ("live", "stored")

PATH = (*(one.name for one in PARAMETERS), "sender")
VIDEO = ("packet_rate", "bitrate", "packet_size", "duration")
LOAD = "T_over_mu"
QUESTIONS = ("delay", "target", "no_late", "start", "start_buffer")
VIEWERS = ("start", "start_buffer")
"""Questions about what a viewer sees."""

PLAYER = ("resume_buffer", "segment", "client_buffer")
"""Beside a start buffer: `SegmentPlayer` with a segment, `PausingPlayer` with a client buffer alone, or `Player`."""

SEEN = ("stall_probability", "mean_total_rebuffer", "rebuffering_ratio")
"""What a viewer sees, and by how much each may be off."""

JOIN = "mean_join_time"
"""With a start buffer as well."""

POINTS = (*PATH, *VIDEO, LOAD, *QUESTIONS, *PLAYER)
"""Columns that a table of points may have."""

WORDS = (*(one.name for one in PARAMETERS if takes_text(one)), "sender")
"""Columns of text; all others are numbers."""

LARGEST = 1_000_000
"""Points of a sweep."""

FILLED = ("rtt", "packet_rate", LOAD)
"""Columns that follow from others where they are not given."""

UNITS = {
    **{one.name: one.metadata["unit"] for one in PARAMETERS if not takes_text(one)},
    "packet_rate": "packets/s",
    "bitrate": "bit/s",
    "packet_size": "bytes",
    "duration": "s",
    LOAD: "1",
    "delay": "s",
    "target": "1",
    "no_late": "1",
    "start": "s",
    "start_buffer": "s",
    **dict.fromkeys(PLAYER, "s"),
    JOIN: "s",
    **dict(zip(SEEN, ("1", "s", "1"))),
    **dict(zip([f"{name}_error" for name in SEEN], ("1", "s", "1"))),
    "throughput": "packets/s",
    "late_fraction": "1",
    "no_late_lower_bound": "1",
    "no_late_probability": "1",
    "required_delay": "s",
    "error_bound": "1",
    "lattice_error": "1",
    "quantum": "packets",
    "quantum_error": "1",
}


def with_unit(name: str) -> str:
    """Return the name of a column in a file that has no other place for its unit, as in the command's JSON."""
    return "startup_delay_s" if name == "delay" else name + SUFFIXES.get(UNITS.get(name, ""), "")


def few_enough(what: str, number: int) -> None:
    """Raise `InputError`, naming what gives so many, for more points than a sweep may have."""
    if number > LARGEST:
        raise InputError(f"{what} makes {number:,} points, more than the {LARGEST:,} of a sweep: give fewer values")


def check_value(name: str, value: object) -> None:
    """Raise `InputError` for what is no value of a point: neither a number, nor text, nor missing."""
    if isinstance(value, Integral):
        if abs(int(value)) >= 2**63:
            raise InputError(f"{name}: a whole number must be below 2**63, got one of {int(value).bit_length()} bits")
    elif not (value is None or isinstance(value, (Real, str)) or pandas("a sweep").isna(value) is True):
        raise InputError(f"{name} must be a number or text, got {type(value).__name__} {shown(value)}")


def check(names: Iterable[str], kind: str) -> str:
    """Return the question that a table with these columns asks, or raise `InputError` for what cannot be answered."""
    choice("kind of a sweep", kind, KINDS)
    have = list(names)
    unknown = [name for name in have if name not in POINTS]
    if unknown:
        raise InputError(f"points have no column {shown(unknown[0])}: {', '.join(POINTS)} are accepted")
    if len(set(have)) < len(have):
        raise InputError("points have two columns of one name")
    questions = [name for name in QUESTIONS if name in have]
    if len(questions) != 1:
        raise InputError(f"points need exactly one of {', '.join(QUESTIONS)}, got {', '.join(questions) or 'none'}")
    if questions == ["no_late"] and kind == "live":
        raise InputError("no_late, a probability that no packet is late, is for stored video")
    if questions == ["start_buffer"] and kind == "live":
        raise InputError("start_buffer, the media with which a player starts, is for stored video")
    if questions != ["start_buffer"] and (beside := [name for name in PLAYER if name in have]):
        raise InputError(f"{beside[0]} is for players with buffers: ask for start_buffer")
    if "loss" not in have:
        raise InputError("points need the column loss")
    return questions[0]


def answers(kind: str, question: str, alpha: bool) -> list[str]:
    """Return the columns of the answers, in order."""
    if question in VIEWERS:
        join = [JOIN] if question == "start_buffer" else []
        return ["throughput", *join, *SEEN, *(f"{name}_error" for name in SEEN), "error"]
    if question != "delay":
        found = ["required_delay"]
    elif kind == "live":
        found = ["late_fraction"]
    else:
        found = ["late_fraction", "no_late_lower_bound", *(["no_late_probability"] if alpha else [])]
    errors = ["lattice_error"] if kind == "live" else ["quantum", "quantum_error"]
    return ["throughput", *found, "error_bound", *errors, "error"]
