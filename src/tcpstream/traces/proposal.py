"""Which chain fits a capture, and why."""

from __future__ import annotations

from dataclasses import dataclass

from ..path import TCPS

#: Why the paper's chain, by loss process.
_WHY_PAPERS = {
    "round": "each first loss takes the rest of its round with it",
    "independent": "no SACK is seen, without which independent losses are repaired one by one",
    "neither": "losses are neither independent nor in rounds, and the paper's chain is the slower one",
    "undecided": "losses are too few to tell how they come, and the paper's chain is the slower one",
    None: "how losses come is not known, and the paper's chain is the slower one",
}


@dataclass(frozen=True)
class Proposal:
    """A chain for `tcpstream.Path`.

    Attributes
    ----------
    tcp : str
        What `Path` takes as `tcp`.
    reason : str
        Why, as a clause for people.
    """

    tcp: str
    reason: str


def propose(losses: str | None, *, sack: bool, control: str | None) -> Proposal:
    """Return the chain that fits a flow.

    Parameters
    ----------
    losses : str or None
        `LossProcess.fits`; None where losses were not seen one by one.
    sack : bool
        Whether selective acknowledgements were seen.
    control : str or None
        Congestion control of the sender, as Linux names it; None if it is not known.

    Notes
    -----
    Where the losses do not decide, it is the paper's chain: at the same p it is slower than that of independent
    losses, and the startup delay errs towards waiting too long.
    """
    if control == "cubic" and control in TCPS and losses in ("independent", None):
        return Proposal("cubic", "the sender's congestion control is CUBIC")
    if losses == "independent" and sack:
        tcp, reason = "reno-sack", "losses are independent, and SACK repairs several at once"
    else:
        tcp, reason = "reno", _WHY_PAPERS[losses]
    if control not in (None, "reno"):
        reason += f"; the sender's congestion control, {control}, has no chain that fits"
    return Proposal(tcp, reason)
