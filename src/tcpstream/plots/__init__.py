"""Plots that a reader of the field recognises; the only package that imports matplotlib.

Every function draws into ``ax`` or into new axes, returns the axes, and tells curves apart by colour and by line style
or marker, so that they can be read in grey print and without colour vision.
"""

from .answers import buffer, late_fraction, late_probability, transfer_time
from .runs import beside_runs, runs_as_points, scatter_of_runs
from .space import curves, required_delay, required_delay_map
from .style import save
from .trace_fit import trace_and_fit
from .viewers import held, join_time, skipped, total_rebuffer

__all__ = [
    "beside_runs",
    "buffer",
    "curves",
    "held",
    "join_time",
    "late_fraction",
    "late_probability",
    "required_delay",
    "required_delay_map",
    "runs_as_points",
    "save",
    "scatter_of_runs",
    "skipped",
    "total_rebuffer",
    "trace_and_fit",
    "transfer_time",
]
