"""Test edits of JSON text: the value is the wanted one, and everything else stays unchanged."""

import json
import random
from typing import Any

import pytest

from hookline.documents.edit import EditError
from hookline.documents.json_edit import appended, removed
from tests.every import every

GROUP = {"hooks": [{"type": "command", "command": "x"}]}


@pytest.mark.parametrize(
    ("text", "path", "expected"),
    [
        ("", ("a",), '{\n  "a": [\n    1\n  ]\n}\n'),
        ("{}\n", ("a",), '{\n  "a": [\n    1\n  ]\n}\n'),
        ('{"a": [0]}', ("a",), '{"a": [0, 1]}'),
        ('{\n    "b": 2\n}\n', ("a",), '{\n    "b": 2,\n    "a": [\n        1\n    ]\n}\n'),
        ('{\n\t"a": [\n\t\t0\n\t]\n}', ("a",), '{\n\t"a": [\n\t\t0,\n\t\t1\n\t]\n}'),
        ('{\r\n  "a": []\r\n}', ("a",), '{\r\n  "a": [\r\n    1\r\n  ]\r\n}'),
        ('{\n  // mine\n  "a": [\n    0\n  ]\n}', ("a",), '{\n  // mine\n  "a": [\n    0,\n    1\n  ]\n}'),
        ('{"h": {}}', ("h", "a"), '{"h": {\n  "a": [\n    1\n  ]\n}}'),
    ],
)  # fmt: skip
def test_a_value_is_appended_in_the_style_of_the_text(
    text: str, path: tuple[str, ...], expected: str
) -> None:
    assert appended(text, path, 1) == expected


@pytest.mark.parametrize(
    ("text", "path", "expected"),
    [
        ('{"a": [0, 1, 2]}', ("a", 1), '{"a": [0, 2]}'),
        ('{"a": [0, 1]}', ("a", 0), '{"a": [1]}'),
        ('{"a": [0]}', ("a", 0), '{"a": []}'),
        ('{\n  "a": 1,\n  "b": 2\n}', ("b",), '{\n  "a": 1\n}'),
        ('{\n  "a": 1,\n  "b": 2\n}', ("a",), '{\n  "b": 2\n}'),
    ],
)
def test_a_value_is_removed(text: str, path: tuple[str | int, ...], expected: str) -> None:
    assert removed(text, path) == expected


@pytest.mark.parametrize(
    ("text", "path", "said"),
    [
        ('{"a": 1}', ("a",), "a is not an array"),
        ('{"a": []}', ("a", "b"), "a is not an object"),
        ("[]", ("a",), "the file is not an object"),
        ('{"a" 1}', ("a",), "not valid JSON"),
        ('{"a": 1} x', ("a",), "not valid JSON"),
        ("[" * 300, ("a",), "nested too deeply"),
    ],
)
def test_what_cannot_be_changed_says_why(text: str, path: tuple[str, ...], said: str) -> None:
    with pytest.raises(EditError, match=said):
        appended(text, path, 1)


def _value(chance: random.Random, depth: int) -> Any:
    kind = chance.randrange(6 if depth else 3)
    if kind < 3:
        return chance.choice((1, "a b", 'q"\\', "ü", None, True, -1.5, "//x", ""))
    size = chance.randrange(4)
    if kind < 5:
        return {chance.choice("abcdef") + str(at): _value(chance, depth - 1) for at in range(size)}
    return [_value(chance, depth - 1) for _ in range(size)]


@every("seed", range(300))
def test_what_is_appended_and_removed_again_leaves_the_text_as_it_was(seed: int) -> None:
    chance = random.Random(seed)
    value = {"hooks": {"E": [_value(chance, 2) for _ in range(chance.randrange(3))]}, "z": _value(chance, 3)}
    styles: tuple[dict[str, Any], ...] = (
        {"indent": 2},
        {"indent": "\t"},
        {"indent": 4, "ensure_ascii": False},
        {},
    )
    for style in styles:
        text = json.dumps(value, **style) + chance.choice(("", "\n"))
        text = text.replace("\n", chance.choice(("\n", "\r\n")))
        for path in (("hooks", "E"), ("hooks", "F"), ("new", "one")):
            longer = appended(text, path, GROUP)
            wanted: Any = json.loads(text)
            wanted.setdefault(path[0], {}).setdefault(path[1], []).append(GROUP)
            assert json.loads(longer) == wanted
            here = len(wanted[path[0]][path[1]]) - 1
            was = json.loads(text).get(path[0], {}).get(path[1])
            gone = (*path, here) if was is not None else path if path[0] == "hooks" else path[:1]
            back = removed(longer, gone)
            assert json.loads(back) == json.loads(text)
            if was != []:
                assert back == text
