"""What each TCP is, one record each."""

from __future__ import annotations

IN_SECONDS = ("cubic",)
"""Those whose windows grow with time in seconds: another chain for each round trip time."""
