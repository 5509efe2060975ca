from typing import Any

import pytest

from hookline.documents.document import Format, read_document
from hookline.permissions.decide import decide
from hookline.permissions.settings import PermissionSettings, permission_settings
from hookline.permissions.state import Permissions
from tests.every import every
from tests.permissions.permission_cases import bash, reader


def read(document: Any, **options: Any) -> PermissionSettings:
    return permission_settings(document, ".claude/settings.json", reader=reader(), **options)


def test_a_settings_file_of_the_client_is_read_as_it_is() -> None:
    found = read(
        {
            "model": "x",
            "hooks": {},
            "permissions": {
                "allow": ["Bash(git:*)"],
                "ask": ["Bash(git push:*)"],
                "deny": ["Read(./.env)"],
                "defaultMode": "acceptEdits",
                "additionalDirectories": ["../docs"],
                "disableBypassPermissionsMode": "disable",
            },
        }
    )
    assert found.problems == ()
    assert (found.mode, found.directories, len(found.rules)) == ("acceptEdits", ("../docs",), 3)
    assert {rule.source for rule in found.rules.deny} == {".claude/settings.json"}


@pytest.mark.parametrize(
    "document", [{}, {"permissions": {}}, {"permissions": None}, {"permissions": {"deny": None}}]
)
def test_a_file_that_says_nothing_of_permissions_changes_nothing(document: Any) -> None:
    found = read(document)
    assert (len(found.rules), found.mode, found.directories, found.problems) == (0, None, (), ())


@pytest.mark.parametrize(
    "hooks",
    [
        {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command"}]}]},
        {"PreToolUse": "nonsense"},
        5,
        [None],
    ],
)
def test_a_malformed_hook_beside_them_takes_no_rule_down(hooks: Any) -> None:
    found = read({"hooks": hooks, "permissions": {"deny": ["Bash(echo:*)"]}})
    assert found.problems == ()
    permissions = Permissions(found.rules, root="/proj")
    permissions.add_rules("allow", ["Bash"])
    assert decide(bash("echo RAN >> effect.txt"), permissions).step == "deny_rule"


MISTAKES: list[tuple[Any, tuple[str | int, ...], str]] = [
    (5, (), "the settings are not an object"),
    ({"permissions": []}, ("permissions",), "permissions is not an object, so its rules are not known"),
    ({"permissions": {"deny": {"Bash": 1}}}, ("permissions", "deny"), "deny is not a list"),
    ({"permissions": {"deny": "Bash(rm:*)"}}, ("permissions", "deny"),
     "deny is a text, not a list; it is read as a list of one"),
    ({"permissions": {"deny": ["Read", "Bash("]}}, ("permissions", "deny", 1),
     'deny rule "Bash(": the ( after the tool is never closed; it applies to all of Bash'),
    ({"permissions": {"allow": [None]}}, ("permissions", "allow", 0),
     "allow rule: NoneType is not the text of a rule"),
    ({"permissions": {"defaultMode": "yolo"}}, ("permissions", "defaultMode"),
     "no permission mode is called 'yolo'; there are: plan, dontAsk, default, acceptEdits, bypass"),
    ({"permissions": {"defaultMode": 1}}, ("permissions", "defaultMode"),
     "no permission mode is called 'int'; there are: plan, dontAsk, default, acceptEdits, bypass"),
    ({"permissions": {"additionalDirectories": [""]}}, ("permissions", "additionalDirectories", 0),
     "this is not the path of a directory"),
    ({"permissions": {"denny": ["Bash"]}}, ("permissions", "denny"),
     "nothing is called 'denny' here; did you mean 'deny'?"),
]  # fmt: skip


@every(("document", "path", "message"), MISTAKES)
def test_every_mistake_is_said_with_its_place(
    document: Any, path: tuple[str | int, ...], message: str
) -> None:
    (problem,) = read(document).problems
    assert (problem.path, problem.message) == (path, message)


def test_the_path_of_a_mistake_leads_to_its_line() -> None:
    text = '{\n "permissions": {\n  "deny": [\n   "Read",\n   "Bash("\n  ]\n }\n}'
    document = read_document(text, "json", "settings.json")
    (problem,) = read(document.value).problems
    assert str(document.where(*problem.path)) == "settings.json:5"


def test_one_text_where_a_list_belongs_still_guards() -> None:
    assert [rule.text for rule in read({"permissions": {"deny": "Bash(rm:*)"}}).rules.deny] == ["Bash(rm:*)"]


def test_a_file_that_is_not_trusted_can_only_tighten() -> None:
    document = {
        "permissions": {
            "allow": ["Bash"],
            "ask": ["WebFetch"],
            "deny": ["Read(.env)"],
            "defaultMode": "bypassPermissions",
            "additionalDirectories": ["/"],
        }
    }
    found = read(document, trusted=False)
    assert (found.rules.allow, len(found.rules.ask), len(found.rules.deny)) == ((), 1, 1)
    assert (found.mode, found.directories) == (None, ())
    assert found.problems == ()
    assert read({"permissions": {"defaultMode": "default"}}, trusted=False).mode is None  # the user may plan


NATIVE: list[tuple[Format, str]] = [
    ("toml", '[permissions]\nallow = ["Bash(git:*)"]\ndefaultMode = "plan"\n'),
    ("yaml", "permissions:\n  allow: ['Bash(git:*)']\n  defaultMode: plan\n"),
    ("json", '{"permissions": {"allow": ["Bash(git:*)"], "defaultMode": "plan"}}'),
]


@pytest.mark.parametrize(("kind", "text"), NATIVE)
def test_every_format_says_the_same(kind: Format, text: str) -> None:
    found = read(read_document(text, kind, "settings").value)
    assert ([rule.text for rule in found.rules.allow], found.mode) == (["Bash(git:*)"], "plan")
