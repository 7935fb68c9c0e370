"""TFRC as RFC 5348 writes it down: everything anew from all that happened, names as there."""

import math
from itertools import pairwise

WEIGHTS = [1, 1, 1, 1, 0.8, 0.6, 0.4, 0.2]


def equation(s, R, p):
    return s / (R * math.sqrt(2 * 1 * p / 3) + 4 * R * (3 * math.sqrt(3 * 1 * p / 8) * p * (1 + 32 * p**2)))


def losses(arrivals):
    """Lost packets that are known, each with its time and R when it became known, from (number, time, R) in order."""
    found = []
    numbers = [number for number, _, _ in arrivals]
    for lost in sorted(set(range(max(numbers))) - set(numbers)):
        later = [one for one in arrivals if one[0] > lost]
        if len(later) < 3:
            continue
        S_after, T_after, _ = later[0]
        before = [one for one in arrivals if one[0] < lost]
        if before:
            S_before, T_before, _ = before[-1]
            time = T_before + (T_after - T_before) * (lost - S_before) / (S_after - S_before)
        else:
            time = T_after
        found.append((lost, time, later[2][2]))
    return found


def loss_event_rate(arrivals, first_interval, discounting):
    """Return p of Sections 5.2 to 5.5, and the events' first packets."""
    starts, times = [], []
    for lost, time, R in losses(arrivals):
        if not starts or time > times[-1] + R:
            starts.append(lost)
            times.append(time)
    if not starts:
        return 0.0, starts
    intervals = [first_interval, *(b - a for a, b in pairwise(starts))]
    current = max(number for number, _, _ in arrivals) - starts[-1] + 1
    L, DF = [], []
    for closed in intervals:  # when an interval closes, it was the current one
        factor = general_discount(closed, L, DF) if discounting else 1.0
        L = [closed, *L][:8]
        DF = [1.0, *(factor * one for one in DF)][:8]
    factor = general_discount(current, L, DF) if discounting else 1.0
    k = len(L)
    L = [current, *L]
    DF = [1.0, *DF]
    I_tot0, W_tot0, I_tot1, W_tot1 = L[0] * WEIGHTS[0], WEIGHTS[0], 0.0, 0.0
    for i in range(1, k):
        I_tot0 += L[i] * WEIGHTS[i] * DF[i] * factor
        W_tot0 += WEIGHTS[i] * DF[i] * factor
    for i in range(1, k + 1):
        I_tot1 += L[i] * WEIGHTS[i - 1] * DF[i]
        W_tot1 += WEIGHTS[i - 1] * DF[i]
    return min(W_tot0 / I_tot0, W_tot1 / I_tot1), starts


def general_discount(current, L, DF):
    if not L:
        return 1.0
    W_tot = sum(WEIGHTS[i] * DF[i] for i in range(len(L)))
    I_mean = sum(L[i] * WEIGHTS[i] * DF[i] for i in range(len(L))) / W_tot
    return max(2 * I_mean / current, 0.25) if current > 2 * I_mean else 1.0


class SenderTwin:
    """Sections 4.2 to 4.4, step by step."""

    def __init__(self, s, W_init):
        self.s, self.W_init = s, W_init
        self.X, self.R, self.p, self.events, self.tld = s, None, 0.0, 0, 0.0
        self.X_Bps = None
        self.X_recv_set = {0.0: math.inf}

    def feedback(self, t_now, t_recvdata, t_delay, X_recv, p, events, limited):
        R_sample = t_now - t_recvdata - t_delay
        if self.R is None:
            self.R, self.X, self.tld = R_sample, self.W_init / R_sample, t_now
            self.X_recv_set = {t_now - 1e-9: math.inf}  # an item of its own
        else:
            self.R = 0.9 * self.R + 0.1 * R_sample
        worse = p > self.p or events > self.events
        self.p, self.events = p, events
        if limited:
            if worse:
                self.X_recv_set = {time: rate / 2 for time, rate in self.X_recv_set.items()}
                X_recv = 0.85 * X_recv
            finite = [rate for rate in self.X_recv_set.values() if rate < math.inf]
            self.X_recv_set = {t_now: max([X_recv, *finite])}
            recv_limit = max(self.X_recv_set.values()) * (1 if worse else 2)
        else:
            self.X_recv_set[t_now] = X_recv
            self.X_recv_set = {
                time: rate for time, rate in self.X_recv_set.items() if time >= t_now - 2 * self.R - 1e-6
            }
            recv_limit = 2 * max(self.X_recv_set.values())
        self.step_4(t_now, recv_limit)

    def step_4(self, t_now, recv_limit):
        if self.p > 0:
            self.X_Bps = equation(self.s, self.R, self.p)
            self.X = max(min(self.X_Bps, recv_limit), self.s / 64)
        elif t_now - self.tld >= self.R - 1e-6:  # with a clock of a microsecond
            self.X = max(min(2 * self.X, recv_limit), self.W_init / self.R)
            self.tld = t_now

    def expired(self, t_now, idle):
        X_recv = max(self.X_recv_set.values())
        if self.R is None and not idle:
            self.X = max(self.X / 2, self.s / 64)
        elif self.R is None or (idle and (X_recv if self.p > 0 else self.X / 2) < self.W_init / self.R):
            pass
        elif self.p == 0:
            self.X = max(self.X / 2, self.s / 64)
        else:
            timer_limit = X_recv if self.X_Bps > 2 * X_recv else self.X_Bps / 2
            timer_limit = max(timer_limit, self.s / 64)
            self.X_recv_set = {t_now: timer_limit / 2}
            self.step_4(t_now, timer_limit)
