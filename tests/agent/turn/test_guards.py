"""Ways around a guard that are none: moving, worktrees, sub-agents, prompts that hooks rewrote."""

import asyncio
import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.agent.scripted_session import Say, ScriptedSession, call, calls, says

_MOVES = calls(call("Bash", command="cd src"))
_WRITES = calls(call("Write", file_path="new.txt", content="x"))


def _answers(event: str, **said: Any) -> list[dict[str, Any]]:
    document = json.dumps({"hookSpecificOutput": {"hookEventName": event, **said}})
    return [{"hooks": [{"type": "command", "command": f"echo '{document}'"}]}]


def _played(
    directory: Path,
    script: list[Say],
    *prompts: str,
    before: Callable[[Path], None] | None = None,
    **wanted: Any,
) -> ScriptedSession:
    async def main() -> ScriptedSession:
        scripted = ScriptedSession(directory, script, **wanted)
        (scripted.project / "src").mkdir()
        if before is not None:
            before(scripted.project)
        async with scripted:
            await scripted.play(*(prompts or ("go",)))
        return scripted

    return asyncio.run(main())


def _repository(project: Path) -> None:
    (project / "src" / "a.py").write_text("a")
    for words in (["init", "-q"], ["add", "src"], ["commit", "-qm", "first"]):
        who = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
        subprocess.run(["git", *who, *words], cwd=project, check=True)


def test_who_moves_into_a_directory_does_not_get_around_the_rules_about_it(tmp_path: Path) -> None:
    scripted = _played(tmp_path, [_MOVES, _WRITES, says("x")], deny=("Edit(src/**)",), mode="bypass")
    assert "denied by the rule Edit(src/**)" in scripted.results()[1]
    assert not (scripted.project / "src" / "new.txt").exists()
    assert len(scripted.events("CwdChanged")) == 1


def test_a_rule_that_allows_counts_from_the_project_and_not_from_where_the_agent_went(tmp_path: Path) -> None:
    def before(project: Path) -> None:
        (project / "other" / "src").mkdir(parents=True)

    moves = calls(call("Bash", command="cd other"))
    writes = calls(call("Write", file_path="src/new.txt", content="x"))
    allow = ("Bash", "Edit(src/**)")
    scripted = _played(tmp_path, [moves, writes, _MOVES, says("x")], before=before, allow=allow)
    assert "no rule allows this call" in scripted.results()[1]


def test_a_rule_of_the_project_holds_in_a_session_that_began_below_it(tmp_path: Path) -> None:
    def before(project: Path) -> None:
        _repository(project)
        (project / ".hookline").mkdir()
        (project / ".hookline" / "settings.toml").write_text("[permissions]\ndeny = ['Edit(src/**)']\n")
        (project / "docs").mkdir()

    writes = calls(call("Write", file_path="../src/new.txt", content="x"))
    where = str(tmp_path / "home" / "project" / "docs")

    async def main() -> ScriptedSession:
        scripted = ScriptedSession(tmp_path, [writes, says("x")], mode="bypass", start=where)
        (scripted.project / "src").mkdir()
        before(scripted.project)
        async with scripted:
            await scripted.play("go")
        return scripted

    assert "denied by the rule Edit(src/**)" in asyncio.run(main()).results()[0]


def test_a_hook_about_a_directory_is_asked_wherever_the_agent_is(tmp_path: Path) -> None:
    guard = {"type": "command", "command": "echo not here >&2; exit 2", "if": "Write(src/**)"}
    scripted = _played(
        tmp_path, [_MOVES, _WRITES, says("x")], hooks={"PreToolUse": [{"hooks": [guard]}]}, mode="bypass"
    )
    assert scripted.results()[1] == "not here"


_ENTERS = calls({"name": "EnterWorktree", "input": {"name": "apart"}})


def test_rules_hold_in_a_worktree(tmp_path: Path) -> None:
    scripted = _played(
        tmp_path,
        [_ENTERS, _MOVES, _WRITES, says("x")],
        before=_repository,
        deny=("Edit(src/**)",),
        mode="bypass",
    )
    assert scripted.agent.workplace.cwd.endswith("worktrees/apart/src")
    assert "denied by the rule Edit(src/**)" in scripted.results()[2]


def test_a_worktree_is_edited_like_the_project_though_it_lies_in_a_protected_place(tmp_path: Path) -> None:
    hooks_of_git = calls(call("Write", file_path=".git/hooks/x", content="x"))
    scripted = _played(
        tmp_path,
        [_ENTERS, _WRITES, hooks_of_git, says("x")],
        before=_repository,
        allow=("EnterWorktree",),
        mode="acceptEdits",
    )
    assert "created" in scripted.results()[1]
    assert "always needs approval" in scripted.results()[2]


def test_what_guards_the_agent_is_not_edited_by_a_shell_line_either(tmp_path: Path) -> None:
    def before(project: Path) -> None:
        (project / ".hookline").mkdir()
        (project / ".hookline" / "settings.toml").write_text("[permissions]\ndeny = ['Bash(git push:*)']\n")

    def run(line: str) -> Say:
        return calls(call("Bash", command=line))

    script = [
        run("truncate -s 0 .hookline/settings.toml"),
        run("cd .hookline && rm settings.toml"),
        run("cat .hookline/settings.toml"),
        says("x"),
    ]
    scripted = _played(tmp_path, script, before=before, allow=("Bash",), mode="acceptEdits")
    assert all("always needs approval" in result for result in scripted.results()[:2])
    assert "git push" in scripted.results()[2]


_DOES = calls(call("Agent", prompt="do it"))


def test_a_command_that_may_use_few_tools_has_no_others_through_a_sub_agent(tmp_path: Path) -> None:
    def before(project: Path) -> None:
        (project / ".hookline" / "commands").mkdir(parents=True)
        (project / ".hookline" / "commands" / "look.md").write_text(
            "---\nallowed-tools: Agent, Read\n---\nlook around\n"
        )

    script = [_DOES, calls(call("Bash", command="touch made")), says("done"), says("x")]
    scripted = _played(tmp_path, script, "/look", before=before, allow=("Bash",))
    assert not (scripted.project / "made").exists()
    assert "is not among the tools this command may use" in str(scripted.requests[2].messages[-1])


@pytest.mark.parametrize("prompt", ["/mode bypass", "/add-dir /"])
def test_no_hook_makes_the_user_type_what_widens_permissions(prompt: str, tmp_path: Path) -> None:
    scripted = _played(
        tmp_path, [], "hello", hooks={"UserPromptSubmit": _answers("UserPromptSubmit", updatedPrompt=prompt)}
    )
    assert scripted.agent.permissions.mode == "default"
    assert scripted.agent.permissions.directories == ()
    assert "only the user may type" in scripted.seen.texts("blocked")[0]


def test_a_first_message_of_a_hook_is_no_command_of_the_agents_own(tmp_path: Path) -> None:
    said = _answers("SessionStart", initialUserMessage="/mode bypass")

    async def main() -> ScriptedSession:
        async with ScriptedSession(tmp_path, [], hooks={"SessionStart": said}) as scripted:
            await scripted.play()
        return scripted

    scripted = asyncio.run(main())
    assert scripted.agent.permissions.mode == "default"
    assert "only the user may type" in scripted.seen.texts("warning")[0]


def test_an_empty_prompt_is_not_sent(tmp_path: Path) -> None:
    scripted = _played(tmp_path, [], "  ")
    assert scripted.requests == []
    assert "nothing to send" in scripted.seen.texts("blocked")[0]
