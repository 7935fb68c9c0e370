"""``--sender`` and ``--losses``, and the columns of sweeps with these names."""

from pathlib import Path as FilePath

import pytest

import tcpstream

PATH = "throughput --loss 0.05 --rtt 100ms"


@pytest.mark.parametrize(
    ("options", "given"),
    [
        ("", {}),
        ("--sender classic", {"sender": "classic"}),
        ("--losses bursts", {"losses": "bursts"}),
        ("--losses independent", {}),
        ("--tcp reno-sack", {"tcp": "reno-sack"}),
        ("--sender linux", {"sender": "linux"}),
        ("--sender linux --losses independent", {"sender": "linux"}),
        ("--sender linux --losses bursts --max-window 40", {"sender": "linux", "losses": "bursts", "max_window": 40}),
        ("--sender linux --tcp reno-sack", {"sender": "linux", "tcp": "reno-sack"}),
        ("--sender linux --initial-window 3", {"sender": "linux", "initial_window": 3}),
    ],
)
def test_the_path_of_the_library(run, options, given):
    path = tcpstream.Path(loss=0.05, rtt=0.1, **given)
    assert run(f"{PATH} {options} --json").answer["parameters"] == path.to_dict() | {"packet_size_bytes": 1500}


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ("--sender windows", "sender must be one of classic, linux, got 'windows'"),
        ("--losses rare", "losses must be one of independent, bursts, got 'rare'"),
        (
            "--tcp reno --losses independent",
            "tcp = reno is for losses = bursts, got losses = independent: leave out one, or take tcp = reno-sack, "
            "cubic, bbr",
        ),
        ("--sender linux --sender linux", "--sender is given 2 times: give it once"),
    ],
)
def test_contradictions_are_one_line(run, options, words):
    done = run(f"{PATH} {options}")
    assert (done.status, done.err) == (2, f"tcpstream: error: {words}\n")


CAPTURE = FilePath(__file__).parents[2] / "examples" / "linux-reno.pcap"


@pytest.mark.parametrize(
    ("options", "given"),
    [
        ("--sender classic", {}),
        ("--sender linux", {"max_window": 2172}),
        ("--losses bursts", {"tcp": "reno"}),
        ("--losses independent", {}),
        ("--sender linux --losses bursts", {"tcp": "reno", "max_window": 2172}),
    ],
)
def test_beside_a_capture_the_sender_is_what_the_capture_does_not_show(run, options, given):
    done = run(f"throughput --capture {CAPTURE} {options} --json")
    path = tcpstream.estimate(CAPTURE).path(**given)
    assert {key: done.answer["parameters"][key] for key in path.to_dict()} == path.to_dict()


def test_losses_that_are_given_beside_a_capture_are_told(run):
    out = run(f"throughput --capture {CAPTURE} --losses bursts").out
    assert "Chain reno: for the losses that are given. --tcp chooses another.\n" in out


GRID = """
kind = "live"
[grid]
sender = {sender}
losses = ["bursts", "independent"]
loss = 0.1
rtt = 0.1
max_window = 8
packet_rate = 10
delay = 1
"""


def test_sweeps_have_the_columns(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    FilePath("case.toml").write_text(GRID.format(sender='["classic", "linux"]'))
    columns = run("sweep case.toml --json").answer["columns"]
    for sender, losses, throughput in zip(columns["sender"], columns["losses"], columns["throughput_pps"]):
        path = tcpstream.Path(loss=0.1, rtt=0.1, sender=sender, losses=losses, max_window=8)
        assert throughput == pytest.approx(tcpstream.throughput(path), rel=1e-12)
    FilePath("case.toml").write_text(GRID.format(sender=3))
    assert "sender must be text, got 3" in run("sweep case.toml").err


def test_bbr(run):
    path = "--rtt 51.5ms --tcp bbr --sender linux"
    behind = f"{path} --bottleneck 8Mbps --buffer 33"
    assert "throughput" in run(f"throughput --loss 0.01 {behind}").out
    for line, message in (
        (f"delay --loss 0.01 {behind} --rate 6Mbps --live", "tcp = bbr has a throughput and no chain"),
        (f"throughput --loss 0.2 {behind}", "tcp = bbr is solved for loss rates up to 0.1, got 0.2"),
        (f"throughput --loss 0.01 {path}", "tcp = bbr is solved behind a bottleneck"),
    ):
        refused = run(line)
        assert refused.status == 2
        assert refused.err.startswith(f"tcpstream: error: {message}")


def test_what_a_ping_leaves_out_of_the_round_trip(run):
    """Two packets of 1500 bytes take 3 ms at 8 Mbit/s, and less than a hundredth of 50 ms at 80."""
    line = "throughput --loss 0.002 --rtt 50ms --buffer 33 --bottleneck"
    assert "0.05 s of two packets: a ping shows 0.003 s less" in run(f"{line} 8Mbps").out
    assert "ping" not in run(f"{line} 80Mbps").out
