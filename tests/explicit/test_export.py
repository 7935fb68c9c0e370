"""Explicit chains in other tools: scipy, pandas, and the model checker Storm, which solves them again."""

from __future__ import annotations

import pandas as pd
import pytest
from scipy import io

from tcpstream.explicit import explicit_live, explicit_stored
from tcpstream.path import Path
from tcpstream.video import Video

SMALL = Path(sender="classic", loss=0.05, rtt=0.1, timeout_ratio=1, max_window=4)


@pytest.mark.filterwarnings("ignore:The default value for .spmatrix.:DeprecationWarning")  # none in 1.13
def test_matrix_market_is_read_back(tmp_path):
    live = explicit_live(SMALL, Video(packet_rate=15), 1, depth=20)
    live.write_matrix_market(tmp_path / "live.mtx")
    read = io.mmread(tmp_path / "live.mtx")
    assert read.shape == live.matrix.shape
    assert abs(read - live.matrix).max() == 0


def test_table_of_states():
    table = explicit_live(SMALL, Video(packet_rate=15), 1, depth=20).to_pandas()
    assert isinstance(table, pd.DataFrame)
    assert table.columns.tolist() == ["w", "c", "l", "e", "r", "waiting", "n", "late", "empty", "deepest"]
    assert (table["late"] == (table["n"] < 0)).all()


def storm(file, formula):
    stormpy = pytest.importorskip("stormpy")
    model = stormpy.build_model_from_drn(str(file))
    (checked,) = stormpy.parse_properties(formula)
    result = stormpy.model_checking(model, checked)
    value = getattr(result, "get_value", None) or result.at  # stormpy 2 and 1
    return model, value(model.initial_states[0])


def test_storm_agrees_about_the_long_run(tmp_path):
    live = explicit_live(SMALL, Video(packet_rate=15), 1, depth=24)
    live.write_drn(tmp_path / "live.drn")
    weights = live.stationary()
    for name in ("late", "empty", "deepest"):
        model, value = storm(tmp_path / "live.drn", f'LRA=? ["{name}"]')
        assert value == pytest.approx(weights[live.labels[name]].sum(), rel=1e-5)
    assert model.nr_states == len(live.states)
    assert model.nr_transitions == live.matrix.nnz


def test_storm_agrees_about_deliveries(tmp_path):
    stored = explicit_stored(SMALL, Video(packet_rate=15, duration=2))
    stored.write_drn(tmp_path / "stored.drn")
    table = stored.arrivals(40)
    for rounds in (15, 25, 40):
        _, value = storm(tmp_path / "stored.drn", f'P=? [F<={rounds} "delivered"]')
        assert value == pytest.approx(table[rounds, -1], rel=1e-9)
