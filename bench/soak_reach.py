"""Run every guard of the matrix on every call, by the real `hookline hook` and `hookline agent`."""

import asyncio
import json
import os
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from bench.findings import Finding
from tests.cli.run_cli import Ran, clean_env, command_line
from tests.reach.asking import Asked, Workspace, wrongly_answered
from tests.reach.calls import AGENT, CALLERS, FILES, GUARDS, Caller, MadeCall, calls_of
from tests.trusting import trust_all_of

Say = Callable[[str], None]
_AT_ONCE = 2
_MOST_SHOWN = 20


def reach(say: Say) -> Iterator[Finding]:
    calls = 0
    wrong: list[str] = []
    for dialect in FILES:
        with tempfile.TemporaryDirectory() as top:
            workspace = Workspace(Path(os.path.realpath(top)), dialect)
            trust_all_of(workspace.home, workspace.project)
            for caller in CALLERS.values():
                asked = calls_of(caller, dialect)
                found = _wrong(workspace, dialect, caller, asked)
                calls += len(asked)
                wrong += found
                say(f"{dialect} asked by {caller.name}: {len(asked)} calls, {len(found)} wrong")
    for text in wrong[:_MOST_SHOWN]:
        say(f"   {text}")
    cells = len(FILES) * len(CALLERS) * len(GUARDS)
    yield Finding(
        f"answers about {calls:,} calls in {cells} cells that are wrong", str(len(wrong)), "0", not wrong
    )


def _wrong(workspace: Workspace, dialect: str, caller: Caller, calls: Sequence[MadeCall]) -> list[str]:
    if caller.dialect:

        def answer(call: MadeCall) -> str:
            return wrongly_answered(workspace, dialect, caller, call, _run)

        with ThreadPoolExecutor(_AT_ONCE) as pool:
            return [text for text in pool.map(answer, calls) if text]
    return (
        _wrong_in_agent(workspace, dialect, calls)
        if caller is AGENT
        else _wrong_in_program(workspace, dialect, caller, calls)
    )


def _run(
    words: Sequence[str], cwd: Path, home: Path, *, env: Mapping[str, str] | None = None, stdin: bytes = b""
) -> Ran:
    """A process that starts from nothing, as an agent starts it."""
    ran = subprocess.run(
        command_line(words), cwd=cwd, env=clean_env(home, env), input=stdin, capture_output=True, check=False
    )
    return Ran(ran.returncode, ran.stdout.decode("utf-8", "replace"), ran.stderr.decode("utf-8", "replace"))


def _wrong_in_agent(workspace: Workspace, dialect: str, calls: Sequence[MadeCall]) -> list[str]:
    """One session in which the model makes every call."""
    home, project = str(workspace.home), str(workspace.project)
    uses = [{"name": call.tool, "input": call.at(home, project)} for call in calls]
    script = workspace.home / "script.yaml"
    script.write_text(json.dumps([{"tool_calls": uses}, {"text": "done"}]))
    words = ["agent", "--json", "clean up", "--model", f"scripted:{script}", "--mode", "bypass"]
    ran = _run(
        [*words, "--config", str(workspace.project / FILES[dialect])], workspace.project, workspace.home
    )
    try:
        fired: list[Any] = [one for one in json.loads(ran.stdout)["events"] if one["event"] == "PreToolUse"]
    except (ValueError, KeyError):
        return [f"{dialect} in the agent: {ran}"]
    if len(fired) != len(calls):
        return [f"{dialect} in the agent: {len(fired)} of {len(calls)} calls were made"]
    return [
        f"{dialect} in the agent about {call}: {one['outcome']}"
        for call, one in zip(calls, fired, strict=True)
        if (call.guard.says in json.dumps(one["outcome"])) is not call.denied
    ]


def _wrong_in_program(
    workspace: Workspace, dialect: str, caller: Caller, calls: Sequence[MadeCall]
) -> list[str]:
    before = os.environ["HOME"]
    os.environ["HOME"] = str(workspace.home)
    try:
        asked = Asked(workspace, dialect, caller)
        asyncio.run(asked.check(calls))
    finally:
        os.environ["HOME"] = before
    return asked.problems
