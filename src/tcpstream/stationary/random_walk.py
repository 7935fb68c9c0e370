"""Random walks on a half line, absorbed below 0: Wiener-Hopf factors by Fourier transform."""

from __future__ import annotations

import numpy as np
from numpy.fft import irfft, rfft
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def next_fast(points: int) -> int:
    """Return the next length from `points` on whose transform is fast and even: 2^k times 1, 3, 5 or 9."""
    return min(factor << max(1, (-(-points // factor) - 1).bit_length()) for factor in (1, 3, 5, 9))


class HalfLine:
    """The expected visits of a random walk on 0, 1, ... until it falls below 0.

    Parameters
    ----------
    kappa : (N/2 + 1,) array
        Transform ``sum_d K(d) exp((tilt + 2 pi i f / N) d)`` of the distribution K of a step at f = 0 .. N/2, below 1
        in size.
    tilt : float
        Real part of the exponent: between 0 and the decay rate.
    """

    def __init__(self, kappa: NDArray[np.complex128], tilt: float) -> None:
        points = 2 * (len(kappa) - 1)
        cepstrum = irfft(np.log1p(-kappa).conj(), points)
        up = np.zeros(points)
        up[0] = cepstrum[0] / 2
        up[1 : points // 2] = cepstrum[1 : points // 2]
        half = points // 2
        self._tilt = tilt
        self._up = irfft(np.exp(-rfft(up)), points)[:half]
        self._down = irfft(np.exp(-rfft(cepstrum - up)), points)
        self._down = np.append(self._down[:1], self._down[:half:-1])

    def stationary(self) -> Floats:
        """Return the stationary distribution, as far as half the transform, of the walk that waits at 0."""
        pmf = self._up * np.exp(-self._tilt * np.arange(len(self._up)))
        return np.asarray(pmf / pmf.sum())

    def cut(self, n: int) -> None:
        """Keep the positions below n."""
        self.n = n
        self._points = next_fast(2 * n)
        self._up_factor = rfft(self._up[:n], self._points)
        self._down_factor = rfft(self._down[:n], self._points).conj()
        self._scale = np.exp(self._tilt * np.arange(n))

    def visits(self, start: Floats) -> Floats:
        """Return the expected visits to 0 .. n - 1 of mass that starts there."""
        n, points = self.n, self._points
        lower = irfft(rfft(start * self._scale, points) * self._down_factor, points)[:n]
        return np.asarray(irfft(rfft(lower, points) * self._up_factor, points)[:n] / self._scale)
