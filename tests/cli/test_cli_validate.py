"""``tcpstream validate``: the record, and what is refused."""

import json


def test_the_record(run):
    found = json.loads(run("validate --recorded --json").out)
    assert len(found["settings"]) == 10
    assert found["shares"]["events"]["points"] > 50
    assert run("validate --recorded").out.count("live ") == 5


def test_record_and_runs_exclude_each_other(run):
    refused = run("validate --recorded --quick")
    assert refused.status == 2
    assert "--recorded" in refused.err
    assert len(refused.err.splitlines()) == 1
