"""What is seen from a beginning, read off points of leads, beside the kernel that adds each way it begins."""

import numpy as np
import pytest

from tcpstream import Path, Video
from tcpstream.answers.two_finenesses import TwoFinenesses
from tcpstream.kernels.buffer_begin import seen_from
from tcpstream.playout import first_stalls
from tcpstream.playout.readings import Reading
from tcpstream.tcp import chain_of


@pytest.mark.parametrize("seconds", [1.0, 9.0])
def test_they_are_what_the_kernel_adds(seconds, monkeypatch):
    path, video = Path(loss=0.02, rtt=0.1, rto=0.3), Video(packet_rate=83.7, duration=25)
    solver = TwoFinenesses(chain_of(path), path, video)
    begun = solver._moves(solver._fine).begun(seconds * video.packet_rate)
    compared = []
    kernel = first_stalls.back_from_stalls

    def followed(first, last, *rest):
        kernel(first, last, *rest)
        known, asked = rest[-2:]
        reading = Reading(begun, known)
        if last >= reading.least:
            expected = seen_from(last, begun.goal, begun.lengths, begun.which, begun.chance, known, asked)
            np.testing.assert_allclose(reading.at(last, known), expected, rtol=1e-9, atol=1e-15)
            compared.append(expected[0])

    monkeypatch.setattr(first_stalls, "back_from_stalls", followed)
    solver._renewed(solver._fine, [seconds], 5.0, 2000.0, 1)
    assert len(compared) > 20
    assert max(compared) > 1e-6
