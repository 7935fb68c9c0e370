"""Sessions that are solved on a Dask cluster, and tables that are Dask frames: the same answers to the last digit."""

import os
import signal

import numpy as np
import pandas as pd
import pytest

import tcpstream
from tcpstream import InputError
from tcpstream.scores.kept import Store

distributed = pytest.importorskip("distributed")

ASKED = {"packet_rate": 40, "duration": 8, "sender": "classic", "solves": 12, "group_by": "isp"}

pytestmark = pytest.mark.filterwarnings("default")  # what a dying worker's sockets warn of


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(5)
    rtt, loss = rng.uniform(0.05, 0.15, 60), rng.uniform(0.01, 0.04, 60)
    return pd.DataFrame({"isp": rng.choice(["A", "B"], 60), "note": "long", "rtt_s": rtt, "loss": loss})


@pytest.fixture(scope="module")
def scores(table):
    return tcpstream.score(table, **ASKED)


@pytest.mark.long
def test_a_killed_worker_loses_nothing(table, scores, monkeypatch):
    killed, put = [], Store.put

    def put_and_kill(store, case, answers):
        put(store, case, answers)
        if answers.whole and not killed:
            os.kill(pids[0], signal.SIGKILL)
            killed.append(pids[0])

    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs="CRITICAL"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        pids = list(client.run(os.getpid).values())
        monkeypatch.setattr(Store, "put", put_and_kill)
        monkeypatch.setattr("tcpstream.scores.one_session._solved", lambda *_: pytest.fail("solved here"))
        found = tcpstream.score(table, client=client, **ASKED)
        assert killed
        assert killed[0] not in client.run(os.getpid).values()
    pd.testing.assert_frame_equal(found.to_pandas(), scores.to_pandas(), check_exact=True)
    assert found.groups == scores.groups


def test_a_dask_frame(table, scores):
    dask = pytest.importorskip("dask.dataframe")
    found = tcpstream.score(dask.from_pandas(table, npartitions=3), **ASKED)
    assert isinstance(found.to_pandas(), pd.DataFrame)
    text = {"isp": object, "note": object}  # Dask has a type of its own for it
    pd.testing.assert_frame_equal(found.to_pandas().astype(text), scores.to_pandas().astype(text), check_exact=True)
    assert found.groups == scores.groups


def test_what_is_no_client(table):
    with pytest.raises(InputError, match=r"client must be a distributed\.Client, got str"):
        tcpstream.score(table, client="tcp://localhost:8786", **ASKED)


def test_a_dask_series_is_no_table(table):
    dask = pytest.importorskip("dask.dataframe")
    with pytest.raises(InputError, match="sessions are a pandas or Dask table, or a file of one, got"):
        tcpstream.score(dask.from_pandas(table, npartitions=1)["loss"], **ASKED)
