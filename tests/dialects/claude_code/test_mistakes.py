"""Every mistake in a settings file is one diagnostic on its line; a file without mistakes gives none."""

from pathlib import Path

import pytest

from hookline.dialects.claude_code import dialect
from hookline.dialects.claude_code.events import ROWS
from hookline.dialects.claude_code.settings import COMMON, KINDS, settings_of
from hookline.documents.document import read_document
from hookline.extending import ConfigPath, Layer, LoadedHooks, standard_handlers
from tests.dialects.claude_code.backends import Mcp, Model
from tests.dialects.hooked_agent import lines_and_codes, read_hooks
from tests.every import every

HERE = Path(__file__).parent
EXAMPLE = HERE.parents[2] / "examples/claude-code/.claude/settings.json"


def read_text(text: str) -> LoadedHooks:
    model = Model("")
    handlers = standard_handlers(completer=model, agent_runner=model, mcp=Mcp())
    return read_hooks(dialect(env={}), [("/p/.claude/settings.json", "project", text)], handlers)


EXPECTED = [
    (2, "wrong-type"),
    (4, "misplaced-event"),
    (6, "unknown-event"),
    (7, "not-a-list"),
    (9, "not-an-object"),
    (10, "missing-field"),
    (12, "not-an-object"),
    (13, "missing-field"),
    (14, "unknown-type"),
    (15, "missing-field"),
    (16, "missing-field"),
    (17, "wrong-type"),
    (18, "unknown-shell"),
    (19, "bad-timeout"),
    (20, "bad-timeout"),
    (21, "wrong-type"),
    (22, "long-timeout"),
    (23, "unknown-field"),
    (24, "unread-field"),
    (25, "bad-on-failure"),
    (26, "kind-not-here"),
    (27, "missing-field"),
    (28, "cannot-run"),
    (29, "url-not-allowed"),
    (30, "wrong-type"),
    (31, "never-runs"),
    (35, "dead-matcher"),
    (36, "kind-not-here"),
    (39, "unread-matcher"),
    (40, "async-guard"),
    (43, "unread-field"),
    (46, "wrong-type"),
    (47, "bad-pattern"),
    (48, "bad-pattern"),
    (49, "dead-matcher"),
    (50, "dead-matcher"),
    (51, "dead-matcher"),
    (52, "dead-matcher"),
    (53, "untestable-pattern"),
    (54, "unknown-field"),
    (56, "bad-pattern"),
    (57, "bad-pattern"),
    (58, "bad-pattern"),
]


def test_each_mistake_is_one_diagnostic_on_its_line() -> None:
    found = lines_and_codes(read_text((HERE / "mistakes.json").read_text()).diagnostics)
    assert sorted((line or 0, code) for line, code in found) == EXPECTED


def test_an_error_drops_its_entry_and_a_warning_does_not() -> None:
    reading = read_text((HERE / "mistakes.json").read_text())
    wrong = {one.where.line for one in reading.diagnostics if one.severity == "error"}
    right = {one.where.line for one in reading.diagnostics if one.severity == "warning"}
    kept = {hook.where.line for hook in reading.hooks}
    assert wrong
    assert kept.isdisjoint(wrong)
    assert right <= kept


def test_a_matcher_that_is_null_drops_its_group() -> None:
    reading = read_text(
        '{"hooks": {"Stop": [{"matcher": null, "hooks": [{"type": "command", "command": "true"}]}]}}'
    )
    assert [one.code for one in reading.diagnostics] == ["wrong-type"]
    assert not reading.hooks


def test_mistakes_say_what_to_write_instead() -> None:
    fixes = {one.where.line: one.fix for one in read_text((HERE / "mistakes.json").read_text()).diagnostics}
    assert fixes[6] == "join it with PreToolUse on line 45"
    assert fixes[14] == "did you mean command?"
    assert fixes[23] == "did you mean timeout?"
    assert fixes[49] == "write Bash"
    assert fixes[50] == "mcp__github__.*"
    assert fixes[51] == 'matcher "Bash" and if "Bash(git *)"'


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "syntax"),
        ("[]", "not-an-object"),
        ('{"hooks": []}', "not-an-object"),
        ('{"hooks": {// no\n}}', "json-comment"),
        ('{"hooks": {"Stop": [], "Stop": []}}', "duplicate-key"),
        ('{"hooks": ' + "[" * 100_000 + "]" * 100_000 + "}", "too-deep"),
    ],
)
def test_a_file_that_is_no_settings_file_says_so(text: str, code: str) -> None:
    reading = read_text(text)
    assert [one.code for one in reading.diagnostics] == [code]
    assert reading.hooks == ()


def test_the_example_has_no_mistakes_and_uses_everything() -> None:
    reading = read_text(EXAMPLE.read_text())
    assert [str(one) for one in reading.diagnostics] == []
    assert {hook.policy.event_name for hook in reading.hooks} == set(ROWS)
    assert {hook.kind for hook in reading.hooks} == set(KINDS)
    text = EXAMPLE.read_text()
    unused = {
        key
        for shapes in (COMMON, *(kind.fields for kind in KINDS.values()))
        for key in shapes
        if f'"{key}"' not in text
    }
    assert unused <= {"once", "shell"}  # one is for skills, the other changes nothing on this system


@pytest.mark.parametrize(
    "group", ['{"type": "command", "command": "true"}', '{"hoks": [{"type": "command", "command": "true"}]}']
)
def test_a_group_without_hooks_is_one_mistake(group: str) -> None:
    reading = read_text(f'{{"hooks": {{"Stop": [{group}]}}}}')
    assert [one.code for one in reading.diagnostics] == ["missing-field"]
    assert reading.hooks == ()


@every("key", ["allowedHttpHookUrls", "httpHookAllowedEnvVars"])
@every("value", ['"*"', "null", "{}", "[1]"])
def test_a_limit_of_the_wrong_type_is_told_and_allows_nothing(key: str, value: str) -> None:
    text = f'{{"{key}": {value}}}'
    assert [(one.severity, one.code) for one in read_text(text).diagnostics] == [("error", "wrong-type")]
    limits = settings_of(
        [Layer(ConfigPath("/s.json", "user"), read_document(text, "json", "/s.json"))]
    ).limits
    assert (limits.urls, limits.env) == (((), None) if key == "allowedHttpHookUrls" else (None, frozenset()))
