"""What is solved together."""

from hypothesis import given
from hypothesis import strategies as st

from tcpstream.explore import grid
from tcpstream.explore.batches import MOST_POINTS, SOLVES, chunks
from tcpstream.explore.cases import known

rows = st.fixed_dictionaries(
    {"loss": st.sampled_from([0.01, 0.02, 0.03]), "rtt": st.sampled_from([0.1, 0.2])},
    optional={
        "timeout_ratio": st.sampled_from([1, 2]),
        "rto": st.sampled_from([0.2, 0.4, "x"]),
        "packet_rate": st.sampled_from([10, 20]),
        "T_over_mu": st.sampled_from([1.5, 2]),
        "duration": st.sampled_from([10, 20]),
    },
)


@given(rows=st.lists(rows, max_size=80), kind=st.sampled_from(["live", "stored"]), alpha=st.booleans())
def test_every_point_is_in_one_small_chunk(rows, kind, alpha):
    found = chunks(rows, kind, alpha)
    assert sorted(i for chunk in found for i in chunk) == list(range(len(rows)))
    assert all(0 < len(chunk) <= (SOLVES if alpha else MOST_POINTS) for chunk in found)


def test_stored_points_of_a_chain_share_a_chunk():
    rtts, rates = [0.1, 0.2, 0.3], [20, 30]
    points = known(grid(sender="classic", loss=0.02, rtt=rtts, timeout_ratio=2, packet_rate=rates, delay=[1, 2, 3, 4]))
    assert chunks(points, "stored", False) == [list(range(24))]
    assert max(map(len, chunks(points, "stored", True))) == SOLVES


def test_live_points_with_one_backlog_share_a_chunk():
    points = known(
        grid(
            sender="classic",
            loss=0.02,
            rtt=[0.1, 0.2],
            timeout_ratio=2,
            delay=1,
            T_over_mu=[1.2 + 0.1 * i for i in range(9)],
        )
    )
    found = chunks(points, "live", False)
    assert [len(chunk) for chunk in found] == [2 * SOLVES, 2]
    assert {points[i]["T_over_mu"] for i in found[1]} == {points[8]["T_over_mu"]}


def test_a_bottleneck_makes_another_chain_of_each_round_trip():
    rtts = [0.1 + 0.01 * i for i in range(SOLVES + 1)]
    shared = dict(sender="classic", loss=0.02, rtt=rtts, timeout_ratio=2, tcp="reno-sack", packet_rate=20, delay=1)
    assert len(chunks(known(grid(**shared)), "stored", False)) == 1
    assert len(chunks(known(grid(**shared, bottleneck=100, buffer=10)), "stored", False)) == 2
