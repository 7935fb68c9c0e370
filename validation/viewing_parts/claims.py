"""What the answers about a viewer say, one number each, and what sessions have to say about it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tcpstream import play, transfer_time
from tcpstream.errors import TcpstreamError

from .cases import Case
from .evidence import Found, mean, quantile, ratio, share

Floats = NDArray[np.float64]
Drawn = dict[str, Floats]

FORGETS = 0.03
"""Of an answer, that a chain may be off which forgets thresholds of slow start: docs/segments.md."""

QUANTILES = 0.5, 0.9, 0.99

TARGET = 0.3
"""Of the probability of a stall, that is asked a startup delay for."""

WORTH = 1e-3
"""Probability of a stall above which it is."""

NOISE = 1e-9


@dataclass(frozen=True)
class Claim:
    """A number of an answer.

    Attributes
    ----------
    name : str
    value, stated : float
        What it is, and by how much it may be off.
    look : function
        From the sessions that were drawn to what they say.
    forgets : float
        What a chain may be off that forgets thresholds.
    """

    name: str
    value: float
    stated: float
    look: Callable[[Drawn], Found]
    forgets: float = 0.0


@dataclass(frozen=True)
class Silent:
    """An answer that is refused."""

    name: str
    why: str


def claims(case: Case, result: Any) -> Iterator[Claim | Silent]:
    """Yield what a result says, the least first."""
    for one in BY_KIND[case.kind](case, result):
        try:
            yield one()
        except TcpstreamError as error:
            yield Silent(type(error).__name__, str(error))


def solve(case: Case) -> Any:
    """Return the result of a case."""
    from tcpstream import Pacing, PausingPlayer, Player, SegmentPlayer

    path = case.to_path()
    if case.kind == "transfer":
        return transfer_time(path, **case.player)
    player: Any = {"pausing": PausingPlayer, "segments": SegmentPlayer}.get(case.kind, Player)(**case.player)
    pacing = None if case.pacing is None else Pacing(**case.pacing)
    return play(path, case.to_video(), player, live=case.kind in ("live", "skipping"), pacing=pacing)


Later = Callable[[], Claim]


def _waiting(case: Case, result: Any) -> Iterator[Later]:
    """Yield what is said of players that wait: sessions have ``largest`` and ``first``, both [s]."""
    R, start, length = case.path["rtt"], result.start, result.length
    sure = NOISE * R
    room = R / 50 if case.kind == "waiting" else max(R / 50, 1 / case.to_video().packet_rate)

    def longer(x: float) -> Later:
        return lambda: Claim(
            f"P(S > {x:.4g} s)", result.longer_than(x), result.longer_than_error(x),
            lambda drawn: share(drawn["largest"] > (start + x) * (1 + 1e-12) + sure),
        )  # fmt: skip

    def stalled(drawn: Drawn) -> Floats:
        return np.asarray(np.maximum(drawn["largest"] - start, 0))

    def below(u: float) -> Claim:
        x = result.total_rebuffer_quantile(u)
        return Claim(
            f"S({u:g})", u, result.longer_than_error(x), lambda drawn: quantile(stalled(drawn), x + sure, room + sure)
        )

    def needed() -> Claim:
        wanted = TARGET * result.stall_probability  # met with the error on top: the truth is up to two of it below
        at = result.required_start(stall_probability=wanted)
        off = 2 * max(result.longer_than_error(max(at - start, 0)), wanted * result.errors["stall_probability"])
        return Claim(
            "required start", 1 - wanted, off, lambda drawn: quantile(drawn["largest"], at + sure, R / 25 + sure)
        )

    yield lambda: Claim(
        "P(any stall)", result.stall_probability, result.errors["stall_probability"],
        lambda drawn: share(drawn["largest"] > start * (1 + 1e-12) + sure),
    )  # fmt: skip
    yield lambda: Claim(
        "mean stalled", result.mean_total_rebuffer, result.errors["mean_total_rebuffer"],
        lambda drawn: mean(stalled(drawn)),
    )  # fmt: skip
    yield lambda: Claim(
        "rebuffering ratio", result.rebuffering_ratio, result.errors["rebuffering_ratio"],
        lambda drawn: mean(stalled(drawn) / (stalled(drawn) + length)),
    )  # fmt: skip
    yield from map(longer, (R, 5 * R, 20 * R))
    for u in QUANTILES:
        yield lambda u=u: below(u)  # type: ignore[misc]
    if hasattr(result, "no_stall_until"):
        yield from _first_stall(result, 0.0)
    if result.stall_probability > WORTH:
        yield needed


def _first_stall(result: Any, forgets: float) -> Iterator[Later]:
    """Yield what is said of the first stall: sessions have ``first``, its place in the video [s]."""
    length = result.length

    def none_until(t: float) -> Later:
        def claim() -> Claim:
            value = result.no_stall_until(t)
            off = result.errors.get("no_stall_until", result.errors["stall_probability"])
            later = t * (1 - 1e-12)
            return Claim(
                f"no stall until {t:.4g} s", value, off, lambda drawn: share(drawn["first"] >= later),
                forgets * (1 - value),
            )  # fmt: skip

        return claim

    def begins(u: float) -> Claim:
        at = result.first_stall_quantile(u)
        off = result.errors["no_stall_until"] / result.stall_probability

        def look(drawn: Drawn) -> Found:
            seen = drawn["first"][np.isfinite(drawn["first"])]
            return (
                quantile(seen, at * (1 + 1e-12), 2e-12 * at) if len(seen) else Found(math.nan, math.nan, float, False)
            )

        return Claim(f"first stall({u:g})", u, off, look)

    yield from (none_until(part * length) for part in (0.1, 0.5))
    if hasattr(result, "first_stall_quantile"):
        yield lambda: begins(0.5)
        yield lambda: begins(0.9)
    if hasattr(result, "mean_first_stall"):
        yield lambda: Claim(
            "mean first stall", result.mean_first_stall,
            result.length * result.errors["no_stall_until"] / result.stall_probability,
            lambda drawn: ratio(
                np.where(np.isfinite(drawn["first"]), drawn["first"], 0.0), np.isfinite(drawn["first"]).astype(float)
            ),
        )  # fmt: skip


def _counted(case: Case, result: Any) -> Iterator[Later]:
    """Yield what is said of players with buffers: sessions have ``stalls``, ``stalled``, ``join`` and ``first``."""
    forgets = FORGETS if case.kind == "segments" or case.player.get("idle") == "restart" else 0.0
    length, R, errors = result.length, case.path["rtt"], result.errors

    def said(name: str, title: str, look: Callable[[Drawn], Found], also: float = 0.0) -> Later:
        def claim() -> Claim:
            value = float(getattr(result, name))
            return Claim(title, value, errors.get(name, also), look, forgets * abs(value))

        return claim

    def count(k: int) -> Later:
        def claim() -> Claim:
            value = float(result.stall_counts[k])
            return Claim(
                f"P(N = {k})", value, errors["stall_counts"],
                lambda drawn: share(drawn["stalls"] == k if k < 4 else drawn["stalls"] >= 4), 0.02 if forgets else 0.0,
            )  # fmt: skip

        return claim

    def join(u: float) -> Later:
        def claim() -> Claim:
            x = result.join_time_quantile(u)
            return Claim(
                f"join time({u:g})",
                u,
                errors.get("join_time_cdf", 0.0),
                lambda drawn: quantile(drawn["join"], x + NOISE, 2 * NOISE),
                forgets * (1 - u),
            )

        return claim

    def joined() -> Claim:
        x = result.mean_join_time
        value = result.join_time_cdf(x)
        return Claim(
            f"P(join <= {x:.4g} s)", value, errors.get("join_time_cdf", 0.0),
            lambda drawn: share(drawn["join"] <= x + NOISE * R), forgets * (1 - value),
        )  # fmt: skip

    def length_of_one() -> Claim:
        value, stalls = result.mean_stall_length, result.mean_stalls
        off = (errors["mean_total_rebuffer"] + value * errors["mean_stalls"]) / stalls
        return Claim(
            "length of a stall", value, off, lambda drawn: ratio(drawn["stalled"], drawn["stalls"]), 2 * forgets * value
        )

    yield said("stall_probability", "P(any stall)", lambda drawn: share(drawn["stalls"] > 0))
    yield said("mean_total_rebuffer", "mean stalled", lambda drawn: mean(drawn["stalled"]))
    yield said(
        "rebuffering_ratio", "rebuffering ratio", lambda drawn: mean(drawn["stalled"] / (drawn["stalled"] + length))
    )
    yield said("mean_join_time", "mean join time", lambda drawn: mean(drawn["join"]))
    yield joined
    yield from map(join, QUANTILES)
    if result.mean_stalls is not None:
        yield said("mean_stalls", "mean stalls", lambda drawn: mean(drawn["stalls"]))
        if result.mean_stalls > errors["mean_stalls"]:
            yield length_of_one
    if result.stall_counts is not None:
        yield from map(count, range(5))
    if case.kind == "segments":
        yield said("mean_download_time", "mean download time", lambda drawn: mean(drawn["fetching"]))
        yield said("restart_share", "restart share", lambda drawn: mean(drawn["restarts"]))
    yield from _first_stall(result, forgets)


def _skipping(case: Case, result: Any) -> Iterator[Later]:
    """Yield what is said of players that skip: runs have ``stalls`` a round, and ``standing``, a share of the time."""
    errors, R = result.errors, case.path["rtt"]
    yield lambda: Claim(
        "skipped fraction", result.skipped_fraction, errors["skipped_fraction"], lambda drawn: mean(drawn["standing"])
    )
    if result.stalls_per_hour is not None:
        yield lambda: Claim(
            "stalls per hour", result.stalls_per_hour, errors["stalls_per_hour"],
            lambda drawn: ratio(drawn["stalls"] * 3600 / R, 1 - drawn["standing"]),
        )  # fmt: skip
        yield lambda: Claim(
            "length of a stall", result.mean_stall_length, errors["mean_stall_length"],
            lambda drawn: ratio(drawn["standing"] * R, drawn["stalls"]),
        )  # fmt: skip


def _transfer(case: Case, result: Any) -> Iterator[Later]:
    """Yield what is said of a transfer: sessions have ``time`` [s]."""
    R = case.path["rtt"]

    def until(u: float) -> Later:
        def claim() -> Claim:
            x = result.quantile(u)
            return Claim(
                f"P(T <= {x:.4g} s)",
                result.cdf(x),
                result.errors["cdf"],
                lambda drawn: share(drawn["time"] <= x + R / 2),
            )

        return claim

    yield lambda: Claim("mean time", result.mean, result.errors["mean"], lambda drawn: mean(drawn["time"]))
    yield from map(until, (0.01, 0.1, 0.5, 0.9, 0.99, 0.999))


BY_KIND: dict[str, Callable[[Case, Any], Iterator[Later]]] = {
    "waiting": _waiting, "live": _waiting, "paced": _waiting, "buffers": _counted, "pausing": _counted,
    "segments": _counted, "skipping": _skipping, "transfer": _transfer,
}  # fmt: skip
