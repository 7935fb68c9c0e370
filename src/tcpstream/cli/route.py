"""A path with the capture that it comes from, what is to be said about the two, and the intervals of answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ..errors import InputError, ModelMismatchError
from ..path import Path
from ..variants import VARIANTS

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from ..answers.constancy import Constancy
    from ..answers.interval import PropagatedIntervals
    from ..fits import FittedRegimes
    from ..tcp import Varying
    from ..traces import PathEstimate, SenderReport

#: Modelled and measured throughput may differ by this fraction of the measured one without a warning.
ALIKE = 0.15


@dataclass(frozen=True)
class Route:
    """A path, and where it comes from: a capture, what was chosen beside it, throughputs, or regimes fitted to one."""

    path: Path | Varying
    estimate: PathEstimate | None = None
    chosen: dict[str, Any] = field(default_factory=dict)
    throughputs: Sequence[float] = ()
    of_throughputs: Sequence[Path] = ()
    fit: FittedRegimes | None = None

    @property
    def interval(self) -> str:
        """What answers have an interval over."""
        if self.fit is not None:
            return "the 95% intervals of the mean stays"
        return "the 95% intervals of the capture" if self.estimate is not None else "the interval of the throughput"

    @cached_property
    def ends(self) -> Sequence[Path | Varying | None]:
        """The best path and the worst that the measurement allows; none without one.

        The interval of a capture's loss rate is wider where the path was not constant.
        """
        if self.fit is not None:
            return self.fit.ends()
        if self.estimate is None:
            return self.of_throughputs
        return self.estimate.ends(widening=self.constancy.widening if self.constancy else 1.0, **self.chosen)

    def propagate_intervals(
        self, value: ArrayLike, answer: Callable[[Any], ArrayLike], best: ArrayLike, worst: ArrayLike
    ) -> PropagatedIntervals | None:
        """Return what `answer` may be between the ends of what was measured (`answers.interval.between`); None without.

        `value` is the answer at the path itself, which the interval holds.
        """
        if not self.ends:
            return None
        from ..answers.interval import between

        return between(self.ends, answer, best, worst).holding(value)

    def ninety(self, found: PropagatedIntervals | None, value: float) -> list[float] | None:
        """Return the 90% interval of an answer at the estimate of a capture; None where both ends have no answer."""
        if found is None or (self.estimate is None and self.fit is None) or found.refused:
            return None
        return [float(end) for end in found.narrowed(value)]

    @cached_property
    def mismatch(self) -> ModelMismatchError | None:
        """Return why there is no verdict from the capture, as `require_match`; None where there is one."""
        if self.estimate is None:
            return None
        from ..answers.interval import require_match

        try:
            require_match(self.estimate, **self.chosen)
        except ModelMismatchError as error:
            return error
        return None

    @cached_property
    def constancy(self) -> Constancy | None:
        """How constant the path of the capture was; None without one."""
        if self.estimate is None:
            return None
        from ..answers.constancy import constancy

        return constancy(self.estimate)

    def warnings(
        self, throughput: float, propagated: PropagatedIntervals | None = None, *, of_video: bool = True
    ) -> list[str]:
        """Return what limits the answer, the modelled throughput [packets/s] being known.

        That the path was not constant limits answers about a video: packets are late in its bad times.
        """
        refused = [] if propagated is None else propagated.refused
        if self.estimate is None:
            return list(refused)
        from .constant_path import varied

        changing = varied(self.constancy, self.estimate.link) if of_video else []
        return [*self.estimate.warnings, *_unlike(throughput, self.path.tcp, self.estimate), *changing, *refused]

    def to_dict(self) -> dict[str, Any]:
        """Return the keys `capture` and `measured_throughput_pps`, where there are any."""
        if self.throughputs:
            return {"measured_throughput_pps": list(self.throughputs)}
        return {} if self.estimate is None else {"capture": self.estimate.to_dict()}


def with_throughput(rates: Sequence[float], chosen: dict[str, Any]) -> Route:
    """Return the path with a measured throughput, and with the ends of its interval where they are given."""
    from ..answers.from_throughput import Path

    path, *ends = [Path.from_throughput(rate, **chosen) for rate in rates]
    return Route(path, throughputs=rates, of_throughputs=ends[::-1])


def measured(file: str, chosen: dict[str, Any]) -> Route:
    """Return the path that a capture shows, with the parameters that it does not show."""
    from ..traces import estimate, estimate_report, is_report  # loads slowly

    if is_report(file):
        report = estimate_report(file)
        raise InputError(
            f"the report {file} shows no loss-event rate, only {report.loss.value:.4g} of the packets sent again: "
            f"instead of --capture give {_throughput(report)} --rtt {report.rtt.value:.4g} --rto {report.rto.value:.4g}"
        )
    found = estimate(file)
    if found.loss_event_rate.value == 0:
        raise InputError(
            f"the capture {file} shows no loss in {found.packets} packets, so the loss rate is only known to be below "
            f"{3 / found.packets:.2g}: {_instead(found, file)}"
        )
    return Route(found.path(**chosen), found, chosen)


def _instead(found: PathEstimate, file: str) -> str:
    """Return what can be asked instead of a capture without losses."""
    if found.link is not None and found.link.varied:
        return f"the rate of its link changed: tcpstream fit {file} --out FILE finds regimes for --regimes FILE"
    return f"instead of --capture give --loss P --rtt {found.rtt.value:.4g} --rto {found.rto.value:.4g}"


def _throughput(report: SenderReport) -> str:
    """Return the option that a report gives the path."""
    if report.throughput_pps is None:
        return "--loss P"
    measured = report.throughput_pps
    ends = f",{measured.low:.4g}pps,{measured.high:.4g}pps" if measured.low > 0 else ""
    return f"--throughput {measured.value:.4g}pps{ends}"


def _unlike(modelled: float, tcp: str, estimate: PathEstimate) -> list[str]:
    """Return a warning if the chain's throughput is not the measured one [packets/s]."""
    seen = estimate.throughput_pps.value
    if abs(modelled - seen) <= ALIKE * seen:
        return []
    slower = modelled < seen
    why = (
        "; its losses are independent, and the model's take the rest of their round with them"
        if slower and VARIANTS[tcp].losses == "bursts" and estimate.loss_process.fits == "independent"
        else ""
    )
    return [
        f"the model's throughput of {modelled:.4g} packets/s is {abs(modelled / seen - 1):.0%} "
        f"{'below' if slower else 'above'} the measured {seen:.4g} packets/s: "
        f"the model's answer is for a {'slower' if slower else 'faster'} TCP than the measured one{why}"
    ]
