"""Events of flows whose windows have rules besides Reno's: called, so that the others pay nothing for them."""

from __future__ import annotations

import numpy as np

from .bbr_sender import by_bbr
from .compiled import called, wide
from .control import forget_all
from .control_records import BBR
from .records import ARRIVAL, REQUESTS, TIMER, World
from .tcp_sender import acknowledged, send, timer
from .window_use import after_idle


@called
def ruled(world: World, rng: np.random.Generator, kind: int, who: int) -> None:
    """Handle an acknowledgement, the retransmission timer, what a source has made, or that it is time to send."""
    f = wide(world.packets[who].flow) if kind == ARRIVAL else who
    if world.flows[f].control == BBR:
        by_bbr(world, rng, kind, who)
    elif kind == ARRIVAL:
        acknowledged(world, rng, who, True)
    elif kind == TIMER:
        timer(world, rng, who, True)
    else:
        if world.flows[who].source == REQUESTS:
            forget_all(world, who)
        after_idle(world, who)
        send(world, rng, who, True)
