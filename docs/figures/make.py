"""Draw the figures of the documentation: ``python docs/figures/make.py``."""

import sys
from pathlib import Path

import matplotlib
import numpy as np

matplotlib.use("agg")

import tcpstream
from tcpstream.system.log import read

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "validation"))

import public_traces
from public_traces_parts.judged import NEAR, questions
from public_traces_parts.sessions import SETS

MOBILE = Path(__file__).resolve().parents[2] / "examples" / "mobile.csv"


def late_fraction() -> None:
    """Draw the figure of the README."""
    path = tcpstream.Path(sender="classic", loss=0.02, rtt=0.1, rto=0.3)
    ax = tcpstream.live(path, tcpstream.Video(packet_rate=30)).plot()
    ax.set_title("p = 0.02, R = 100 ms, R_TO = 300 ms, 30 packets/s")
    ax.figure.savefig(Path(__file__).parent / "late_fraction.png", dpi=150, metadata={"Software": None})


def total_rebuffer() -> None:
    """Draw the figure of the page on stalls."""
    path = tcpstream.Path(sender="classic", loss=0.02, rtt=0.1, rto=0.3)
    video = tcpstream.Video(bitrate=480e3, duration=60)
    ax = tcpstream.play(path, video, tcpstream.Player(start=1.0), accuracy="exact").plot()
    tcpstream.play(path, video, tcpstream.Player(start=2.0), accuracy="exact").plot(ax=ax)
    ax.set_title("p = 0.02, R = 100 ms, R_TO = 300 ms, 480 kbit/s, 60 s")
    ax.figure.savefig(Path(__file__).parent / "total_rebuffer.png", dpi=150, metadata={"Software": None})


def transfer_time() -> None:
    """Draw the figure of the page on segments."""
    path = tcpstream.Path(loss=0.003, rtt=0.04, sender="linux", tcp="reno-sack")
    ax = tcpstream.transfer_time(path, bytes=100e3).plot(label="100 kB")
    tcpstream.transfer_time(path, bytes=500e3).plot(ax=ax, label="500 kB")
    ax.set_title("p = 0.003, R = 40 ms, Reno with SACK from 10 packets")
    ax.figure.savefig(Path(__file__).parent / "transfer_time.png", dpi=150, metadata={"Software": None})


def trace_fit() -> None:
    """Draw the figure of the page on paths that vary."""
    fit = tcpstream.fit_regimes(MOBILE, rtt=0.05, sender="linux", tcp="reno-sack", regimes=2)
    figure = fit.plot()[0].figure
    figure.savefig(Path(__file__).parent / "trace_fit.png", dpi=100, metadata={"Software": None})


def public_traces_calibration() -> None:
    """Draw the figure of public traces on the page on paths that vary."""
    from matplotlib import pyplot

    rows = read(public_traces.RESULTS)
    figure, axes = pyplot.subplots(1, len(SETS), figsize=(10, 3.8), sharey=True, layout="constrained")
    kinds = {"20 constant paths": ("s", "tab:gray"), "1 fit": ("o", "tab:blue"), "4 fits": ("^", "tab:orange")}
    for ax, one in zip(axes, SETS):
        ax.fill_between([0, 1], [-NEAR, 1 - NEAR], [NEAR, 1 + NEAR], color="0.9", lw=0)
        ax.plot([0, 1], [0, 1], color="0.5", lw=0.8)
        for what, (marker, colour) in kinds.items():
            found = questions(rows, one.name, what)
            bars = 1.96 * found.error
            ax.errorbar(found.predicted, found.observed, bars, fmt=marker, ms=4, lw=0.6, color=colour, label=what)
        ax.set(title=one.name, xlabel="P(any stall), predicted", xlim=(0, 1), ylim=(0, 1))
    axes[0].set_ylabel("share of sessions with a stall")
    axes[-1].legend(loc="lower right", fontsize="small")
    figure.savefig(Path(__file__).parent / "public_traces.png", dpi=100, metadata={"Software": None})


def held() -> None:
    """Draw the figure of whole sessions."""
    path = tcpstream.Path(sender="classic", loss=0.02, rtt=0.1, rto=0.3)
    player = tcpstream.Player(start_buffer=2, resume_buffer=5)
    result = tcpstream.play(path, tcpstream.Video(bitrate=480e3, duration=60), player)
    ax = result.sessions(1000, np.random.default_rng(7)).plot()
    ax.set_title("p = 0.02, R = 100 ms, R_TO = 300 ms, 480 kbit/s, 60 s")
    ax.figure.savefig(Path(__file__).parent / "held.png", dpi=150, metadata={"Software": None})


if __name__ == "__main__":
    late_fraction()
    total_rebuffer()
    transfer_time()
    trace_fit()
    public_traces_calibration()
    held()
