"""Entries that run `hookline` in another agent's configuration, and who answers there."""

import json
from pathlib import Path

import pytest

from hookline import Engine
from hookline.cli.commands.hook.entries import entries_text
from tests.cli.doctor_case import DoctorCase, alarms

FILES = {
    "claude-code": ".claude/settings.json",
    "gen-code": ".gen/settings.json",
    "codewhale": ".codewhale/hooks.toml",
    "reasonix": ".reasonix/settings.json",
    "docker-agent": "agent.yaml",
    "gemini-cli": ".gemini/settings.json",
}
PROGRAM = "python3 -m hookline.app"


@pytest.fixture
def case(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> DoctorCase:
    return DoctorCase(tmp_path, monkeypatch)


def _claude(command: str) -> str:
    entry = {"type": "command", "command": command, "onFailure": "block"}
    return json.dumps({"hooks": {"PreToolUse": [{"hooks": [entry]}]}})


@pytest.mark.parametrize("dialect", FILES)
def test_printed_entries_are_right_for_every_event(dialect: str, case: DoctorCase) -> None:
    engine = Engine()
    own = engine.loader.dialect(dialect)
    case.write(FILES[dialect], entries_text(own, list(own.events), PROGRAM))
    assert "wrong-call" not in [one.code for one in case.problems()]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("hok --dialect claude-code", "no command 'hok'"),
        ("hook", "which agent calls"),
        ("hook PreToolUse", "which agent calls"),
        ("hook --dialect claud PreToolUse", "no dialect is called 'claud'"),
        ("hook --dialect reasonix PreToolUse", "Claude Code calls, and it says reasonix"),
        ("hook --dialect claude-code PreToolUes", "no event 'PreToolUes'"),
        ("hook --dialect claude-code Stop", "is at PreToolUse and says Stop"),
        ("hook --dialect claude-code PreToolUse Stop", "is at PreToolUse and says PreToolUse Stop"),
        ("hook --dialekt claude-code PreToolUse", "no option '--dialekt'"),
        ("hook --dialect claude-code --from claud PreToolUse", "no dialect is called 'claud'"),
        ("hook --dialect claude-code --hooks both PreToolUse", "--hooks is own or all, not 'both'"),
        ("hook --dialect claude-code PreToolUse --home", "--home has no value"),
        ("hook --dialect claude-code --strict=yes PreToolUse", "--strict takes no value"),
    ],
)
def test_a_wrong_call_is_an_error_that_says_the_right_one(words: str, said: str, case: DoctorCase) -> None:
    case.write(".claude/settings.json", _claude(f"{PROGRAM} {words}"))
    (problem,) = [one for one in case.problems() if one.severity == "error"]
    assert (problem.code, problem.line) == ("wrong-call", 1)
    assert said in problem.message
    assert problem.fix == "hookline hook --dialect claude-code PreToolUse"


@pytest.mark.parametrize(
    "words",
    [
        "hook --dialect claude-code",
        "hook PreToolUse --dialect=claude-code",
        "hook --dial claude-code --config other.toml PreToolUse",
        "hook --dialect claude-code --home /h --config other.json --from gen-code PreToolUse",
        'hook --dialect "$AGENT" PreToolUse',
        "log --since 1h > /dev/null",
        "--version > /dev/null",
    ],
)
def test_a_right_call_alarms_nobody(words: str, case: DoctorCase) -> None:
    case.write(".claude/settings.json", _claude(f"{PROGRAM} {words}"))
    assert alarms(case.problems()) == []


@pytest.mark.parametrize("hook", ['matcher = "Bash"', 'if = "Bash(git push *)"'])
@pytest.mark.parametrize(
    ("dialect", "event"),
    [
        ("reasonix", "PreToolUse"),
        ("docker-agent", "pre_tool_use"),
        ("codewhale", "tool_call_before"),
        ("gemini-cli", "BeforeTool"),
    ],
)
def test_a_guard_holds_where_the_caller_names_its_tool_otherwise(
    hook: str, dialect: str, event: str, case: DoctorCase
) -> None:
    group, entry = (hook, "") if hook.startswith("matcher") else ("", hook)
    case.write(
        ".hookline/hooks.toml",
        f"[[hooks.PreToolUse]]\n{group}\n[[hooks.PreToolUse.hooks]]\ncommand = 'exit 2'\n{entry}\n",
    )
    engine = Engine()
    own = engine.loader.dialect(dialect)
    case.write(FILES[dialect], entries_text(own, [event], PROGRAM))
    assert alarms(case.problems()) == []


EVENTS = ("PreToolUse", "TurnStart", "TurnEnd", "PostToolUse")
MOMENTS = "".join(
    f"[[hooks.{event}]]\nhooks = [{{ name = '{event}', command = 'true' }}]\n" for event in EVENTS
)


@pytest.mark.parametrize(
    ("dialect", "asked", "said"),
    [
        (
            "claude-code", ["PreToolUse", "Stop"],
            {"TurnStart": "has no event like TurnStart", "PostToolUse": "does not at PostToolUse"},
        ),
        (
            "claude-code", ["PreToolUse"],
            {
                "TurnStart": "has no event like TurnStart", "TurnEnd": "does not at Stop",
                "PostToolUse": "does not at PostToolUse",
            },
        ),
        (
            "docker-agent", ["pre_tool_use", "stop"],
            {"TurnStart": "has no event like TurnStart", "PostToolUse": "does not at post_tool_use"},
        ),
        ("reasonix", list(EVENTS), {}),
    ],
)  # fmt: skip
def test_hooks_that_the_caller_never_asks_are_named(
    dialect: str, asked: list[str], said: dict[str, str], case: DoctorCase
) -> None:
    case.write(".hookline/hooks.toml", MOMENTS)
    case.write(FILES[dialect], entries_text(Engine().loader.dialect(dialect), asked, PROGRAM))
    notes = {one.hook: one for one in case.problems() if one.code == "never-asked"}
    assert notes.keys() == said.keys()
    for hook, words in said.items():
        assert notes[hook].severity == "note"
        assert words in notes[hook].message
        assert (notes[hook].fix is None) == ("has no event" in words)


def test_where_no_agent_asks_nothing_is_said_of_that(case: DoctorCase) -> None:
    case.write(".hookline/hooks.toml", MOMENTS)
    assert [one.code for one in case.problems() if one.code == "never-asked"] == []


def test_two_spellings_of_the_entry_are_told(case: DoctorCase) -> None:
    case.write("~/.claude/settings.json", _claude(f"{PROGRAM} hook --dialect claude-code PreToolUse"))
    case.write(".claude/settings.json", _claude(f"{PROGRAM}  hook --dialect claude-code PreToolUse"))
    (translated,) = [one for one in case.problems() if one.code == "asked-twice"]
    assert "asks Hookline at PreToolUse too" in translated.message


@pytest.mark.parametrize(
    ("line", "seen"), [("./guard.sh", False), ("./guard.sh || exit 2", True), (None, True)]
)
def test_a_line_that_closes_by_itself_is_open_only_where_no_shell_can_see_it(
    line: str | None, seen: bool, case: DoctorCase
) -> None:
    """None: our own entry, as it is after the client has dropped the field that it does not know."""
    case.write("guard.sh", "#!/bin/sh\ngrep -q rm && exit 2\n", mode=0o755)
    text = entries_text(Engine().loader.dialect("claude-code"), ["PreToolUse"], PROGRAM)
    entries = json.loads(_claude(line) if line else text)
    del entries["hooks"]["PreToolUse"][0]["hooks"][0]["onFailure"]
    case.write(".claude/settings.json", json.dumps(entries))
    (translated,) = [one for one in case.problems() if one.code == "fails-open"]
    assert ("cannot start" not in translated.message) == seen
    assert "takes too long" in translated.message
