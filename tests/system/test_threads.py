"""Work on several cores."""

import threading
from time import monotonic, sleep

import pytest

from tcpstream.system import watch
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


def test_what_nobody_waits_for_ends_soon(monkeypatch):
    monkeypatch.setattr("tcpstream.system.threads.cores", lambda: 2)
    begun, ended = threading.Event(), []

    def work(item):
        if item == 0:
            begun.wait(10)
            raise KeyboardInterrupt
        begun.set()
        try:
            for _ in range(1000):
                watch.at()
                sleep(0.01)
        except Exception:  # as one that says why a case has no answer
            ended.append("answered")
        finally:
            ended.append(item)

    start = monotonic()
    with pytest.raises(KeyboardInterrupt):
        on_cores(work, [0, 1])
    assert ended == [1]
    assert monotonic() - start < 5
