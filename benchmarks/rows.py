"""Everything that is measured, in the order of the table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from .ordinary import METHODS

TITLES = {
    "stored": "Stored media: f and P_i for 15 rates and 41 startup delays, 727 rounds, W_max = 24",
    "live": "Live: f over the startup delay, to tails of 1e-9 (b = 2, W_max = 20, p = 0.02, T_O = 4, m = 3)",
    "live, small": "Live, small enough for general Markov packages (W_max = 8, p = 0.05, T_O = 1, m = 1)",
    "near capacity": "Live, load 0.98 (m = 4 where TCP delivers 4.076 packets a round)",
    "ordinary": "Sixty ordinary inputs: f at 40 startup delays, alpha at the same (stored), required delay",
    "high rate": "Stored media: 25 Mbit/s, 50 ms, p = 1e-4, W_max = 1024, 120 s",
    "figures": "Required startup delays of Figures 10 and 11, every curve",
    "sweep": "Sweeps of 10,000 points over (p, T_O, R, mu, tau), two cores",
    "one flow": "Packet by packet: one backlogged Reno flow, 2% independent losses, 100 ms",
    "dumbbell": "Packet by packet: the paper's topology (live setting 2), 10 transfers and 640 web connections",
    "start-up": "Whole processes",
    "cost": "Cost of a round",
    "roofline": "Roofline of the stored transient",
}


PACKET_BY_PACKET = (3, 5, 12)
"""Ordinary inputs, from 0, that packet-level simulators are timed on: of independent losses, without slow start."""


FEW = (2,)
"""Ordinary inputs, from 0, that are measured with `--quick` too."""


@dataclass(frozen=True)
class Row:
    """A measurement, made in a process of its own.

    Attributes
    ----------
    case : str
        Key of `TITLES`; rows of a case are compared with its reference.
    method : str
        What is measured.
    function : str
        ``module:name`` in this package; takes ``(quick, limit, *arguments)`` and yields outcomes.
    limit : float
        Seconds after which the method stops by itself, or is stopped.
    threads : int
        Threads that it may use; with 1 it is tied to one core.
    reference : bool
        Whether answers are compared with this one's, and times divided by its.
    against : mapping of str to str
        Methods whose time is divided by that of another than the reference.
    arguments : tuple
        What the function takes besides.
    quick : bool
        Whether it is measured at small sizes too, or only when asked for.
    """

    case: str
    method: str
    function: str
    limit: float
    threads: int = 1
    reference: bool = False
    against: Mapping[str, str] = field(default_factory=dict)
    arguments: tuple[Any, ...] = ()
    quick: bool = True

    @property
    def name(self) -> str:
        """What `--only` selects by."""
        return f"{self.case}: {self.method}"


ROWS = (
    Row("stored", "tcpstream", "ours:stored", 60, reference=True),
    Row("stored", "scipy CSR over (state, A)", "peers.scipy_csr:pairs", 120),
    Row("stored", "scipy CSR by packets", "peers.scipy_csr:slabs", 120),
    Row("live", "tcpstream", "ours:live", 60, reference=True),
    Row("live", "power iteration", "peers.power_iteration:embedded", 100),
    Row("live", "power iteration, one round a step", "peers.power_iteration:one_round", 150),
    Row("live", "power iteration, one startup delay", "peers.power_iteration:one_delay", 60),
    Row("live", "scipy sparse LU", "peers.sparse_lu:direct", 150),
    Row("live", "scipy GMRES, ILU", "peers.sparse_lu:gmres_ilu", 80),
    Row("live", "scipy BiCGSTAB, ILU", "peers.sparse_lu:bicgstab_ilu", 80),
    Row("live", "Storm", "peers.stormpy_:large", 200),
    Row("live", "Monte Carlo", "peers.monte_carlo:simulate", 60),
    Row("live, small", "tcpstream", "ours:live_small", 30, reference=True),
    Row("live, small", "QuantEcon", "peers.quantecon_:stationary", 60),
    Row("live, small", "PyDTMC", "peers.pydtmc_:stationary", 60),
    Row("live, small", "Storm", "peers.stormpy_:small", 30),
    Row("live, small", "Storm, 20,000 states", "peers.stormpy_:medium", 30),
    Row("near capacity", "tcpstream", "ours:near_capacity", 60, reference=True),
    Row("near capacity", "power iteration", "peers.power_iteration:near_capacity", 120),
    *(
        Row("ordinary", method, "ordinary:answer", 120, arguments=(n,), quick=n in FEW)
        for n, method in enumerate(METHODS)
    ),
    *(
        Row("ordinary", f"Monte Carlo {n + 1:02}", "peers.chain_monte_carlo:wanted", 6, arguments=(n,), quick=n in FEW)
        for n in range(len(METHODS))
    ),
    *(
        Row("ordinary", f"{name} {n + 1:02}", f"peers.packet_by_packet:{function}", 60, arguments=(n,), quick=False)
        for n in PACKET_BY_PACKET
        for name, function in (("simulator", "simulator"), ("ns-2", "ns2"))
    ),
    Row("high rate", "tcpstream", "ours:high_rate", 180, reference=True),
    Row("figures", "tcpstream", "ours:figures", 180, threads=2, reference=True),
    Row("sweep", "tcpstream", "ours:sweeps", 900, threads=2, reference=True),
    Row("one flow", "tcpstream", "simulator:one_flow", 60, reference=True),
    Row("one flow", "ns-2", "peers.ns2:one_flow", 60),
    Row("dumbbell", "tcpstream", "simulator:topology", 60, reference=True),
    Row("dumbbell", "ns-2", "peers.ns2:topology", 120),
    Row(
        "start-up",
        "processes",
        "startup:processes",
        150,
        against={
            "tcpstream --help": "empty click program --help",
            "tcpstream --version": "empty click program --help",
            "import tcpstream": "python -c pass",
            "import numpy, scipy": "python -c pass",
            "tcpstream delay": "import numba, one cached kernel",
            "tcpstream delay, empty cache": "tcpstream delay",
        },
    ),
    Row("cost", "W_max", "cost:by_window", 150),
    Row("cost", "rounds", "cost:by_rounds", 90),
    Row("roofline", "transient", "roofline:roofline", 60),
)
"""`python -m benchmarks --only TEXT` runs those whose name contains the text."""
