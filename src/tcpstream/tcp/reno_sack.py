"""TCP Reno with selective acknowledgements, on a path that loses packets independently of each other."""

from __future__ import annotations

import numpy as np

from ..path import Path
from .reno import halves
from .sack import SackSource


def reno_sack(path: Path) -> SackSource:
    """Build the chain of Reno with SACK for independent losses; p is then lost over sent packets.

    Parameters
    ----------
    path : Path
        Its round trip time does not matter: the law of the source counts rounds.

    Raises
    ------
    AccuracyError
        For more than a million states.

    Notes
    -----
    Loss recovery as in RFC 6675, with a window lost whole as the only one that tells the sender nothing: one packet
    that arrives is enough, as with limited transmit (RFC 3042) or RACK (RFC 8985).
    """
    b, W = path.rounds_per_increase, path.max_window
    w = np.repeat(np.arange(1, W + 1), b)
    recover_to = np.where(w >= 2, (halves(path)[w] - 1) * b, -1)[:, np.newaxis]
    return SackSource.on_lines(path, recover_to=recover_to, recover_share=np.ones(recover_to.shape))
