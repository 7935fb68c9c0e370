"""BBR version 1 behind a bottleneck: a rate that losses do not reduce, and a pause every ten seconds.

BBR sends at the largest rate at which packets were delivered of late, whatever is lost on the way. When it has not seen
a shorter round trip for ten seconds it keeps four packets under way for 200 ms (PROBE_RTT). The queue that its hosts
and its probes for more rate leave is that which would have to empty first; losses empty it, and then there is no pause.

N. Cardwell et al., draft-cardwell-iccrg-bbr-congestion-control-00, 2017, and Linux's choices (tcp_bbr.c), as the
simulator's sender has them.
"""

from __future__ import annotations

import math

from ..errors import InputError
from ..path import Path

MEMORY, PAUSE, LEAST = 10.0, 0.2, 4
"""Seconds that the shortest round trip counts, seconds of a PROBE_RTT, and packets under way in it."""

PHASES, PROBING, BELOW = 8, 0.25, 0.99
"""Rounds of a cycle of gains, what the first adds to the rate, and the rate that is kept of what was seen."""

BURSTS, SLOW, MOMENT, MOST = 3, 100.0, 1024, 127
"""Bursts of hosts that a target for the packets under way has room for; the rate below which packets leave one by one
[packets/s], else by what this part of a second holds, two at least and so many at most."""


def throughput(path: Path) -> float:
    """Return the throughput of BBR version 1 behind a bottleneck [packets/s]; p is lost over sent packets.

    Parameters
    ----------
    path : Path
        With a bottleneck.

    Raises
    ------
    InputError
        For a buffer that does not hold a burst of the sender: each loses a packet.

    Notes
    -----
    In ten seconds over the probability of a PROBE_RTT (`pause_probability`) rounds send what `sent_in_a_round` says,
    but for those of one PROBE_RTT: 200 ms and a round, of four packets each.
    """
    assert path.buffer is not None
    if path.buffer < burst(path):
        raise InputError(
            f"tcp = bbr sends bursts of {burst(path)} packets: buffer must be at least as many, got {path.buffer}"
        )
    carried, pauses = sent_in_a_round(path), pause_probability(path)
    paused = math.ceil(PAUSE / path.rtt) + 1
    lost = pauses * paused * max(carried - LEAST, 0.0) / (MEMORY / path.rtt + pauses * paused)
    return (carried - lost) * (1 - path.loss) / path.rtt


def sent_in_a_round(path: Path) -> float:
    """Return what is sent in a round of R, on average [packets].

    Parameters
    ----------
    path : Path
        With a bottleneck.

    Notes
    -----
    Of a cycle of eight rounds one sends a quarter more than the rate, one a quarter less, but only until what the hosts
    may hold back is left in the queue. In the first round of a recovery as many packets are sent as arrive
    (packet conservation): p less in one of three rounds, where all rounds lose packets. The link carries C R packets a
    round at most: then what is lost on the way to it does not matter.
    """
    p, pipe = path.loss, path.pipe
    added = BELOW * (1 + PROBING) - 1
    yielding = min(max((added - held_back(path) / pipe) / (1 - BELOW * (1 - PROBING)), 0.0), 1.0)
    gain = BELOW * (PHASES - 1 + PROBING + (1 - PROBING) * yielding) / (PHASES - 1 + yielding)
    loses = -math.expm1(pipe * math.log1p(-p))
    conserving = loses / (1 + 2 * loses)
    return pipe * min(gain * (1 - p * conserving), 1 / (1 - p))


def pause_probability(path: Path) -> float:
    """Return the probability that no packet has found the queue empty for ten seconds, so that there is a PROBE_RTT.

    Parameters
    ----------
    path : Path
        With a bottleneck.

    Notes
    -----
    The second phase of a cycle of eight rounds leaves in the queue what hosts may hold back, or all that the buffer
    holds. Until the next cycle a hundredth of the rate drains it, and whatever is lost: what overflows the buffer in
    the first phase, and a Poisson number of packets besides.
    """
    assert path.buffer is not None
    pipe, left = path.pipe, min(held_back(path), path.buffer)
    overflowing = max(0, math.floor(left + PROBING * pipe) - path.buffer)
    needed = math.ceil(left - (PHASES - 2) * (1 - BELOW) * pipe) - overflowing
    mean = (PHASES - 1) * pipe * path.loss
    kept = math.exp(-mean) * sum(mean**k / math.factorial(k) for k in range(needed))
    cycles = MEMORY / (PHASES * path.rtt * (1 + left / pipe))
    return float(kept**cycles)


def held_back(path: Path) -> int:
    """Return the packets that BBR lets into the queue: bursts of hosts, and one by which a target is made even."""
    return BURSTS * burst(path) + 1


def burst(path: Path) -> int:
    """Return the packets that are sent at once."""
    rate = path.bottleneck
    assert rate is not None
    return min(MOST, max(1 if rate < SLOW else 2, int(rate / MOMENT)))
