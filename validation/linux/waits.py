"""How long a viewer of what a connection delivered would have had to wait."""

from __future__ import annotations

import numpy as np
from emulator import deliveries
from hub import Flow


def needed(one: Flow, begin: float, rate: float, seconds: float) -> float | None:
    """Return the least startup delay with which no packet would have been late [s].

    Parameters
    ----------
    one : Flow
    begin : float
        When the viewer asks for the video, since the beginning of the connection [s].
    rate, seconds : float
        Of the video [packets/s; s].

    Returns
    -------
    float or None
        None if the connection ended too soon to tell.
    """
    times = deliveries(one.seen)
    first, packets = int(np.searchsorted(times, begin)), round(rate * seconds)
    times = times[first : first + packets]
    if len(times) < packets:
        return None
    return round(max(0.0, float((times - begin - np.arange(1, packets + 1) / rate).max())), 4)
