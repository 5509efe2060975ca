"""Write a history as agents would: many sessions of three of them, in a new home directory.

Four of ten events are calls of a shell, three of ten of their lines occur nowhere else. Records have the keys and
lengths of recorded ones.
"""

import os
import random
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, ClassVar

import msgspec

_encode = msgspec.json.encode
_COMMON = (
    "git status", "git diff", "git log --oneline | head -20", "ls -la", "pwd", "npm test", "npm run build",
    "python -m pytest -q", "make lint", "cargo test", "go test ./...", "cat package.json", "git add -A",
    "git diff --stat", "ls src tests", "which python3", "git branch -a", "docker ps", "env | sort | head", "git push",
)  # fmt: skip
_NEW = (
    "cat {a}/{b}.py && echo ok", "grep -rn '{b}' {a} | head -{n}", "sed -n '{n},{m}p' {a}/{b}.ts",
    "python -m pytest {a}/test_{b}.py -x -q 2>&1 | tail -{n}", "git commit -m 'fix {b} in {a}'", "ls {a}/{b} | wc -l",
    "find {a} -name '{b}*' -type f | xargs wc -l", "cd {a} && make {b}", "git checkout -b {b}-{n}",
    "echo {b} > {a}/{b}.txt; exit {n}", "git show {b}:{a}/main.go | head -{m}", "node scripts/{b}.js --port {m}",
    "for f in {a}/*.{b}; do echo $f; done", "curl -s localhost:{m}/{b} | jq .{a}", "rm -rf build/{b}",
    "git push --force origin {b}", "diff {a}/{b}.old {a}/{b}.new", "wc -l {a}/{b}.md && tail -n {n} {a}/{b}.md",
)  # fmt: skip
_DIRECTORIES = ("src", "tests", "lib", "app", "docs", "pkg", "internal", "web")
_OTHER = ("Read", "Edit", "Write", "Grep")
#: 2026-11-01.
_START = 1793491200.0


class _Writer:
    """Writes one session, an event at a time."""

    def __init__(self, home: Path, number: int, rnd: random.Random, at: float) -> None:
        self.rnd = rnd
        self.at = at
        self.number = number
        self.recorded_events = 0
        self.home = home
        self.cwd = f"/srv/work/project{number % 40}"
        self.id = f"{number:08x}-0000-4000-8000-{number:012x}"
        self.lines: list[bytes] = []
        self.own: list[str] = []
        self.calls = 0

    def when(self) -> str:
        self.at += self.rnd.uniform(0.5, 20)
        return datetime.fromtimestamp(self.at, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")

    def shell_line(self) -> str:
        if self.rnd.random() < 0.3 or not self.own:
            line = self.rnd.choice(_NEW).format(
                a=self.rnd.choice(_DIRECTORIES), b=f"x{self.number:x}y{len(self.own):x}", n=self.rnd.randrange(1, 50),
                m=self.rnd.randrange(50, 9000),
            )  # fmt: skip
            self.own.append(line)
            return line
        return self.rnd.choice(self.own) if self.rnd.random() < 0.5 else self.rnd.choice(_COMMON)

    def other_input(self, tool: str) -> dict[str, Any]:
        path = f"{self.cwd}/{self.rnd.choice(_DIRECTORIES)}/f{self.rnd.randrange(500)}.py"
        if tool == "Grep":
            return {"pattern": f"name{self.rnd.randrange(500)}", "path": self.cwd}
        if tool == "Edit":
            return {"file_path": path, "old_string": "helo", "new_string": "hello", "replace_all": False}
        return {"file_path": path, "content": "new\n"} if tool == "Write" else {"file_path": path}

    def session(self, calls: int) -> int:
        """A session with that many calls, one in eight of them of no shell, and a prompt for every fifteen."""
        self.start()
        for number in range(calls):
            if number % 15 == 0:
                if number:
                    self.turn_end()
                self.prompt(f"please fix number {number} of session {self.number}")
            tool = self.rnd.choice(_OTHER) if number % 8 == 7 else "Bash"
            self.call(
                tool,
                {"command": self.shell_line(), "description": "step"}
                if tool == "Bash"
                else self.other_input(tool),
            )
            self.recorded_events += 2
        self.turn_end()
        self.recorded_events += 2  # its start and its end
        self.file().parent.mkdir(parents=True, exist_ok=True)
        self.file().write_bytes(b"\n".join(self.lines) + b"\n")
        return self.recorded_events

    def add(self, record: Any) -> None:
        self.lines.append(_encode(record))

    def start(self) -> None: ...

    def prompt(self, text: str) -> None: ...

    def call(self, tool: str, given: dict[str, Any]) -> None: ...

    def turn_end(self) -> None: ...

    def file(self) -> Path:
        raise NotImplementedError


class Claude(_Writer):
    _USAGE: ClassVar[Any] = {
        "input_tokens": 10, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0, "output_tokens": 5,
        "output_tokens_details": {"thinking_tokens": 0}, "service_tier": "standard", "inference_geo": "",
        "server_tool_use": {"web_search_requests": 0, "web_fetch_requests": 0}, "iterations": [], "speed": "standard",
    }  # fmt: skip

    def _common(self) -> dict[str, Any]:
        return {
            "timestamp": self.when(), "userType": "external", "entrypoint": "cli", "cwd": self.cwd,
            "isSidechain": False, "sessionId": self.id, "version": "2.1.325", "gitBranch": "HEAD", "uuid": self.id,
            "parentUuid": self.id,
        }  # fmt: skip

    def start(self) -> None:
        self.add(
            {
                "type": "queue-operation",
                "operation": "enqueue",
                "timestamp": self.when(),
                "sessionId": self.id,
            }
        )

    def prompt(self, text: str) -> None:
        self.recorded_events += 1
        message = {"role": "user", "content": text}
        self.add(
            {
                "type": "user",
                "promptId": self.id,
                "permissionMode": "default",
                "message": message,
                **self._common(),
            }
        )

    def call(self, tool: str, given: dict[str, Any]) -> None:
        self.calls += 1
        use = f"toolu_{self.number:x}_{self.calls}"
        block = {"type": "tool_use", "id": use, "name": tool, "input": given}
        message = {
            "id": f"msg_{self.calls}", "type": "message", "role": "assistant", "model": "claude-opus-5-5",
            "content": [block], "stop_reason": "tool_use", "stop_sequence": None, "usage": self._USAGE,
        }  # fmt: skip
        self.add(
            {"type": "assistant", "message": message, "effort": "medium", "madeBy": "model", **self._common()}
        )
        result = {"tool_use_id": use, "type": "tool_result", "content": "hello world\nok", "is_error": False}
        self.add(
            {
                "type": "user", "promptId": self.id, "message": {"role": "user", "content": [result]},
                "toolUseResult": {"stdout": "hello world\nok", "stderr": "", "interrupted": False, "isImage": False},
                "permissionDecision": {"decision": "accept", "source": "config"}, **self._common(),
            }
        )  # fmt: skip

    def turn_end(self) -> None:
        self.recorded_events += 1
        message = {
            "id": "msg_end", "role": "assistant", "model": "claude-opus-5-5", "stop_reason": "end_turn",
            "content": [{"type": "text", "text": "Done."}], "usage": self._USAGE,
        }  # fmt: skip
        self.add({"type": "assistant", "message": message, "effort": "medium", **self._common()})

    def file(self) -> Path:
        return self.home / ".claude/projects" / self.cwd.replace("/", "-") / f"{self.id}.jsonl"


class Codex(_Writer):
    def _line(self, kind: str, payload: Any) -> None:
        self.add({"timestamp": self.when(), "ordinal": len(self.lines), "type": kind, "payload": payload})

    def start(self) -> None:
        meta = {
            "session_id": self.id,
            "id": self.id,
            "cwd": self.cwd,
            "source": "cli",
            "cli_version": "0.166.0",
        }
        self._line("session_meta", meta)

    def prompt(self, text: str) -> None:
        self.recorded_events += 1
        turn = {
            "turn_id": f"turn{len(self.lines)}",
            "cwd": self.cwd,
            "approval_policy": "never",
            "model": "gpt-5.4",
        }
        self._line("turn_context", turn)
        item: dict[str, Any] = {
            "type": "UserMessage",
            "id": "u",
            "content": [{"type": "text", "text": text, "text_elements": []}],
        }
        self._line("event_msg", {"type": "item_completed", "thread_id": self.id, "item": item})

    def call(self, tool: str, given: dict[str, Any]) -> None:
        self.calls += 1
        use = f"call_{self.calls}"
        name, arguments = (
            ("exec_command", {"cmd": given["command"]}) if tool == "Bash" else (f"tool_{tool}", given)
        )
        meta = {"turn_id": self.id, "create_time": self.at}
        self._line(
            "response_item",
            {"type": "function_call", "id": f"fc_{self.id}", "name": name, "arguments": _encode(arguments).decode(),
             "call_id": use, "internal_chat_message_metadata_passthrough": meta},
        )  # fmt: skip
        self._line(
            "token_usage_record", {"thread_id": self.id, "usage": {"input_tokens": 10, "output_tokens": 5}}
        )
        output = (
            "Chunk ID: 37440f\nWall time: 0.0000 seconds\nProcess exited with code 0\nOutput:\nhelo world\n"
        )
        result = {"type": "function_call_output", "id": f"fco_{self.id}", "call_id": use, "output": output}
        self._line("response_item", {**result, "internal_chat_message_metadata_passthrough": meta})

    def turn_end(self) -> None:
        self.recorded_events += 1
        self._line("event_msg", {"type": "task_complete", "turn_id": self.id, "last_agent_message": "Done."})

    def file(self) -> Path:
        day = datetime.fromtimestamp(self.at, UTC)
        return self.home / f".codex/sessions/{day:%Y/%m/%d}/rollout-{day:%Y-%m-%dT%H-%M-%S}-{self.id}.jsonl"


class Gemini(_Writer):
    _TOOLS: ClassVar[Any] = {
        "Bash": "run_shell_command",
        "Read": "read_file",
        "Edit": "replace",
        "Write": "write_file",
        "Grep": "grep_search",
    }

    def start(self) -> None:
        now = self.when()
        self.add(
            {
                "sessionId": self.id,
                "projectHash": "0" * 64,
                "startTime": now,
                "lastUpdated": now,
                "kind": "main",
            }
        )

    def prompt(self, text: str) -> None:
        self.recorded_events += 1
        self.add(
            {
                "id": f"u{len(self.lines)}",
                "timestamp": self.when(),
                "type": "user",
                "content": [{"text": text}],
            }
        )

    def call(self, tool: str, given: dict[str, Any]) -> None:
        self.calls += 1
        now, use, name = self.when(), f"{tool}_{self.calls}", self._TOOLS[tool]
        response = {"functionResponse": {"id": use, "name": name, "response": {"output": "hello world\nok"}}}
        message: dict[str, Any] = {
            "id": f"g{self.calls}", "timestamp": now, "type": "gemini", "content": "", "thoughts": [],
            "tokens": {"input": 15, "output": 5, "cached": 0, "thoughts": 0, "tool": 0, "total": 20},
            "model": "gemini-2.5-flash",
        }  # fmt: skip
        self.add(message)
        done = {
            "id": use, "name": name, "args": given, "result": [response], "status": "success", "timestamp": now,
            "resultDisplay": "hello world\nok", "description": "step", "displayName": tool,
        }  # fmt: skip
        self.add({**message, "toolCalls": [done]})
        self.add({"id": f"r{self.calls}", "timestamp": now, "type": "user", "content": [response]})

    def turn_end(self) -> None:
        self.recorded_events += 1
        self.add(
            {"id": f"e{len(self.lines)}", "timestamp": self.when(), "type": "gemini", "content": "Done."}
        )

    def file(self) -> Path:
        return self.home / f".gemini/tmp/project{self.number % 40}/chats/session-2026-{self.id[:8]}.jsonl"


def write_history(home: Path, recorded_events: int, sessions: int, seed: int = 18) -> int:
    """Write about that many events in so many sessions, of three agents; return how many there are."""
    rnd = random.Random(seed)
    calls = round(recorded_events / sessions / 2.15)
    written = 0
    for number in range(sessions):
        kind = (Claude, Claude, Claude, Codex, Codex, Gemini)[number % 6]
        written += kind(home, number, rnd, _START + number * 700).session(max(calls, 1))
    projects = {f"/srv/work/project{number}": f"project{number}" for number in range(40)}
    directory = home / ".gemini"
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "projects.json").write_bytes(_encode({"projects": projects}))
    return written


def size_of(home: Path) -> int:
    return sum(os.path.getsize(path) for path in home.rglob("*.jsonl"))
