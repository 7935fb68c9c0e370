"""Events of flows whose windows have rules besides Reno's: called, so that the others pay nothing for them."""

from __future__ import annotations

import numpy as np

from .compiled import called
from .control import forget_all
from .records import ARRIVAL, REQUESTS, TIMER, World
from .tcp_sender import acknowledged, send, timer
from .window_use import after_idle


@called
def ruled(world: World, rng: np.random.Generator, kind: int, who: int) -> None:
    """Handle an acknowledgement, the retransmission timer, or what a source has made."""
    if kind == ARRIVAL:
        acknowledged(world, rng, who, True)
    elif kind == TIMER:
        timer(world, rng, who, True)
    else:
        if world.flows[who].source == REQUESTS:
            forget_all(world, who)
        after_idle(world, who)
        send(world, rng, who, True)
