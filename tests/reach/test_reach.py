"""Test three guards, each written once in every dialect, on the calls of every agent."""

import asyncio
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from hookline import Engine
from tests.agent.scripted_session import ScriptedSession, call, calls, says
from tests.agents import WITH_FILES
from tests.reach.asking import Asked, Workspace, install, wrongly_answered
from tests.reach.calls import AGENT, CALLERS, FILES, GUARDS, OUTSIDE, SSH, Caller, MadeCall, sample
from tests.trusting import trust_all_of


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    made = Workspace(tmp_path_factory.mktemp("reach"), *FILES)
    before = os.environ["HOME"]
    os.environ["HOME"] = str(made.home)
    yield made
    os.environ["HOME"] = before


@pytest.mark.parametrize("caller", CALLERS.values(), ids=CALLERS)
@pytest.mark.parametrize("dialect", FILES)
def test_a_guard_stops_what_it_is_about_whoever_calls(
    dialect: str, caller: Caller, workspace: Workspace
) -> None:
    asked = Asked(workspace, dialect, caller)
    asyncio.run(asked.check(sample(caller, dialect)))
    assert asked.problems == []
    # Calls that passed were judged, too.
    assert {run.status for run in asked.runs} == {"ok", "blocked"}


def test_every_call_of_the_table_is_asked_about_by_some_guard() -> None:
    for caller in CALLERS.values():
        asked = [call for dialect in FILES for call in sample(caller, dialect)]
        assert all(call in asked for call in caller.calls)


def test_every_dialect_has_guards_and_calls() -> None:
    assert set(FILES) == set(WITH_FILES)
    assert {caller.dialect for caller in CALLERS.values() if caller.dialect} == set(FILES)


def test_every_cell_has_a_call_that_is_stopped_and_one_that_is_not() -> None:
    cells = {
        (dialect, caller.name, call.guard.name, call.denied)
        for dialect in FILES
        for caller in CALLERS.values()
        for call in sample(caller, dialect)
    }
    assert len(cells) == len(FILES) * len(CALLERS) * len(GUARDS) * 2


@pytest.mark.parametrize("dialect", FILES)
def test_a_script_that_searches_all_of_its_input_would_stop_harmless_calls(
    dialect: str, workspace: Workspace
) -> None:
    asked = Asked(workspace, dialect, AGENT)
    text = "rm -rf ~/.ssh/id ../x"
    write = MadeCall("Write", {"file_path": "{project}/notes.txt", "content": text}, OUTSIDE, denied=False)
    asyncio.run(asked.check([write, MadeCall("Read", {"limit": 1, "file_path": text[7:]}, SSH)]))
    assert asked.problems == []


class GuardedSession(ScriptedSession):
    """The agent in a project with the guards of one dialect."""

    def __init__(self, top: Path, dialect: str, made: Sequence[MadeCall]) -> None:
        self._dialect = dialect
        home, project = str(top / "home"), str(top / "home" / "project")
        script = [calls(*(call(each.tool, **each.at(home, project)) for each in made)), says("done")]
        super().__init__(top, script, mode="bypassPermissions")

    def _load(self, engine: Engine, hooks: Mapping[str, Any] | None) -> None:
        del hooks
        file = install(self._dialect, self.project)
        (self.project / "build").mkdir()
        (self.project / "README.md").write_text("hello")
        assert not engine.load(str(self.project), [str(file)], [self._dialect], trust=True).diagnostics


@pytest.mark.parametrize("dialect", FILES)
def test_the_agent_is_stopped_by_guards_of_every_dialect(
    dialect: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    made = sample(AGENT, dialect)

    async def main() -> list[str]:
        async with GuardedSession(tmp_path, dialect, made) as agent:
            await agent.play("clean up")
            return agent.results()

    results = asyncio.run(main())
    assert len(results) == len(made)
    for each, result in zip(made, results, strict=True):
        assert (each.guard.says in result) is each.denied, (str(each), result)


# By the real command line


@pytest.mark.parametrize(
    ("dialect", "name"),
    [
        ("docker-agent", "reasonix"),
        ("codewhale", "claude-code"),
        ("claude-code", "codewhale"),
        ("native", "docker-agent"),
        ("codex", "claude-code"),
        ("claude-code", "codex"),
    ],
)
def test_the_command_answers_with_guards_of_other_agents(dialect: str, name: str, tmp_path: Path) -> None:
    workspace, caller = Workspace(tmp_path, dialect), CALLERS[name]
    trust_all_of(workspace.home, workspace.project)
    wrong = [
        received
        for each in sample(caller, dialect)[::3]
        if (received := wrongly_answered(workspace, dialect, caller, each))
    ]
    assert wrong == []
