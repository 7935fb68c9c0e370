"""No output is wider than the terminal, or than 80 columns in a pipe; nothing is lost on the way."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tcpstream.cli import main
from tcpstream.cli.app import group
from tcpstream.cli.blocks import Table
from tcpstream.cli.fitting import parts, wrapped
from tcpstream.cli.rendering import text_of

PATH = "--loss 0.02 --rtt 100ms --rto 300ms --sender classic"
STORED = f"{PATH} --rate 40pps --duration 4s"
COMMANDS = [
    f"throughput {PATH}",
    "throughput --capture {examples}/linux-reno.pcap",
    "share --bottleneck 8Mbps --buffer 30 --rtt 50ms --flows 4 --tcp reno-sack",
    f"stored {STORED} --delay 0,0.5,1,2 --per-round",
    "stored --capture {examples}/linux-reno.pcap --rate 40pps --duration 4s --delay 1,2",
    f"live {PATH} --rate 10pps --delay 1,2",
    f"delay {STORED}",
    f"delay {PATH} --rate 10pps --live",
    "delay --capture {examples}/linux-reno.pcap --rate 200kbps --duration 8",
    f"play {STORED} --start 1s",
    f"transfer {PATH} --size 20kB",
    f"rate {PATH} --duration 8 --delay 2",
    "estimate {examples}/linux-reno.pcap",
    "estimate {examples}/linux-reno.pcap --segments 10s",
    "estimate {examples}/linux-reno-ss.txt",
    "fit {examples}/mobile.csv --rtt 50ms --sender classic --tcp reno-sack --regimes 2",
    "sweep sweep.toml",
    "score sessions.csv --sender classic --rate 40pps --duration 8s --group-by isp --out answers.csv",
    "simulate --rtt 100ms --loss 0.02 --rate 40pps --duration 8s --start 1s --delay 1,2 --runs 2",
    "validate --recorded",
    "claims --paper nichols --recorded",
    "figure 11a",
]
SWEEP = """kind = "stored"
[grid]
sender = "classic"
loss = 0.02
rtt = 0.1
rto = 0.3
T_over_mu = [1.2, 1.6]
duration = 8
delay = 1
"""


@pytest.mark.parametrize("line", COMMANDS)
def test_eighty_columns(run, tmp_path, monkeypatch, capture, line):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    (tmp_path / "sweep.toml").write_text(SWEEP)
    (tmp_path / "sessions.csv").write_text("isp,rtt_ms,loss_percent\nA,100,2\nB,80,1\nB,x,1\n")
    done = run(line.format(examples=capture.parent))
    assert done.status == 0
    assert "…" not in done.out
    assert [one for one in done.out.splitlines() if len(one) > 80] == []


def test_every_command_is_tried():
    assert {line.split()[0] for line in COMMANDS} == set(group.commands) - {"doctor", "schema"}


@pytest.mark.parametrize("command", ["", *group.commands])
def test_help_in_eighty_columns(monkeypatch, capsys, command):
    monkeypatch.setenv("COLUMNS", "80")
    assert main([*command.split(), "--help"]) == 0
    assert max(map(len, capsys.readouterr().out.splitlines())) <= 80


def test_a_pipe_has_eighty_columns(process):
    """Whatever the terminal has that the command was typed in."""
    done = process(f"rate {PATH} --duration 8 --delay 2", COLUMNS="")
    assert done.out.startswith("Play at ")
    assert 60 < max(map(len, done.out.splitlines())) <= 80


def test_more_columns_than_fit_go_into_parts_with_the_first_column():
    table = Table([("a", "1" * 8, "2" * 8), ("b", "3" * 8, "4" * 8)], ("of", "first", "second"))
    assert parts(table, 24) == [Table(table.rows, list(table.header))]
    first, second = parts(table, 23)
    assert (first.header, second.header) == (["of", "first"], ["of", "second"])
    assert second.rows == [["a", "2" * 8], ["b", "4" * 8]]


def test_rows_are_numbered_where_the_first_column_does_not_tell_them_apart():
    table = Table([("a", "1" * 8, "2" * 8), ("a", "3" * 8, "4" * 8)], ("of", "first", "second"))
    first, second = parts(table, 20)
    assert (first.header, second.header) == (["row", "of", "first"], ["row", "second"])
    assert [row[0] for row in second.rows] == ["1", "2"]


def test_headers_are_broken_before_columns_go():
    table = Table([("1", "0.5")], ("startup delay [s]", "late fraction"))
    (found,) = parts(table, 20)
    assert found.header == ["startup\ndelay [s]", "late\nfraction"]


WORDS = st.lists(st.text("abcdefgh", min_size=1, max_size=9), min_size=1, max_size=30).map(" ".join)


@given(text=WORDS, label=st.sampled_from(["", "  ", "  claim     "]), width=st.integers(24, 90))
def test_sentences_are_broken_at_words_only(text, label, width):
    line = f"{label}{text}"
    found = wrapped(line, width)
    assert max(map(len, found.splitlines())) <= width
    assert found.split() == line.split()
    below = found.splitlines()[1:]
    assert all(len(one) - len(one.lstrip()) == {"": 0, "  ": 4}.get(label, 12) for one in below)


@given(
    cells=st.lists(st.tuples(*[st.text("0123456789.", min_size=1, max_size=9)] * 6), min_size=1, max_size=4),
    width=st.integers(30, 100),
)
def test_tables_fit_and_keep_every_cell(cells, width):
    header = ("setting", "late fraction", "P(no late packet)", "its lower bound", "T", "playback rate [packets/s]")
    found = parts(Table(cells, header), width)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLUMNS", str(width))
        text = text_of([Table(cells, header)])
    assert max(map(len, text.splitlines())) <= width
    assert set(" ".join(header).split()) <= set(text.split())
    assert {cell for row in cells for cell in row} <= set(text.split())
    assert all(len(one.rows) == len(cells) for one in found)
