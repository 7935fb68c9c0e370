"""Points of a sweep: grids, tables, labelled arrays, and what is said of points without sense."""

import sys

import numpy as np
import pandas as pd
import pytest

from tcpstream import (
    InputError,
    MissingExtraError,
    NoFiniteDelayError,
    Path,
    Video,
    explore,
    live,
    throughput,
)

SMALL = {"sender": "classic", "max_window": 12, "timeout_ratio": 2}


def test_grid():
    points = explore.grid(loss=[0.1, 0.2], rtt=1, delay=(3, 4))
    assert points.to_dict("list") == {"loss": [0.1, 0.1, 0.2, 0.2], "rtt": [1] * 4, "delay": [3, 4, 3, 4]}
    assert points.attrs == {"axes": ["loss", "delay"]}


@pytest.mark.parametrize(
    ("axes", "words"),
    [
        ({"loss_rate": 0.1}, "a grid has no axis 'loss_rate': loss, rtt, losses, "),
        ({"loss": []}, "the axis loss of a grid has no values"),
        ({}, "a grid needs axes"),
        ({"loss": [[0.1], [0.2]]}, r"loss must be a number or text, got list \[0.1\]"),
        ({"rtt": [b"1"]}, "rtt must be a number or text, got bytes b'1'"),
        ({"loss": 2**64}, r"loss: a whole number must be below 2\*\*63, got one of 65 bits"),
        ({"loss": range(10**12)}, "the axis loss makes 1,000,000,000,000 points, more than the 1,000,000 of a sweep"),
        (
            {"loss": range(2000), "rtt": range(1000), "delay": 1},
            "a grid of 2,000 x 1,000 x 1 makes 2,000,000 points, more than the 1,000,000",
        ),
    ],
)
def test_grid_bad_input(axes, words):
    with pytest.raises(InputError, match=words):
        explore.grid(**axes)


def test_any_table_with_any_index():
    points = pd.DataFrame(
        {
            "sender": "classic",
            "loss": [0.05, 0.03, 0.05],
            "rtt": [0.1, 0.2, 0.1],
            "rto": [np.nan, 0.3, np.nan],
            "timeout_ratio": [2, None, 2],
            "bitrate": [None, 120e3, 240e3],
            "packet_rate": [20, None, None],
            "max_window": 12,
            "delay": [1, 2, 3],
        },
        index=["a", "b", "c"],
    )
    table = explore.sweep(points, "live")
    assert list(table.index) == ["a", "b", "c"]
    assert table["packet_rate"].tolist() == [20, 10, 20]
    path = Path(sender="classic", loss=0.03, rtt=0.2, rto=0.3, max_window=12)
    assert table.loc["b", "late_fraction"] == live(path, Video(bitrate=120e3)).late_fraction(2)


def test_failures_are_recorded():
    table = explore.sweep(
        explore.grid(loss=[0.05, 1.5], rtt=0.1, T_over_mu=[0.9, 2], delay=[1, -1], **SMALL), "live"
    ).set_index(["loss", "T_over_mu", "delay"])
    path = Path(loss=0.05, rtt=0.1, **SMALL)
    with pytest.raises(NoFiniteDelayError) as none:
        live(path, Video(packet_rate=throughput(path) / 0.9))
    assert table.loc[(0.05, 0.9, 1), "error"] == str(none.value)
    assert table.loc[(0.05, 0.9, 1), "throughput"] == throughput(path)
    assert "loss rate must lie between 1e-09 and 0.999, got 1.5" in table.loc[(1.5, 2, 1), "error"]
    assert table.loc[(0.05, 2, -1), "error"] == "startup delay must not be negative, got -1 s"
    good = table[table["error"] == ""]
    assert good.index.tolist() == [(0.05, 2, 1)]
    assert good["late_fraction"].notna().all()
    assert table[table["error"] != ""]["late_fraction"].isna().all()


@pytest.mark.parametrize(
    ("row", "words"),
    [
        (dict(rtt=0.1, timeout_ratio=2), "give a playback rate: packet_rate, bitrate or T_over_mu"),
        (dict(timeout_ratio=2, packet_rate=9), "give a round trip time: rtt, or T_over_mu with timeout_ratio"),
        (dict(timeout_ratio=2, T_over_mu=2), "give rtt or a playback rate with T_over_mu"),
        (dict(rtt=1, timeout_ratio=2, T_over_mu=2, packet_rate=9), "leave out rtt and rto"),
        (dict(T_over_mu=2, packet_rate=9), "T_over_mu with a playback rate needs timeout_ratio"),
        (dict(rtt=0.1, timeout_ratio=2, T_over_mu=-2), "T/mu must be greater than 0, got -2"),
        (dict(rtt=0.1, timeout_ratio=2, packet_rate=9, bitrate=9), "exactly one of packet_rate, bitrate"),
        (dict(rtt="x", timeout_ratio=2, packet_rate=9), "round trip time must be a number in s, got 'x'"),
    ],
)
@pytest.mark.parametrize("kind", ["live", "stored"])
def test_points_without_sense(row, words, kind):
    table = explore.sweep(pd.DataFrame([dict(sender="classic", loss=0.05, delay=1, duration=10) | row]), kind)
    assert words in table["error"][0]


@pytest.mark.parametrize(
    ("axes", "kind", "words"),
    [
        (dict(loss=0.1, delay=1), "both", "kind of a sweep must be one of live, stored, got 'both'"),
        (dict(loss=0.1), "live", "exactly one of delay, target, no_late, start, start_buffer, got none"),
        (dict(loss=0.1, delay=1, target=0.1), "live", "got delay, target"),
        (dict(loss=0.1, no_late=0.9), "live", "no_late, a probability that no packet is late, is for stored video"),
        (dict(rtt=0.1, delay=1), "live", "points need the column loss"),
        (dict(loss=0.1, start_buffer=1), "live", "start_buffer, the media with which a player starts, is for stored"),
        (dict(loss=0.1, start=1, segment=4), "stored", "segment is for players with buffers: ask for start_buffer"),
    ],
)
def test_sweep_bad_input(axes, kind, words):
    with pytest.raises(InputError, match=words):
        explore.sweep(explore.grid(**axes), kind)
    with pytest.raises(InputError, match="points have no column 'Loss'"):
        explore.sweep(pd.DataFrame({"Loss": [0.1], "delay": [1]}), "live")


def test_no_points():
    points = explore.grid(loss=0.05, rtt=0.1, packet_rate=20, delay=1).iloc[:0]
    assert explore.sweep(points, "live").empty


def test_labelled_arrays():
    points = explore.grid(loss=[0.03, 0.05], rtt=0.1, T_over_mu=[1.5, 2], delay=[1, 2, 3], duration=10, **SMALL)
    table = explore.sweep(points, "stored")
    data = explore.to_xarray(table)
    assert dict(data.sizes) == {"loss": 2, "T_over_mu": 2, "delay": 3}
    assert (float(data["rtt"]), data["rtt"].attrs["units"]) == (0.1, "s")
    assert data["packet_rate"].attrs["units"] == "packets/s"
    assert data.attrs["model"] == "stored"
    row = table.iloc[7]
    assert (
        float(data["late_fraction"].sel(loss=row.loss, T_over_mu=row.T_over_mu, delay=row.delay)) == row.late_fraction
    )
    plain = pd.DataFrame(table)
    plain.attrs = {}
    with pytest.raises(InputError, match="not of a grid: give axes"):
        explore.to_xarray(plain)
    assert explore.to_xarray(plain, ["loss", "T_over_mu", "delay"]).sizes == data.sizes
    with pytest.raises(InputError, match="several points have the same loss, delay"):
        explore.to_xarray(table, ["loss", "delay"])
    with pytest.raises(InputError, match="no column 'p' to be an axis"):
        explore.to_xarray(table, ["p"])


@pytest.mark.parametrize(
    ("module", "words", "work"),
    [
        ("pandas", r"a grid needs pandas.*tcpstream\[explore\]", lambda *_: explore.grid(loss=0.1)),
        ("xarray", "labelled arrays needs xarray", lambda points, _: explore.to_xarray(points)),
        ("pyarrow.parquet", "a store needs pyarrow", lambda points, at: explore.sweep(points, "live", store=at)),
        ("distributed", r"tcpstream\[dask\]", lambda points, _: explore.sweep(points, "live", client=1)),
    ],
)
def test_missing_extras(monkeypatch, tmp_path, module, words, work):
    points = explore.grid(loss=0.05, rtt=0.1, packet_rate=20, delay=[1, 2], **SMALL)
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtraError, match=words):
        work(points, tmp_path)


def test_progress_counts_points(capsys):
    explore.sweep(explore.grid(loss=0.05, rtt=0.1, packet_rate=20, delay=[1, 2], **SMALL), "live", progress=True)
    seen = capsys.readouterr()
    assert "2/2" in seen.err
    assert seen.out == ""


@pytest.mark.parametrize("value", [[0.1], {"a": 1}, pd.Timestamp("2026-11-22"), 2**63])
def test_values_that_no_point_has(value):
    points = pd.DataFrame(
        {"loss": pd.Series([0.05, value], dtype=object), "rtt": 0.1, "timeout_ratio": 2, "packet_rate": 5, "delay": 1}
    )
    with pytest.raises(InputError, match="loss"):
        explore.sweep(points, "live")


def test_missing_values_of_any_kind():
    points = pd.DataFrame(
        {"sender": "classic", "loss": [0.05] * 4, "rtt": 0.1, "timeout_ratio": 2, "packet_rate": 5, "delay": 1}
    )
    whole = explore.sweep(points, "live")
    points["max_window"] = pd.Series([None, np.nan, pd.NA, pd.NaT], dtype=object)
    assert explore.sweep(points, "live")["late_fraction"].tolist() == whole["late_fraction"].tolist()


def test_columns_of_one_name():
    points = explore.grid(loss=0.05, rtt=0.1, timeout_ratio=2, packet_rate=5, delay=1)
    with pytest.raises(InputError, match="two columns of one name"):
        explore.sweep(pd.concat([points, points[["rtt"]]], axis=1), "live")
