"""Calls of `hookline hook` in this process, one engine each, for the user of a scratch home."""

import asyncio
import json
import os
from pathlib import Path
from typing import Any

import pytest

from hookline import Engine
from hookline.extending import HookReply, Run
from hookline.resident.call.answer import AgentCall

DENIES = """
[[hooks.PreToolUse]]
matcher = "Bash|bash|exec_shell|shell"
[[hooks.PreToolUse.hooks]]
type = "builtin"
command = "deny"
args = ["no shell here"]
"""


class Caller:
    """An agent that calls Hookline, in one session unless it says otherwise."""

    def __init__(self, top: Path, patch: pytest.MonkeyPatch) -> None:
        self.home, self.project, self.elsewhere = top / "home", top / "home" / "project", top / "elsewhere"
        for folder in (self.project, self.elsewhere):
            folder.mkdir(parents=True)
        self.write("~/.config/hookline/settings.toml", f'trusted = ["{top}"]\n')
        patch.chdir(self.elsewhere)
        for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "CLAUDE_PROJECT_DIR", "CLAUDE_CONFIG_DIR"):
            patch.delenv(name, raising=False)
        patch.setenv("HOME", str(self.home))
        #: Of the last call.
        self.remarks: tuple[str, ...] = ()
        self.runs: tuple[Run, ...] = ()

    @property
    def state(self) -> Path:
        return self.home / ".local/state/hookline/sessions"

    def write(self, name: str, text: str) -> Path:
        file = self.home / name[2:] if name.startswith("~/") else self.project / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return file

    def call(
        self,
        cwd: Path | str,
        event: str = "PreToolUse",
        *,
        dialect: str = "claude-code",
        files: list[str] | None = None,
        env: dict[str, str] | None = None,
        **fields: Any,
    ) -> HookReply:
        """As Claude Code, gen-code and native payloads have it, or Reasonix's."""
        if dialect == "reasonix":
            told = {
                "event": event, "sessionId": "s-1", "toolName": "bash",
                "toolArgs": {"command": "ls"}, "prompt": "hello",
            }  # fmt: skip
        else:
            told = {
                "hook_event_name": event, "session_id": "s-1", "tool_name": "Bash",
                "tool_input": {"command": "ls"}, "prompt": "hello",
            }  # fmt: skip
        raw = json.dumps({**told, "cwd": str(cwd), **fields}).encode()
        return asyncio.run(self._answer(raw, dialect, event, files, {"HOME": str(self.home), **(env or {})}))

    async def _answer(
        self, raw: bytes, dialect: str, event: str, files: list[str] | None, env: dict[str, str]
    ) -> HookReply:
        engine = Engine()
        call = AgentCall(engine, dialect, event, files, env)
        try:
            return await call.answer(raw)
        finally:
            self.remarks, self.runs = call.remarks, engine.journal.recent()
            await engine.close()


def decision(reply: HookReply) -> str | None:
    """What Claude Code and its kin read."""
    return json.loads(reply.stdout)["hookSpecificOutput"]["permissionDecision"] if reply.stdout else None


def reason(reply: HookReply) -> str:
    return json.loads(reply.stdout)["hookSpecificOutput"]["permissionDecisionReason"]


def repository(folder: Path) -> Path:
    """As much of one as git itself makes first."""
    (folder / ".git").mkdir(parents=True)
    (folder / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    return folder


def gone(folder: Path) -> Path:
    folder.mkdir()
    os.rmdir(folder)
    return folder
