"""Slow twins of the kernels: one loop per thing that can happen."""

import numpy as np


def grow(x, windows, growth, p, steps_per_packet, cap, offset, width):
    out = np.zeros((len(x), width))
    for s, target, share in growth:
        for k, mass in enumerate(x[s]):
            out[target, min(k + offset + windows[s] * steps_per_packet, cap)] += share * (1 - p) ** windows[s] * mass
    return out


def lose(x, windows, p, steps_per_packet, cap, width):
    out = np.zeros((3, width))
    for s, row in enumerate(x):
        for k, mass in enumerate(row):
            for j in range(1, windows[s]):
                out[min(j, 3) - 1, min(k + j * steps_per_packet, cap)] += p * (1 - p) ** j * mass
    return out


def recover(x, windows, rows, p, steps_per_packet, floor, cap, out, frozen):
    for s, row in enumerate(x):
        for k, mass in enumerate(row):
            for j in range(3, windows[s]):
                middle = k + j * steps_per_packet
                if middle < floor:
                    continue
                if middle >= cap:
                    frozen[rows[s], j] += p * (1 - p) ** j * mass
                    continue
                for i in range(3, j + 1):
                    law = (1 - p) ** i * (1 if i == j else p)
                    out[rows[s], middle + i * steps_per_packet] += p * (1 - p) ** j * law * mass


def ends(mass, negligible):
    first = max(k for k in range(len(mass) + 1) if mass[:k].sum() <= negligible)
    last = min(k for k in range(first, len(mass) + 1) if mass[k:].sum() <= negligible)
    return first, last, mass[:first].sum() + mass[last:].sum()


def down(row, drop):
    """One round of playback lower."""
    return np.append(row[drop:], np.zeros(min(drop, len(row))))[: len(row)]


def climb(entries, windows, growth, p, steps_per_packet, drop, trace, steps=4000):
    """Round by round until nothing climbs any more; pauses at the ceiling are rounds of their own."""
    n = entries.shape[1]
    cap = n - 1
    total = np.zeros_like(entries)
    sending = np.zeros_like(entries)
    now = entries.copy()
    for _ in range(steps):
        total += now
        following = np.zeros_like(now)
        for s in range(len(now)):
            paused = np.zeros(n)
            paused[cap] = now[s, cap]
            following[s] += down(paused, drop + trace)
            z = down(now[s] - paused, drop)
            sending[s] += z
            for _, target, share in (move for move in growth if move[0] == s):
                for k in range(n):
                    following[target, min(k + windows[s] * steps_per_packet, cap)] += (
                        share * (1 - p) ** windows[s] * z[k]
                    )
        now = following
        if np.abs(now).sum() < 1e-17:
            return total, sending
    raise AssertionError("still climbing")


def back_off(inflow, p, steps_per_packet, drop, trace, shifts, weights, steps=4000):
    levels, n = len(shifts), len(inflow)
    cap = n - 1
    visits = np.zeros((2, levels, n))
    restart = np.zeros(n)
    now = np.zeros((2, levels, n))
    now[0, 0] = inflow
    for _ in range(steps):
        visits += now
        following = np.zeros_like(now)
        for r in range(2):
            for e in range(levels):
                paused = np.zeros(n)
                paused[cap] = now[r, e, cap]
                following[r, e] += down(paused, drop + trace)
                active = now[r, e] - paused
                for k, mass in enumerate(down(active, drop)):
                    target = following[1, e] if r == 0 else restart
                    target[min(k + steps_per_packet, cap)] += (1 - p) * mass
                for shift, weight in zip(shifts[e], weights[e]):
                    for k in range(shift, n):
                        following[0, min(e + 1, levels - 1), k - shift] += p * weight * active[k]
        now = following
        if np.abs(now).sum() < 1e-18:
            return visits, restart
    raise AssertionError("still backing off")
