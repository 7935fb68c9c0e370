"""The transitions of a chain as sessions are drawn from them."""

import numpy as np


def by_source(rows):
    """Return the first row of each state; of rows the next state, rounds, received, in order, sums of chances."""
    order = np.argsort(rows.from_state, kind="stable")
    starts = np.searchsorted(rows.from_state[order], np.arange(rows.n_states + 1))
    sums = np.cumsum(rows.probability[order])
    cumulated = sums - np.repeat(np.append(0.0, sums)[starts[:-1]], np.diff(starts))
    return (
        starts, rows.to_state[order], rows.rounds[order], rows.received[order], rows.in_order[order], cumulated,
    )  # fmt: skip
