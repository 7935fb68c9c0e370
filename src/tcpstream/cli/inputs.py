"""From options to a path and a video; what is missing or given twice is said here, values are judged there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..errors import InputError, positive
from ..path import PARAMETERS, Path
from .options import flag

if TYPE_CHECKING:
    from ..video import Video
    from .route import Route
    from .units import Rate

MEASURED = ("loss", "throughput", "rtt", "rto", "timeout_ratio")
CHOSEN = ("sender", *(one.name for one in PARAMETERS if one.name not in MEASURED))

OF_REGIMES = ("loss", "rtt", "bottleneck", "buffer")
"""What each regime has, or all."""


def read_route(options: dict[str, Any]) -> Route:
    """Return the path that the options describe, measured where a capture is given."""
    from .route import Route, measured, with_throughput

    given = {name: options[name] for name in (*MEASURED, *CHOSEN) if options[name] is not None}
    if options.get("regimes") is not None:
        return _varying(options["regimes"], given, options)
    if "bottleneck" in given:
        given["bottleneck"] = packet_rate("bottleneck", given["bottleneck"], options)
    if options["capture"] is not None:
        if twice := [flag(name) for name in MEASURED if name in given]:
            raise InputError(f"--capture measures the path: leave out {' and '.join(twice)}, or --capture")
        return measured(options["capture"], given)
    if "loss" in given and "throughput" in given:
        raise InputError("give --loss or --throughput, not both")
    missing = [] if "loss" in given or "throughput" in given else ["--loss (or --throughput)"]
    if "rtt" not in given:
        missing.append("--rtt")
    if missing:
        raise InputError(f"missing {' and '.join(missing)}: a path is --loss P --rtt T, or --capture FILE")
    if "throughput" in given:
        rates = given.pop("throughput")
        return with_throughput([packet_rate("throughput", one, options) for one in rates], given)
    return Route(Path(**given))


def _varying(file: str, given: dict[str, Any], options: dict[str, Any]) -> Route:
    """Return the path of a file of regimes."""
    from ..tcp import Varying
    from .route import Route

    instead = [name for name in (*OF_REGIMES, "throughput", "capture") if options[name] is not None]
    if instead:
        raise InputError(f"--regimes is the path: leave out {' and '.join(map(flag, instead))}, or --regimes")
    read = Varying.from_csv if file.lower().endswith(".csv") else Varying.from_toml
    return Route(read(file, **given))


def read_video(options: dict[str, Any], route: Route, *, stored: bool) -> Video:
    """Return the video that the options describe; a stored one needs a duration."""
    from ..video import Video

    size = packet_size(options, route)
    if options["playback"] is not None:
        if twice := [flag(name) for name in ("rate", "duration") if options[name] is not None]:
            raise InputError(f"--playback gives rate and duration: leave out {' and '.join(twice)}, or --playback")
        from ..traces import is_media, read_media

        if is_media(options["playback"]):
            return read_media(options["playback"], packet_size=size, rung=options.get("rung"))
        if options.get("rung") is not None:
            raise InputError(f"--rung is for a movie of Sabre, in JSON, got --playback {options['playback']}")
        return Video.from_file(options["playback"], packet_size=size)
    if options.get("rung") is not None:
        raise InputError("--rung is for a movie of Sabre: give --playback FILE as well")
    needed = ("rate", "duration") if stored else ("rate",)
    if missing := [flag(name) for name in needed if options[name] is None]:
        one = "a stored video is --rate R --duration T, or --playback FILE" if stored else "a live video is --rate R"
        raise InputError(f"missing {' and '.join(missing)}: {one}")
    name, value = options["rate"]
    return Video(**{name: value}, packet_size=size, duration=options["duration"])


def packet_size(options: dict[str, Any], route: Route) -> float:
    """Return the bytes of a packet: as given, or the capture's, or 1500."""
    if options["packet_size"] is not None:
        return float(options["packet_size"])
    return 1500 if route.estimate is None else route.estimate.packet_size


def packet_rate(option: str, rate: Rate, options: dict[str, Any]) -> float:
    """Return the rate of an option [packets/s]."""
    if rate.name == "packet_rate":
        return float(rate.value)
    if options.get("capture") is not None and options["packet_size"] is None:
        raise InputError(f"{flag(option)} in bit/s with --capture needs --packet-size; or give it in pps")
    return float(rate.value) / (8 * positive("packet size", options["packet_size"] or 1500, "bytes"))
