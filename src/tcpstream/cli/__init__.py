"""The command line: one small file per command, that parses, calls and presents."""

from .app import main

__all__ = ["main"]
