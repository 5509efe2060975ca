"""Test Hookline as a hook of Codex: what Codex's format cannot express is a denial at guards, and on record."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from hookline import Engine, Outcome
from hookline.dialects.codex import dialect
from hookline.dialects.codex.trust import state_key, trusted_hash
from hookline.dialects.codex.wire import NOT_ASKED, NOT_REWRITTEN
from hookline.events import EVENTS
from hookline.extending import HookReply, Run
from hookline.hook.call.answer import AgentCall
from hookline.model.outcome import Halt, Rewrite, Vote
from tests.cli.run_cli import run_cli
from tests.every import every

NEW = Rewrite({"command": "git status"}, field="tool_input")


def answer(
    outcome: Outcome, mode: str = "default", event: str = "PreToolUse", **more: Any
) -> tuple[Any, HookReply, list[Run]]:
    """The answer of a native hook that says this, as Codex reads it."""
    payload = {
        "session_id": "s-1", "turn_id": "t-1", "transcript_path": None, "cwd": "/", "hook_event_name": event,
        "model": "m", "permission_mode": mode, "tool_name": "Bash", "tool_input": {"command": "git push"},
        "tool_use_id": "call_1", **more,
    }  # fmt: skip
    engine, runs = Engine(), list[Run]()
    engine.journal.subscribe(runs.append)

    async def says(_payload: Any) -> Outcome:
        return outcome

    async def asked() -> HookReply:
        engine.add(EVENTS[event], says)
        try:
            return await AgentCall(engine, "codex", event, files=(), env={}).answer(
                json.dumps(payload).encode()
            )
        finally:
            await engine.close()

    reply = asyncio.run(asked())
    return json.loads(reply.stdout)["hookSpecificOutput"] if reply.stdout else None, reply, runs


@pytest.mark.parametrize("kind", ["ask", "defer"])
def test_an_ask_is_a_denial_that_says_so_and_is_on_record(kind: Any) -> None:
    said, reply, runs = answer(Outcome(votes=(Vote(kind, "pushing is asked about"),)))
    assert said["permissionDecision"] == "deny"
    assert (said["permissionDecisionReason"], reply.lost) == ("pushing is asked about", (kind,))
    assert [run.dropped for run in runs if run.dropped] == [(kind,)]
    assert answer(Outcome(votes=(Vote(kind, ""),)))[0]["permissionDecisionReason"] == NOT_ASKED


@pytest.mark.parametrize("event", ["PreToolUse", "PermissionRequest"])
def test_a_stop_is_a_denial(event: str) -> None:
    said, reply, _ = answer(Outcome(halts=(Halt("enough"),)), event=event)
    assert "enough" in json.dumps(said)
    assert '"deny"' in reply.stdout
    assert reply.lost == ("stop",)


def test_a_rewrite_goes_out_if_a_hook_allowed_it() -> None:
    said, reply, _ = answer(Outcome(votes=(Vote("allow", "fine"),), edits=(NEW,)))
    assert said == {
        "hookEventName": "PreToolUse", "permissionDecision": "allow", "permissionDecisionReason": "fine",
        "updatedInput": {"command": "git status"},
    }  # fmt: skip
    assert reply.lost == ()


def test_a_rewrite_goes_out_if_nothing_would_have_been_asked() -> None:
    said, reply, _ = answer(Outcome(edits=(NEW,)), mode="bypassPermissions")
    assert (said["permissionDecision"], said["updatedInput"]) == ("allow", {"command": "git status"})
    assert reply.lost == ()


def test_else_a_rewrite_is_a_denial_that_says_so() -> None:
    said, reply, _ = answer(Outcome(edits=(NEW,)))
    assert (said["permissionDecision"], said["permissionDecisionReason"]) == ("deny", NOT_REWRITTEN)
    assert reply.lost == ("rewrite",)


@pytest.mark.parametrize("kind", ["ask", "block"])
def test_a_rewrite_beside_a_denial_is_not_applied(kind: Any) -> None:
    for mode in ("default", "bypassPermissions"):
        said, reply, _ = answer(Outcome(votes=(Vote(kind, "no"),), edits=(NEW,)), mode)
        assert (said["permissionDecision"], "updatedInput" in said) == ("deny", False)
        assert "rewrite" in reply.lost


def test_a_rewrite_without_a_command_is_denied_where_codex_needs_one() -> None:
    edited = Outcome(votes=(Vote("allow"),), edits=(Rewrite({"cmd": "ls"}, field="tool_input"),))
    assert answer(edited)[0]["permissionDecision"] == "deny"
    served = answer(edited, tool_name="mcp__a__b", tool_input={"x": 1})[0]
    assert (served["permissionDecision"], served["updatedInput"]) == ("allow", {"cmd": "ls"})


def test_permission_for_another_input_is_not_given() -> None:
    said, reply, _ = answer(Outcome(votes=(Vote("allow"),), edits=(NEW,)), event="PermissionRequest")
    assert said["decision"] == {"behavior": "deny", "message": NOT_REWRITTEN}
    assert reply.lost == ("rewrite",)
    allowed = answer(Outcome(votes=(Vote("allow"),)), event="PermissionRequest")[0]
    assert allowed["decision"] == {"behavior": "allow"}


def test_a_bare_allow_says_nothing_because_codex_would_call_it_a_failure() -> None:
    said, reply, _ = answer(Outcome(votes=(Vote("allow"),)))
    assert (said, reply.stdout, reply.lost) == (None, "", ("allow",))


def test_a_new_result_takes_the_place_of_the_old_one() -> None:
    for new, text in (("[cut]", "[cut]"), ({"a": 1}, '{"a":1}')):
        outcome = Outcome(edits=(Rewrite(new, field="tool_response"),))
        reply = dialect().wire.answer("PostToolUse", outcome)
        assert json.loads(reply.stdout) == {"decision": "block", "reason": text}


def test_the_end_of_a_turn_and_a_compaction() -> None:
    wire = dialect().wire
    stops = Outcome(votes=(Vote("block", "go on"),), halts=(Halt("enough"),))
    received = wire.answer("Stop", stops)
    assert (json.loads(received.stdout), received.lost) == (
        {"continue": False, "stopReason": "enough"},
        ("block",),
    )
    compact = wire.answer("PreCompact", Outcome(votes=(Vote("block", "not now"),)))
    assert json.loads(compact.stdout) == {"continue": False, "stopReason": "not now"}


def test_a_session_begins_with_the_guards_that_codex_no_longer_runs(tmp_path: Path) -> None:
    project, home = tmp_path / "project", tmp_path / "home"
    for place in (project / ".codex", home / ".codex", project / ".git"):
        place.mkdir(parents=True)
    file = project / ".codex/hooks.json"
    guard = {"type": "command", "command": "./guard.sh"}
    file.write_text(json.dumps({"hooks": {"PreToolUse": [{"hooks": [guard]}]}}))
    key = state_key(str(file), "PreToolUse", 0, 0)
    known = trusted_hash("PreToolUse", None, guard)
    listed = f'[projects."{project}"]\ntrust_level = "trusted"\n'
    state = f'[hooks.state."{key}"]\ntrusted_hash = "{known}"\n'
    (home / ".codex/config.toml").write_text(listed + state)
    payload = {
        "session_id": "s-1",
        "cwd": str(project),
        "hook_event_name": "SessionStart",
        "source": "startup",
    }

    def begun() -> str:
        ran = run_cli(
            ["hook", "--dialect", "codex", "SessionStart"],
            project,
            home,
            stdin=json.dumps(payload | {"model": "m"}),
        )
        assert ran.status == 0, ran.stderr
        return ran.stdout

    assert "skips this hook" not in begun()
    file.write_text(file.read_text().replace("./guard.sh", "./guard.sh --quick"))
    said = json.loads(begun())["systemMessage"]
    assert "changed since the user trusted it" in said
    assert str(file) in said
    (home / ".codex/config.toml").write_text(state)
    assert "--trust" in json.loads(begun())["systemMessage"]


GUARDED = """[[hooks.PreToolUse]]
hooks = [{ type = "builtin", command = "force-push" }]
"""
RULED = """[[hooks.PreToolUse]]
hooks = [{ if = "Bash(rm *)", command = "echo not that >&2; exit 2" }]
"""


@pytest.mark.parametrize("text", [GUARDED, RULED])
@every(
    ("line", "denied"),
    [
        ("bash", True),
        ("python3 -i", True),
        ("ssh -t host", True),
        ("cd src && sudo -i", True),
        ("docker exec -it web sh", True),
        ("ls; python3 x.py; bash build.sh; ssh host uptime; node --test", False),
        ("echo ls | bash", False),
        ("bash < /dev/null", False),
    ],
)
def test_a_shell_that_waits_for_typed_text_is_in_doubt(
    tmp_path: Path, text: str, line: str, denied: bool
) -> None:
    """Codex asks no hook about what is typed into it (write_stdin); where a hook hears of it, nothing is in doubt."""
    file = tmp_path / "hooks.toml"
    file.write_text(text)
    payload = json.dumps(
        {
            "session_id": "s-1", "cwd": str(tmp_path), "hook_event_name": "PreToolUse", "tool_name": "Bash",
            "tool_input": {"command": line}, "tool_use_id": "call_1", "transcript_path": None,
        }
    ).encode()  # fmt: skip

    async def asked(agent: str) -> HookReply:
        engine = Engine()
        try:
            return await AgentCall(engine, agent, "PreToolUse", files=(str(file),), env={}).answer(payload)
        finally:
            await engine.close()

    reply = asyncio.run(asked("codex"))
    assert ('"deny"' in reply.stdout or reply.code == 2) == denied
    assert asyncio.run(asked("claude-code")) == HookReply()
    if denied:
        assert "no hook sees what is typed" in reply.stdout + reply.stderr or text == RULED
