"""Packet captures: what they say about the path that a TCP flow crossed."""

from .estimate import LossProcess, Measured, PathEstimate, estimate

__all__ = ["LossProcess", "Measured", "PathEstimate", "estimate"]
