"""Will this video play without glitches over this TCP path, and how long must the player wait before it starts?

>>> import tcpstream
>>> path = tcpstream.Path(sender="classic", loss=0.02, rtt=0.1, rto=0.3)
>>> video = tcpstream.Video(packet_rate=25, duration=80)
>>> result = tcpstream.stored(path, video)
>>> round(result.required_delay(1e-4), 2)
1.58

Names are loaded when first used, so that importing costs nothing.
"""

from __future__ import annotations

from importlib import import_module

from ._version import __version__

TYPE_CHECKING = False  # as typing's, which takes milliseconds to load, in which Ctrl-C would leave a traceback

if TYPE_CHECKING:
    from typing import Any

    from . import explicit as explicit
    from . import explore as explore
    from . import layered as layered
    from . import plots as plots
    from . import sim as sim
    from . import traces as traces
    from .answers.buffer_grid import BufferGrid as BufferGrid
    from .answers.buffer_grid import buffer_grid as buffer_grid
    from .answers.buffered_play import BufferedPlay as BufferedPlay
    from .answers.constancy import Constancy as Constancy
    from .answers.constancy import constancy as constancy
    from .answers.delayed_play import Play as Play
    from .answers.drawn_sessions import DrawnSessions as DrawnSessions
    from .answers.encoded_play import EncodedPlay as EncodedPlay
    from .answers.from_throughput import Path as Path
    from .answers.interval import delay_interval as delay_interval
    from .answers.interval import require_match as require_match
    from .answers.known_players import known_player as known_player
    from .answers.late_frames import LateFrames as LateFrames
    from .answers.limited_live import LimitedLive as LimitedLive
    from .answers.live import EndlessLive as EndlessLive
    from .answers.live import FiniteLive as FiniteLive
    from .answers.live import live as live
    from .answers.live import live_many as live_many
    from .answers.live_play import LivePlay as LivePlay
    from .answers.paced_play import PacedPlay as PacedPlay
    from .answers.pacing import Pacing as Pacing
    from .answers.pausing_play import PausingPlay as PausingPlay
    from .answers.pausing_player import PausingPlayer as PausingPlayer
    from .answers.play import play as play
    from .answers.player import Player as Player
    from .answers.rate import largest_rate as largest_rate
    from .answers.segment_play import SegmentPlay as SegmentPlay
    from .answers.segment_player import SegmentPlayer as SegmentPlayer
    from .answers.session_paths import Population as Population
    from .answers.shared_bottleneck import SharedBottleneck as SharedBottleneck
    from .answers.shared_bottleneck import shared_bottleneck as shared_bottleneck
    from .answers.skipping_play import SkippingPlay as SkippingPlay
    from .answers.stored import StoredStreaming as StoredStreaming
    from .answers.stored import stored as stored
    from .answers.stored import stored_many as stored_many
    from .answers.stored_population import StoredPopulation as StoredPopulation
    from .answers.stored_population import stored_population as stored_population
    from .answers.transfer_time import TransferTime as TransferTime
    from .answers.transfer_time import transfer_time as transfer_time
    from .errors import AccuracyError as AccuracyError
    from .errors import CaptureError as CaptureError
    from .errors import InputError as InputError
    from .errors import InputWarning as InputWarning
    from .errors import MissingExtraError as MissingExtraError
    from .errors import ModelMismatchError as ModelMismatchError
    from .errors import NoFiniteDelayError as NoFiniteDelayError
    from .errors import TcpstreamError as TcpstreamError
    from .errors import TimeLimitError as TimeLimitError
    from .errors import WriteError as WriteError
    from .fits import FittedRegimes as FittedRegimes
    from .fits import fit_regimes as fit_regimes
    from .fits import next_delay as next_delay
    from .path import Network as Network
    from .scores import Scores as Scores
    from .scores import score as score
    from .sender import Sender as Sender
    from .system.watch import time_limit as time_limit
    from .tcp import Varying as Varying
    from .tcp import throughput as throughput
    from .traces import PathEstimate as PathEstimate
    from .traces import estimate as estimate
    from .video import Frames as Frames
    from .video import Video as Video

_HOMES = {
    "Path": "answers.from_throughput",
    "Network": "path",
    "Varying": "tcp",
    "fit_regimes": "fits",
    "next_delay": "fits",
    "FittedRegimes": "fits",
    "Sender": "sender",
    "Video": "video",
    "Frames": "video",
    "Player": "answers.player",
    "stored": "answers.stored",
    "stored_many": "answers.stored",
    "StoredStreaming": "answers.stored",
    "Population": "answers.session_paths",
    "stored_population": "answers.stored_population",
    "StoredPopulation": "answers.stored_population",
    "live": "answers.live",
    "live_many": "answers.live",
    "EndlessLive": "answers.live",
    "FiniteLive": "answers.live",
    "LimitedLive": "answers.limited_live",
    "play": "answers.play",
    "Play": "answers.delayed_play",
    "BufferedPlay": "answers.buffered_play",
    "buffer_grid": "answers.buffer_grid",
    "BufferGrid": "answers.buffer_grid",
    "known_player": "answers.known_players",
    "PausingPlayer": "answers.pausing_player",
    "PausingPlay": "answers.pausing_play",
    "Pacing": "answers.pacing",
    "PacedPlay": "answers.paced_play",
    "SegmentPlayer": "answers.segment_player",
    "SegmentPlay": "answers.segment_play",
    "LivePlay": "answers.live_play",
    "EncodedPlay": "answers.encoded_play",
    "SkippingPlay": "answers.skipping_play",
    "LateFrames": "answers.late_frames",
    "DrawnSessions": "answers.drawn_sessions",
    "transfer_time": "answers.transfer_time",
    "TransferTime": "answers.transfer_time",
    "largest_rate": "answers.rate",
    "throughput": "tcp",
    "shared_bottleneck": "answers.shared_bottleneck",
    "SharedBottleneck": "answers.shared_bottleneck",
    "score": "scores",
    "Scores": "scores",
    "estimate": "traces",
    "PathEstimate": "traces",
    "delay_interval": "answers.interval",
    "constancy": "answers.constancy",
    "Constancy": "answers.constancy",
    "require_match": "answers.interval",
    "time_limit": "system.watch",
    "TcpstreamError": "errors",
    "InputError": "errors",
    "CaptureError": "errors",
    "MissingExtraError": "errors",
    "AccuracyError": "errors",
    "TimeLimitError": "errors",
    "WriteError": "errors",
    "NoFiniteDelayError": "errors",
    "ModelMismatchError": "errors",
    "InputWarning": "errors",
}

_PARTS = ("explicit", "explore", "layered", "plots", "sim", "traces")
"""Packages that have public names of their own."""

__all__ = ["__version__", *_HOMES]


def __getattr__(name: str) -> Any:
    """Load a public name, or a package, on first use."""
    if name in _PARTS:
        return import_module(f".{name}", __name__)
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f".{_HOMES[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """Return the public names."""
    return sorted((*__all__, *_PARTS))
