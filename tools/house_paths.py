"""Count the calls of our functions, by module, on five paths: `python -m tools.house_paths` prints them as JSON.

A call counts (a `call` event of sys.setprofile) while the thing is done for the second time in this process, or the
third time in a daemon, so that imports, and what is made once and kept, do not count. Processes of hooks do not either.

- native: `session.dispatch` of a PreToolUse whose one native hook is a shell command that exits with 2
- fire: `hookline fire PreToolUse Bash command=ls` in a project whose one native hook answers deny in JSON
- hook: a call of the relay to a real daemon, in its process, with the hook of fire: `python -m tools.house_paths daemon
  DIR FILE` is that daemon, which writes its counts to FILE and begins anew at each SIGUSR1
- agent: one turn of an agent without an engine, whose one tool call is denied by a rule
- doctor: `hookline doctor` in a project with a native hook, which is a script, and a Claude Code one

The user trusts the hooks of each project, by their content.
"""

import asyncio
import contextlib
import io
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Generator, Mapping, Sequence
from pathlib import Path
from types import FrameType
from typing import Any

import hookline
from hookline.agent.conversation import Conversation
from hookline.agent.hooks import AgentHooks, NoHooks
from hookline.agent.models.scripted import Scripted, ScriptedModel, ScriptedToolUse
from hookline.agent.ports import Shown, UserPort
from hookline.agent.session.session import Agent
from hookline.agent.settings import AgentSettings
from hookline.agent.tools.base import Category, ToolOutput, Workplace
from hookline.agent.turn.turn import AgentParts
from hookline.cli.main import run
from hookline.events import PRE_TOOL_USE, ToolCall
from hookline.permissions.rules import RuleReader, RuleSet
from hookline.permissions.state import Permissions
from hookline.trust.trust import Trust

_ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_PACKAGE = os.path.dirname(os.path.abspath(hookline.__file__)) + os.sep
_DENY = json.dumps({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny"}})
_HOOK = '[[hooks.PreToolUse]]\nmatcher = "Bash"\n[[hooks.PreToolUse.hooks]]\ncommand = {command}\n'


#: Seconds without a call after which the daemon has ended the last one.
_QUIET_SECONDS = 0.3
_PATIENCE_SECONDS = 30

#: Calls by module.
Calls = Counter[str]


def _watch(seen: Calls) -> None:
    """Count every call from now on, also in threads that are started later."""

    def watch(frame: FrameType, event: str, arg: Any) -> None:
        del arg
        if event == "call" and frame.f_code.co_filename.startswith(_PACKAGE):
            seen[frame.f_code.co_filename[len(_PACKAGE) :]] += 1

    threading.setprofile(watch)
    sys.setprofile(watch)


@contextlib.contextmanager
def _watched(seen: Calls) -> Generator[None]:
    """Count the calls made meanwhile, from 0."""
    seen.clear()
    _watch(seen)
    try:
        yield
    finally:
        sys.setprofile(None)
        threading.setprofile(None)


async def _twice(seen: Calls, action: Callable[[], Awaitable[object]]) -> None:
    for _ in range(2):
        with _watched(seen):
            await action()


def native() -> Calls:
    seen = Calls()

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


def fire() -> Calls:
    _native_hook(f"echo '{_DENY}'")
    _trust(hookline.load(".").engine)
    return _command("fire", "PreToolUse", "Bash", "command=ls")


def doctor() -> Calls:
    guard = Path(".hookline/guard.sh")
    _native_hook(str(guard))
    guard.write_text("#!/bin/sh\necho no >&2\nexit 2\n")
    guard.chmod(0o755)
    _claude_hook(f"echo '{_DENY}'")
    _trust(hookline.load(".", dialects=["claude-code", "native"]).engine)
    return _command("doctor")


def _command(*words: str) -> Calls:
    seen = Calls()
    for _ in range(2):
        with contextlib.redirect_stdout(io.StringIO()), _watched(seen):
            run(words)
    return seen


def agent() -> Calls:
    seen = Calls()

    async def main() -> None:
        reader, user, cwd = RuleReader(home=""), UserPort(listener=_Quiet()), os.getcwd()
        hooks = AgentHooks(NoHooks(), user)
        rules, _problems = RuleSet.parse(deny=["Probe"], source="house", reader=reader)
        turn = [Scripted(tool_calls=(ScriptedToolUse("Probe"),)), Scripted(text="done")]
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
                trust=Trust(cwd, {}),
            )
        )
        await one.start()
        await _twice(seen, lambda: one.play("go"))
        await one.end()

    asyncio.run(main())
    return seen


def hook() -> Calls:
    _native_hook(f"echo '{_DENY}'")
    _trust(hookline.load(".").engine)
    home, relay = os.environ["HOME"], os.path.join(os.path.dirname(sys.executable), "hookline-relay")
    directory, counts = os.path.join(home, "run"), Path(home, "counts.json")
    os.mkdir(directory, 0o700)
    daemon = subprocess.Popen(
        [sys.executable, "-m", "tools.house_paths", "daemon", directory, counts], cwd=_ROOT
    )
    try:
        _wait_for(lambda: bool(os.listdir(directory)) or daemon.poll() is not None)
        line = [relay, "--daemon", directory, "hook", "--dialect", "native", "--home", home, "PreToolUse"]
        found = Calls()
        for number in range(3):
            _counted(daemon, counts)
            _deny(line, number)
            found = _counted(daemon, counts)
    finally:
        daemon.terminate()
        daemon.wait()
    if not found:
        raise AssertionError("the daemon did not take the call")
    return found


def _deny(relay: Sequence[str], number: int) -> None:
    given = {
        "hook_event_name": "PreToolUse", "session_id": "house", "cwd": os.getcwd(), "tool_name": "Bash",
        "tool_input": {"command": "ls"}, "tool_use_id": f"call {number}",
    }  # fmt: skip
    answer = subprocess.run(relay, input=json.dumps(given), capture_output=True, text=True, check=True)
    if '"deny"' not in answer.stdout:
        raise AssertionError(f"the hook denies every call, but not this one: {answer}")


def _counted(daemon: "subprocess.Popen[bytes]", counts: Path) -> Calls:
    """The daemon's calls since the last time, once it is quiet."""
    total = Calls()
    while True:
        daemon.send_signal(signal.SIGUSR1)
        _wait_for(counts.exists)
        found = Calls(json.loads(counts.read_text()))
        counts.unlink()
        if not found:
            return total
        total += found
        time.sleep(_QUIET_SECONDS)


def _wait_for(condition: Callable[[], bool]) -> None:
    until = time.monotonic() + _PATIENCE_SECONDS
    while not condition():
        if time.monotonic() > until:
            raise TimeoutError(f"the daemon did nothing for {_PATIENCE_SECONDS} s")
        time.sleep(0.01)


def _be_daemon(directory: str, counts: str) -> None:
    seen = Calls()

    def write(number: int, frame: FrameType | None) -> None:
        del number, frame
        part = f"{counts}.part"
        Path(part).write_text(json.dumps(seen))
        seen.clear()
        os.replace(part, counts)

    signal.signal(signal.SIGUSR1, write)
    _watch(seen)
    run(["daemon", "run", "--directory", directory, "--home", os.environ["HOME"]])


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

    async def run(self, arguments: Mapping[str, Any], workplace: Workplace) -> ToolOutput:
        raise AssertionError(f"the rule denies every call, but not {arguments} in {workplace.cwd}")


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
    if sys.argv[1:2] == ["daemon"]:
        _be_daemon(*sys.argv[2:])
        return
    found: dict[str, Calls] = {}
    for path in (native, fire, hook, agent, doctor):
        with tempfile.TemporaryDirectory() as home:
            os.environ["HOME"] = home
            project = Path(home, "project")
            project.mkdir()
            with contextlib.chdir(project):
                found[path.__name__] = path()
    sys.stdout.write(json.dumps(found))


if __name__ == "__main__":
    main()
