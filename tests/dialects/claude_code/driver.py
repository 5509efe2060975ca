"""Play a recorded case in the engine: its settings, its scripts, its payloads; and keep the results."""

import asyncio
import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from hookline import Engine, Outcome, Session
from hookline.dialects.claude_code import dialect
from hookline.engine.background import LateMessage
from hookline.events import PRE_TOOL_USE, ToolCall
from hookline.extending import Handler, Run
from hookline.handlers.agent import AgentHandler
from hookline.handlers.command import CommandHandler
from hookline.handlers.http.handler import HttpHandler
from hookline.handlers.mcp_tool import McpToolHandler
from hookline.handlers.process.pool import Processes
from hookline.handlers.prompt import PromptHandler
from hookline.model.diagnostics import Diagnostic
from hookline.model.hook import Scope
from tests.dialects.claude_code.backends import Mcp, Model, served
from tests.dialects.hooked_agent import File, read_hooks
from tests.recorded import Case
from tests.waiting import until

RECORDED = Path(__file__).parent / "recorded"
_PROJECT = "/home/user/project"
_TOOL_EVENTS = ("PreToolUse", "PermissionRequest", "PostToolUse", "PostToolUseFailure")
_ENDINGS = ("Stop", "SubagentStop")
_MOST_ROUNDS = 15


class Played(Struct):
    """The results of a case in Hookline."""

    outcomes: list[Outcome] = []
    #: Every record of every run; a hook that went into the background has two.
    runs: list[Run] = []
    late: list[LateMessage] = []
    log: list[str] = []
    http: list[dict[str, Any]] = []
    mcp: list[dict[str, Any]] = []
    prompts: list[str] = []
    diagnostics: tuple[Diagnostic, ...] = ()

    @property
    def ran(self) -> int:
        return len({run.run_id for run in self.runs if run.status != "skipped"})


class CaseDirectory:
    """A scratch directory instead of the one in which a case was recorded."""

    def __init__(self, case: Case, root: Path, port: int) -> None:
        self.case = case
        self.project = root / "project"
        self.log = root / "log"
        self.home = root / "home"
        self.port = port
        for directory in (self.project / ".claude", self.log, self.home):
            directory.mkdir(parents=True)
        for name, text in case.get("files", {}).items():
            path = self.project / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
            if name.endswith(".sh"):
                path.chmod(0o755)

    def here(self, value: Any) -> Any:
        """Return a recorded value with the paths of this run."""
        text = json.dumps(value)
        for recorded, place in (
            ("//@PROJ@", f"/{self.project}"),
            ("@PROJ@", str(self.project)),
            (_PROJECT, str(self.project)),
            ("@PORT@", str(self.port)),
            ("<2000000 chars>", "x" * 2_000_000),
        ):
            text = text.replace(recorded, place)
        return json.loads(text)

    def there(self, text: str) -> str:
        return text.replace(str(self.project), _PROJECT).replace(f":{self.port}/", ":PORT/")

    def files(self) -> list[File]:
        project = {"hooks": self.case.get("hooks", {}), **self.case.get("settings", {})}
        levels: list[tuple[str, Scope, Any]] = [
            (f"{self.home}/.claude/settings.json", "user", self.case.get("user_settings")),
            (f"{self.project}/.claude/settings.json", "project", project),
            (f"{self.project}/.claude/settings.local.json", "local", self.case.get("local_settings")),
        ]
        args = self.case.get("args", [])
        if "--settings" in args:
            given = json.loads(args[args.index("--settings") + 1])
            levels.append((f"{self.project}/flag.json", "flag", given))
        files: list[File] = [
            (name, scope, json.dumps(self.here(value), indent=1))
            for name, scope, value in levels
            if value is not None
        ]
        raw = self.case.get("raw_settings")
        return files if raw is None else [(levels[1][0], "project", raw)]

    def lines(self) -> list[str]:
        path = self.log / "runs.log"
        return self.there(path.read_text()).splitlines() if path.exists() else []


def is_streaming(case: Case) -> bool:
    """Return True if the client stayed for further prompts; the others ran one prompt and ended."""
    return case["id"].startswith("idle-")


def documents(case: Case) -> list[dict[str, Any]]:
    """The payloads to fire, one per event: as recorded, else made of what the case says."""
    recorded: list[dict[str, Any]] = list(case.get("payloads") or ())
    seen = case["observed"].get("http_seen")
    if not recorded and seen:
        recorded = [seen[0]["body"]]
    event = case["event"]
    first = next((one for one in recorded if one["hook_event_name"] == event), None)
    base = first if first is not None else _sample(event)
    others = [one for one in recorded if one["hook_event_name"] != event]
    if event in _TOOL_EVENTS:
        return [_for_call(base, call, recorded) for call in case["model_tool_calls"]] + others
    if event in _ENDINGS:
        return [{**base, "stop_hook_active": False}]
    if event == "MessageDisplay":
        return recorded
    return [base, *others]


#: Which of several recorded payloads of an event stands for a plain one.
_PLAIN = {"SessionStart": "startup", "PreToolUse": "Bash", "PostToolUse": "Bash"}


def _sample(event: str) -> dict[str, Any]:
    name = f"{event}.{_PLAIN[event]}" if event in _PLAIN else event
    return json.loads((RECORDED / "payloads" / f"{name}.json").read_text())["payload"]


def _for_call(
    base: Mapping[str, Any], call: Mapping[str, Any], recorded: list[dict[str, Any]]
) -> dict[str, Any]:
    own = next((one for one in recorded if one.get("tool_use_id") == call["id"]), None)
    if own is not None:
        return own
    document = {**base, "tool_name": call["name"], "tool_input": call["input"]}
    return {**document, "tool_use_id": call["id"]} if "tool_use_id" in base else document


_DECISIONS = {
    "prompt-pre-ok": '{"ok": true, "reason": ""}',
    "prompt-no-arguments-placeholder": '{"ok": true, "reason": ""}',
    "prompt-pre-fenced-json": '```json\n{"ok": false, "reason": "HK_PROMPT_NO"}\n```',
    "agent-pre-notok": '{"ok": false, "reason": "HK_AGENT_NO"}',
}
_NO = '{"ok": false, "reason": "HK_PROMPT_NO"}'


def play_case(case: Case, root: Path) -> Played:
    with served() as server:
        directory = CaseDirectory(case, root, server.port)
        model, mcp = Model(_DECISIONS.get(case["id"], _NO)), Mcp()
        env = {
            "PATH": os.environ["PATH"],
            "HOME": str(directory.home),
            "LANG": "C.UTF-8",
            "HKLOG": str(directory.log),
            **case.get("env", {}),
        }
        handlers: dict[str, Handler] = {
            "command": CommandHandler(Processes(), env),
            "http": HttpHandler(environ={**env, "HK_TOKEN": "tok-123", "HK_SECRET": "hidden"}),
            "prompt": PromptHandler(model),
            "agent": AgentHandler(model),
            "mcp_tool": McpToolHandler(mcp),
        }
        claude = dialect(env=env)
        reading = read_hooks(claude, directory.files(), handlers)
        played = Played(diagnostics=reading.diagnostics)
        asyncio.run(_Playing(case, directory, Engine(reading.hooks, handlers=handlers), played).run())
        played.http = [json.loads(directory.there(json.dumps(seen))) for seen in server.seen]
        played.mcp, played.prompts = mcp.calls, [directory.there(prompt) for prompt in model.prompts]
        played.log = directory.lines()
        return played


class _Playing:
    def __init__(self, case: Case, directory: CaseDirectory, engine: Engine, played: Played) -> None:
        self._case = case
        self._directory = directory
        self._engine = engine
        self._played = played
        self._claude = dialect(env={})
        engine.journal.subscribe(played.runs.append)

    async def run(self) -> None:
        session: Session | None = None
        for document in map(self._directory.here, documents(self._case)):
            parsed = self._claude.wire.parse(document)
            info: dict[str, Any] = msgspec.structs.asdict(parsed.info) | {
                "project_dir": str(self._directory.project),
                "attended": is_streaming(self._case),
            }
            os.makedirs(info["cwd"], exist_ok=True)
            if session is None:
                session = self._engine.session(**info)
            session.update(**info)
            if document["hook_event_name"] in _ENDINGS:
                await self._rounds(session, parsed.event, parsed.payload)
            else:
                self._played.outcomes.append(await session.dispatch(parsed.event, parsed.payload))
                if self._played.outcomes[-1].permission_updates:
                    break  # with that rule the next call does not ask
        assert session is not None
        await self._end(session)

    async def _rounds(self, session: Session, event: Any, payload: Any) -> None:
        """An agent that is kept from ending tries again, in some cases after a tool call."""
        for _ in range(_MOST_ROUNDS):
            outcome = await session.dispatch(event, payload)
            self._played.outcomes.append(outcome)
            if not outcome.blocked or outcome.stop:
                return
            payload = msgspec.structs.replace(payload, stop_hook_active=True)
            if self._case.get("model_tool_calls") and self._case["event"] == "Stop":
                await session.dispatch(PRE_TOOL_USE, ToolCall(tool_name="Bash"))

    async def _end(self, session: Session) -> None:
        # The recorded session ended while this hook still ran.
        if self._case["id"] == "async-outlives-session":
            await until(lambda: any(file.stat().st_size for file in self._directory.log.glob("in.*.json")))
            await asyncio.sleep(0.3)  # its next command sets the trap
            await self._engine.close(0.1)
        else:
            await self._engine.drain(30)
        expected = self._case["observed"].get("hook_log") or ()
        for _ in range(200 if self._case["id"] == "proc-grandchild-detached" else 0):
            if len(self._directory.lines()) >= len(expected):
                break
            await asyncio.sleep(0.05)
        self._played.late.extend(session.inbox.take_all())
        await self._engine.close()


def without_times(lines: list[str]) -> list[str]:
    return sorted(re.sub(r" \d+\.\d+$", "", line) for line in lines)
