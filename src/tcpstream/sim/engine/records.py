"""The arrays that hold a simulation: all of its state, so that a run can stop and go on anywhere."""

from __future__ import annotations

from typing import NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

ARRIVAL, TIMER, DELAYED_ACK, SOURCE, REFILL, SEND, CALL, FREE, PACE = cast("list[int]", np.arange(9))
"""Kinds of events: a packet reaches the end of a link; four that belong to a flow; an application's packet leaves its
host; an application is called; a link with CoDel has sent a packet; a flow may
send again. Numbers of numpy: what is called with Python's is compiled for each of them."""

RENO, NEWRENO, SACK, DATAGRAM = range(4)
"""Kinds of senders."""

BACKLOGGED, STEADY, REQUESTS, STORED, APPLICATION = range(5)
"""Kinds of sources: always something to send; a packet every interval; answers to requests; a stored video; Python."""

DATA, ACK, TOLD, REPORT = range(4)
"""What a packet is: data; an acknowledgement; an application's message to the client, or to the server. Odd: back."""

SENT, RECEIVED, DROPPED = cast("list[int]", np.arange(3))
"""What is counted; numbers of numpy as well."""

NO_LOSS, INDEPENDENT, ROUND, GILBERT_ELLIOTT, RECORDED = range(5)
"""Kinds of loss processes."""

SACKED, RESENT = 1, 2
"""What a sender knows of a packet."""

DONE, FULL_HEAP, FULL_POOL, FULL_LOG, CALLED = range(5)
"""Why the loop stopped."""

WAKE, WRITE, PACKET_OUT = range(3)
"""Kinds of orders."""

CLOCK = np.dtype(
    [
        ("now", "f8"),
        ("order", "i8"),
        ("pending", "i8"),
        ("free", "i8"),
        ("logged", "i8"),
        ("events", "i8"),
        ("hole", "i8"),
        ("orders", "i8"),
        ("called", "i8"),
        ("number", "i8"),
        ("bin", "f8"),
    ]
)

ORDER = np.dtype([("time", "f8"), ("number", "i8"), ("kind", "i4"), ("flow", "i4"), ("way", "i4"), ("size", "i4")])
"""What an application wants: a call, packets for TCP to send, or a packet [bytes], at a time [s]."""

ARRIVED = np.dtype([("time", "f8"), ("number", "i8")])
"""A datagram that reached its receiver [s]."""

EVENT = np.dtype([("time", "f8"), ("order", "i8"), ("kind", "i4"), ("who", "i4")])

PACKET = np.dtype(
    [
        ("seq", "i8"),
        ("round", "i8"),
        ("low0", "i8"),
        ("high0", "i8"),
        ("low1", "i8"),
        ("high1", "i8"),
        ("low2", "i8"),
        ("high2", "i8"),
        ("flow", "i4"),
        ("size", "i4"),
        ("back", "i4"),
        ("hop", "i4"),
    ]
)
"""A packet [size in bytes]; `back` is what it is: an acknowledgement is one of all before `seq`, with SACK blocks; the
`seq` of a message says which call it makes."""

LINK = np.dtype(
    [
        ("queue", "i8"),
        ("queue_bytes", "i8"),
        ("first", "i8"),
        ("waiting", "i8"),
        ("waiting_bytes", "i8"),
        ("piece", "i8"),
        ("last_piece", "i8"),
        ("opportunity", "i8"),
        ("first_opportunity", "i8"),
        ("last_opportunity", "i8"),
        ("cycle", "f8"),
        ("cycles", "i8"),
        ("left", "i8"),
        ("busy", "f8"),
        ("arrived", "f8"),
        ("tokens", "f8"),
        ("filled", "f8"),
        ("bucket_rate", "f8"),
        ("bucket_depth", "f8"),
        ("loss_kind", "i8"),
        ("to_bad", "f8"),
        ("to_good", "f8"),
        ("loss_bad", "f8"),
        ("bad", "i8"),
        ("holds_delayed", "i8"),
        ("bit", "i8"),
        ("first_bit", "i8"),
        ("last_bit", "i8"),
        # a policer [bytes/s], and CoDel: what was chosen, and its state
        ("special", "i8"),
        ("police_rate", "f8"),
        ("target", "f8"),
        ("interval", "f8"),
        ("above", "f8"),
        ("next_drop", "f8"),
        ("drops", "i8"),
        ("drops_before", "i8"),
        ("dropping", "i8"),
        ("too_long", "i8"),
        ("sending", "i8"),
    ]
)
"""A link: its queue limits (0: none), where its schedule, capacity trace and loss trace are, and their state."""

PIECE = np.dtype([("start", "f8"), ("rate", "f8"), ("delay", "f8"), ("loss", "f8")])
"""Part of a link's schedule: rate [bytes/s], delay [s] and loss probability from a time [s] on."""

FLOW = np.dtype(
    [
        # what was chosen
        ("kind", "i8"),
        ("source", "i4"),
        ("control", "i4"),
        ("window", "f8"),
        ("initial_window", "f8"),
        ("slow_start", "i8"),
        ("limited_transmit", "i8"),
        ("size", "i8"),
        ("ack_size", "i8"),
        ("min_rto", "f8"),
        ("initial_rto", "f8"),
        ("granularity", "f8"),
        ("ticks", "i8"),
        ("rack", "i8"),
        ("jitter", "f8"),
        ("ack_every", "i8"),
        ("ack_delay", "f8"),
        ("start", "f8"),
        ("interval", "f8"),
        ("stop", "f8"),
        ("log", "i8"),
        ("logged", "i8"),
        ("listens", "i8"),
        ("first_request", "i8"),
        ("last_request", "i8"),
        # the sender
        ("una", "i8"),
        ("next", "i8"),
        ("high", "i8"),
        ("available", "i8"),
        ("cwnd", "f8"),
        ("ssthresh", "f8"),
        ("dupacks", "i8"),
        ("inflation", "i8"),
        ("recovering", "i8"),
        ("recover", "i8"),
        ("srtt", "f8"),
        ("rttvar", "f8"),
        ("eighths", "i8"),
        ("quarters", "i8"),
        ("rto", "f8"),
        ("backoff", "i8"),
        ("timed", "i8"),
        ("timed_at", "f8"),
        ("deadline", "f8"),
        ("expiry", "f8"),
        ("newest", "f8"),
        ("round", "i8"),
        ("request", "i8"),
        ("leaving", "f8"),
        # the receiver
        ("expected", "i8"),
        ("highest", "i8"),
        ("held", "i8"),
        ("ack_deadline", "f8"),
        ("ack_timer", "i8"),
        ("held_round", "i8"),
        ("low1", "i8"),
        ("high1", "i8"),
        ("low2", "i8"),
        ("high2", "i8"),
        # the loss process `round`
        ("lost_round", "i8"),
        # what is counted
        ("sent", "i8"),
        ("resent", "i8"),
        ("dropped", "i8"),
        ("received", "i8"),
        ("loss_events", "i8"),
        ("at_risk", "i8"),
        ("missing", "i8"),
        ("timeouts", "i8"),
        ("fast_retransmits", "i8"),
        ("rtt_sum", "f8"),
        ("rtts", "i8"),
        ("rto_sum", "f8"),
        ("rtos", "i8"),
        # a stored video, and the client that shows it: packets, and what it holds where it starts, stops reading, ...
        ("total", "i8"),
        ("wanted", "i8"),
        ("resume", "i8"),
        ("room", "f8"),
        ("refill", "f8"),
        ("restarts", "i8"),
        ("playing", "i8"),
        ("shift", "f8"),
        ("position", "i8"),
        ("seen", "i8"),
        ("closed", "i8"),
        ("paused", "i8"),
    ]
)
"""A flow, from sender to receiver; sequence numbers count packets."""


class World(NamedTuple):
    """Everything that a run reads and writes.

    Attributes
    ----------
    clock : (1,) CLOCK
    heap : EVENT array
        A binary heap.
    packets, free : PACKET array, int array
        The packets under way, and a stack of the numbers of unused ones.
    links, schedule : LINK, PIECE arrays
    opportunities : float array
        Times [s] at which links with a capacity trace can send 1500 bytes, one trace behind the other.
    bits : uint8 array
        Loss traces, one behind the other; 1 is a loss.
    departures, sizes : (links, queue) arrays
        When what is in a queue has left it [s], and its sizes [bytes]: rings. With CoDel: when it came [s], and which
        packets they are.
    flows : FLOW array
    routes : (flows, 2, hops) int array
        Links there and back, -1 behind the last.
    known, sent_at : (flows, M) arrays
        Of each packet of the window, modulo M, a power of two: what the sender knows, and when it was sent.
    got : (flows, M) array
        Packets that the receiver holds out of order.
    thinks, answers : arrays
        Requests: pause before each [s], and packets of the answer.
    log : (logged TCP flows, n) array
        Times of in-order delivery [s].
    accounts : (flows, 4, 2, 3) array
        What applications sent, received and lost, by what a packet is: packets, and bytes.
    arrivals : (logged datagram flows, n) ARRIVED array
    bins : (flows, 3, bins) array
        Bytes sent, received and dropped in each time bin.
    orders : ORDER array
        What applications want, until the loop goes on.
    control : (flows,) CONTROL array
        What governs the windows of flows that have more than Reno's rules, those with `control`.
    bbr, tags : PATH array, (flows of BBR, M) TAG array
        What BBR knows of its paths, and what it has noted with each packet of a window, modulo M.
    """

    clock: NDArray[np.void]
    heap: NDArray[np.void]
    packets: NDArray[np.void]
    free: NDArray[np.int64]
    links: NDArray[np.void]
    schedule: NDArray[np.void]
    opportunities: NDArray[np.float64]
    bits: NDArray[np.uint8]
    departures: NDArray[np.float64]
    sizes: NDArray[np.int64]
    flows: NDArray[np.void]
    routes: NDArray[np.int64]
    known: NDArray[np.uint8]
    sent_at: NDArray[np.float64]
    got: NDArray[np.uint8]
    thinks: NDArray[np.float64]
    answers: NDArray[np.int64]
    log: NDArray[np.float64]
    accounts: NDArray[np.int64]
    arrivals: NDArray[np.void]
    bins: NDArray[np.int64]
    orders: NDArray[np.void]
    control: NDArray[np.void]
    bbr: NDArray[np.void]
    tags: NDArray[np.void]
