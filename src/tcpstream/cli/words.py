"""Numbers as people read them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

_PREFIXES = ((1e9, "Gbit/s"), (1e6, "Mbit/s"), (1e3, "kbit/s"), (1.0, "bit/s"))


def packets_per_second(value: float, packet_size: float) -> str:
    """Return a rate in packets/s and, for packets of this many bytes, in bit/s."""
    return f"{value:.4g} packets/s ({bits_per_second(8 * packet_size * value)})"


def rounded_down(value: float, digits: int) -> float:
    """Return a number > 0 rounded down to so many digits."""
    scale = 10.0 ** (digits - 1 - math.floor(math.log10(value)))
    return math.floor(value * scale + 1e-9) / scale


def rounded_up(value: float, digits: int) -> float:
    """Return a number > 0 rounded up to so many digits."""
    scale = 10.0 ** (digits - 1 - math.floor(math.log10(value)))
    return math.ceil(value * scale - 1e-9) / scale


def at_most(value: float, packet_size: float) -> str:
    """Return a rate in packets/s and in bit/s as `packets_per_second`, but rounded down in the fourth digit."""
    packets, bits = (rounded_down(rate, 4) for rate in (value, 8 * packet_size * value))
    return f"{packets:.4g} packets/s ({bits_per_second(bits)})"


def bits_per_second(value: float) -> str:
    """Return a bit rate with its prefix."""
    scale, unit = next((pair for pair in _PREFIXES if value >= pair[0]), _PREFIXES[-1])
    return f"{value / scale:.4g} {unit}"


def wait(seconds: float) -> str:
    """Return a time [s] that is long enough: rounded up in the third digit, to whole seconds from 100 s on."""
    if seconds <= 0:
        return "0 s"
    digits = max(0, 2 - math.floor(math.log10(seconds)))
    scale = 10.0**digits
    return f"{math.ceil(seconds * scale - 1e-6) / scale:.{digits}f} s"


def in_brackets(interval: Sequence[float] | None) -> str:
    """Return a 90% interval of a time [s] that is added to a sentence; nothing without one, or with no finite time."""
    if interval is None or not math.isfinite(interval[0]):
        return ""
    low, high = interval
    least = f"{low:.3g} s" if low < 100 else f"{low:.0f} s"
    return f" (90% interval {least} to {wait(high) if math.isfinite(high) else 'no finite delay'})"


def spanned(ends: Sequence[float], unit: float = 1.0) -> str:
    """Return a 95% interval of a mean over runs, in a unit; one run has none."""
    low, high = (end / unit for end in ends)
    return f"{low:.4g} to {high:.4g}" if math.isfinite(low) else "needs two runs"


def number_of_runs(number: int) -> str:
    """Return how many runs there are."""
    return "1 run" if number == 1 else f"{number} runs"


def with_spans(values: Iterable[str], spans: Iterable[Sequence[float]], digits: str) -> list[str]:
    """Return each value with what it may be over the intervals of a capture, "0.12 (0.1 to 0.2)"."""
    return [f"{value} ({low:{digits}} to {high:{digits}})" for value, (low, high) in zip(values, spans)]


def share(fraction: float) -> str:
    """Return a fraction of the packets as the subject of a sentence: "1 in 10,000 packets is"."""
    count = round(1 / fraction)
    if count > 1 and math.isclose(count * fraction, 1, rel_tol=1e-9):
        return f"1 in {count:,} packets is"
    return f"{100 * fraction:.4g}% of the packets are"
