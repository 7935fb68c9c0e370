"""A series as a hidden Markov chain whose states have a mean and a variance each, by statsmodels."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import AccuracyError, MissingExtraError
from ..system import watch

Floats = NDArray[np.float64]

STARTS, STEPS = 8, 300
"""Starts of the search, and steps of expectation and maximisation from each."""

BEST, POLISH = 3, 300
"""Starts from which, the best first, a quasi-Newton method is tried until it converges, and its steps."""

STAYED = (0.7, 0.8, 0.9, 0.95, 0.98)
"""Probabilities of staying, of which each start takes one."""

SCARCE = 10.0
"""Intervals that a state must have: around a few that happen to be alike the likelihood has no bound."""

ALIKE = 0.5
"""Starts whose logarithms of the likelihood differ by less found the same maximum."""

FAILURES = ValueError, ArithmeticError, RuntimeError, np.linalg.LinAlgError
"""What statsmodels raises where a start leads nowhere."""

ABSENT = 1e-4
"""Transitions of less are taken for absent where standard errors are computed: they have none."""


@dataclass(frozen=True, eq=False)
class States:
    """Hidden states of a series of n values.

    Attributes
    ----------
    means, deviations : (k,) arrays
        Of the normal distribution of each, means increasing.
    transitions : (k, k) array
        From one value to the next; rows sum to 1.
    weights : (n, k) array
        Probability of each state at each value, given the whole series.
    log_likelihood : float
    agreeing : int
        Starts, of `STARTS`, that led to this maximum.
    covariance : (k k + k, k k + k) array or None
        Of errors of estimation: the transitions, row by row, then the means; None where the likelihood is no maximum
        in all directions.
    """

    means: Floats
    deviations: Floats
    transitions: Floats
    weights: Floats
    log_likelihood: float
    agreeing: int
    covariance: Floats | None

    @property
    def bic(self) -> float:
        """Bayesian information criterion, the less the better."""
        n, k = self.weights.shape
        return float(k * (k + 1) * math.log(n) - 2 * self.log_likelihood)


def one_state(y: Floats) -> States:
    """Return the series as independent normal values."""
    n, variance = len(y), float(y.var())
    if variance <= 0:
        raise AccuracyError("all values of the series are the same")
    found = -n / 2 * (math.log(2 * math.pi * variance) + 1)
    covariance = np.diag([0.0, variance / n])
    deviation = np.array([math.sqrt(variance)])
    return States(np.array([y.mean()]), deviation, np.ones((1, 1)), np.ones((n, 1)), found, STARTS, covariance)


def hidden_states(y: Floats, k: int, rng: np.random.Generator) -> States:
    """Return the k states of the largest likelihood, 2 or more.

    Raises
    ------
    MissingExtraError
        Without statsmodels.
    AccuracyError
        When no start ends in a maximum whose states all have `SCARCE` values.

    Notes
    -----
    Hamilton, "A New Approach to the Economic Analysis of Nonstationary Time Series and the Business Cycle",
    Econometrica 1989; Kim's smoother (Journal of Econometrics 1994).
    """
    try:
        from statsmodels.tsa.regime_switching.markov_regression import MarkovRegression
    except ImportError:
        raise MissingExtraError("a fit of regimes", "statsmodels", "fit") from None
    centre, scale = float(y.mean()), float(y.std())
    if scale <= 0:
        raise AccuracyError("all values of the series are the same")
    z = (y - centre) / scale
    model = MarkovRegression(z, k_regimes=k, switching_variance=True)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # what they say is judged below
        climbed = [_climbed(model, _start(z, k, rng), number) for number in range(STARTS)]
        kept = sorted((one for one in climbed if _sound(one)), key=lambda one: -one.llf)
        found = next((one for one in (_polished(model, start) for start in kept[:BEST]) if one is not None), None)
        if found is None:
            raise AccuracyError(
                f"no fit of {k} regimes: none of the best of {STARTS} starts converged to regimes of {SCARCE:g} "
                "intervals or more"
            )
        covariance = _covariance(model, np.asarray(found.params), k)
    agreeing = sum(bool(abs(one.llf - found.llf) < ALIKE) for one in kept)
    levels, variances = np.split(np.asarray(found.params)[k * (k - 1) :], 2)
    order = np.argsort(levels)
    moved = np.concatenate([(order[:, np.newaxis] * k + order).ravel(), k * k + order])
    units = np.concatenate([np.ones(k * k), np.full(k, scale)])
    return States(
        means=centre + scale * levels[order],
        deviations=scale * np.sqrt(variances[order]),
        transitions=_matrix(np.asarray(found.params), k)[np.ix_(order, order)],
        weights=np.asarray(found.smoothed_marginal_probabilities)[:, order],
        log_likelihood=float(found.llf) - len(y) * math.log(scale),
        agreeing=agreeing,
        covariance=None if covariance is None else covariance[np.ix_(moved, moved)] * np.outer(units, units),
    )


def _start(z: Floats, k: int, rng: np.random.Generator) -> Floats:
    """Return parameters of the values cut at random quantiles, as statsmodels orders them.

    Those are transitions from all states to each but the last one, means, and variances.
    """
    cuts = np.quantile(z, np.cumsum(rng.dirichlet(np.full(k, 3.0)))[:-1])
    of = np.searchsorted(cuts, z)
    parts = [z[of == i] if (of == i).any() else z for i in range(k)]
    stay = rng.choice(STAYED)
    matrix = np.full((k, k), (1 - stay) / (k - 1))
    np.fill_diagonal(matrix, stay)
    spread = [max(float(part.var()), 1e-3) for part in parts]
    return np.concatenate([matrix[:, :-1].T.ravel(), [float(part.mean()) for part in parts], spread])


def _climbed(model: Any, start: Floats, number: int) -> Any:
    """Return where expectation and maximisation lead; None where they fail."""
    watch.at(number, STARTS, "fewer regimes or a longer interval")
    try:
        return model.fit(start_params=start, em_iter=STEPS, maxiter=0, disp=0, cov_type="none")
    except FAILURES:
        return None


def _polished(model: Any, start: Any) -> Any:
    """Return the maximum next to a start; None where the search does not converge, or a state has few values."""
    watch.at(instead="fewer regimes or a longer interval")
    try:
        found = model.fit(start_params=start.params, em_iter=0, maxiter=POLISH, disp=0, cov_type="none")
    except FAILURES:
        return None
    return found if found.mle_retvals["converged"] and _sound(found) else None


def _sound(found: Any) -> bool:
    if found is None or not math.isfinite(found.llf) or not np.isfinite(found.params).all():
        return False
    return bool((found.smoothed_marginal_probabilities.sum(axis=0) >= SCARCE).all())


def _matrix(parameters: Floats, k: int) -> Floats:
    """Return the transitions, a row for each state that they lead from."""
    rows = np.maximum(parameters[: k * (k - 1)].reshape(k - 1, k).T, 0.0)
    last = np.maximum(1 - rows.sum(axis=1, keepdims=True), 0.0)
    found = np.hstack([rows, last])
    return np.asarray(found / found.sum(axis=1, keepdims=True))


def _covariance(model: Any, parameters: Floats, k: int) -> Floats | None:
    """Return the inverse of the information that was observed, for transitions and means.

    What is free are the transitions from a state to others, but for absent ones, means and variances.
    """
    from statsmodels.tools.numdiff import approx_hess

    P = _matrix(parameters, k)
    free = [(i, j) for i in range(k) for j in range(k) if i != j and P[i, j] > ABSENT]
    m = len(free)

    def likelihood(values: Floats) -> float:
        matrix = P.copy()
        for (i, j), value in zip(free, values):
            matrix[i, i] += matrix[i, j] - value
            matrix[i, j] = value
        return float(model.loglike(np.concatenate([matrix[:, :-1].T.ravel(), values[m:]]), transformed=True))

    at = np.concatenate([[P[i, j] for i, j in free], parameters[k * (k - 1) :]])
    try:
        hessian = approx_hess(at, likelihood, epsilon=1e-3 * np.maximum(np.abs(at), 1e-2))
        inverse = np.linalg.inv(-hessian)
    except FAILURES:
        return None
    if not np.isfinite(inverse).all() or np.linalg.eigvalsh((inverse + inverse.T) / 2).min() <= 0:
        return None
    shares = np.zeros((k * k + k, len(at)))
    for place, (i, j) in enumerate(free):
        shares[i * k + j, place], shares[i * k + i, place] = 1.0, -1.0
    for i in range(k):
        shares[k * k + i, m + i] = 1.0
    return np.asarray(shares @ inverse @ shares.T)
