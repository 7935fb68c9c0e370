"""What holds for every scenario: delivery in order and complete, never too early; the same seed, the same run."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sim_twins import nondecreasing
from tcpstream.sim import (
    Backlogged,
    Bernoulli,
    CoDel,
    Dumbbell,
    Flow,
    GilbertElliott,
    Link,
    LossTrace,
    RoundLoss,
    Scenario,
    Steady,
    Tcp,
    simulate,
    single_path,
)
from tcpstream.sim import simulation as running
from tcpstream.sim import world as arrays
from tcpstream.sim.engine import records
from tcpstream.sim.senders import GROWTH, VARIANTS

bits = st.lists(st.booleans(), min_size=1, max_size=60).filter(lambda lost: sum(lost) <= len(lost) / 2)
losses = st.one_of(
    st.none(),
    st.builds(Bernoulli, st.floats(0, 0.3)),
    st.builds(RoundLoss, st.floats(0, 0.2)),
    st.builds(GilbertElliott, st.floats(0, 0.1), st.floats(0.2, 1)),
    st.builds(LossTrace, bits.map(lambda lost: [*lost, False, False])),
)


@st.composite
def tcps(draw):
    window = draw(st.integers(1, 40))
    variant = draw(st.sampled_from(list(VARIANTS)))
    kinds = ["reno"] + ["cubic"] * (variant in ("sack", "rack")) + ["bbr"] * (variant == "rack")
    congestion = draw(st.sampled_from(kinds))
    paced = congestion == "bbr"
    return Tcp(
        variant,
        congestion=congestion,
        growth="unlimited" if paced else draw(st.sampled_from(GROWTH)),
        hystart=not paced and draw(st.booleans()),
        prr=not paced and variant in ("sack", "rack") and draw(st.booleans()),
        max_window=window,
        initial_window=draw(st.integers(1, min(window, 10))),
        slow_start=draw(st.booleans()),
        limited_transmit=draw(st.booleans()),
        ack_every=draw(st.integers(1, 3)),
        granularity=draw(st.sampled_from([0.0, 0.01, 0.1])),
        jitter=draw(st.sampled_from([0.0, 0.005])),
    )


@st.composite
def links(draw, loss=True):
    rate = draw(st.sampled_from([np.inf, 1e6]))
    capacity = draw(st.sampled_from([None, [0.004, 0.009, 0.05]]))
    queue = draw(st.one_of(st.none(), st.integers(1, 30)))
    return Link(
        draw(st.floats(0.001, 0.1)),
        rate,
        queue=queue,
        codel=draw(st.sampled_from([None, CoDel()])) if queue else None,
        loss=draw(losses) if loss else None,
        capacity=capacity,
    )


@settings(max_examples=150)
@given(links(), links(), tcps(), st.integers(0, 5))
def test_finite_streams_arrive_complete_in_order_and_not_early(there, back, tcp, seed):
    packets, interval = 60, 0.02
    source = Steady(1 / interval, (packets - 0.5) * interval)
    seen = simulate(single_path(there, back, tcp, source), 1e5, np.random.default_rng(seed)).flows[0]
    assert len(seen.times) == packets
    assert nondecreasing(seen.times)
    assert (seen.times >= interval * np.arange(packets) + there.delay - 1e-9).all()
    assert seen.sent - round(seen.loss_rate * seen.sent) >= packets


@settings(max_examples=150)
@given(links(), links(), tcps(), st.integers(0, 5))
def test_backlogged_flows(there, back, tcp, seed):
    seen = simulate(single_path(there, back, tcp, Backlogged()), 20.0, np.random.default_rng(seed)).flows[0]
    assert nondecreasing(seen.times)
    assert (seen.times > 0).all()
    assert (seen.times <= 20).all()
    assert (seen.times >= there.delay).all()
    assert seen.sent - round(seen.loss_rate * seen.sent) >= len(seen.times)
    window = tcp.max_window  # at most one each round trip
    assert len(seen.times) <= window * (20 / (there.delay + back.delay) + 1)


def busy():
    """A scenario with all that draws or grows: losses, jitter, hundreds of datagrams on their way, drawn requests."""
    base = Dumbbell(2e6, 0.02, 30, transfers=2, web=1, tcp=Tcp(jitter=1e-3)).scenario(np.random.default_rng(4))
    lossy = dict(base.links) | {"bottleneck": Link(0.02, 2e6, queue=30, loss=Bernoulli(0.01)), "long": Link(3.0)}
    return Scenario(lossy, (*base.flows, Flow(("long",), tcp=None, source=Steady(2000.0))))


def outcome(seed=1):
    run = simulate(busy(), 60.0, np.random.default_rng(seed))
    flow = run.flows[0]
    return flow.times.tobytes(), flow.sent, flow.rtt, flow.rto, run.packets, run.events


def test_same_seed_same_run():
    assert outcome() == outcome()
    assert outcome() != outcome(2)


def test_arrays_that_grow_change_nothing(monkeypatch):
    grew = set()

    def growing(world, full):
        grew.add(full)
        return arrays.grown(world, full)

    def large(scenario, rng):
        world = arrays.build(scenario, rng)
        for full in (records.FULL_HEAP, records.FULL_POOL, records.FULL_LOG) * 4:
            world = arrays.grown(world, full)
        return world

    monkeypatch.setattr(arrays, "LOGGED", 1)
    monkeypatch.setattr(running, "grown", growing)
    small = outcome()
    assert grew == {records.FULL_HEAP, records.FULL_POOL, records.FULL_LOG}
    grew.clear()
    monkeypatch.setattr(running, "build", large)
    assert outcome() == small
    assert not grew


def test_start_time_does_not_matter():
    def seen(start):
        flow = Flow(("there",), ("back",), Tcp("sack"), Backlogged(), start, measured=True)
        links = {"there": Link(0.0625, loss=Bernoulli(0.05)), "back": Link(0.0625)}
        return simulate(Scenario(links, (flow,)), start + 64, np.random.default_rng(1)).flows[0]

    assert list(seen(0.0).times) == pytest.approx(list(seen(1024.0).times))
    assert seen(1024.0).duration == 64


def test_a_bottleneck_is_filled_and_shared():
    """Two equal flows through 2.4 Mbit/s, 200 packets/s: it is nearly always busy, and both get their part."""
    links = {"there": Link(0.02, 2.4e6, queue=20), "back": Link(0.02)}
    flows = tuple(Flow(("there",), ("back",), Tcp("sack", jitter=1e-3), measured=True) for _ in range(2))
    seen = simulate(Scenario(links, flows), 500.0, np.random.default_rng(1)).flows
    assert sum(flow.throughput for flow in seen) == pytest.approx(200, rel=0.05)
    assert seen[0].throughput == pytest.approx(seen[1].throughput, rel=0.15)
