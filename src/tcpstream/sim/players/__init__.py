"""Streaming players of the papers, each a state machine in a file."""

from __future__ import annotations

from importlib import import_module

from ..application import Application

PLAYERS = {
    "realplayer": "RealPlayer",
    "realplayer_tcp": "RealPlayerTcp",
    "wsm": "Wsm",
    "wmp": "Wmp",
    "quicktime": "QuickTime",
}
"""What scenario files call them, which is the name of their module, and their classes."""


def player(name: str) -> type[Application]:
    """Return the class of a player."""
    found: type[Application] = getattr(import_module(f".{name}", __package__), PLAYERS[name])
    return found
