"""Packets that enter a link at given times: each is the only one of a flow of its own."""

import numpy as np

from tcpstream.sim import Flow, Link, Scenario, Steady, Tcp, simulate

NEVER = 1e6
"""Retransmission timer [s] that is longer than any run."""


def cross(link, arrivals, until=1e4):
    """Return when packets (time [s], size [bytes]) arrive behind a link [s], None where they are dropped."""
    flows = tuple(
        Flow(
            ("there",), ("back",), Tcp(initial_rto=NEVER, packet_size=size, max_window=2), Steady(1.0, 0.5), time,
            measured=True,
        )
        for time, size in arrivals
    )  # fmt: skip
    run = simulate(Scenario({"there": link, "back": Link(0.0)}, flows), until, np.random.default_rng(1))
    return [seen.times[0] + flow.start if len(seen.times) else None for seen, flow in zip(run.flows, flows)]
