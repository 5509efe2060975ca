"""Test which hooks Codex runs: those whose hash the user has trusted, at their position."""

import json
from typing import Any

import pytest

from hookline.dialects.codex.trust import event_key, state_key, trusted_hash
from tests.dialects.codex.hooks import CONFIG, FILE, PROJECT, config_toml, entry, group, read, states, text_of
from tests.dialects.hooked_agent import lines_and_codes

GUARD, LOG = entry("guard.sh"), entry("log.sh", timeout=5)
HOOKS = {"PreToolUse": [group(GUARD, matcher="Bash"), group(LOG)]}


def found(
    trusted: dict[str, Any], hooks: Any = None, top: str = "", scope: Any = "user", file: str = FILE
) -> tuple[list[str], list[str]]:
    """Return the hooks that run, and the findings about the others."""
    reading = read(
        (file, scope, text_of(HOOKS if hooks is None else hooks)), (CONFIG, "user", config_toml(trusted, top))
    )
    return [hook.name for hook in reading.hooks], [one.code for one in reading.diagnostics]


def test_the_hash_is_codexs_own() -> None:
    made = trusted_hash("PreToolUse", None, {"type": "command", "command": "/x/hook.sh"})
    assert made == "sha256:74aa5739dc37fc588fa0c4e5e8f10e5d798b29f4ae611a9f8651f3b123394f79"
    assert made == trusted_hash(
        "PreToolUse", None, entry("/x/hook.sh", timeout=600, commandWindows="x", once=True)
    )
    assert (event_key("PreToolUse"), event_key("Stop")) == ("pre_tool_use", "stop")
    assert state_key("/f", "SubagentStop", 1, 2) == "/f:subagent_stop:1:2"


@pytest.mark.parametrize(
    ("event", "matcher", "changed"),
    [
        ("PreToolUse", "Bash", {}),
        ("PreToolUse", None, {"timeout": 5}),
        ("PreToolUse", None, {"statusMessage": "x"}),
        ("PreToolUse", None, {"async": True}),
        ("PreToolUse", None, {"additionalContextLimit": 7}),
        ("PostToolUse", None, {}),
    ],
)
def test_what_an_entry_means_changes_its_hash(
    event: str, matcher: str | None, changed: dict[str, Any]
) -> None:
    assert trusted_hash(event, matcher, entry("x", **changed)) != trusted_hash("PreToolUse", None, entry("x"))


def test_what_codex_does_not_read_does_not() -> None:
    plain = trusted_hash("Stop", None, entry("x"))
    assert plain == trusted_hash("Stop", "ignored", entry("x", additionalContextLimit=7))
    assert trusted_hash("PreToolUse", None, entry("x", timeout=0)) == trusted_hash(
        "PreToolUse", None, entry("x", timeout=1)
    )
    assert trusted_hash("SessionEnd", None, entry("x", timeout=9)) == trusted_hash(
        "SessionEnd", None, entry("x", timeout=3)
    )


def test_trusted_hooks_run_and_others_are_named() -> None:
    trusted = states(FILE, HOOKS)
    assert found(trusted) == (["guard.sh", "log.sh"], [])
    first, second = trusted
    assert found({first: trusted[first]}) == (["guard.sh"], ["not-trusted"])
    assert found({}) == ([], ["not-trusted", "not-trusted"])
    changed = {"PreToolUse": [group(entry("guard.sh --off"), matcher="Bash"), group(LOG)]}
    assert found(trusted, changed) == (["log.sh"], ["changed-since-trusted"])
    assert found({**trusted, second: {**trusted[second], "enabled": False}}) == (["guard.sh"], ["disabled"])


def test_an_entry_in_front_moves_all_that_follow() -> None:
    moved = {"PreToolUse": [group(entry("new.sh")), *HOOKS["PreToolUse"]]}
    assert found(states(FILE, HOOKS), moved) == ([], ["changed-since-trusted", "moved-entry", "moved-entry"])
    reading = read((FILE, "user", text_of(moved)), (CONFIG, "user", config_toml(states(FILE, HOOKS))))
    assert "it was trusted as 0:0 of its event, and is 1:0 now" in str(reading.diagnostics[1])


def test_trust_in_an_entry_that_is_gone_is_named() -> None:
    fewer = {"PreToolUse": HOOKS["PreToolUse"][:1]}
    assert found(states(FILE, HOOKS), fewer) == (["guard.sh"], ["stale-trust"])
    # Unread files belong to others.
    assert found({**states(FILE, HOOKS), **states("/other/.codex/hooks.json", HOOKS)})[1] == []


def test_a_project_cannot_trust_itself() -> None:
    own = "/p/.codex/config.toml"
    reading = read(
        (PROJECT, "project", text_of(HOOKS)), (own, "project", config_toml(states(PROJECT, HOOKS)))
    )
    assert reading.hooks == ()
    assert sorted(one.code for one in reading.diagnostics) == [
        "not-trusted", "not-trusted", "unlisted-project", "unread-state",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("level", "runs", "said"),
    [("trusted", 2, []), ("untrusted", 0, ["disabled"]), (None, 2, ["unlisted-project"])],
)
def test_an_untrusted_project_has_no_hooks(level: str | None, runs: int, said: list[str]) -> None:
    top = "" if level is None else f'[projects."/p"]\ntrust_level = "{level}"\n'
    names, codes = found(states(PROJECT, HOOKS), top=top, scope="project", file=PROJECT)
    assert (len(names), codes) == (runs, said)


def test_managed_and_named_hooks_need_no_trust() -> None:
    for scope in ("managed", "flag"):
        assert found({}, scope=scope) == (["guard.sh", "log.sh"], [])


def test_hooks_can_be_switched_off_as_a_whole() -> None:
    off = "[features]\nhooks = false\n"
    assert found(states(FILE, HOOKS), top=off) == ([], ["disabled"])
    managed = ("/etc/codex/requirements.toml", "managed", "allow_managed_hooks_only = true\n")
    reading = read(
        managed, (FILE, "user", text_of(HOOKS)), (CONFIG, "user", config_toml(states(FILE, HOOKS)))
    )
    assert (reading.hooks, [one.code for one in reading.diagnostics]) == ((), ["disabled"])


def test_hooks_in_toml_have_the_same_hash() -> None:
    text = '[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = "command"\ncommand = "log.sh"\n'
    trusted = states(CONFIG, {"Stop": [group(entry("log.sh"))]})
    reading = read((CONFIG, "user", text + config_toml(trusted)))
    assert ([hook.name for hook in reading.hooks], reading.diagnostics) == (["log.sh"], ())


def test_odd_states_are_no_trust_and_break_nothing() -> None:
    odd = {"": {"trusted_hash": "x"}, "a": {"trusted_hash": "x"}, f"{FILE}:stop:x:y": {"trusted_hash": "x"},
           f"{FILE}:pre_tool_use:0:0": {"trusted_hash": 7}}  # fmt: skip
    assert found(odd)[0] == []
    reading = read((FILE, "user", text_of(HOOKS)), (CONFIG, "user", '[hooks]\nstate = "none"\n'))
    assert reading.hooks == ()
    assert lines_and_codes(reading.diagnostics)[0] == (7, "not-trusted")
    assert json.loads(text_of(HOOKS))["hooks"] == HOOKS
