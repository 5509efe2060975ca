"""What `hookline convert` calls directly does in the other agent what it does in its own.

Each script is run for real, as Claude Code runs it and as the entry that was written for the other agent runs it, with
what each of the two agents would send; the wires of both say what became of it. None is expected to be direct or
wrapped here: but where it is direct, the verdicts must be the same.
"""

import json
import subprocess
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from hookline.cli.commands.convert.plan import Planned, Planner
from hookline.cli.commands.convert.trial import Side
from hookline.cli.engines import inspection_engine
from hookline.config.load import Loader, layer_of
from hookline.dialects.dialect import Place
from hookline.documents.document import read_document
from hookline.model.raw import Exited
from hookline.model.wire import Call, Parsed
from tests.cli.run_cli import Place as Scene
from tests.cli.run_cli import clean_env, place
from tests.every import every

FILE = ".claude/settings.json"
TARGETS = ("codex", "gemini-cli")
ANSWER = json.dumps(
    {
        "hookSpecificOutput": {
            "hookEventName": "PreToolUse",
            "permissionDecision": "deny",
            "permissionDecisionReason": "no",
        }
    }
)


def _scripts() -> Iterator[tuple[str, str]]:
    for part in Path(__file__).with_name("hard_scripts.txt").read_text().split("\n==== ")[1:]:
        name, _, text = part.partition("\n")
        yield name, f"{text.rstrip()}\n"


SCRIPTS = dict(_scripts())
#: The same call, as each agent makes it.
_CALLS: Mapping[str, Mapping[str, Any]] = {
    "claude-code": {"tool_name": "Bash", "tool_input": {"command": "forbidden thing", "description": "it"}},
    "codex": {"tool_name": "Bash", "tool_input": {"command": "forbidden thing"}},
    "gemini-cli": {
        "tool_name": "run_shell_command",
        "tool_input": {"command": "forbidden thing", "dir_path": "x"},
    },
}
#: Guards as people write them: strictness alone proves nothing.
DIRECT = (
    "an argument through a pipe", "an answer by jq -n", "a function that returns 2", "main.py", "a helper.py",
    "silence.py",
)  # fmt: skip


@pytest.fixture
def scene() -> Iterator[Scene]:
    with place() as made:
        made.write("answer.json", f"{ANSWER}\n")
        made.write("reason.txt", "")
        yield made


@cache
def _loader() -> Loader:
    return inspection_engine().loader


def _line(scene: Scene, name: str) -> str:
    """The entry of a script."""
    text = SCRIPTS[name]
    file = scene.write(f"hooks/hook{'.py' if name.endswith('.py') else '.sh'}", text)
    file.chmod(0o755)
    program = "" if text.startswith("#!") else "python3 " if name.endswith(".py") else "sh "
    return f"{program}hooks/{file.name}"


def _planned(scene: Scene, loader: Loader, line: str, target: str) -> Planned:
    entry = {"matcher": "Bash", "hooks": [{"type": "command", "command": line}]}
    scene.write(FILE, json.dumps({"hooks": {"PreToolUse": [entry]}}))
    source = loader.dialect("claude-code")
    document = layer_of(source, Place(str(scene.project / FILE), "flag")).document
    planner = Planner(loader, source, loader.dialect(target), document, str(scene.project), in_project=True)
    (found,) = planner.entries()
    return found


def _side(loader: Loader, dialect: str, event: str, line: str) -> Side:
    value = {"hooks": {event: [{"hooks": [{"type": "command", "command": line}]}]}}
    (hook,) = loader.document(read_document(json.dumps(value), "json", "own.json"), name=dialect).hooks
    known = loader.dialect(dialect)
    form = known.entry_form
    assert form is not None
    return Side(known, hook, form)


def _verdict(scene: Scene, side: Side, shell: str, line: str, parsed: Parsed) -> tuple[Any, ...]:
    """What becomes of a call: the entry's line is run as the agent runs it."""
    call = Call(side.hook, side.hook.event, parsed.payload, parsed.scene, 1.0)
    told = side.hook.wire.encode(call)
    document = json.loads(told.document) | _CALLS[side.dialect.name]
    env = clean_env(
        scene.home, {**told.env, **({"CLAUDECODE": "1"} if shell == "sh" else {"GUARD_OFF": "1"})}
    )
    ran = subprocess.run(
        [shell, "-c", line],
        input=json.dumps(document).encode(),
        cwd=scene.project,
        env=env,
        capture_output=True,
        check=False,
    )
    return side.counts(call, Exited(ran.returncode, ran.stdout, ran.stderr))


def _payload(scene: Scene, loader: Loader) -> Parsed:
    payload = {
        "session_id": "s", "transcript_path": "/t.jsonl", "cwd": str(scene.project), "permission_mode": "default",
        "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_use_id": "u",
        "tool_input": {"command": "forbidden thing"},
    }  # fmt: skip
    return loader.dialect("claude-code").wire.parse(payload)


@every("name", SCRIPTS)
def test_what_is_direct_gives_the_same_verdicts(scene: Scene, name: str) -> None:
    loader, line = _loader(), _line(scene, name)
    planned = {target: _planned(scene, loader, line, target) for target in TARGETS}
    groups = [(target, group) for target, each in planned.items() for group in each.groups]
    if not groups:
        return
    parsed = _payload(scene, loader)
    own = _side(loader, "claude-code", "PreToolUse", line)
    expected = _verdict(scene, own, "sh", line, parsed)
    for target, group in groups:
        there = str(group.entry["command"])
        other = _side(loader, target, group.event, there)
        assert _verdict(scene, other, "bash", there, parsed) == expected, target


@every("target", TARGETS)
def test_plain_guards_are_direct(scene: Scene, target: str) -> None:
    """Gemini CLI reads no answer of Claude Code."""
    for name in DIRECT:
        expected = "wrapped" if (name, target) == ("an answer by jq -n", "gemini-cli") else "direct"
        assert _planned(scene, _loader(), _line(scene, name), target).how == expected, name
