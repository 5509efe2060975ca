"""Entries that were installed for one agent and are run by another: it is detected, and answered in its own form."""

import asyncio
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from hookline import Engine, Outcome, allow, ask, deny, rewrite
from hookline.dialects.registry import caller_of, standard_dialects
from hookline.events import PRE_TOOL_USE
from hookline.extending import HookReply
from hookline.hook.call.answer import AgentCall
from tests.cli.run_cli import clean_env, workspace
from tests.recorded import recorded_cases

HERE = Path(__file__).parents[1] / "dialects"


def payload(dialect: str, case: str) -> dict[str, Any]:
    found: dict[str, Any] = recorded_cases(HERE / dialect)[case]["payloads"][0]
    return found


CURSOR = payload("cursor", "claude-bash")
GROK = payload("grok", "exit2")
COPILOT = json.loads((HERE / "copilot_cli/recorded/payloads/claude-case-PreToolUse.json").read_text())


def answered(document: dict[str, Any], outcome: Outcome, seen: list[Any] | None = None) -> HookReply:
    """Answer a call of the entry that Claude Code has."""
    engine = Engine()

    async def says(call: Any) -> Outcome:
        (seen if seen is not None else []).append(call)
        return outcome

    engine.add(PRE_TOOL_USE, says, matcher="Bash", rewrites=bool(outcome.edits))
    call = AgentCall(engine, "claude-code", "PreToolUse", files=(), env={})

    async def run() -> HookReply:
        try:
            return await call.answer(json.dumps(document).replace("<TMP>", "/tmp").encode())
        finally:
            await call.close()

    return asyncio.run(run())


@pytest.mark.parametrize(
    ("document", "agent"),
    [(CURSOR, "cursor"), (GROK, "grok"), (COPILOT, "copilot-cli")],
    ids=lambda each: str(each)[:9],
)
def test_the_caller_is_known_by_its_payload(document: dict[str, Any], agent: str) -> None:
    assert caller_of("claude-code", document) == agent
    # Only entries of an agent whose files it reads.
    assert caller_of("codex", document) == "codex"


def test_no_payload_of_claude_code_is_taken_for_another_agents() -> None:
    for file in sorted((HERE / "claude_code/recorded/payloads").glob("*.json")):
        document = json.loads(file.read_text())
        assert caller_of("claude-code", document.get("payload", document)) == "claude-code", file.name


def test_every_agent_that_runs_entries_of_others_can_be_known() -> None:
    for name, listed in standard_dialects().items():
        assert bool(listed.runs_entries_of) == bool(listed.payload_keys), name


def test_a_denial_is_in_the_form_of_the_caller() -> None:
    assert json.loads(answered(CURSOR, deny("not here")).stdout) == {
        "permission": "deny", "user_message": "not here", "agent_message": "not here",
    }  # fmt: skip
    for document in (GROK, COPILOT):
        said = json.loads(answered(document, deny("not here")).stdout)["hookSpecificOutput"]
        assert (said["permissionDecision"], said["permissionDecisionReason"]) == ("deny", "not here")


def test_what_the_caller_cannot_express_is_denied() -> None:
    assert json.loads(answered(CURSOR, ask("sure?")).stdout)["permission"] == "deny"
    # Grok runs a tool on an ask in the mode that asks for nothing, which these payloads have.
    said = json.loads(answered(GROK, ask("sure?")).stdout)["hookSpecificOutput"]
    assert (said["permissionDecision"], said["permissionDecisionReason"]) == ("deny", "sure?")
    said = json.loads(answered(COPILOT, rewrite(command="ls")).stdout)["hookSpecificOutput"]
    assert said["permissionDecision"] == "deny"


def test_a_guard_for_bash_sees_the_shell_of_each_of_them() -> None:
    for document in (CURSOR, GROK, COPILOT):
        seen: list[Any] = []
        answered(document, allow(), seen)
        (call,) = seen
        assert "echo" in call.tool_input["command"]


def test_a_call_without_an_opinion_lets_cursor_go_on() -> None:
    assert answered(CURSOR, Outcome()).stdout == "{}\n"
    assert answered(GROK, Outcome()).stdout == ""


def test_two_entries_for_one_call_of_cursor_run_a_guard_once() -> None:
    """Cursor starts its own entry and the one that Claude Code has at the same time, with the same payload."""
    with workspace() as where:
        line = f"echo x >> {where.home}/ran; sleep 0.7; echo no >&2; exit 2"
        guard = f"[[hooks.PreToolUse]]\nhooks = [{{ command = {json.dumps(line)} }}]\n"
        where.write("~/.config/hookline/hooks.toml", guard)
        document = json.dumps({**CURSOR, "workspace_roots": [str(where.project)], "cwd": str(where.project)})
        words = [sys.executable, "-I", "-m", "hookline", "hook", "--home", str(where.home), "--dialect"]
        pipes: Any = {"text": True, "stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        place_of: Any = {"cwd": where.project, "env": clean_env(where.home)}
        with (
            subprocess.Popen([*words, "cursor", "preToolUse"], **pipes, **place_of) as own,
            subprocess.Popen([*words, "claude-code", "PreToolUse"], **pipes, **place_of) as theirs,
        ):
            for each in (own, theirs):
                assert each.stdin is not None
                each.stdin.write(document)
                each.stdin.close()
            answers = [json.loads(each.stdout.read()) for each in (own, theirs) if each.stdout is not None]
        assert [answer["permission"] for answer in answers] == ["deny", "deny"]
        assert (where.home / "ran").read_text() == "x\n"
