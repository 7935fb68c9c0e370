"""Paths that vary, fitted to what was measured."""

from .fitted_regimes import Candidate, FittedRegime, FittedRegimes
from .next_video import next_delay
from .search import fit_regimes

__all__ = ["Candidate", "FittedRegime", "FittedRegimes", "fit_regimes", "next_delay"]
