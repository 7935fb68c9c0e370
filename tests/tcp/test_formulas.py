"""The closed formulas: values worked by hand, a published table, and what must hold everywhere."""

import math
from types import SimpleNamespace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tcpstream.errors import unremarked
from tcpstream.path import Path
from tcpstream.tcp.formulas import ALL, mathis, pftk, pftk_approximate, tfrc


def path(loss, rtt=0.1, ratio=4.0, max_window=1000, b=1):
    with unremarked():
        return Path(
            sender="classic", loss=loss, rtt=rtt, timeout_ratio=ratio, max_window=max_window, rounds_per_increase=b
        )


def rare(loss, rtt=0.1, ratio=4.0, max_window=1000, b=1):
    """What formulas read of a path, with smaller loss rates than a path has: there they meet their limits."""
    return SimpleNamespace(loss=loss, rtt=rtt, rto=ratio * rtt, max_window=max_window, rounds_per_increase=b)


# Worked by hand -----------------------------------------------------------------------------------


def test_pftk_by_hand_without_window_limit():
    # p = 0.1, b = 1: W = 3/3 + sqrt(8 (0.9) / 0.3 + 1) = 1 + sqrt(25) = 6
    # (1-p)^3 = 0.729, (1-p)^6 = 0.531441
    # Q(6) = (1 - 0.729) (1 + 0.729 (1 - 0.729)) / (1 - 0.531441) = 0.271 x 1.197559 / 0.468559 = 0.692631
    # f = 1 + 0.1 + 0.02 + 0.004 + 0.0008 + 0.00016 + 0.000032 = 1.124992
    # packets = 0.9/0.1 + 6 + 0.692631/0.9 = 9 + 6 + 0.769590 = 15.769590
    # seconds = 0.1 (6/2 + 1) + 0.692631 x 0.4 x 1.124992 / 0.9 = 0.4 + 0.346313 = 0.746313
    # packets/s = 15.769590 / 0.746313 = 21.1300
    assert pftk(path(0.1)) == pytest.approx(21.1300, abs=1e-4)


def test_pftk_by_hand_with_window_limit():
    # As above, W = 6 >= W_max = 4: (1-p)^4 = 0.6561
    # Q(4) = 0.271 (1 + 0.729 (1 - 0.9)) / (1 - 0.6561) = 0.271 x 1.0729 / 0.3439 = 0.845466
    # packets = 9 + 4 + 0.845466/0.9 = 13.939407
    # seconds = 0.1 (4/8 + 9/4 + 2) + 0.845466 x 0.4 x 1.124992 / 0.9 = 0.475 + 0.422729 = 0.897729
    # packets/s = 13.939407 / 0.897729 = 15.5274
    assert pftk(path(0.1, max_window=4)) == pytest.approx(15.5274, abs=1e-4)


def test_pftk_by_hand_with_delayed_acknowledgements():
    # p = 0.5, b = 2: W = 4/6 + sqrt(8 (0.5) / 3 + 4/9) = 2/3 + sqrt(16/9) = 2; below 3 packets Q = 1
    # f = 1 + 6 x 0.5 = 4, since each term 2^(k-1) p^k is 0.5
    # packets = 1 + 2 + 1/0.5 = 5;  seconds = 0.2 (2 x 2/2 + 1) + 1 x 0.4 x 4/0.5 = 0.6 + 3.2 = 3.8
    assert pftk(path(0.5, rtt=0.2, ratio=2, b=2)) == pytest.approx(5 / 3.8, rel=1e-14)


def test_square_root_formulas_by_hand():
    # p = 0.06, b = 1, R = 0.1, T0 = 0.3: sqrt(2p/3) = sqrt(0.04) = 0.2; 3 sqrt(3p/8) = 3 sqrt(0.0225) = 0.45
    # p (1 + 32 p^2) = 0.06 (1 + 0.1152) = 0.066912; timeouts: 0.3 x 0.45 x 0.066912 = 0.00903312
    few = path(0.06, ratio=3)
    assert mathis(few) == pytest.approx(1 / (0.1 * 0.2), rel=1e-14)
    assert tfrc(few) == pytest.approx(1 / (0.02 + 0.00903312), rel=1e-14)
    assert pftk_approximate(few) == pytest.approx(1 / (0.02 + 0.00903312), rel=1e-14)
    assert pftk_approximate(path(0.06, ratio=3, max_window=2)) == pytest.approx(2 / 0.1, rel=1e-14)
    # p = 0.54: sqrt(0.36) = 0.6; 3 sqrt(0.2025) = 1.35, cut to 1; 0.54 (1 + 32 x 0.2916) = 5.578848
    many = path(0.54, ratio=3)
    assert tfrc(many) == pytest.approx(1 / (0.1 * 0.6 + 0.3 * 1.35 * 5.578848), rel=1e-14)
    assert pftk_approximate(many) == pytest.approx(1 / (0.1 * 0.6 + 0.3 * 5.578848), rel=1e-14)
    # b = 2 and p = 0.03 have the roots of b = 1 and p = 0.06, but their own p (1 + 32 p^2):
    # 0.03 (1 + 32 x 0.0009) = 0.030864; 0.3 x 0.45 x 0.030864 = 0.00416664
    delayed = path(0.03, ratio=3, b=2)
    assert mathis(delayed) == pytest.approx(50, rel=1e-14)
    assert tfrc(delayed) == pytest.approx(1 / (0.02 + 0.00416664), rel=1e-14)


# Published ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("loss", "millionths"),
    [(0.0001, 8172), (0.0005, 18339), (0.002, 37172), (0.01, 89021), (0.05, 271305), (0.998, 241651183)],
)
def test_tfrc_against_the_table_of_the_linux_kernel(loss, millionths):
    # net/dccp/ccids/lib/tfrc_equation.c of Linux tabulates 10^6 f(p), rounded down, where rate = s / (R f(p))
    # for t_RTO = 4 R and b = 1 (RFC 3448, Section 3.1; unchanged in RFC 5348).
    assert 1e6 / tfrc(path(loss, rtt=1, ratio=4)) == pytest.approx(millionths + 0.5, abs=1)


# Everywhere ---------------------------------------------------------------------------------------

losses = st.floats(-9, math.log10(0.99)).map(lambda x: 10**x)
rtts = st.floats(1e-3, 2)
ratios = st.floats(1, 100)
windows = st.integers(1, 10**7)
increases = st.sampled_from([1, 2])
names = st.sampled_from(sorted(ALL))


@given(names, losses, st.floats(1, 100), rtts, ratios, windows, increases)
def test_more_loss_never_helps(name, loss, factor, rtt, ratio, max_window, b):
    more = min(loss * factor, 0.995)
    better, worse = (ALL[name](path(p, rtt, ratio, max_window, b)) for p in (loss, more))
    seam = 1 / (2 * max_window + 4) if name == "pftk" and b == 1 else 0.0  # see the notes of pftk
    assert 0 < worse <= better * (1 + seam) * (1 + 1e-12)


@given(losses, rtts, ratios, windows, increases)
def test_never_faster_than_the_largest_window_each_round(loss, rtt, ratio, max_window, b):
    limited = path(loss, rtt, ratio, max_window, b)
    for formula in (pftk, pftk_approximate):
        assert formula(limited) <= max_window / rtt * (1 + 1e-12)


@given(names, losses, rtts, ratios, st.floats(1, 10), windows, increases)
def test_longer_timers_never_help(name, loss, rtt, ratio, factor, max_window, b):
    short, long = (ALL[name](path(loss, rtt, r, max_window, b)) for r in (ratio, ratio * factor))
    assert long <= short * (1 + 1e-12)


@given(names, losses, rtts, ratios, windows, increases, st.floats(0.1, 10))
def test_only_ratios_of_times_matter(name, loss, rtt, ratio, max_window, b, factor):
    one, other = (ALL[name](path(loss, r, ratio, max_window, b)) for r in (rtt, rtt * factor))
    assert one == pytest.approx(other * factor, rel=1e-12)


@given(losses, rtts, ratios, windows, increases)
def test_order_of_the_square_root_formulas(loss, rtt, ratio, max_window, b):
    any_path = path(loss, rtt, ratio, max_window, b)
    assert tfrc(any_path) < mathis(any_path)
    assert pftk_approximate(any_path) <= mathis(any_path)
    if 3 * math.sqrt(3 * b * loss / 8) <= 1:
        assert pftk_approximate(any_path) == min(tfrc(any_path), max_window / rtt)


@given(st.floats(-14, -6).map(lambda x: 10**x), ratios, increases)
@example(1e-14, 1.0, 1)
def test_all_agree_where_losses_are_rare(loss, ratio, b):
    # Relative to mathis: pftk 1 + O(T_O sqrt(bp)), the other two 1 - (9/4) T_O p (1 + ...).
    wide = rare(loss, ratio=ratio, max_window=10**9, b=b)
    assert pftk(wide) == pytest.approx(mathis(wide), rel=4 * (1 + ratio) * math.sqrt(b * loss))
    for formula in (pftk_approximate, tfrc):
        assert formula(wide) == pytest.approx(mathis(wide), rel=3 * ratio * loss + 1e-14)


@given(st.floats(-16, -6).map(lambda x: 10**x), st.integers(1, 100), increases)
def test_almost_no_loss_fills_the_window(loss, max_window, b):
    limited = rare(loss, max_window=max_window, b=b)
    missing = (b * max_window + 20) * max_window * loss  # rounds lost in a cycle of 1/p packets, generously
    assert pftk(limited) == pytest.approx(max_window / limited.rtt, rel=missing + 1e-12)
    if mathis(limited) > 1.01 * max_window / limited.rtt:
        assert pftk_approximate(limited) == max_window / limited.rtt


@pytest.mark.parametrize("max_window", [5, 20, 300])
def test_branches_of_pftk_meet_for_delayed_acknowledgements(max_window):
    # W = w at q/p = ((w - 2/3)^2 - 4/9) 3/4, from W = 2/3 + sqrt(4 q / (3 p) + 4/9).
    seam = 1 / (1 + ((max_window - 2 / 3) ** 2 - 4 / 9) * 3 / 4)
    limited, free = (path(seam * (1 + side), max_window=max_window, b=2) for side in (-1e-9, 1e-9))
    assert pftk(limited) == pytest.approx(pftk(free), rel=1e-8)


def test_timeout_probability_keeps_its_digits():
    # For p w << 1 a loss in a window of w ends in a timeout with probability 3/w: b = 1, W_max = 10^4 and
    # p = 10^-16 give packets = 1/p + W + 3/W and seconds = R (1/(p W) + W/8 + 2) + (3/W) T0, to that order.
    tiny = rare(1e-16, rtt=1, ratio=100, max_window=10**4)
    seconds = 1e12 * (1 - 1e-16) + 1250 + 2 + 3e-4 * 100
    assert pftk(tiny) == pytest.approx((1e16 + 1e4) / seconds, rel=1e-14)


def test_registry_names_the_functions():
    assert {name: formula.__name__ for name, formula in ALL.items()} == {name: name for name in ALL}
