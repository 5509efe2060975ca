"""Test where entries are, in which order they run, and what their fields mean."""

import asyncio

import pytest

from hookline import Engine
from hookline.dialects.reasonix import dialect
from hookline.extending import Admission, CommandSpec, Hook, Run
from tests.dialects.hooked_agent import lines_and_codes, read_hooks
from tests.dialects.reasonix.hooks import (
    GLOBAL,
    PAYLOADS,
    PROJECT,
    agent_with,
    agent_with_hook,
    read_settings,
)
from tests.every import every

TWO_LISTS = """
{
  "theme": "dark",
  "hooks": {
    "Stop": [{"command": "echo stop"}],
    "PreToolUse": [
      {"command": "echo first", "match": "bash"},
      {"command": "echo second", "description": "the second one"}
    ]
  }
}
"""


def commands(hooks: tuple[Hook, ...]) -> list[tuple[str, str, str]]:
    return [(hook.scope, hook.policy.event_name, hook.spec.command) for hook in hooks]


def test_without_a_file_there_are_no_hooks():
    reading = read_hooks(dialect(), [])
    assert (reading.hooks, reading.diagnostics) == ((), ())


def test_the_project_comes_before_the_user_and_lists_keep_their_order():
    user = '{"hooks": {"PreToolUse": [{"command": "echo third"}]}}'
    # Whatever order the files were found in.
    reading = read_hooks(dialect(), [(GLOBAL, "user", user), (PROJECT, "project", TWO_LISTS)])
    assert commands(reading.hooks) == [
        ("project", "PreToolUse", "echo first"),
        ("project", "PreToolUse", "echo second"),
        ("project", "Stop", "echo stop"),
        ("user", "PreToolUse", "echo third"),
    ]
    assert reading.diagnostics == ()
    assert [str(hook.where) for hook in reading.hooks] == [
        f"{PROJECT}:7",
        f"{PROJECT}:8",
        f"{PROJECT}:5",
        f"{GLOBAL}:1",
    ]


def test_an_entry_without_a_command_is_skipped_and_named():
    reading = read_settings("""
{"hooks": {"PreToolUse": [
  {"match": "bash"},
  {"command": 7},
  {"command": "  "},
  "echo bare",
  {"command": "echo good"}
]}}
""")
    assert commands(reading.hooks) == [("project", "PreToolUse", "echo good")]
    assert lines_and_codes(reading.diagnostics) == [
        (3, "missing-field"),
        (4, "wrong-type"),
        (5, "missing-field"),
        (6, "not-an-object"),
    ]


@every("text", ["{", "", "not json", '{"hooks": }', "[1]", '{"hooks": []}', '{"hooks": {"Stop": {}}}', "7"])
def test_a_malformed_file_gives_no_hooks_and_raises_nothing(text: str):
    good = '{"hooks": {"Stop": [{"command": "echo x"}]}}'
    reading = read_settings(text, (GLOBAL, "user", good))
    assert commands(reading.hooks) == [("user", "Stop", "echo x")]
    assert len(reading.diagnostics) == 1


def test_a_key_that_stands_twice_counts_the_last_time_and_is_named():
    reading = read_settings('{"hooks": {\n"Stop": [{"command": "a"}],\n"Stop": [{"command": "b"}]\n}}')
    assert commands(reading.hooks) == [("project", "Stop", "b")]
    assert lines_and_codes(reading.diagnostics) == [(3, "duplicate-key")]


def test_without_a_project_only_the_users_file_is_looked_for():
    found = dialect().config_paths("", {"HOME": "/home/me"})
    assert [(place.file, place.scope) for place in found] == [(GLOBAL, "user")]


def test_the_projects_file_is_looked_for_first():
    found = dialect().config_paths("/home/me/shop", {"HOME": "/home/me"})
    assert [(place.file, place.scope) for place in found] == [(PROJECT, "project"), (GLOBAL, "user")]


def test_a_home_of_its_own_comes_before_the_usual_one():
    env = {"HOME": "/home/me", "REASONIX_HOME": "/opt/rx"}
    files = [config_path.file for config_path in dialect().config_paths("/p", env)]
    assert files == ["/p/.reasonix/settings.json", "/opt/rx/settings.json", GLOBAL]


def test_the_usual_home_is_only_a_fallback():
    both = [
        ("/opt/rx/settings.json", "user", '{"hooks": {"Stop": [{"command": "new"}]}}'),
        (GLOBAL, "user", '{"hooks": {"Stop": [{"command": "old"}]}}'),
    ]
    reading = read_hooks(dialect(), both)  # pyright: ignore[reportArgumentType] the scope is a literal
    assert commands(reading.hooks) == [("user", "Stop", "new")]
    assert [each.code for each in reading.diagnostics] == ["not-in-force"]


def test_in_the_home_directory_the_one_file_is_read_once():
    assert [
        config_path.scope for config_path in dialect().config_paths("/home/me", {"HOME": "/home/me"})
    ] == ["user"]


def test_nobodys_home_is_no_place():
    assert dialect().config_paths("", {}) == []
    assert dialect().config_paths("", {"HOME": "relative", "REASONIX_HOME": "x"}) == []


@pytest.mark.parametrize("match", [None, "*", ""])
def test_no_match_or_a_star_is_every_tool(match: str | None):
    agent = agent_with_hook("PreToolUse", "exit 2", **({} if match is None else {"match": match}))
    assert agent.fire("PreToolUse", PAYLOADS["PreToolUse"]).blocked


@every(
    ("match", "tool", "fits"),
    [
        ("file", "read_file", False),
        (".*file", "read_file", True),
        ("read_file|write_file", "write_file", True),
        ("read_file|write_file", "read_files", False),
        ("(?:read|write)_file", "write_file", True),
        ("read_file", "READ_FILE", False),
        ("mcp__.*", "mcp__db__query", True),
        ("read.*", "spread_file", False),
        (".*_file", "read_files", False),
        ("(read|write)", "read_file", False),
    ],
)
def test_a_match_has_to_fit_the_whole_name(match: str, tool: str, fits: bool):
    (hook,) = read_settings(f'{{"hooks": {{"PreToolUse": [{{"match": "{match}", "command": "x"}}]}}}}').hooks
    assert hook.matcher is not None
    assert hook.matcher.matches(tool) is fits


def test_a_match_that_cannot_be_read_never_fires_and_is_named():
    agent = agent_with('{"hooks": {"PreToolUse": [\n{"match": "(", "command": "exit 2"}\n]}}')
    assert not agent.fire("PreToolUse", PAYLOADS["PreToolUse"]).blocked
    assert agent.runs == []
    assert lines_and_codes(agent.reading.diagnostics) == [(2, "bad-pattern")]


def test_away_from_tools_a_match_is_ignored_and_named():
    agent = agent_with_hook("UserPromptSubmit", "exit 2", match="nothing_like_it")
    assert agent.fire("UserPromptSubmit", PAYLOADS["UserPromptSubmit"]).blocked
    assert [each.code for each in agent.reading.diagnostics] == ["unread-matcher"]


MILLISECONDS = {
    "SessionStart": 10_000, "TurnStart": 5_000, "UserPromptSubmit": 5_000, "PreModelCall": 10_000,
    "PostModelCall": 30_000, "PreToolUse": 5_000, "PostToolUse": 30_000, "TurnEnd": 10_000, "Stop": 30_000,
    "SessionEnd": 10_000, "PostToolUseFailure": 30_000, "PermissionRequest": 5_000, "StopFailure": 30_000,
    "PostLLMCall": 30_000, "SubagentStop": 30_000, "Notification": 30_000, "PreCompact": 30_000,
}  # fmt: skip


def test_every_event_has_its_usual_timeout():
    assert {name: each.timeout * 1000 for name, each in dialect().events.items()} == MILLISECONDS


@every("event", MILLISECONDS)
def test_a_timeout_counts_milliseconds_and_wins_over_the_usual_one(event: str):
    text = f'{{"hooks": {{"{event}": [{{"command": "a"}}, {{"command": "b", "timeout": 1500}}]}}}}'
    hooks = [hook for hook in read_settings(text).hooks if hook.event is dialect().events[event].event]
    assert [hook.timeout for hook in hooks] == [MILLISECONDS[event] / 1000, 1.5]


@pytest.mark.parametrize("timeout", ["0", "-5", "1e999", "99999999999"])
def test_a_timeout_that_is_none_leaves_the_usual_one(timeout: str):
    reading = read_settings(f'{{"hooks": {{"PreToolUse": [{{"command": "a", "timeout": {timeout}}}]}}}}')
    assert [hook.timeout for hook in reading.hooks] == [5.0]
    assert [each.code for each in reading.diagnostics] == ["bad-timeout"]


def test_every_field_reaches_its_hook():
    (hook,) = read_settings("""
{"hooks": {"PreToolUse": [{
  "match": "bash", "command": "./guard.sh", "description": "no rm", "timeout": 700, "cwd": "tools",
  "env": {"LEVEL": "2"}, "name": "guard"
}]}}
""").hooks
    assert hook.spec == CommandSpec(command="./guard.sh", env={"LEVEL": "2"}, cwd="tools")
    assert (hook.name, hook.timeout, hook.dialect, hook.scope) == ("guard", 0.7, "reasonix", "project")


def test_equal_entries_both_run():
    agent = agent_with('{"hooks": {"Stop": [{"command": "echo x"}, {"command": "echo x"}]}}')
    agent.fire("Stop", PAYLOADS["Stop"])
    assert len(agent.runs) == 2


def test_hooks_can_be_swapped_while_a_session_runs():
    agent = agent_with_hook("PreToolUse", "exit 2")
    assert agent.fire("PreToolUse", PAYLOADS["PreToolUse"]).blocked
    agent.engine.swap(read_settings('{"hooks": {"PreToolUse": [{"command": "exit 0"}]}}').hooks)
    assert not agent.fire("PreToolUse", PAYLOADS["PreToolUse"]).blocked
    agent.engine.swap(())
    assert not agent.fire("PreToolUse", PAYLOADS["PreToolUse"]).blocked
    assert len(agent.runs) == 2


def test_hooks_of_a_project_that_is_not_trusted_do_not_run():
    user = '{"hooks": {"PreToolUse": [{"command": "exit 0"}]}}'
    blocking = '{"hooks": {"PreToolUse": [{"command": "exit 2"}]}}'
    reading = read_hooks(dialect(), [(PROJECT, "project", blocking), (GLOBAL, "user", user)])
    runs: list[Run] = []

    async def main() -> bool:
        async with Engine(
            reading.hooks, admit=lambda hook, _info: Admission(admitted=hook.scope != "project")
        ) as engine:
            engine.journal.subscribe(runs.append)
            outcome = await engine.session("s").dispatch(reading.hooks[0].event, PAYLOADS["PreToolUse"])
            return outcome.blocked

    assert not asyncio.run(main())
    assert [run.status for run in runs] == ["untrusted", "ok"]


@every(
    ("value", "ours"),
    [
        ({"hooks": {"PreToolUse": [{"command": "x"}]}}, True),
        ({"theme": "dark", "hooks": {"Oops": [], "TurnEnd": [{"command": "x", "match": "y"}]}}, True),
        (
            {"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "x"}]}]}},
            False,
        ),
        ({"hooks": {"pre_tool_use": [{"type": "command", "command": "x"}]}}, False),
        ({"hooks": {"hooks": [{"event": "PreToolUse", "command": "x"}]}}, False),
        ({"hooks": {"PreToolUse": []}}, False),
        ({"hooks": None}, False),
        ([], False),
        (None, False),
    ],
)
def test_its_shape_is_known_from_others(value: object, ours: bool):
    assert dialect().recognises(value) is ours


def test_a_flag_stands_for_a_hook():
    own = dialect()
    hook = own.flag_hook(own.events["TurnEnd"], "python3 check.py")
    assert (hook.name, hook.policy, hook.timeout, hook.scope) == (
        "check.py",
        own.events["TurnEnd"].policy,
        10.0,
        "flag",
    )
