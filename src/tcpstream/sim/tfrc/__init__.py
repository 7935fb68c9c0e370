"""TCP-friendly rate control (RFC 5348): a sender that paces datagrams, a receiver that reports losses."""

from .feed import Endless, Feed, Segment
from .tfrc import Tfrc

__all__ = ["Endless", "Feed", "Segment", "Tfrc"]
