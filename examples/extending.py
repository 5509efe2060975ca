"""Extending Hookline: a handler kind, a builtin, a dialect, admission, and a journal sink."""

import asyncio
import json
import sys
import tempfile
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from hookline import Engine, Outcome, deny
from hookline.events import PRE_TOOL_USE, Capability, EventSpec, ToolCall
from hookline.extending import (
    Admission,
    CommandSpec,
    ConfigPath,
    Decoded,
    Dialect,
    DialectEvent,
    Encoded,
    Exited,
    Failed,
    Hook,
    HookInvocation,
    HookReply,
    Layer,
    LoadedHooks,
    Parsed,
    Policy,
    RawResult,
    Returned,
    Run,
    SessionInfo,
    Tools,
    standard_builtins,
    standard_handlers,
)


# A handler kind: `type = "search"` in a config file, with a field `text`
class SearchHandler:
    kind = "search"
    own_clock = False  # the engine watches the timeout

    async def run(self, call: HookInvocation) -> RawResult:
        text: str = call.hook.spec["text"]
        found = text in json.dumps(call.payload.tool_input)
        return Returned(deny(f"it contains {text!r}") if found else None)

    def problem(self, spec: Any) -> str | None:
        return None if spec.get("text") else "a search hook needs text"

    async def close(self) -> None:
        pass


# A builtin: `type = "builtin"`, `command = "only_tools"`, `args = [...]`
def only_tools(args: tuple[str, ...], payload: Any, _info: SessionInfo) -> Outcome | None:
    return None if payload.tool_name in args else deny(f"only {', '.join(args)} may be used")


# A dialect: an agent whose .acme/hooks.json lists commands for an event. A command gets JSON on stdin and blocks with
# exit code 1; what it printed is the reason
class AcmeWire:
    def encode(self, call: HookInvocation) -> Encoded:
        return Encoded(
            json.dumps({"tool": call.payload.tool_name, "input": call.payload.tool_input}).encode()
        )

    def decode(self, call: HookInvocation, raw: RawResult) -> Decoded:
        if isinstance(raw, Failed):
            return Decoded(failure=raw)
        if isinstance(raw, Exited) and raw.code == 1:
            return Decoded(deny(raw.stdout.decode().strip()))
        return Decoded()

    def advance(self, event: EventSpec[Any], payload: Any, outcome: Outcome) -> Any:
        return payload  # its hooks rewrite nothing

    def parse(self, document: Mapping[str, Any]) -> Parsed:
        return Parsed(
            PRE_TOOL_USE, ToolCall(tool_name=document["tool"], tool_input=document["input"]), SessionInfo()
        )

    def answer(self, event_name: str, outcome: Outcome, payload: Any = None) -> HookReply:
        return HookReply(code=1 if outcome.blocked else 0, stdout=outcome.reason or "")


class Acme(Dialect):
    name = "acme"
    title = "Acme Agent"
    project_files = (".acme/hooks.json",)

    @cached_property
    def wire(self) -> AcmeWire:
        return AcmeWire()

    @cached_property
    def events(self) -> Mapping[str, DialectEvent]:
        policy = Policy(event_name="before_tool", may=Capability.BLOCK, run="serial", stop_on="block")
        return {"before_tool": DialectEvent(PRE_TOOL_USE, policy)}

    def config_paths(self, project: str, env: Mapping[str, str]) -> Sequence[ConfigPath]:
        return [ConfigPath(f"{project}/.acme/hooks.json", "project")]

    def read(self, layers: Sequence[Layer], tools: Tools) -> LoadedHooks:
        found = [
            self._hook(layer, event, command)
            for layer in layers
            for event, commands in layer.document.value.items()
            for command in commands
        ]
        return LoadedHooks(tuple(found))

    def _hook(self, layer: Layer, event: str, command: str) -> Hook:
        return Hook(
            name=f"{event} hook",
            event=self.events[event].event,
            policy=self.events[event].policy,
            wire=self.wire,
            kind="command",
            spec=CommandSpec(command),
            dialect=self.name,
            scope=layer.config_path.scope,
            where=layer.document.where(event),
        )


# Admission: whether a hook may run at all
def admit(hook: Hook, _info: SessionInfo) -> Admission:
    if hook.kind == "http":
        return Admission(admitted=False, reason="hooks may not use the network here")
    return Admission()


# A journal sink: called with the record of each run
def sink(run: Run) -> None:
    print(f"  {run.dialect} {run.hook}: {run.status}{f', {run.reason}' if run.reason else ''}")


HOOKS = """
[[hooks.PreToolUse]]
hooks = [
    {type = "search", name = "no sudo", text = "sudo"},
    {type = "builtin", command = "only_tools", args = ["Bash", "Read"]},
    {type = "http", name = "remote", url = "https://hooks.example.com/", on_failure = "open"},
]
"""
ACME = {"before_tool": ["grep -q 'rm -rf' && echo 'no rm -rf' && exit 1; exit 0"]}


async def main(project: Path) -> None:
    (project / ".hookline").mkdir()
    (project / ".hookline" / "hooks.toml").write_text(HOOKS)
    (project / ".acme").mkdir()
    (project / ".acme" / "hooks.json").write_text(json.dumps(ACME))

    handlers = standard_handlers(builtins={**standard_builtins(), "only_tools": only_tools})
    async with Engine(handlers=handlers | {"search": SearchHandler()}, admit=admit) as engine:
        engine.journal.subscribe(sink)
        engine.loader.add(Acme())
        for diagnostic in engine.load(str(project), dialects=["acme", "native"]).diagnostics:
            print(diagnostic, file=sys.stderr)
        session = engine.session("example", cwd=str(project))
        for tool, command in (
            ("Bash", "ls"),
            ("Bash", "sudo ls"),
            ("Bash", "rm -rf build"),
            ("Deploy", "ls"),
        ):
            call = ToolCall(tool_name=tool, tool_input={"command": command})
            print(f"{tool}: {command}")
            outcome = await session.dispatch(PRE_TOOL_USE, call)
            print(f"  => {outcome.reason if outcome.blocked else 'go ahead'}")


with tempfile.TemporaryDirectory() as directory:
    asyncio.run(main(Path(directory)))
