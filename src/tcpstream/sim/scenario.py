"""Networks to simulate: links, and flows that cross them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ..errors import InputError, positive, shown, whole
from .application import Application, described
from .links import Link
from .losses import RoundLoss
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
        None: datagrams, which nobody acknowledges; the source must be `Steady` or an `Application`.
    source : Backlogged, Steady, Requests, Stored or Application
    start : float
        When the source starts [s].
    measured : bool
        Whether the times of in-order delivery are kept, or those at which datagrams arrive.
    packet_size : int
        Of datagrams of a steady source [bytes].
    name : str
        In tables; by default its number.
    """

    there: tuple[str, ...]
    back: tuple[str, ...] = ()
    tcp: Tcp | None = field(default_factory=Tcp)
    source: Source = field(default_factory=Backlogged)
    start: float = 0.0
    measured: bool = False
    packet_size: int = 1500
    name: str = ""

    def __post_init__(self) -> None:
        real_time(self.start)
        object.__setattr__(self, "packet_size", whole("packet_size", self.packet_size, unit="bytes"))
        if not isinstance(self.source, Source) or not isinstance(self.tcp, Tcp | None):
            raise InputError(f"a flow has a source and tcp, or None, got {shown(self.source)} and {shown(self.tcp)}")
        if not self.there:
            raise InputError("a flow needs at least one link")
        if self.tcp is None and not isinstance(self.source, Steady | Application):
            raise InputError("datagrams need a steady source or an application")
        if self.tcp is not None and not self.back:
            raise InputError("a TCP flow needs at least one link back")
        if isinstance(self.source, Application):
            if not self.back:
                raise InputError("an application needs at least one link back")
            described(self.source)
        if not isinstance(self.name, str):
            raise InputError(f"the name of a flow must be text, got {shown(self.name)}")

    @property
    def logged(self) -> bool:
        """Whether it is written down what arrives, and when."""
        return self.measured or isinstance(self.source, Application)


@dataclass(frozen=True)
class Scenario:
    """A network, and what crosses it.

    Parameters
    ----------
    links : mapping of str to Link
    flows : tuple of Flow
    bins : float, optional
        Width of time bins [s]: the bytes of each flow are counted in them.
    """

    links: Mapping[str, Link]
    flows: tuple[Flow, ...]
    bins: float | None = None

    def __post_init__(self) -> None:
        if self.bins is not None:
            positive("width of time bins", self.bins, "s")
        if not self.flows:
            raise InputError("a scenario needs at least one flow")
        for name, link in self.links.items():
            if not isinstance(link, Link):
                raise InputError(f"link {name!r} must be a Link, got {shown(link)}")
        for flow in self.flows:
            for name in (*flow.there, *flow.back):
                if name not in self.links:
                    raise InputError(f"there is no link {name!r}; there are {', '.join(map(repr, self.links))}")
                if isinstance(flow.source, Application) and isinstance(self.links[name].loss, RoundLoss):
                    raise InputError(f"link {name!r} loses packets by rounds of TCP: an application cannot cross it")

        for flow in self.flows:
            if isinstance(flow.source, Application) and (name := flow.source.relayed()):
                self._relays(name)

    def _relays(self, name: str) -> None:
        """Raise `InputError` unless there is one flow of this name, of an application's datagrams."""
        found = [flow for flow in self.flows if flow.name == name]
        if len(found) != 1 or found[0].tcp is not None or not isinstance(found[0].source, Application):
            raise InputError(f"a relay needs one flow of an application's datagrams named {name!r}, got {len(found)}")

    @property
    def measured(self) -> list[int]:
        """Numbers of the TCP flows whose deliveries are kept."""
        return [number for number, flow in enumerate(self.flows) if flow.measured and flow.tcp]

    def number(self, name: str) -> int:
        """Return which flow has a name."""
        return [flow.name for flow in self.flows].index(name)

    def name(self, number: int) -> str:
        """Return what a flow is called."""
        return self.flows[number].name or f"flow {number + 1}"


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
