"""Every mistake is found, once, on its line; the example has none and uses everything there is."""

import json
from typing import Any

import pytest

from hookline.dialects.gencode import dialect
from hookline.dialects.gencode.events import ROWS
from hookline.dialects.gencode.settings import COMMON, KINDS
from hookline.extending import standard_handlers
from tests.dialects.gencode.hooks import HERE, agent_with, project_file
from tests.dialects.gencode.test_handlers import Model, Runner
from tests.dialects.hooked_agent import lines_and_codes, read_hooks

MISTAKES = HERE / "mistakes.json"
EXAMPLE = HERE.parents[2] / "examples" / "gencode" / ".gen" / "settings.json"

#: Errors after which the hook still loads, as gen-code has it.
KEPT = ("duplicate-key", "bad-timeout")

#: The line of the file, and the finding about it.
FOUND = {
    "outside of hooks": "misplaced-event",
    "unknown event": "unknown-event",
    "a group where a list belongs": "not-a-list",
    "a text where a group belongs": "not-an-object",
    "an entry where a group belongs": "missing-field",
    '"a list"': "wrong-type",
    "unknown field of a group": "unknown-field",
    "a source there never is": "dead-matcher",
    "a tool pattern where there is no tool": "dead-matcher",
    "nothing to match": "dead-matcher",
    "a list that is none": "dead-matcher",
    "a star that is none": "dead-matcher",
    "an expression that is none": "bad-pattern",
    "a text where a hook belongs": "not-an-object",
    "unknown type": "unknown-type",
    "a type that is a number": "wrong-type",
    '{"type": "command"}': "missing-field",
    '"command": " "': "missing-field",
    "X-Missing": "missing-field",
    "prompt is missing": "missing-field",
    '["a", "list"]': "wrong-type",
    '"30s"': "wrong-type",
    "1.5": "wrong-type",
    '"timeout": 0': "bad-timeout",
    "-5": "bad-timeout",
    "5000": "timeout-unit",
    '"yes"': "wrong-type",
    "statusMesage": "unknown-field",
    "a field of another type": "unread-field",
    '"Bash(git"': "bad-pattern",
    '{"command": "true", "async": true}': "async-guard",
    '{"command": "true", "asyncRewake": true}': "async-guard",
    "fish": "unknown-shell",
    "ftp:": "cannot-run",
    "not settable": "cannot-run",
    '"twice"': "duplicate-key",
    '"if": "Bash(git:*)"': "never-runs",
    '"async": true, "asyncRewake": true': "async-twice",
}
#: After these the entry is not a hook.
DROPPING = {
    "misplaced-event", "unknown-event", "not-a-list", "not-an-object", "missing-field", "wrong-type",
    "unknown-type", "cannot-run",
}  # fmt: skip


def test_every_mistake_gives_one_diagnostic_on_its_line() -> None:
    text = MISTAKES.read_text()
    expected: list[tuple[int | None, str]] = []
    for part, code in FOUND.items():
        (line,) = [number for number, each in enumerate(text.splitlines(), 1) if part in each]
        expected.append((line, code))
    reading = read_hooks(dialect(), project_file(text))
    assert sorted(lines_and_codes(reading.diagnostics), key=str) == sorted(expected, key=str)


def test_what_cannot_be_a_hook_is_an_error_and_everything_else_loads() -> None:
    text = MISTAKES.read_text()
    reading = read_hooks(dialect(), project_file(text))
    for one in reading.diagnostics:
        dropped = one.code in DROPPING or (one.code == "bad-pattern" and one.message.startswith("if"))
        assert (one.severity == "error") is (dropped or one.code in KEPT), one
    wrong = {
        one.where.line for one in reading.diagnostics if one.severity == "error" and one.code not in KEPT
    }
    doubtful = {one.where.line for one in reading.diagnostics} - wrong
    kept = [hook.where.line for hook in reading.hooks]
    assert len(kept) == len(set(kept))
    good = next(number for number, each in enumerate(text.splitlines(), 1) if "the one good hook" in each)
    assert set(kept) == {*doubtful, good}


def test_fixes_name_what_was_meant() -> None:
    reading = read_hooks(dialect(), project_file(MISTAKES.read_text()))
    fixes = {one.code: one.fix for one in reading.diagnostics if one.fix}
    assert fixes["unknown-event"] == "join it with PreToolUse on line 19"
    assert fixes["unknown-type"] == "did you mean command?"
    assert '"mcp__files__.*"' in [one.fix for one in reading.diagnostics]
    assert fixes["timeout-unit"] == "5 for 5,000 milliseconds"
    assert '"Edit|Write"' in [one.fix for one in reading.diagnostics]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("[]", "not-an-object"),
        ('{"hooks": []}', "not-an-object"),
        ('{"hooks": "hooks.json"}', "not-an-object"),
        ("", "syntax"),
        ("// hooks\n{}", "json-comment"),
    ],
)
def test_a_file_that_is_not_settings_says_so(text: str, code: str) -> None:
    reading = read_hooks(dialect(), project_file(text))
    assert [one.code for one in reading.diagnostics] == [code]
    assert reading.hooks == ()


def test_a_handler_that_is_not_there_is_an_error() -> None:
    handlers = {"command": standard_handlers()["command"]}
    text = '{"hooks": {"Stop": [{"hooks": [{"type": "http", "url": "http://127.0.0.1/"}, {"command": "true"}]}]}}'
    agent = agent_with(text, handlers=handlers)
    assert [one.code for one in agent.reading.diagnostics] == ["no-handler"]
    assert [hook.kind for hook in agent.reading.hooks] == ["command"]


def test_a_manifest_may_name_the_file_of_its_hooks() -> None:
    file = ("/p/my-plugin/plugin.json", "plugin", '{"name": "x", "hooks": "./hooks/hooks.json"}')
    assert read_hooks(dialect(), [file]).diagnostics == ()


def test_a_timeout_beyond_all_numbers_is_reported_and_bounded() -> None:
    digits = "9" * 400
    agent = agent_with(
        f'{{"hooks": {{"Stop": [{{"hooks": [{{"command": "true", "timeout": {digits}}}]}}]}}}}'
    )
    assert [one.code for one in agent.reading.diagnostics] == ["timeout-unit"]
    assert agent.reading.hooks[0].timeout == 31_536_000


def test_the_example_has_no_mistake() -> None:
    handlers = standard_handlers(completer=Model(""), agent_runner=Runner(""))
    reading = read_hooks(dialect(), project_file(EXAMPLE.read_text()), handlers)
    assert reading.diagnostics == ()


def test_the_example_uses_every_event_every_type_and_every_field() -> None:
    hooks: dict[str, Any] = json.loads(EXAMPLE.read_text())["hooks"]
    entries = [entry for groups in hooks.values() for group in groups for entry in group["hooks"]]
    assert set(hooks) == set(ROWS)
    assert {entry.get("type", "command") for entry in entries} == set(KINDS)
    assert {key for entry in entries for key in entry} == {
        *COMMON,
        *(key for kind in KINDS.values() for key in kind.fields),
    }
