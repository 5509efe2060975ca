"""Test calls inside other agents that would edit what configures guards: Hookline asks, whatever allows them."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from hookline import Engine
from hookline.events import PRE_TOOL_USE, ToolCall
from hookline.extending import HookReply
from tests.cli.commands.agent_calls import DENIES, Caller, decision, reason, repository

HOOKS = ".hookline/hooks.toml"
SAID = f"Writing to {HOOKS} always needs approval: hooks, rules or servers are configured there."
ALLOWS = """
[[hooks.{event}]]
[[hooks.{event}.hooks]]
command = '''echo '{{"hookSpecificOutput": {{"hookEventName": "{event}", "permissionDecision": "allow"}}}}' '''
"""


@pytest.fixture(params=["process", "daemon"])
def caller(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Caller:
    made = Caller(tmp_path, monkeypatch, daemon=request.param == "daemon")
    for name in ("REASONIX_HOME", "GEMINI_CLI_HOME"):
        monkeypatch.delenv(name, raising=False)
    repository(made.project)
    for name in (HOOKS, ".claude/settings.json", "agent.yaml", "src/a.py"):
        made.write(name, "")
    return made


def outcome(dialect: str, reply: HookReply) -> str | None:
    """ask, deny, or nothing, as the agent understands the answer."""
    if dialect == "reasonix":
        return "deny" if reply.code == 2 else None
    if not reply.stdout:
        return None
    said: dict[str, Any] = json.loads(reply.stdout)
    if dialect in ("codewhale", "gemini-cli"):
        return said["decision"]
    if dialect == "docker-agent":
        return said["hook_specific_output"]["permission_decision"]
    return said["hookSpecificOutput"]["permissionDecision"]


def translated(caller: Caller, dialect: str, tool: str, arguments: dict[str, Any]) -> HookReply:
    """The call as each agent tells of it before a tool runs."""
    if dialect == "codewhale":
        env = {"DEEPSEEK_TOOL_NAME": tool, "DEEPSEEK_TOOL_ARGS": json.dumps(arguments)}
        env |= {"DEEPSEEK_WORKSPACE": str(caller.project)}
        return caller.call(caller.project, "tool_call_before", dialect=dialect, env=env, tool_name=tool)
    if dialect == "reasonix":
        return caller.call(caller.project, dialect=dialect, toolName=tool, toolArgs=arguments)
    event = {"docker-agent": "pre_tool_use", "gemini-cli": "BeforeTool"}.get(dialect, "PreToolUse")
    return caller.call(caller.project, event, dialect=dialect, tool_name=tool, tool_input=arguments)


PATCH = f"*** Begin Patch\n*** Update File: {HOOKS}\n@@\n-a\n+b\n*** End Patch"
EDITS: list[tuple[str, str, dict[str, Any]]] = [
    *(
        (name, "Write", {"file_path": HOOKS, "content": "x"})
        for name in ("claude-code", "gen-code", "native")
    ),
    *(
        (name, "Bash", {"command": f"truncate -s 0 {HOOKS}"})
        for name in ("claude-code", "gen-code", "native")
    ),
    ("claude-code", "Edit", {"file_path": HOOKS, "old_string": "a", "new_string": "b"}),
    ("claude-code", "MultiEdit", {"file_path": HOOKS, "edits": []}),
    ("claude-code", "NotebookEdit", {"notebook_path": ".claude/x.ipynb"}),
    ("claude-code", "mcp__fs__write_file", {"path": HOOKS}),
    ("claude-code", "Bash", {"command": "cd .hookline && rm hooks.toml"}),
    ("gen-code", "Edit", {"file_path": "agent.yaml"}),
    ("codewhale", "write_file", {"path": HOOKS, "content": "x"}),
    ("codewhale", "edit", {"path": HOOKS, "edits": [{"oldText": "a", "newText": "b"}]}),
    ("codewhale", "apply_patch", {"patch": PATCH}),
    ("codewhale", "File", {"action": "patch", "replace": [{"path": HOOKS, "content": "x"}]}),
    ("codewhale", "exec_shell", {"command": f"rm {HOOKS}"}),
    ("codewhale", "exec_shell", {"command": "rm hooks.toml", "cwd": ".hookline"}),
    ("reasonix", "write_file", {"path": HOOKS, "content": "x"}),
    ("reasonix", "multi_edit", {"path": HOOKS, "edits": []}),
    ("reasonix", "move_file", {"source_path": HOOKS, "destination_path": "x"}),
    ("reasonix", "bash", {"command": f"echo > {HOOKS}"}),
    ("codex", "apply_patch", {"command": PATCH}),
    ("codex", "apply_patch", {"command": PATCH.replace(HOOKS, "~/.codex/config.toml")}),
    ("codex", "apply_patch", {"command": PATCH.replace(HOOKS, ".codex/hooks.json")}),
    ("codex", "Bash", {"command": "sed -i s/sha256/x/ ~/.codex/config.toml"}),
    ("codex", "Bash", {"command": f"apply_patch <<'E'\n{PATCH}\nE\n"}),
    ("docker-agent", "write_file", {"path": HOOKS, "content": "x"}),
    ("docker-agent", "edit_file", {"path": "agent.yaml", "edits": "[]"}),
    ("docker-agent", "shell", {"cmd": f"sed -i s/a/b/ {HOOKS}"}),
    ("docker-agent", "remove_directory", {"paths": ["src", ".hookline"]}),
    ("docker-agent", "strange_tool", {"where": HOOKS}),
    ("gemini-cli", "write_file", {"file_path": HOOKS, "content": "x"}),
    ("gemini-cli", "replace", {"file_path": ".gemini/settings.json", "old_string": "a", "new_string": "b"}),
    ("gemini-cli", "write_file", {"file_path": "~/.gemini/settings.json", "content": "{}"}),
    ("gemini-cli", "write_file", {"file_path": "~/.gemini/extensions/x/hooks/hooks.json", "content": "{}"}),
    ("gemini-cli", "write_file", {"file_path": "~/.gemini/trustedFolders.json", "content": "{}"}),
    ("gemini-cli", "run_shell_command", {"command": f"rm {HOOKS}"}),
    ("gemini-cli", "run_shell_command", {"command": "rm hooks.toml", "dir_path": ".hookline"}),
]
LOOKS: list[tuple[str, str, dict[str, Any]]] = [
    ("claude-code", "Read", {"file_path": HOOKS}),
    ("claude-code", "Grep", {"pattern": "x", "path": ".hookline"}),
    ("claude-code", "Write", {"file_path": "src/a.py", "content": HOOKS}),
    ("claude-code", "Write", {"file_path": "~/.claude/plans/a.md"}),
    ("claude-code", "Bash", {"command": f"cat {HOOKS}", "description": f"look at {HOOKS}"}),
    ("claude-code", "Bash", {"command": "git status && echo x > .git/info/exclude"}),
    ("claude-code", "Agent", {"prompt": f"edit {HOOKS}"}),
    ("claude-code", "WebFetch", {"url": "https://example.com/.claude/x", "prompt": "x"}),
    ("claude-code", "TodoWrite", {"todos": [{"content": HOOKS, "status": "pending"}]}),
    ("gen-code", "Glob", {"pattern": ".hookline/*"}),
    ("native", "Read", {"file_path": HOOKS}),
    ("codewhale", "read_file", {"path": HOOKS}),
    ("codewhale", "File", {"action": "read", "path": HOOKS}),
    ("codewhale", "exec_shell", {"command": "ls", "cwd": ".hookline"}),
    ("reasonix", "read_file", {"path": HOOKS}),
    ("reasonix", "ls", {"path": ".claude"}),
    ("reasonix", "write_file", {"path": "src/a.py", "content": "x"}),
    ("codex", "Bash", {"command": "cat .codex/hooks.json"}),
    ("codex", "apply_patch", {"command": PATCH.replace(HOOKS, "src/a.py")}),
    ("codex", "view_image", {"path": ".codex/logo.png"}),
    ("docker-agent", "read_multiple_files", {"paths": [HOOKS]}),
    ("docker-agent", "list_directory", {"path": ".hookline"}),
    ("docker-agent", "shell", {"cmd": "git diff .hookline"}),
    ("docker-agent", "search_files_content", {"path": ".claude", "query": "x"}),
    ("gemini-cli", "read_file", {"file_path": HOOKS}),
    ("gemini-cli", "list_directory", {"dir_path": ".gemini"}),
    ("gemini-cli", "write_file", {"file_path": "~/.gemini/tmp/project/plans/a.md", "content": "x"}),
]


@pytest.mark.parametrize(("dialect", "tool", "arguments"), EDITS)
def test_every_agent_is_told_to_ask_about_an_edit_or_denies_it_if_it_cannot(
    dialect: str, tool: str, arguments: dict[str, Any], caller: Caller
) -> None:
    reply = translated(caller, dialect, tool, arguments)
    assert outcome(dialect, reply) == ("deny" if dialect in ("reasonix", "codex") else "ask")
    assert "always needs approval" in reply.stdout + reply.stderr


@pytest.mark.parametrize(("dialect", "tool", "arguments"), LOOKS)
def test_no_agent_is_told_anything_about_a_look(
    dialect: str, tool: str, arguments: dict[str, Any], caller: Caller
) -> None:
    reply = translated(caller, dialect, tool, arguments)
    assert (outcome(dialect, reply), reply.stderr) == (None, "")


@pytest.mark.parametrize("mode", ["default", "acceptEdits", "plan", "bypassPermissions"])
def test_the_mode_of_the_agent_does_not_count(mode: str, caller: Caller) -> None:
    edit: dict[str, Any] = {"tool_name": "Edit", "tool_input": {"file_path": str(caller.project / HOOKS)}}
    reply = caller.call(caller.project, permission_mode=mode, **edit)
    assert decision(reply) == "ask"
    assert reason(reply) == SAID.replace(HOOKS, str(caller.project / HOOKS))


def test_a_hooks_allow_does_not_answer_and_its_denial_stays(caller: Caller) -> None:
    caller.write(HOOKS, ALLOWS.format(event="PreToolUse"))
    assert decision(caller.call(caller.project)) == "allow"
    reply = caller.call(caller.project, tool_input={"command": f"rm {HOOKS}"})
    assert (decision(reply), reason(reply)) == ("ask", SAID)
    run = next(run for run in caller.runs if run.type == "answer")
    assert (run.decision, run.reason, run.why) == ("ask", SAID, "it would edit a protected file")
    caller.write(".hookline/hooks.local.toml", DENIES)
    reply = caller.call(caller.project, tool_input={"command": f"rm {HOOKS}"})
    assert (decision(reply), reason(reply)) == ("deny", "no shell here")


def test_where_the_agent_asks_already_no_hook_answers_for_the_user(caller: Caller) -> None:
    caller.write(HOOKS, ALLOWS.format(event="PermissionRequest"))
    allowed = caller.call(caller.project, "PermissionRequest", dialect="native")
    assert decision(allowed) == "allow"
    edit = {"command": f"rm {HOOKS}"}
    assert caller.call(caller.project, "PermissionRequest", dialect="native", tool_input=edit) == HookReply()


def test_a_rewrite_is_judged_not_what_was_asked_for(caller: Caller) -> None:
    answer = {"hookEventName": "PreToolUse", "updatedInput": {"command": f"rm {HOOKS}"}}
    caller.write("answer.json", json.dumps({"hookSpecificOutput": answer}))
    caller.write(
        HOOKS,
        f"[[hooks.PreToolUse]]\n[[hooks.PreToolUse.hooks]]\ncommand = 'cat {caller.project}/answer.json'\n",
    )
    assert decision(caller.call(caller.project)) == "ask"


def test_it_holds_wherever_the_agent_is(caller: Caller) -> None:
    edit: dict[str, Any] = {
        "tool_name": "Write",
        "tool_input": {"file_path": str(caller.project / "agent.yaml")},
    }
    for cwd in (caller.project, caller.project / "src", caller.elsewhere):
        env = {"CLAUDE_PROJECT_DIR": str(caller.project)}
        assert decision(caller.call(cwd, env=env, **edit)) == "ask"
    for home in (
        "~/.claude/settings.json",
        "~/.config/hookline/hooks.toml",
        "~/.local/state/hookline/trust/x",
    ):
        users: dict[str, Any] = {"tool_name": "Write", "tool_input": {"file_path": home}}
        assert decision(caller.call(caller.elsewhere, session_id="s-2", **users)) == "ask"


def test_links_and_scripts_of_hooks_count(caller: Caller) -> None:
    (caller.project / "link").symlink_to(".hookline")
    caller.write("tools/guard.sh", "exit 0\n")
    caller.write(HOOKS, "[[hooks.PreToolUse]]\n[[hooks.PreToolUse.hooks]]\ncommand = 'sh tools/guard.sh'\n")
    for path in ("link/hooks.toml", "tools/guard.sh"):
        reply = caller.call(caller.project, tool_name="Write", tool_input={"file_path": path})
        assert decision(reply) == "ask"
    assert "an active hook runs it" in reason(reply)


def test_a_worktree_in_an_agents_directory_is_edited_like_the_project(caller: Caller) -> None:
    top = caller.project / ".claude" / "trees" / "one"
    own = caller.project / ".git" / "worktrees" / "one"
    for directory in (top, own):
        directory.mkdir(parents=True)
    (top / ".git").write_text(f"gitdir: {own}\n")
    (own / "gitdir").write_text(f"{top}/.git\n")
    (own / "commondir").write_text("../..\n")
    for path, said in (("src/a.py", None), (".claude/settings.json", "ask"), ("../../settings.json", "ask")):
        edit: dict[str, Any] = {"tool_name": "Write", "tool_input": {"file_path": str(top / path)}}
        assert decision(caller.call(top, **edit)) == said


def test_arguments_that_were_cut_off_do_not_pass_if_they_name_a_protected_file(caller: Caller) -> None:
    about = {"DEEPSEEK_TOOL_NAME": "write_file", "DEEPSEEK_WORKSPACE": str(caller.project)}
    for path, code in ((HOOKS, 2), ("src/a.py", 0)):
        cut = {"DEEPSEEK_TOOL_ARGS": f'{{"path": "{path}", "content": "xxx...[truncated]'}
        reply = caller.call(caller.project, "tool_call_before", dialect="codewhale", env={**about, **cut})
        assert reply.code == code


def test_an_embedding_host_is_not_affected(caller: Caller) -> None:
    async def dispatched() -> object:
        async with Engine() as engine:
            engine.load(str(caller.project))
            call = ToolCall(tool_name="Write", tool_input={"file_path": HOOKS})
            return (await engine.session("s").dispatch(PRE_TOOL_USE, call)).permission

    assert asyncio.run(dispatched()) is None
