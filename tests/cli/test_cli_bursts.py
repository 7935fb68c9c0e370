"""`delay` also says what losses in bursts would change, where nobody said how packets are lost."""

import pytest

from tcpstream.cli.words import wait

KEY = "required_startup_delay_with_losses_in_bursts_s"
PATH = "delay --loss 0.05 --rtt 100ms --max-window 12 --live"


def test_another_wait_is_that_with_losses_in_bursts(run):
    line = f"{PATH} --rate 20pps"
    done = run(f"{line} --json").answer
    bursts = run(f"{line} --losses bursts --json").answer["required_startup_delay_s"]
    assert done[KEY] == bursts
    assert bursts > 1.5 * done["required_startup_delay_s"]
    assert f"takes the rest of its round along, wait {wait(bursts)}: see --losses bursts." in run(line).out


def test_another_verdict_is_said(run):
    line = f"{PATH} --rate 35pps"
    done = run(f"{line} --json")
    assert (done.status, done.answer[KEY]) == (0, None)
    assert "no wait is long enough: see --losses bursts." in run(line).out
    assert run(f"{line} --losses bursts").status == 3


@pytest.mark.parametrize("said", ["--losses independent", "--sender linux", "--tcp cubic", "--sender classic"])
def test_who_says_how_packets_are_lost_has_one_answer(run, said):
    done = run(f"{PATH} --rate 20pps {said} --json")
    assert done.answer["required_startup_delay_s"] > 0
    assert KEY not in done.answer


def test_much_the_same_is_not_said(run):
    line = "delay --loss 0.03 --rtt 100ms --max-window 12 --rate 4Mbps --duration 3s"
    first, second = (run(f"{line} {said} --json").answer for said in ("", "--losses bursts"))
    assert 0 < second["required_startup_delay_s"] < 1.5 * first["required_startup_delay_s"]
    assert KEY not in first


def test_what_is_not_found_is_said(run, monkeypatch):
    from tcpstream.answers.live import live
    from tcpstream.errors import AccuracyError

    def only_independent(path, video, **asked):
        if path.losses == "bursts":
            raise AccuracyError("too much")
        return live(path, video, **asked)

    monkeypatch.setattr("tcpstream.cli.live_streams.live", only_independent, raising=False)
    monkeypatch.setattr("tcpstream.answers.live.live", only_independent)
    done = run(f"{PATH} --rate 20pps")
    assert done.status == 0
    assert "the wait may be longer: ask with --losses bursts." in done.out


def test_one_core_finds_the_same(run, monkeypatch):
    line = f"{PATH} --rate 20pps --json"
    both = run(line).out
    monkeypatch.setattr("tcpstream.cli.other_losses.cores", lambda: 1)
    assert run(line).out == both


@pytest.mark.parametrize("cores", [1, 2])
def test_what_takes_too_long_is_not_waited_for(run, monkeypatch, cores):
    from tcpstream.cli import other_losses

    monkeypatch.setattr(other_losses, "cores", lambda: cores)
    monkeypatch.setattr(other_losses, "BESIDE", 1e-9)
    monkeypatch.setattr(other_losses, "LIMIT", 1e-9)
    done = run(f"{PATH} --rate 20pps")
    assert done.status == 0
    assert "the wait may be longer: ask with --losses bursts." in done.out
