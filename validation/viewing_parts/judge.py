"""A case solved, drawn and judged."""

from __future__ import annotations

import signal
import time
from typing import Any

from tcpstream.errors import TcpstreamError

from .cases import Case
from .claims import Claim, Silent, claims, solve
from .drawn import ROUNDS, sessions

Record = dict[str, Any]

SURE = 4.0
"""Standard errors."""

ANSWERS = 60
"""Seconds of the processor that an answer may take."""

AGAIN = 4
"""Times as many sessions, of another seed, decide what seems wrong."""


class TooLongError(Exception):
    """An answer takes too long."""


def judged(case: Case, rounds: float = ROUNDS) -> Record:
    """Return the record of a case."""
    record: Record = {"number": case.number, "case": case.to_dict()}
    found: list[Claim] = []
    silent: list[Silent] = []
    begun = time.process_time()
    signal.signal(signal.SIGPROF, _stop)
    signal.setitimer(signal.ITIMER_PROF, ANSWERS)
    try:
        for one in claims(case, solve(case)):
            if isinstance(one, Silent):
                silent.append(one)
            else:
                found.append(one)
    except TcpstreamError as error:
        return record | {"verdict": "refused", "why": f"{type(error).__name__}: {error}"}
    except TooLongError:
        record["cut off"] = True
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    record["answer_s"] = round(time.process_time() - begun, 2)
    if not found:
        return record | {"verdict": "no answer in time" if "cut off" in record else "refused", "why": said(silent)}
    begun = time.process_time()
    drawn = sessions(case, 1, rounds)
    record["sessions"] = len(next(iter(drawn.values())))
    lines = [compared(one, drawn) for one in found]
    if any(line["wrong"] for line in lines):
        more = sessions(case, 2, AGAIN * rounds)
        again = [compared(one, more) for one in found]
        lines = [second if first["wrong"] else first for first, second in zip(lines, again, strict=True)]
    record |= {"drawn_s": round(time.process_time() - begun, 2), "metrics": lines}
    if silent:
        record["not answered"] = said(silent)
    return record | {"verdict": "disagrees" if any(line["wrong"] for line in lines) else "agrees"}


def compared(claim: Claim, drawn: Any) -> Record:
    """Return how an answer compares with sessions.

    ``z`` are standard errors between the two, and ``excess`` those beyond what is stated, and what thresholds that are
    forgotten may make.
    """
    found = claim.look(drawn)
    line = {"name": claim.name, "answer": brief(claim.value), "stated": brief(claim.stated)}
    if not found.enough:
        return line | {"estimate": brief(found.estimate), "wrong": False}
    z = found.off(claim.value)
    beyond = z
    for allowed in (claim.stated, claim.stated + claim.forgets):
        beyond = found.off(claim.value + allowed * (1 if z > 0 else -1))
        beyond = beyond if beyond * z > 0 else 0.0
        if abs(beyond) <= SURE:
            break
    line |= {
        "estimate": brief(found.estimate),
        "error": brief(found.error),
        "z": round(z, 2),
        "excess": round(beyond, 2),
    }
    if claim.forgets > 0:
        line["forgets"] = brief(claim.forgets)
        stated = found.off(claim.value + claim.stated * (1 if z > 0 else -1))
        line["z_stated"] = round(stated if stated * z > 0 else 0.0, 2)
    return line | {"wrong": abs(beyond) > SURE}


def said(silent: list[Silent]) -> str:
    """Return why answers are refused, each reason once."""
    return "; ".join(dict.fromkeys(f"{one.name}: {one.why}" for one in silent))


def brief(value: float) -> float | None:
    """Return a number of six digits; None where it is none."""
    return float(f"{value:.6g}") if value == value else None


def _stop(*_: Any) -> None:
    raise TooLongError
