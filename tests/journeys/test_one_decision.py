"""However many entries lead to Hookline, a call has one decision, and a user's hook runs once."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from hookline.config.engine import Engine
from hookline.config.install.plan import installed_entries
from hookline.dialects.installer import Site
from tests.cli.run_cli import Workspace, clean_env, run_cli

COUNT = 'echo ran >> "$HOME/{name}"; grep -q rm && {{ echo no rm here >&2; exit 2; }} || exit 0'
GUARD = f"[[hooks.PreToolUse]]\n[[hooks.PreToolUse.hooks]]\nname = 'guard'\ncommand = '{COUNT.format(name='guard')}'\n"
#: The payload of one call, as Claude Code sends it, and as two agents send it that run Claude Code's entries.
CALLS: dict[str, dict[str, Any]] = {
    "claude-code": {"permission_mode": "default", "transcript_path": "/t"},
    "grok": {
        "hookEventName": "pre_tool_use", "workspaceRoot": "/w", "sessionId": "s-1", "toolName": "run_terminal_command",
        "toolInput": {"command": "rm x"}, "toolUseId": "t-1", "tool_name": "run_terminal_command",
    },
}  # fmt: skip


@pytest.fixture(autouse=True)
def guard(where: Workspace) -> None:
    where.write("~/.config/hookline/hooks.toml", GUARD)


def entry(dialect: str, *options: str, event: str = "PreToolUse") -> list[str]:
    words = ["hook", "--dialect", dialect, *options, event]
    return [sys.executable, "-I", "-m", "hookline", *words]


def payload(where: Workspace, agent: str, **fields: object) -> bytes:
    call = {
        "hook_event_name": "PreToolUse", "session_id": "s-1", "cwd": str(where.project), "tool_name": "Bash",
        "tool_input": {"command": "rm x"}, "tool_use_id": "t-1", **CALLS[agent], **fields,
    }  # fmt: skip
    return json.dumps(call).encode()


def begin(where: Workspace, words: list[str], sent: bytes, **env: str) -> "subprocess.Popen[bytes]":
    line = [*words[:-1], "--home", str(where.home), words[-1]]
    process = subprocess.Popen(
        line, cwd=where.project, env={**clean_env(where.home), **env}, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )  # fmt: skip
    assert process.stdin is not None
    process.stdin.write(sent)
    process.stdin.close()
    process.stdin = None
    return process


def ran(where: Workspace, name: str = "guard") -> int:
    file = where.home / name
    return len(file.read_text().split()) if file.exists() else 0


def said(process: "subprocess.Popen[bytes]") -> str:
    out, err = process.communicate(timeout=60)
    return (out + err).decode()


def test_two_agents_entries_for_one_call_at_the_same_time(where: Workspace) -> None:
    """Grok runs Claude Code's entry beside its own, and gives each another time and name."""
    first = begin(where, entry("claude-code"), payload(where, "grok", timestamp="1"), GROK_HOOK_NAME="a")
    second = begin(where, entry("grok"), payload(where, "grok", timestamp="2"), GROK_HOOK_NAME="b")
    answers = [said(first), said(second)]
    assert all("no rm here" in each for each in answers)
    assert ran(where) == 1


def test_two_entries_that_an_agent_runs_in_order(where: Workspace) -> None:
    answers = [
        said(begin(where, entry(name), payload(where, "grok", timestamp=name), GROK_HOOK_NAME=name))
        for name in ("claude-code", "grok")
    ]
    assert all("no rm here" in each for each in answers)
    assert ran(where) == 1
    # The same entry again is another call.
    assert "no rm here" in said(begin(where, entry("grok"), payload(where, "grok"), GROK_HOOK_NAME="grok"))
    assert ran(where) == 2


def test_entries_with_other_promises_ask_each_hook_once(where: Workspace) -> None:
    """For the user Hookline's own guards run, in the project also hooks of other agents."""
    theirs = {
        "hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": COUNT.format(name="theirs")}]}]}
    }
    where.write("~/.codex/x", "")
    where.write("~/.gemini/settings.json", json.dumps(theirs).replace("PreToolUse", "BeforeTool"))
    for options in (("--hooks", "own"), ("--hooks", "all")):
        assert "no rm here" in said(
            begin(where, entry("claude-code", *options), payload(where, "claude-code"))
        )
    assert (ran(where), ran(where, "theirs")) == (1, 1)


@pytest.mark.parametrize("of_project", [False, True])
def test_a_hook_that_two_agents_configure_runs_once(where: Workspace, of_project: bool) -> None:
    line = COUNT.format(name="theirs")
    home = "" if of_project else "~/"
    claude = {"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": line}]}]}}
    gemini = {
        "hooks": {
            "BeforeTool": [{"matcher": "run_shell_command", "hooks": [{"type": "command", "command": line}]}]
        }
    }
    where.write(f"{home}.claude/settings.json", json.dumps(claude))
    where.write(f"{home}.gemini/settings.json", json.dumps(gemini))
    # In a third agent Hookline runs it once; in one of the two the agent itself runs it.
    sent = payload(where, "claude-code")
    assert "no rm here" in said(begin(where, entry("codex"), sent))
    assert ran(where, "theirs") == 1
    assert "no rm here" in said(begin(where, entry("claude-code"), sent))
    assert ran(where, "theirs") == 1


def test_a_project_cannot_stand_in_for_a_hook_of_the_user(where: Workspace, tmp_path: Path) -> None:
    """The same command in a file of the project, which nobody trusts, would otherwise switch the user's hook off."""
    line = COUNT.format(name="theirs")
    claude = {"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": line}]}]}}
    where.write("~/.claude/settings.json", json.dumps(claude))
    hostile = tmp_path / "hostile"
    (hostile / ".git").mkdir(parents=True)
    for name in (".gen/settings.json", ".qwen/settings.json"):
        (hostile / name).parent.mkdir()
        (hostile / name).write_text(json.dumps(claude))
    for caller in ("qwen-code", "codex"):
        sent = payload(where, "claude-code", cwd=str(hostile), session_id=caller)
        process = begin(where, entry(caller), sent)
        assert "no rm here" in said(process)
    assert ran(where, "theirs") == 2


def test_doctor_and_install_say_that_an_agent_calls_twice(where: Workspace) -> None:
    for scope in ("--user", "--project"):
        found = run_cli(["install", "claude-code", scope, "--yes"], where.project, where.home)
        assert found.status == 0
        assert (
            "calls Hookline too: each call will start it twice, and hooks run once"
            in " ".join(found.stdout.split())
        ) == (scope == "--project")


@pytest.mark.parametrize(
    "entries",
    [
        (
            ("copilot-cli", "preToolUse", "/home/.copilot/hooks"),
            ("copilot-cli", "preToolUse", "/p/.github/hooks"),
        ),
        (("copilot-cli", "preToolUse", "/p/.github/hooks"), ("claude-code", "PreToolUse", "/p/.claude")),
    ],
    ids=["the same entry in two files", "its own entry and Claude Code's"],
)
def test_entries_of_an_agent_whose_calls_have_no_ids(
    entries: tuple[tuple[str, str, str], ...], where: Workspace
) -> None:
    """Copilot CLI runs its entries in order, and says to each from which file it is."""
    arguments = {"command": "rm x", "description": "d"}
    spellings: dict[str, dict[str, Any]] = {
        "preToolUse": {"sessionId": "s-1", "timestamp": 1794797359924, "toolName": "bash", "toolArgs": arguments},
        "PreToolUse": {
            "hook_event_name": "PreToolUse", "session_id": "s-1", "timestamp": "2026-11-16T02:49:11.666Z",
            "tool_name": "Bash", "tool_input": arguments,
        },
    }  # fmt: skip

    def ask(dialect: str, event: str, directory: str) -> str:
        sent = json.dumps({"cwd": str(where.project), **spellings[event]}).encode()
        return said(begin(where, entry(dialect, event=event), sent, COPILOT_HOOK_DIR=directory))

    for call in (1, 2):
        answers = [json.loads(ask(*each)) for each in entries]
        decided = [each.get("hookSpecificOutput", each) for each in answers]
        assert [(each["permissionDecision"], each["permissionDecisionReason"]) for each in decided] == [
            ("deny", "no rm here")
        ] * 2
        assert [("hookSpecificOutput" in each) for each in answers] == [
            event == "PreToolUse" for _, event, _ in entries
        ]
        # The next call is an equal one, and is asked about anew.
        assert ran(where) == call


#: A call as agents send it that run equal entries of two files, one after another: stdin and environment.
REPEATED: dict[str, tuple[str, dict[str, Any], dict[str, str]]] = {
    "reasonix": (
        "PreToolUse",
        {"event": "PreToolUse", "sessionId": "s-1", "toolName": "bash", "toolArgs": {"command": "rm x"}},
        {},
    ),
    "codewhale": (
        "tool_call_before",
        {},
        {
            "DEEPSEEK_SESSION_ID": "s-1", "DEEPSEEK_MODE": "Agent", "DEEPSEEK_TOOL_NAME": "exec_shell",
            "DEEPSEEK_TOOL_CALL_ID": "t-1", "DEEPSEEK_TOOL_ARGS": '{"command": "rm x"}',
        },
    ),
}  # fmt: skip


def commands(where: Workspace, agent: str, event: str) -> list[str]:
    """Return the installed lines for an event: the user's, and the project's."""
    dialect = Engine().loader.dialect(agent)
    env = {"HOME": str(where.home)}
    sites = [Site(scope, str(where.project), env) for scope in ("user", "project")]
    return [
        each.command for site in sites for each in installed_entries(dialect, site) if each.event == event
    ]


@pytest.mark.parametrize("agent", REPEATED)
def test_an_agent_that_runs_equal_entries_of_two_files(agent: str, where: Workspace) -> None:
    event, sent, env = REPEATED[agent]
    for scope in ("--user", "--project"):
        found = run_cli(["install", agent, scope, "--yes", "--no-relay"], where.project, where.home)
        assert found.status == 0
    assert "each call will start it twice, and hooks run once" in " ".join(found.stdout.split())
    lines = commands(where, agent, event)
    assert len(lines) == 2
    document = json.dumps({"cwd": str(where.project), **sent}).encode() if sent else b""
    around = {**clean_env(where.home), **env, "DEEPSEEK_WORKSPACE": str(where.project)}
    # The next call is an equal one, and is asked about anew.
    for call in (1, 2):
        for line in lines:
            done = subprocess.run(
                ["sh", "-c", line],
                input=document,
                cwd=where.project,
                env=around,
                capture_output=True,
                check=False,
            )
            assert b"no rm here" in done.stdout + done.stderr
        assert ran(where) == call
    removed = run_cli(["uninstall", agent, "--project", "--yes"], where.project, where.home)
    assert removed.status == 0
    assert len(commands(where, agent, event)) == 1


def test_doctor_names_equal_entries_that_are_both_run(where: Workspace) -> None:
    """A project's entry as it was written before it named its file."""
    for scope in ("--user", "--project"):
        run_cli(["install", "reasonix", scope, "--yes"], where.project, where.home)
    file = where.project / ".reasonix/settings.json"
    assert " --scope project" in file.read_text()
    ours = run_cli(["doctor", "--json"], where.project, where.home)
    assert "asked-twice" not in [
        one["code"] for one in json.loads(ours.stdout)["problems"] if one["severity"] != "note"
    ]
    file.write_text(file.read_text().replace(" --scope project", ""))
    found = json.loads(run_cli(["doctor", "--json"], where.project, where.home).stdout)
    (twice,) = [
        one for one in found["problems"] if one["code"] == "asked-twice" and one["severity"] == "warning"
    ]
    assert "Reasonix runs both, and hooks twice" in twice["message"]
    assert "hookline install reasonix --project" in twice["fix"]
    run_cli(["install", "reasonix", "--project", "--yes"], where.project, where.home)
    assert " --scope project" in file.read_text()
