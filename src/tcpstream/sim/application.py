"""Applications: what a server and a client do, in plain Python."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, is_dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from ..errors import InputError, shown

if TYPE_CHECKING:
    from .hosts import ClientHost, ServerHost
    from .traffic import Datagram, Traffic


class Server:
    """The end of an application that sends data; each method does nothing unless a subclass says what."""

    def start(self, host: ServerHost) -> None:
        """Act when the flow starts, before the client does."""

    def timer(self, host: ServerHost, name: str) -> None:
        """Act when a timer expires that `host.wake` set."""

    def message(self, host: ServerHost, message: Any) -> None:
        """Act when a message of the client arrives."""

    def came(self, host: ServerHost, datagram: Datagram) -> None:
        """Act when a datagram of the flow that this one relays reaches that flow's client."""


class Client:
    """The end of an application that data reaches; each method does nothing unless a subclass says what."""

    def start(self, host: ClientHost) -> None:
        """Act when the flow starts."""

    def timer(self, host: ClientHost, name: str) -> None:
        """Act when a timer expires that `host.wake` set."""

    def message(self, host: ClientHost, message: Any) -> None:
        """Act when a message of the server arrives."""

    def data(self, host: ClientHost, datagram: Datagram) -> None:
        """Act when a datagram arrives: only a subclass that has this method is called."""


def label(kind: type[Application]) -> str:
    """Return the name of a class of applications: that of its file, and its own."""
    return f"{kind.__module__.rpartition('.')[2]}.{kind.__qualname__}"


class Application:
    """A source in plain Python: a server and a client, which know of each other what crosses the network.

    A subclass is a frozen dataclass of settings. Each run gets a server and a client of its own; the event loop calls
    them when the flow starts, when a timer expires and when a message arrives; of data it tells clients with `data`.
    """

    known: ClassVar[dict[str, type[Application]]] = {}
    """All classes of this process by their `label`: saved runs find them here."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        Application.known[label(cls)] = cls

    def server(self) -> Server:
        """Return the server of a run."""
        raise NotImplementedError(f"{label(type(self))} has no server")

    def client(self) -> Client:
        """Return the client of a run."""
        raise NotImplementedError(f"{label(type(self))} has no client")

    def relayed(self) -> str:
        """Return the name of the flow whose data are sent on by this one; none by default."""
        return ""

    def figures(self, traffic: Traffic, duration: float) -> dict[str, float]:
        """Return what is to be known of a run, by its names; NaN for what a run does not have.

        Parameters
        ----------
        traffic : Traffic
            Of the flow.
        duration : float
            Of the run [s].
        """
        del traffic, duration
        return {}


@dataclass(frozen=True)
class Unknown(Application):
    """An application of a saved run whose class this process does not have."""

    name: str
    settings: Mapping[str, Any]

    def server(self) -> Server:
        """Raise `InputError`."""
        raise InputError(f"the application {self.name} is not known here: import its module")


def described(application: Any) -> None:
    """Raise `InputError` for an application that cannot be written down."""
    if not is_dataclass(application) or hasattr(application, "kind"):
        raise InputError(f"an application is a frozen dataclass without a field 'kind', got {shown(application)}")
