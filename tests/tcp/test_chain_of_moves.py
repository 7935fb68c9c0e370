"""Chains given by their moves: what is refused, and what is exact."""

import pytest

from tcpstream import InputError, Path, Video, live, stored, throughput
from tcpstream.tcp.chain_of_moves import ChainOfMoves, Move
from tcpstream.variants import VARIANTS, Variant


@pytest.fixture
def path(monkeypatch):
    def made(moves, fields=("w",)):
        chain = Variant(chain=lambda _: ChainOfMoves((1,), moves, fields), losses="bursts", text="")
        monkeypatch.setitem(VARIANTS, "mine", chain)
        return Path(sender="classic", loss=0.05, rtt=0.1, rto=0.3, tcp="mine")

    return made


def test_a_packet_a_round(path):
    """Without losses: a packet arrives each round of 0.1 s, of those due 0.05 s after a round's start half are late."""
    steady = path(lambda state: [Move(state, 1.0, 1)])
    assert throughput(steady) == pytest.approx(10, rel=1e-12)
    stream, video = Video(packet_rate=5), Video(packet_rate=5, duration=3)
    assert stored(steady, video).late_fraction(0.05) == pytest.approx(0, abs=1e-12)
    assert live(steady, stream).late_fraction([0.05, 0.2]) == pytest.approx(
        live(steady, video).late_fraction([0.05, 0.2]), abs=1e-12
    )


def test_a_sawtooth_without_losses(path):
    """Windows of 1 to 4 in turn: a chain of period 4, whose long stream is as the one without end."""
    sawtooth = path(lambda state: [Move((state[0] % 4 + 1,), 1.0, state[0])])
    assert throughput(sawtooth) == pytest.approx(25, rel=1e-12)
    endless = live(sawtooth, Video(packet_rate=20)).late_fraction([0, 0.05, 0.1])
    assert endless == pytest.approx(live(sawtooth, Video(packet_rate=20, duration=400)).late_fraction([0, 0.05, 0.1]))


REFUSED = {
    "sum to 0.9, not to 1": lambda s: [Move(s, 0.9, 1)],
    "a probability lies between 0 and 1, got 1.5": lambda s: [Move(s, 1.5, 1), Move(s, -0.5, 0)],
    r"1 round or more, got \(1,\) and 0.5 rounds": lambda s: [Move(s, 1.0, 1, 0.5)],
    "and nan rounds": lambda s: [Move(s, 1.0, 1, float("nan"))],
    "whole numbers, the latter between 0 and the former, got 1.5": lambda s: [Move(s, 1.0, 1.5)],
    "got 1 and 2 from state": lambda s: [Move(s, 1.0, 1, in_order=2)],
    "a move leads to a tuple": lambda _: [Move("wide", 1.0, 1)],
    r"a value for each of w, got \(1, 2\)": lambda _: [Move((1, 2), 1.0, 1)],
    "ends in one of 2 sets of states": lambda s: (
        [Move((2,), 0.5, 1), Move((3,), 0.5, 1)] if s == (1,) else [Move(s, 1.0, s[0])]
    ),
    "it delivers nothing": lambda s: [Move((2,), 1.0, 1)] if s == (1,) else [Move(s, 1.0, 0)],
}


@pytest.mark.parametrize("message", REFUSED)
def test_what_is_no_chain_is_refused(path, message):
    with pytest.raises(InputError, match=message):
        throughput(path(REFUSED[message]))
