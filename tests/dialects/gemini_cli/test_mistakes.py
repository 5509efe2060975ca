"""Every mistake in a settings file is one diagnostic on its line; a file without mistakes gives none."""

import json
import re
from pathlib import Path

import pytest

from hookline.dialects.gemini_cli import dialect
from hookline.dialects.gemini_cli.events import ROWS
from hookline.dialects.gemini_cli.settings import COMMON, KINDS
from hookline.documents.document import read_document
from hookline.extending import ConfigPath, Layer, LoadedHooks, Tools, standard_handlers
from hookline.matching.patterns import Patterns
from hookline.model.hook import Scope
from hookline.shell import ShellReader
from tests.cli.doctor_case import DoctorCase, alarms
from tests.dialects.gemini_cli.cases import HERE
from tests.every import every

EXAMPLE = HERE.parents[2] / "examples/gemini-cli/.gemini/settings.json"
MISTAKES = (HERE / "mistakes.json").read_text()
EXPECTED = [
    (number, found[1])
    for number, line in enumerate(MISTAKES.splitlines(), 1)
    if (found := re.search(r"//: ([\w-]+)$", line))
]


def read_text(text: str, scope: Scope = "project") -> LoadedHooks:
    file = "/p/.gemini/settings.json"
    layer = Layer(ConfigPath(file, scope), read_document(text, "json", file, comments=True))
    return dialect().read([layer], Tools(standard_handlers(), Patterns(), ShellReader()))


def test_each_mistake_is_one_diagnostic_on_its_line() -> None:
    found = sorted((one.where.line or 0, one.code) for one in read_text(MISTAKES).diagnostics)
    assert found == EXPECTED


def test_an_error_drops_its_entry_and_a_warning_does_not() -> None:
    reading = read_text(MISTAKES)
    kept = {hook.where.line for hook in reading.hooks}
    for one in reading.diagnostics:
        if one.code not in ("bad-timeout", "duplicate-key") and one.where.path[:1] == ("hooks",):
            wrong = one.severity == "error" or one.code == "moved-setting"
            assert (one.where.line in kept) is not wrong, one


def test_mistakes_say_what_to_write_instead() -> None:
    lines = MISTAKES.splitlines()
    fixes = {lines[(one.where.line or 1) - 1].strip(): one.fix for one in read_text(MISTAKES).diagnostics}

    def fix(words: str) -> str | None:
        return next(found for line, found in fixes.items() if words in line)

    assert fix('"Bash"') == '"run_shell_command"'
    assert fix('"Write|Edit"') == '"write_file|replace"'
    assert fix('"mcp__github__"') == '"mcp_github_"'
    assert fix('"run_shel_command"') == '"run_shell_command"'
    assert fix('"timeout": 30}') == "30000"
    assert fix('"sequental"') == "did you mean sequential?"
    assert fix('"startup|resume"') == "write a group for each"
    assert fix('"disabled": ["x"]') == "write hooksConfig.disabled"


def test_the_doctor_finds_every_kind_on_one_home_and_knows_the_names_of_other_agents(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = DoctorCase(tmp_path, monkeypatch)
    file = str(case.write("~/.gemini/settings.json", MISTAKES))
    problems = [one for one in case.problems() if one.file == file]
    found = {(one.line, one.code) for one in problems}
    assert found >= set(EXPECTED)
    assert len({code for _, code in EXPECTED}) >= 15
    (claude,) = [one for one in problems if one.code == "unknown-event"]
    assert claude.fix == "join it with BeforeTool on line 13: PreToolUse is Claude Code's name for it"


@pytest.mark.parametrize(
    ("command", "code"),
    [
        ('echo \'{"hookSpecificOutput": {"permissionDecision": "deny"}}\'', "unread-answer"),
        ("grep -q secret && exit 1", "exit-1"),
        ("! grep -q secret || { exit 2; }", "silent-exit"),
        ("./no-such-guard.sh", "command-not-found"),
    ],
)
def test_the_doctor_knows_what_the_client_would_not_read(
    command: str, code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = DoctorCase(tmp_path, monkeypatch)
    group = {"matcher": "run_shell_command", "hooks": [{"type": "command", "command": command}]}
    case.write(".gemini/settings.json", json.dumps({"hooks": {"BeforeTool": [group]}}))
    assert code in alarms(case.problems())


@every(
    ("text", "code"),
    [
        ("", "syntax"),
        ("// only this\n", "syntax"),
        ("[]", "not-an-object"),
        ('{"hooks": []}', "not-an-object"),
        ('{"hooksConfig": []}', "wrong-type"),
        ('{"hooks": {},}', "syntax"),
        ('{"hooks": /* never closed', "syntax"),
        ('{"hooks": "never closed', "syntax"),
    ],
)
def test_a_file_that_is_no_settings_file_says_so(text: str, code: str) -> None:
    reading = read_text(text)
    assert [one.code for one in reading.diagnostics] == [code]
    assert reading.hooks == ()


def test_a_comment_is_no_part_of_a_text() -> None:
    text = (
        '{"hooks": {"BeforeTool": [{"hooks": [{"type": "command", "command": "a // b \\" /* c */"}]}]}} // d'
    )
    (hook,) = read_text(text).hooks
    assert hook.spec.command == 'a // b " /* c */'


def test_the_example_has_no_mistakes_and_uses_everything() -> None:
    text = EXAMPLE.read_text()
    reading = read_text(text)
    assert [str(one) for one in reading.diagnostics] == []
    assert {hook.policy.event_name for hook in reading.hooks} == set(ROWS)
    assert {hook.kind for hook in reading.hooks} == set(KINDS)
    fields = [
        *COMMON,
        *KINDS["command"].fields,
        "matcher",
        "sequential",
        "enabled",
        "disabled",
        "notifications",
    ]
    assert [name for name in fields if f'"{name}"' not in text] == []
