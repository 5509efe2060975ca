"""Arguments against the schemas of servers."""

from typing import Any

import pytest

from hookline.agent.mcp.schema import arguments_problem
from tests.every import every

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "text": {"type": "string"},
        "count": {"type": "integer"},
        "rate": {"type": ["number", "null"]},
        "deep": {"type": "object", "properties": {"on": {"type": "boolean"}}, "required": ["on"]},
        "many": {"type": "array", "items": {"type": "string"}},
        "mode": {"enum": ["a", "b"]},
        "either": {"anyOf": [{"type": "string"}, {"type": "integer"}]},
    },
    "required": ["text"],
    "additionalProperties": False,
}


@pytest.mark.parametrize(
    "given",
    [
        {"text": "x"},
        {"text": "x", "count": 3, "rate": None, "deep": {"on": True, "more": 1}, "many": [], "mode": "a"},
        {"text": "x", "count": 3.0, "rate": 1, "either": 4},
    ],
)
def test_what_fits_is_let_through(given: dict[str, Any]):
    assert arguments_problem(SCHEMA, given) is None


@every(
    ("given", "says"),
    [
        ({}, "text is missing."),
        ({"text": None}, "text: expected string, got null."),
        ({"text": "x", "count": "3"}, 'count: expected integer, got "3".'),
        ({"text": "x", "count": True}, "count: expected integer, got true."),
        ({"text": "x", "rate": "x"}, 'rate: expected number or null, got "x".'),
        ({"text": "x", "deep": {}}, "deep.on is missing."),
        ({"text": "x", "many": ["a", 1]}, "many[1]: expected string, got 1."),
        ({"text": "x", "mode": "c"}, '"c" is none of "a", "b"'),
        ({"text": "x", "either": []}, "either: expected string, got []."),
        ({"text": "x", "txet": 1}, "unknown argument 'txet' (did you mean 'text'?)."),
    ],
)
def test_what_does_not_fit_is_named(given: dict[str, Any], says: str):
    assert says in (arguments_problem(SCHEMA, given) or "")


@pytest.mark.parametrize(
    "schema",
    [
        {},
        {"type": 3},
        {"type": "object", "properties": []},
        {"required": "text"},
        {"$ref": "#/x"},
        {"anyOf": []},
    ],
)
def test_a_schema_that_makes_no_sense_lets_everything_through(schema: dict[str, Any]):
    assert arguments_problem(schema, {"anything": [1, {"at": "all"}]}) is None


def test_a_schema_that_goes_on_for_ever_is_followed_so_far_and_no_further():
    schema: dict[str, Any] = {"type": "object"}
    value: dict[str, Any] = {}
    for _ in range(5000):
        schema = {"type": "object", "properties": {"a": schema}}
        value = {"a": value}
    assert arguments_problem(schema, value) is None


def test_only_a_few_mistakes_are_told():
    given = {f"wrong{number}": 1 for number in range(100)}
    assert (arguments_problem(SCHEMA, given) or "").count(";") == 4
