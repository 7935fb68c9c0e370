"""What the record says of predictions: calibration in bins, and Brier scores."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .predictions import GROUPS
from .replay import DELAYS, RATES
from .sessions import SETS, Floats

Rows = list[dict[str, Any]]

PREDICTORS = (*GROUPS, "replay")
"""All predictions; the last one is the share of sessions of the half itself that stalled."""

BINS, NEAR = 10, 0.05
"""Bins of predictions, and how near the mean prediction of a bin is to be to the observed share."""

HEAD = "| set | prediction | Brier score | mean error | of its own half | farthest bin | bins within 0.05 |"


class Questions(NamedTuple):
    """What is asked of the sessions of a set: each rate and startup delay, of either half.

    Attributes
    ----------
    predicted : (q,) array
        NaN where a part of the prediction was refused, or is missing.
    observed, error : (q,) array
        Share of the sessions that stalled, and its standard error.
    sessions : (q,) array
        How many there are.
    """

    predicted: Floats
    observed: Floats
    error: Floats
    sessions: Floats


class Bin(NamedTuple):
    """Predictions of about the same value.

    Attributes
    ----------
    pairs : int
        Sessions, each counted for each question that is asked of it.
    predicted, observed : float
        Mean prediction, and the share of these pairs that stalled.
    """

    pairs: int
    predicted: float
    observed: float


def questions(rows: Rows, name: str, what: str, own: bool = False) -> Questions:
    """Return what is predicted of the sessions of a set, by the other half or their own, and what replays show."""
    replays = sorted(
        (row for row in rows if (row["set"], row["what"]) == (name, "replay")), key=lambda row: row["half"]
    )
    given = [_predicted(rows, name, what, half) for half in ((0, 1) if own else (1, 0))]
    shares = [np.array(row["stalled"]) for row in replays]
    many = [np.full(share.shape, float(row["sessions"])) for row, share in zip(replays, shares)]
    errors = [np.array(row["standard_error"]) for row in replays]
    return Questions(*(np.ravel(each) for each in (given, shares, errors, many)))


def _predicted(rows: Rows, name: str, what: str, half: int) -> Floats:
    """Return P(any stall) by rate and delay as a half predicts it."""
    mine = [row for row in rows if (row["set"], row["what"], row["half"]) == (name, what, half)]
    if what == "replay":
        return np.array(mine[0]["stalled"])
    found = np.zeros((len(RATES), len(DELAYS)))
    for row in mine:
        given = [one.get("p", [np.nan] * len(DELAYS)) for one in row.get("answers", [{}] * len(RATES))]
        found += row["weight"] * np.array(given)
    whole = abs(sum(row["weight"] for row in mine) - 1) < 1e-9
    return np.clip(found, 0, 1) if whole else np.full(found.shape, np.nan)


def brier(found: Questions) -> float:
    """Return the Brier score over pairs of a session and a question that is answered."""
    p, share, many = found.predicted, found.observed, found.sessions
    of_each = share * (1 - p) ** 2 + (1 - share) * p**2
    answered = np.isfinite(p)
    return float(np.average(of_each[answered], weights=many[answered]))


def bins(found: Questions) -> list[Bin]:
    """Return the bins that hold a prediction, in increasing order."""
    answered = np.isfinite(found.predicted)
    p, share, many = (each[answered] for each in (found.predicted, found.observed, found.sessions))
    places = np.minimum((p * BINS).astype(int), BINS - 1)
    return [
        Bin(
            int(many[places == place].sum()),
            float(np.average(p[places == place], weights=many[places == place])),
            float(np.average(share[places == place], weights=many[places == place])),
        )
        for place in np.unique(places)
    ]


def excess(found: Questions) -> float:
    """Return by how much predictions are too high on average, over pairs that are answered."""
    answered = np.isfinite(found.predicted)
    return float(np.average((found.predicted - found.observed)[answered], weights=found.sessions[answered]))


def scores(rows: Rows) -> list[str]:
    """Return Brier scores and calibration of each prediction, lines of a table of Markdown; see `HEAD`.

    Mean errors are those of predictions of the other half, and of the half itself.
    """
    lines = []
    for name in (one.name for one in SETS):
        for what in PREDICTORS:
            found, own = (questions(rows, name, what, same) for same in (False, True))
            if not np.isfinite(found.predicted).any():
                continue
            off = [abs(one.predicted - one.observed) for one in bins(found)]
            near = f"{sum(one <= NEAR for one in off)} of {len(off)}"
            lines.append(
                f"| {name} | {what} | {brier(found):.3f} | {excess(found):+.3f} | {excess(own):+.3f} | "
                f"{max(off):.3f} | {near} |"
            )
    return lines


def least(rows: Rows, name: str) -> float:
    """Return the Brier score of the observed shares themselves, the least of a prediction that knows no session."""
    found = questions(rows, name, "replay")
    return brier(found._replace(predicted=found.observed))


def calibration(rows: Rows, what: str) -> list[str]:
    """Return the bins of a prediction in each set, lines of a table of Markdown."""
    return [
        f"| {name} | {one.pairs} | {one.predicted:.3f} | {one.observed:.3f} |"
        for name in (each.name for each in SETS)
        for one in bins(questions(rows, name, what))
    ]


def lost(rows: Rows) -> list[str]:
    """Return P(any stall) of the first half, mean of all questions: replayed, drawn from its fit, and of its fit.

    Lines of a table of Markdown.
    """
    lines = []
    for name in (one.name for one in SETS):
        row = next((row for row in rows if (row["set"], row["what"]) == (name, "drawn")), None)
        if row is not None:
            shares = (
                _predicted(rows, name, "replay", 0),
                row["varied"],
                row["at_means"],
                _predicted(rows, name, "1 fit", 0),
            )
            lines.append(f"| {name} |" + "".join(f" {np.mean(one):.3f} |" for one in shares))
    return lines


def differing(rows: Rows) -> list[str]:
    """Return how sessions of the first half differ, and those drawn from its fit, lines of a table of Markdown."""
    lines = []
    for row in rows:
        for where, of in ("the half", "of_half"), ("drawn", "of_varied"):
            if row["what"] == "drawn" and of in row:
                means, low = row[of]["means"], row[of]["low_s"]
                lines.append(
                    f"| {row['set']} | {where} | {means[0]:.1f} | {means[1]:.1f} | {means[2]:.1f} | {low[2]:.0f} s | "
                    f"{low[3]:.0f} s |"
                )
    return lines


def refusals(rows: Rows) -> list[str]:
    """Return what was refused, a line each."""
    found = []
    for row in rows:
        where = f"{row['set']}, {row['what']}, half {row['half']}, part {row['part']}"
        if "refused" in row:
            found.append(f"{where}: {row['refused']}")
        for rate, one in zip(RATES, row.get("answers", [])):
            if "refused" in one:
                found.append(f"{where}, rate {rate:g}: {one['refused']}")
    return found


def summary(rows: Rows) -> str:
    """Return scores, and the bins of each prediction."""
    parts = [HEAD, "|---|---|--:|--:|--:|--:|--:|"]
    parts += scores(rows)
    parts += [f"{one.name}: at least {least(rows, one.name):.3f}" for one in SETS]
    for what in PREDICTORS:
        parts += ["", f"{what}:", "| set | sessions | predicted | observed |", "|---|--:|--:|--:|"]
        parts += calibration(rows, what)
    parts += [
        "",
        "| set | replay | drawn | drawn, regimes at their means | 1 fit |",
        "|---|--:|--:|--:|--:|",
        *lost(rows),
        "",
        "| set | sessions | mean [packets/s], 5% | 50% | 95% | below 10 packets/s at a stretch, 95% | 99% |",
        "|---|---|--:|--:|--:|--:|--:|",
        *differing(rows),
    ]
    refused = refusals(rows)
    return "\n".join([*parts, "", f"{len(refused)} refused", *refused])
