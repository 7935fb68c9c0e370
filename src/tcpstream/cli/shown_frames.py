"""Late frames beside an answer, where the frames of a video are known."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..errors import AccuracyError, TimeLimitError
from .blocks import Table

if TYPE_CHECKING:
    from ..answers.late_frames import LateFrames
    from ..video import Video

_HEADER = ("startup delay [s]", "late frames", "cannot be decoded")


def frames(video: Video, find: Callable[[], LateFrames]) -> tuple[dict[str, Any], list[str | Table]]:
    """Return late frames for JSON, and as a table; nothing of a video whose frames are not known."""
    if video.frames is None:
        return {}, []
    try:
        found = find()
    except TimeLimitError:
        raise
    except AccuracyError as error:
        return {"late_frame_fraction": None, "undecodable_frame_fraction": None}, [f"Late frames: {error}."]
    lost = [None] * len(found.late) if found.undecodable is None else found.undecodable.tolist()
    rows = [
        (f"{tau:g}", _known(late, off), "key frames are not known" if one is None else _known(one, more))
        for tau, late, off, one, more in zip(
            found.startup_delay.tolist(), found.late.tolist(), found.late_error.tolist(), lost,
            found.undecodable_error.tolist(),
        )
    ]  # fmt: skip
    return found.to_dict(), [Table(rows, _HEADER)]


def _known(value: float, error: float) -> str:
    """Return a fraction, and its error where four digits do not have it."""
    return f"{value:.4g}" if error < 5e-5 * value else f"{value:.4g}, within {error:.1g}"
