"""The surface between the nodes, and its error: ``python docs/interactive/surface.py`` measures both.

Between nodes the logit ln(v / (1 - v)) of a value v is a product of cubics (a parabola over three nodes) in the
logarithms of p, R, T/mu and the start-up delay. ``surface.js`` does the same in the browser.
"""

import json
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numba import njit
from solve import DELAYS, LOADS, LOSSES, NOTHING, ROUND_TRIPS, SENDERS, path_of

import tcpstream

HERE = Path(__file__).parent
QUANTITIES = ("late_fraction", "stall")
FLOORS = np.array([1e-6, 1e-4])
"""Below them the page gives no value."""

CEILING = 0.999
"""Above it the page gives none either."""

SCALED_BY, MARGIN = 60, 1.3
"""Random paths that scale the error, and what it is multiplied with beyond the largest of theirs."""

AXES = tuple(np.log(axis) for axis in (LOSSES, ROUND_TRIPS, LOADS, DELAYS))
FINE = tuple(np.linspace(axis[0], axis[-1], count) for axis, count in zip(AXES[:2], (13, 7)))
"""Of the throughput, over ln p and ln R."""


@dataclass(frozen=True)
class Surface:
    """What the browser gets.

    Attributes
    ----------
    values : (senders, 2, p, R, T/mu, delays) array
        Logits of the late fraction and of P(any stall).
    errors : (senders, 2, T/mu, delays) array
        Of the logits between these nodes.
    throughputs : (senders, p, R) array
        ln T [packets/s], at the points of `FINE`.
    """

    values: np.ndarray
    errors: np.ndarray
    throughputs: np.ndarray


def logit(values):
    """Return ln(v / (1 - v)), cut where nothing was asked, and far above the ceiling."""
    cut = np.clip(values, NOTHING, 1 - 1e-5)
    return np.log(cut / (1 - cut))


def read(name):
    """Return the lines of a record."""
    return [json.loads(line) for line in (HERE / f"{name}.jsonl").read_text("utf-8").splitlines()]


def load():
    """Return the surface of the records."""
    table = np.array([[one[quantity] for quantity in QUANTITIES] for one in read("nodes")])
    shape = len(SENDERS), len(LOSSES), len(ROUND_TRIPS), len(LOADS), 2, len(DELAYS)
    values = np.ascontiguousarray(np.moveaxis(logit(table.reshape(shape)), 4, 1))
    return scaled(Surface(values, roughness(values), throughputs()))


def throughputs():
    """Return ln T of every sender at the points of `FINE`."""
    return np.array(
        [
            [[np.log(tcpstream.throughput(path_of(sender, p, r))) for r in np.exp(FINE[1])] for p in np.exp(FINE[0])]
            for sender in SENDERS
        ]
    )


def roughness(values):
    """Return how far a cubic through the others misses a node, the most of it and its neighbours in T/mu and delay."""
    shown = (values > logit(FLOORS)[:, None, None, None, None] - 2) & (values < logit(CEILING) + 1)
    worst = sum(np.where(shown, missed(values, axis), 0).max(axis=(2, 3)) for axis in (4, 5))
    for axis in (2, 3):
        pad = [(1, 1) if i == axis else (0, 0) for i in range(4)]
        worst = np.lib.stride_tricks.sliding_window_view(np.pad(worst, pad), 3, axis).max(-1)
    return worst


def missed(values, axis):
    """Return the distance of each node from the cubic through the four nearest others on an axis; of the ends 0."""
    values = np.moveaxis(values, axis, -1)
    off = np.zeros_like(values)
    for i in range(1, values.shape[-1] - 1):
        others = sorted(sorted((j for j in range(values.shape[-1]) if j != i), key=lambda j: abs(j - i))[:4])
        weights = [np.prod([(i - k) / (j - k) for k in others if k != j]) for j in others]
        off[..., i] = np.abs(values[..., i] - values[..., others] @ np.array(weights))
    return np.moveaxis(off, -1, axis)


def scaled(surface):
    """Return the surface with errors that the first random paths stay within."""
    ratios = misses(surface, slice(0, SCALED_BY))
    factors = np.array([max(ratios[:, i].max(), 1e-9) for i in (0, 1)]) * MARGIN
    return Surface(surface.values, surface.errors * factors[:, None, None], surface.throughputs)


def misses(surface, which):
    """Return the error over the stated one at random points; 0 where both are below the floor or above the ceiling."""
    lines = read("points")[which]
    senders = np.repeat([list(SENDERS).index(one["sender"]) for one in lines], 5)
    p, r, rates = (np.repeat([one[name] for one in lines], 5) for name in ("loss", "rtt_s", "rate_pps"))
    delays = np.concatenate([one["delays_s"] for one in lines])
    found, errors = evaluate(surface, senders, p, r, rates, delays)
    true = logit(np.array([[one[quantity] for quantity in QUANTITIES] for one in lines]).swapaxes(1, 2).reshape(-1, 2))
    low = logit(FLOORS)
    high = logit(CEILING)
    alike = (np.maximum(true, found) < low) | (np.minimum(true, found) > high)
    return np.where(alike, 0, np.abs(found - true) / errors)


def evaluate(surface, senders, losses, round_trips, rates, delays):
    """Return logits and errors, (n, 2) arrays, at n places: p, R [s], rates [packets/s], start-up delays [s]."""
    return _many(
        surface.values, surface.errors, surface.throughputs, ORIGIN, STEP, FINE_STEP,
        senders, losses, round_trips, rates, delays,
    )  # fmt: skip


ORIGIN = np.array([axis[0] for axis in AXES])
STEP = np.array([axis[1] - axis[0] for axis in AXES])
FINE_STEP = np.array([axis[1] - axis[0] for axis in FINE])


@njit(cache=True)
def _weights(at, count, most, weights):
    """Fill in Lagrange's weights of some nodes around a place; return how many and the first."""
    order = min(most, count)
    first = min(max(int(np.floor(at)) - (order - 1) // 2, 0), count - order)
    for i in range(order):
        weight = 1.0
        for j in range(order):
            if j != i:
                weight *= (at - first - j) / (i - j)
        weights[i] = weight
    return order, first


@njit(cache=True)
def _many(values, errors, throughputs, origin, step, fine, senders, losses, round_trips, rates, delays):
    """Do what `evaluate` says, one place after the other."""
    found, off = np.zeros((len(senders), 2)), np.zeros((len(senders), 2))
    a, b, c, d, e, g = (np.empty(4), np.empty(4), np.empty(4), np.empty(4), np.empty(4), np.empty(4))
    for n in range(len(senders)):
        s = senders[n]
        x, y = np.log(losses[n]) - origin[0], np.log(round_trips[n]) - origin[1]
        na, fa = _weights(x / fine[0], throughputs.shape[1], 4, a)
        nb, fb = _weights(y / fine[1], throughputs.shape[2], 4, b)
        throughput = 0.0
        for i in range(na):
            for j in range(nb):
                throughput += a[i] * b[j] * throughputs[s, fa + i, fb + j]
        z = (throughput - np.log(rates[n]) - origin[2]) / step[2]
        t = (np.log(delays[n]) - origin[3]) / step[3]
        na, fa = _weights(x / step[0], values.shape[2], 4, a)
        nb, fb = _weights(y / step[1], values.shape[3], 4, b)
        nc, fc = _weights(z, values.shape[4], 4, c)
        nd, fd = _weights(t, values.shape[5], 4, d)
        ne, fe = _weights(z, values.shape[4], 2, e)
        ng, fg = _weights(t, values.shape[5], 2, g)
        for q in range(2):
            for i in range(na):
                for j in range(nb):
                    for k in range(nc):
                        weight = a[i] * b[j] * c[k]
                        for m in range(nd):
                            found[n, q] += weight * d[m] * values[s, q, fa + i, fb + j, fc + k, fd + m]
            for k in range(ne):
                for m in range(ng):
                    off[n, q] += e[k] * g[m] * errors[s, q, fe + k, fg + m]
    return found, off


def speed(surface, count=1_000_000):
    """Return how many places a second are evaluated, both values and errors, drawn as the random points are."""
    random = np.random.default_rng(1)
    senders = random.integers(0, len(SENDERS), count)
    p, r, loads, delays = (np.exp(random.uniform(axis[0], axis[-1], count)) for axis in AXES)
    rates = 0.9 / r / np.sqrt(p) / loads
    evaluate(surface, senders[:9], p[:9], r[:9], rates[:9], delays[:9])
    start = time.process_time()
    evaluate(surface, senders, p, r, rates, delays)
    return count / (time.process_time() - start)


def main():
    """Print what is measured, as ``measured.json`` has it."""
    surface = load()
    checked = len(read("points")) - SCALED_BY
    ratios = misses(surface, slice(SCALED_BY, None)).max(axis=1)
    plain = Surface(surface.values, np.ones_like(surface.errors), surface.throughputs)
    off = misses(plain, slice(SCALED_BY, None))
    measured = {
        "solves": len(read("nodes")),
        "solves_cpu_s": round(sum(one["cpu_s"] for one in read("nodes"))),
        "checked_paths": checked,
        "checked_points": len(ratios),
        "shown_points": int((ratios > 0).sum()),
        "checked_cpu_s": round(sum(one["cpu_s"] for one in read("points"))),
        "within": float(np.mean(ratios <= 1)),
        "largest_error_over_stated": round(float(ratios.max()), 2),
        "median_error": np.round(np.median(off, axis=0), 4).tolist(),
        "median_stated_error": np.round(np.median(surface.errors, axis=(0, 2, 3)), 4).tolist(),
        "largest_stated_error": np.round(surface.errors.max(axis=(0, 2, 3)), 4).tolist(),
        "queries_per_second": round(speed(surface), -5),
    }
    print(json.dumps(measured, indent=2))


if __name__ == "__main__":
    main()
