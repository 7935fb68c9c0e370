"""One case: solved, and held against everything that knows something about it."""

from __future__ import annotations

import math
import signal
import time
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np

from tcpstream import AccuracyError, InputWarning, NoFiniteDelayError, StoredStreaming, TcpstreamError
from tcpstream.answers.answer import Streaming
from tcpstream.tcp import chain_of

from . import identities, twins
from .beside_agent import beside_agent
from .cases import Case, draw, with_load
from .forecasts import seconds

LIMIT = 30.0
"""Seconds of a solve that is still made."""

CHEAP = 0.15
"""Seconds up to which every case is run; of those that take t seconds a share of CHEAP / t is."""

ATTEMPTS, SOON = 8, 3.0
"""Cases drawn for a number, of which the first is run that is short enough; seconds in which that is known."""

COSTLY = 0.5
"""Seconds from which a solve is not repeated for the sake of an identity but now and then."""

TWIN = 1e-9
"""Rounding of a chain written out."""

Record = dict[str, Any]


class OutOfTimeError(BaseException):
    """More than the seconds allowed were used."""


@contextmanager
def at_most(limit: float) -> Iterator[None]:
    """Interrupt what takes more than `limit` seconds of the processor; a warning of numpy's is an error."""

    def stop(*_: Any) -> None:
        raise OutOfTimeError

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, limit, 1.0)  # again, where it was lost
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", RuntimeWarning)
            warnings.simplefilter("ignore", InputWarning)
            yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def judged(number: int, seed: int) -> Record:
    """Draw case `number`, and judge the first attempt that is run."""
    begun = time.process_time()
    record: Record = {"number": number, "too long": 0, "passed over": 0}
    rng = np.random.default_rng([seed, number, 10**6])
    for attempt in range(ATTEMPTS):
        case = draw(number, seed, attempt)
        try:
            with at_most(SOON):
                chain = chain_of(case.to_path())
                case = with_load(case, chain.packets_per_round / case.path["rtt"], seed)
                if case.application_limited:
                    chain = chain_of(case.to_path())
                expected = seconds(case, chain)
        except OutOfTimeError:
            expected = math.inf
        except AccuracyError as error:
            return record | {"verdict": "refused", "why": str(error), "case": case.to_dict(), "options": []}
        except Exception:
            wrong = [{"name": "exception", "found": traceback.format_exc(limit=-2)}]
            return record | {"verdict": "disagrees", "wrong": wrong, "case": case.to_dict(), "options": []}
        if expected <= CHEAP / rng.random():
            break
        record["too long" if expected > LIMIT else "passed over"] += 1
    else:
        return record | {"verdict": "not run"}
    record |= {"forecast": round(expected, 4)} | judge(case, expected)
    record |= {"case": case.to_dict(), "options": case.options}
    return record | {"seconds": round(time.process_time() - begun, 3)}


def judge(case: Case, expected: float = 0.0, checks: tuple[str, ...] | None = None) -> Record:
    """Solve a case and hold it against the agent, the chain written out, and what holds for every answer.

    Parameters
    ----------
    case : Case
    expected : float
        Seconds that a solve is forecast to take.
    checks : tuple of str, optional
        Identities to check, by default some.
    """
    rng = np.random.default_rng([case.seed, 3])
    wrong: list[Record] = []
    record: Record = {"verdict": "agrees", "wrong": wrong}
    try:
        with at_most(LIMIT):
            begun = time.process_time()
            result = identities.solve(case)
            delays = case_delays(result, rng)
            f = np.asarray(result.late_fraction(delays))
            stated = float(identities.relative(result, delays).max())
            solved = time.process_time() - begun
    except OutOfTimeError:
        return {"verdict": "not run", "why": f"took more than {LIMIT:g} s"}
    except NoFiniteDelayError:
        return {"verdict": "refused", "why": "no finite delay"}
    except TcpstreamError as error:
        return {"verdict": "refused", "why": f"{type(error).__name__}: {error}"}
    except Exception:
        return {"verdict": "disagrees", "wrong": [{"name": "exception", "found": traceback.format_exc(limit=-2)}]}
    record |= {
        "delays": [float(f"{tau:.6g}") for tau in delays], "f": [float(f"{x:.6g}") for x in f],
        "error_bound": float(f"{result.error_bound:.3g}"),
        "stated": float(f"{stated:.3g}"),
        "solve": round(solved, 3),
    }  # fmt: skip
    try:
        with at_most(LIMIT / 2):
            _identities(case, result, delays, f, max(expected, solved), rng, record, checks)
    except OutOfTimeError:
        record["interrupted"] = "identities"
    try:
        with at_most(2 * LIMIT):
            if checks is None or "twin" in checks:
                _twin(case, result, delays, f, record)
            if checks is None or "agent" in checks:
                beside_agent(case, result, delays, f, solved < COSTLY, rng, record)
    except OutOfTimeError:
        record["interrupted"] = "agent"
    record["verdict"] = "disagrees" if wrong else "agrees"
    return record


def case_delays(result: Streaming, rng: np.random.Generator) -> Any:
    """Return startup delays: none, about a round trip, and those for late fractions of all sizes."""
    R = result.path.rtt
    delays = [0.0, R, float(rng.uniform(0, 2 * R))]
    longest = 20 * (result.video.duration or math.inf)
    for target in 10 ** -rng.uniform([0.3, 1.0, 2.0], [1.0, 2.0, 4.0]):
        if 10 * result.error_bound < target < 1:
            try:
                delays.append(min(result.required_delay(float(target)), longest))
            except AccuracyError:
                continue
    return np.unique(np.array(delays))


def _identities(
    case: Case, result: Streaming, delays: Any, f: Any, solve: float, rng: np.random.Generator, record: Record,
    chosen: tuple[str, ...] | None,
) -> None:  # fmt: skip
    if chosen is None:
        sometimes = [
            name for name in identities.SOMETIMES if name not in identities.LEFT_OUT and _applies(name, case, result)
        ]
        if solve > COSTLY / 10 and "largest rate" in sometimes:
            sometimes.remove("largest rate")  # many solves
        count = 3 if solve < COSTLY / 10 else 1 if solve < COSTLY else int(rng.random() < COSTLY / solve)
        chosen = (*identities.ALWAYS, *rng.permutation(sometimes)[:count].tolist())
    record["checks"] = [name for name in chosen if name not in identities.ALWAYS and name in identities.SOMETIMES]
    every = identities.ALWAYS | identities.SOMETIMES
    for name in chosen:
        if name not in every:
            continue
        try:
            found = every[name](case, result, delays, f)
        except (AccuracyError, NoFiniteDelayError) as error:
            record.setdefault("not answered", []).append(f"{name}: {error}")
            continue
        except OutOfTimeError:
            raise
        except Exception:
            found = traceback.format_exc(limit=-2)
        if found and name == "continuity" and case.kind == "finite" and _jumps(case, delays, rng):
            record["jump"] = found
        elif found:
            record["wrong"].append({"name": name, "found": found})


def _jumps(case: Case, delays: Any, rng: np.random.Generator) -> bool:
    """Return whether the agent finds f of both neighbours too: the model jumps where D can be 0 exactly."""
    record: Record = {"wrong": []}
    for sign in (-1, 1):
        near = replace(case, path=case.path | {"rtt": case.path["rtt"] * (1 + sign * identities.NEARER)})
        result = identities.solve(near)
        beside_agent(near, result, delays, np.asarray(result.late_fraction(delays)), True, rng, record)
        if record["agent"] != "asked" or len(record["judged"]) < len(delays) / 2:
            return False
    return not record["wrong"]


def _applies(name: str, case: Case, result: Streaming) -> bool:
    coarse = isinstance(result, StoredStreaming) and result.quantum > 1
    applies = {
        "Theorem 1": isinstance(result, StoredStreaming),
        "coarse": coarse,
        "scale": case.path["tcp"] != "cubic",
        "continuity": case.kind != "endless" and case.path["tcp"] != "cubic" and "bottleneck" not in case.path,
        "largest rate": case.kind != "finite" and case.horizon == "end" and "curve" not in case.video and not coarse,
    }
    return bool(applies.get(name, True))


def _twin(case: Case, result: Streaming, delays: Any, f: Any, record: Record) -> None:
    if not twins.is_small(case):
        return
    record["twin"] = True
    allowed = TWIN + result.error_bound
    for k in {0, len(delays) - 1}:
        tau = float(delays[k])
        late, alpha = twins.written_out(case, tau)
        found = [("twin f", f[k], late, allowed + float(identities.relative(result, tau)) * late)]
        if alpha is not None and isinstance(result, StoredStreaming) and result.quantum == 1:
            found.append(("twin alpha", float(result.no_late_probability(tau)), alpha, allowed))
        for name, own, other, most in found:
            if not abs(own - other) <= most:
                record["wrong"].append({"name": name, "found": f"{own:.9g} at {tau:.9g} s, written out {other:.9g}"})
