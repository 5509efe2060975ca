"""Settings of a project that switch an agent's hooks off: every part of Hookline that can say so does."""

import json
from pathlib import Path
from typing import Any

import pytest

from hookline.dialects.registry import standard_dialects
from hookline.team.fleet.bundles.report import switched_off
from tests.agents import AGENTS, OTHERS
from tests.cli.run_cli import clean_env, run_cli

SWITCHABLE = [name for name in OTHERS if AGENTS[name].switch[0]]


def test_every_dialect_that_knows_a_switch_in_files_is_here() -> None:
    known = {
        name
        for name, listed in standard_dialects().items()
        if "switched_off_by" in vars(type(listed.build())) and name in OTHERS
    }
    assert known == set(SWITCHABLE)


@pytest.mark.parametrize("name", SWITCHABLE)
def test_a_switch_in_a_project_is_found_shown_reported_and_guarded(name: str, tmp_path: Path) -> None:
    home, project = tmp_path / "home", tmp_path / "home/project"
    file, text = AGENTS[name].switch
    (project / file).parent.mkdir(parents=True)
    (project / ".hookline").mkdir()
    title, env = standard_dialects()[name].build().title, clean_env(home)
    # Another agent, which is not switched off.
    caller = next(each for each in ("claude-code", "codex") if each != name)

    def call(event: str, **payload: Any) -> str:
        given = {"session_id": "s-1", "cwd": str(project), "hook_event_name": event, "model": "m", **payload}
        ran = run_cli(["hook", "--dialect", caller, event], project, home, stdin=json.dumps(given))
        return ran.stdout + ran.stderr

    def begun() -> str:
        return call("SessionStart", source="startup")

    (project / file).write_text(text)
    # Without Hookline in that agent nothing is lost.
    assert title not in begun()
    run_cli(["install", name, "--yes"], project, home)
    assert f"makes {title} run no hooks here" in json.loads(begun())["systemMessage"]
    assert switched_off(env) == {title: 1}
    found = json.loads(run_cli(["doctor", "--json"], project, home).stdout)["problems"]
    assert [each["severity"] for each in found if each["code"] == "hooks-off"] == ["error"]
    # An agent that writes such a setting is asked about.
    (project / file).unlink()
    asked = call(
        "PreToolUse",
        tool_name="Write",
        tool_input={"file_path": str(project / file), "content": text},
        tool_use_id="t",
        permission_mode="default",
    )
    assert json.loads(asked)["hookSpecificOutput"]["permissionDecision"] in ("ask", "deny")
    assert f"{file} always needs approval" in asked
    assert title not in begun()
    assert switched_off(env) == {}
