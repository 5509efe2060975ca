"""Settings files of all levels: hooks add up, switches override, plugins count apart."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from hookline.dialects.claude_code import dialect
from hookline.events import SessionEnded, ToolCall
from hookline.extending import Dialect, LoadedHooks
from hookline.handlers.http.handler import HttpSpec
from hookline.model.hook import Scope
from tests.dialects.hooked_agent import File, HookedAgent, read_hooks

CLAUDE = dialect(env={"HOME": "/home/user"})


def settings(*commands: str, event: str = "PreToolUse", **more: Any) -> dict[str, Any]:
    entries = [{"type": "command", "command": command} for command in commands]
    return {"hooks": {event: [{"hooks": entries}]}, **more}


def file(scope: Scope, value: Mapping[str, Any], name: str = "") -> File:
    return (name or f"/{scope}/.claude/settings.json", scope, json.dumps(value, indent=1))


def names(reading: LoadedHooks) -> list[str]:
    return [hook.name for hook in reading.hooks]


def disabled(*layers: tuple[Scope, bool | None]) -> list[str]:
    """The hooks left when each level says this about disableAllHooks; each level has one hook."""
    files: list[File] = []
    for scope, said in layers:
        switch: dict[str, Any] = {} if said is None else {"disableAllHooks": said}
        files.append(file(scope, settings(scope, **switch)))
    return names(read_hooks(CLAUDE, files))


def test_hooks_of_all_levels_add_up_managed_first() -> None:
    given = disabled(("local", None), ("project", None), ("user", None), ("flag", None), ("managed", None))
    assert given == ["managed", "user", "project", "local", "flag"]


@pytest.mark.parametrize(
    ("layers", "left"),
    [
        ((("user", True), ("project", None)), []),
        ((("user", True), ("project", False)), ["user", "project"]),
        ((("project", True), ("local", False)), ["project", "local"]),
        ((("project", False), ("flag", True)), []),
        ((("managed", None), ("user", True)), ["managed"]),
        ((("managed", True), ("user", False)), []),
    ],
)
def test_the_strongest_word_on_disabling_counts(layers: Any, left: list[str]) -> None:
    assert disabled(*layers) == left


def test_hooks_that_are_switched_off_are_told_of() -> None:
    files = [file("user", {"disableAllHooks": True}), file("project", settings("x"))]
    found = read_hooks(CLAUDE, files).diagnostics
    assert [(one.severity, one.code, one.where.file) for one in found] == [
        ("info", "disabled", "/project/.claude/settings.json")
    ]
    assert "/user/.claude/settings.json" in found[0].message


def test_managed_settings_may_allow_managed_hooks_only() -> None:
    files = [file("managed", settings("m", allowManagedHooksOnly=True)), file("user", settings("u"))]
    assert names(read_hooks(CLAUDE, files)) == ["m"]
    assert names(read_hooks(CLAUDE, [file("user", settings("u", allowManagedHooksOnly=True))])) == ["u"]


def test_one_bad_file_leaves_the_others_in_force() -> None:
    bad: File = ("/local/.claude/settings.local.json", "local", "{")
    reading = read_hooks(CLAUDE, [file("user", settings("u")), bad])
    assert names(reading) == ["u"]
    assert [one.code for one in reading.diagnostics] == ["syntax"]


def test_the_same_command_in_two_settings_files_runs_once_and_in_a_plugin_again() -> None:
    plugin = file("plugin", settings("echo x"), "/plugins/a/hooks/hooks.json")
    files = [file("user", settings("echo x")), file("project", settings("echo x", "echo y")), plugin]
    agent = HookedAgent(CLAUDE, files, cwd="/tmp")
    agent.fire("PreToolUse", ToolCall(tool_name="Bash"))
    assert sorted(run.stdout for run in agent.runs) == ["x\n", "x\n", "y\n"]


def test_a_plugins_hooks_know_where_it_is() -> None:
    entry = {
        "type": "command",
        "command": "${CLAUDE_PLUGIN_ROOT}/bin/echo",
        "args": ["${CLAUDE_PLUGIN_ROOT}", "$X"],
    }
    shell = settings('echo "$CLAUDE_PLUGIN_ROOT"', event="SessionEnd")
    shell["hooks"]["PreToolUse"] = [{"hooks": [entry]}]
    agent = HookedAgent(
        CLAUDE, [file("plugin", {"description": "d", **shell}, "/usr/hooks/hooks.json")], cwd="/tmp"
    )
    agent.fire("SessionEnd", SessionEnded())
    assert agent.runs[0].stdout == "/usr\n"
    agent.fire("PreToolUse", ToolCall(tool_name="Bash"))
    assert agent.runs[1].stdout == "/usr $X\n"


def budget(
    timeouts: list[float | None], env: Mapping[str, str] | None = None, scope: Scope = "user"
) -> float | None:
    entries = [
        {"type": "command", "command": f"echo {index}", **({} if seconds is None else {"timeout": seconds})}
        for index, seconds in enumerate(timeouts)
    ]
    hooks = {"hooks": {"SessionEnd": [{"hooks": entries}]}}
    found = read_hooks(dialect(env=env or {}), [file(scope, hooks, "/a/hooks/hooks.json")]).hooks
    assert len({id(hook.policy) for hook in found}) == 1
    return found[0].policy.budget


def test_session_end_hooks_share_what_the_most_patient_asks_for() -> None:
    assert budget([None]) == 1.5
    assert budget([None, 10]) == 10
    assert budget([600]) == 60
    assert budget([0.5]) == 1.5
    assert budget([10], scope="plugin") == 1.5
    assert budget([10], {"CLAUDE_CODE_SESSIONEND_HOOKS_TIMEOUT_MS": "2500"}) == 2.5


def test_a_slow_session_end_hook_is_cut_off() -> None:
    agent = HookedAgent(CLAUDE, [file("user", settings("sleep 30", event="SessionEnd"))], cwd="/tmp")
    agent.fire("SessionEnd", SessionEnded())
    assert [run.status for run in agent.runs] == ["timed_out"]


def cap(env: Mapping[str, str]) -> int:
    limit = dialect(env=env).events["Stop"].policy.limit
    assert limit is not None
    return limit.obeyed


def test_the_environment_may_raise_the_cap_on_blocked_endings() -> None:
    assert cap({}) == 8
    assert cap({"CLAUDE_CODE_STOP_HOOK_BLOCK_CAP": "2"}) == 2
    assert cap({"CLAUDE_CODE_STOP_HOOK_BLOCK_CAP": "many"}) == 8


def test_http_hooks_may_use_the_variables_that_both_lists_name() -> None:
    entry = {"type": "http", "url": "http://127.0.0.1:1/x", "allowedEnvVars": ["A", "B"]}
    hooks = {"hooks": {"PreToolUse": [{"hooks": [entry]}]}, "httpHookAllowedEnvVars": ["B", "C"]}
    spec = read_hooks(CLAUDE, [file("project", hooks)]).hooks[0].spec
    assert isinstance(spec, HttpSpec)
    assert spec.allowed_env_vars == ("B",)


@pytest.mark.parametrize(
    ("event", "kind", "seconds"),
    [
        ("PreToolUse", "command", 600.0),
        ("UserPromptSubmit", "command", 30.0),
        ("MessageDisplay", "command", 10.0),
        ("UserPromptSubmit", "agent", 60.0),
        ("PreToolUse", "prompt", 30.0),
    ],
)
def test_seconds_by_event_and_kind(event: str, kind: str, seconds: float) -> None:
    entry = {"type": kind, "command": "x"} if kind == "command" else {"type": kind, "prompt": "x"}
    found = read_hooks(CLAUDE, [file("user", {"hooks": {event: [{"hooks": [entry]}]}})]).hooks
    assert found[0].timeout == seconds


def test_where_settings_are() -> None:
    places = CLAUDE.config_paths("/srv/p/", {"HOME": "/home/u"})
    assert [(place.file, place.scope) for place in places][-3:] == [
        ("/home/u/.claude/settings.json", "user"),
        ("/srv/p/.claude/settings.json", "project"),
        ("/srv/p/.claude/settings.local.json", "local"),
    ]
    assert {place.scope for place in places[:-3]} == {"managed"}
    moved = CLAUDE.config_paths("/p", {"HOME": "/h", "CLAUDE_CONFIG_DIR": "/c"})
    assert "/c/settings.json" in [place.file for place in moved]


def test_a_variable_that_leads_into_the_project_does_not_hide_the_users_own_hooks(tmp_path: Path) -> None:
    project, nested = tmp_path / "project", tmp_path / "project" / "nested"
    (project / ".git").mkdir(parents=True)
    nested.mkdir()
    for config in (project, project / ".claude", nested / "config"):
        env = {"HOME": "/h", "CLAUDE_CONFIG_DIR": str(config)}
        users = [each.file for each in CLAUDE.config_paths(str(nested), env) if each.scope == "user"]
        assert users == ["/h/.claude/settings.json", f"{config}/settings.json"]


def test_a_settings_file_is_known_by_what_only_this_agent_has() -> None:
    claude: Dialect = CLAUDE
    assert claude.recognises({"$schema": "https://json.schemastore.org/claude-code-settings.json"})
    assert claude.recognises({"allowedHttpHookUrls": []})
    assert not claude.recognises(settings("x"))
    assert not claude.recognises([])


def test_a_hook_given_on_the_command_line_is_an_ordinary_one() -> None:
    hook = CLAUDE.flag_hook(CLAUDE.events["UserPromptSubmit"], "sh check.sh")
    assert (hook.name, hook.timeout, hook.scope, hook.dialect) == ("check.sh", 30.0, "flag", "claude-code")
