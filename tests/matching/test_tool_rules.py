from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookline import PatternError
from hookline.extending import SessionInfo
from hookline.matching.patterns import LONGEST_PATTERN, Patterns
from hookline.matching.tool_rules import (
    ToolCondition,
    covers,
    judge,
    parse_tool_rule,
    tool_condition,
)
from hookline.model import events
from hookline.model import payloads as p
from hookline.model.hook import Doubt
from tests.every import every
from tests.matching.rules_on_calls import SHELL, allows, call, fires, rule


@every(
    ("text", "line", "expected"),
    [
        ("Bash", "anything", True),
        ("Bash(*)", "anything", True),
        ("Bash()", "anything", True),
        ("Bash(git:*)", "git", True),
        ("Bash(git:*)", "git push", True),
        ("Bash(git:*)", "gitk", False),
        ("Bash(git *)", "git", True),
        ("Bash(git *)", "git push", True),
        ("Bash(git *)", "gitk", False),
        ("Bash(git*)", "gitk", True),
        ("Bash(git push:*)", "git push origin", True),
        ("Bash(git push:*)", "git pull", False),
        ("Bash(git push *)", "git -C x push origin", True),
        ("Bash(git push *)", "git --no-pager push", True),
        ("Bash(git push *)", "git $X", True),
        ("Bash(git push *)", "git pull $X", False),
        ("Bash(git push *)", "git push", True),
        ("Bash(git push)", "git $X", True),
        ("Bash(git)", "git $X", True),
        ("Bash(git)", "git x $X", False),
        ("Bash(npm run test)", "npm run test", True),
        ("Bash(npm run test)", "npm run test:unit", False),
        ("Bash(npm run test)", "npm run test --x", False),
        ("Bash(npm run test)", "npm run $X", True),
        ("Bash(npm  run   test)", "npm run test", True),
        ("Bash(git * --force)", "git push --force", True),
        ("Bash(git * --force)", "git push", False),
        ("Bash(* --force)", "x push --force", True),
        ("Bash(*rm*)", "python -c 'xrmx'", True),
        ("Bash(*rm*)", "python -c 'x'", False),
        ('Bash(echo "a b")', "echo 'a b'", True),
        ("Bash(/bin/rm *)", "rm x", True),
        ("Bash(./deploy.sh *)", "bash scripts/deploy.sh prod", True),
        ("Bash(./deploy.sh *)", "cd scripts && ./deploy.sh prod", True),
        ("Bash(sudo *)", "sudo ls", True),
        ("Bash(cd *)", "(cd x; ls)", True),
        ("Bash(export *)", "export A=b", True),
        ("Bash(git *)", "cd x && git status", True),
        ("Bash(git *)", "echo $(git rev-parse HEAD)", True),
        ("Bash(git *)", "GIT status", True),
        ("Edit(git *)", "git status", False),
    ],
)
def test_a_rule_about_a_shell_sees_every_command(text: str, line: str, expected: bool):
    assert fires(text, command=line) is expected


@pytest.mark.parametrize(
    "arguments", [{}, {"command": None}, {"command": 5}, {"command": "  "}, {"command": []}]
)
def test_a_call_without_a_readable_command_is_in_doubt(arguments: dict[str, Any]):
    assert judge(rule("Bash(git *)"), "Bash", arguments, "/w") is not False
    assert not covers(rule("Bash(git *)"), "Bash", arguments, "/w")


def test_a_command_may_be_a_list_of_words():
    assert fires("Bash(rm *)", command=["bash", "-lc", "rm 'it''s'"])
    assert fires("Bash(rm *)", command=["rm", "it's"])
    assert not fires("Bash(rm *)", command=["echo", "rm x"])


@pytest.mark.parametrize("arguments", [None, 5, "text", [], ()])
def test_arguments_that_are_no_object_are_in_doubt(arguments: object):
    assert judge(rule("Bash(git *)"), "Bash", arguments, "/w") is not False
    assert not covers(rule("Bash(git *)"), "Bash", arguments, "/w")
    assert covers(rule("Bash"), "Bash", arguments, "/w")


@every(
    ("text", "tool", "expected"),
    [
        ("Bash", "Bash", True),
        ("Bash", "bash", False),
        ("mcp__a", "mcp__a__x", True),
        ("mcp__a", "mcp__a", True),
        ("mcp__a", "mcp__ab__x", False),
        ("mcp__a__*", "mcp__a__x", True),
        ("mcp__a__*", "mcp__b__x", False),
        ("mcp__a__x", "mcp__a__x", True),
        ("mcp__a__x", "mcp__a__xy", False),
        ("mcp__*", "mcp__q__z", True),
        ("*", "Anything", True),
    ],
)
def test_a_rule_names_tools(text: str, tool: str, expected: bool):
    assert fires(text, tool) is expected
    assert allows(text, tool) is expected


@every(
    ("url", "expected"),
    [
        ("https://example.com", True),
        ("https://EXAMPLE.com/path?q#f", True),
        ("https://example.com.:443/", True),
        ("https://sub.example.com/", False),
        ("https://example.com.evil.org/", False),
        ("https://notexample.com", False),
        ("https://user@other.org/", True),
        ("https://other.org\\@example.com", True),
        ("https://other.org /", True),
        ("nonsense", True),
        ("https://é.org", True),
        (None, True),
    ],
)
def test_a_domain_is_the_very_host_and_a_strange_url_is_in_doubt(url: str | None, expected: bool):
    assert fires("WebFetch(domain:example.com)", "WebFetch", url=url) is expected


def test_only_a_plain_url_with_that_host_is_covered():
    assert allows("WebFetch(domain:example.com)", "WebFetch", url="https://example.com/x")
    assert not allows("WebFetch(domain:example.com)", "WebFetch", url="https://example.com@evil.org/")
    assert allows("WebFetch(domain:*.example.com)", "WebFetch", url="https://a.example.com/x")
    assert not allows("WebFetch(domain:*.example.com)", "WebFetch", url="https://example.com/x")


def test_other_tools_are_matched_on_their_values_at_any_depth():
    assert fires("Task(Explore)", "Task", subagent="Explore", prompt="x")
    assert fires("Task(Ex*)", "Task", deep=[{"a": ("x", {"b": "Explore"})}])
    assert not fires("Task(Explore)", "Task", subagent="Explorer", count=3, flag=True)
    assert fires('Task(*"count":3*)', "Task", count=3)
    assert fires("WebFetch(*example*)", "WebFetch", url="https://example.com")
    assert allows("Task(Ex*)", "Task", a="Ex1", b=["Ex2"])
    assert not allows("Task(Ex*)", "Task", a="Ex1", b="other")
    assert not allows("Task(Ex*)", "Task", count=3)


def test_values_too_many_or_too_strange_to_search_are_in_doubt():
    assert fires("Task(x)", "Task", many=["y"] * 10_001)
    assert not allows("Task(x)", "Task", many=["x"] * 10_001)
    assert fires("Task(x)", "Task", strange=object())
    assert fires("Task(x)", "Task", long=["y" * 100] * 10_000 + ["z" * (1 << 20)])
    deep: Any = "y"
    for _level in range(5_000):
        deep = [deep]
    assert fires("Task(x)", "Task", deep=deep)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "begins with the name"),
        ("(git *)", "begins with the name"),
        ("two words", "begins with the name"),
        ("Bash(git *", "never closed"),
        ("Bash(git *) x", "never closed"),
        ("Edit(!src/**)", "exclude"),
        ("Edit({a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b})", "more than 64"),
        ("x" * (LONGEST_PATTERN + 1), "characters"),
        ("Edit([z-a])", "runs backwards"),
    ],
)
def test_a_rule_that_cannot_be_understood_is_refused(text: str, problem: str):
    with pytest.raises(PatternError) as caught:
        rule(text)
    assert problem in caught.value.problem


@every(
    ("line", "expected"),
    [
        ("git status", True),
        ("git status && git log | git x", True),
        ("git log 2>/dev/null", True),
        ("git log; ls", False),
        ("git log $X", False),
        ("git log > f", False),
        ("GIT status", False),
        ("sudo git status", False),
        ("A=1 git status", False),
        ("git $(x)", False),
        ("git 'unclosed", False),
        ("# git", False),
        ("git -c core.pager=x log", False),
        ("/tmp/git status", False),
    ],
)
def test_a_permission_covers_only_lines_that_are_git_beyond_doubt(line: str, expected: bool):
    assert allows("Bash(git *)", command=line) is expected


@given(st.text(max_size=40), st.text(max_size=40))
def test_rules_raise_only_pattern_errors_and_asking_raises_nothing(text: str, value: str):
    for written in (text, f"Bash({text})", f"Edit({text})", f"WebFetch(domain:{text})", f"X({text})"):
        try:
            one = parse_tool_rule(written, Patterns(), SHELL)
        except PatternError:
            continue
        arguments = {"command": value, "file_path": value, "url": value, "path": value}
        for tool in ("Bash", "Edit", "WebFetch", "X", text):
            judge(one, tool, arguments, value)
            covers(one, tool, arguments, value)
            condition = ToolCondition(one)
            condition.why(events.PRE_TOOL_USE, call(tool, **arguments), SessionInfo(cwd=value))


#: What makes lines, paths and URLs unclear, and what does not.
_PIECES = st.sampled_from(
    (
        "git ",
        "a/../",
        "~/",
        "src/",
        "$X",
        "${X:-y}",
        "$(x)",
        "`x`",
        "'",
        '"',
        "\\",
        "; ",
        "*",
        "http://",
        "a.b",
        "\u200b",
    )
)
_UNCLEAR = st.lists(st.one_of(_PIECES, st.text(max_size=5)), max_size=6).map("".join)


@given(_UNCLEAR)
def test_what_is_covered_is_meant_beyond_doubt(text: str):
    calls: tuple[tuple[str, str, dict[str, str]], ...] = (
        ("Bash(git *)", "Bash", {"command": "git " + text}),
        ("Bash(git *)", "Bash", {"command": text}),
        ("Edit(src/**)", "Edit", {"file_path": text}),
        ("Read(~/x/**)", "Read", {"file_path": text}),
        ("WebFetch(domain:a.b)", "WebFetch", {"url": text}),
        ("Task(a*)", "Task", {"x": text}),
    )
    for written, tool, arguments in calls:
        if allows(written, tool, **arguments):
            assert judge(rule(written), tool, arguments, "/proj") is True


@every(
    ("text", "tool", "arguments", "expected"),
    [
        ("Bash(rm *)", "Bash", {"command": "rm $X; $Y z"}, True),
        ("Bash(rm *)", "Bash", {"command": "ls"}, False),
        ("Bash(git * --force)", "Bash", {"command": "git $X --force"}, True),
        ("Bash(git push --force*)", "Bash", {"command": "git push $X"}, "`git push …` may be git push --force*"),
        ("Bash(git push)", "Bash", {"command": "git push$X"}, "`git push…` may be git push"),
        ("Bash(git push)", "Bash", {"command": "git push $X"}, "`git push …` may be git push"),
        ("Bash(rm *)", "Bash", {"command": "python3 -c 'rm(1)'"}, "rm * is mentioned in text that may be run"),
        ("Bash(rm *)", "Bash", {}, "the call names no command"),
        ("Read(~/.ssh/**)", "Read", {"file_path": "~/.ssh/id"}, True),
        ("Read(/etc/passwd)", "Read", {"file_path": "/tmp/../etc/passwd"}, True),
        ("Read(/etc/passwd)", "Read", {"file_path": "a/../b"}, '"a/../b" does not show which file it is'),
        ("Read(/etc/passwd)", "Read", {"file_path": "/" + "a" * 2000}, "the path is longer than 1024 characters"),
        ("Grep(src/**)", "Grep", {"path": "/proj"}, True),
        ("WebFetch(domain:a.b)", "WebFetch", {"url": "http://a.b@c.d"}, "the URL is not a plain one"),
        ("Task(a)", "Task", {"x": [""] * 10_001}, "the call has more than 10000 values"),
    ],
)  # fmt: skip
def test_a_rule_says_yes_no_or_what_could_not_be_told(
    text: str, tool: str, arguments: dict[str, Any], expected: bool | str
):
    answer = judge(rule(text), tool, arguments, "/proj")
    assert (answer.text if isinstance(answer, Doubt) else answer) == expected


def condition(text: str) -> ToolCondition:
    return tool_condition(text, Patterns(), SHELL)


def test_an_if_never_holds_without_a_tool_and_says_so_when_read():
    never = condition("Bash(git *)")
    assert not never.holds(events.STOP, p.TurnAnswer(), SessionInfo())
    assert never.problem(events.STOP) == 'if "Bash(git *)" can never hold: Stop is not about a tool'
    assert never.problem(events.PRE_TOOL_USE) is None
    assert never.text == "Bash(git *)"


def test_an_if_reads_the_line_where_only_that_is_known():
    shell_start = p.ShellStart(tool_name="Bash", command="git push")
    assert condition("Bash(git *)").holds(events.SHELL_ENV, shell_start, SessionInfo())
    assert not condition("Bash(rm *)").holds(events.SHELL_ENV, shell_start, SessionInfo())


def test_an_if_reads_plain_mappings_too():
    payload = {"tool_name": "Bash", "tool_input": {"command": "git push"}}
    assert condition("Bash(git *)").holds(events.PRE_TOOL_USE, payload, SessionInfo())


@every(
    ("text", "payload", "sentence"),
    [
        ("Bash(git *)", call("Bash", command="ls; pwd"), "no command of the line is git *"),
        ("Bash(git *)", call("Bash", command="cd x; git  push"), 'command "git push" is git *'),
        ("Bash(git *)", call("Bash", command="$X"), "in doubt: what `$X` runs is known only to the shell"),
        ("Bash(git *)", call("Bash", command="python <<E\ngit\nE"), "in doubt: git * is mentioned"),
        ("Bash(git *)", call("Bash"), "in doubt: the call names no command"),
        ("Bash(git *)", call("Edit"), "the tool is Edit, not Bash"),
        ("Bash", call("Bash"), "the tool is Bash"),
        ("Bash(git *)", p.TurnAnswer(), "PreToolUse is not about a tool"),
        ("Bash(git *)", {"tool_name": "Bash"}, "in doubt: the call has no arguments"),
        ("Edit(src/**)", call("Edit", file_path="/w/src/a"), 'path "/w/src/a" is in src/**'),
        ("Edit(src/**)", call("Edit", file_path="/w/b"), 'path "/w/b" is not in src/**'),
        ("Edit(src/**)", call("Edit"), "in doubt: the call names no path"),
        (
            "Grep(src/**)",
            call("Grep", path="/w/b", glob="../*"),
            "in doubt: the search goes outside",
        ),
        ("Task(a)", call("Task", x="a"), "a value is a"),
        ("Task(a)", call("Task", x="b"), "no value is a"),
        ("WebFetch(domain:a.b)", call("WebFetch", url="http://a.b/"), 'host "a.b" is a.b'),
        ("WebFetch(domain:a.b)", call("WebFetch", url="http://c.b/"), 'host "c.b" is not a.b'),
        ("WebFetch(domain:a.b)", call("WebFetch"), "in doubt: the URL is not a plain one"),
    ],
)
def test_an_if_says_why_it_holds_or_not(text: str, payload: Any, sentence: str):
    said = condition(text).why(events.PRE_TOOL_USE, payload, SessionInfo(cwd="/w"))
    assert said.startswith(f'if "{text}": ')
    assert sentence in said
