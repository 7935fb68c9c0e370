"""A playback rate or a round trip time for a wanted T/mu: the two ways of Section 6.2 to vary it."""

from __future__ import annotations

from typing import Any

from ..errors import InputError, positive
from ..path import Path
from ..tcp import throughput
from ..variants import VARIANTS


def rate_for(path: Path, T_over_mu: float) -> float:
    """Return the playback rate mu [packets/s] at which a path has a given T/mu.

    Parameters
    ----------
    path : Path
    T_over_mu : float
        Throughput over playback rate, > 0; a live stream needs more than 1.

    Raises
    ------
    InputError
        For a ratio out of range.

    Notes
    -----
    Wang, Kurose, Shenoy and Towsley, Section 6.2: "fixing RTT and decreasing the video playback rate".
    """
    return throughput(path) / positive("T/mu", T_over_mu)


def rtt_for(*, loss: float, timeout_ratio: float, packet_rate: float, T_over_mu: float, **chosen: Any) -> float:
    """Return the round trip time R [s] at which a playback rate has a given T/mu.

    T R depends on p, T_O and the TCP alone, so that R = (T R) / (mu T/mu): no search. It needs T_O, since a timer in
    seconds would change T_O with R.

    Parameters
    ----------
    loss : float
        Loss rate p, 0 < p < 1.
    timeout_ratio : float
        T_O >= 1 [rounds].
    packet_rate : float
        Playback rate mu [packets/s], > 0.
    T_over_mu : float
        Throughput over playback rate, > 0; a live stream needs more than 1.
    **chosen
        What else `Path` takes; no bottleneck.

    Raises
    ------
    InputError
        For values out of range, and for a path whose T R depends on R: of cubic, or with a bottleneck.

    Notes
    -----
    Wang, Kurose, Shenoy and Towsley, Section 6.2: "fixing the playback rate and decreasing RTT".
    """
    path = Path(loss=loss, rtt=1.0, timeout_ratio=timeout_ratio, **chosen)
    if path.bottleneck is not None:
        raise InputError("a round trip time for a wanted T/mu needs a path without bottleneck: its T R depends on R")
    if VARIANTS[path.tcp].clock == "seconds":
        accepted = " or ".join(name for name, one in VARIANTS.items() if one.clock == "rounds")
        raise InputError(f"a round trip time for a wanted T/mu needs tcp {accepted}, got {path.tcp}")
    per_round = throughput(path)
    return per_round / (positive("playback rate", packet_rate, "packets/s") * positive("T/mu", T_over_mu))
