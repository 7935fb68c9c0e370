"""What, other than the losses of its path, set the throughput of a flow."""

from __future__ import annotations

from dataclasses import asdict, dataclass


@dataclass(frozen=True)
class Limitation:
    """The likeliest cause why a flow was not as fast, or not as slow, as its losses make it.

    Attributes
    ----------
    cause : str
        "udp", "interactive", "application", "receive-window", "bbr", "slow-start", "bottleneck", "policer" or
        "unknown".
    evidence : str
        A sentence with the figures that were measured.
    ask_instead : str
        A sentence: what can be asked instead of the verdict for this flow.
    """

    cause: str
    evidence: str
    ask_instead: str

    def to_dict(self) -> dict[str, str]:
        """Return it ready for JSON."""
        return asdict(self)


#: For a flow that no chain describes although nothing is seen that limits it.
UNKNOWN = Limitation(
    "unknown",
    "nothing was seen that limits the flow: the sender waited neither for data nor for the receiver, and no queue grew",
    "ask for a path with the throughput that was measured: --throughput instead of --capture",
)
