"""A path with the capture that it comes from, what is to be said about the two, and the intervals of answers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..errors import InputError
from ..path import Path

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from ..traces import PathEstimate
    from ..uncertainty import Carried

#: Modelled and measured throughput may differ by this fraction of the measured one without a warning.
ALIKE = 0.15


@dataclass(frozen=True)
class Route:
    """A path, and where it comes from a capture what was measured of it, and chosen beside it."""

    path: Path
    estimate: PathEstimate | None = None
    chosen: dict[str, Any] = field(default_factory=dict)

    def carry(self, answer: Callable[[Path], ArrayLike], best: ArrayLike, worst: ArrayLike) -> Carried | None:
        """Return what `answer` may be over the intervals of the capture (`uncertainty.carry`); None without one."""
        if self.estimate is None:
            return None
        from ..uncertainty import carry
        from .progress import progress

        with progress(2, "solving at the ends of the intervals") as done:

            def counted(path: Path) -> ArrayLike:
                found = answer(path)
                done()
                return found

            return carry(self.estimate, counted, best, worst, **self.chosen)

    def warnings(self, throughput: float, carried: Carried | None = None) -> list[str]:
        """Return what limits the answer, the modelled throughput [packets/s] being known."""
        if self.estimate is None:
            return []
        refused = [] if carried is None else carried.refused
        return [*self.estimate.warnings, *_unlike(throughput, self.path.tcp, self.estimate), *refused]

    def to_dict(self) -> dict[str, Any]:
        """Return the key `capture`, where there is one."""
        return {} if self.estimate is None else {"capture": self.estimate.to_dict()}


def measured(file: str, chosen: dict[str, Any]) -> Route:
    """Return the path that a capture shows, with the parameters that it does not show."""
    from ..traces import estimate, estimate_report, is_report  # loads slowly

    if is_report(file):
        report = estimate_report(file)
        raise InputError(
            f"the report {file} shows no loss-event rate, only {report.loss.value:.4g} of the packets sent again: "
            f"instead of --capture give --loss P --rtt {report.rtt.value:.4g} --rto {report.rto.value:.4g}"
        )
    found = estimate(file)
    if found.loss_event_rate.value == 0:
        raise InputError(
            f"the capture {file} shows no loss in {found.packets} packets, so the loss rate is only known to be below "
            f"{3 / found.packets:.2g}: instead of --capture give --loss P "
            f"--rtt {found.rtt.value:.4g} --rto {found.rto.value:.4g}"
        )
    return Route(found.path(**chosen), found, chosen)


def _unlike(modelled: float, tcp: str, estimate: PathEstimate) -> list[str]:
    """Return a warning if the chain's throughput is not the measured one [packets/s]."""
    seen = estimate.throughput_pps.value
    if abs(modelled - seen) <= ALIKE * seen:
        return []
    slower = modelled < seen
    why = (
        "; its losses are independent, and the model's take the rest of their round with them"
        if slower and tcp == "reno" and estimate.loss_process.fits == "independent"
        else ""
    )
    return [
        f"the model's throughput of {modelled:.4g} packets/s is {abs(modelled / seen - 1):.0%} "
        f"{'below' if slower else 'above'} the measured {seen:.4g} packets/s: "
        f"the model's answer is for a {'slower' if slower else 'faster'} TCP than the measured one{why}"
    ]
