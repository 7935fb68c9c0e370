"""Work on several cores."""

import threading

import pytest

from tcpstream.system.threads import on_cores


def test_on_cores_keeps_the_order(monkeypatch):
    monkeypatch.setattr("tcpstream.system.threads.cores", lambda: 2)
    meet = threading.Barrier(2, timeout=20)

    def work(item):
        meet.wait()  # both run at the same time
        return -item

    assert on_cores(work, [1, 2]) == [-1, -2]
    with pytest.raises(ZeroDivisionError):
        on_cores(lambda item: 1 / item, [1, 0, 2])
