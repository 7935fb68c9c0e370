"""One family of exceptions; every message names the value, its unit and what would be accepted."""

from __future__ import annotations

import errno
import math
import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

FAILING = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
"""What the system says where a file cannot be written, but its place is not to blame."""


LONGEST = 200
"""Characters of a value in a message."""


def printable(text: str) -> str:
    """Return a text on one line, its control characters and what else is not printable escaped as in Python's repr.

    A string of a file, or a file's name, then cannot give orders to the terminal that shows it.
    """
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def shown(value: object) -> str:
    """Return a value as Python writes it, cut where it is long."""
    try:
        text = repr(value)
    except (ValueError, RecursionError):  # a number of too many digits, nested too deeply
        text = f"<{type(value).__name__}>"
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}... ({len(text)} characters)"


class TcpstreamError(Exception):
    """Base class of everything that tcpstream raises on purpose; its message is printable.

    Examples
    --------
    >>> import tcpstream
    >>> try:
    ...     tcpstream.Path(sender="classic", loss=0.02, rtt=-1)
    ... except tcpstream.TcpstreamError as error:
    ...     print(error)
    round trip time must be greater than 0 s, got -1 s
    """

    def __init__(self, *args: object) -> None:
        super().__init__(*(printable(value) if isinstance(value, str) else value for value in args))


class InputError(TcpstreamError, ValueError):
    """A value that no model accepts: out of range, not finite, missing, contradictory, unreadable.

    Examples
    --------
    >>> import tcpstream
    >>> try:
    ...     tcpstream.Path(sender="classic", loss=2, rtt=0.1)
    ... except tcpstream.InputError as error:
    ...     print(error)
    loss rate must lie between 1e-09 and 0.999, got 2: 2% is 0.02
    """


class CaptureError(InputError):
    """A capture file that cannot be read or holds no usable TCP flow.

    Examples
    --------
    >>> import tcpstream
    >>> try:
    ...     tcpstream.estimate("README.md")
    ... except tcpstream.CaptureError as error:
    ...     print(error)
    the capture README.md is no capture: a pcap or pcapng file is accepted
    """


class InputWarning(UserWarning):
    """A value that is accepted, but probably not the one that was meant: a round trip time of 100 s.

    Examples
    --------
    >>> import tcpstream
    >>> import warnings
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     path = tcpstream.Path(sender="classic", loss=0.02, rtt=100)
    >>> print(caught[0].message)
    a round trip time of 100 s is longer than paths have: 100 ms are 0.1 s
    """


class MissingExtraError(TcpstreamError, ImportError):
    """A feature needs an optional dependency that is not installed.

    Examples
    --------
    >>> import tcpstream
    >>> raise tcpstream.MissingExtraError("a table", "pandas", "tables")
    Traceback (most recent call last):
    tcpstream.errors.MissingExtraError: a table needs pandas, which is not installed: pip install 'tcpstream[tables]'
    """

    def __init__(self, feature: str, package: str, extra: str) -> None:
        super().__init__(f"{feature} needs {package}, which is not installed: pip install 'tcpstream[{extra}]'")
        self._arguments = (feature, package, extra)

    def __reduce__(self) -> tuple[type[MissingExtraError], tuple[str, str, str]]:
        """Pickle by the arguments, so that the error crosses process borders."""
        return type(self), self._arguments


class WriteError(TcpstreamError, OSError):
    """A file that cannot be written, though nothing is wrong with the question: the disk is full, or fails.

    Examples
    --------
    >>> import tcpstream
    >>> issubclass(tcpstream.WriteError, OSError)
    True
    """


class AccuracyError(TcpstreamError, ArithmeticError):
    """A solve did not reach its accuracy, or would need more memory than is allowed: no number is returned.

    Examples
    --------
    >>> import tcpstream
    >>> path = tcpstream.Path(sender="classic", loss=0.02, rtt=0.1, rto=0.3)
    >>> result = tcpstream.stored(path, tcpstream.Video(packet_rate=40, duration=8))
    >>> try:
    ...     result.required_delay(1e-15)
    ... except tcpstream.AccuracyError as error:
    ...     print(error)
    target late fraction 1e-15 is finer than ten times the error bound of 5.1e-13: give 5.2e-12 or more
    """


class TimeLimitError(AccuracyError):
    """A solve was not ready when its time was over (`tcpstream.time_limit`): no number is returned.

    Examples
    --------
    >>> import tcpstream
    >>> path = tcpstream.Path(sender="classic", loss=0.02, rtt=0.1, rto=0.3)
    >>> try:
    ...     with tcpstream.time_limit(1e-9):
    ...         tcpstream.stored(path, tcpstream.Video(packet_rate=40, duration=8)).late_fraction(1.0)
    ... except tcpstream.TimeLimitError as error:
    ...     print(str(error).partition(",")[0])
    the time limit of 1e-09 s is over
    """


class NoFiniteDelayError(TcpstreamError):
    """A live stream whose rate TCP cannot sustain: no finite startup delay suffices.

    Attributes
    ----------
    throughput : float
        Achievable TCP throughput T [packets/s].
    packet_rate : float
        Playback rate mu [packets/s].

    Examples
    --------
    >>> import tcpstream
    >>> path = tcpstream.Path(sender="classic", loss=0.02, rtt=0.1, rto=0.3)
    >>> try:
    ...     tcpstream.live(path, tcpstream.Video(packet_rate=100))
    ... except tcpstream.NoFiniteDelayError as error:
    ...     print(round(error.throughput, 1))
    57.2
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


class ModelMismatchError(TcpstreamError):
    """A capture whose flow the model does not describe, so that there is no verdict from it.

    Attributes
    ----------
    modelled, measured : float
        Throughput of the model's TCP, and of the flow [packets/s].
    cause, evidence, instead : str
        What limited the flow, the figures that say so, and what can be asked instead, as `PathEstimate.limitation`.

    Examples
    --------
    >>> import tcpstream
    >>> error = tcpstream.ModelMismatchError(
    ...     410.0, 35.0, "the application", "it had nothing to send half of the time", "ask for a live stream"
    ... )
    >>> print(error)  # doctest: +NORMALIZE_WHITESPACE
    no verdict, for the model does not describe this flow: it had 35 packets/s, and a TCP that only its losses limit has
    410 packets/s. Likeliest cause, the application: it had nothing to send half of the time. Instead: ask for a live
    stream
    """

    def __init__(self, modelled: float, measured: float, cause: str, evidence: str, instead: str) -> None:
        self.modelled, self.measured = modelled, measured
        self.cause, self.evidence, self.instead = cause, evidence, instead
        super().__init__(
            f"no verdict, for the model does not describe this flow: it had {measured:.4g} packets/s, and a TCP that "
            f"only its losses limit has {modelled:.4g} packets/s. Likeliest cause, {cause}: {evidence.rstrip('.')}. "
            f"Instead: {instead.rstrip('.')}"
        )

    def __reduce__(self) -> tuple[type[ModelMismatchError], tuple[float, float, str, str, str]]:
        """Pickle by the arguments, so that the error crosses process borders."""
        return type(self), (self.modelled, self.measured, self.cause, self.evidence, self.instead)


_unremarked = ContextVar("unremarked", default=False)


@contextmanager
def unremarked() -> Iterator[None]:
    """Leave out the notes on values in this block: they were measured or computed, nobody mistyped them."""
    before = _unremarked.set(True)
    try:
        yield
    finally:
        _unremarked.reset(before)


def note(text: str) -> None:
    """Issue an `InputWarning` at the line that called the library."""
    if _unremarked.get():
        return
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("tcpstream"):
        level, frame = level + 1, frame.f_back
    warnings.warn(text, InputWarning, stacklevel=level)


def real(name: str, value: object, unit: str = "") -> float:
    """Return `value` as a finite float, or raise `InputError` naming it."""
    suffix = f" {unit}" if unit else ""
    try:
        if isinstance(value, (str, bytes, bool)):
            raise TypeError
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{name} must be a number{' in ' + unit if unit else ''}, got {shown(value)}") from None
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


def within(name: str, value: object, least: float, most: float, unit: str = "") -> float:
    """Return `value` as a float > 0 from `least` to `most`, or raise `InputError` naming it."""
    number = positive(name, value, unit)
    if not least <= number <= most:
        suffix = f" {unit}" if unit else ""
        raise InputError(f"{name} must lie between {least:g} and {most:g}{suffix}, got {number:g}{suffix}")
    return number


def whole(name: str, value: object, least: int = 1, unit: str = "", most: float = math.inf) -> int:
    """Return `value` as an int from `least` to `most`, or raise `InputError` naming it."""
    number = real(name, value, unit)
    suffix = f" {unit}" if unit else ""
    if number != int(number) or number < least:
        raise InputError(f"{name} must be a whole number of at least {least}{suffix}, got {number:g}{suffix}")
    if number > most:
        raise InputError(f"{name} must be at most {most:g}{suffix}, got {number:g}{suffix}")
    return value if isinstance(value, int) else int(number)


def choice(name: str, value: object, accepted: tuple[object, ...]) -> None:
    """Raise `InputError` unless `value` is one of `accepted`."""
    if value not in accepted:
        raise InputError(f"{name} must be one of {', '.join(map(str, accepted))}, got {shown(value)}")


def instance(name: str, value: object, kind: type) -> None:
    """Raise `InputError` unless `value` is of a class."""
    if isinstance(value, kind):
        return
    plain = isinstance(value, (int, float, str, bytes, tuple, list, dict, type(None)))
    found = type(value).__name__
    got = shown(value) if plain else f"{'an' if found[0] in 'AEIOU' else 'a'} {found}"
    hint = ": take its path()" if kind.__name__ == "Path" and callable(getattr(value, "path", None)) else ""
    raise InputError(f"{name} must be a {kind.__name__}, got {got}{hint}")


def cause(error: OSError) -> str:
    """Return what the system says of an error, without number and name of file."""
    return os.strerror(error.errno) if error.errno else str(error)


def unwritable(task: str, error: OSError) -> TcpstreamError:
    """Return what to raise where nothing can be written: `WriteError` for a bad disk, `InputError` for a bad place."""
    kind = WriteError if error.errno in FAILING else InputError
    return kind(f"cannot {task}: {cause(error)}")
