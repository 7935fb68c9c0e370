"""One family of exceptions; every message names the value, its unit and what would be accepted."""

from __future__ import annotations

import math


def printable(text: str) -> str:
    """Return a text on one line, its control characters and what else is not printable escaped as in Python's repr.

    A string of a file, or a file's name, then cannot give orders to the terminal that shows it.
    """
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


class TcpstreamError(Exception):
    """Base class of everything that tcpstream raises on purpose; its message is printable."""

    def __init__(self, *args: object) -> None:
        super().__init__(*(printable(value) if isinstance(value, str) else value for value in args))


class InputError(TcpstreamError, ValueError):
    """A value that no model accepts: out of range, not finite, missing, contradictory, unreadable."""


class CaptureError(InputError):
    """A capture file that cannot be read or holds no usable TCP flow."""


class MissingExtraError(TcpstreamError, ImportError):
    """A feature needs an optional dependency that is not installed."""

    def __init__(self, feature: str, package: str, extra: str) -> None:
        super().__init__(f"{feature} needs {package}, which is not installed: pip install 'tcpstream[{extra}]'")
        self._arguments = (feature, package, extra)

    def __reduce__(self) -> tuple[type[MissingExtraError], tuple[str, str, str]]:
        """Pickle by the arguments, so that the error crosses process borders."""
        return type(self), self._arguments


class AccuracyError(TcpstreamError, ArithmeticError):
    """A solve did not reach its accuracy, or would need more memory than is allowed: no number is returned."""


class NoFiniteDelayError(TcpstreamError):
    """A live stream whose rate TCP cannot sustain: no finite startup delay suffices.

    Attributes
    ----------
    throughput : float
        Achievable TCP throughput T [packets/s].
    packet_rate : float
        Playback rate mu [packets/s].
    """

    def __init__(self, throughput: float, packet_rate: float) -> None:
        self.throughput = throughput
        self.packet_rate = packet_rate
        super().__init__(
            f"no finite startup delay suffices for this live stream: TCP achieves {throughput:.4g} packets/s, "
            f"not more than the playback rate of {packet_rate:.4g} packets/s (T/mu = {throughput / packet_rate:.4g})"
        )

    def __reduce__(self) -> tuple[type[NoFiniteDelayError], tuple[float, float]]:
        """Pickle by the arguments, so that the error crosses process borders."""
        return type(self), (self.throughput, self.packet_rate)


def real(name: str, value: object, unit: str = "") -> float:
    """Return `value` as a finite float, or raise `InputError` naming it."""
    suffix = f" {unit}" if unit else ""
    try:
        if isinstance(value, (str, bytes, bool)):
            raise TypeError
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{name} must be a number{' in ' + unit if unit else ''}, got {value!r}") from None
    if not math.isfinite(number):
        raise InputError(f"{name} must be finite, got {number}{suffix}")
    return number


def positive(name: str, value: object, unit: str = "") -> float:
    """Return `value` as a finite float > 0, or raise `InputError` naming it."""
    number = real(name, value, unit)
    if number <= 0:
        suffix = f" {unit}" if unit else ""
        raise InputError(f"{name} must be greater than 0{suffix}, got {number:g}{suffix}")
    return number


def whole(name: str, value: object, least: int = 1, unit: str = "") -> int:
    """Return `value` as an int >= `least`, or raise `InputError` naming it."""
    number = real(name, value, unit)
    suffix = f" {unit}" if unit else ""
    if number != int(number) or number < least:
        raise InputError(f"{name} must be a whole number of at least {least}{suffix}, got {number:g}{suffix}")
    return int(number)


def choice(name: str, value: object, accepted: tuple[object, ...]) -> None:
    """Raise `InputError` unless `value` is one of `accepted`."""
    if value not in accepted:
        raise InputError(f"{name} must be one of {', '.join(map(str, accepted))}, got {value!r}")
