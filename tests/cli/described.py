"""Answers beside the JSON Schema of their command: every key of theirs has to be in it."""

from __future__ import annotations

import copy
from functools import cache

from jsonschema import Draft202012Validator

from tcpstream.cli.schema import of


def closed(schema):
    """Return a schema that refuses keys that it does not describe.

    Definitions that others are made from (`allOf`, `anyOf`) stay open: what closes them is the object that has them.
    """
    schema = copy.deepcopy(schema)
    definitions = schema.get("$defs", {})
    open_ones = {
        one["$ref"].rpartition("/")[2]
        for part in _parts(schema)
        for key in ("allOf", "anyOf")
        for one in part.get(key, [])
        if "$ref" in one and "properties" in part | definitions[one["$ref"].rpartition("/")[2]]
    }
    kept = [definitions[name] for name in open_ones] + [
        one for part in _parts(schema) for one in part.get("anyOf", []) if "type" not in one
    ]
    for part in _parts(schema):
        if "properties" in part and not any(part is one for one in kept):
            part["unevaluatedProperties"] = False
    return schema


def _parts(schema):
    """Yield every object of a schema that is a schema itself."""
    yield schema
    for key in ("properties", "$defs"):
        for one in schema.get(key, {}).values():
            yield from _parts(one)
    for key in ("items", "additionalProperties"):
        if isinstance(schema.get(key), dict):
            yield from _parts(schema[key])
    for key in ("allOf", "anyOf"):
        for one in schema.get(key, []):
            yield from _parts(one)


@cache
def validator(command):
    """Return what refuses an answer of a command that its schema does not describe."""
    return Draft202012Validator(closed(of(command)))


def problems(command, answer):
    """Return what is wrong with an answer, a line each."""
    return [f"{error.json_path}: {error.message[:300]}" for error in validator(command).iter_errors(answer)]
