"""Slow, plain twins of the simulator's links and player."""

from itertools import count, pairwise


def drop_tail(arrivals, rate, delay, queue=None, queue_bytes=None):
    """Return when packets arrive behind a queue with room for so many packets or bytes, None where dropped."""
    inside, free, found = [], 0.0, []
    for time, size in arrivals:
        inside = [(left, bytes_) for left, bytes_ in inside if left > time]
        if (queue is not None and len(inside) + 1 > queue) or (
            queue_bytes is not None and sum(bytes_ for _, bytes_ in inside) + size > queue_bytes
        ):
            found.append(None)
            continue
        free = max(time, free) + 8 * size / rate
        inside.append((free, size))
        found.append(free + delay)
    return found


def token_bucket(arrivals, rate, depth):
    """Return when packets pass: as soon as no span of time has more bytes than depth and filling allow."""
    left = []
    for k, (time, size) in enumerate(arrivals):
        earliest = max([time, *left[-1:]])
        total = size
        for j in range(k - 1, -1, -1):
            total += arrivals[j][1]
            earliest = max(earliest, left[j] + 8 * (total - depth) / rate)
        left.append(earliest)
    return left


def mahimahi(arrivals, trace):
    """Return when the last byte of each packet leaves; a line of the trace is 1500 bytes for what waits then."""
    found, sent = [], 0
    opportunities = (cycle * trace[-1] + line for cycle in count() for line in trace)
    while len(found) < len(arrivals):
        now = next(opportunities)
        for _ in range(1500):
            if len(found) == len(arrivals) or arrivals[len(found)][0] > now:
                break
            sent += 1
            if sent == arrivals[len(found)][1]:
                found.append(now)
                sent = 0
    return found


def bits(pieces, start, end):
    """Return the bits that a rate of pieces (from [s], rate [bit/s]) sends between two times."""
    ends = [*(at for at, _ in pieces[1:]), float("inf")]
    return sum(rate * max(0.0, min(end, to) - max(start, at)) for (at, rate), to in zip(pieces, ends))


def player(times, interval, tau, watched, packets):
    """Play packets one after the other, waiting for each: return the number of stalls and their seconds."""
    number, stalled, clock = 0, 0.0, tau
    for i in range(packets):
        arrived = times[i] if i < len(times) else watched
        if clock >= watched and i >= len(times):
            break
        if arrived > clock + 1e-9:
            number += 1
            stalled += arrived - clock
            clock = arrived
        clock += interval
        if i >= len(times):
            break
    return number, stalled


def viewer(times, interval, start, begin, resume):
    """Play a video packet by packet: return when it starts, and position [s] and length of each stall.

    It starts at a time, or (None) with so many packets held, and resumes with so many, or all that are left.
    """
    clock = times[min(begin, len(times)) - 1] if start is None else start
    joined, stalls = clock, []
    for i, arrived in enumerate(times):
        if arrived > clock + 1e-9:
            resumed = times[min(i + resume, len(times)) - 1]
            stalls.append((i * interval, resumed - clock))
            clock = resumed
        clock += interval
    return joined, stalls


def nondecreasing(times):
    """Return whether no time is before the one that precedes it."""
    return all(a <= b for a, b in pairwise(times))
