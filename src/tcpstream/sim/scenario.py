"""Networks to simulate: links, and flows that cross them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ..errors import InputError, shown, whole
from .links import Link
from .senders import Tcp
from .sources import Backlogged, Requests, Source, Steady, real_time


@dataclass(frozen=True)
class Flow:
    """A sender, its source, and the links to its receiver and back.

    Parameters
    ----------
    there : tuple of str
        Names of the links that data crosses, in order.
    back : tuple of str
        Those of the acknowledgements; not for a flow without TCP.
    tcp : Tcp, optional
        None: datagrams, which nobody acknowledges; the source must be `Steady`.
    source : Backlogged, Steady, Requests or Stored
    start : float
        When the source starts [s].
    measured : bool
        Whether the times of in-order delivery are kept.
    packet_size : int
        Of datagrams [bytes].
    """

    there: tuple[str, ...]
    back: tuple[str, ...] = ()
    tcp: Tcp | None = field(default_factory=Tcp)
    source: Source = field(default_factory=Backlogged)
    start: float = 0.0
    measured: bool = False
    packet_size: int = 1500

    def __post_init__(self) -> None:
        real_time(self.start)
        object.__setattr__(self, "packet_size", whole("packet_size", self.packet_size, unit="bytes"))
        if not isinstance(self.source, Source) or not isinstance(self.tcp, Tcp | None):
            raise InputError(f"a flow has a source and tcp, or None, got {shown(self.source)} and {shown(self.tcp)}")
        if not self.there:
            raise InputError("a flow needs at least one link")
        if self.tcp is None and not isinstance(self.source, Steady):
            raise InputError("datagrams need a steady source")
        if self.tcp is None and self.measured:
            raise InputError("only TCP flows are measured")
        if self.tcp is not None and not self.back:
            raise InputError("a TCP flow needs at least one link back")


@dataclass(frozen=True)
class Scenario:
    """A network, and what crosses it.

    Parameters
    ----------
    links : mapping of str to Link
    flows : tuple of Flow
    """

    links: Mapping[str, Link]
    flows: tuple[Flow, ...]

    def __post_init__(self) -> None:
        if not self.flows:
            raise InputError("a scenario needs at least one flow")
        for name, link in self.links.items():
            if not isinstance(link, Link):
                raise InputError(f"link {name!r} must be a Link, got {shown(link)}")
        for flow in self.flows:
            for name in (*flow.there, *flow.back):
                if name not in self.links:
                    raise InputError(f"there is no link {name!r}; there are {', '.join(map(repr, self.links))}")

    @property
    def measured(self) -> list[int]:
        """Numbers of the flows whose deliveries are kept."""
        return [number for number, flow in enumerate(self.flows) if flow.measured]


def single_path(there: Link, back: Link, tcp: Tcp | None = None, source: Source | None = None) -> Scenario:
    """Return a scenario of one measured TCP flow on its own link in each direction.

    Parameters
    ----------
    there, back : Link
    tcp : Tcp, optional
    source : Backlogged or Steady, optional
    """
    flow = Flow(("there",), ("back",), tcp or Tcp(), source or Backlogged(), measured=True)
    return Scenario({"there": there, "back": back}, (flow,))


__all__ = ["Flow", "Requests", "Scenario", "single_path"]
