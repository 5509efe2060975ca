"""Test that no rule and no hook weakens the strongest guard that matches a call."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hookline.model.outcome import Vote
from hookline.permissions.decide import answered, decide
from hookline.permissions.facts import CallFacts, category_of
from hookline.permissions.modes import MODES
from hookline.permissions.rules import RuleSet, first_concerned
from hookline.permissions.settings import permission_settings
from hookline.permissions.state import Permissions
from tests.permissions.permission_cases import PROJECT, bash, call, having, reader

pytestmark = pytest.mark.unmeasured

CALLS = (
    bash("git push --force"), bash("git status && rm -rf x"), bash("npm test"), bash("sudo git status"),
    bash("echo $X"),
    call("Edit", file_path="src/a.py"), call("Write", file_path=".env"), call("Write", file_path=".git/config"),
    call("Read", file_path="/etc/passwd"), call("Read", file_path="src/a.py"), call("Grep", pattern="x"),
    call("WebFetch", url="https://example.com/"), call("mcp__db__query", sql="x"), call("Mystery", x="y"),
)  # fmt: skip
TEXTS = (
    "Bash", "Bash(git:*)", "Bash(git push:*)", "Bash(rm:*)", "Bash(npm test)", "Bash(", "Bash(*)", "*", "Edit",
    "Edit(src/**)", "Edit(.env)", "Write", "Read", "Read(/etc/**)", "Read(~/**)", "WebFetch",
    "WebFetch(domain:example.com)", "mcp__*", "mcp__db", "mcp__db__query", "Mystery", "Mystery(y)", "(", "",
)  # fmt: skip
RANK = {"allow": 0, "ask": 1, "deny": 2}

some_texts = st.lists(st.sampled_from(TEXTS), max_size=4)
votes = st.none() | st.builds(
    Vote,
    st.sampled_from(("block", "defer", "ask", "allow")),
    st.sampled_from(("", "because")),
    means=st.sampled_from(("", "no_objection")),
)


@st.composite
def sessions(draw: st.DrawFn) -> Permissions:
    made, _problems = RuleSet.parse(
        draw(some_texts), draw(some_texts), draw(some_texts), source="x", reader=reader()
    )
    permissions = Permissions(made, mode=draw(st.sampled_from(tuple(MODES))), root=PROJECT, reader=reader())
    for granted in draw(st.lists(st.sampled_from(CALLS), max_size=2)):
        permissions.grant(granted.tool_name, granted.tool_input, PROJECT)
    return (
        permissions.child(mode=draw(st.none() | st.sampled_from(tuple(MODES))))
        if draw(st.booleans())
        else permissions
    )


def least(facts: CallFacts, permissions: Permissions, vote: Vote | None) -> str:
    """Return the weakest decision that the guards leave."""
    kind = vote.kind if vote is not None else None
    if first_concerned(permissions.rules.deny, facts) or kind == "block":
        return "deny"
    if first_concerned(permissions.rules.ask, facts) or kind in {"ask", "defer"}:
        return "ask"
    return "allow"


@settings(max_examples=500, deadline=None)
@given(st.sampled_from(CALLS), sessions(), votes, st.booleans())
def test_no_verdict_is_weaker_than_the_strongest_guard(
    facts: CallFacts, permissions: Permissions, vote: Vote | None, attended: bool
) -> None:
    found = decide(facts, permissions, vote, attended)
    assert RANK[found.decision] >= RANK[least(facts, permissions, vote)]
    assert found.decision != "ask" or attended
    assert (found.decision == "ask") <= found.question
    assert found.trail


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(CALLS), st.sampled_from(CALLS), sessions(), votes, votes, st.booleans())
def test_no_answer_to_a_question_beats_a_deny_rule_also_after_a_rewrite(
    before: CallFacts,
    after: CallFacts,
    permissions: Permissions,
    vote: Vote | None,
    answer: Vote | None,
    attended: bool,
) -> None:
    asked = decide(before, permissions, vote, attended)
    found = answered(asked, before, after, permissions, answer, attended)
    if not asked.question:
        assert found == asked
    elif first_concerned(permissions.rules.deny, after):
        assert found.decision == "deny"
    elif after != before:
        assert RANK[found.decision] >= RANK[least(after, permissions, answer)]
    elif answer is None or answer.kind != "allow" or answer.means == "no_objection":
        assert RANK[found.decision] >= RANK["ask"]


@settings(max_examples=100, deadline=None)
@given(st.sampled_from(CALLS), sessions(), votes, st.sampled_from(TEXTS), st.sampled_from(("ask", "deny")))
def test_one_more_guard_never_weakens_a_verdict(
    facts: CallFacts, permissions: Permissions, vote: Vote | None, text: str, behavior: str
) -> None:
    before = decide(facts, permissions, vote)
    permissions.add_rules("deny" if behavior == "deny" else "ask", [text])
    assert RANK[decide(facts, permissions, vote).decision] >= RANK[before.decision]


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
fields = st.sampled_from(("command", "file_path", "path", "pattern", "url", "x"))


@settings(max_examples=100, deadline=None)
@given(
    st.sampled_from(("Bash", "Edit", "Read", "Glob", "Grep", "WebFetch", "mcp__a__b", "Mystery")) | st.text(),
    st.dictionaries(fields, anything | st.text(max_size=200), max_size=3),
    st.text(max_size=20),
    st.none() | st.text(max_size=20),
)
def test_no_arguments_break_a_decision(
    tool: str, arguments: dict[str, object], cwd: str, real: str | None
) -> None:
    facts = CallFacts(tool, arguments, category_of(tool), cwd, real)
    permissions = having(
        allow=["Bash(git:*)", "Edit(src/**)", "Mystery(a*)"], deny=["Bash(rm:*)", "Read(~/x)"]
    )
    assert decide(facts, permissions).decision in RANK
    permissions.grant(tool, arguments, cwd)
    assert decide(facts, permissions).decision in RANK


@settings(max_examples=100, deadline=None)
@given(st.lists(anything | st.text(max_size=100), max_size=4))
def test_no_text_breaks_the_reading_of_rules(texts: list[object]) -> None:
    found = permission_settings({"permissions": {"allow": texts, "deny": texts, "defaultMode": texts}}, "x")
    assert len(found.rules) <= 2 * len(texts)
