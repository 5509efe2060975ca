"""Every mistake is found, once, on its line; a sound file has none."""

import re
from pathlib import Path

import pytest

from hookline.dialects.codewhale import dialect
from hookline.dialects.codewhale.conditions import KINDS
from hookline.dialects.codewhale.events import ROWS
from hookline.dialects.codewhale.settings import FIELDS, SETTINGS
from tests.dialects.codewhale.hooks import read_config
from tests.dialects.hooked_agent import lines_and_codes, read_hooks

HERE = Path(__file__).parent
MISTAKES = (HERE / "mistakes.toml").read_text()
EXAMPLE = (HERE.parents[2] / "examples" / "codewhale" / "config.toml").read_text()


def test_one_diagnostic_per_mistake_on_its_line() -> None:
    """Each mistake is marked with its code in a comment on its own line."""
    marked = [
        (number, found[1])
        for number, line in enumerate(MISTAKES.splitlines(), 1)
        if (found := re.search(r"# ([a-z-]+)$", line))
    ]

    found = read_hooks(dialect(), [("config.toml", "user", MISTAKES)])

    assert sorted(lines_and_codes(found.diagnostics), key=str) == sorted(marked, key=str)
    assert len(marked) > 30


def test_most_mistakes_come_with_their_fix_and_the_hook_they_are_about() -> None:
    found = read_hooks(dialect(), [("config.toml", "user", MISTAKES)]).diagnostics

    fixes = {one.code: one.fix for one in found if one.fix}
    assert fixes["unknown-event"] == "did you mean tool_call_before?"
    assert fixes["timeout-unit"] == "timeout_secs = 5 if these are milliseconds"
    assert fixes["async-guard"] == "remove background"
    assert {one.hook for one in found if one.code == "bad-timeout"} >= {"no time at all", "less than no time"}


def test_what_only_warns_keeps_the_hook() -> None:
    found = read_hooks(dialect(), [("config.toml", "user", MISTAKES)])

    assert {hook.name for hook in found.hooks} == {
        "milliseconds",
        "unknown field",
        "another agent's matcher",
        "background gate",
        "background message",
        "background shell_env",
        "condition with a field nobody reads",
        "unknown category",
        "unknown mode",
        "a tool without a name",
        "any of nothing",
    }


def test_the_example_is_sound_and_uses_everything() -> None:
    found = read_hooks(dialect(), [("config.toml", "user", EXAMPLE)])

    assert found.diagnostics == ()
    assert {hook.policy.event_name for hook in found.hooks} == {row.event_name for row in ROWS}
    assert {hook.kind for hook in found.hooks} == {"command"}
    for condition in KINDS:
        assert f'type = "{condition}"' in EXAMPLE
    written = set(re.findall(r"^(\w+) = ", EXAMPLE, re.MULTILINE))
    assert written == {*FIELDS, *SETTINGS} - {"default_timeout_secs"}  # it would replace every other timeout
    assert dialect().recognises({"hooks": {"hooks": [{"event": "turn_end"}]}})


@pytest.mark.parametrize(
    ("text", "fix"),
    [
        ('event = "turn_end"\ncomand = "true"', "did you mean command?"),
        ('evnt = "turn_end"\ncommand = "true"', "did you mean event?"),
    ],
)
def test_a_misspelled_field_is_one_mistake(text: str, fix: str) -> None:
    found = read_config(f"[[hooks.hooks]]\n{text}\n")
    assert [(one.severity, one.code, one.fix) for one in found.diagnostics] == [
        ("error", "missing-field", fix)
    ]
    assert found.hooks == ()
