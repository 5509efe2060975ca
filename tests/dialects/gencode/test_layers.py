import json
from collections.abc import Sequence
from typing import cast

import pytest

from hookline.dialects.gencode import dialect
from hookline.events import Prompt
from hookline.extending import CommandSpec
from tests.dialects.hooked_agent import File, HookedAgent, lines_and_codes, read_hooks


def layer(file: str, hooks: dict[str, list[str]]) -> File:
    """A settings file with one group of commands per event."""
    groups = {
        event: [{"hooks": [{"command": each} for each in commands]}] for event, commands in hooks.items()
    }
    scope = (
        "plugin"
        if "plugin" in file
        else "user"
        if file.startswith("~")
        else "local"
        if "local" in file
        else "project"
    )
    return file, scope, json.dumps({"hooks": groups})


def in_force(event: str, files: Sequence[File]) -> list[str]:
    reading = read_hooks(dialect(), files)
    return [cast("CommandSpec", hook.spec).command for hook in reading.hooks if hook.event.name == event]


CLAUDE_USER, USER = "~/.claude/settings.json", "~/.gen/settings.json"
CLAUDE, PROJECT = ".claude/settings.json", ".gen/settings.json"
CLAUDE_LOCAL, LOCAL = ".claude/settings.local.json", ".gen/settings.local.json"
PLUGIN = "/p/my-plugin/hooks/hooks.json"


def test_the_project_replaces_the_user_event_by_event() -> None:
    files = [
        layer(USER, {"Stop": ["user"], "Setup": ["user"]}),
        layer(PROJECT, {"Stop": ["project", "more"]}),
    ]
    assert in_force("Stop", files) == ["project", "more"]
    assert in_force("Setup", files) == ["user"]
    files[1] = (PROJECT, "project", '{"hooks": {"Stop": []}}')
    assert in_force("Stop", files) == []
    assert in_force("Setup", files) == ["user"]


def test_the_local_file_replaces_both() -> None:
    files = [layer(each, {"Stop": [each]}) for each in (USER, PROJECT, LOCAL)]
    assert in_force("Stop", files) == [LOCAL]


def test_claude_files_add_up_where_no_file_of_its_own_names_the_event() -> None:
    files = [layer(each, {"Stop": [each], "Setup": [each]}) for each in (CLAUDE_USER, CLAUDE, CLAUDE_LOCAL)]
    assert in_force("Stop", files) == [CLAUDE_USER, CLAUDE, CLAUDE_LOCAL]
    files.insert(1, layer(USER, {"Stop": ["user"]}))
    assert in_force("Stop", files) == ["user"]
    assert in_force("Setup", files) == [CLAUDE_USER, CLAUDE, CLAUDE_LOCAL]


def test_permission_requests_of_claude_files_are_never_taken_over_and_reported() -> None:
    files = [layer(CLAUDE, {"PermissionRequest": ["claude"]})]
    assert in_force("PermissionRequest", files) == []
    assert [one.code for one in read_hooks(dialect(), files).diagnostics] == ["not-inherited"]
    files.append(layer(PLUGIN, {"PermissionRequest": ["plugin"]}))
    assert in_force("PermissionRequest", files) == ["plugin"]


def test_its_own_files_come_before_claude_files_and_those_before_plugins() -> None:
    plugin = layer(PLUGIN, {"Stop": ["plugin"], "Setup": ["plugin"], "PermissionRequest": ["plugin"]})
    claude = layer(CLAUDE, {"Stop": ["claude"], "PermissionRequest": ["claude"]})
    files = [plugin, layer(USER, {"SessionEnd": ["user"]}), claude]
    assert [in_force(event, files) for event in ("Stop", "Setup", "PermissionRequest")] == [
        ["claude"], ["plugin"], ["plugin"],
    ]  # fmt: skip
    files.append(layer(PROJECT, {"Stop": ["project"], "PermissionRequest": ["project"]}))
    assert [in_force(event, files) for event in ("Stop", "Setup", "PermissionRequest")] == [
        ["project"], ["plugin"], ["project"],
    ]  # fmt: skip


@pytest.mark.parametrize("by", [USER, PROJECT, LOCAL, CLAUDE])
def test_a_plugin_is_replaced_by_user_and_project_event_by_event(by: str) -> None:
    other = "/p/other-plugin/hooks/hooks.json"
    files = [
        layer(PLUGIN, {"Stop": ["plugin"], "Setup": ["plugin"]}),
        layer(other, {"Setup": ["other"]}),
        layer(by, {"Stop": ["settings"]}),
    ]
    assert in_force("Stop", files) == in_force("Stop", files[::-1]) == ["settings"]
    assert in_force("Setup", files) == ["plugin", "other"]


@pytest.mark.parametrize("file", [PLUGIN, "/p/my-plugin/.gen-plugin/plugin.json", "/p/my-plugin/plugin.json"])
def test_a_plugin_command_knows_its_directory(file: str) -> None:
    command = """echo '${GEN_PLUGIN_ROOT}|${CLAUDE_PLUGIN_ROOT}'"|$GEN_PLUGIN_ROOT" >&2; exit 2"""
    agent = HookedAgent(dialect(), [layer(file, {"UserPromptSubmit": [command]})])
    outcome = agent.fire("UserPromptSubmit", Prompt(prompt="x"))
    assert outcome.reason == "/p/my-plugin|/p/my-plugin|/p/my-plugin"
    assert agent.reading.hooks[0].scope == "plugin"


def test_a_file_that_is_not_json_is_skipped_with_its_line_and_the_rest_loads() -> None:
    broken = '{\n  "hooks": {\n    "Stop": [,]\n  }\n}'
    files: list[File] = [layer(USER, {"Stop": ["user"]}), (PROJECT, "project", broken)]
    reading = read_hooks(dialect(), files)
    assert lines_and_codes(reading.diagnostics) == [(3, "syntax")]
    assert in_force("Stop", files) == ["user"]


def test_a_list_that_is_none_does_not_replace_one_that_is() -> None:
    files: list[File] = [layer(USER, {"Stop": ["user"]}), (PROJECT, "project", '{"hooks": {"Stop": {}}}')]
    assert in_force("Stop", files) == ["user"]


def test_there_are_six_places_lowest_first() -> None:
    places = dialect().config_paths("/project", {"HOME": "/home/me"})
    assert [(place.file, place.scope) for place in places] == [
        ("/home/me/.claude/settings.json", "user"),
        ("/home/me/.gen/settings.json", "user"),
        ("/project/.claude/settings.json", "project"),
        ("/project/.gen/settings.json", "project"),
        ("/project/.claude/settings.local.json", "local"),
        ("/project/.gen/settings.local.json", "local"),
    ]
    assert len(dialect().config_paths("/project", {})) == 4


def test_its_shape_is_nobodys_own() -> None:
    assert not dialect().recognises({"hooks": {"Stop": [{"hooks": [{"command": "true"}]}]}})
