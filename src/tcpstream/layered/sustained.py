"""Layers of a video that TFRC, or TCP, sustains on a path."""

from __future__ import annotations

from ..errors import positive
from ..path import Path
from ..sim.tfrc import equation
from ..tcp import constant, throughput
from ..tcp.formulas import tfrc


def tfrc_layers(path: Path, layer_rate: float, size: int = 1000) -> float:
    """Return how many layers the rate of TFRC is worth, by its equation at the path's p and R.

    Parameters
    ----------
    path : Path
        Its loss is the loss-event rate; with ``rounds_per_increase=1, timeout_ratio=4`` the equation is that of RFC
        5348.
    layer_rate : float
        Of each layer [bit/s], > 0.
    size : int
        s, of segments [bytes].

    Returns
    -------
    float
        Not rounded: its whole part is what is sustained, and the rest goes to the next layer.
    """
    return 8 * size * tfrc(constant(path, "tfrc_layers")) / _rate(layer_rate)


def chain_layers(path: Path, layer_rate: float, size: int = 1000) -> float:
    """Return how many layers the throughput of the path's chain is worth; parameters as in `tfrc_layers`.

    A flow under TFRC has what TCP would have on the path as far as the equation is TCP's: the chain says what it has.
    """
    return 8 * size * throughput(path) / _rate(layer_rate)


def loss_event_rate(rate: float, rtt: float, size: int = 1000) -> float:
    """Return the p at which TFRC fills a link that it has alone: its equation, inverted.

    Parameters
    ----------
    rate : float
        Of the link [bit/s].
    rtt : float
        R, queue included [s].
    size : int
        s [bytes].

    Returns
    -------
    float
        Loss-event rate, to the last digit; 1 for less than the equation ever gives.
    """
    return equation.loss_event_rate(positive("rate", rate, "bit/s") / 8 * positive("rtt", rtt, "s") / size)


def _rate(layer_rate: float) -> float:
    return positive("rate of a layer", layer_rate, "bit/s")
