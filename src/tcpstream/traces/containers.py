"""A capture file, opened: as it is, or decompressed while it is read."""

from __future__ import annotations

import io
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from os import PathLike, fspath
from pathlib import Path as FilePath
from typing import Any, BinaryIO, cast

from ..errors import CaptureError, MissingExtraError

ACCEPTED = "a pcap or pcapng file, plain or compressed by gzip or zstd, with TCP over IPv4 or IPv6"
_GZIP, _ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
#: Compressed bytes taken at once: few, as zeros may be 30,000 times as many.
_CHUNK = 1 << 12


class DamagedError(OSError):
    """Compressed data that end early or contradict themselves."""


@contextmanager
def open_capture(path: str | PathLike[str], name: str) -> Iterator[BinaryIO]:
    """Open a capture for reading forwards, whether it is compressed by gzip (RFC 1952), zstd (RFC 8878) or not.

    Parameters
    ----------
    path : path-like
        The file, or a pipe.
    name : str
        How messages name it.

    Raises
    ------
    CaptureError
        When `path` is no path.
    MissingExtraError
        When what decompresses it is not installed.
    OSError
        When the file cannot be opened. Reading raises `DamagedError` where compressed data are damaged or cut.
    """
    try:
        opened = FilePath(fspath(path)).open("rb")  # noqa: SIM115 - closed below
    except (TypeError, ValueError) as error:
        raise CaptureError(f"cannot read {name}: {error}; accepted is {ACCEPTED}") from None
    with opened as file:
        start = file.peek(len(_ZSTD))
        if start.startswith(_GZIP):
            yield _decompressed(file, _gzip)
        elif start.startswith(_ZSTD):
            yield _decompressed(file, _zstd())
        else:
            yield file


def _gzip() -> Any:
    return zlib.decompressobj(wbits=16 + zlib.MAX_WBITS)


def _zstd() -> Callable[[], Any]:
    try:
        import zstandard
    except ImportError:
        raise MissingExtraError("reading captures compressed by zstd", "zstandard", "capture") from None
    return zstandard.ZstdDecompressor().decompressobj


def _decompressed(file: BinaryIO, begin: Callable[[], Any]) -> BinaryIO:
    return cast(BinaryIO, io.BufferedReader(_Decompressed(file, begin), 1 << 16))


class _Decompressed(io.RawIOBase):
    """What the compressed members or frames of a file hold, one after another."""

    def __init__(self, file: BinaryIO, begin: Callable[[], Any]) -> None:
        self._file, self._begin = file, begin
        self._part = begin()
        self._started, self._compressed, self._ready = False, b"", b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._ready:
            data = self._compressed or self._file.read(_CHUNK)
            if not data:
                if self._started:
                    raise DamagedError("is cut off")
                return 0
            try:
                self._ready, self._started = self._part.decompress(data), True
            except Exception:  # each library has an error of its own
                raise DamagedError("is damaged") from None
            self._compressed = b""
            if self._part.eof:
                self._compressed, self._started, self._part = self._part.unused_data, False, self._begin()
        size = min(len(buffer), len(self._ready))
        buffer[:size], self._ready = self._ready[:size], self._ready[size:]
        return size
