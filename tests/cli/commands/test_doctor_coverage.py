"""Test `hookline doctor`: which tools of which agents each guard sees, and tool names that no agent has."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from hookline import Engine
from hookline.actions.declare import shell
from hookline.actions.table import ToolTable
from hookline.checks.coverage import CallingAgent, coverage, uncovered
from hookline.cli.commands.doctor.report import CoveredGuard
from hookline.cli.commands.hook.entries import entries_text
from hookline.model.events import EventSpec
from hookline.model.session_info import SessionInfo
from tests.checks.hooks import native
from tests.cli.doctor_case import DoctorCase
from tests.cli.in_process import in_process

GUARDS = Path(__file__).parents[2] / "reach" / "guards"
#: Where the user has agents call Hookline, beside the guards of the project.
ASKING = {
    "claude-code": "~/.claude/settings.json",
    "gen-code": "~/.gen/settings.json",
    "codewhale": "~/.codewhale/config.toml",
    "reasonix": "~/.reasonix/settings.json",
    "gemini-cli": "~/.gemini/settings.json",
}
AGENTS = {"Claude Code", "gen-code", "CodeWhale", "Reasonix", "Gemini CLI", "hookline agent"}
NATIVE = '[[hooks.PreToolUse]]\nmatcher = {}\nhooks = [{{ name = "it", command = "exit 2"{} }}]\n'


@pytest.fixture
def case(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> DoctorCase:
    return DoctorCase(tmp_path, monkeypatch)


def natively(matcher: str, rule: str = "") -> str:
    return NATIVE.format(json.dumps(matcher), f", if = {json.dumps(rule)}" if rule else "")


def claude(matcher: str) -> str:
    entry = {"type": "command", "command": "exit 2", "onFailure": "block"}
    return json.dumps({"hooks": {"PreToolUse": [{"matcher": matcher, "hooks": [entry]}]}})


def kinds(guard: CoveredGuard) -> dict[str, tuple[str, ...]]:
    return {each.agent: each.kinds for each in guard.covers}


def codes(case: DoctorCase, *wanted: str) -> list[tuple[str, str, str | None]]:
    return [(one.code, one.severity, one.fix) for one in case.problems() if one.code in wanted]


@pytest.mark.parametrize("dialect", [*ASKING, "native"])
def test_a_guard_covers_the_same_kinds_in_every_agent_that_asks(dialect: str, case: DoctorCase) -> None:
    shutil.copytree(GUARDS / dialect, case.project, dirs_exist_ok=True)
    loader = Engine().loader
    for asking, file in ASKING.items():
        own = loader.dialect(asking)
        event = next(name for name, each in own.events.items() if each.event.name == "PreToolUse")
        text = entries_text(own, [event], "python3 -m hookline.app")
        # In the user's file of CodeWhale the list is in a table.
        case.write(file, text.replace("[[hooks]]", "[[hooks.hooks]]"))
    found = case.document()
    shells, reads, writes = found.guards
    assert set(kinds(shells)) == AGENTS
    assert {each for each in kinds(shells).values() if "shell" not in each} == set()
    assert {each for each in kinds(reads).values() if "read" not in each} == set()
    assert {each for each in kinds(writes).values() if not {"write", "edit"} <= set(each)} == set()
    assert [one for one in found.problems if one.code in ("not-covered", "covers-nothing")] == []


def test_an_agent_that_does_not_ask_is_not_covered_by_the_guards_of_others(case: DoctorCase) -> None:
    case.write(".claude/settings.json", claude("Bash"))
    case.write(".hookline/hooks.toml", natively("Bash"))
    ours, native_guard = case.document().guards
    assert kinds(ours) == {"Claude Code": ("shell",), "hookline agent": ("shell",)}
    assert kinds(native_guard) == {"hookline agent": ("shell",)}


@pytest.mark.parametrize(
    ("matcher", "rule", "covered"),
    [
        ("Bash", "Bash(git push --force*)", ("shell",)),
        ("", "Read(~/.ssh/**)", ("read", "grep")),
        ("WebFetch", "WebFetch(domain:example.com)", ("fetch",)),
        ("mcp__github__.*", "", ("mcp",)),
        ("Skill|ExitPlanMode", "", ("other",)),
        ("Edit|Write", "", ("write", "edit", "notebook")),
        ("deploy", "", ()),
    ],
)
def test_samples_are_made_for_what_a_guard_asks_for(
    matcher: str, rule: str, covered: tuple[str, ...], case: DoctorCase
) -> None:
    case.write(".hookline/hooks.toml", natively(matcher, rule))
    found = case.document()
    assert [kinds(guard)["hookline agent"] for guard in found.guards] == [covered]
    assert [one for one in found.problems if one.code in ("unknown-tool", "covers-nothing")] == []


def test_hooks_that_only_watch_are_no_guards(case: DoctorCase) -> None:
    case.write(".claude/settings.json", claude("Bash").replace("exit 2", "cat >> calls.jsonl"))
    assert case.document().guards == ()


def test_a_condition_that_no_sample_fulfils_is_said(case: DoctorCase) -> None:
    text = natively("Bash").replace("command =", 'condition = { type = "mode", mode = "plan" }, command =')
    case.write(".hookline/hooks.toml", text)
    (guard,) = case.document().guards
    assert (kinds(guard), guard.only_if) == ({"hookline agent": ("shell",)}, "mode plan")


def test_the_guards_in_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    here = in_process(tmp_path, monkeypatch, capsys)
    here.write(".claude/settings.json", claude("Bash|Edit"))
    here.write(".hookline/hooks.toml", natively(""))
    text = here.call("doctor").stdout
    assert "Guards, and the tools that they see\n" in text
    assert "\n  exit  shell, edit: Claude Code, hookline agent\n" in text
    assert "\n  it    every tool: hookline agent\n" in text


class OnlyAsCalled:
    """A condition that breaks when a call is translated."""

    text = "only as called"

    def holds(self, event: EventSpec[Any], payload: Any, info: SessionInfo) -> bool:
        del event, info
        return payload.original_call is None


def test_a_guard_that_does_not_hold_in_another_agent_is_found(tmp_path: Path) -> None:
    (hook,) = native(tmp_path, natively("Bash")).hooks
    engine = Engine()
    table = ToolTable("other", {"run_it": shell("line")})
    events = frozenset({"PreToolUse"})
    other, ours = engine.session("other", cwd=str(tmp_path)), engine.session("ours", cwd=str(tmp_path))
    other.tools = table
    askers = [
        CallingAgent("Other", "other", table, other, events, events),
        CallingAgent("hookline agent", "", None, ours, events, events),
    ]
    assert [each.kinds for each in coverage(hook, askers).by_agent] == [("shell",), ("shell",)]
    found = coverage(replace(hook, condition=OnlyAsCalled()), askers)
    assert found.only_if == ""
    assert [(each.kinds, each.missing) for each in found.by_agent] == [((), ("shell",)), (("shell",), ())]
    (problem,) = uncovered(found)
    assert (problem.code, problem.severity) == ("not-covered", "warning")
    assert problem.message == "in Other, which calls Hookline here too, it does not see shell"


def test_a_pattern_that_means_no_tool_is_found(case: DoctorCase) -> None:
    case.write(".hookline/hooks.toml", natively("bash.*"))
    assert codes(case, "covers-nothing") == [("covers-nothing", "warning", None)]
    # A condition that matches no sample does not prove that the matcher is wrong.
    case.write(".hookline/hooks.toml", natively("Ba.*", "Bash(nothing (of) that kind)"))
    assert codes(case, "covers-nothing") == []


@pytest.mark.parametrize(
    ("matcher", "rule", "said"),
    [
        ("Bahs", "", "did you mean Bash?"),
        ("Wrte|Edti", "", "did you mean Edit|Write?"),
        ("", "Bsah(rm *)", "did you mean Bash?"),
        ("", "run_comand(rm *)", "did you mean run_command?"),
        # An agent has the tool, or no agent has a similar one.
        ("run_shell_command", "", None),
        ("shell|Bahs", "", None),
        ("exec_shell", "exec_shell(rm *)", None),
        ("deploy", "deploy(production)", None),
    ],
)
def test_a_native_name_that_no_agent_has(matcher: str, rule: str, said: str | None, case: DoctorCase) -> None:
    case.write(".hookline/hooks.toml", natively(matcher, rule))
    assert [fix for _, _, fix in codes(case, "unknown-tool")] == ([said] if said else [])


@pytest.mark.parametrize(
    ("matcher", "found"),
    [
        ("bash", ("dead-matcher", "error", "write Bash")),
        ("run_command", ("dead-matcher", "error", '"Bash"')),
        ("exec_shell|write_file", ("dead-matcher", "error", '"Bash|Write"')),
        ("Bahs", ("unknown-tool", "warning", "did you mean Bash?")),
        ("Bash|shell", None),
        ("Skill", None),
        ("deploy", None),
    ],
)
def test_a_name_that_its_agent_does_not_have(
    matcher: str, found: tuple[str, str, str] | None, case: DoctorCase
) -> None:
    case.write(".claude/settings.json", claude(matcher))
    assert codes(case, "dead-matcher", "unknown-tool") == ([found] if found else [])
