"""Whether a capture lacks acknowledgements: then delays last until a later one, and round trips come out too long."""

from __future__ import annotations

import numpy as np

from .flow import Flow
from .intervals import Measured
from .limitation import Limitation

#: Share of the echoed timestamps that may be missing: more make the mean round trip of a Linux flow 5% too long.
_FEW = 0.1
#: Payload [bytes] that Linux merges at most before TCP sees it (GRO), and acknowledges at once.
_MERGED = 1 << 16


def missing_echoes(flow: Flow) -> tuple[int, int]:
    """Return how many timestamps that data echo no acknowledgement of the capture has, and how many data echo at all.

    A sender echoes the timestamps of the acknowledgements that it got (RFC 7323, Section 4). Those before the first one
    of the capture are left out.
    """
    acks, data = flow.stamped & ~flow.is_data, flow.stamped & flow.is_data
    if not acks.any():
        return 0, 0
    held, echoed = flow.tsval[acks], np.unique(flow.tsecr[data])
    echoed = echoed[(echoed - held[0]).view(np.int32) >= 0]
    return int(np.count_nonzero(~np.isin(echoed, held))), len(echoed)


def lacks_acks(missing: int, echoed: int, per_ack: Measured | None, mss: int) -> str | None:
    """Return a clause on acknowledgements that the capture lacks; None if it holds about all, or nothing tells.

    Parameters
    ----------
    missing, echoed : int
        As `missing_echoes`.
    per_ack : Measured or None
        Packets per acknowledgement; they tell where there are no timestamps.
    mss : int
        Payload of a full packet [bytes].
    """
    if missing > _FEW * echoed:
        return f"data echo {echoed} timestamps of acknowledgements, and those of {missing} are not in the capture"
    if not echoed and per_ack is not None and per_ack.value * mss > _MERGED:
        return (
            f"{per_ack.value:.3g} packets come to each acknowledgement, and receivers merge at most {_MERGED} bytes "
            f"before they acknowledge, {_MERGED // mss} packets"
        )
    return None


def too_long(lacking: str | None) -> list[str]:
    """Return a warning where acknowledgements are lacking."""
    if lacking is None:
        return []
    return [f"the capture lacks acknowledgements, and its round trip and timer are too long: {lacking}"]


def not_known(lacking: str) -> Limitation:
    """Return that what limits a flow is not known, as what its sender waited for is not."""
    return Limitation(
        "unknown",
        f"The capture lacks acknowledgements, and so does not show what the sender waited for: {lacking}.",
        "Capture all packets of both directions.",
    )
