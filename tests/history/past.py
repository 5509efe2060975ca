"""Past sessions for tests: transcripts as agents write them, and the journal of what Hookline was asked."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from msgspec import Struct

from hookline.journal.file import JournalFile
from hookline.model.run import Called, Run

START = 1794800000.0


def written_time(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


class Made(Struct, frozen=True):
    """A call that a session made."""

    id: str
    tool: str
    input: dict[str, Any]
    at: float


class ClaudeSession(Struct, kw_only=True):
    """One session of Claude Code, with its calls one after another."""

    home: Path
    id: str
    cwd: str
    at: float = START
    entrypoint: str = "cli"
    subagent: str = ""
    #: The run of a workflow that the subagent belongs to.
    workflow: str = ""
    lines: list[str] = []
    calls: list[Made] = []

    def _add(self, kind: str, message: Any, **more: Any) -> None:
        self.at += 1
        record = {
            "type": kind, "message": message, "sessionId": self.id, "cwd": more.pop("cwd", self.cwd),
            "timestamp": written_time(self.at), "entrypoint": self.entrypoint, "promptId": "p1", **more,
        }  # fmt: skip
        if self.subagent:
            record |= {"isSidechain": True, "agentId": self.subagent}
        self.lines.append(json.dumps(record))

    def prompt(self, text: str) -> "ClaudeSession":
        self._add("user", {"role": "user", "content": text}, permissionMode="default")
        return self

    def call(self, command: str, tool: str = "Bash", cwd: str | None = None, **given: Any) -> Made:
        number = len(self.calls) + 1
        use = f"{self.id}-{self.subagent or 'main'}-{number}"
        arguments: dict[str, Any] = given or {"command": command}
        block = {"type": "tool_use", "id": use, "name": tool, "input": arguments}
        message = {"id": f"msg{number}", "model": "opus", "content": [block], "stop_reason": "tool_use"}
        self._add("assistant", message, cwd=cwd or self.cwd)
        made = Made(use, tool, arguments, self.at)
        self.calls.append(made)
        result = {"type": "tool_result", "tool_use_id": use, "content": "ok", "is_error": False}
        self._add(
            "user", {"role": "user", "content": [result]}, toolUseResult={"stdout": "ok"}, cwd=cwd or self.cwd
        )
        return made

    def write(self) -> Path:
        directory = self.home / ".claude/projects" / self.cwd.replace("/", "-")
        below = f"workflows/{self.workflow}/" if self.workflow else ""
        name = (
            f"{self.id}/subagents/{below}agent-{self.subagent}.jsonl" if self.subagent else f"{self.id}.jsonl"
        )
        file = directory / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("\n".join(self.lines) + "\n")
        if self.subagent:
            meta = json.dumps({"agentType": "general-purpose"})
            file.with_name(file.name.replace(".jsonl", ".meta.json")).write_text(meta)
        return file


def codex_session(home: Path, id: str, cwd: str, commands: Sequence[str], at: float = START) -> Path:  # noqa: A002
    lines: list[Any] = [("session_meta", {"session_id": id, "id": id, "cwd": cwd, "source": "cli"})]
    lines.append(("turn_context", {"turn_id": "t", "cwd": cwd, "approval_policy": "never", "model": "gpt"}))
    for number, command in enumerate(commands):
        call = {"type": "function_call", "name": "exec_command", "arguments": json.dumps({"cmd": command})}
        lines.append(("response_item", {**call, "call_id": f"c{number}"}))
        lines.append(
            ("response_item", {"type": "function_call_output", "call_id": f"c{number}", "output": "ok"})
        )
    file = home / f".codex/sessions/2026/11/16/rollout-{id}.jsonl"
    file.parent.mkdir(parents=True, exist_ok=True)
    records = [
        json.dumps({"timestamp": written_time(at + number), "type": kind, "payload": payload})
        for number, (kind, payload) in enumerate(lines)
    ]
    file.write_text("\n".join(records) + "\n")
    return file


class PastJournal:
    """The journal of a user: what hooks ran on."""

    def __init__(self, home: Path) -> None:
        self._file = JournalFile(str(home / ".local/state/hookline/journal.jsonl"))

    def ran(self, hook: str, source: Path, session: str, made: Made, **more: Any) -> None:
        facts: dict[str, Any] = {"caller": "claude-code", "agent": None, "status": "ok", **more}
        called = Called(tool=made.tool, id=made.id, caller=facts.pop("caller"))
        self._file.append(
            Run(
                hook=hook, source=f"{source}:1", type="builtin", event="PreToolUse", dialect_event="PreToolUse",
                session=session, at=made.at + 0.1, call=called, **facts,
            )
        )  # fmt: skip


def rules(**named: str) -> str:
    """A native file with one rule each: `deny Bash(rm *)`."""
    return "".join(
        f'[[hooks.PreToolUse]]\n[[hooks.PreToolUse.hooks]]\nname = "{name}"\ntype = "builtin"\n'
        f'command = "{rule.split()[0]}"\nif = "{rule.partition(" ")[2]}"\n\n'
        for name, rule in named.items()
    )
