"""Draw the figures of the documentation: ``python docs/figures/make.py``."""

from pathlib import Path

import matplotlib

matplotlib.use("agg")

import tcpstream


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


if __name__ == "__main__":
    late_fraction()
    total_rebuffer()
