"""Videos at several times what TCP carries, whose alpha is told by one mode after few losses."""

import numpy as np
import pytest

from tcpstream import Path, Player, Video, play

SESSIONS, LONG = 3000, pytest.mark.long


@pytest.mark.parametrize(
    ("path", "video"),
    [
        (Path(loss=0.004, rtt=0.057, sender="classic", tcp="reno-sack"), Video(packet_rate=1100, duration=52)),
        pytest.param(Path(loss=0.02, rtt=0.11, sender="classic"), Video(packet_rate=110, duration=263), marks=LONG),
        pytest.param(Path(loss=0.018, rtt=0.13), Video(packet_rate=200, duration=160), marks=LONG),
    ],
)
def test_stalled_times_are_those_of_drawn_sessions(path, video):
    """T/mu is .3, .45 and .33; the last of these takes three times as long as the video itself."""
    seen = play(path, video, Player(start=1.0))
    assert seen.stall_probability == pytest.approx(1, abs=1e-6)
    stalled = np.sort(np.asarray(seen.sessions(SESSIONS, np.random.default_rng(2)).total_rebuffer))
    for share in (0.1, 0.5, 0.9, 0.99):
        between = float(np.quantile(stalled, share)) + path.rtt / 2  # sessions stall for whole rounds
        drawn = float((stalled > between).mean())
        late, error = (float(one[0]) for one in seen.solved.stalled(np.array([1.0 + between])))
        assert error < 0.025
        assert late == pytest.approx(drawn, abs=error + 4 * np.sqrt(drawn * (1 - drawn) / SESSIONS))


def test_hardly_any_lead_is_left_long_before_the_video_has_arrived():
    seen = play(Path(loss=0.018, rtt=0.13), Video(packet_rate=200, duration=160), Player(start=1.0))
    half, longer = seen.solved.stalled(np.array([200.0, 250.0]))[0]
    assert half == longer == pytest.approx(1, abs=1e-7)
