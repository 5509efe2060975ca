"""A home with every mistake that Codex is silent about: each is named on its line. The example has none."""

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.cli.doctor_case import PATH, DoctorCase, alarms
from tests.dialects.codex.hooks import config_toml, entry, states

EXAMPLE = Path(__file__).parents[3] / "examples/codex"
QUIET = "#!/bin/sh\ncat > /dev/null\n"

#: One entry or group a line; the code that the doctor has for the line is at its end, after //.
HOOKS = """\
{
"description": "mistakes",
"version": 1, //unknown-setting
"Stop": [], //misplaced-event
"hooks": {
"SessionBegin": [], //unknown-event
"PreToolUse": [
{"hooks": [
{"type": "command", "command": "echo trusted >/dev/null"},
{"type": "command", "command": "echo changed >/dev/null"}, //changed-since-trusted
{"type": "command", "command": "echo untrusted >/dev/null"}, //not-trusted
{"type": "command", "command": "echo moved >/dev/null"}, //moved-entry
{"type": "prompt", "prompt": "ok?"}, //kind-not-here
{"type": "http", "url": "http://x"}, //unknown-type
{"type": "command"}, //missing-field
{"type": "command", "command": 7}, //wrong-type
{"type": "command", "command": ": 1", "timeout": 30000}, //timeout-unit
{"type": "command", "command": ": 2", "if": "Bash(ls)"}, //unread-field
{"type": "command", "command": ": 3", "timeOut": 3}, //unknown-field
{"type": "command", "command": "if grep -q rm; then echo no >&2; exit 2; fi", "async": true} //async-guard
]},
{"matcher": "Edit, Bash", "hooks": [{"type": "command", "command": ": 5"}]}, //dead-matcher
{"matcher": "Bash(ls:*)", "hooks": [{"type": "command", "command": ": 6"}]}, //dead-matcher
{"matcher": "exec_command", "hooks": [{"type": "command", "command": ": 7"}]}, //dead-matcher
{"matcher": "[", "hooks": [{"type": "command", "command": ": 8"}]}, //bad-pattern
{"matcher": "Bash"} //missing-field
],
"UserPromptSubmit": [
{"matcher": "hello", "hooks": [{"type": "command", "command": ": 9"}]} //unread-matcher
],
"Stop": [
{"hooks": [{"type": "command", "command": ": 10", "additionalContextLimit": 9}]} //unread-field
],
"SessionStart": [
{"matcher": "begin", "hooks": [{"type": "command", "command": ": 11"}]} //dead-matcher
],
"SessionEnd": [
{"hooks": [
{"type": "mcp_tool", "server": "s", "tool": "t"}, //kind-not-here
{"type": "command", "command": ": 12", "async": true}, //unread-field
{"type": "command", "command": ": 13", "timeout": 30} //clamped-timeout
]}]
}
}
"""
OFF = """\
[features]
hooks = false
[[hooks.Stop]]
[[hooks.Stop.hooks]]
type = "command"
command = "true"
"""
_MARK = re.compile(r" //([\w-]+)$", re.MULTILINE)


def marked(text: str) -> list[tuple[int, str]]:
    return [
        (number, found[1])
        for number, line in enumerate(text.splitlines(), 1)
        if (found := _MARK.search(line))
    ]


@pytest.fixture
def case(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> DoctorCase:
    monkeypatch.delenv("CODEX_HOME", raising=False)
    return DoctorCase(tmp_path, monkeypatch, f"{tmp_path}/bin:{PATH}")


def trust(case: DoctorCase, file: Path, hooks: Any, more: str = "") -> None:
    """The user has trusted these hooks of a file, in Codex."""
    known = {
        event: [{**each, "hooks": each.get("hooks", [])} for each in groups]
        for event, groups in hooks.items()
        if event != "SessionBegin"
    }
    trusted = {
        key: state
        for key, state in states(str(file), known).items()
        if not any(key.endswith(f"pre_tool_use:0:{index}") for index in (2, 3))
    }
    case.write("~/.codex/config.toml", config_toml(trusted, more))


def test_every_mistake_of_a_home_is_named_on_its_line(case: DoctorCase) -> None:
    file = case.write("~/.codex/hooks.json", _MARK.sub("", HOOKS))
    hooks = json.loads(file.read_text())["hooks"]
    old = json.loads(file.read_text().replace("echo changed", "echo before"))["hooks"]
    trust(case, file, old)
    # One entry was trusted at another position, and one is gone; and a project's file cannot grant trust.
    place = states(str(file), {"PreToolUse": [{"hooks": [hooks["PreToolUse"][0]["hooks"][3]]}]})
    (state,) = place.values()
    config = case.home / ".codex/config.toml"
    config.write_text(config.read_text() + config_toml({f"{file}:pre_tool_use:9:0": state}))
    project = case.write(
        ".codex/config.toml",
        '[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = "command"\ncommand = "true"\n[hooks.state."x"]\nenabled = true\n',
    )
    found = [one for one in case.problems() if one.severity != "note"]
    at_home = sorted((one.line, one.code) for one in found if one.file == str(file))
    assert at_home == sorted(marked(HOOKS))
    assert [one.code for one in found if one.file == str(config)] == ["stale-trust"]
    assert sorted(one.code for one in found if one.file == str(project)) == [
        "not-trusted", "unlisted-project", "unread-state",
    ]  # fmt: skip
    assert len({one.code for one in found}) >= 15
    assert {one.file for one in found} == {str(file), str(config), str(project)}


@pytest.mark.parametrize(
    ("name", "text", "code", "line"),
    [
        ("~/.codex/hooks.json", '{\n// no comments\n"hooks": {}}', "json-comment", 2),
        ("~/.codex/config.toml", OFF, "disabled", 3),
        ("~/.codex/hooks.json", '{"hooks": []}', "not-an-object", 1),
        ("~/.codex/hooks.json", '{"hooks": {"Stop":\n {}}}', "not-a-list", 1),
    ],
)  # fmt: skip
def test_a_file_of_which_codex_reads_nothing(
    case: DoctorCase, name: str, text: str, code: str, line: int
) -> None:
    file = case.write(name, text)
    found = [(one.file, one.line, one.code) for one in case.problems() if one.severity != "note"]
    assert found == [(str(file), line, code)]


def test_both_forms_in_one_directory(case: DoctorCase) -> None:
    hooks = {"Stop": [{"hooks": [entry("true")]}]}
    file = case.write("~/.codex/hooks.json", json.dumps({"hooks": hooks}))
    config = case.home / ".codex/config.toml"
    text = '[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = "command"\ncommand = "date"\n'
    trusted = {**states(str(file), hooks), **states(str(config), {"Stop": [{"hooks": [entry("date")]}]})}
    case.write("~/.codex/config.toml", config_toml(trusted, text))
    found = [(one.file, one.line, one.code) for one in case.problems() if one.severity != "note"]
    assert found == [(str(config), 1, "two-forms")]


def test_the_example_is_healthy(case: DoctorCase) -> None:
    shutil.copytree(EXAMPLE, case.project, dirs_exist_ok=True)
    case.write("../bin/git", QUIET, mode=0o755)
    file = case.project / ".codex/hooks.json"
    trusted = config_toml(states(str(file), json.loads(file.read_text())["hooks"]))
    config = case.write("~/.codex/config.toml", trusted)
    assert alarms(case.problems()) == ["unlisted-project"]
    (found,) = [one for one in case.problems() if one.code == "unlisted-project"]
    assert found.message == (
        f"Codex does not list {case.project} as a trusted project, and since 0.169 it loads no entries there"
    )
    assert found.fix is not None
    assert "`codex exec --trust`" in found.fix
    config.write_text(f'[projects."{case.project}"]\ntrust_level = "trusted"\n{trusted}')
    assert alarms(case.problems()) == []


def test_a_project_that_nobody_trusts_in_codex(case: DoctorCase) -> None:
    shutil.copytree(EXAMPLE, case.project, dirs_exist_ok=True)
    case.write("../bin/git", QUIET, mode=0o755)
    codes = alarms(case.problems())
    assert set(codes) == {"not-trusted", "unlisted-project"}
    assert len(codes) == 14
