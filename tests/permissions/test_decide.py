from typing import Any, get_args

import pytest

from hookline.config.protection.protected_paths import PROTECTED
from hookline.model.outcome import Vote
from hookline.permissions.decide import PermissionDecision, answered, decide
from hookline.permissions.facts import CallFacts, Category
from hookline.permissions.modes import MODES
from hookline.permissions.state import Permissions
from tests.every import every
from tests.permissions.permission_cases import PROJECT, bash, call, having, some_call, vote

#: Each step at work, with all that stands above it silent and all that stands below it saying the opposite.
DENIED_EVERYWHERE: dict[str, Any] = {"deny": ["Bash(make:*)"]}
EVERY_ALLOW: dict[str, Any] = {"allow": ["Bash(make:*)", "Edit(.git/**)", "Edit(src/**)"], "mode": "bypass"}
ORDER: list[tuple[str, str, CallFacts, dict[str, Any], Vote | None]] = [
    ("deny_rule", "deny", bash("make"), {**EVERY_ALLOW, **DENIED_EVERYWHERE}, vote("allow")),
    ("hook_deny", "deny", bash("make"), {**EVERY_ALLOW, "ask": ["Bash"]}, vote("block", "not today")),
    (
        "mode",
        "deny",
        some_call("write"),
        {"allow": ["Write"], "ask": ["Write"], "mode": "plan"},
        vote("allow"),
    ),
    ("ask_rule", "ask", bash("make"), {**EVERY_ALLOW, "ask": ["Bash(make:*)"]}, vote("allow")),
    ("hook_ask", "ask", bash("make"), EVERY_ALLOW, vote("ask", "sure?")),
    ("protected", "ask", call("Edit", file_path=".git/config"), {"allow": ["Edit(.git/**)"]}, vote("allow")),
    ("hook_allow", "allow", bash("make"), {"mode": "dontAsk"}, vote("allow", "fine")),
    ("allow_rule", "allow", bash("make"), {"allow": ["Bash(make:*)"], "mode": "dontAsk"}, None),
    ("mode", "allow", some_call("write"), {"mode": "acceptEdits"}, None),
    ("read_only", "allow", some_call("read"), {}, None),
    ("default", "ask", bash("make"), {}, None),
]


@every(("step", "decision", "facts", "state", "said"), ORDER)
def test_each_step_decides_when_all_above_it_are_silent(
    step: str, decision: str, facts: CallFacts, state: dict[str, Any], said: Any
) -> None:
    found = decide(facts, having(**state), said)
    assert (found.step, found.decision) == (step, decision)


def test_a_grant_decides_after_the_rules_and_before_the_mode() -> None:
    permissions = having(mode="dontAsk")
    permissions.grant("Bash", {"command": "make test"}, PROJECT)
    found = decide(bash("make test"), permissions)
    assert (found.step, found.decision, found.rule) == ("session_grant", "allow", "Bash(make test:*)")
    assert found.source == "granted by the user"


def test_the_trail_names_every_step_that_was_asked_and_ends_with_the_one_that_decided() -> None:
    found = decide(bash("make"), having(allow=["Bash(git:*)"], deny=["Bash(rm:*)"]))
    assert found.trail == (
        "deny rules: none of 1 matches the call",
        "hooks: no vote",
        "mode default: refuses no tool that does run",
        "ask rules: none of 0 matches the call",
        "hooks: none asks",
        "protected paths: none is written to",
        "hooks: none allows",
        "allow rules: 1 do not cover the call",
        "grants of this session: none covers the call",
        "mode default: run does not run without a question",
        "default: ask. Bash needs approval: no rule allows this call.",
    )


def test_the_reason_names_the_rule_and_where_it_came_from() -> None:
    found = decide(bash("git push --force"), having(deny=["Bash(git push --force*)"]))
    assert found.reason == (
        "Permission to use Bash was denied by the rule Bash(git push --force*) (settings)."
    )
    assert (found.rule, found.source) == ("Bash(git push --force*)", "settings")


def test_the_reason_of_a_hook_is_kept() -> None:
    assert decide(bash("make"), having(), vote("block", "use just")).reason == "use just"
    assert decide(bash("make"), having(), vote("ask", "really?")).reason == "really?"
    assert decide(bash("make"), having(), vote("block")).reason == "A hook (hook guard.sh) denied it."


def test_what_a_hook_or_a_rule_wrote_cannot_steer_a_terminal() -> None:
    hostile = "no\x1b]0;owned\x07\x9b2Jway"
    assert decide(bash("make"), having(), vote("block", hostile)).reason == "noway"
    found = decide(CallFacts("Ba\x1b[2Jsh\nX", {}, "run", PROJECT), having(deny=["*"]))
    assert "\x1b" not in found.reason
    assert all("\x1b" not in line and "\n" not in line for line in found.trail)


# What each mode does with each category, inside the project. Without a user, "ask" is "deny".
BY_MODE = {
    #              read     agent    write    run    web    mcp    other
    "plan":        ("allow", "allow", "deny", "ask", "ask", "ask", "ask"),
    "dontAsk":     ("allow", "allow", "deny", "deny", "deny", "deny", "deny"),
    "default":     ("allow", "allow", "ask", "ask", "ask", "ask", "ask"),
    "acceptEdits": ("allow", "allow", "allow", "ask", "ask", "ask", "ask"),
    "bypass":      ("allow", "allow", "allow", "allow", "allow", "allow", "allow"),
}  # fmt: skip
CATEGORIES: tuple[Category, ...] = ("read", "agent", "write", "run", "web", "mcp", "other")


@every("mode", BY_MODE)
@every("category", CATEGORIES)
def test_every_mode_does_with_every_category_what_the_table_says(mode: str, category: Category) -> None:
    found = decide(some_call(category), having(mode=mode))
    assert found.decision == BY_MODE[mode][CATEGORIES.index(category)]


def test_the_tables_of_this_file_are_complete() -> None:
    assert set(BY_MODE) == set(MODES)
    assert set(CATEGORIES) == set(get_args(Category))


@every("mode", MODES)
@every("category", CATEGORIES)
def test_deny_and_ask_rules_hold_in_every_mode(mode: str, category: Category) -> None:
    facts = some_call(category)
    assert decide(facts, having(deny=[facts.tool_name], mode=mode), vote("allow")).decision == "deny"
    asked = decide(facts, having(ask=[facts.tool_name], allow=[facts.tool_name], mode=mode), vote("allow"))
    assert asked.decision in {"ask", "deny"}


@pytest.mark.parametrize("mode", MODES)
def test_a_hook_that_denies_or_asks_is_heard_in_every_mode(mode: str) -> None:
    allowed = having(allow=["Bash(make:*)"], mode=mode)
    assert decide(bash("make"), allowed, vote("block")).decision == "deny"
    for kind in ("ask", "defer"):
        found = decide(bash("make"), allowed, vote(kind))
        assert found.question
        assert found.decision == ("deny" if mode == "dontAsk" else "ask")


def test_no_objection_is_no_permission() -> None:
    unobjected = vote("allow", means="no_objection")
    assert decide(bash("make"), having(), unobjected).decision == "ask"
    assert decide(bash("make"), having(allow=["Bash(make:*)"]), unobjected).step == "allow_rule"


def test_where_nobody_can_be_asked_a_question_is_a_denial_that_says_so() -> None:
    found = decide(bash("make"), having(), attended=False)
    assert (found.decision, found.step, found.question) == ("deny", "unattended", True)
    assert found.reason == (
        "Bash needs approval: no rule allows this call. Denied: no user is present to approve it."
    )
    refused = decide(bash("make"), having(deny=["Bash"]), attended=False)
    assert (refused.step, refused.question) == ("deny_rule", False)


def test_dont_ask_says_why_it_denies() -> None:
    found = decide(bash("make"), having(ask=["Bash(make:*)"], mode="dontAsk"))
    assert (found.decision, found.step, found.rule) == ("deny", "mode", "Bash(make:*)")
    assert found.reason.endswith("Denied: mode dontAsk denies what it would otherwise ask.")


INSIDE = ["src/a.py", "./a.py", "/proj/a.py", "/proj", "/other/x", "/other"]
OUTSIDE = [
    "/etc/passwd", "../x", "/proj/../etc/passwd", "src/../../etc/x", "~/x", "~root/x", "/projects/x", "/", "/proj2",
    "/other2/x", "a\u200b/../../x", "/PROJ/x", "x/" * 600,
]  # fmt: skip


@pytest.mark.parametrize("path", INSIDE)
def test_files_inside_the_directories_are_read_and_with_accept_edits_written(path: str) -> None:
    permissions = having(mode="acceptEdits", directories=["/other"])
    assert decide(call("Read", file_path=path), permissions).decision == "allow"
    assert decide(call("Write", file_path=path), permissions).decision == "allow"


@every("path", OUTSIDE)
def test_files_outside_of_the_directories_are_asked_even_to_be_read(path: str) -> None:
    permissions = having(mode="acceptEdits", directories=["/other"])
    assert decide(call("Read", file_path=path), permissions).decision == "ask"
    assert decide(call("Write", file_path=path), permissions).decision == "ask"
    assert decide(call("Grep", pattern="x", path=path), permissions).decision == "ask"


@pytest.mark.parametrize("pattern", ["/etc/*", "../*", "~/*", "a/../../*", "{/etc,/x}/*", "/**", 5, ["x"]])
def test_a_file_pattern_that_leads_outside_is_asked(pattern: Any) -> None:
    assert decide(call("Glob", pattern=pattern), having()).decision == "ask"


@pytest.mark.parametrize("pattern", ["*.py", "src/**/*.ts", "/proj/src/*.py", "**/*", "a"])
def test_a_file_pattern_that_stays_inside_is_not_asked(pattern: str) -> None:
    assert decide(call("Glob", pattern=pattern), having()).decision == "allow"
    assert decide(call("Grep", pattern="/etc/../x", path="src"), having()).decision == "allow"


@pytest.mark.parametrize("arguments", [{}, {"file_path": 5}, {"file_path": ["src/a"]}, {"file_path": None}])
def test_a_tool_that_writes_nobody_knows_where_is_asked(arguments: dict[str, Any]) -> None:
    facts = CallFacts("Write", arguments, "write", PROJECT)
    assert decide(facts, having(mode="acceptEdits")).decision == "ask"


def test_the_project_stays_the_project_when_the_shell_moves_away() -> None:
    moved = CallFacts("Read", {"file_path": "passwd"}, "read", "/etc")
    assert decide(moved, having()).decision == "ask"
    assert decide(CallFacts("Read", {"file_path": "a"}, "read", "/proj/src"), having()).decision == "allow"


def test_where_a_link_leads_counts_as_much_as_its_name() -> None:
    link = CallFacts("Read", {"file_path": "notes"}, "read", PROJECT, real_path="/home/anna/.ssh/id")
    assert decide(link, having()).decision == "ask"
    assert decide(link, having(allow=["Read(notes)"])).decision == "ask"
    assert decide(link, having(deny=["Read(~/.ssh/**)"])).decision == "deny"
    inside = CallFacts("Read", {"file_path": "notes"}, "read", PROJECT, real_path="/proj/other")
    assert decide(inside, having()).decision == "allow"


@every("part", PROTECTED)
@every("path", ["{}", "{}/x", "src/{}/x", "/proj/a/{}", "x/../{}/y"])
def test_writing_to_a_protected_place_is_asked_whatever_allows_it(part: str, path: str) -> None:
    facts = call("Write", file_path=path.format(part))
    permissions = having(allow=["Write", "Edit(**)"], mode="acceptEdits")
    permissions.grant("Write", {"file_path": path.format(part)}, PROJECT)
    assert decide(facts, permissions, vote("allow")).step == "protected"
    assert decide(facts, having(mode="bypass")).decision == "allow"


@pytest.mark.parametrize("path", [".GIT/config", ".Git./x", ".claude /x", ".git::$INDEX/x", "~/.BASHRC"])
def test_other_spellings_of_a_protected_place_are_protected(path: str) -> None:
    assert decide(call("Edit", file_path=path), having(mode="acceptEdits"), vote("allow")).step == "protected"


@pytest.mark.parametrize("path", [".github/x", "git/x", ".gitignore", "claude/x", ".clauderc", "x.git"])
def test_what_only_looks_like_a_protected_place_is_not(path: str) -> None:
    assert decide(call("Edit", file_path=path), having(mode="acceptEdits")).decision == "allow"


def test_a_rewrite_never_carries_an_old_allow_over() -> None:
    permissions = having(allow=["Bash(echo:*)"], deny=["Bash(touch:*)"])
    assert decide(bash("echo hi"), permissions, vote("allow")).decision == "allow"
    assert decide(bash("touch forbidden.txt"), permissions, vote("allow")).decision == "deny"
    assert decide(bash("make"), permissions, None).decision == "ask"


def ask_about(facts: CallFacts, permissions: Permissions) -> PermissionDecision:
    asked = decide(facts, permissions)
    assert asked.question
    return asked


def test_an_allow_of_permission_request_answers_the_question_for_the_user() -> None:
    permissions = having(ask=["Bash(make:*)"])
    asked = ask_about(bash("make"), permissions)
    found = answered(asked, bash("make"), bash("make"), permissions, vote("allow", "agreed"))
    assert (found.decision, found.step, found.reason, found.question) == (
        "allow",
        "request_allow",
        "agreed",
        False,
    )
    assert found.trail[: len(asked.trail)] == asked.trail


def test_a_denial_of_permission_request_keeps_its_message() -> None:
    permissions = having()
    asked = ask_about(bash("make"), permissions)
    found = answered(asked, bash("make"), bash("make"), permissions, vote("block", "ask me on Monday"))
    assert (found.decision, found.step, found.reason) == ("deny", "request_deny", "ask me on Monday")


def test_permission_request_without_an_answer_leaves_the_question() -> None:
    permissions = having()
    asked = ask_about(bash("make"), permissions)
    for said in (None, vote("ask"), vote("defer"), vote("allow", means="no_objection")):
        assert answered(asked, bash("make"), bash("make"), permissions, said).decision == "ask"
        unattended = answered(asked, bash("make"), bash("make"), permissions, said, attended=False)
        assert (unattended.decision, unattended.step) == ("deny", "unattended")


@pytest.mark.parametrize(
    ("rewritten", "decision", "step"),
    [
        ("touch forbidden.txt", "deny", "deny_rule"),
        ("git push", "ask", "ask_rule"),
        ("make other", "allow", "hook_allow"),
    ],
)
def test_what_permission_request_rewrote_is_judged_anew(rewritten: str, decision: str, step: str) -> None:
    permissions = having(ask=["Bash(git push:*)"], deny=["Bash(touch:*)"])
    asked = ask_about(bash("make"), permissions)
    found = answered(asked, bash("make"), bash(rewritten), permissions, vote("allow"))
    assert (found.decision, found.step) == (decision, step)


def test_permission_request_answers_questions_only() -> None:
    permissions = having(deny=["Bash(make:*)"])
    denied = decide(bash("make"), permissions)
    assert answered(denied, bash("make"), bash("make"), permissions, vote("allow")) == denied


def test_a_rule_that_came_with_the_answer_is_heard_before_the_answer() -> None:
    permissions = having()
    asked = ask_about(bash("make"), permissions)
    permissions.add_rules("deny", ["Bash(make:*)"])
    assert answered(asked, bash("make"), bash("make"), permissions, vote("allow")).decision == "deny"
