"""A guard whose keys stand twice closes, whatever the second of them says."""

import json
from typing import Any

import pytest

from hookline.documents.document import Format, read_document
from hookline.events import EVENTS
from hookline.extending import Hook, LoadedHooks
from tests.dialects.native.handlers import read_file
from tests.every import every

GUARD = '{"hooks": [{"command": "exit 2"}]}'


def read(text: str, kind: Format = "json") -> LoadedHooks:
    return read_file(read_document(text, kind, f"hooks.{kind}"))


def closed(hook: Hook, key: str) -> bool:
    """It runs on everything, and that it cannot be read blocks."""
    everything = hook.matcher is None and hook.condition is None
    always = hook.mode == "enforce" and not hook.once and hook.waiting == "wait"
    unread = (hook.broken or "").endswith(f"the key {key!r} appears twice") and hook.identity is None
    return everything and always and unread and hook.reaction("not_started") == "block"


@every("kind", ["json", "yaml"])
@every(
    ("groups", "key"),
    [
        ('[{"hooks": [{"command": "x", "mode": "enforce", "mode": "off"}]}]', "mode"),
        ('[{"hooks": [{"command": "x", "if": "Bash(rm *)", "if": "Edit"}]}]', "if"),
        ('[{"hooks": [{"command": "x", "command": "y", "mode": "off"}]}]', "command"),
        ('[{"hooks": [{"command": "x", "command": "y", "if": "Edit", "once": true}]}]', "command"),
        ('[{"hooks": [{"command": "x", "on_failure": "closed", "on_failure": "open"}]}]', "on_failure"),
        ('[{"hooks": [{"command": "x", "on_failure": {"not_started": "closed", "not_started": "open"}}]}]',
         "not_started"),
        ('[{"hooks": [{"command": "x", "async": false, "async": true}]}]', "async"),
        ('[{"hooks": [{"command": "x", "once": false, "once": true}]}]', "once"),
        ('[{"hooks": [{"command": "x", "condition": {"type": "mode", "mode": "plan", "mode": "x"}}]}]', "mode"),
        ('[{"matcher": "Bash", "matcher": "Edit", "hooks": [{"command": "x"}]}]', "matcher"),
        ('[{"matcher": "Bash", "matcher": "(a", "hooks": [{"command": "x"}]}]', "matcher"),
        ('[{"matcher": "Bash", "hooks": [{"command": "x"}], "hooks": []}]', "hooks"),
        ('[{"hooks": [{"command": "x"}], "hooks": [{"command": "y", "on_failure": "open"}]}]', "hooks"),
        (f'[{GUARD}], "PreToolUse": []', "PreToolUse"),
        (f'[{GUARD}], "PreToolUse": [], "PreToolUse": []', "PreToolUse"),
    ],
)  # fmt: skip
def test_a_key_that_stands_twice_does_not_switch_a_guard_off(kind: Format, groups: str, key: str):
    # Every JSON text of this kind is YAML too.
    reading = read(f'{{"hooks": {{"PreToolUse": {groups}}}}}', kind)
    assert {each.code for each in reading.diagnostics if each.severity == "error"} == {"duplicate-key"}
    assert [closed(each, key) for each in reading.hooks] == [True]


def test_a_key_that_stands_twice_elsewhere_drops_the_hook():
    text = '{"hooks": {"Stop": [{"hooks": [{"command": "x"}], "hooks": [{"command": "y"}]}]}}'
    assert read(text).hooks == ()


def test_an_entry_that_stands_twice_leaves_the_matcher_of_its_group():
    entry = '{"command": "x", "mode": "off", "mode": "off"}'
    reading = read(f'{{"hooks": {{"PreToolUse": [{{"matcher": "Bash", "hooks": [{entry}]}}]}}}}')
    (found,) = reading.hooks
    assert found.matcher is not None
    assert not found.matcher.matches("Edit")


@pytest.mark.parametrize("kind", ["json", "yaml"])
@pytest.mark.parametrize("second", ["{}", "[]", '{"Stop": []}'])
def test_hooks_that_stand_twice_close_every_guard(kind: Format, second: str):
    reading = read(f'{{"hooks": {{"PreToolUse": [{GUARD}]}}, "hooks": {second}}}', kind)
    guards = [row.name for row in EVENTS.values() if row.guard]
    assert len(guards) > 1
    assert [each.event.name for each in reading.hooks] == guards
    assert all(closed(each, "hooks") for each in reading.hooks)


def test_hooks_that_stand_twice_are_still_read_where_they_can_be():
    reading = read(f'{{"hooks": {{}}, "hooks": {{"PreToolUse": [{GUARD}]}}}}')
    assert [each.name for each in reading.hooks if each.broken is None] == ["exit"]


def test_turning_all_off_needs_to_be_said_once():
    text = f'{{"disableAllHooks": false, "disableAllHooks": true, "hooks": {{"PreToolUse": [{GUARD}]}}}}'
    assert len(read(text).hooks) == 1


@pytest.mark.parametrize("fields", [{"mode": "off"}, {"if": "Edit"}, {"once": True}])
def test_a_broken_entry_is_not_switched_off_by_its_own_fields(fields: dict[str, Any]):
    entry = {"command": "x", "timeout": 0, **fields}
    (found,) = read(json.dumps({"hooks": {"PreToolUse": [{"hooks": [entry]}]}})).hooks
    assert found.broken is not None
    assert (found.mode, found.condition, found.once) == ("enforce", None, False)
