"""Video: the playback curve, constant or variable rate, and its length."""

from __future__ import annotations

import csv
import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from os import PathLike
from pathlib import Path as FilePath
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .errors import InputError, note, positive, real, within
from .system.html_table import html_table, said
from .system.text import is_number

Curve = tuple[tuple[float, ...], tuple[float, ...]]

#: Playback rates [packets/s]: from a packet in eleven days, as of a byte in a second in packets of a megabyte, to 12
#: Tbit/s in packets of 1500 bytes.
RATES = 1e-6, 1e9

#: Packet sizes [bytes]: IP has 65,535 at most, jumbograms more.
SIZES = 1.0, 1e6

#: Lengths [s]: a millisecond to three years.
LENGTHS = 1e-3, 1e8

#: Lower bit rates [bit/s] are noted: speech takes 6 kbit/s, the least video some tens. A ladder in kbit/s ends below.
LOW_BIT_RATE = 10e3


class Frames(NamedTuple):
    """Frames of a video, in the order in which they are decoded.

    Attributes
    ----------
    times : tuple of float
        When each is decoded [s after the start of playback].
    packets : tuple of float
        What must have arrived by then, from the start of the video to the end of the frame [packets].
    keys : tuple of bool, optional
        Whether each begins a group of pictures; None where that is not known.

    Examples
    --------
    >>> import tcpstream
    >>> frames = tcpstream.Frames(times=(0.0, 0.5), packets=(8.0, 10.0), keys=(True, False))
    >>> video = tcpstream.Video(curve=([0, 1], [0, 10]), frames=frames)
    >>> len(video.frames.times)
    2
    """

    times: tuple[float, ...]
    packets: tuple[float, ...]
    keys: tuple[bool, ...] | None = None


@dataclass(frozen=True, init=False)
class Video:
    """A video: packets due for playback, at a constant rate or along any nondecreasing curve.

    Parameters
    ----------
    packet_rate : float, optional
        mu, playback rate [packets/s], 1e-6 to 1e9. Give exactly one of `packet_rate`, `bitrate` and `curve`.
    bitrate : float, optional
        Playback rate [bit/s]; mu is ``bitrate / (8 * packet_size)``.
    curve : pair of sequences, optional
        Times [s] and packets due by then, counted from the start of playback, for a variable bit rate: both start
        at 0, times increase, packets do not decrease; straight lines in between. Sets the duration.
    packet_size : float
        Bytes of a packet, 1 to 1e6; 1500 by default.
    duration : float, optional
        Length of the video [s], 0.001 to 1e8; needed for stored media, and for live streaming of finite length.
    frames : Frames, optional
        Of a video with a curve, as `traces.read_media` reads them.

    Attributes
    ----------
    packets : float
        Packets of the whole video; infinite without a duration.

    Raises
    ------
    InputError
        For a value out of range, not finite, missing or contradictory.

    Warns
    -----
    InputWarning
        For a bit rate below 10 kbit/s, which was probably meant in kbit/s or Mbit/s.

    Examples
    --------
    >>> import tcpstream
    >>> tcpstream.Video(bitrate=480e3, duration=60).packet_rate
    40.0
    >>> tcpstream.Video(curve=([0, 1, 10], [0, 80, 440])).packets
    440.0
    """

    packet_rate: float
    packet_size: float
    duration: float | None
    curve: Curve | None
    frames: Frames | None

    def __init__(
        self,
        *,
        packet_rate: float | None = None,
        bitrate: float | None = None,
        curve: tuple[Sequence[float], Sequence[float]] | None = None,
        packet_size: float = 1500,
        duration: float | None = None,
        frames: Frames | None = None,
    ) -> None:
        if sum(x is not None for x in (packet_rate, bitrate, curve)) != 1:
            raise InputError("give the playback rate: exactly one of packet_rate, bitrate and curve")
        packet_size = within("packet size", packet_size, *SIZES, "bytes")
        points: Curve | None = None
        if duration is not None:
            duration = within("duration", duration, *LENGTHS, "s")
        if curve is not None:
            points = _curve(*curve)
            within("duration", points[0][-1], *LENGTHS, "s")
            if duration is not None and not math.isclose(duration, points[0][-1]):
                raise InputError(
                    f"duration = {duration:g} s contradicts the playback curve, which ends at {points[0][-1]:g} s"
                )
            duration = points[0][-1]
            packet_rate = points[1][-1] / duration
        elif bitrate is not None:
            packet_rate = positive("bit rate", bitrate, "bit/s") / (8 * packet_size)
        if frames is not None:
            _check_frames(frames, points)
        values = {
            "packet_rate": within("playback rate", packet_rate, *RATES, "packets/s"),
            "packet_size": packet_size,
            "duration": duration,
            "curve": points,
            "frames": frames,
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)
        if bitrate is not None and bitrate < LOW_BIT_RATE:
            unit, factor = ("kbit/s", 1e3) if bitrate >= 100 else ("Mbit/s", 1e6)
            meant = f"{bitrate:g} {unit} are {factor * bitrate:g} bit/s"
            note(f"a bit rate of {bitrate:g} bit/s is below that of any video: {meant}")

    @classmethod
    def from_file(cls, path: str | PathLike[str], *, packet_size: float = 1500) -> Video:
        """Read a playback curve: one ``time_s,packets`` row a point, a header line allowed.

        Parameters
        ----------
        path : path-like
            A CSV file; rows as `curve` wants them.
        packet_size : float
            Bytes of a packet.

        Raises
        ------
        InputError
            When the file cannot be read or a row is not two numbers; the message names the line.
        """
        times: list[float] = []
        packets: list[float] = []
        lines: list[str] = []
        try:
            with FilePath(path).open(newline="", encoding="utf-8-sig") as file:
                for number, row in enumerate(csv.reader(file), 1):
                    if not row or (number == 1 and not is_number(row[0])):
                        continue
                    if len(row) != 2 or not all(map(is_number, row)):
                        raise InputError(
                            f"{path}, line {number}: expected two numbers 'time_s,packets', got {','.join(row)!r}"
                        )
                    times.append(float(row[0]))
                    packets.append(float(row[1]))
                    lines.append(f"{path}, line {number}: ")
        except (OSError, UnicodeDecodeError, csv.Error) as error:
            reason = getattr(error, "strerror", None) or "not a text file"
            raise InputError(f"cannot read the playback curve {path}: {reason}") from None
        if len(lines) < 2:
            raise InputError(
                f"{path}: a playback curve needs at least two points, rows of 'time_s,packets', got {len(lines)}"
            )
        return cls(curve=_curve(times, packets, lines), packet_size=packet_size)

    @property
    def bitrate(self) -> float:
        """Mean playback rate [bit/s]."""
        return self.packet_rate * self.packet_size * 8

    @property
    def packets(self) -> float:
        """Packets of the whole video; infinite without a duration."""
        if self.curve is not None:
            return self.curve[1][-1]
        return math.inf if self.duration is None else self.packet_rate * self.duration

    def due(self, seconds: ArrayLike) -> NDArray[np.float64]:
        """Return B, the packets due for playback `seconds` after playback started (0 before, all after the end)."""
        t = np.asarray(seconds, dtype=float)
        if self.curve is not None:
            return np.asarray(np.interp(t, *self.curve), dtype=float)
        end = math.inf if self.duration is None else self.duration
        return np.asarray(self.packet_rate * np.clip(t, 0.0, end), dtype=float)

    def to_dict(self) -> dict[str, Any]:
        """Return the parameters as a plain dict, units in the names."""
        return {
            "packet_rate_pps": self.packet_rate,
            "bitrate_bps": self.bitrate,
            "packet_size_bytes": self.packet_size,
            "duration_s": self.duration,
            "playback_curve_points": None if self.curve is None else len(self.curve[0]),
        }

    def _rows(self) -> list[tuple[str, str]]:
        """Return the parameters as names and values with their units."""
        rows = [
            ("packet_rate", said(self.packet_rate, "packets/s")),
            ("bitrate", said(self.bitrate, "bit/s")),
            ("packet_size", said(self.packet_size, "bytes")),
            ("duration", said(self.duration, "s")),
        ]
        if self.curve is not None:
            rows.append(("curve", said(len(self.curve[0]), "points")))
        if self.frames is not None:
            rows.append(("frames", said(len(self.frames.times))))
        return rows

    def _repr_html_(self) -> str:
        return html_table("Video", {"": self._rows()})


def _curve(times: Sequence[float], packets: Sequence[float], lines: Sequence[str] | None = None) -> Curve:
    """Validate a playback curve and return it as tuples; `lines` says where each point was read."""
    if len(times) != len(packets) or len(times) < 2:
        raise InputError(
            f"a playback curve needs as many times as packet counts and at least two points, "
            f"got {len(times)} and {len(packets)}"
        )
    at = [""] * len(times) if lines is None else lines
    t = tuple(real(f"{line}playback curve time", x, "s") for line, x in zip(at, times))
    n = tuple(real(f"{line}playback curve packets", x, "packets") for line, x in zip(at, packets))
    if t[0] != 0 or n[0] != 0:
        raise InputError(f"{at[0]}a playback curve starts at time 0 s with 0 packets, got {t[0]:g} s and {n[0]:g}")
    for line, (t0, t1), (n0, n1) in zip(at[1:], pairwise(t), pairwise(n)):
        if t1 <= t0:
            raise InputError(f"{line}playback curve times must increase, got {t0:g} s followed by {t1:g} s")
        if n1 < n0:
            raise InputError(
                f"{line}playback curve packets must not decrease, got {n0:g} followed by {n1:g} at {t1:g} s"
            )
    return t, n


def _check_frames(frames: Frames, curve: Curve | None) -> None:
    """Raise `InputError` for frames that are none of a curve."""
    if curve is None:
        raise InputError("frames are those of a video with a playback curve: give curve as well")
    times, packets = np.asarray(frames.times, dtype=float), np.asarray(frames.packets, dtype=float)
    if not 0 < len(times) == len(packets) or (frames.keys is not None and len(frames.keys) != len(times)):
        raise InputError(f"each frame needs a time and packets, and a key or none has one, got {len(times)} times")
    if not ((np.diff(times) >= 0).all() and times[0] >= 0 and times[-1] <= curve[0][-1]):
        raise InputError(f"times of frames must not decrease, from 0 s to the end of the curve, {curve[0][-1]:g} s")
    if not ((np.diff(packets) >= 0).all() and packets[0] >= 0 and packets[-1] <= curve[1][-1] * (1 + 1e-9)):
        raise InputError(f"packets of frames must not decrease, from 0 to those of the curve, {curve[1][-1]:g}")
