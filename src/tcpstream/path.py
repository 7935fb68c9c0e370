"""Path: a network, and what sends over it. The only validation of both, the only units."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import MISSING, dataclass, field, fields, replace
from difflib import get_close_matches
from inspect import Parameter, Signature
from typing import Any, ClassVar

from .errors import InputError, choice, note, positive, real, unremarked, whole, within
from .sender import DEFAULT_SENDER, MOST_PACKETS, SUFFIXES, Sender, first_timer, name_of, parameter, sender_of
from .system.html_table import html_table, said
from .variants import LOSS_PROCESSES, VARIANTS

#: Packets that a bottleneck must carry in a round trip.
LEAST_PIPE = 2

#: Loss rates: from a packet lost in four days at 3000 packets/s, to packets that take a thousand attempts each. The
#: chains work with 1 - p, which has p within 1e-7 of itself there.
LOSSES = 1e-9, 0.999

#: Round trip times [s]: in a microsecond light goes 300 m, to the next machines of a hall; in 1000 s to Mars and back.
ROUND_TRIPS = 1e-6, 1000.0

#: Longer round trip times [s] are noted: a satellite's is 0.6 s, overfilled buffers make it 2 s.
LONG_ROUND_TRIP = 3.0

#: Larger loss rates are noted: at 0.5 and T_O = 2 a TCP sends a packet in three seconds.
LARGE_LOSS = 0.5


def remark_round_trip(rtt: float) -> None:
    """Issue an `InputWarning` for a round trip time [s] that was probably meant in milliseconds."""
    if rtt > LONG_ROUND_TRIP:
        note(f"a round trip time of {rtt:g} s is longer than paths have: {rtt:g} ms are {rtt / 1000:g} s")


def per_round(rate: float, rtt: float) -> float:
    """Return the packets of a rate [packets/s] in a round [s]; 100 packets/s in 0.07 s are 7."""
    packets = rate * rtt
    return float(round(packets)) if math.isclose(packets, round(packets), rel_tol=1e-12) else packets


@dataclass(frozen=True, kw_only=True)
class Network:
    """What a path does to packets.

    Parameters
    ----------
    loss : float
        p, 1e-9 to 0.999: of losses in bursts the probability that a packet is the first one lost of its round, a
        loss-event rate; of independent losses the probability that a packet is lost.
    rtt : float
        R, round trip time [s], the length of one round, 1e-6 to 1000 s; before a bottleneck that of a full packet that
        finds the queue empty, its own transmission included.
    losses : {"independent", "bursts"}, optional
        Whether packets are lost each for itself, or with the first one lost of a round the rest of it. By default as
        the sender's TCP takes them.
    bottleneck : float, optional
        C, rate of a link that the flow has for itself [packets/s], C R at least 2 packets. By default the rate has no
        limit.
    buffer : int, optional
        B, packets that wait before the bottleneck at most, 0 or more; given with `bottleneck` only.

    Raises
    ------
    InputError
        For a value out of range, not finite, missing or contradictory.

    Examples
    --------
    >>> import tcpstream
    >>> tcpstream.Network(loss=0.02, rtt=0.1, bottleneck=500, buffer=20).pipe
    50.0
    """

    loss: float = parameter(
        "Loss rate p, as 0.02 or 2%: probability that a packet is lost; in bursts, that it is the first of its round.",
        "P",
    )
    rtt: float = parameter("Round trip time R, as 0.11 or 110ms.", "T", "s")
    losses: str | None = parameter(
        "Packets lost each for itself, or with the first of a round the rest of it.  [default: as --tcp takes them]",
        LOSS_PROCESSES,
        default=None,
    )
    bottleneck: float | None = parameter(
        "Rate of a link that the flow fills, as 667pps or 8Mbps.  [default: none]", "R", "packets/s", None
    )
    buffer: int | None = parameter("Packets that wait before the bottleneck at most.", unit="packets", default=None)

    def __post_init__(self) -> None:
        """Judge every value."""
        loss = real("loss rate", self.loss)
        if not 0 < loss < 1:
            percent = f": {loss:g}% is {loss / 100:g}" if 1 < loss < 100 else ""
            least, most = LOSSES
            raise InputError(f"loss rate must lie between {least:g} and {most:g}, got {loss:g}{percent}")
        object.__setattr__(self, "loss", within("loss rate", loss, *LOSSES))
        object.__setattr__(self, "rtt", within("round trip time", self.rtt, *ROUND_TRIPS, "s"))
        if self.losses is not None:
            choice("losses", self.losses, LOSS_PROCESSES)
        if self.bottleneck is not None or self.buffer is not None:
            rate, room = _link(self.bottleneck, self.buffer, self.rtt)
            object.__setattr__(self, "bottleneck", rate)
            object.__setattr__(self, "buffer", room)

    @property
    def pipe(self) -> float:
        """C R, what the bottleneck carries in a round [packets]; infinite without one."""
        return math.inf if self.bottleneck is None else per_round(self.bottleneck, self.rtt)


PARAMETERS = (*fields(Network), *fields(Sender))
"""What describes a path, beside the name of its sender."""


@dataclass(frozen=True, init=False, kw_only=True)
class Path(Sender, Network):
    """A TCP path: what it does to packets, and what sends over it.

    Parameters
    ----------
    loss : float
        p, 1e-9 to 0.999. `from_throughput` finds the p of a measured throughput.
    rtt : float
        R, round trip time [s], 1e-6 to 1000 s.
    sender : {"classic", "linux"} or Sender
        What the parameters of `Sender` are that are not given. ``"linux"``, the default, is today's: an initial window
        of 10, RACK-TLP, a largest window of 2172 packets, and CUBIC where losses are independent, as they are unless
        `losses` says otherwise. ``"classic"`` is the paper's TCP and `Sender`'s own defaults. What is given replaces
        the sender's: ``tcp="reno-sack"`` alone is Linux's sender with that TCP.
    **given
        Any other parameter of `Network` and of `Sender`.

    Attributes
    ----------
    network : Network
        What the path does to packets.
    sender : Sender
        What sends, as it was asked for: with another network it makes another path. The attributes of the path itself
        are what follows here: timer, largest window and, at most that, initial window.
    rto_assumed : bool
        Whether the timer is R + 0.2 s because none was given. Paths that differ in nothing else are equal.

    Raises
    ------
    InputError
        For a value out of range, not finite, missing or contradictory.

    Warns
    -----
    InputWarning
        For a round trip time above 3 s and a loss rate above 0.5, which were probably meant in milliseconds and in
        percent.

    Notes
    -----
    Wang, Kurose, Shenoy and Towsley, "Multimedia Streaming via TCP: An Analytic Performance Study", Section 3.2.
    A path has every attribute of its network and its sender, both `rto` and `timeout_ratio` among them. Linux's timer:
    SRTT + max(0.2 s, 4 RTTVAR).

    Examples
    --------
    >>> import tcpstream
    >>> path = tcpstream.Path(sender="classic", loss=0.02, rtt=0.1, rto=0.3)
    >>> path.timeout_ratio
    3.0
    >>> path.max_window
    53
    """

    # The path whose TCP has a measured throughput: `tcpstream.answers.from_throughput`, put here.
    from_throughput: ClassVar[Callable[..., Path]]

    losses: str
    rto: float
    timeout_ratio: float
    max_window: int
    rto_assumed: bool = field(init=False, compare=False)
    network: Network = field(init=False, compare=False, repr=False)
    sender: Sender = field(init=False, compare=False, repr=False)

    def __init__(self, *, loss: float, rtt: float, sender: str | Sender = DEFAULT_SENDER, **given: Any) -> None:
        if unknown := given.keys() - {one.name for one in PARAMETERS}:
            raise TypeError(f"Path() got an unexpected keyword argument {min(unknown)!r}{_meant(min(unknown))}")
        asked_of = {one.name for one in fields(Sender)}
        network = Network(loss=loss, rtt=rtt, **{name: given[name] for name in given.keys() - asked_of})
        asked = sender_of(sender, network.losses, {name: given[name] for name in given.keys() & asked_of})
        loss, rtt = network.loss, network.rtt
        remark_round_trip(rtt)
        if loss > LARGE_LOSS:
            note(f"a loss rate of {loss:g} leaves no path to stream over: {loss:g}% is {loss / 100:g}")
        variant = VARIANTS[asked.tcp]
        if loss > variant.most_loss:
            raise InputError(f"tcp = {asked.tcp} is solved for loss rates up to {variant.most_loss:g}, got {loss:g}")
        network = replace(network, losses=variant.losses)
        rto, timeout_ratio = first_timer(asked, rtt)
        max_window = _largest_window(network, asked, given)
        initial_window = asked.initial_window
        if initial_window is not None and initial_window > max_window:
            if given.get("initial_window") is not None:
                raise InputError(
                    f"initial window must be at most the largest window of {max_window} packets, got {initial_window}"
                )
            initial_window = max_window
        found = {"rto": rto, "timeout_ratio": timeout_ratio, "max_window": max_window, "initial_window": initial_window}
        assumed = asked.rto is None and asked.timeout_ratio is None
        for name, value in (
            vars(network) | vars(asked) | found | {"rto_assumed": assumed, "network": network, "sender": asked}
        ).items():
            object.__setattr__(self, name, value)

    def application_limited(self, packet_rate: float) -> Path:
        """Return the path for a sender that opens its window no further than a live stream needs.

        Parameters
        ----------
        packet_rate : float
            mu, playback rate [packets/s], > 0.

        Raises
        ------
        InputError
            For a rate that is not positive and finite, and for a path with a bottleneck.

        Notes
        -----
        A window does not grow while less is sent than it allows (RFC 7661, Section 4; Linux). After a loss at a window
        of m = mu R packets it is half of that, or 0.7 m of CUBIC. The stream falls behind until the window is m again,
        and has caught up when it is as far above m as it was below: at 1.5 m, or 1.3 m. There it stays: `max_window` is
        the next whole number and one more, unless it is smaller, and `initial_window` is that at most. A stream that is
        further behind has a larger window; that is left out.
        """
        if self.bottleneck is not None:
            raise InputError(
                "an application-limited sender takes its largest window from the stream: leave out bottleneck "
                f"{self.bottleneck:g} packets/s"
            )
        peak = 2 - VARIANTS[self.tcp].decrease
        needed = peak * positive("playback rate", packet_rate, "packets/s") * self.rtt
        limit = min(self.max_window, math.ceil(min(needed, self.max_window)) + 1)
        with unremarked():
            return Path(**vars(self.network), sender=replace(self.sender, max_window=limit))

    def to_dict(self) -> dict[str, float | int | str | bool | None]:
        """Return the parameters as a plain dict, units in the names."""
        values = {one.name + SUFFIXES.get(one.metadata["unit"], ""): getattr(self, one.name) for one in PARAMETERS}
        return values | {"rto_assumed": self.rto_assumed, "sender": name_of(self.sender)}

    def _rows(self) -> list[tuple[str, str]]:
        """Return the parameters as names and values with their units; nothing of those that are left out."""
        given = [(one, getattr(self, one.name)) for one in PARAMETERS]
        return [(one.name, said(value, one.metadata["unit"])) for one, value in given if value is not None]

    def _repr_html_(self) -> str:
        return html_table("Path", {"": self._rows()})


def _signature() -> Signature:
    """Return what `Path` takes, for `help` and completion."""
    defaults = {one.name: Parameter.empty if one.default is MISSING else None for one in PARAMETERS}
    kind = Parameter.KEYWORD_ONLY
    return Signature(
        [Parameter(name, kind, default=one) for name, one in (defaults | {"sender": DEFAULT_SENDER}).items()]
    )


Path.__signature__ = _signature()  # type: ignore[attr-defined]


#: What papers call the parameters of a path, and what other programs do.
_ALIASES = {"p": "loss", "R": "rtt", "T_O": "timeout_ratio", "W_max": "max_window", "delay": "rtt", "variant": "tcp"}


def _meant(name: str) -> str:
    """Return which parameter an unknown one probably stands for, if there is one."""
    close = get_close_matches(name, [one.name for one in PARAMETERS], 1)
    found = _ALIASES.get(name) or (close[0] if close else None)
    return f": is {found} meant?" if found else ""


def _link(bottleneck: float | None, buffer: int | None, rtt: float) -> tuple[float, int]:
    """Return C [packets/s] and B [packets] of a link."""
    if bottleneck is None:
        raise InputError("a buffer is that of a bottleneck: give bottleneck [packets/s] as well, or leave out buffer")
    if buffer is None:
        raise InputError("a bottleneck needs its buffer [packets], 0 or more")
    rate = positive("bottleneck", bottleneck, "packets/s")
    if rate > MOST_PACKETS:
        raise InputError(f"bottleneck must be at most {MOST_PACKETS:g} packets/s, got {rate:g} packets/s")
    room = whole("buffer", buffer, least=0, unit="packets", most=MOST_PACKETS)
    pipe = real("bottleneck times round trip time", per_round(rate, rtt), "packets")
    if pipe < LEAST_PIPE:
        raise InputError(
            f"a bottleneck must carry at least {LEAST_PIPE} packets in a round trip, got {pipe:.4g}: "
            f"{rate:.4g} packets/s x {rtt:.4g} s"
        )
    return rate, room


def _largest_window(network: Network, sender: Sender, given: dict[str, Any]) -> int:
    """Return W_max [packets]."""
    variant = VARIANTS[sender.tcp]
    if network.bottleneck is None:
        if variant.needs_bottleneck:
            only = "" if variant.chain is not None else ", for its throughput only"
            raise InputError(
                f"tcp = {sender.tcp} is solved behind a bottleneck{only}: give bottleneck [packets/s] and buffer "
                "[packets]"
            )
        if sender.max_window is not None:
            return sender.max_window
        enough = variant.largest_window(network.loss, network.rtt, sender.rounds_per_increase)
        return max(enough, sender.initial_window or 1)
    if not variant.bottleneck:
        accepted = ", ".join(name for name, one in VARIANTS.items() if one.bottleneck)
        raise InputError(f"a bottleneck is solved for tcp = {accepted}, got {sender.tcp}")
    if given.get("max_window") is not None:
        raise InputError("a bottleneck sets the largest window: leave out max_window, or bottleneck and buffer")
    assert network.buffer is not None
    largest = math.floor(network.pipe + network.buffer)
    if sender.max_window is not None and sender.max_window < largest:
        raise InputError(
            f"a bottleneck sets the largest window: one of {largest} packets is more than the sender's, "
            f"{sender.max_window} packets: give a smaller buffer or rate, or sender = classic"
        )
    return largest
