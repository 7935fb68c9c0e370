"""From transitions in equal steps of time to stays in continuous time."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..errors import AccuracyError

Floats = NDArray[np.float64]

ROUGHEST = 0.02
"""Largest error of a transition in a step that the stays may make."""


def rates_of(transitions: Floats, step: float) -> tuple[Floats, float]:
    """Return the rates of changes whose transitions in a step are these.

    Parameters
    ----------
    transitions : (k, k) array
        Rows sum to 1.
    step : float
        [s]

    Returns
    -------
    rates : (k, k) array
        Of changes from each state (row) to each other one [1/s]; rows sum to 0.
    error : float
        Largest difference of a transition that the rates make in a step from the given one.

    Raises
    ------
    AccuracyError
        When no rates have these transitions within `ROUGHEST`: the chain changes within a step.

    Notes
    -----
    The matrix logarithm. Where it has negative rates off the diagonal these are 0 and the diagonal balances the row:
    Israel, Rosenthal and Wei, "Finding Generators for Markov Chains via Empirical Transition Matrices", Mathematical
    Finance 2001, Section 3.
    """
    from scipy.linalg import expm, logm

    values = np.linalg.eigvals(transitions)
    if ((values.real <= 0) & (np.abs(values.imag) < 1e-9)).any():
        raise AccuracyError(_fast(step))
    found = np.real(np.asarray(logm(transitions))) / step
    rates = np.maximum(found - np.diag(np.diag(found)), 0.0)
    rates -= np.diag(rates.sum(axis=1))
    error = float(np.abs(np.asarray(expm(rates * step)) - transitions).max())
    if not error <= ROUGHEST:
        raise AccuracyError(_fast(step))
    return rates, error


def stays_of(transitions: Floats, step: float) -> Floats:
    """Return the mean stays [s]; infinite where the chain never leaves."""
    rates, _ = rates_of(transitions, step)
    with np.errstate(divide="ignore"):
        return np.asarray(-1 / np.diag(rates))


def stay_errors(transitions: Floats, covariance: Floats, step: float) -> list[float | None]:
    """Return the standard error of each mean stay [s] by the delta method; None where it has none.

    Parameters
    ----------
    transitions : (k, k) array
    covariance : (k k, k k) array
        Of the transitions, row by row.
    step : float
        [s]
    """
    k = len(transitions)
    gradients = np.zeros((k, k * k))
    for i in range(k):
        for j in range(k):
            if i != j and transitions[i, j] > 0:  # what leads elsewhere is taken from staying
                nudge = 1e-4 * transitions[i, j]
                ends = []
                for sign in (-1, 1):
                    moved = transitions.copy()
                    moved[i, j] += sign * nudge
                    moved[i, i] -= sign * nudge
                    try:
                        ends.append(stays_of(moved, step))
                    except AccuracyError:
                        return [None] * k
                gradients[:, i * k + j] = (ends[1] - ends[0]) / (2 * nudge)
    variances = np.einsum("ia,ab,ib->i", gradients, covariance, gradients)
    return [float(np.sqrt(one)) if np.isfinite(one) and one > 0 else None for one in variances]


def _fast(step: float) -> str:
    return (
        f"the regimes have no stays in continuous time: they change within intervals of {step:g} s; take a shorter "
        "interval or fewer regimes"
    )
