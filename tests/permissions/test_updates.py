from typing import Any

import pytest

from hookline.events import EVENTS
from hookline.model.outcome import PermissionUpdate
from hookline.permissions.decide import decide
from hookline.permissions.state import Permissions
from hookline.permissions.updates import MOST_FROM_HOOKS, Applied
from tests.every import every
from tests.permissions.permission_cases import bash, call, having, reader


def apply(permissions: Permissions, type_: str, event: str = "PermissionRequest", **fields: Any) -> Applied:
    return permissions.apply(PermissionUpdate(type_, **fields), event, "helper.sh")


def rule(text: str) -> dict[str, str]:
    tool, bracket, inside = text.partition("(")
    return {"toolName": tool, "ruleContent": inside[:-1]} if bracket else {"toolName": tool}


def add(permissions: Permissions, text: str, behavior: str | None = "allow") -> Applied:
    return apply(permissions, "addRules", rules=(rule(text),), behavior=behavior)


CATCH_ALL = [
    "*", "Bash", "Bash(*)", "Bash(:*)", "Bash(**)", "Bash( * )", "Bash(* *)", "Bash(*:*)", "Bash(g*)", "Bash(*rm)",
    "mcp__*", "mcp__server", "mcp__server__*", "B*", "*(git:*)", "Edit", "Write", "MultiEdit", "NotebookEdit",
    "Edit(*)", "Edit(**)", "Edit(/**)", "Edit(//**)", "Edit(~/**)", "Edit(./**)", "Edit(../**)", "Edit(**/*)",
    "Edit(*.*)", "Edit([a-z]*)", "Edit([!x]**)", "Edit({**,src})", "Edit({src,*}/**)", "Edit({a,{b,**}})",
    "Edit(?*)", "WebFetch", "WebFetch(*)", "WebFetch(domain:*)", "WebFetch(domain:*.com)", "WebFetch(domain:com)",
    "WebFetch(https://*)", "WebSearch", "Mystery", "Mystery(*)", "Mystery(**)",
]  # fmt: skip
NARROW = [
    "Bash(git:*)", "Bash(git status)", "Bash(npm run test:*)", "Bash(git *)", "Edit(src/**)", "Edit(*.md)",
    "Edit(*.{ts,tsx})", "Edit(src/{*,x})", "Write(docs/a.md)", "Read", "Read(**)", "Grep",
    "WebFetch(domain:example.com)", "WebFetch(domain:*.example.com)", "WebFetch(https://example.com/*)",
    "mcp__server__tool", "Mystery(x*)",
]  # fmt: skip


@every("text", CATCH_ALL)
def test_a_catch_all_from_a_hook_is_refused(text: str) -> None:
    permissions = having()
    done = add(permissions, text)
    assert (done.ok, done.what, done.taken) == (False, "nothing", ())
    assert "a hook may not allow this: it " in done.why
    assert len(permissions.rules) == 0


@every("text", CATCH_ALL)
@every("behavior", ["ask", "deny"])
def test_a_hook_may_guard_as_widely_as_it_likes(text: str, behavior: str) -> None:
    permissions = having()
    assert add(permissions, text, behavior).ok
    assert len(permissions.rules) == 1


@every("text", NARROW)
def test_a_narrow_rule_from_a_hook_is_taken_for_the_session(text: str) -> None:
    permissions = having()
    assert add(permissions, text) == Applied(ok=True, what="rules", taken=(text,))
    assert [(each.text, each.source) for each in permissions.rules.allow] == [(text, "hook helper.sh")]


def test_a_rule_from_a_hook_lets_the_next_call_pass() -> None:
    permissions = having()
    assert decide(bash("npm test"), permissions).decision == "ask"
    add(permissions, "Bash(npm test:*)")
    found = decide(bash("npm test"), permissions)
    assert (found.step, found.source) == ("allow_rule", "hook helper.sh")


def test_a_rule_from_a_hook_lifts_no_guard() -> None:
    permissions = having(deny=["Bash(npm publish:*)"], ask=["Bash(npm test:*)"])
    add(permissions, "Bash(npm publish:*)")
    add(permissions, "Bash(npm test:*)")
    assert decide(bash("npm publish"), permissions).decision == "deny"
    assert decide(bash("npm test"), permissions).decision == "ask"


@every("event", [name for name in EVENTS if name != "PermissionRequest"])
def test_updates_of_every_other_event_are_dropped_and_said(event: str) -> None:
    permissions = having()
    for done in (
        apply(permissions, "setMode", event, mode="acceptEdits"),
        apply(permissions, "addRules", event, rules=(rule("Bash(ls:*)"),), behavior="allow"),
        apply(permissions, "addDirectories", event, directories=("/other",)),
    ):
        assert done == Applied(
            ok=False, why=f"only hooks of PermissionRequest change permissions, not those of {event}"
        )
    assert (permissions.mode, len(permissions.rules), permissions.directories) == ("default", 0, ())


@pytest.mark.parametrize("mode", ["bypass", "bypassPermissions", "BYPASS", " bypass-permissions "])
def test_a_hook_cannot_switch_permissions_off(mode: str) -> None:
    permissions = having()
    assert apply(permissions, "setMode", mode=mode).why == "a hook may not switch permissions off"
    assert permissions.mode == "default"


@pytest.mark.parametrize(
    ("given", "mode"),
    [
        ("acceptEdits", "acceptEdits"),
        ("dontAsk", "dontAsk"),
        ("plan", "plan"),
        ("default", "default"),
        ("normal", "default"),
    ],
)
def test_a_hook_may_choose_every_other_mode(given: str, mode: str) -> None:
    permissions = having(mode="acceptEdits")
    assert apply(permissions, "setMode", mode=given) == Applied(ok=True, what="mode", taken=(mode,))
    assert permissions.mode == mode


@pytest.mark.parametrize("mode", [None, "", "auto", "\x1b[2J"])
def test_a_mode_nobody_knows_is_refused(mode: str | None) -> None:
    permissions = having()
    done = apply(permissions, "setMode", mode=mode)
    assert not done.ok
    assert "\x1b" not in done.why


def test_other_destinations_are_taken_for_the_session_and_said() -> None:
    permissions = having()
    done = apply(
        permissions,
        "addRules",
        rules=(rule("Bash(ls:*)"),),
        behavior="allow",
        destination="userSettings",
    )
    assert (done.ok, done.taken) == (True, ("Bash(ls:*)",))
    assert done.why == "it holds for this session; nothing was written to userSettings"


def test_of_several_rules_the_good_ones_are_taken() -> None:
    permissions = having()
    wanted: tuple[dict[str, Any], ...] = (
        rule("Bash"),
        rule("Bash(ls:*)"),
        {"toolName": 5},
        {},
        {"toolName": "Bash(x", "ruleContent": "y"},
    )
    done = apply(permissions, "addRules", rules=wanted, behavior="allow")
    assert (done.ok, done.taken) == (False, ("Bash(ls:*)",))
    assert done.why.count("an item names no tool and no rule") == 3


def test_a_whole_rule_may_stand_in_either_field() -> None:
    permissions = having()
    wanted = ({"ruleContent": "Bash(git status)"}, {"toolName": "Bash(git diff:*)"})
    assert apply(permissions, "addRules", rules=wanted).taken == ("Bash(git status)", "Bash(git diff:*)")


@pytest.mark.parametrize(
    "fields",
    [
        {"type_": "addRules", "rules": (rule("Bash(ls)"),), "behavior": "permit"},
        {"type_": "addRules"},
        {"type_": "removeRules", "rules": (rule("Bash(ls)"),), "behavior": "permit"},
        {"type_": "removeRules"},
        {"type_": "replaceRules", "rules": (rule("Bash"),), "behavior": "allow"},
        {"type_": "addDirectories"},
        {"type_": "removeDirectories", "directories": ("/nowhere",)},
        {"type_": "openTheGates"},
        {"type_": ""},
    ],
)
def test_what_makes_no_sense_changes_nothing_and_is_said(fields: dict[str, Any]) -> None:
    permissions = having()
    done = apply(permissions, **fields)
    assert (done.ok, done.what) == (False, "nothing")
    assert done.why
    assert len(permissions.rules) == 0


def test_a_hook_replaces_what_hooks_added_and_nothing_else() -> None:
    permissions = having(allow=["Bash(a:*)"], deny=["Bash(b:*)"])
    permissions.add_rules("allow", ["Bash(c:*)"])
    add(permissions, "Bash(d:*)")
    add(permissions, "Bash(e:*)", "deny")
    assert apply(permissions, "replaceRules", rules=(rule("Bash(f:*)"),), behavior="allow").ok
    assert [each.text for each in permissions.rules.allow] == ["Bash(a:*)", "Bash(c:*)", "Bash(f:*)"]
    assert apply(permissions, "replaceRules", behavior="deny").ok
    assert [each.text for each in permissions.rules.deny] == ["Bash(b:*)"]


def test_a_hook_removes_guards_only_when_a_hook_added_them() -> None:
    permissions = having(deny=["Bash(b:*)"])
    add(permissions, "Bash(e:*)", "deny")
    wanted = (rule("Bash(b:*)"), rule("Bash(e:*)"), rule("Bash(z:*)"))
    done = apply(permissions, "removeRules", rules=wanted, behavior="deny")
    assert (done.ok, done.taken) == (False, ("Bash(e:*)",))
    assert done.why == "Bash(z:*): no such rule; Bash(b:*): a hook may not lift this guard"
    assert [each.text for each in permissions.rules.deny] == ["Bash(b:*)"]


def test_a_hook_may_take_any_permission_back() -> None:
    permissions = having(allow=["Bash(a:*)"])
    permissions.grant("Bash", {"command": "make test"})
    wanted = (rule("Bash(a:*)"), rule("Bash(make test:*)"))
    assert apply(permissions, "removeRules", rules=wanted, behavior="allow").ok
    assert decide(bash("a"), permissions).decision == "ask"
    assert decide(bash("make test"), permissions).decision == "ask"
    permissions.grant("Bash", {"command": "make test"})
    assert decide(bash("make test"), permissions).decision == "allow"


def test_directories_come_and_go() -> None:
    permissions = having()
    done = apply(permissions, "addDirectories", directories=("/other", "../next", "~/notes"))
    assert done == Applied(ok=True, what="directories", taken=("/other", "/next", "/home/anna/notes"))
    assert decide(call("Read", file_path="/other/x"), permissions).decision == "allow"
    assert apply(permissions, "removeDirectories", directories=("/other",)).taken == ("/other",)
    assert decide(call("Read", file_path="/other/x"), permissions).decision == "ask"


@pytest.mark.parametrize("directory", ["/", "/home", "/home/anna", "/home/anna/", "~", "//", "/home/../", ""])
def test_a_hook_cannot_open_a_whole_home_or_disk(directory: str) -> None:
    permissions = having()
    assert not apply(permissions, "addDirectories", directories=(directory,)).ok
    assert permissions.directories == ()


def test_without_a_known_home_only_the_disk_is_too_wide() -> None:
    permissions = Permissions(root="/proj")
    assert not apply(permissions, "addDirectories", directories=("/",)).ok
    assert not apply(permissions, "addDirectories", directories=("~/x",)).ok
    assert apply(permissions, "addDirectories", directories=("/home/anna",)).ok


def test_a_session_takes_only_so_much_from_hooks() -> None:
    permissions = having()
    wanted = tuple(rule(f"Bash(tool{number}:*)") for number in range(MOST_FROM_HOOKS + 5))
    done = apply(permissions, "addRules", rules=wanted, behavior="allow")
    assert (done.ok, len(done.taken), len(permissions.rules)) == (False, MOST_FROM_HOOKS, MOST_FROM_HOOKS)
    many = tuple(f"/d/{number}" for number in range(MOST_FROM_HOOKS + 5))
    done = apply(permissions, "addDirectories", directories=many)
    assert (done.ok, len(permissions.directories)) == (False, MOST_FROM_HOOKS)


def test_a_guard_from_a_hook_that_cannot_be_read_is_widened_and_said() -> None:
    permissions = having()
    done = apply(permissions, "addRules", rules=({"ruleContent": "Bash(rm"},), behavior="deny")
    assert (done.ok, done.what) == (False, "rules")
    assert done.why.endswith("it applies to all of Bash")
    assert decide(bash("ls"), permissions).decision == "deny"


def test_a_host_may_say_what_its_own_tools_do() -> None:
    permissions = Permissions(reader=reader(), categories={"Look": "read", "Deploy": "run"})
    assert add(permissions, "Look").ok
    assert not add(permissions, "Deploy").ok
