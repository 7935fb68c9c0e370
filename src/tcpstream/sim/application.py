"""Applications: what a server and a client do, in plain Python."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from .hosts import ClientHost, ServerHost
    from .traffic import Traffic


class Server:
    """The end of an application that sends data; each method does nothing unless a subclass says what."""

    def start(self, host: ServerHost) -> None:
        """Act when the flow starts, before the client does."""

    def timer(self, host: ServerHost, name: str) -> None:
        """Act when a timer expires that `host.wake` set."""

    def message(self, host: ServerHost, message: Any) -> None:
        """Act when a message of the client arrives."""


class Client:
    """The end of an application that data reaches; each method does nothing unless a subclass says what."""

    def start(self, host: ClientHost) -> None:
        """Act when the flow starts."""

    def timer(self, host: ClientHost, name: str) -> None:
        """Act when a timer expires that `host.wake` set."""

    def message(self, host: ClientHost, message: Any) -> None:
        """Act when a message of the server arrives."""


class Application:
    """A source in plain Python: a server and a client, which know of each other what crosses the network.

    A subclass is a frozen dataclass of settings. Each run gets a server and a client of its own; the event loop calls
    them when the flow starts, when a timer expires and when a message arrives, and does not call them for data.
    """

    known: ClassVar[dict[str, type[Application]]] = {}
    """All classes of this process, by module and name: saved runs find them here."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        Application.known[label(cls)] = cls

    def server(self) -> Server:
        """Return the server of a run."""
        raise NotImplementedError(f"{label(type(self))} has no server")

    def client(self) -> Client:
        """Return the client of a run."""
        raise NotImplementedError(f"{label(type(self))} has no client")

    def figures(self, traffic: Traffic) -> dict[str, float]:
        """Return what is to be known of a run, by its names; NaN for what a run does not have.

        Parameters
        ----------
        traffic : Traffic
            Of the flow.
        """
        del traffic
        return {}


def label(kind: type[Application]) -> str:
    """Return the name of a class of applications."""
    return f"{kind.__module__}.{kind.__qualname__}"
