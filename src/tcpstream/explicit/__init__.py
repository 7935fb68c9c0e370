"""Live and stored streaming with every state written out: a slow twin of the solvers, and an export for others.

Built from the transitions of any TCP chain, Table VI for Reno; shares no code with the fast solvers, which it checks.
"""

from .chain import ExplicitChain
from .judge import Judgement
from .live import ExplicitLive, explicit_live, explicit_live_finite
from .stored import ExplicitStored, explicit_stored

__all__ = [
    "ExplicitChain",
    "ExplicitLive",
    "ExplicitStored",
    "Judgement",
    "explicit_live",
    "explicit_live_finite",
    "explicit_stored",
]
