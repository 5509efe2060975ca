"""How many of our modules each of five things runs through: `python -m tools.house_paths` prints them as JSON.

A module counts when one of its functions is called (a `call` event of sys.setprofile) while the thing is done for
the second time in this process, so that imports, and what is made once and kept, do not count.

- native: `session.dispatch` of a PreToolUse whose one native hook is a shell command that exits with 2
- fire: `hookline fire PreToolUse Bash command=ls` in a project whose one native hook answers deny in JSON
- doctor: `hookline doctor` in a project with a native hook, which is a script, and a Claude Code one
- agent: one turn of an agent without an engine, whose one tool call is denied by a rule
- load: `engine.load(cwd, dialects=…)` in a project with a Claude Code file; the engine is there already

The user trusts the hooks of each project, by their content.
"""

import asyncio
import contextlib
import io
import json
import os
import sys
import tempfile
import threading
from collections.abc import Awaitable, Callable, Generator, Mapping
from pathlib import Path
from types import FrameType
from typing import Any

import hookline
from hookline.agent.conversation import Conversation
from hookline.agent.hooks import AgentHooks, NoHooks
from hookline.agent.models.scripted import Scripted, ScriptedCall, ScriptedModel
from hookline.agent.ports import Shown, UserPort
from hookline.agent.session.session import Agent
from hookline.agent.settings import AgentSettings
from hookline.agent.tools.base import Category, ToolReply, Workplace
from hookline.agent.turn.turn import AgentParts
from hookline.cli.main import run
from hookline.events import PRE_TOOL_USE, ToolCall
from hookline.permissions.rules import RuleReader, RuleSet
from hookline.permissions.state import Permissions

_PACKAGE = os.path.dirname(os.path.abspath(hookline.__file__)) + os.sep
_DENY = json.dumps({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny"}})
_HOOK = '[[hooks.PreToolUse]]\nmatcher = "Bash"\n[[hooks.PreToolUse.hooks]]\ncommand = {command}\n'


@contextlib.contextmanager
def _watched(seen: set[str]) -> Generator[None]:
    """Puts the modules whose functions are called meanwhile into the set, which is emptied first."""
    seen.clear()

    def watch(frame: FrameType, event: str, arg: Any) -> None:
        del arg
        if event == "call" and frame.f_code.co_filename.startswith(_PACKAGE):
            seen.add(frame.f_code.co_filename[len(_PACKAGE) :])

    threading.setprofile(watch)
    sys.setprofile(watch)
    try:
        yield
    finally:
        sys.setprofile(None)
        threading.setprofile(None)


async def _twice(seen: set[str], action: Callable[[], Awaitable[object]]) -> None:
    for _ in range(2):
        with _watched(seen):
            await action()


def native() -> set[str]:
    seen: set[str] = set()

    async def main() -> None:
        _native_hook("echo no >&2; exit 2")
        engine = hookline.load(".").engine
        _trust(engine)
        session = engine.session("one")
        call = ToolCall(tool_name="Bash", tool_input={"command": "ls"})
        await _twice(seen, lambda: session.dispatch(PRE_TOOL_USE, call))
        await engine.close()

    asyncio.run(main())
    return seen


def fire() -> set[str]:
    _native_hook(f"echo '{_DENY}'")
    _trust(hookline.load(".").engine)
    return _command("fire", "PreToolUse", "Bash", "command=ls")


def doctor() -> set[str]:
    guard = Path(".hookline/guard.sh")
    _native_hook(str(guard))
    guard.write_text("#!/bin/sh\necho no >&2\nexit 2\n")
    guard.chmod(0o755)
    _claude_hook(f"echo '{_DENY}'")
    _trust(hookline.load(".", dialects=["claude-code", "native"]).engine)
    return _command("doctor")


def _command(*words: str) -> set[str]:
    seen: set[str] = set()
    for _ in range(2):
        with contextlib.redirect_stdout(io.StringIO()), _watched(seen):
            run(words)
    return seen


def agent() -> set[str]:
    seen: set[str] = set()

    async def main() -> None:
        reader, user, cwd = RuleReader(home=""), UserPort(listener=_Quiet()), os.getcwd()
        hooks = AgentHooks(NoHooks(), user)
        rules, _problems = RuleSet.parse(deny=["Probe"], source="house", reader=reader)
        turn = [Scripted(tool_calls=(ScriptedCall("Probe"),)), Scripted(text="done")]
        settings = AgentSettings(model="scripted")
        one = Agent(
            AgentParts(
                settings=settings,
                model=ScriptedModel(turn * 2),
                hooks=hooks,
                conversation=Conversation(settings.system),
                tools={"Probe": _Probe()},
                permissions=Permissions({"house": rules}, root=cwd, reader=reader),
                workplace=Workplace(hooks, cwd, env={}),
                user=user,
            )
        )
        await one.start()
        await _twice(seen, lambda: one.play("go"))
        await one.end()

    asyncio.run(main())
    return seen


def load() -> set[str]:
    seen: set[str] = set()
    _claude_hook("exit 2")
    _trust(hookline.load(".", dialects=["claude-code"]).engine)
    for _ in range(2):
        engine = hookline.Engine()
        with _watched(seen):
            engine.load(os.getcwd(), dialects=["claude-code"])
    return seen


class _Quiet:
    def show(self, shown: Shown) -> None:
        del shown


class _Probe:
    name = "Probe"
    description = "does nothing"
    category: Category = "other"
    callers = None
    schema: Mapping[str, Any] = {"type": "object"}

    def problem(self, arguments: Mapping[str, Any]) -> str | None:
        del arguments
        return None

    async def run(self, arguments: Mapping[str, Any], place: Workplace) -> ToolReply:
        raise AssertionError(f"the rule denies every call, but not {arguments} in {place.cwd}")


def _trust(engine: hookline.Engine) -> None:
    """As `hookline trust` does after a yes."""
    if engine.trust is not None:
        engine.trust.accept([engine.trust.item(hook) for hook in engine.hooks])


def _native_hook(command: str) -> None:
    os.mkdir(".hookline")
    Path(".hookline/hooks.toml").write_text(_HOOK.format(command=json.dumps(command)))


def _claude_hook(command: str) -> None:
    os.mkdir(".claude")
    group = {"matcher": "Bash", "hooks": [{"type": "command", "command": command}]}
    Path(".claude/settings.json").write_text(json.dumps({"hooks": {"PreToolUse": [group]}}))


def main() -> None:
    found: dict[str, list[str]] = {}
    for path in (native, fire, doctor, agent, load):
        with tempfile.TemporaryDirectory() as home:
            os.environ.update(HOME=home, XDG_CONFIG_HOME=f"{home}/config", XDG_STATE_HOME=f"{home}/state")
            project = Path(home, "project")
            project.mkdir()
            with contextlib.chdir(project):
                found[path.__name__] = sorted(path())
    sys.stdout.write(json.dumps(found))


if __name__ == "__main__":
    main()
