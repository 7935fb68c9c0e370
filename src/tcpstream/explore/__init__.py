"""Sweeps over the parameter space: a table of paths, videos and questions in, a labelled table of answers out.

>>> from tcpstream import explore
>>> paths = {"sender": "classic", "loss": [0.01, 0.02], "rtt": 0.1, "timeout_ratio": 2}
>>> points = explore.grid(**paths, T_over_mu=[1.6, 2], duration=80, delay=[1, 2])
>>> len(points)
8
>>> table = explore.sweep(points, "stored")
>>> bool(table["late_fraction"].max() < 0.01)
True

Sections 6.1 and 6.2 of the paper are such sweeps: :func:`rate_for` and :func:`rtt_for` make T/mu what is wanted.
"""

from .grid import grid
from .labelled import to_xarray
from .load import rate_for, rtt_for
from .sweep import sweep
from .table import read

__all__ = ["grid", "rate_for", "read", "rtt_for", "sweep", "to_xarray"]
