"""Tables of sessions: what each would see of a video."""

from .answered import score
from .scored import Group, Scores

__all__ = ["Group", "Scores", "score"]
