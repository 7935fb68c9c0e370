"""Which chain, initial window and detection of losses fit a capture, and why."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..variants import VARIANTS
from .detection import Detection

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
    """What `tcpstream.Path` takes as `tcp`, `initial_window` and `detection`.

    Attributes
    ----------
    tcp : str
        The chain.
    reason : str
        Why, as a clause for people.
    initial_window : int or None
        Packets with which slow start begins; None to leave slow start out.
    initial_window_reason : str
        Why.
    detection : str
        How losses are seen.
    detection_reason : str
        Why.
    """

    tcp: str
    reason: str
    initial_window: int | None
    initial_window_reason: str
    detection: str
    detection_reason: str

    def beside(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return what is given and what is proposed beside it: no chain for other losses than are given.

        What a capture does not show is the classic sender's: no largest window that matters.
        """
        proposed = {"sender": "classic", "detection": self.detection}
        if given.get("losses") in (None, VARIANTS[self.tcp].losses):
            proposed["tcp"] = self.tcp
        return proposed | dict(given)

    def sentences(self) -> dict[str, str]:
        """Return what is proposed, and why, by the parameter of `Path`."""
        window = "no slow start" if self.initial_window is None else f"slow start from {self.initial_window}"
        return {
            "tcp": f"chain {self.tcp}: {self.reason}",
            "initial_window": f"{window}: {self.initial_window_reason}",
            "detection": f"detection {self.detection}: {self.detection_reason}",
        }


def propose(
    losses: str | None,
    *,
    sack: bool,
    control: str | None,
    first_flight: int | None = None,
    detection: Detection | None = None,
) -> Proposal:
    """Return what fits a flow.

    Parameters
    ----------
    losses : str or None
        `LossProcess.fits`; None where losses were not seen one by one.
    sack : bool
        Whether selective acknowledgements were seen.
    control : str or None
        Congestion control of the sender, as Linux names it; None if it is not known.
    first_flight : int or None
        Packets sent before the first acknowledgement of data; None if that was not seen.
    detection : Detection or None
        How the sender sees losses; None if no packets were seen.

    Notes
    -----
    Where the losses do not decide, it is the paper's chain: at the same p it is slower than that of independent
    losses, and the startup delay errs towards waiting too long. So does detection by duplicates alone, and so does a
    path without slow start, which begins with a window of 1.
    """
    return Proposal(*_chain(losses, sack, control), first_flight, _opening(first_flight), *_detection(detection))


def _opening(first_flight: int | None) -> str:
    if first_flight is None:
        return "the start of the connection was not seen"
    many = "1 packet was" if first_flight == 1 else f"{first_flight} packets were"
    return f"{many} sent before the first acknowledgement of data"


def _detection(found: Detection | None) -> tuple[str, str]:
    if found is None:
        return "duplicates", "how losses are repaired was not seen"
    return "duplicates" if found.fits == "undecided" else found.fits, found.reason


def _chain(losses: str | None, sack: bool, control: str | None) -> tuple[str, str]:
    for name, one in VARIANTS.items():
        if control is not None and one.control == control and losses in (one.losses, None):
            return name, f"the sender's congestion control is {control.upper()}"
    if losses == "independent" and sack:
        tcp, reason = "reno-sack", "losses are independent, and SACK repairs several at once"
    else:
        tcp, reason = "reno", _WHY_PAPERS[losses]
    if control not in (None, "reno"):
        reason += f"; the sender's congestion control, {control}, has no chain that fits"
    return tcp, reason
