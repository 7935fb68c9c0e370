"""Types of what answers are asked for: one value makes a float, several make an array."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

from numpy.typing import NDArray

Several: TypeAlias = Sequence[Any] | NDArray[Any]
"""Anything that `array_like` is but a single number."""
