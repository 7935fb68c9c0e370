"""Packet captures, reports of senders, throughput over time: what they say about a path."""

from .detection import Detection
from .estimate import estimate
from .intervals import Measured
from .limitation import UNKNOWN, Limitation
from .media import is_media, read_media
from .parts import Part, estimate_flows, estimate_segments
from .process import LossProcess
from .proposal import Proposal
from .recognise import estimate_report, is_capture, is_report
from .result import FlowSize, PathEstimate
from .sender_report import SenderReport
from .throughput_trace import ThroughputTrace
from .trace_file import read_throughput

__all__ = [
    "UNKNOWN",
    "Detection",
    "FlowSize",
    "Limitation",
    "LossProcess",
    "Measured",
    "Part",
    "PathEstimate",
    "Proposal",
    "SenderReport",
    "ThroughputTrace",
    "estimate",
    "estimate_flows",
    "estimate_report",
    "estimate_segments",
    "is_capture",
    "is_media",
    "is_report",
    "read_media",
    "read_throughput",
]
