"""Hooks that ask a model, in a session of the real agent: which answers are read, and that no other passes unseen."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.run_cli import run_cli

_OK: dict[str, Any] = {"ok": False, "reason": "not here"}
_DENY: dict[str, Any] = {
    "hookSpecificOutput": {
        "hookEventName": "PreToolUse",
        "permissionDecision": "deny",
        "permissionDecisionReason": "not here",
    }
}


def _entry(kind: str) -> dict[str, Any]:
    hook = {"type": kind, "prompt": "May it? $ARGUMENTS"}
    return {"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [hook]}]}}


def _docker_agent(kind: str) -> dict[str, Any]:
    hook = {"type": kind, "model": "any", "prompt": "May it?", "schema": "pre_tool_use_decision"}
    hooks = {"pre_tool_use": [{"matcher": "*", "hooks": [hook]}]}
    return {"agents": {"root": {"model": "none", "hooks": hooks}}}


#: Per dialect and kind of hook: the file, its document, an answer that denies, one that passes.
_HOOKS: dict[str, tuple[str, dict[str, Any], dict[str, Any], dict[str, Any]]] = {
    "claude-code prompt": ("settings.json", _entry("prompt"), _OK, {"ok": True}),
    "claude-code agent": ("settings.json", _entry("agent"), _OK, {"ok": True}),
    "gen-code prompt": ("settings.json", _entry("prompt"), _DENY, {}),
    "gen-code agent": ("settings.json", _entry("agent"), _DENY, {"Continue": True}),
    "native prompt": ("hooks.json", _entry("prompt"), _OK, {"ok": True}),
    "native agent": ("hooks.json", _entry("agent"), _DENY, {"continue": True, "note": "fine"}),
    "docker-agent model": (
        "agent.yaml", _docker_agent("model"), {"decision": "deny", "reason": "not here"}, {"decision": "allow"},
    ),
}  # fmt: skip
HOOKS = pytest.mark.parametrize("hook", _HOOKS)


def _played(directory: Path, hook: str, answer: str) -> tuple[dict[str, Any], bool]:
    """The document of a session in which a model answers the hook like this; and whether the call was made."""
    project = directory / "home" / "project"
    project.mkdir(parents=True)
    file, document, _deny, _pass = _HOOKS[hook]
    (project / file).write_text(json.dumps(document))
    call = {"name": "Bash", "input": {"command": "touch made"}}
    (project / "script.json").write_text(
        json.dumps([{"tool_calls": [call]}, {"text": answer}, {"text": "done"}])
    )
    words = [
        "agent",
        "--model",
        "scripted:script.json",
        "--dialect",
        hook.split(maxsplit=1)[0],
        "--config",
        file,
    ]
    ran = run_cli([*words, "--allow", "Bash", "--json", "go"], project, project.parent)
    return json.loads(ran.stdout), (project / "made").exists()


def _runs(document: dict[str, Any]) -> list[dict[str, Any]]:
    return [run for event in document["events"] if event["event"] == "PreToolUse" for run in event["runs"]]


@pytest.mark.parametrize("form", ["{}", "```json\n{}\n```", "```\n{}\n```\n", " ```json\n\n{}\n\n```"])
@HOOKS
def test_a_decision_is_read_plain_and_in_a_code_fence(hook: str, form: str, tmp_path: Path) -> None:
    document, made = _played(tmp_path, hook, form.replace("{}", json.dumps(_HOOKS[hook][2], indent=1)))
    assert not made
    assert [(run["status"], run["reason"]) for run in _runs(document)] == [("blocked", "not here")]


@pytest.mark.parametrize("form", ["{}", "```json\n{}\n```"])
@HOOKS
def test_an_answer_that_lets_it_go_on_does(hook: str, form: str, tmp_path: Path) -> None:
    document, made = _played(tmp_path, hook, form.replace("{}", json.dumps(_HOOKS[hook][3])))
    assert made
    assert [run["status"] for run in _runs(document)] == ["ok"]
    assert document["notices"] == []


@pytest.mark.parametrize(
    "answer",
    [
        "no, it may not",
        "",
        '{"verdict": "no"}',
        '{"reason": "it is dangerous"}',
        "```json\nno\n```",
        'I deny it: ```json\n{"ok": false}\n```',
        '["ok"]',
        '{"decision": {"ok": false}}',
    ],
)
@HOOKS
def test_any_other_answer_is_a_failure_that_the_user_sees(hook: str, answer: str, tmp_path: Path) -> None:
    _fails(hook, answer, tmp_path)


@pytest.mark.parametrize("hook", [name for name in _HOOKS if not name.startswith("gen-code")])
def test_an_empty_object_is_an_answer_only_where_models_are_asked_for_it(hook: str, tmp_path: Path) -> None:
    _fails(hook, "{}", tmp_path)


def _fails(hook: str, answer: str, tmp_path: Path) -> None:
    document, made = _played(tmp_path, hook, answer)
    (run,) = _runs(document)
    assert (run["status"], run["cause"]) == ("failed", "unreadable")
    said = [notice["text"] for notice in document["notices"]]
    if hook.startswith(("native", "docker-agent")):
        assert not made, "its guards fail closed"
        assert run["reason"]
    else:
        assert made
        assert run["failed_open"]
        assert len(said) == 1
        assert "gave no answer" in said[0]
