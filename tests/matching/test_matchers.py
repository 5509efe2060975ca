import string
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookline import PatternError
from hookline.extending import SessionInfo
from hookline.matching.matchers import (
    NameList,
    OneName,
    RegexMatcher,
    can_match,
    parse_matcher,
    regex_or_names,
)
from hookline.matching.nearest import nearest
from hookline.matching.patterns import LONGEST_PATTERN, Patterns, glob
from hookline.model import events
from hookline.model.hook import Condition, Matcher
from tests.every import every
from tests.matching.rules_on_calls import SHELL, call


def native(text: str | None) -> tuple[Matcher | None, Condition | None]:
    return parse_matcher(text, Patterns(), SHELL)


def matches(text: str, subject: str) -> bool:
    matcher, condition = native(text)
    assert condition is None
    return matcher is None or matcher.matches(subject)


@pytest.mark.parametrize("text", [None, "", "*", " ", " * "])
def test_absent_empty_and_star_are_no_matcher_at_all(text: str | None):
    assert native(text) == (None, None)


@every(
    ("text", "subject", "expected"),
    [
        ("Bash", "Bash", True),
        ("Bash", "bash", False),
        ("Bash", "BashTool", False),
        (" Bash ", "Bash", True),
        ("Bash|", "Bash", True),
        ("Bash,", "Bash", True),
        ("Edit|Write", "Write", True),
        ("Edit|Write", "MultiEdit", False),
        ("Edit, Write", "Edit", True),
        ("Edit , Write|Read", "Read", True),
        ("||Edit,,", "Edit", True),
        ("||Edit,,", "", False),
        ("my-tool", "my-tool", True),
        ("Bash.*", "BashTool", True),
        ("Bash.*", "MyBash", False),
        ("^Bash$", "Bash", True),
        ("Edit|Wri.e", "Write", True),
        ("Edit|Wri.e", "Writer", False),
        ("(Edit|Write)", "Edit", True),
        ("Notebook(Edit|Read)", "NotebookEdit", True),
        ("Notebook(Edit|Read)", "Notebook", False),
        ("mcp__.*", "mcp__a__b", True),
        ("mcp__(a|b)__x", "mcp__b__x", True),
        ("mcp__a__(.*)", "mcp__a__x", True),
        ("ab*ba", "aba", False),
        ("ab*ba", "abba", True),
        ("mcp__a__*", "mcp__a__anything", True),
        ("mcp__a__*", "mcp__b__anything", False),
        ("Edit|mcp__*", "mcp__x", True),
        ("Edit|mcp__*", "Edit", True),
        ("Edit|mcp__*", "Editor", False),
        (".env", ".env", True),
        ("(?i)bash", "BASH", True),
    ],
)
def test_a_matcher_means_what_its_text_says(text: str, subject: str, expected: bool):
    assert matches(text, subject) is expected


def test_a_tool_pattern_is_the_tool_and_a_condition_on_its_arguments():
    matcher, condition = native("Bash(git *)")
    assert matcher is not None
    assert condition is not None
    assert (matcher.matches("Bash"), matcher.matches("Edit")) == (True, False)
    assert condition.text == "Bash(git *)"
    assert condition.holds(events.PRE_TOOL_USE, call("Bash", command="git push"), SessionInfo())
    assert not condition.holds(events.PRE_TOOL_USE, call("Bash", command="ls"), SessionInfo())


def test_a_list_may_mix_names_and_tool_patterns():
    matcher, condition = native("Bash(git *, x)|Edit(src/**), Read")
    assert matcher is not None
    assert condition is not None
    assert [tool for tool in ("Bash", "Edit", "Read", "Write") if matcher.matches(tool)] == [
        "Bash",
        "Edit",
        "Read",
    ]

    def holds(tool: str, **arguments: Any) -> bool:
        return bool(condition.holds(events.PRE_TOOL_USE, call(tool, **arguments), SessionInfo(cwd="/w")))

    assert holds("Edit", file_path="/w/src/a.py")
    assert not holds("Edit", file_path="/w/docs/a.md")
    assert holds("Read", file_path="/anything")
    assert not holds("Bash", command="ls")


@pytest.mark.parametrize("text", ["|", ",", " , | "])
def test_a_list_of_nothing_is_refused(text: str):
    with pytest.raises(PatternError, match="names nothing"):
        native(text)


def test_a_matcher_that_is_too_long_is_refused_and_shown_cut():
    with pytest.raises(PatternError) as caught:
        native("a" * (LONGEST_PATTERN + 1))
    assert len(str(caught.value)) < 200


def test_other_dialects_choose_anchors_and_plain_characters():
    patterns = Patterns()
    unanchored = regex_or_names("Bash.", patterns, anchored=False)
    assert unanchored is not None
    assert unanchored.matches("MyBashTool")
    only_letters = frozenset(string.ascii_letters + "|")
    with_comma = regex_or_names("a,b", patterns, anchored=True, plain=only_letters)
    assert isinstance(with_comma, RegexMatcher)
    assert with_comma.matches("a,b")
    assert regex_or_names("*", patterns, anchored=False) is None
    assert isinstance(regex_or_names("mcp__a__*", patterns, anchored=True), RegexMatcher)


def test_one_name_and_lists_need_no_regular_expression():
    patterns = Patterns()
    assert isinstance(parse_matcher("Bash", patterns, SHELL)[0], OneName)
    assert isinstance(parse_matcher("Bash|Edit", patterns, SHELL)[0], NameList)
    parse_matcher("mcp__x__*", patterns, SHELL)
    assert len(patterns) == 0


def test_a_matcher_that_no_value_of_a_closed_vocabulary_fits_is_dead():
    vocabulary = events.SESSION_START.subjects
    assert can_match(native("startup|resume")[0], vocabulary)
    assert can_match(native("start.*")[0], vocabulary)
    assert not can_match(native("Startup")[0], vocabulary)
    assert not can_match(native("start")[0], vocabulary)
    assert can_match(None, vocabulary)
    assert can_match(native("anything")[0], ())


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("PreToolUSe", "PreToolUse"),
        ("pretooluse", "PreToolUse"),
        ("Stopp", "Stop"),
        ("zzz", None),
        ("", None),
    ],
)
def test_the_nearest_name_is_suggested(word: str, expected: str | None):
    assert nearest(word, ["PreToolUse", "PostToolUse", "Stop"]) == expected


names = st.text(string.ascii_letters + string.digits + "_-", min_size=1, max_size=12)


@pytest.mark.unmeasured
@given(st.lists(names, min_size=1, max_size=8), names, st.sampled_from(["|", ",", " | ", ", ", "||"]))
def test_a_list_is_membership_in_a_set(listed: list[str], subject: str, separator: str):
    text = separator.join(listed)
    assert matches(text, subject) is (subject in listed)
    assert all(matches(text, name) for name in listed)


def naive_glob(pattern: str, text: str) -> bool:
    if not pattern:
        return not text
    if pattern[0] == "*":
        return any(naive_glob(pattern[1:], text[at:]) for at in range(len(text) + 1))
    return bool(text) and pattern[0] == text[0] and naive_glob(pattern[1:], text[1:])


@pytest.mark.unmeasured
@given(st.text("ab*", max_size=8), st.text("ab", max_size=10))
def test_a_glob_agrees_with_a_naive_one(pattern: str, text: str):
    assert glob(pattern).matches(text) is naive_glob(pattern, text)


@pytest.mark.unmeasured
@given(st.text("ab*", max_size=6), st.text("ab", max_size=6), st.text("ab", max_size=4))
def test_may_match_never_denies_what_a_longer_text_matches(pattern: str, known: str, rest: str):
    one = glob(pattern)
    if one.matches(known + rest):
        assert one.may_match(known)


@pytest.mark.unmeasured
@given(st.text(max_size=60), st.text(max_size=60))
def test_building_raises_nothing_but_pattern_errors_and_matching_nothing(text: str, subject: str):
    try:
        matcher, condition = native(text)
    except PatternError:
        return
    if matcher is not None:
        matcher.matches(subject)
    if condition is not None:
        condition.holds(events.PRE_TOOL_USE, call(subject, command=subject), SessionInfo(cwd=subject))


@pytest.mark.unmeasured
@given(st.text("Bash(Edit)|,*.?[]{}\\^$ \ud800", max_size=30), st.text(max_size=20))
def test_texts_made_of_special_characters_raise_nothing_but_pattern_errors(text: str, subject: str):
    test_building_raises_nothing_but_pattern_errors_and_matching_nothing.hypothesis.inner_test(text, subject)  # pyright: ignore[reportFunctionMemberAccess, reportUnknownMemberType] - hypothesis keeps the plain function there
