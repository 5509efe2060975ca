"""Which programs of jq are followed, and what they take of their input."""

import json

from hookline.cli.commands.convert.proof.jq import fields_of, written_object
from hookline.cli.commands.convert.proof.values import SOME_VALUE
from tests.every import every

COMMAND = ("tool_input", "command")


@every(
    ("program", "fields"),
    [
        (".tool_input.command", {COMMAND}),
        ('.tool_input.command // ""', {COMMAND}),
        (".tool_input.command? // .prompt // empty", {COMMAND, ("prompt",)}),
        ('.tool_input.command | test("rm -rf|\\\\(a\\\\)") | not', {COMMAND}),
        ('.a == "b" and .c', {("a",), ("c",)}),
    ],
)
def test_fields_that_are_taken(program: str, fields: set[tuple[str, ...]]) -> None:
    assert fields_of(program) == fields


@every(
    "program",
    [
        ".", "..", "keys", "tostring", ".a, tostring", '.a, ("b" | length), tostring', ".a | .b", "(.a | .b)",
        '.["a"]', ".[]", ".a[0]", '"\\(.)"', ".a | env", "$ENV.a", "input", ".a as $x | $x", '.a | "\\(.)"', "",
        "to_entries", ".a | @base64", "select(.a)", ". as {a: $x} | $x", "reduce .a as $x (0; .)",
    ],
)  # fmt: skip
def test_programs_that_may_take_more(program: str) -> None:
    assert fields_of(program) is None


@every(
    ("program", "expected"),
    [
        ('{decision: "block", "reason": $r}', {"decision": "block", "reason": SOME_VALUE}),
        ("{a: {b: true}, c: {}}", {"a": {"b": True}, "c": {}}),
        ("{a: .b}", None),
        ("{(.a): 1}", None),
        ("{a: $unknown}", None),
        ('{a: "x"} | .a', None),
        ('"text"', None),
        ('{a: "x" + "y"}', None),
        ('{a: "x"', None),
    ],
)
def test_objects_that_are_written_out(program: str, expected: object) -> None:
    found = written_object(program, {"r": SOME_VALUE})
    assert (None if found is None else json.loads(found)) == expected
