"""Layered video by formulas: layers that a path sustains, layers that count, segments that are sent again."""

from .late import late_of_paced
from .resends import incomplete, lists, resends
from .sustained import chain_layers, loss_event_rate, tfrc_layers
from .valid import valid_of_independent, valid_of_some

__all__ = [
    "chain_layers",
    "incomplete",
    "late_of_paced",
    "lists",
    "loss_event_rate",
    "resends",
    "tfrc_layers",
    "valid_of_independent",
    "valid_of_some",
]
