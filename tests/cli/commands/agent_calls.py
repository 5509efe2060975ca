"""Make calls of `hookline hook` for the user of a scratch home, with and without a daemon."""

import asyncio
import json
import os
from pathlib import Path
from typing import Any

import pytest

from hookline import Engine
from hookline.extending import HookReply, Run
from hookline.hook.call.answer import AgentCall
from hookline.hook.call.deduplicate import now
from hookline.hook.daemon.cache import DaemonCache
from hookline.hook.daemon.calls import DaemonCall, refusal
from hookline.hook.daemon.handlers import SharedProcesses
from hookline.hook.daemon.protocol import RelayRequest

DENIES = """
[[hooks.PreToolUse]]
matcher = "Bash|bash|exec_shell|shell"
[[hooks.PreToolUse.hooks]]
type = "builtin"
command = "deny"
args = ["no shell here"]
"""


class Caller:
    """An agent that calls Hookline, in one session by default.

    With `daemon`, one daemon answers all its calls.
    """

    def __init__(self, top: Path, patch: pytest.MonkeyPatch, *, daemon: bool = False) -> None:
        self._cache = DaemonCache() if daemon else None
        self.home, self.project, self.elsewhere = top / "home", top / "home" / "project", top / "elsewhere"
        for directory in (self.project, self.elsewhere):
            directory.mkdir(parents=True)
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
            translated = {
                "event": event, "sessionId": "s-1", "toolName": "bash",
                "toolArgs": {"command": "ls"}, "prompt": "hello",
            }  # fmt: skip
        else:
            translated = {
                "hook_event_name": event, "session_id": "s-1", "tool_name": "Bash",
                "tool_input": {"command": "ls"}, "prompt": "hello",
            }  # fmt: skip
        raw = json.dumps({**translated, "cwd": str(cwd), **fields}).encode()
        return asyncio.run(self._answer(raw, dialect, event, files, {"HOME": str(self.home), **(env or {})}))

    async def _answer(
        self, raw: bytes, dialect: str, event: str, files: list[str] | None, env: dict[str, str]
    ) -> HookReply:
        words = ("hook", "--dialect", dialect, event)
        request = RelayRequest("", os.getcwd(), words, env, raw)
        if self._cache is not None and files is None and refusal(request, self._cache) is None:
            return await self._ask_daemon(self._cache, request)
        engine = Engine()
        call = AgentCall(engine, dialect, event, files, env)
        try:
            return await call.answer(raw)
        finally:
            self.remarks, self.runs = call.remarks, engine.journal.recent()
            await engine.close()

    async def _ask_daemon(self, cache: DaemonCache, request: RelayRequest) -> HookReply:
        processes = SharedProcesses()
        asked = DaemonCall(cache, processes, request, _agree, now)
        try:
            return await asked.call.answer(request.input)
        finally:
            await asked.close()
            self.remarks, self.runs = asked.call.remarks, asked.engine.journal.recent()
            await processes.close_all()


async def _agree() -> None:
    """The relay has no objection."""


def decision(reply: HookReply) -> str | None:
    """Return what Claude Code and similar agents read."""
    return json.loads(reply.stdout)["hookSpecificOutput"]["permissionDecision"] if reply.stdout else None


def reason(reply: HookReply) -> str:
    return json.loads(reply.stdout)["hookSpecificOutput"]["permissionDecisionReason"]


def repository(directory: Path) -> Path:
    """As much of one as git itself makes first."""
    (directory / ".git").mkdir(parents=True)
    (directory / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    return directory


def gone(directory: Path) -> Path:
    directory.mkdir()
    os.rmdir(directory)
    return directory
