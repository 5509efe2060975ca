import json
import textwrap
from typing import Any

import pytest

from hookline.documents.document import Format, read_document
from hookline.events import EVENTS, PRE_TOOL_USE, Capability, EventSpec, ToolCall
from hookline.extending import CommandSpec, Hook, LoadedHooks, SessionInfo
from hookline.handlers.agent import AgentSpec
from hookline.handlers.builtin import BuiltinSpec
from hookline.handlers.http.handler import HttpSpec
from tests.dialects.native.handlers import NoProcess, read_file
from tests.every import every


def read(text: str, kind: Format = "json", *rows: Any) -> LoadedHooks:
    return read_file(read_document(textwrap.dedent(text), kind, f"hooks.{kind}"), "project", *rows)


def entries(event: str, *given: Any, matcher: Any = None) -> LoadedHooks:
    group: dict[str, Any] = {"hooks": list(given)}
    if matcher is not None:
        group["matcher"] = matcher
    return read(json.dumps({"hooks": {event: [group]}}))


def hook(event: str = "PreToolUse", **fields: Any) -> Hook:
    """The hook of an entry in which nothing is wrong."""
    reading = entries(event, {"command": "x", **fields})
    assert reading.diagnostics == ()
    (found,) = reading.hooks
    assert found.broken is None
    return found


def mistakes(event: str, entry: Any, matcher: Any = None) -> list[tuple[str, str, str]]:
    found = entries(event, entry, matcher=matcher).diagnostics
    return [(each.severity, each.code, each.message) for each in found]


SAME = {
    "json": """\
        {"hooks": {
          "PreToolUse": [
            {"matcher": "Bash",
             "hooks": [{"type": "command", "command": "guard.sh", "timeout": 2.5}]}],
          "Stop": [{"hooks": [{"type": "http", "url": "http://localhost:1/x", "async": true}]}]}}
        """,
    "toml": """\
        [[hooks.PreToolUse]]
        matcher = "Bash"
        [[hooks.PreToolUse.hooks]]
        type = "command"
        command = "guard.sh"
        timeout = 2.5

        [[hooks.Stop]]
        hooks = [{ type = "http", url = "http://localhost:1/x", async = true }]
        """,
    "yaml": """\
        hooks:
          PreToolUse:
            - matcher: Bash
              hooks:
                - type: command
                  command: guard.sh
                  timeout: 2.5
          Stop:
            - hooks:
                - {type: http, url: "http://localhost:1/x", async: true}
        """,
}  # fmt: skip


@pytest.mark.parametrize(("kind", "lines"), [("json", [4, 5]), ("toml", [3, 9]), ("yaml", [5, 10])])
def test_the_three_formats_say_the_same(kind: Format, lines: list[int]):
    reading = read(SAME[kind], kind)
    assert reading.diagnostics == ()
    guard, notify = reading.hooks
    assert (guard.event.name, guard.name, guard.timeout, guard.spec) == (
        "PreToolUse", "guard.sh", 2.5, CommandSpec("guard.sh"),
    )  # fmt: skip
    assert guard.matcher is not None
    assert guard.matcher.matches("Bash")
    assert not guard.matcher.matches("Edit")
    assert (notify.kind, notify.waiting, notify.timeout) == ("http", "async", 600.0)
    assert [each.where.line for each in reading.hooks] == lines
    assert str(guard.where) == f"hooks.{kind}:{lines[0]}"


def test_every_field_arrives():
    found = hook(
        name="the guard", args=["--fast", "x"], shell="bash", env={"A": "b"}, cwd="sub", statusMessage="looking",
        once=True, mode="shadow", rewrites=True, required=True, on_failure="ask", timeout=3, asyncRewake=False,
    )  # fmt: skip
    assert found.spec == CommandSpec("x", ("--fast", "x"), "bash", {"A": "b"}, "sub")
    assert (found.name, found.status_message, found.mode, found.timeout) == (
        "the guard",
        "looking",
        "shadow",
        3.0,
    )
    assert (found.once, found.rewrites, found.required, found.waiting) == (True, True, True, "wait")
    assert (found.on_failure, found.scope, found.dialect, found.kind) == (
        "ask",
        "project",
        "native",
        "command",
    )


def test_each_kind_gets_its_own_spec():
    reading = entries(
        "Stop",
        {"type": "http", "url": "http://localhost:9/", "headers": {"A": "$T"}, "allowedEnvVars": ["T"]},
        {"type": "builtin", "name": "add_date"},
        {"type": "builtin", "command": "context", "args": ["be", "brief"], "name": "brief"},
    )
    assert reading.diagnostics == ()
    assert [each.spec for each in reading.hooks] == [
        HttpSpec("http://localhost:9/", {"A": "$T"}, ("T",)),
        BuiltinSpec("add_date"),
        BuiltinSpec("context", ("be", "brief")),
    ]
    assert [each.name for each in reading.hooks] == ["localhost:9/", "add_date", "brief"]


@pytest.mark.parametrize(
    ("words", "reaction"),
    [
        ({"on_failure": "open"}, "warn"),
        ({"on_failure": "closed"}, "block"),
        ({"on_failure": "ask"}, "ask"),
        ({"onFailure": "continue"}, "warn"),
        ({"onFailure": "block"}, "block"),
        (
            {"on_failure": {"timed_out": "open", "crashed": "closed"}},
            {"timed_out": "warn", "crashed": "block"},
        ),
        ({}, None),
    ],
)
def test_a_hook_says_what_its_failure_means(words: dict[str, Any], reaction: Any):
    assert hook(**words).on_failure == reaction


def test_a_cause_that_is_not_named_keeps_the_reaction_of_the_policy():
    found = hook(on_failure={"timed_out": "open"})
    assert found.reaction("timed_out") == "warn"
    assert found.reaction("crashed") == "block"


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("guard.sh", "guard.sh"),
        ("/opt/hooks/guard.sh --strict", "guard.sh"),
        ("python3 hooks/check.py", "check.py"),
        ("python3 -m pytest", "pytest"),
        ('"$CLAUDE_PROJECT_DIR"/x/y.sh', "y.sh"),
        ("[ -f x ]\nexit 1", "[ -f x ]"),
        ("x" * 100, "x" * 60),
    ],
)
def test_a_hook_without_a_name_is_called_after_its_program(command: str, name: str):
    assert hook(command=command).name == name


def test_if_and_matcher_and_condition_all_have_to_hold():
    reading = entries(
        "PreToolUse",
        {"command": "x", "if": "Bash(git *)", "condition": {"type": "mode", "mode": "plan"}},
        matcher="Bash(git:*)",
    )
    assert reading.diagnostics == ()
    (found,) = reading.hooks
    assert found.matcher is not None
    assert found.matcher.matches("Bash")
    assert found.condition is not None
    call = ToolCall(tool_name="Bash", tool_input={"command": "git push"})
    row = EVENTS["PreToolUse"]
    assert found.condition.holds(row, call, SessionInfo(permission_mode="plan"))
    assert not found.condition.holds(row, call, SessionInfo(permission_mode="default"))
    other = ToolCall(tool_name="Bash", tool_input={"command": "ls"})
    assert not found.condition.holds(row, other, SessionInfo(permission_mode="plan"))


def test_the_identity_is_the_whole_definition():
    one, same, other = hook(timeout=3).identity, hook(timeout=3).identity, hook(timeout=4).identity
    assert one == same
    assert hash(one) == hash(same)
    assert one != other
    assert hook("Stop").identity != hook("PreToolUse").identity
    first, second = (entries("PreToolUse", {"command": "x"}, matcher=m).hooks[0] for m in ("Bash", "Edit"))
    assert first.identity != second.identity


def test_another_agents_settings_file_is_valid_as_it_is():
    reading = read(
        """\
        {"model": "opus", "permissions": {"allow": ["Bash(ls)"]}, "$schema": "x",
         "hooks": {"PreToolUse": [{"matcher": "Edit|Write", "hooks": [{"type": "command", "command": "audit-tool.sh",
           "timeout": 30, "if": "Edit(src/**)", "statusMessage": "Auditing..."}]}],
           "SessionStart": [{"matcher": "startup|resume", "hooks": [{"type": "command", "command": "x"}]}]}}
        """
    )
    assert reading.diagnostics == ()
    assert [each.name for each in reading.hooks] == ["audit-tool.sh", "x"]


def test_all_hooks_of_a_file_can_be_turned_off():
    reading = read('{"disableAllHooks": true, "hooks": {"PreToolUse": [{"hooks": [{"command": "x"}]}]}}')
    assert reading.hooks == ()
    assert [(each.severity, each.code) for each in reading.diagnostics] == [("info", "disabled")]


@pytest.mark.parametrize("value", ["yes", 1, None])
def test_turning_hooks_off_with_anything_but_true_is_an_error_and_they_stay_on(value: Any):
    hooks = {"PreToolUse": [{"hooks": [{"command": "x"}]}]}
    reading = read(json.dumps({"disableAllHooks": value, "hooks": hooks}))
    assert [each.name for each in reading.hooks] == ["x"]
    (found,) = reading.diagnostics
    assert (found.severity, found.code, found.where.path) == ("error", "wrong-type", ("disableAllHooks",))


@pytest.mark.parametrize(
    "text", ["{}", '{"hooks": {}}', '{"hooks": {"Stop": []}}', '{"hooks": {"Stop": [{"hooks": []}]}}']
)
def test_nothing_is_no_mistake(text: str):
    assert read(text).diagnostics == ()


def test_the_events_of_a_host_can_be_configured():
    row = EventSpec("CheckoutStarted", ToolCall, "when a checkout starts.", Capability.BLOCK, guard=True)
    reading = read('{"hooks": {"CheckoutStarted": [{"hooks": [{"command": "x"}]}]}}', "json", row)
    assert [each.event for each in reading.hooks] == [row]
    assert reading.hooks[0].policy.failures["crashed"] == "block"


def test_a_kind_the_host_added_gets_its_fields_as_they_are():
    document = read_document(
        '{"hooks": {"Stop": [{"hooks": [{"type": "pager", "number": 5}]}]}}', "json", "x"
    )
    reading = read_file(document, "user", more=(NoProcess("pager"),))
    assert reading.diagnostics == ()
    (found,) = reading.hooks
    assert (found.kind, found.spec["number"], found.scope) == ("pager", 5, "user")


NEED = "need a model: pass --model NAME (in Python:"

BAD_ENTRIES: list[tuple[Any, str, str]] = [
    (7, "not-an-object", "a hook is not an object"),
    ({}, "missing-field", "a command hook needs command"),
    ({"command": "  "}, "missing-field", "command is empty"),
    ({"command": 3}, "wrong-type", "command is a number, not text"),
    ({"command": None}, "wrong-type", "command is empty, not text"),
    ({"type": "http"}, "missing-field", "a http hook needs url"),
    ({"type": "prompt"}, "missing-field", "a prompt hook needs prompt"),
    ({"type": "agent", "prompt": "x"}, "cannot-run", f"agent hooks {NEED} an agent_runner)"),
    ({"type": "prompt", "prompt": "x"}, "cannot-run", f"prompt hooks {NEED} a completer)"),
    ({"type": "mcp_tool", "server": "s"}, "missing-field", "a mcp_tool hook needs tool"),
    ({"type": "function"}, "unknown-type", "function hooks are added in Python, not in a file"),
    ({"type": "comand", "command": "x"}, "unknown-type", "no hook type is called 'comand'"),
    ({"type": 5, "command": "x"}, "wrong-type", "type is a number, not text"),
    ({"command": "x", "timeout": 0}, "bad-timeout", "timeout is 0, not seconds above 0"),
    ({"command": "x", "timeout": -1.5}, "bad-timeout", "timeout is -1.5, not seconds above 0"),
    ({"command": "x", "timeout": "30"}, "wrong-type", "timeout is text, not a number"),
    ({"command": "x", "timeout": True}, "wrong-type", "timeout is true or false, not a number"),
    ({"command": "x", "args": "-l"}, "wrong-type", "args is text, not a list of texts"),
    ({"command": "x", "env": {"A": 1}}, "wrong-type", "env is an object, not an object of texts"),
    ({"command": "x", "once": "yes"}, "wrong-type", "once is text, not true or false"),
    ({"command": "x", "mode": "shadows"}, "bad-mode", "mode is 'shadows'"),
    ({"command": "x", "output": "none"}, "bad-output", "output is 'none'"),
    ({"command": "x", "on_failure": "close"}, "bad-on-failure", "on_failure is 'close'"),
    ({"command": "x", "on_failure": {"crash": "open"}}, "unknown-cause", "no failure is called 'crash'"),
    ({"command": "x", "on_failure": {"crashed": 1}}, "bad-on-failure", "on_failure is 1"),
    ({"command": "x", "if": "Bash(git"}, "bad-pattern", "if: "),
    ({"command": "x", "if": ""}, "bad-pattern", "if: ''"),
    ({"command": "x", "if": ["Bash(ls)", "Bash(git"]}, "bad-pattern", "if: 'Bash(git'"),
    ({"command": "x", "if": [""]}, "bad-pattern", "if: ''"),
    ({"command": "x", "if": []}, "never-runs", "if is an empty list"),
    ({"command": "x", "if": ["Bash(ls)", 3]}, "wrong-type", "if is a list, not text or a list of texts"),
    ({"command": "x", "condition": {"type": "tol_name"}}, "bad-condition", "condition: no condition is called"),
    ({"command": "x", "condition": {"type": "exit_code", "code": 1}}, "never-runs", "exit_code 1 can never hold"),
    ({"command": "x", "shell": "fish"}, "cannot-run", "no shell is called fish"),
    ({"type": "builtin", "name": "add_dat"}, "cannot-run", "no builtin is called 'add_dat'"),
    ({"type": "http", "url": "ftp://x/"}, "cannot-run", ""),
]  # fmt: skip


@every(("entry", "code", "message"), BAD_ENTRIES)
def test_a_bad_entry_at_a_guard_stays_as_a_hook_that_cannot_run(entry: Any, code: str, message: str):
    reading = entries("PreToolUse", {"command": "first"}, entry, {"command": "last"}, matcher="Bash")
    errors = [each for each in reading.diagnostics if each.severity == "error"]
    assert [each.code for each in errors] == [code]
    assert errors[0].message.startswith(message)
    assert [each.broken is not None for each in reading.hooks] == [False, True, False]
    broken = reading.hooks[1]
    assert broken.broken is not None
    assert broken.broken.startswith(message)
    assert broken.reaction("not_started") == "block" or entry["on_failure"]
    assert broken.matcher is not None
    assert not broken.matcher.matches("Edit")


@pytest.mark.parametrize(
    ("entry", "name"),
    [
        ({"name": "mine", "type": "comand", "command": "x"}, "mine"),
        ({"type": 5, "prompt": "look  here"}, "look here"),
        ({"type": "mcp_tool", "server": ["s"], "tool": "t"}, "/t"),
    ],
)
def test_a_mistake_names_its_hook_by_the_texts_of_its_entry(entry: Any, name: str):
    reading = entries("PreToolUse", entry)
    assert {each.hook for each in reading.diagnostics} == {name}
    assert [each.name for each in reading.hooks] == [name]


#: After a tool an exit code is known.
BAD_ANYWHERE = [(entry, code) for entry, code, _message in BAD_ENTRIES if code != "never-runs"]


@every(("entry", "code"), BAD_ANYWHERE)
def test_a_bad_entry_elsewhere_is_dropped_and_its_neighbours_stay(entry: Any, code: str):
    reading = entries("PostToolUse", {"command": "first"}, entry, {"command": "last"})
    assert [each.name for each in reading.hooks] == ["first", "last"]
    assert [each.code for each in reading.diagnostics if each.severity == "error"] == [code]


@every(
    ("event", "entry", "matcher", "severity", "code"),
    [
        ("PreToolUse", {"command": "x", "timeot": 3}, None, "warning", "unknown-field"),
        ("PreToolUse", {"command": "x", "url": "y"}, None, "warning", "unread-field"),
        ("PreToolUse", {"command": "x", "async": True}, None, "warning", "async-guard"),
        ("UserPromptSubmit", {"command": "x", "asyncRewake": True}, None, "warning", "async-guard"),
        ("Stop", {"command": "x", "async": True, "asyncRewake": True}, None, "warning", "async-twice"),
        ("SessionStart", {"command": "x"}, "strtup", "warning", "dead-matcher"),
        ("SessionStart", {"command": "x"}, "Bash(git *)", "warning", "dead-matcher"),
        ("UserPromptSubmit", {"command": "x"}, "hello", "warning", "unread-matcher"),
        ("Stop", {"command": "x", "if": "Bash(git *)"}, None, "error", "never-runs"),
        ("PreToolUse", {"command": "x"}, "(a", "error", "bad-pattern"),
        ("PreToolUse", {"command": "x"}, "(?=a)b", "error", "bad-pattern"),
        ("PreToolUse", {"command": "x"}, 3, "error", "wrong-type"),
    ],
)
def test_one_mistake_is_one_diagnostic(event: str, entry: Any, matcher: Any, severity: str, code: str):
    assert [each[:2] for each in mistakes(event, entry, matcher)] == [(severity, code)]


def test_a_dead_matcher_is_told_what_there_is():
    ((_severity, _code, message),) = mistakes("SessionStart", {"command": "x"}, "strtup")
    assert "startup, resume, clear, compact, fork" in message


@pytest.mark.parametrize("matcher", ["^B", "^mcp__", "^(Edit|Wri)t", "^Web."])
def test_a_matcher_written_for_a_search_in_the_name_is_told_to_match_the_whole(matcher: str):
    (found,) = entries("PreToolUse", {"command": "x"}, matcher=matcher).diagnostics
    assert (found.severity, found.code, found.fix) == ("warning", "dead-matcher", f"{matcher}.*")
    assert "the whole name must match" in found.message


@pytest.mark.parametrize(
    "matcher", ["^Bash$", "^B.*", "^(Edit|Write)$", "^mytool$", "^mcp__github__.*", "Ba.h"]
)
def test_a_matcher_that_fits_a_whole_name_is_no_mistake(matcher: str):
    assert mistakes("PreToolUse", {"command": "x"}, matcher) == []


def test_what_is_not_a_tool_is_not_compared_with_tools():
    assert mistakes("FileChanged", {"command": "x"}, "^B") == []


def test_a_bad_matcher_breaks_the_hooks_of_its_group_only():
    reading = read(
        '{"hooks": {"PreToolUse": [{"matcher": "(a", "hooks": [{"command": "x"}]}, {"hooks": [{"command": "y"}]}]}}'
    )
    assert [each.broken is None for each in reading.hooks] == [False, True]
    assert reading.hooks[0].matcher is None


def test_a_matcher_nobody_reads_does_not_silence_its_hooks():
    (found,) = entries("UserPromptSubmit", {"command": "x"}, matcher="hello").hooks
    assert found.matcher is None
    assert found.broken is None


@pytest.mark.parametrize(
    ("groups", "said"),
    [
        ("7", "PreToolUse is not a list"),
        ('{"hooks": []}', "PreToolUse is not a list"),
        ("[5]", "a group is not an object"),
        ('[{"command": "x"}]', "a group needs a list of hooks"),
        ('[{"hooks": {"command": "x"}}]', "a group needs a list of hooks"),
    ],
)
def test_a_guard_that_is_not_a_list_of_groups_closes(groups: str, said: str):
    reading = read(f'{{"hooks": {{"PreToolUse": {groups}, "Stop": {groups}}}}}')
    assert [(each.event.name, said in (each.broken or "")) for each in reading.hooks] == [
        ("PreToolUse", True)
    ]
    assert len([each for each in reading.diagnostics if each.severity == "error"]) == 2


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("[]", "not-an-object"),
        ('{"hooks": []}', "not-an-object"),
        ('{"hooks": {"PreTolUse": []}}', "unknown-event"),
        ('{"PreToolUse": [], "hooks": {}}', "misplaced-event"),
        ("{", "syntax"),
    ],
)
def test_a_file_of_the_wrong_shape_is_one_error(text: str, code: str):
    reading = read(text)
    assert [(each.severity, each.code) for each in reading.diagnostics] == [("error", code)]
    guards = [row.name for row in EVENTS.values() if row.guard]
    lost = code in ("not-an-object", "syntax")  # the guards of such a file are unknown
    assert [each.event.name for each in reading.hooks] == (guards if lost else [])
    assert all(each.broken for each in reading.hooks)


@pytest.mark.parametrize(
    ("written", "meant"),
    [("PreTolUse", "PreToolUse"), ("pre_tool_use", "PreToolUse"), ("sessionstart", "SessionStart")],
)
def test_an_unknown_event_is_answered_with_the_nearest(written: str, meant: str):
    (found,) = read(json.dumps({"hooks": {written: []}})).diagnostics
    assert found.fix == f"did you mean {meant}?"


@pytest.mark.parametrize(
    "text",
    [
        '{"hooks": {"PreToolUse": [{"hooks": [{"command": "a", "command": "b"}]}]}}',
        '{"hooks": {"PreToolUse": [{"hooks": [{"command": "a"}], "hooks": [{"command": "b"}]}]}}',
        '{"hooks": {"PreToolUse": [{"matcher": "A", "matcher": "B", "hooks": [{"command": "b"}]}]}}',
        '{"hooks": {"PreToolUse": [{"hooks": [{"command": "a"}]}], "PreToolUse": []}}',
    ],
)
def test_a_guard_that_could_be_read_two_ways_closes(text: str):
    reading = read(text)
    assert [each.code for each in reading.diagnostics] == ["duplicate-key"]
    assert [each.broken is not None and "twice" in each.broken for each in reading.hooks] == [True]


def test_every_mistake_of_a_file_is_found_on_its_own_line():
    reading = read(
        """\
        [[hooks.PreToolUse]]
        matcher = "Bash"
        [[hooks.PreToolUse.hooks]]
        command = "guard.sh"
        timeout = 0
        onfailure = "open"
        [[hooks.PreToolUse.hooks]]
        type = "htpp"
        url = "http://localhost/"
        [[hooks.SesionStart]]
        [[hooks.SessionStart]]
        matcher = "startup|begin"
        hooks = [
          { command = "x" },
          { command = "y",
            if = "Bash(ls)" }, # never
        ]
        [hooks.SessionStart.condition]
        type = "all"
        """.replace("{ command = \"y\",\n            if", '{ command = "y", if'),
        "toml",
    )  # fmt: skip
    found = [(each.where.line, each.code) for each in reading.diagnostics]
    assert found == [
        (6, "unknown-field"),
        (5, "bad-timeout"),
        (8, "unknown-type"),
        (10, "unknown-event"),
        (17, "unknown-field"),
        (15, "never-runs"),
    ]
    assert all(each.where.file == "hooks.toml" for each in reading.diagnostics)


@every(
    ("category", "call"),
    [
        ("shell", ToolCall(tool_name="Bash")),
        ("file_write", ToolCall(tool_name="NotebookEdit")),
        ("safe", ToolCall(tool_name="NotebookRead")),
        ("web", ToolCall(tool_name="WebFetch")),
        ("agent", ToolCall(tool_name="Task")),
        ("mcp", ToolCall(tool_name="mcp__github__push")),
        ("mcp", ToolCall(tool_name="push", tool_category="mcp")),
        ("other", ToolCall(tool_name="deploy")),
    ],
)
def test_every_documented_category_holds(category: str, call: ToolCall):
    condition = hook("PreToolUse", condition={"type": "tool_category", "category": category}).condition
    assert condition is not None
    assert condition.holds(PRE_TOOL_USE, call, SessionInfo())


def test_nested_conditions_are_read_and_their_mistakes_placed():
    shell = {"type": "tool_category", "category": "shell"}
    either = {"type": "any", "conditions": [{"type": "tool_name", "name": "ba*"}, shell]}
    both: list[Any] = [either, {"type": "always"}]
    tree = {"type": "all", "conditions": both}
    assert hook("PostToolUseFailure", condition=tree).condition is not None
    both.append({"type": "exit_code", "code": "1"})
    reading = entries("PostToolUseFailure", {"command": "x", "condition": tree})
    (found,) = reading.diagnostics
    assert found.where.path[-3:] == ("condition", "conditions", 2)
    assert "exit_code needs the number code" in found.message


@pytest.mark.parametrize(
    "condition",
    [
        {"type": "all"},
        {"type": "any", "conditions": {}},
        {"type": "all", "conditions": [3]},
        {"type": "tool_name"},
        {"type": "mode", "mode": ""},
        {"type": 3},
        {},
    ],
)
def test_a_condition_that_cannot_be_understood_is_an_error(condition: Any):
    assert [each[1] for each in mistakes("Stop", {"command": "x", "condition": condition})] == [
        "bad-condition"
    ]


def test_conditions_nested_without_end_are_refused():
    condition: dict[str, Any] = {"type": "always"}
    for _ in range(25):
        condition = {"type": "all", "conditions": [condition]}
    assert [each[1] for each in mistakes("Stop", {"command": "x", "condition": condition})] == [
        "bad-condition"
    ]


def test_an_agent_hook_takes_its_steps_from_the_entry():
    from hookline.dialects.native.settings import KINDS

    assert KINDS["agent"].spec({"prompt": "p", "model": "m", "max_steps": 3}) == AgentSpec("p", "m", 3)


def test_durable_is_true_false_or_fleet():
    assert hook("PostToolUse", **{"async": True, "durable": True}).durable is True
    assert hook("PostToolUse", **{"async": True, "durable": "fleet"}).durable == "fleet"
    wrong = mistakes("PostToolUse", {"command": "x", "async": True, "durable": "flete"})
    assert wrong == [("error", "unknown-durable", "durable is 'flete'")]
