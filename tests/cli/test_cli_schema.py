"""The JSON Schemas: every command has one, it is valid, and the answers of all tests beside this one fit it."""

import json

import pytest
from described import closed, problems, validator
from jsonschema import Draft202012Validator

from tcpstream.answers.answer import SCHEMA
from tcpstream.cli.app import group
from tcpstream.cli.schema import described, of

PATH = "--loss 0.02 --rtt 100ms --rto 300ms --sender classic"
LINES = [
    f"throughput {PATH}",
    "share --bottleneck 8Mbps --buffer 30 --rtt 50ms --flows 4 --tcp reno-sack",
    f"stored {PATH} --rate 40pps --duration 8s --delay 1,2 --per-round",
    f"live {PATH} --rate 10pps --delay 1",
    f"delay {PATH} --rate 40pps --duration 8s",
    f"play {PATH} --rate 40pps --duration 8s --start 1s",
    f"transfer {PATH} --size 20kB",
    f"rate {PATH} --duration 8 --delay 2",
    "estimate {examples}/linux-reno.pcap",
    "estimate {examples}/linux-reno-iperf3.json",
    "fit {examples}/mobile.csv --rtt 50ms --sender linux --tcp reno-sack --regimes 2",
    "simulate --rtt 100ms --loss 0.02 --rate 40pps --duration 8s --start-buffer 1s --delay 1 --runs 2",
    "validate --recorded",
    "claims --paper zink --recorded",
    "doctor",
]


@pytest.mark.parametrize("command", described())
def test_it_is_a_schema(run, command):
    done = run(f"schema {command}")
    assert (done.status, done.err) == (0, "")
    schema = json.loads(done.out)
    Draft202012Validator.check_schema(schema)
    assert schema == of(command)
    assert schema["title"] == f"tcpstream {command} --json"
    assert schema["required"] == ["schema", "version", "parameters", "warnings"]


def test_every_command_has_one():
    assert set(described()) == set(group.commands) - {"schema"}


@pytest.mark.parametrize("command", described())
def test_everything_is_described(command):
    """Each key says what it is, itself or by what it refers to."""

    def silent(part, name):
        for key, one in part.get("properties", {}).items():
            if "description" not in one and "$ref" not in one:
                yield f"{name}.{key}"
            yield from silent(one, f"{name}.{key}")
        for one in part.get("$defs", {}).values():
            yield from silent(one, name)

    assert list(silent(of(command), command)) == []


@pytest.mark.parametrize("line", LINES, ids=lambda line: line.split()[0])
def test_answers_fit(run, capture, line):
    """As `run` checks of every answer."""
    answer = run(f"{line.format(examples=capture.parent)} --json").answer
    assert answer["schema"] == SCHEMA
    assert Draft202012Validator(of(line.split()[0])).is_valid(answer)


def test_an_answer_that_does_not_fit_is_seen(run):
    answer = run(f"delay {PATH} --rate 40pps --duration 8s --json").answer
    for change in (
        {"required_startup_delay_s": "2 s"},
        {"another_key": 1},
        {"parameters": answer["parameters"] | {"another_key": 1}},
        {"parameters": answer["parameters"] | {"loss": 2}},
    ):
        assert problems("delay", answer | change)
    for name in ("schema", "parameters", "required_startup_delay_s"):
        assert problems("delay", {key: value for key, value in answer.items() if key != name})


def test_new_keys_do_not_break_what_reads_the_published_schema():
    answer = {"schema": 1, "version": "1", "parameters": {}, "warnings": [], "files": {}, "new": 1}
    assert Draft202012Validator(of("figure")).is_valid(answer)
    assert not validator("figure").is_valid(answer)


def test_closing_leaves_the_schema_itself_alone():
    schema = of("delay")
    assert "unevaluatedProperties" in json.dumps(closed(schema))
    assert "unevaluatedProperties" not in json.dumps(schema)


def test_a_command_without_one(run):
    done = run("schema replay")
    assert done.status == 2
    assert done.err.startswith("tcpstream: error: command must be one of claims, delay, ")
