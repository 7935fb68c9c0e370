"""A TCP of its own: windows grow by some packets a round, and a loss leaves a share of them (AIMD)."""

from __future__ import annotations

from tcpstream.path import Path
from tcpstream.tcp.chain_of_moves import ChainOfMoves, Move, State, timeout_moves
from tcpstream.tcp.silences import Waits

INCREASE = 2
"""Packets that a window grows by in a round."""

DECREASE = 0.8
"""Share of the window that a loss leaves."""


def aimd(path: Path) -> ChainOfMoves:
    """Build the chain of an AIMD sender on a path; the first loss of a round takes the rest of it along.

    Three packets before the loss are enough for a fast retransmit; otherwise the timer runs out, as for Reno.

    Parameters
    ----------
    path : Path
    """
    p, q, silences = path.loss, 1 - path.loss, Waits.of(path)

    def sending(window: int) -> State:
        return max(1, min(window, path.max_window)), 0, 0

    def timeout(level: int, again: bool) -> State:
        return 1, level, int(again)

    def moves(state: State) -> list[Move]:
        window, level, again = state
        if level:
            return timeout_moves(path, level, bool(again), timeout, on=sending(2))
        found = [
            Move(sending(window + INCREASE), q**window, window),
            Move(timeout(1, True), p, 0, silences.all_lost),
        ]
        for j in range(1, window):
            if j >= 3:
                found.append(Move(sending(int(DECREASE * window)), p * q**j, j))
            else:
                found.append(Move(timeout(1, True), p * q**j, j, silences.all_lost))
        return found

    return ChainOfMoves(sending(1), moves, ("w", "e", "r"))
