"""Test edits of TOML and YAML texts: the value is the wanted one, and everything else stays unchanged."""

import json
import random
from typing import Any

import pytest
import yaml

from hookline.documents.edit import EditError, appended, read_value, removed, renamed, with_table
from hookline.model.diagnostics import Path

ENTRY = {"event": "e", "command": 'a "b" # c', "timeout": 3, "closed": False}
STATE: Path = ("hooks", "state")

TOML = """\
# mine
model = "x"   # why

[hooks.state."/a:1"]
trusted = "1"
# after it

[projects."/p"]  # here
level = '''
[hooks.state."/a:1"]
'''
"""


def test_a_table_comes_and_goes() -> None:
    longer = with_table(TOML, "toml", (*STATE, "/a:2"), {"trusted": "2"})
    assert longer == TOML + '\n[hooks.state."/a:2"]\ntrusted = "2"\n'
    assert removed(longer, "toml", (*STATE, "/a:2")) == TOML
    assert removed(longer, "toml", (*STATE, "/a:1")) == longer.replace(
        '\n[hooks.state."/a:1"]\ntrusted = "1"\n', "", 1
    )


def test_a_table_gets_another_key() -> None:
    assert renamed(TOML, "toml", (*STATE, "/a:1"), "/b:1") == TOML.replace('"/a:1"', '"/b:1"', 1)
    pair = '[hooks.state]\n"/a:1".trusted = "1"\n"/a:1".on = true # x\n'
    assert renamed(pair, "toml", (*STATE, "/a:1"), "/b") == pair.replace("/a:1", "/b")


def test_the_first_table_leaves_no_blank_line() -> None:
    text = with_table(with_table("", "toml", ("a",), {"x": 1}), "toml", ("b",), {"x": 1})
    assert removed(text, "toml", ("a",)) == "[b]\nx = 1\n"


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize(
    "last", ["", "x = 1", "[[hooks]]\nevent = 'a'\ncommand = '''\n[[hooks]]\n'''  # why\n"]
)
def test_a_table_of_a_list_comes_and_goes(last: str, end: str) -> None:
    text = last.replace("\n", end)
    longer = appended(text, "toml", ("hooks",), ENTRY)
    found: Any = read_value(longer, "toml")["hooks"]
    assert found[-1] == ENTRY
    back = removed(longer, "toml", ("hooks", len(found) - 1))
    assert back in (text, text + "\n")


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("hooks = {state = {a = {t = 1}}}", (*STATE, "a")),
        ("[hooks]\nstate = {a = {t = 1}, b = {t = 1}}", (*STATE, "a")),
    ],
)
def test_what_is_written_inside_a_value_is_not_touched(text: str, path: Path) -> None:
    with pytest.raises(EditError, match="cannot be changed in place"):
        renamed(text, "toml", path, "c")
    with pytest.raises(EditError, match="cannot be changed in place"):
        removed(text, "toml", path)


@pytest.mark.parametrize(
    ("form", "text", "path", "said"),
    [
        ("toml", "hooks = 1", ("hooks",), "hooks is not a list"),
        ("toml", "hooks = []", ("hooks",), "cannot be changed|not valid|Cannot"),
        ("toml", "a = ", ("hooks",), "not valid TOML"),
        ("yaml", "a: 1", ("a", "b"), "a is not a table"),
        ("yaml", "- 1", ("a",), "the file is not a table"),
        ("yaml", "a: &x\n  h: [1]\nb: *x\n", ("b", "h"), "cannot be changed in place"),
        ("yaml", "a: {", ("a",), "not valid YAML"),
    ],
)
def test_what_cannot_be_changed_says_why(form: Any, text: str, path: Path, said: str) -> None:
    with pytest.raises(EditError, match=said):
        appended(text, form, path, ENTRY)


YAML = """\
# mine
agents:
  root:
    model: x   # why
    hooks:
      stop:
      - type: command   # theirs
        command: |
          mine

          # no comment
    # after
  other: {model: y, hooks: {stop: [{command: m}]}} # one line
  third:
    hooks:

last: "x"
"""


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("event", ["stop", "start"])
@pytest.mark.parametrize("agent", ["root", "other"])
def test_items_come_and_go(agent: str, event: str, end: str) -> None:
    text, path = YAML.replace("\n", end), ("agents", agent, "hooks", event)
    longer = appended(text, "yaml", path, ENTRY)
    found: Any = yaml.safe_load(longer)["agents"][agent]["hooks"][event]
    assert found[-1] == ENTRY
    back = removed(longer, "yaml", (*path, len(found) - 1))
    assert (back if event == "stop" else removed(back, "yaml", path)) == text


def test_what_is_empty_is_filled() -> None:
    longer = appended(YAML, "yaml", ("agents", "third", "hooks", "stop"), ENTRY)
    assert "  third:\n    hooks:\n      stop:\n        - event:" in longer
    assert longer.endswith('\n\nlast: "x"\n')


def _value(chance: random.Random, depth: int) -> Any:
    kind = chance.randrange(6 if depth else 3)
    if kind < 3:
        return chance.choice((1, "a b", 'q"\\', "ü", None, True, "# x", "", "a: b", "- x"))
    size = chance.randrange(4)
    if kind < 5:
        return {chance.choice("abcdef") + str(at): _value(chance, depth - 1) for at in range(size)}
    return [_value(chance, depth - 1) for _ in range(size)]


@pytest.mark.parametrize("seed", range(150))
def test_any_yaml_is_what_it_was_when_the_item_is_gone(seed: int) -> None:
    chance = random.Random(seed)
    some = [_value(chance, 2) for _ in range(1 + chance.randrange(3))]
    value = {"a": _value(chance, 3), "hooks": {"E": some, "z": _value(chance, 2)}, "b": 1}
    for flow in (False, None, True):
        text = yaml.safe_dump(value, default_flow_style=flow, sort_keys=False, allow_unicode=True)
        for event in ("E", "F"):
            longer = appended(text, "yaml", ("hooks", event), ENTRY)
            there: Any = yaml.safe_load(longer)["hooks"][event]
            back = removed(longer, "yaml", ("hooks", event, len(there) - 1))
            back = removed(back, "yaml", ("hooks", event)) if event == "F" else back
            assert back == text, json.dumps(value)
