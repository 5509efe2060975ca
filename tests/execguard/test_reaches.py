"""Lines that were seen to start `rm`: under the guard none reaches it. Everyday lines: none is denied."""

import asyncio
import json
from pathlib import Path

import pytest

from hookline import Engine
from hookline.events import ToolCall
from hookline.execguard.facts import ExecFacts
from hookline.execguard.guard import exec_guard
from hookline.execguard.judge import ExecJudge, ExecRules, GuardRow, RuleRow
from hookline.execguard.messages import FileWall
from hookline.execguard.supervision import Walls
from hookline.guards import GUARD_NAMES
from hookline.guards.runner import GuardRunner
from hookline.model.session_info import SessionInfo
from hookline.shell import HOLE, ShellReader
from tests.execguard.guarded import needs_verify
from tests.execguard.room import ATTACKS
from tests.matching.reaches import Reaching, corpus

#: All of them run in `python -m bench.soak execguard`.
_EVERY = 40


def lost(directory: Path, lines: list[Reaching]) -> list[str]:
    """Return the lines that deleted a file although `rm` is denied. A wall keeps the rest of the machine safe."""

    async def main() -> list[str]:
        found: list[str] = []
        async with Engine() as engine:
            session = engine.session("s", cwd=str(directory))
            walls = Walls(files=FileWall((str(directory),)))
            async with exec_guard(session, deny=["Bash(rm *)", "Bash(curl *)"], walls=walls) as guard:
                for one in lines:
                    _prepare(directory)
                    env = {
                        "PATH": "/usr/local/bin:/usr/bin:/bin",
                        "HOME": str(directory),
                        "TMPDIR": str(directory),
                    }
                    await guard.run([one.shells[0], "-c", one.line], env=env, timeout=5)
                    if not (directory / "y").exists() or not (directory / "d" / "a.txt").exists():
                        found.append(one.line)
        return found

    return asyncio.run(main())


def _prepare(directory: Path) -> None:
    (directory / "d").mkdir(parents=True, exist_ok=True)
    for name in ("y", "x", "f", "d/a.txt"):
        (directory / name).write_text("kept")


@needs_verify
@pytest.mark.unmeasured
def test_no_line_of_the_corpus_reaches_a_denied_program(tmp_path: Path) -> None:
    lines = [one for one in corpus() if one.program == "rm" and one.shells][::_EVERY]
    assert len(lines) > 50

    assert lost(tmp_path, lines) == []


def test_no_everyday_command_is_denied_when_it_starts_unless_its_line_is() -> None:
    rules = ExecRules(
        deny=(RuleRow("Bash(rm -rf /*)"), RuleRow("Bash(git push --force*)")),
        guards=tuple(GuardRow(name) for name in GUARD_NAMES if name != "self-protection"),
        project="/home/ada/project",
        home="/home/ada",
    )
    judge, reader = ExecJudge(rules), ShellReader()
    lines = json.loads((ATTACKS / "everyday.json").read_text())
    denied: dict[str, str] = {}
    for line in lines:
        for command in reader.read(line).commands:
            if HOLE in "".join(command.words):
                continue
            facts = ExecFacts(
                command.words, "/home/ada/project", f"/usr/bin/{command.base_name}", command.base_name
            )
            found = judge.finding(facts)
            # What is about files was judged with the line around it, which the agent tells the supervisor.
            if found is not None and not found.in_context and not _denied_by_text(found.rule, line):
                denied[line] = found.reason
    assert denied == {}


def _denied_by_text(guard: str, line: str) -> bool:
    """Return True if the text shows it for sure: those lines never start."""
    call = ToolCall(tool_name="Bash", tool_input={"command": line})
    info = SessionInfo(cwd="/home/ada/project", project_dir="/home/ada/project")
    said = GuardRunner(env={"HOME": "/home/ada"}).decision(guard, (), call, info)
    return said is not None and not said.doubt
