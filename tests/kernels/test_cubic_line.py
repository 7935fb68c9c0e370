"""The line of windows against a loop over acknowledgements."""

import math

from hypothesis import given
from hypothesis import strategies as st

from tcpstream.kernels.cubic_line import cubic_line


def one_by_one(start, plateau, already, scale, rtt, growth, fresh, largest, most, pipe):
    """RFC 9438 and Linux's tcp_cubic.c: every acknowledgement counts by itself."""
    K, origin = (max(plateau - start, 0) / scale) ** (1 / 3), max(plateau, start)
    window, friendly, credit, found, acknowledgements = start, float(start), 0, [], already
    n = 0
    while True:
        n += 1
        since = n * rtt - K
        target = origin + math.copysign(1, since) * min(math.floor(scale * abs(since) ** 3 + 1e-9), 2 * largest)
        for _ in range(acknowledgements):
            each = window // (target - window) if target > window else 100 * window
            each = min(each, 20) if fresh else each
            if math.floor(friendly + 1e-9) > window:
                each = min(each, window // (math.floor(friendly + 1e-9) - window))
            each = max(each, 2)
            if credit >= each:
                window, credit = window + 1, 0
            friendly, credit = friendly + growth / window, credit + 1
            if credit >= each:
                window, credit = window + 1, 0
        if window >= largest or sum(min(one, pipe) for one in found) > most:
            return found
        found.append(window)
        acknowledgements = window if window <= pipe else min(window, int((n + 1) * pipe) - int(n * pipe))
    raise AssertionError("itertools.count has no end")


@given(
    start=st.integers(1, 30),
    rise=st.floats(0.3, 3),
    share=st.floats(0, 1),
    rtt=st.floats(0.01, 1),
    growth=st.sampled_from([0.01, 9 / 17, 1.0, 2.5]),
    fresh=st.booleans(),
    room=st.integers(0, 40),
    most=st.integers(0, 3000),
    pipe=st.floats(2, 50) | st.just(math.inf),
)
def test_line(start, rise, share, rtt, growth, fresh, room, most, pipe):
    already = round(share * start)
    arguments = start, round(rise * start), already, 0.4, rtt, growth, fresh, start + room, float(most), pipe
    assert cubic_line(*arguments).tolist() == one_by_one(*arguments)


def test_at_the_plateau_a_packet_costs_a_hundred_windows_of_acknowledgements():
    """R = 1 ms: the cube stays below a packet for 1.3 s; 100 rounds at 10 packets, then 100 at 11."""
    found = cubic_line(10, 10, 10, 0.4, 0.001, 1e-9, False, 12, 1e9)
    assert found.tolist() == 99 * [10] + 100 * [11]
