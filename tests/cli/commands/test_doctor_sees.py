"""Test what doctor sees beside the hooks it reads: other agents, plugins under development, surroundings."""

import json
from pathlib import Path

import pytest

from hookline.checks.unread_agents import UNREAD_AGENTS, unread_files
from hookline.cli.main import run
from hookline.dialects.registry import standard_dialects
from tests.cli.doctor_case import PATH, DoctorCase, alarms
from tests.cli.in_process import in_process


@pytest.fixture
def case(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> DoctorCase:
    case = DoctorCase(tmp_path, monkeypatch, f"{tmp_path}/bin:{PATH}")
    for name in ("jq", "npx"):
        case.write(f"../bin/{name}", "#!/bin/sh\n", mode=0o755)
    return case


def claude(command: str, event: str = "PostToolUse") -> str:
    entry = {"type": "command", "command": command}
    return json.dumps({"hooks": {event: [{"hooks": [entry]}]}})


def test_hooks_of_agents_without_a_dialect_are_named(case: DoctorCase) -> None:
    case.write(".windsurf/hooks.json", '{"hooks": {"pre_run_command": [{"command": "./guard.sh"}]}}')
    case.write(".opencode/plugin/guard.ts", "export const Guard = async () => ({})\n")
    case.write(".opencode/plugin/hookline.js", "ours")
    case.write(".augment/settings.json", '{"model": "x"}')  # no hooks
    found = {one.message.partition(" found")[0] for one in case.problems() if one.code == "agent-not-read"}
    assert found == {"hooks of Windsurf", "a plugin of OpenCode"}
    assert alarms(case.problems()) == []


def test_an_agent_that_gets_a_dialect_drops_out_of_the_table_by_itself(tmp_path: Path) -> None:
    for agent in UNREAD_AGENTS:
        for pattern in agent.project:
            file = tmp_path / pattern.replace("*", "a").replace("[jt]", "j")
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text('{"hooks": {"x": [1]}}')
    of_projects = {agent.name for agent in UNREAD_AGENTS if agent.project}
    assert {agent.name for agent, _ in unread_files([str(tmp_path)], "", ())} == of_projects
    left = {agent.name for agent, _ in unread_files([str(tmp_path)], "", ("goose", "cline"))}
    assert left == of_projects - {"goose", "cline"}
    assert {agent.name for agent in UNREAD_AGENTS}.isdisjoint(standard_dialects())


def test_an_unknown_event_of_an_agent_that_moves_fast_is_a_warning_with_the_release_that_is_known(
    case: DoctorCase,
) -> None:
    case.write(".claude/settings.json", claude("true", "QuantumLeap"))
    (found,) = case.problems()
    assert (found.severity, found.code) == ("warning", "unknown-event")
    assert found.message == "Claude Code has no event 'QuantumLeap' (as of version 2.1.327)"
    case.write(".claude/settings.json", claude("true", "PreTolUse"))
    assert [(one.severity, one.fix) for one in case.problems()] == [("error", "did you mean PreToolUse?")]


@pytest.mark.parametrize(
    ("line", "missing"),
    [
        ('cd "$CLAUDE_PROJECT_DIR" && nosuchformatter --write .', "nosuchformatter"),
        ("cat | nosuchfilter", "nosuchfilter"),
        ("jq -r .x | xargs -r nosuchlinter", "nosuchlinter"),
        ("date >> /tmp/log; nosuchnotifier done", "nosuchnotifier"),
        ("FOO=1 env BAR=2 nosuchtool", "nosuchtool"),
        ("command -v nosuchtool >/dev/null && nosuchtool", None),
        ("nosuchtool || true", None),
        ("if [ -x ./x ]; then ./x; fi", None),
        ("cd sub && ./there.sh", None),
    ],
)
def test_programs_are_found_in_compound_lines(case: DoctorCase, line: str, missing: str | None) -> None:
    case.write(".claude/settings.json", claude(line))
    found = [one.message.split()[0] for one in case.problems() if one.code == "command-not-found"]
    assert found == ([missing] if missing else [])


def test_a_guard_that_is_named_relative_to_a_directory_that_changes_is_a_warning(case: DoctorCase) -> None:
    case.write(".claude/hooks/guard.sh", "#!/bin/sh\nexit 2\n", mode=0o755)
    case.write(".claude/hooks/log.sh", "#!/bin/sh\ncat > /dev/null\n", mode=0o755)
    file = case.write(".claude/settings.json", claude("sh .claude/hooks/guard.sh", "PreToolUse"))
    (found,) = [one for one in case.problems() if one.code == "relative-path"]
    assert (found.severity, found.fix) == ("warning", 'write "$CLAUDE_PROJECT_DIR"/.claude/hooks/guard.sh')
    assert run(["doctor", "--cwd", str(case.project), "--fix", "--yes"]) == 0
    entry = json.loads(file.read_text())["hooks"]["PreToolUse"][0]["hooks"][0]
    assert entry["command"] == 'sh "$CLAUDE_PROJECT_DIR"/.claude/hooks/guard.sh'
    assert alarms(case.problems()) == []
    case.write(".claude/settings.json", claude(".claude/hooks/log.sh"))
    assert [one.severity for one in case.problems() if one.code == "relative-path"] == ["note"]


@pytest.mark.parametrize(
    ("command", "severity", "words"),
    [
        ("npx prettier --write $CLAUDE_FILE_PATHS", "warning", "jq -r .tool_input.file_path"),
        ('"${CLAUDE_PLUGIN_ROOT}"/scripts/x.sh', "error", "for hooks of plugins only"),
        ('echo "$GEMINI_PROJECT_DIR"', "warning", "$CLAUDE_PROJECT_DIR"),
        ('echo "$CLAUDE_PROJECT_DIR" "$CLAUDE_CODE_REMOTE" "$HOME" "$USER_DEFINED"', None, ""),
        ('echo "${CLAUDE_FILE_PATHS:-none}"', None, ""),
        ("echo '$CLAUDE_FILE_PATHS'", None, ""),
        ('CLAUDE_LOG=/tmp/log; echo >> "$CLAUDE_LOG"', None, ""),
    ],
)
def test_variables_that_the_agent_does_not_set_are_found(
    case: DoctorCase, command: str, severity: str | None, words: str
) -> None:
    case.write(".claude/settings.json", claude(command))
    found = [one for one in case.problems() if one.code == "unset-variable"]
    assert [one.severity for one in found] == ([severity] if severity else [])
    assert all(words in f"{one.message} {one.fix}" for one in found)


PLUGIN_HOOKS = claude('"${CLAUDE_PLUGIN_ROOT}"/scripts/check.sh', "PreToolUse")


def test_a_repository_that_is_a_plugin_is_read_as_one(
    case: DoctorCase, capsys: pytest.CaptureFixture[str]
) -> None:
    case.write(".claude-plugin/plugin.json", '{"name": "tidy"}')
    file = case.write("hooks/hooks.json", PLUGIN_HOOKS)
    script = case.write("scripts/check.sh", "#!/bin/sh\nexit 0\n", mode=0o755)
    document = case.document()
    assert [(one.file, one.dialect, one.hooks) for one in document.dormant] == [(str(file), "claude-code", 1)]
    assert alarms(document.problems) == []
    assert alarms(case.problems(["--config", str(file)])) == []
    script.unlink()
    assert alarms(case.problems()) == ["command-not-found"]
    assert alarms(case.problems(["--config", str(file)])) == ["command-not-found"]
    assert run(["doctor", "--cwd", str(case.project)]) == 1
    assert "once this plugin is installed" in capsys.readouterr().out


def test_a_repository_that_is_an_extension_is_read_as_one(case: DoctorCase) -> None:
    case.write("gemini-extension.json", '{"name": "tidy"}')
    entry = {"type": "command", "command": "${extensionPath}/check.sh"}
    file = case.write("hooks/hooks.json", json.dumps({"hooks": {"BeforeTool": [{"hooks": [entry]}]}}))
    case.write("check.sh", "#!/bin/sh\nexit 0\n", mode=0o755)
    assert [(one.file, one.dialect) for one in case.document().dormant] == [(str(file), "gemini-cli")]
    assert alarms(case.problems()) == []
    assert alarms(case.problems(["--config", str(file)])) == []


def test_the_same_problem_has_the_same_severity_in_every_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    here = in_process(tmp_path, monkeypatch, capsys)
    slow = {"type": "command", "command": "true", "timeout": 60000}
    group = {"matcher": "bash", "hooks": [slow]}
    hooks = {"PreToolUse": [group], "Stop": [{"matcher": "x", "hooks": [slow]}], "QuantumLeap": []}
    here.write(".claude/settings.json", json.dumps({"hooks": hooks}, indent=1))
    words = {"doctor": "problems", "list": "diagnostics", "fire PreToolUse Bash command=ls": "diagnostics"}
    found = {
        command: {
            one["code"]: one["severity"].replace("note", "info")
            for one in json.loads(here.call(*command.split(), "--json").stdout)[key]
        }
        for command, key in {**words, "explain PreToolUse Bash command=ls": "diagnostics"}.items()
    }
    doctor, *others = found.values()
    assert doctor.items() >= {
        "dead-matcher": "error", "timeout-unit": "error", "unread-matcher": "warning", "unknown-event": "warning",
    }.items()  # fmt: skip
    for other in others:
        assert {code: doctor[code] for code in other} == other
        assert other.keys() >= {"dead-matcher", "timeout-unit", "unread-matcher", "unknown-event"}


def test_a_file_whose_hooks_do_not_run_is_not_said_to_have_none(
    case: DoctorCase, capsys: pytest.CaptureFixture[str]
) -> None:
    case.write("~/.codex/hooks.json", claude("true"))  # nobody has trusted it in Codex
    case.write("~/.codex/config.toml", 'model = "x"\n')
    case.write(".claude/settings.json", claude("true", "PostTolUse"))
    run(["doctor", "--cwd", str(case.project)])
    rows = {
        line.split()[0]: line
        for line in capsys.readouterr().out.splitlines()
        if "Co" in line and line.split()
    }
    assert rows["~/.codex/hooks.json"].endswith("no hook that runs: see below")
    assert rows[".claude/settings.json"].endswith("no hook that runs: see below")
    assert rows["~/.codex/config.toml"].endswith("no hooks")


def test_where_no_hook_can_run_the_mistakes_are_counted(
    case: DoctorCase, capsys: pytest.CaptureFixture[str]
) -> None:
    case.write(".claude-plugin/plugin.json", '{"name": "x", "version": "1.0.0"}')
    case.write("hooks/hooks.json", claude("true", "PostTolUse"))
    run(["doctor", "--cwd", str(case.project)])
    assert capsys.readouterr().out.splitlines()[-1] == "No hook runs here: 1 error, 0 warnings, 0 notes"
    (case.project / "hooks/hooks.json").unlink()
    run(["doctor", "--cwd", str(case.project)])
    assert capsys.readouterr().out.splitlines()[-1].startswith("No hooks are configured here.")
