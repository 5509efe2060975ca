"""Two spellings of our entry in an agent's configuration: it starts two processes for one call, and hooks run once."""

import asyncio
import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from hookline import Engine
from hookline.extending import HookReply
from hookline.hook.call.deduplicate import RawRequest, SharedCall, now, shared_call
from hookline.model.outcome import PASS
from tests.cli.commands.agent_calls import Caller
from tests.cli.run_cli import clean_env, command_line
from tests.warm_process import run_warm

ENTRY = "claude-code PreToolUse all"
WORDS = ("hook", "--dialect", "claude-code", "PreToolUse")


@pytest.fixture
def caller(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Caller:
    caller = Caller(tmp_path, monkeypatch)
    caller.write(
        ".hookline/hooks.toml",
        f"[[hooks.PreToolUse]]\nhooks = [{{ command = 'echo ran >> {caller.home}/ran; echo no >&2; exit 2' }}]\n",
    )
    return caller


def _payload(caller: Caller, **fields: Any) -> bytes:
    translated: dict[str, Any] = {
        "hook_event_name": "PreToolUse", "session_id": "s-1", "cwd": str(caller.project), "tool_name": "Bash",
        "tool_input": {"command": "ls"}, "tool_use_id": "t-1",
    }  # fmt: skip
    return json.dumps({**translated, **fields}).encode()


def _env(caller: Caller, **more: str) -> dict[str, str]:
    return {**clean_env(caller.home), **more}


def _as_first(caller: Caller, raw: bytes, **more: str) -> SharedCall:
    """Make this process the first of the two that handle the call."""
    dialect = Engine().loader.dialect("claude-code")
    env = _env(caller, HOOKLINE_HOOK_DEPTH="1", **more)
    call = shared_call(
        dialect, dialect.wire.parse(json.loads(raw)), RawRequest(raw, None, env, now, entry=ENTRY)
    )
    assert call is not None
    assert asyncio.run(call.shared_reply()) is None
    return call


def _ask(caller: Caller, raw: bytes) -> str:
    return run_warm(WORDS, cwd=caller.project, env=_env(caller), stdin=raw).stdout.decode()


def _runs(caller: Caller) -> int:
    file = caller.home / "ran"
    return len(file.read_text().split()) if file.exists() else 0


def test_of_two_processes_one_asks_the_hooks_and_both_deny(caller: Caller) -> None:
    payload = caller.write("payload.json", _payload(caller).decode())
    line, outputs = command_line(WORDS, caller.home), [caller.home / "one", caller.home / "two"]
    asked: list[subprocess.Popen[bytes]] = []
    for words, output in zip((line, ["/usr/bin/env", *line]), outputs, strict=True):
        with payload.open("rb") as stdin, output.open("wb") as stdout:
            asked.append(
                subprocess.Popen(words, cwd=caller.project, env=_env(caller), stdin=stdin, stdout=stdout)
            )
    assert [each.wait() for each in asked] == [0, 0]
    said = [output.read_text() for output in outputs]
    assert said[0] == said[1]
    assert json.loads(said[0])["hookSpecificOutput"]["permissionDecision"] == "deny"
    assert _runs(caller) == 1


def test_a_process_that_ends_without_an_answer_leaves_the_call_to_the_other(caller: Caller) -> None:
    raw = _payload(caller)
    _as_first(caller, raw).close()
    assert "deny" in _ask(caller, raw)
    assert _runs(caller) == 1


def test_an_agent_that_asks_again_is_answered_anew(caller: Caller) -> None:
    raw = _payload(caller)
    _as_first(caller, raw).share(HookReply(), PASS, "PreToolUse")
    assert "deny" in _ask(caller, raw)
    assert "deny" in _ask(caller, raw)
    assert _runs(caller) == 2


@pytest.mark.parametrize(
    ("fields", "more"),
    [
        ({"tool_use_id": "t-2"}, {}),
        ({"session_id": "s-2"}, {}),
        ({"tool_input": {"command": "ls "}}, {}),
        ({}, {"A": "b"}),
    ],
)
def test_another_call_does_not_wait(fields: dict[str, Any], more: dict[str, str], caller: Caller) -> None:
    first = _as_first(caller, _payload(caller, **fields), **more)
    assert "deny" in _ask(caller, _payload(caller))
    assert _runs(caller) == 1
    first.close()


def test_calls_without_a_session_are_never_taken_for_the_same(caller: Caller) -> None:
    dialect, raw = Engine().loader.dialect("claude-code"), _payload(caller, session_id="")
    parsed = dialect.wire.parse(json.loads(raw))
    assert shared_call(dialect, parsed, RawRequest(raw, None, _env(caller), now)) is None


def test_equal_calls_without_a_number_are_the_same_only_by_another_entry(caller: Caller) -> None:
    """Without a number, two equal calls at the same time look like two entries of one."""
    dialect, raw = Engine().loader.dialect("claude-code"), _payload(caller, tool_use_id="")
    began = now()

    def asked(entry: str) -> SharedCall:
        parsed = dialect.wire.parse(json.loads(raw))
        call = shared_call(dialect, parsed, RawRequest(raw, None, _env(caller), lambda: began, entry=entry))
        assert call is not None
        return call

    first = asked("a")
    assert asyncio.run(first.shared_reply()) is None
    first.share(HookReply(stdout="no"), PASS, "PreToolUse")
    assert asyncio.run(asked("b").shared_reply()) is not None
    for entry in ("a", "b"):
        again = asked(entry)
        assert asyncio.run(again.shared_reply()) is None
        again.close()


def test_what_is_kept_cannot_be_read_without_the_payload(caller: Caller) -> None:
    raw = _payload(caller)
    first = _as_first(caller, raw)
    began = now()
    first.share(HookReply(stdout="a secret"), PASS, "PreToolUse")
    (kept,) = caller.state.glob("*.calls")
    assert (kept.stat().st_mode & 0o777, b"secret" in kept.read_bytes()) == (0o600, False)
    claude = Engine().loader.dialect("claude-code")
    asked = RawRequest(raw, None, _env(caller, HOOKLINE_HOOK_DEPTH="1"), lambda: began, entry=ENTRY)
    again = shared_call(claude, claude.wire.parse(json.loads(raw)), asked)
    assert again is not None
    given = asyncio.run(again.shared_reply())
    assert given is not None
    assert given.reply.stdout == "a secret"


@pytest.mark.parametrize("content", [b"", b"\xff" * 70_000, os.urandom(1 << 20)])
def test_a_damaged_file_only_means_that_hooks_are_asked(content: bytes, caller: Caller) -> None:
    raw = _payload(caller)
    _as_first(caller, raw).close()
    (kept,) = caller.state.glob("*.calls")
    kept.write_bytes(content)
    call = _as_first(caller, raw)
    call.close()
