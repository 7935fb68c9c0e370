"""A sweep on a Dask cluster of two processes gives the same table, also when one of them is killed half way."""

import os
import signal

import pandas as pd
import pytest

from tcpstream import InputError, explore

distributed = pytest.importorskip("distributed")

AXES = dict(
    sender="classic",
    loss=[0.02, 0.03, 0.04, 0.05], rtt=[0.1, 0.2], timeout_ratio=[1, 1.5, 2], packet_rate=[10, 20], max_window=8,
    delay=[1, 2],
)  # fmt: skip
POINTS = {"stored": explore.grid(**AXES, duration=4), "live": explore.grid(**AXES)}

pytestmark = pytest.mark.filterwarnings("default")  # what a dying worker's sockets warn of


@pytest.fixture
def client():
    """A cluster of two worker processes."""
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs="CRITICAL"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def same(table, other):
    pd.testing.assert_frame_equal(table, other, check_exact=True)
    assert table.attrs == other.attrs


@pytest.mark.parametrize(("kind", "alpha"), [("stored", True), pytest.param("live", False, marks=pytest.mark.long)])
def test_a_killed_worker_loses_nothing(client, tmp_path, monkeypatch, kind, alpha):
    pids = list(client.run(os.getpid).values())
    assert len(set(pids)) == 2
    assert os.getpid() not in pids
    killed = []
    put = explore.store.Store.put

    def put_and_kill(store, number, answers):
        put(store, number, answers)
        if len(list(tmp_path.glob("part-*"))) == 3 and not killed:
            os.kill(pids[0], signal.SIGKILL)
            killed.append(pids[0])

    monkeypatch.setattr(explore.store.Store, "put", put_and_kill)
    table = explore.sweep(POINTS[kind], kind, alpha=alpha, store=tmp_path, client=client)
    assert killed
    assert killed[0] not in client.run(os.getpid).values()
    same(table, explore.sweep(POINTS[kind], kind, alpha=alpha))
    same(explore.read(tmp_path), table)


def test_what_is_no_client():
    with pytest.raises(InputError, match=r"client must be a distributed\.Client, got str"):
        explore.sweep(POINTS["live"], "live", client="tcp://localhost:8786")
