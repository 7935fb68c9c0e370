"""What notebooks show, and tables without arguments."""

from html.parser import HTMLParser
from pathlib import Path as FilePath
from types import SimpleNamespace

import numpy as np
import pytest

import tcpstream
from tcpstream.answers.late_frames import LateFrames
from tcpstream.answers.shown import answered
from tcpstream.system.html_table import html_table

PATH = tcpstream.Path(sender="classic", loss=0.02, rtt=0.1, rto=0.3)
VIDEO = tcpstream.Video(packet_rate=40, duration=4)
CAPTURE = FilePath(__file__).parents[2] / "examples" / "linux-reno.pcap"


class Cells(HTMLParser):
    """The cells of a table, by rows; fails where tags do not fit."""

    def __init__(self, text):
        super().__init__()
        self.rows, self.open = [], []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag, _attrs):
        self.open.append(tag)
        if tag == "tr":
            self.rows.append([])

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open[-1:] in (["td"], ["th"]):
            self.rows[-1].append(data)


@pytest.fixture(scope="module")
def results():
    segments = tcpstream.Path(sender="classic", loss=0.02, rtt=0.1, tcp="reno-sack", initial_window=10, max_window=10)
    play = tcpstream.play(PATH, VIDEO, tcpstream.Player(start=1.0))
    return SimpleNamespace(
        stored=tcpstream.stored(PATH, VIDEO),
        live=tcpstream.live(PATH, tcpstream.Video(packet_rate=10)),
        play=play,
        buffered=tcpstream.play(segments, VIDEO, tcpstream.Player(start_buffer=1.0)),
        segments=tcpstream.play(segments, VIDEO, tcpstream.SegmentPlayer(segment=1, client_buffer=3)),
        skipping=tcpstream.play(
            PATH, tcpstream.Video(packet_rate=10), tcpstream.Player(start=1.0, on_stall="skip"), live=True
        ),
        transfer=tcpstream.transfer_time(PATH, packets=5),
        sessions=play.sessions(5, np.random.default_rng(1)),
        grid=tcpstream.buffer_grid(segments, VIDEO, [1, 2], [1]),
    )


NAMES = ("stored", "live", "play", "buffered", "segments", "skipping", "transfer", "sessions", "grid")


@pytest.mark.parametrize("name", NAMES)
def test_a_notebook_shows_the_answer_and_its_path(results, name):
    result = getattr(results, name)
    cells = dict(row for row in Cells(result._repr_html_()).rows if len(row) == 2)
    assert cells["loss"] == "0.02"
    assert cells["rtt"] == "0.1 s"
    assert f"<caption>{type(result).__name__}</caption>" in result._repr_html_()


def test_the_numbers_are_those_of_the_answer(results):
    cells = dict(row for row in Cells(results.stored._repr_html_()).rows if len(row) == 2)
    assert cells["startup delay for a late fraction of 0.0001"] == f"{results.stored.required_delay():.4g} s"
    cells = dict(row for row in Cells(results.play._repr_html_()).rows if len(row) == 2)
    assert cells["stall_probability"].startswith(f"{results.play.stall_probability:.4g}, within ")


def test_path_and_video():
    rows = dict(Cells(PATH._repr_html_()).rows)
    assert rows["rto"] == "0.3 s"
    assert "bottleneck" not in rows
    assert dict(Cells(VIDEO._repr_html_()).rows)["packet_rate"] == "40 packets/s"
    curve = tcpstream.Video(curve=([0, 1, 2], [0, 10, 60]))
    assert dict(Cells(curve._repr_html_()).rows)["curve"] == "3 points"


def test_text_is_no_markup():
    text = html_table("a<b", {"<script>": [("x & y", "<b>1</b>")]})
    assert "<script>" not in text
    assert Cells(text).rows == [["<script>"], ["x & y", "<b>1</b>"]]


def test_what_is_not_known_says_why():
    def fails():
        raise tcpstream.AccuracyError("finer than the solve")

    assert answered(fails) == "none: finer than the solve"


@pytest.mark.parametrize("name", NAMES)
def test_tables_need_no_argument(results, name):
    table = getattr(results, name).to_pandas()
    assert len(table) >= 1
    assert not table.isna().all(axis=None)


def test_tables_go_from_nothing_to_what_is_enough(results):
    late = results.stored.to_pandas()
    assert late.index[0] == 0
    assert late.index[-1] == results.stored.required_delay()
    assert late["late_fraction"].iloc[-1] <= 1e-4 < late["late_fraction"].iloc[0]
    delivered = results.transfer.to_pandas()
    assert delivered["delivered"].iloc[0] >= 0.1
    assert delivered["delivered"].iloc[-1] >= 0.99
    assert results.play.to_pandas()["probability_longer"].iloc[0] == results.play.stall_probability
    assert results.buffered.to_pandas().index[-1] == 4
    assert results.stored.to_pandas([1, 2]).index.tolist() == [1, 2]


def test_late_frames():
    frames = LateFrames(np.array([1.0, 2.0]), np.array([0.5, 0.1]), None, np.zeros(2), np.zeros(2))
    assert list(frames.to_pandas().columns) == ["late", "late_error"]
    known = LateFrames(frames.startup_delay, frames.late, np.array([0.6, 0.2]), np.zeros(2), np.zeros(2))
    assert known.to_pandas()["undecodable"].tolist() == [0.6, 0.2]
    assert ["startup delay 2 s", "0.1"] in Cells(known._repr_html_()).rows


def test_estimate():
    found = tcpstream.estimate(CAPTURE)
    table = found.to_pandas()
    assert table.loc["rtt_s", "value"] == found.rtt.value
    assert (table["low"] <= table["high"]).all()
    assert [row[0] for row in Cells(found._repr_html_()).rows][1:3] == ["loss", "loss_event_rate"]
