"""Networks and senders: what is named, what is given, what contradicts; and what each TCP is."""

import copy
import dataclasses
import inspect
import itertools
import json
import os
import pickle
import subprocess
import sys
import textwrap
from pathlib import Path as FilePath

import pytest

import tcpstream
from tcpstream import InputError, Path
from tcpstream.path import PARAMETERS, Network
from tcpstream.sender import LINUX_WINDOW, SENDERS, Sender
from tcpstream.variants import LOSS_PROCESSES, VARIANTS, enough_cubic, enough_window

USUAL = {"loss": 0.02, "rtt": 0.1}

# Network and Sender -------------------------------------------------------------------------------


def test_a_path_is_the_values_of_its_two_records():
    path = Path(sender="classic", **USUAL, tcp="reno-sack", rto=0.5, bottleneck=100, buffer=9, backoff="paper")
    assert path.network == Network(**USUAL, losses="independent", bottleneck=100, buffer=9)
    assert path.sender == Sender(tcp="reno-sack", rto=0.5, backoff="paper")
    assert path.network.pipe == path.pipe == 10
    assert {one.name for one in dataclasses.fields(Path)} == {one.name for one in PARAMETERS} | {
        "rto_assumed",
        "network",
        "sender",
    }


@pytest.mark.parametrize("given", [{}, {"sender": "linux"}, {"rto": 0.5, "max_window": 9}, {"timeout_ratio": 2.3}])
def test_the_two_records_make_the_path_again(given):
    path = Path(**USUAL, **given)
    assert Path(**vars(path.network), sender=path.sender) == path == copy.copy(path) == pickle.loads(pickle.dumps(path))
    assert hash(copy.copy(path)) == hash(path)


def test_a_sender_over_another_network():
    """What was left open follows the network: timer and largest window."""
    sender = Path(**USUAL, tcp="cubic").sender
    assert Path(loss=0.001, rtt=0.3, sender=sender) == Path(loss=0.001, rtt=0.3, tcp="cubic")


def test_a_record_judges_its_own_values():
    for given, words in (
        ({"tcp": "tahoe"}, "tcp must be one of reno, reno-sack, cubic, bbr, got 'tahoe'"),
        ({"max_window": 0}, "largest window must be a whole number of at least 1 packets"),
        ({"initial_window": 2.5}, "initial window must be a whole number"),
        ({"tcp": "cubic", "rounds_per_increase": 2}, "rounds per increase must be 1, got 2"),
        ({"detection": "eyes"}, "detection must be one of duplicates, rack, got 'eyes'"),
    ):
        with pytest.raises(InputError, match=words):
            Sender(**given)
        with pytest.raises(InputError, match=words):
            Path(**USUAL, **given)
    for given, words in (
        ({"loss": 2}, "between 1e-09 and 0.999, got 2"),
        ({"losses": "rare"}, "losses must be one of independent, bursts, got 'rare'"),
        ({"buffer": 3}, "a buffer is that of a bottleneck"),
    ):
        with pytest.raises(InputError, match=words):
            Network(**(USUAL | given))
        with pytest.raises(InputError, match=words):
            Path(**(USUAL | given))


def test_the_signature_lists_every_parameter():
    names = set(inspect.signature(Path).parameters)
    assert names == {one.name for one in PARAMETERS} | {"sender"}
    with pytest.raises(TypeError, match="unexpected keyword argument 'lost'"):
        Path(**USUAL, lost=3)


# Named senders ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("losses", "tcp"), [(None, "reno"), ("bursts", "reno"), ("independent", "reno-sack")])
def test_classic(losses, tcp):
    path = Path(**USUAL, losses=losses, sender="classic")
    assert path == Path(**USUAL, losses=losses, sender=Sender(tcp=tcp)) == Path(**USUAL, tcp=tcp, sender="classic")
    assert path.sender == Sender(tcp=tcp)
    assert path.to_dict() == {
        "loss": 0.02,
        "losses": VARIANTS[tcp].losses,
        "rtt_s": 0.1,
        "rto_s": 0.3,
        "timeout_ratio": 3.0,
        "max_window": enough_window(0.02),
        "rounds_per_increase": 1,
        "backoff": "rfc6298",
        "halving": "floor",
        "tcp": tcp,
        "initial_window": None,
        "detection": "duplicates",
        "bottleneck_pps": None,
        "buffer": None,
        "rto_assumed": True,
        "sender": "classic",
    }


@pytest.mark.parametrize("given", [{}, {"losses": "bursts"}, {"losses": "independent"}, {"tcp": "reno-sack"}])
def test_linux_is_the_default(given):
    """What is given replaces what it has, and nothing else: a TCP alone leaves the first window and RACK-TLP."""
    path = Path(**USUAL, **given)
    assert path == Path(**USUAL, sender="linux", **given)
    assert (path.initial_window, path.detection, path.max_window) == (10, "rack", 2172)


@pytest.mark.parametrize(("losses", "tcp"), [(None, "cubic"), ("bursts", "reno"), ("independent", "cubic")])
def test_linux(losses, tcp):
    path = Path(**USUAL, losses=losses, sender="linux")
    assert (path.tcp, path.initial_window, path.detection, path.max_window) == (tcp, 10, "rack", 2172)
    assert (path.rto, path.rto_assumed, path.backoff, path.rounds_per_increase) == (0.3, True, "rfc6298", 1)
    chosen = {"tcp": tcp, "initial_window": 10, "detection": "rack", "max_window": 2172}
    assert path == Path(**USUAL, **chosen)


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ({}, "linux"),
        ({"losses": "bursts"}, "linux"),
        ({"rto": 0.7}, "linux"),
        ({"timeout_ratio": 4.5, "sender": "classic"}, "classic"),
        ({"tcp": "reno-sack", "sender": "classic"}, "classic"),
        ({"tcp": "reno-sack"}, None),
        ({"max_window": 60}, None),
        ({"sender": Sender(tcp="cubic", initial_window=10, detection="rack", max_window=2172)}, "linux"),
    ],
)
def test_a_sender_has_its_name_if_its_values_are_those_of_a_named_one(given, name):
    assert Path(**USUAL, **given).to_dict()["sender"] == name


def test_the_largest_window_of_linux():
    """Half of tcp_rmem's 6,291,456 bytes, in segments of 1500 bytes less 40 of headers and 12 of timestamps."""
    assert LINUX_WINDOW == 6_291_456 // 2 // (1500 - 40 - 12) == 2172


CHOICES = {
    "rto": 0.4,
    "timeout_ratio": 2.5,
    "max_window": 30,
    "backoff": "paper",
    "halving": "ceil",
    "initial_window": 4,
    "detection": "duplicates",
}


@pytest.mark.parametrize("name", CHOICES)
@pytest.mark.parametrize("sender", SENDERS)
def test_what_is_given_goes_before_the_sender(sender, name):
    path, plain = (Path(**USUAL, sender=sender, **given) for given in ({name: CHOICES[name]}, {}))
    follow = {"rto", "timeout_ratio"} if name in ("rto", "timeout_ratio") else {name}
    for one in PARAMETERS:
        expected = CHOICES[name] if one.name == name else getattr(plain, one.name)
        assert getattr(path, one.name) == pytest.approx(expected) if one.name not in follow - {name} else True
    assert Path(**USUAL, sender=path.sender) == path


def test_none_is_given_too():
    path = Path(**USUAL, sender="linux", initial_window=None, max_window=None)
    assert (path.initial_window, path.max_window) == (None, enough_cubic(0.02, 0.1))


def test_a_given_timer_replaces_both_of_the_sender():
    sender = Sender(timeout_ratio=3)
    assert Path(**USUAL, sender=sender, rto=0.5).timeout_ratio == 5
    assert Path(**USUAL, sender=sender, rto=None).rto_assumed


def test_the_initial_window_of_a_sender_is_at_most_its_largest():
    assert Path(**USUAL, sender="linux", max_window=6).initial_window == 6
    with pytest.raises(InputError, match="initial window must be at most the largest window of 6 packets, got 10"):
        Path(**USUAL, sender="linux", max_window=6, initial_window=10)


def test_linux_over_a_bottleneck():
    for tcp in ("reno-sack", "cubic"):
        path = Path(**USUAL, sender="linux", tcp=tcp, bottleneck=100, buffer=9)
        assert (path.max_window, path.initial_window, path.detection) == (19, 10, "rack")
    with pytest.raises(InputError, match="one of 10009 packets is more than the sender's, 2172 packets"):
        Path(**USUAL, sender="linux", tcp="reno-sack", bottleneck=100_000, buffer=9)
    with pytest.raises(InputError, match="a bottleneck is solved for tcp = reno-sack, cubic, bbr, got reno"):
        Path(**USUAL, sender="linux", losses="bursts", bottleneck=100, buffer=9)


COMBINATIONS = list(itertools.product([*SENDERS, Sender()], [None, *LOSS_PROCESSES], [None, *VARIANTS]))
BEHIND = {"bottleneck": 100, "buffer": 9}


@pytest.mark.parametrize(("sender", "losses", "tcp"), COMBINATIONS)
def test_every_combination(sender, losses, tcp):
    given = {} if tcp is None else {"tcp": tcp}
    meant = tcp or (sender.tcp if isinstance(sender, Sender) else None)
    if losses and meant and VARIANTS[meant].losses != losses:
        with pytest.raises(InputError, match=f"tcp = {meant} is for losses = .*, got losses = {losses}: leave out one"):
            Path(**USUAL, sender=sender, losses=losses, **given)
        return
    behind = {"loss": 0.05, **BEHIND} if tcp and VARIANTS[tcp].needs_bottleneck else {}
    path = Path(**USUAL | behind, sender=sender, losses=losses, **given)
    assert VARIANTS[path.tcp].losses == path.losses == path.network.losses
    assert path.tcp == tcp or tcp is None
    assert path.losses == losses or losses is None
    linux = sender == "linux"
    assert (path.initial_window, path.detection) == ((10, "rack") if linux else (None, "duplicates"))


@pytest.mark.parametrize("sender", [3, None, b"linux", ["linux"]])
def test_what_is_no_sender(sender):
    with pytest.raises(InputError, match=r"sender must be a Sender or the name of one \(classic, linux\), got "):
        Path(**USUAL, sender=sender)


def test_a_sender_that_is_not_known():
    with pytest.raises(InputError, match="sender must be one of classic, linux, got 'windows'"):
        Path(**USUAL, sender="windows")


def test_an_application_limited_sender_stays_what_it_is():
    path = Path(**USUAL, sender="linux").application_limited(50)
    assert (path.tcp, path.max_window, path.initial_window, path.detection) == ("cubic", 8, 8, "rack")


def test_a_throughput_of_a_sender():
    path = Path.from_throughput(40, rtt=0.1, sender="linux", losses="bursts", max_window=20)
    assert (path.tcp, path.initial_window, path.detection) == ("reno", 10, "rack")
    assert tcpstream.throughput(path) == pytest.approx(40, rel=1e-6)


# Records ------------------------------------------------------------------------------------------


def test_every_record():
    for name, one in VARIANTS.items():
        assert one.losses in LOSS_PROCESSES
        assert one.clock in ("rounds", "seconds")
        assert one.counts_events == (one.losses == "bursts")
        assert 0 < one.decrease <= 1
        given = {"rounds_per_increase": one.rounds_per_increase[-1]} | (BEHIND if one.needs_bottleneck else {})
        path = Path(sender="classic", loss=min(0.2, one.most_loss), rtt=0.1, tcp=name, **given)
        if not one.needs_bottleneck:
            assert path.max_window == one.largest_window(0.2, 0.1, path.rounds_per_increase)
        assert tcpstream.throughput(path) > 0


GENTLE = """
    import sys
    from dataclasses import replace

    from tcpstream.variants import VARIANTS, Variant

    VARIANTS["gentle"] = Variant(chain="gentle:gentle", losses="bursts", text="Keeps seven tenths", decrease=0.7)

    from tcpstream.cli import main

    for line in sys.argv[1:]:
        print("status", main(line.split()))
"""
CHAIN = """
    from dataclasses import replace

    import numpy as np

    from tcpstream.tcp import reno


    def gentle(path):
        chain, b = reno(path), path.rounds_per_increase
        kept = np.arange(path.max_window + 1) * 7 // 10
        return replace(chain, recover_to=np.where(chain.recover_to >= 0, (kept - 1) * b, -1))
"""
SWEEP = """
    kind = "live"
    [grid]
    sender = "classic"
    tcp = ["reno", "gentle"]
    loss = 0.1
    rtt = 0.1
    max_window = 8
    packet_rate = 10
    delay = 1
"""


def test_a_new_tcp_is_a_record_and_a_file(tmp_path):
    """Its name is a choice, its text is in the help, and sweeps take it."""
    for name, text in (("run.py", GENTLE), ("gentle.py", CHAIN), ("case.toml", SWEEP)):
        (tmp_path / name).write_text(textwrap.dedent(text))

    env = os.environ | {"PYTHONPATH": str(FilePath(tcpstream.__file__).parents[1])}

    path = "--loss 0.1 --rtt 100ms --max-window 8 --sender classic --json"
    lines = ["throughput --help", *(f"throughput {path} --tcp {tcp}" for tcp in ("gentle", "reno"))]
    command = [sys.executable, "run.py", *lines, "sweep case.toml --out case.csv"]
    done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=120)
    shown, *answers, _, end = done.stdout.split("status 0\n")
    assert (done.returncode, end) == (0, ""), done.stderr
    shown = " ".join(shown.split())
    assert "--tcp reno|reno-sack|cubic|bbr|gentle" in shown
    assert "Keeps seven tenths" in shown
    gentle, plain = (json.loads(answer)["throughput_pps"] for answer in answers)
    assert gentle > plain
    assert "gentle" in (tmp_path / "case.csv").read_text()
