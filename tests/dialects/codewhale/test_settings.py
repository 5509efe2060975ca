"""Test where hooks are configured, how files combine, and what happens to unusable entries."""

import os
from typing import Any

import pytest

from hookline.dialects.codewhale import CodeWhale, dialect
from hookline.events import SessionStarted
from tests.dialects.codewhale.hooks import CONFIG, HELLO, PROJECT, agent_with, bash, entry, read_config, says
from tests.dialects.hooked_agent import lines_and_codes, read_hooks
from tests.every import every

GLOBAL = """
model = "deepseek-chat"   # other settings of the agent

[hooks]
enabled = true

[[hooks.hooks]]
name = "from-global"
event = "message_submit"
command = "true"
"""

OWN = """
[[hooks]]
name = "from-project"
event = "message_submit"
command = "true"
"""

PLUGIN = OWN.replace("from-project", "from-plugin")


def test_global_and_project_entries_load() -> None:
    settings = "enabled = false\ndefault_timeout_secs = 7\nworking_dir = '/nowhere'\n"
    found = read_config(GLOBAL, settings + OWN)

    assert [(hook.name, hook.timeout, hook.spec.cwd) for hook in found.hooks] == [
        ("from-global", 30, None),
        ("from-project", 30, None),
    ]
    assert lines_and_codes(found.diagnostics) == [
        (1, "unread-field"),
        (2, "unread-field"),
        (3, "unread-field"),
    ]
    assert {hook.dialect for hook in found.hooks} == {"codewhale"}
    assert str(found.hooks[1].where) == f"{PROJECT}:5"


def test_malformed_project_file_leaves_the_global_hooks() -> None:
    found = read_config(GLOBAL, "[[hooks]\nevent = ")

    assert [hook.name for hook in found.hooks] == ["from-global"]
    assert [(one.severity, one.where.file) for one in found.diagnostics] == [("error", PROJECT)]


def test_order_is_global_plugin_project_whatever_order_they_come_in() -> None:
    files = [
        (PROJECT, "project", OWN),
        ("/plugins/b.toml", "plugin", PLUGIN.replace("from-plugin", "b")),
        (CONFIG, "user", GLOBAL),
        ("/plugins/c.toml", "plugin", PLUGIN.replace("from-plugin", "c")),
    ]

    found = read_hooks(dialect(), files)  # pyright: ignore[reportArgumentType] the literals widen in a list

    assert [hook.name for hook in found.hooks] == ["from-global", "b", "c", "from-project"]
    assert [hook.scope for hook in found.hooks] == ["user", "plugin", "plugin", "project"]


def test_the_project_file_runs_last_so_it_wins_the_input() -> None:
    agent = agent_with(
        entry("tool_call_before", says({"updatedInput": {"command": "global"}})),
        "[[hooks]]\nevent = 'tool_call_before'\n"
        """command = '''echo '{"updatedInput": {"command": "project"}}' '''\n""",
    )

    assert agent.fire("tool_call_before", bash()).updated_input == {"command": "project"}


def test_a_timeout_for_all_replaces_each_hooks_own() -> None:
    own = entry("turn_end", "true", timeout_secs=5) + entry("turn_end", "true")

    assert [hook.timeout for hook in read_config("[hooks]\n" + own).hooks] == [5, 30]
    found = read_config("[hooks]\ndefault_timeout_secs = 12\n" + own, OWN)
    assert [hook.timeout for hook in found.hooks] == [12, 12, 12]


def test_a_timeout_for_all_of_zero_is_reported_and_not_used() -> None:
    found = read_config("[hooks]\ndefault_timeout_secs = 0\n" + entry("turn_end", "true", timeout_secs=5))

    assert [hook.timeout for hook in found.hooks] == [5]
    assert lines_and_codes(found.diagnostics) == [(2, "bad-timeout")]


def test_a_plugins_timeout_holds_for_its_own_hooks() -> None:
    plugin = "default_timeout_secs = 9\nworking_dir = '/tmp'\n" + PLUGIN
    found = read_hooks(dialect(), [("/p.toml", "plugin", plugin), (CONFIG, "user", GLOBAL)])

    assert [(hook.name, hook.timeout, hook.spec.cwd) for hook in found.hooks] == [
        ("from-global", 30, None),
        ("from-plugin", 9, None),
    ]
    assert [(one.severity, one.where.line) for one in found.diagnostics] == [("error", 2)]


def test_a_plugin_file_that_is_off_is_skipped_alone() -> None:
    off = "enabled = false\n" + PLUGIN
    found = read_hooks(dialect(), [("/p.toml", "plugin", off), (CONFIG, "user", GLOBAL)])

    assert [hook.name for hook in found.hooks] == ["from-global"]


@pytest.mark.parametrize("bad", ["timeout_secs = 0", 'command = "  "', "timeout_secs = -1"])
def test_a_bad_entry_is_dropped_alone_even_without_names(bad: str) -> None:
    good = '[[hooks.hooks]]\nevent = "turn_end"\ncommand = "true"\n'
    broken = f'[[hooks.hooks]]\nevent = "turn_end"\n{bad}\n'
    broken += 'command = "true"\n' if "command" not in bad else ""

    found = read_config(good + broken + good)

    assert [hook.where.line for hook in found.hooks] == [1, 4 + broken.count("\n")]
    assert [(one.severity, one.where.line) for one in found.diagnostics] == [("error", 6)]


TOOL = {"type": "tool_name", "name": "bash"}
CATEGORY = {"type": "tool_category", "category": "shell"}
MODE = {"type": "mode", "mode": "plan"}
CODE = {"type": "exit_code", "code": 1}
WITHOUT_TOOL = (
    "session_start", "session_end", "message_submit", "mode_change", "turn_end", "subagent_spawn", "subagent_complete",
)  # fmt: skip


@every("inside", ["", "all", "any"])
@every(
    ("event", "condition"),
    [
        *((event, TOOL) for event in WITHOUT_TOOL),
        *((event, CATEGORY) for event in WITHOUT_TOOL),
        *((event, CODE) for event in (*WITHOUT_TOOL, "tool_call_before", "shell_env")),
        ("shell_env", MODE),
    ],
)
def test_a_condition_that_can_never_hold_is_refused(
    event: str, condition: dict[str, str], inside: str
) -> None:
    always = {"type": "always"}
    whole = {"type": inside, "conditions": [always, condition]} if inside else condition

    found = read_config(entry(event, "true", condition=whole) + entry(event, "true"))

    assert [hook.where.line for hook in found.hooks] == [5]
    assert lines_and_codes(found.diagnostics) == [(4, "never-runs")]


@every(
    ("event", "condition"),
    [
        *((event, TOOL) for event in ("tool_call_before", "tool_call_after", "on_error", "shell_env")),
        *((event, CODE) for event in ("tool_call_after", "on_error")),
        *((event, MODE) for event in ("tool_call_before", "turn_end", "mode_change")),
    ],
)
def test_a_condition_that_can_hold_is_kept(event: str, condition: dict[str, str]) -> None:
    found = read_config(entry(event, "true", condition=condition))

    assert found.hooks
    assert not found.diagnostics


def test_enabled_false_runs_nothing() -> None:
    agent = agent_with("[hooks]\nenabled = false\n" + entry("message_submit", "exit 2"), OWN)

    assert agent.reading.hooks == ()
    assert lines_and_codes(agent.reading.diagnostics) == [(2, "disabled")]
    assert not agent.fire("message_submit", HELLO).blocked
    assert agent.runs == []


def test_mistakes_of_a_file_that_is_off_are_found_all_the_same() -> None:
    found = read_config("[hooks]\nenabled = false\n" + entry("mesage_submit", "true"))

    assert lines_and_codes(found.diagnostics) == [(2, "disabled"), (4, "unknown-event")]


def test_a_project_beside_a_config_without_hooks_is_told() -> None:
    found = read_config('model = "deepseek-chat"\n', OWN)

    assert [hook.name for hook in found.hooks] == ["from-project"]
    assert [(one.severity, one.code) for one in found.diagnostics] == [("info", "off-in-its-agent")]


@pytest.mark.parametrize(
    ("scope", "text", "fix"),
    [("user", OWN, "[[hooks.hooks]]"), ("project", GLOBAL, "[[hooks]]"), ("plugin", GLOBAL, "[[hooks]]")],
)
def test_entries_at_the_wrong_place_are_told_where_they_belong(scope: str, text: str, fix: str) -> None:
    found = read_hooks(dialect(), [("/x.toml", scope, text)])  # pyright: ignore[reportArgumentType] parametrized

    assert found.hooks == ()
    assert fix in [one.fix for one in found.diagnostics]


@pytest.mark.parametrize("text", [GLOBAL, OWN])
def test_a_file_somebody_names_may_have_either_shape(text: str) -> None:
    found = read_hooks(dialect(), [("/x.toml", "flag", text)])

    assert len(found.hooks) == 1
    assert not found.diagnostics


@pytest.mark.parametrize(
    "text", ["hooks = 3", "[hooks]\nhooks = 3", "[hooks]\nhooks = [3]", "hooks = [3]", ""]
)
def test_no_shape_of_a_file_is_too_odd_to_read(text: str) -> None:
    for scope in ("user", "project", "plugin", "flag"):
        found = read_hooks(dialect(), [("/x.toml", scope, text)])
        assert found.hooks == ()
        assert bool(found.diagnostics) == bool(text)


def test_the_places_of_hooks() -> None:
    places = CodeWhale().config_paths("/proj", {"HOME": "/home/u"})

    assert [(one.file, one.scope) for one in places] == [
        ("/home/u/.deepseek/config.toml", "user"),
        ("/home/u/.codewhale/config.toml", "user"),
        ("/proj/.codewhale/hooks.toml", "project"),
    ]
    assert [one.scope for one in CodeWhale().config_paths("/proj", {})] == ["project"]


def test_its_files_are_recognised_and_those_of_others_are_not() -> None:
    own = CodeWhale().recognises
    hook = {"event": "turn_end", "command": "true"}

    assert own({"hooks": [hook]})
    assert own({"hooks": {"enabled": True, "hooks": [hook]}})
    claude: Any = {"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "true"}]}]}}
    others: list[Any] = [claude, {"hooks": []}, {"hooks": {"hooks": []}}, {}, [], None, {"hooks": [3]}]
    for other in others:
        assert not own(other)


def test_one_entry_stands_at_every_moment_of_its_event() -> None:
    found = read_config(entry("tool_call_after", "true") + entry("on_error", "true"))

    assert [hook.event.name for hook in found.hooks] == [
        "PostToolUse", "PostToolUseFailure", "Error", "PostToolUseFailure",
    ]  # fmt: skip
    assert found.hooks[0].policy is found.hooks[1].policy


def test_session_start_is_once_per_launch() -> None:
    agent = agent_with(entry("session_start", "true"))
    for source in ("startup", "clear", "compact", "resume"):
        agent.fire("session_start", SessionStarted(source=source))

    assert [run.status for run in agent.runs] == ["background", "ok"] * 2


def test_hooks_run_in_the_workspace_or_where_the_user_says(tmp_path: object) -> None:
    gate = entry("tool_call_before", 'printf \'{"additionalContext": "%s"}\' "$PWD"')

    assert agent_with(gate, cwd=str(tmp_path)).fire("tool_call_before", bash()).context == (str(tmp_path),)
    elsewhere = agent_with("[hooks]\nworking_dir = '/'\n" + gate, cwd=str(tmp_path))
    assert elsewhere.fire("tool_call_before", bash()).context == ("/",)


def test_a_name_cannot_draw_on_a_terminal() -> None:
    config = entry("turn_end", "true", name="\x1b[2Jred\n" + "x" * 100) + entry(
        "turn_end", "python3 a/b.py -x"
    )
    names = [hook.name for hook in read_config(config).hooks]

    assert names == ["[2Jred " + "x" * 57 + "…[truncated]", "b.py"]
    assert os.linesep not in names[0]


def test_a_hook_by_flag_is_one_of_the_dialects_own() -> None:
    whale = dialect()
    hook = whale.flag_hook(whale.events["message_submit"], "exit 2")

    assert (hook.name, hook.policy.event_name, hook.timeout, hook.scope) == (
        "exit",
        "message_submit",
        30,
        "flag",
    )


@pytest.mark.parametrize("digits", [18, 400, 4000])
def test_no_number_is_too_big_to_read(digits: int) -> None:
    number = "9" * digits
    condition = {"type": "exit_code", "code": 0}
    text = f"[hooks]\ndefault_timeout_secs = {number}\n" + entry(
        "tool_call_after", "true", timeout_secs=10**digits, condition=condition
    ).replace('"code" = 0', f"code = {number}")

    assert {hook.timeout for hook in read_config(text).hooks} == {1e9}
    assert (
        agent_with(entry("message_submit", "exit 2", timeout_secs=2**63 - 1))
        .fire("message_submit", HELLO)
        .blocked
    )
