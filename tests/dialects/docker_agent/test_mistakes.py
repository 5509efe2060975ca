"""One file with every mistake: each is reported once, on its own line, and its neighbours run."""

import re
from pathlib import Path

import pytest

from hookline.dialects.docker_agent import dialect
from tests.dialects.docker_agent.hooks import handlers, read_agent
from tests.dialects.hooked_agent import lines_and_codes, read_hooks

MISTAKES = (Path(__file__).parent / "mistakes.yaml").read_text()
_MARK = re.compile(r"#! ([a-z -]+?)(?: (-\d))?$")


def expected() -> list[tuple[int, str]]:
    """`#! code` at the end of a line; `-1` when the line before is the one to name."""
    found: list[tuple[int, str]] = []
    for number, line in enumerate(MISTAKES.splitlines(), 1):
        mark = _MARK.search(line)
        if mark:
            found.extend((number + int(mark[2] or 0), code) for code in mark[1].split())
    return sorted(found)


def test_every_mistake_is_reported_once_on_its_line():
    found = read_hooks(dialect(), [("agent.yaml", "project", MISTAKES)], handlers())
    reported = sorted((line or 0, code) for line, code in lines_and_codes(found.diagnostics))
    assert reported == expected()


def test_every_mistake_has_words_and_most_a_fix():
    found = read_hooks(dialect(), [("agent.yaml", "project", MISTAKES)], handlers())
    assert all(each.message and each.where.file == "agent.yaml" for each in found.diagnostics)
    fixes = [each for each in found.diagnostics if each.fix]
    assert len(fixes) > len(found.diagnostics) / 2


def test_what_is_refused_is_dropped_and_the_rest_loads():
    found = read_hooks(dialect(), [("agent.yaml", "project", MISTAKES)], handlers())
    stop = [hook for hook in found.hooks if hook.policy.event_name == "stop"]
    assert [hook.timeout for hook in stop] == [60, 5000, 60, 60]
    assert not [
        hook for hook in found.hooks if hook.policy.event_name in ("user_prompt_submit", "session_start")
    ]


@pytest.mark.parametrize(
    ("hooks", "code"),
    [
        ("pre_tool_use: [{matcher: '[', hooks: [{type: command, command: x}]}]", "bad-pattern"),
        ("stop: [{type: command, command: x, on_error: never}]", "bad-on-failure"),
        ("stop: [{type: command, command: x, timeout: -5}]", "bad-timeout"),
        ("stop: [{type: command, command: x, on_error: block}]", "bad-on-failure"),
        ("tool_guard: [{preempt_yolo: true, hooks: [{type: command, command: x}]}]", "unread-field"),
    ],
)
def test_what_docker_agent_refuses_at_load_is_an_error_and_the_entry_is_dropped(hooks: str, code: str):
    found = read_agent(hooks)
    assert [(each.severity, each.code) for each in found.diagnostics] == [("error", code)]
    assert found.hooks == ()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "7",
        "agents: []",
        "agents: {root: }",
        "agents: {root: {hooks: }}",
        "agents: {root: {hooks: {stop: }}}",
    ],
)
def test_files_that_hold_no_hooks(text: str):
    found = read_hooks(dialect(), [("agent.yaml", "project", text)], handlers())
    assert found.hooks == ()


@pytest.mark.parametrize(
    "text",
    ["a: [", "\t- x", "a: &a [*a, *a]", "a: 1\n---\nb: 2", "x" * 11_000_000, "[" * 200],
    ids=["open", "tab", "alias bomb", "two documents", "11 MB", "deep"],
)
def test_a_text_that_is_not_yaml_is_a_diagnostic(text: str):
    found = read_hooks(dialect(), [("agent.yaml", "project", text)], handlers())
    assert found.hooks == ()
    assert found.diagnostics


def test_matchers_that_look_odd_and_are_right():
    for matcher in ("(shell|edit_file)", "mcp:.*", "read_(file|dir)", "a[, ]b", ".*", "shell_.*"):
        assert (
            read_agent(
                f"tool_guard: [{{matcher: '{matcher}', hooks: [{{type: command, command: x}}]}}]"
            ).diagnostics
            == ()
        )
