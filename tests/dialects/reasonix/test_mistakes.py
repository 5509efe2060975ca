"""One file with every mistake: each is named once, on its line, with what to do about it."""

from pathlib import Path

from tests.dialects.reasonix.hooks import read_settings

TEXT = (Path(__file__).parent / "mistakes.json").read_text()
#: The line, the kind of mistake, and a part of the fix.
EXPECTED = [
    (2, "misplaced-event", "hooks.Stop"),
    (4, "unknown-event", "join it with PreToolUse on line 6"),
    (5, "not-a-list", "[{"),
    (8, "not-an-object", ""),
    (9, "missing-field", "command"),
    (10, "missing-field", "command"),
    (11, "wrong-type", ""),
    (12, "nested-group", "the entry itself"),
    (13, "unknown-field", "did you mean match?"),
    (14, "unknown-field", ""),
    (15, "wrong-type", ""),
    (16, "bad-timeout", "leave it out for 5000"),
    (17, "bad-timeout", "leave it out for 5000"),
    (18, "timeout-unit", "30000"),
    (19, "bad-pattern", ""),
    (20, "dead-matcher", '"edit_.*"'),
    (21, "dead-matcher", '"read_file|write_file"'),
    (22, "dead-matcher", '"Bash"'),
    (23, "wrong-type", ""),
    (24, "wrong-type", ""),
    (25, "unknown-format", '"claude"'),
    (26, "unread-field", "remove contextFile"),
    (27, "unread-field", "remove model_context"),
    (28, "duplicate-key", ""),
    (31, "unread-matcher", "remove match"),
]
#: Entries that are wrong in a way that leaves them usable.
KEPT = [
    "good", "field", "async", "zero", "negative", "seconds", "glob", "list", "rule", "format", "context",
    "model", "cwd", "unread",
]  # fmt: skip


def test_every_mistake_is_named_once_on_its_line_with_a_fix():
    found = read_settings(TEXT).diagnostics
    assert sorted((each.where.line or 0, each.code) for each in found) == [each[:2] for each in EXPECTED]
    fixes = {(each.where.line, each.code): each.fix or "" for each in found}
    assert [each for each in EXPECTED if each[2] not in fixes[each[0], each[1]]] == []


def test_a_mistake_silences_no_other_entry():
    assert [hook.spec.command.removeprefix("echo ") for hook in read_settings(TEXT).hooks] == KEPT


def test_a_match_that_may_fit_a_tool_is_not_called_dead():
    for match in (
        "a.*",
        "(a|b)_file",
        "mcp__.*__q",
        "a{1,2}",
        "[a, b]+",
        "x\\\\s",
        "read_file*?.*",
        "a?",
        ".+",
    ):
        text = f'{{"hooks": {{"PreToolUse": [{{"command": "x", "match": "{match}"}}]}}}}'
        assert [each.code for each in read_settings(text).diagnostics] == [], match
