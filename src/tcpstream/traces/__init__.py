"""Packet captures: what they say about the path that a TCP flow crossed."""

from .estimate import Measured, PathEstimate, estimate

__all__ = ["Measured", "PathEstimate", "estimate"]
