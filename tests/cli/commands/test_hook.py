"""`hookline hook` as a real process: what each agent gets from it, also when things go wrong."""

import json
import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from hookline.extending import Run
from hookline.journal.reader import read_journal
from tests.cli.run_cli import Ran, clean_env, command_line, run_cli
from tests.homes import at_home
from tests.trusting import trust_all_of
from tests.warm_process import run_warm

GUARD = """
[[hooks.PreToolUse]]
matcher = "Bash"
[[hooks.PreToolUse.hooks]]
type = "builtin"
command = "deny"
args = ["no shell here"]
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    directory = tmp_path / "home" / "project"
    directory.mkdir(parents=True)
    trust_all_of(directory.parent, directory)
    return directory


def write(project: Path, name: str, text: str) -> Path:
    file = project / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


def configured(project: Path, text: str = GUARD) -> Path:
    return write(project, ".hookline/hooks.toml", text)


def payload(project: Path, **fields: Any) -> str:
    """A call as Claude Code tells of it."""
    translated = {
        "session_id": "s-1", "transcript_path": "/t", "cwd": str(project), "permission_mode": "default",
        "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "ls"}, **fields,
    }  # fmt: skip
    return json.dumps(translated)


def hook(project: Path, *words: str, stdin: str | bytes | None = None, **env: str) -> Ran:
    return run_cli(["hook", *words], project, project.parent, stdin=stdin, env=env)


def journal(project: Path) -> list[Run]:
    return list(read_journal(str(project.parent / ".local/state/hookline/journal.jsonl")).runs)


CLAUDE_DENIAL = {
    "hookSpecificOutput": {
        "hookEventName": "PreToolUse",
        "permissionDecision": "deny",
        "permissionDecisionReason": "no shell here",
    }
}


def test_each_agent_gets_the_denial_in_its_own_terms(project: Path) -> None:
    configured(project)
    claude = hook(project, "--dialect", "claude-code", stdin=payload(project))
    assert (claude.status, json.loads(claude.stdout), claude.stderr) == (0, CLAUDE_DENIAL, "")
    gen = hook(project, "--dialect", "gen-code", "PreToolUse", stdin=payload(project))
    assert (gen.status, json.loads(gen.stdout)) == (0, CLAUDE_DENIAL)
    native = hook(project, "--dialect", "native", "PreToolUse", stdin=payload(project))
    assert (native.status, json.loads(native.stdout)) == (0, CLAUDE_DENIAL)
    docker = hook(
        project, "--dialect", "docker-agent", stdin=payload(project, hook_event_name="pre_tool_use")
    )
    said = json.loads(docker.stdout)["hook_specific_output"]
    assert (docker.status, said["permission_decision"]) == (0, "deny")
    call = {"event": "PreToolUse", "cwd": str(project), "toolName": "Bash", "toolArgs": {"command": "ls"}}
    reasonix = hook(project, "--dialect", "reasonix", stdin=json.dumps(call))
    assert reasonix == Ran(2, "", "no shell here\n")
    whale = hook(
        project, "--dialect", "codewhale", "tool_call_before",
        DEEPSEEK_TOOL_NAME="Bash", DEEPSEEK_TOOL_ARGS='{"command":"ls"}', DEEPSEEK_WORKSPACE=str(project),
    )  # fmt: skip
    assert (whale.status, json.loads(whale.stdout)) == (2, {"decision": "deny", "reason": "no shell here"})
    call = {"hook_event_name": "BeforeTool", "cwd": str(project), "tool_name": "run_shell_command"}
    gemini = hook(
        project, "--dialect", "gemini-cli", stdin=json.dumps({**call, "tool_input": {"command": "ls"}})
    )
    assert (gemini.status, json.loads(gemini.stdout)) == (0, {"decision": "deny", "reason": "no shell here"})
    runs = journal(project)
    assert {(run.call.tool, run.call.input, run.call.project, run.call.origin) for run in runs} == {
        ("Bash", "ls", str(project), ""),
        ("run_shell_command", "ls", str(project), ""),
    }
    callers = ["claude-code", "gen-code", "native", "docker-agent", "reasonix", "codewhale", "gemini-cli"]
    assert [run.call.caller for run in runs] == callers


def test_without_hooks_it_passes_in_silence(project: Path) -> None:
    assert hook(project, "--dialect", "claude-code", "PreToolUse", stdin=payload(project)) == Ran(0, "", "")
    assert journal(project) == []


def test_a_payload_nobody_can_read_is_a_denial_for_a_guard(project: Path) -> None:
    ran = hook(project, "--dialect", "claude-code", "PreToolUse", stdin='{"tool_name": ')
    said = json.loads(ran.stdout)["hookSpecificOutput"]
    assert (ran.status, said["permissionDecision"]) == (0, "deny")
    assert "cannot be read as JSON" in said["permissionDecisionReason"]
    (run,) = journal(project)
    assert (run.hook, run.type, run.status, run.decision) == ("hookline hook", "answer", "failed", "deny")


def test_elsewhere_it_is_a_failure_that_stops_nothing(project: Path) -> None:
    ran = hook(project, "--dialect", "claude-code", "Stop", stdin=b"\xff\xfe")
    assert (ran.status, ran.stdout) == (1, "")
    assert "cannot be read as JSON" in ran.stderr
    assert journal(project)[0].failed_open


@pytest.mark.parametrize(
    ("words", "named"),
    [
        ((), "--dialect NAME"),
        (("--dialect", "claud-code"), "did you mean 'claude-code'?"),
        (("--dialect", "claude-code", "PreToolUs"), "did you mean 'PreToolUse'?"),
        (("--dialect", "codewhale", "PreToolUse"), "there it is called tool_call_before"),
        (("--dialect", "codewhale"), "hookline hook --dialect codewhale EVENT"),
        (("--dialect", "claude-code"), "cannot be read as JSON"),
        (("--dialct", "claude-code"), "--dialct"),
        (("PreToolUse", "--dialect"), "expected one argument"),
        (("--dialect", "claude-code", "PreToolUse", "Stop"), "one event at a time"),
    ],
)
def test_where_nobody_knows_what_is_asked_the_status_closes(
    project: Path, words: tuple[str, ...], named: str
) -> None:
    ran = hook(project, *words)
    assert (ran.status, ran.stdout) == (2, "")
    assert named in ran.stderr


def test_a_native_file_nobody_can_read_closes_guards_and_names_itself(project: Path) -> None:
    file = configured(project, "[[hooks.PreToolUse]\n")
    said = json.loads(hook(project, "--dialect", "claude-code", stdin=payload(project)).stdout)
    translated = said["hookSpecificOutput"]
    assert translated["permissionDecision"] == "deny"
    assert str(file) in translated["permissionDecisionReason"]
    stop = payload(project, hook_event_name="Stop", stop_hook_active=False)
    ran = hook(project, "--dialect", "claude-code", stdin=stop)
    assert (ran.status, ran.stdout) == (1, "")
    assert f"{file}:1" in ran.stderr


def test_a_variable_that_lies_is_named_on_stderr_and_in_the_journal(project: Path) -> None:
    configured(project)
    other = project.parent / "other"
    other.mkdir()
    hook(project, "--dialect", "claude-code", stdin=payload(project))
    lied = hook(project, "--dialect", "claude-code", stdin=payload(project), CLAUDE_PROJECT_DIR=str(other))
    assert (lied.status, json.loads(lied.stdout)) == (0, CLAUDE_DENIAL)
    (line,) = lied.stderr.splitlines()
    assert line.startswith(f"hookline: CLAUDE_PROJECT_DIR is {other}, but the session began in {project}")
    assert line in [f"hookline: {run.why}" for run in journal(project)]


def test_what_the_agent_cannot_be_told_is_in_the_journal(project: Path) -> None:
    configured(project, '[[hooks.SessionStart]]\n[[hooks.SessionStart.hooks]]\ncommand = "echo be kind"\n')
    ran = hook(project, "--dialect", "codewhale", "session_start", DEEPSEEK_WORKSPACE=str(project))
    assert ran == Ran(0, "", "")
    run = journal(project)[-1]
    assert (run.hook, run.type, run.dialect) == ("hookline hook", "answer", "codewhale")
    assert (run.event, run.dialect_event, run.dropped) == ("SessionStart", "session_start", ("context",))
    assert "codewhale" in run.why


def test_arguments_the_agent_cut_off_are_denied_only_where_a_hook_asks_about_the_tool(project: Path) -> None:
    configured(project)
    cut = '{"command": "xxxx...[truncated]'
    about = {"DEEPSEEK_TOOL_ARGS": cut, "DEEPSEEK_WORKSPACE": str(project)}
    words = ("--dialect", "codewhale", "tool_call_before")
    assert hook(project, *words, DEEPSEEK_TOOL_NAME="write_file", **about) == Ran(0, "", "")
    # What the last one does is in its arguments, so it may have run a command.
    for tool in ("Bash", "exec_shell", "multi_tool_use.parallel"):
        denied = hook(project, *words, DEEPSEEK_TOOL_NAME=tool, **about)
        assert denied.status == 2, tool
        assert "cut off" in json.loads(denied.stdout)["reason"]


def test_hooks_of_other_agents_run_but_not_those_the_caller_runs_itself(project: Path) -> None:
    entry = {"matcher": "Bash", "hooks": [{"type": "command", "command": "echo ran >> ran.txt"}]}
    text = json.dumps({"hooks": {"PreToolUse": [entry]}})
    write(project, ".claude/settings.json", text)
    write(project, ".gen/settings.json", "{}")
    # Claude Code runs its own; gen-code reads its file too, but Claude Code has run it by then.
    hook(project, "--dialect", "claude-code", stdin=payload(project))
    assert not (project / "ran.txt").exists()
    # gen-code reads Claude Code's files itself.
    hook(project, "--dialect", "gen-code", stdin=payload(project))
    assert not (project / "ran.txt").exists()
    call = {"event": "PreToolUse", "cwd": str(project), "toolName": "Bash", "toolArgs": {"command": "ls"}}
    hook(project, "--dialect", "reasonix", stdin=json.dumps(call))
    assert (project / "ran.txt").read_text() == "ran\n"


def test_a_hook_that_calls_us_in_secret_ends_loudly(project: Path) -> None:
    """The line does not show it; the script does. Each level runs the next, until one has had enough."""
    script = write(
        project, "again.sh", "#!/bin/sh\nexec hookline hook --dialect native --home $HOME PreToolUse\n"
    )
    script.chmod(0o755)
    configured(project, f'[[hooks.PreToolUse]]\n[[hooks.PreToolUse.hooks]]\ncommand = "{script}"\n')
    ran = hook(project, "--dialect", "claude-code", stdin=payload(project))
    said = json.loads(ran.stdout)["hookSpecificOutput"]
    assert said["permissionDecision"] == "deny"
    assert "again and again" in said["permissionDecisionReason"]


def test_hooks_nobody_waits_for_run_on_behind_the_answer(project: Path) -> None:
    configured(
        project,
        "[[hooks.PostToolUse]]\n[[hooks.PostToolUse.hooks]]\nasync = true\n"
        'command = "sleep 0.4; echo done > late.txt; echo \'{\\"systemMessage\\": \\"late\\"}\'"\n',
    )
    translated = payload(project, hook_event_name="PostToolUse", tool_response="x")
    assert hook(project, "--dialect", "claude-code", stdin=translated) == Ran(0, "", "")
    assert (project / "late.txt").read_text() == "done\n"
    late = journal(project)[-1]
    assert late.type == "answer"
    assert any("late message" in each for each in late.dropped)


def test_a_refusal_that_cannot_be_written_is_said_by_the_status(project: Path) -> None:
    with open("/dev/full", "wb") as full:
        ran = subprocess.run(
            command_line(["hook", "--dialect", "claude-code", "PreToolUse"], project.parent),
            cwd=project, env=clean_env(project.parent), input=b"{", stdout=full, stderr=subprocess.PIPE,
            check=False,
        )  # fmt: skip
    assert ran.returncode == 2
    assert b"cannot be read as JSON" in ran.stderr


def test_without_standard_input_a_guard_says_no(project: Path) -> None:
    words = " ".join(command_line(["hook", "--dialect", "claude-code"], project.parent))
    for event, status in (("PreToolUse", 0), ("Stop", 1)):
        ran = subprocess.run(
            ["/bin/sh", "-c", f"{words} {event} <&-"],
            cwd=project, env=clean_env(project.parent), capture_output=True, check=False,
        )  # fmt: skip
        assert ran.returncode == status
        assert (b'"deny"' in ran.stdout) == (event == "PreToolUse")


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, -signal.SIGTERM)])
def test_stopping_it_stops_its_hooks(project: Path, number: signal.Signals, status: int) -> None:
    configured(
        project,
        '[[hooks.PreToolUse]]\n[[hooks.PreToolUse.hooks]]\ncommand = "echo $$ > pid; exec sleep 61"\n',
    )
    process = subprocess.Popen(
        command_line(["hook", "--dialect", "claude-code", "PreToolUse"], project.parent),
        cwd=project, env=clean_env(project.parent), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )  # fmt: skip
    assert process.stdin is not None
    process.stdin.write(payload(project).encode())
    process.stdin.close()
    process.stdin = None
    pid = int(_written(project / "pid"))
    process.send_signal(number)
    stdout, _stderr = process.communicate(timeout=30)
    assert (process.returncode, stdout) == (status, b"")
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def _written(file: Path) -> str:
    for _ in range(600):
        if file.exists() and (text := file.read_text()).endswith("\n"):
            return text
        time.sleep(0.05)
    raise AssertionError(f"{file} was never written")


def test_a_denial_that_cannot_be_written_is_said_by_the_status(project: Path) -> None:
    configured(project)
    with open("/dev/full", "wb") as full:
        ran = subprocess.run(
            command_line(["hook", "--dialect", "claude-code", "PreToolUse"], project.parent),
            cwd=project, env=clean_env(project.parent), input=payload(project).encode(), stdout=full,
            stderr=subprocess.PIPE, check=False,
        )  # fmt: skip
    assert (ran.returncode, ran.stderr) == (2, b"no shell here\n")


@pytest.mark.parametrize("closed", [(1,), (2,), (1, 2), (0, 1), (0, 1, 2)])
def test_closed_streams_lose_no_denial_and_no_file_takes_their_place(
    project: Path, closed: tuple[int, ...]
) -> None:
    configured(project)
    words = ["hook", "--dialect", "claude-code", "PreToolUse"]
    env = clean_env(project.parent)
    ran = run_warm(words, cwd=project, env=env, stdin=payload(project).encode(), closed=closed)
    said = b'"deny"' in ran.stdout if 1 not in closed else ran.status == 2
    assert said
    assert (b"no shell here" in ran.stderr) == (closed == (1,))
    # The journal was opened meanwhile; nothing but records went into it.
    assert {run.decision for run in journal(project)} == {"deny"}


def test_a_rewrite_that_cannot_be_written_blocks(project: Path) -> None:
    rewrite = '{"hookSpecificOutput": {"hookEventName": "PreToolUse", "updatedInput": {"command": "true"}}}'
    write(project, "rewrite.json", rewrite)
    configured(project, '[[hooks.PreToolUse]]\n[[hooks.PreToolUse.hooks]]\ncommand = "cat rewrite.json"\n')
    words = ["hook", "--dialect", "claude-code", "PreToolUse"]
    env = clean_env(project.parent)
    ran = run_warm(words, cwd=project, env=env, stdin=payload(project).encode(), closed=(1,))
    assert (ran.status, ran.stderr) == (2, b"its answer cannot be written to stdout\n")


def test_nothing_heavy_is_loaded_that_no_hook_needs(project: Path) -> None:
    configured(project)
    write(project, ".claude/settings.json", '{"hooks": {}}')
    env = clean_env(project.parent)
    call = at_home(["hook", "--dialect", "claude-code", "PreToolUse"], env)
    code = (
        "import sys, hookline.cli.main as main\n"
        f"status = main.run({call!r})\n"
        "heavy = {'yaml', 're2', 'httpx2', 'httpx', 'rich', 'pydantic', 'mcp', 'anyio', 'json'}\n"
        "heavy |= {'hookline.shell.walk.lines', 'hookline.dialects.gencode'}\n"
        "heavy |= {'hookline.dialects.claude_code.settings'}\n"
        "open('loaded', 'w').write(' '.join(sorted(heavy & set(sys.modules))))\n"
    )
    words = [command_line([])[0], "-c", code]
    subprocess.run(
        words, cwd=project, env=env, input=payload(project).encode(), check=True, capture_output=True
    )
    assert (project / "loaded").read_text() == ""


CLAUDE_RULE = {
    "hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [
        {"type": "command", "command": "echo no rm >&2; exit 2", "if": "Bash(rm *)"},
    ]}]}
}  # fmt: skip


@pytest.mark.parametrize(
    ("line", "usual", "strict"),
    [("rm x", "deny", "deny"), ("sudo rm x", None, "deny"), ("$X y", None, "deny"), ("ls", None, None)],
)
def test_strict_reads_rules_of_other_agents_as_its_own_too(
    project: Path, line: str, usual: str | None, strict: str | None
) -> None:
    write(project, ".claude/settings.json", json.dumps(CLAUDE_RULE))
    asked = payload(project, tool_name="run_shell_command", tool_input={"command": line})
    for expected, more in ((usual, ()), (strict, ("--strict",))):
        ran = hook(project, "--dialect", "native", "PreToolUse", *more, stdin=asked)
        assert ran.status == 0
        assert [each for each in ("deny", "ask") if f'"{each}"' in ran.stdout] == (
            [expected] if expected else []
        )
        assert ("in doubt" in ran.stdout) == (expected is not None and line == "$X y")
