"""Packet captures: what they say about the path that a TCP flow crossed."""

from .estimate import estimate
from .intervals import Measured
from .parts import Part, estimate_flows, estimate_segments
from .process import LossProcess
from .result import FlowSize, PathEstimate

__all__ = [
    "FlowSize",
    "LossProcess",
    "Measured",
    "Part",
    "PathEstimate",
    "estimate",
    "estimate_flows",
    "estimate_segments",
]
