"""Whether the clock of a capture is fine enough for its round trips."""

from __future__ import annotations

from ..errors import CaptureError

#: A clock whose steps are at most this share of the round trip needs no mention.
_FINE = 0.5


def require_clock(tick: float, rtt: float, name: str) -> None:
    """Raise `CaptureError` where the clock's steps are longer than the mean round trip [s].

    Then a packet, its loss and its retransmission may have the same time. The mean itself is known all the same, as
    a step begins anywhere in a round trip.
    """
    if tick > rtt:
        raise CaptureError(
            f"{name} has times in steps of {tick:.3g} s, longer than a round trip: neither round trips nor losses can "
            "be measured; capture with a clock of milliseconds or finer"
        )


def coarse(tick: float, rtt: float) -> list[str]:
    """Return a warning where the clock's steps are longer than half of the mean round trip [s]."""
    if tick <= _FINE * rtt:
        return []
    return [
        f"the capture's clock has steps of {tick:.3g} s, and a round trip takes {rtt:.3g} s: quantiles of the round "
        "trip and the timer may be off by a step"
    ]
