"""Loss collection (LC-RTP): a cache asks for what a stream did not bring, until its copy is whole."""

from .lc_rtp import LcRtp

__all__ = ["LcRtp"]
