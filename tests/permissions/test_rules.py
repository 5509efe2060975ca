import pytest

from hookline import PatternError
from hookline.permissions.decide import decide
from hookline.permissions.facts import CallFacts
from hookline.permissions.rules import Behavior, RuleSet
from tests.permissions.permission_cases import bash, call, having, reader, rules

#: rule, call it is about, call it is not about
SYNTAX: list[tuple[str, CallFacts, CallFacts]] = [
    ("Bash", bash("anything"), call("Read", file_path="x")),
    ("Bash(git:*)", bash("git status"), bash("gitk")),
    ("Bash(git push --force*)", bash("git push --force-with-lease"), bash("git push")),
    ("Edit(src/**)", call("Edit", file_path="src/deep/a.py"), call("Edit", file_path="docs/a.py")),
    ("Read(~/.ssh/**)", call("Read", file_path="/home/anna/.ssh/id"), call("Read", file_path="/proj/a")),
    ("WebFetch(domain:example.com)", call("WebFetch", url="https://example.com/x"),
     call("WebFetch", url="https://example.org/x")),
    ("mcp__server__tool", call("mcp__server__tool"), call("mcp__server__other")),
    ("mcp__server", call("mcp__server__tool"), call("mcp__other__tool")),
]  # fmt: skip


@pytest.mark.parametrize(("text", "about", "not_about"), SYNTAX)
def test_the_syntax_of_the_agents_in_all_three_lists(
    text: str, about: CallFacts, not_about: CallFacts
) -> None:
    for permissions in (having(deny=[text]), having(ask=[text]), having(allow=[text])):
        assert decide(about, permissions).rule == text
        assert decide(not_about, permissions).rule is None


def test_rules_about_lines_are_asked_about_what_is_typed_into_a_running_shell() -> None:
    def typed(text: str) -> CallFacts:
        return call("BashInput", task_id="1", input=text)

    about = ["Bash(rm *)", "Read(~/.ssh/**)"]
    for permissions in (having(deny=about), having(ask=about)):
        assert decide(typed("cd /x && rm -r y\n"), permissions).rule == "Bash(rm *)"
        assert decide(typed("cat ~/.ssh/id\n"), permissions).rule == "Read(~/.ssh/**)"
        assert decide(typed("y\n"), permissions).rule is None
    # A permission for a line is none for text: who reads it is not known.
    assert decide(typed("git status\n"), having(allow=["Bash(git *)"])).rule is None


def test_a_bad_rule_is_reported_and_the_others_hold() -> None:
    made, problems = RuleSet.parse(allow=["Bash(git:*)", "Bash(", "", 5, "Read"], reader=reader())
    assert [rule.text for rule in made.allow] == ["Bash(git:*)", "Read"]
    assert problems == (
        'allow rule "Bash(": the ( after the tool is never closed; it allows nothing',
        'allow rule "": the rule is empty; it allows nothing',
        "allow rule: int is not the text of a rule",
    )


@pytest.mark.parametrize("behavior", ["deny", "ask"])
@pytest.mark.parametrize(
    "text", ["Bash(rm", "Bash(" + "x" * 5000 + ")", " Bash (rm", "Bash(rm:*) or so"], ids=len
)
def test_a_guard_that_cannot_be_read_counts_for_its_whole_tool(behavior: Behavior, text: str) -> None:
    lists = {"ask": [text] if behavior == "ask" else [], "deny": [text] if behavior == "deny" else []}
    made, problems = RuleSet.parse(ask=lists["ask"], deny=lists["deny"], reader=reader())
    assert len(made.of(behavior)) == 1
    assert made.of(behavior)[0].widened
    assert len(problems) == 1
    assert problems[0].endswith("it applies to all of Bash")
    permissions = having()
    permissions.set_layer("settings", made)
    found = decide(bash("ls"), permissions)
    assert found.decision == behavior
    assert found.reason.endswith(", which cannot be read and so applies to the whole tool.")


def test_a_guard_that_names_no_tool_is_reported() -> None:
    made, problems = RuleSet.parse(deny=["(rm)", "!Bash"], reader=reader())
    assert len(made) == 0
    assert len(problems) == 2
    assert all("has no effect" in problem for problem in problems)


def test_each_rule_remembers_where_it_came_from() -> None:
    made = rules(deny=["Bash(rm:*)"]) + rules(deny=["Bash(dd:*)"], source="flag --deny")
    made = made.with_rules("ask", ["Bash(git push:*)"], "session")
    assert [(rule.text, rule.source) for rule in (*made.deny, *made.ask)] == [
        ("Bash(rm:*)", "settings"),
        ("Bash(dd:*)", "flag --deny"),
        ("Bash(git push:*)", "session"),
    ]


def test_sets_are_not_changed_by_adding_to_them() -> None:
    first = rules(allow=["Read"])
    second = first.with_rules("allow", ["Bash(ls:*)"], "session")
    assert (len(first), len(second), len(first + second)) == (1, 2, 3)


def test_a_rule_that_stands_twice_is_kept_once() -> None:
    assert len(rules(allow=["Read", "Read", " Read "])) == 1


def test_adding_a_rule_that_cannot_be_read_is_an_error() -> None:
    with pytest.raises(PatternError):
        rules().with_rules("allow", ["Bash("], "session")
    assert rules().with_rules("deny", ["Bash("], "session").deny[0].widened


@pytest.mark.parametrize("tool", ["Edit", "Write", "MultiEdit", "NotebookEdit"])
def test_a_rule_about_edit_with_files_is_about_every_tool_that_writes_files(tool: str) -> None:
    facts = call(tool, file_path="secret/key")
    assert decide(facts, having(deny=["Edit(secret/**)"])).decision == "deny"
    assert decide(facts, having(ask=["Edit(secret/**)"])).step == "ask_rule"
    assert decide(facts, having(allow=["Edit(secret/**)"])).decision == "allow"
    assert decide(facts, having(deny=["Edit"])).decision == "deny"


def test_edit_alone_allows_edit_alone() -> None:
    assert decide(call("Edit", file_path="a"), having(allow=["Edit"])).decision == "allow"
    assert decide(call("Write", file_path="a"), having(allow=["Edit"])).decision == "ask"


@pytest.mark.parametrize("tool", ["Read", "Grep", "Glob", "LS"])
def test_a_rule_that_keeps_from_reading_keeps_from_searching(tool: str) -> None:
    facts = call(tool, file_path="secret/key", path="secret", pattern="x")
    assert decide(facts, having(deny=["Read(secret/**)"])).decision == "deny"


def test_a_home_allows_only_where_it_is_known() -> None:
    notes = call("Read", file_path="/home/anna/notes/x")
    assert decide(notes, having(allow=["Read(~/notes/**)"])).decision == "allow"
    unknown, _problems = RuleSet.parse(allow=["Read(~/notes/**)"])
    permissions = having()
    permissions.set_layer("settings", unknown)
    assert decide(notes, permissions).decision == "ask"


def test_several_rules_together_cover_one_line() -> None:
    permissions = having(allow=["Bash(git add:*)", "Bash(npm test:*)"])
    found = decide(bash("git add -A && npm test 2>&1"), permissions)
    assert (found.decision, found.rule) == ("allow", "Bash(git add:*), Bash(npm test:*)")
    assert decide(bash("git add -A && npm test && rm x"), permissions).decision == "ask"


def test_a_rule_and_a_grant_together_cover_one_line() -> None:
    permissions = having(allow=["Bash(git add:*)"])
    permissions.grant("Bash", {"command": "npm test"})
    found = decide(bash("git add -A && npm test"), permissions)
    assert (found.decision, found.step) == ("allow", "session_grant")


def test_a_command_that_opens_a_door_needs_a_rule_that_spells_it_out() -> None:
    line = bash("git config core.pager less")
    assert decide(line, having(allow=["Bash(git:*)", "Bash(git config:*)"])).decision == "ask"
    assert decide(line, having(allow=["Bash(git config core.pager less)"])).decision == "allow"


def test_a_guard_says_what_could_not_be_told_and_what_is_sure_decides_first() -> None:
    guards = having(deny=["Bash(rm *)", "Bash(curl *)"], ask=["Bash(git push --force*)"])
    doubted = decide(bash("git push $X"), guards)
    assert doubted.step == "ask_rule"
    said = "the rule Bash(git push --force*) (settings) (in doubt: `git push …` may be git push --force*)."
    assert doubted.reason.endswith(said)
    assert said in doubted.trail[-1]
    sure = decide(bash("$X y; curl z"), guards)
    assert (sure.rule, "in doubt" in sure.reason) == ("Bash(curl *)", False)
    steered = decide(bash("git push \x1b[2J\n$X"), guards)
    assert "\x1b" not in steered.reason


#: rule, what it counts for in doubt because of the names of arguments, what it does not
BY_NAMES: list[tuple[str, CallFacts, CallFacts]] = [
    ("Bash(rm *)", call("mcp__x__do", command="rm -rf a"), call("mcp__x__do", command="ls a")),
    ("Bash(rm *)", call("do", command="rm", args=["-rf", "a"]), call("do", text="rm -rf a")),
    ("Edit(src/**)", call("mcp__x__save", path="src/a.py"), call("mcp__x__save", path="docs/a.py")),
    ("Edit(src/**)", call("mcp__x__save", path="src/a.py"), call("mcp__x__read", path="src/a.py")),
    ("Read(.env)", call("mcp__x__get", file=".env"), call("mcp__x__get", title=".env")),
    (
        "WebFetch(domain:a.test)",
        call("mcp__x__open", url="https://a.test/x"),
        call("mcp__x__open", url="https://b.test"),
    ),
    ("Bash(rm *)", call("do", cmd="rm a"), call("TaskCreate", command="rm a")),
]


@pytest.mark.parametrize(("text", "about", "not_about"), BY_NAMES)
def test_rules_that_deny_or_ask_count_for_tools_that_nobody_declared(
    text: str, about: CallFacts, not_about: CallFacts
) -> None:
    for behavior, permissions in (("deny", having(deny=[text])), ("ask", having(ask=[text]))):
        found = decide(about, permissions)
        assert (found.decision, found.rule) == (behavior, text)
        assert "(in doubt: it is known by the names of its arguments alone)" in found.reason
        assert decide(not_about, permissions).rule is None
    assert decide(about, having(allow=[text])).rule is None


def test_a_rule_about_a_whole_tool_is_not_about_tools_that_nobody_declared() -> None:
    assert decide(call("mcp__x__do", command="ls"), having(deny=["Bash", "Edit", "WebFetch"])).rule is None
