"""Codex's files: where they are, what an entry means, and which tools a matcher is about."""

from pathlib import Path

from hookline.dialects.codex import dialect
from hookline.dialects.registry import standard_dialects
from hookline.extending import ConfigPath
from hookline.handlers.specs import CommandSpec, McpToolSpec
from tests.dialects.codex.hooks import (
    CONFIG,
    FILE,
    agent_with,
    config_toml,
    entry,
    group,
    read,
    states,
    text_of,
)
from tests.every import every

PLUGIN = "/x/plugins/tidy/hooks/hooks.json"


def places(cwd: Path, **env: str) -> list[tuple[str, str]]:
    return [
        (config_path.file, config_path.scope)
        for config_path in dialect().find(str(cwd), {"HOME": "/u", **env})
    ]


def test_files_of_the_system_the_user_and_every_directory_of_the_project(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "a/b").mkdir(parents=True)
    assert places(tmp_path / "a/b") == [
        ("/etc/codex/requirements.toml", "managed"),
        ("/etc/codex/hooks.json", "managed"),
        ("/etc/codex/config.toml", "managed"),
        ("/etc/codex/managed_config.toml", "managed"),
        (FILE, "user"),
        (CONFIG, "user"),
        *(
            (f"{directory}/.codex/{name}", "project")
            for directory in (tmp_path, tmp_path / "a", tmp_path / "a/b")
            for name in ("hooks.json", "config.toml")
        ),
    ]
    assert [
        config_path.file for config_path in dialect().config_paths("/p", {}) if config_path.scope != "managed"
    ] == [
        "/p/.codex/hooks.json",
        "/p/.codex/config.toml",
    ]


def test_the_users_directory_may_be_elsewhere_but_not_in_the_project_alone(tmp_path: Path) -> None:
    users = [file for file, scope in places(tmp_path, CODEX_HOME="/c") if scope == "user"]
    assert users == ["/c/hooks.json", "/c/config.toml"]
    inside = [file for file, scope in places(tmp_path, CODEX_HOME=f"{tmp_path}/evil") if scope == "user"]
    assert inside == [FILE, CONFIG, f"{tmp_path}/evil/hooks.json", f"{tmp_path}/evil/config.toml"]
    assert standard_dialects()["codex"].variables == ("CODEX_HOME",)


def test_layers_add_up_json_before_toml_and_events_in_order() -> None:
    hooks = {"Stop": [group(entry("b"))], "PreToolUse": [group(entry("a"))]}
    toml = '[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = "command"\ncommand = "c"\n'
    trusted = {**states(FILE, hooks), **states(CONFIG, {"Stop": [group(entry("c"))]})}
    reading = read(
        (
            "/etc/codex/requirements.toml",
            "managed",
            '[hooks]\nmanaged_dir = "/m"\n' + toml.replace('"c"', '"m"'),
        ),
        (FILE, "user", text_of(hooks)),
        (CONFIG, "user", toml + config_toml(trusted)),
    )
    assert [hook.name for hook in reading.hooks] == ["m", "a", "b", "c"]
    assert [one.code for one in reading.diagnostics] == ["two-forms"]


def test_the_fields_of_an_entry() -> None:
    hooks = {
        "UserPromptSubmit": [
            group(
                entry("x.sh", timeout=5, statusMessage="...", **{"async": True}),
                {"type": "mcp_tool", "server": "s", "tool": "t", "input": {"a": "${prompt}"}},
                entry("y.sh", timeout=0),
            )
        ],
        "SessionEnd": [group(entry("end.sh"), entry("long.sh", timeout=30))],
    }
    reading = read((FILE, "flag", text_of(hooks)))
    first, second, third, end, long = reading.hooks
    assert (first.spec, first.timeout, first.waiting, first.status_message) == (
        CommandSpec("x.sh"),
        5.0,
        "async",
        "...",
    )
    assert (second.spec, second.timeout) == (McpToolSpec("s", "t", {"a": "${prompt}"}), 600.0)
    assert (third.timeout, end.timeout, long.timeout) == (1.0, 1.0, 3.0)


def test_a_plugin_is_told_where_it_is() -> None:
    reading = read((PLUGIN, "plugin", text_of({"Stop": [group(entry("${PLUGIN_ROOT}/x.sh"))]})))
    (hook,) = reading.hooks
    root = "/x/plugins/tidy"
    assert hook.spec == CommandSpec(f"{root}/x.sh", env={"PLUGIN_ROOT": root, "CLAUDE_PLUGIN_ROOT": root})


@every(
    ("matcher", "tools"),
    [
        ("Bash", {"Bash"}),
        ("Ba", set[str]()),
        ("^Ba", {"Bash"}),
        ("Edit", {"apply_patch"}),
        ("Write|Bash", {"apply_patch", "Bash"}),
        ("MultiEdit", set[str]()),
        ("Agent", {"spawn_agent"}),
        ("a", set[str]()),
        (".", {"Bash", "apply_patch", "spawn_agent", "mcp__a__b"}),
        ("mcp__a__.*", {"mcp__a__b"}),
        ("mcp__a", set[str]()),
        ("*", {"Bash", "apply_patch", "spawn_agent", "mcp__a__b"}),
        ("", {"Bash", "apply_patch", "spawn_agent", "mcp__a__b"}),
    ],
)
def test_a_matcher_is_names_or_a_pattern_anywhere_and_knows_other_names(
    matcher: str, tools: set[str]
) -> None:
    (hook,) = agent_with("PreToolUse", entry(), matcher=matcher).reading.hooks
    known = ("Bash", "apply_patch", "spawn_agent", "mcp__a__b")
    assert {tool for tool in known if hook.matcher is None or hook.matcher.matches(tool)} == tools


def test_a_project_may_switch_hooks_off_only_once_it_is_trusted() -> None:
    facts = dialect().loosens("/p/.codex/config.toml", {"features": {"hooks": False}})
    assert facts == {"features.hooks": False}
    assert dialect().loosens("/p/.codex/config.toml", {"features": {"hooks": True}}) == {}


def test_its_files_are_known_by_path_and_its_settings_by_shape() -> None:
    own = dialect()
    assert own.owns("/a/.codex/hooks.json")
    assert own.owns("/a/.codex/config.toml")
    assert not own.owns("/a/hooks.json")
    assert own.recognises({"hooks": {"state": {}}})
    assert own.recognises({"approval_policy": "never"})
    assert not own.recognises({"hooks": {"PreToolUse": []}})
    assert not own.recognises([])
    assert ConfigPath("/a", "user").root == ""
