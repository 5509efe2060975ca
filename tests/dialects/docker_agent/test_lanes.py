"""In which order hooks run, what each of them sees, and whose they are."""

import json
from pathlib import Path
from typing import Any

import pytest

from hookline import Engine, Outcome
from hookline.dialects.docker_agent import dialect
from hookline.events import PRE_TOOL_USE, STOP
from hookline.model import payloads as p
from hookline.model.errors import UnknownEventError
from tests.dialects.docker_agent.hooks import (
    PAYLOADS,
    TOOL,
    agent_file,
    agent_with,
    agent_with_file,
    command,
    entry,
    fire,
    fired,
    handlers,
    quiet,
    read_agent,
    says,
    seen,
    specific,
)
from tests.dialects.hooked_agent import read_hooks
from tests.every import every


def test_only_configured_events_have_hooks():
    engine = Engine(read_agent(entry("stop", command("true"))).hooks, handlers=handlers())
    assert engine.has(STOP)
    assert not engine.has(PRE_TOOL_USE)
    with pytest.raises(UnknownEventError):
        dialect().wire.parse({"hook_event_name": "stopp"})


def test_without_hooks_everything_is_allowed_and_nothing_runs():
    agent = agent_with(entry("pre_tool_use", command("exit 2"), matcher="edit_file"))
    assert agent.fire("pre_tool_use", TOOL) == Outcome()
    assert agent.fire("stop", PAYLOADS["stop"]) == Outcome()
    assert agent.runs == []


@every(
    ("matcher", "tool", "runs"),
    [
        ("shell", "shell", True),
        ("shell", "shell_x", False),
        ("shell", "my_shell", False),
        ("shell", "Shell", False),
        ("shell|edit_file", "edit_file", True),
        ("mcp:.*", "mcp:files", True),
        ("mcp:.*", "x_mcp:files", False),
        ("(?i)SHELL", "shell", True),
        ("*", "anything", True),
        ("", "anything", True),
    ],
)
def test_matchers_are_anchored_and_case_counts(matcher: str, tool: str, runs: bool):
    agent = agent_with(entry("pre_tool_use", command("true"), matcher=matcher))
    agent.fire("pre_tool_use", p.ToolCall(tool_name=tool))
    assert bool(agent.runs) is runs


def test_pre_tool_use_chains_patches_and_keeps_what_nobody_touched(tmp_path: Path):
    hooks = [
        says(specific(updated_input={"cmd": "ls -l", "a": 1})),
        command("cat > seen.json"),
        says(specific(updated_input={"a": 2})),
    ]
    outcome = fire("pre_tool_use", *hooks, cwd=str(tmp_path))
    assert seen(tmp_path)["tool_input"] == {"cmd": "ls -l", "cwd": ".", "a": 1}
    assert outcome.updated_input == {"cmd": "ls -l", "cwd": ".", "a": 2}
    assert TOOL.tool_input == {"cmd": "ls", "cwd": "."}


def test_an_empty_patch_gives_a_whole_copy_and_no_patch_gives_none():
    outcome = fire("pre_tool_use", says(specific(updated_input={})))
    assert outcome.updated_input == TOOL.tool_input
    assert outcome.updated_input is not TOOL.tool_input
    assert fire("pre_tool_use", says({})).updated_input is None


def test_rewritten_messages_compose_and_an_empty_list_is_no_rewrite(tmp_path: Path):
    script = tmp_path / "more.py"
    script.write_text(
        "import json, sys\n"
        "messages = json.load(sys.stdin)['messages'] + [{'role': 'user', 'content': sys.argv[1]}]\n"
        "print(json.dumps({'hook_specific_output': {'updated_messages': messages}}))\n"
    )
    hooks = [
        command(f"python3 {script} a"),
        command(f"python3 {script} b"),
        says(specific(updated_messages=[])),
    ]
    outcome = fire("before_llm_call", *hooks)
    assert [each["content"] for each in outcome.updated_messages] == ["hi", "a", "b"]
    assert fire("before_llm_call", says(specific(updated_messages=[]))).updated_messages is None


def test_an_empty_tool_response_clears_and_an_absent_one_leaves():
    assert fire("tool_response_transform", says(specific(updated_tool_response=""))).updated_output == ""
    assert fire("tool_response_transform", says({})).updated_output is None


def test_a_transformed_response_is_what_post_tool_use_sees(tmp_path: Path):
    agent = agent_with(
        entry("post_tool_use", command("cat > seen.json"))
        + entry("tool_response_transform", says(specific(updated_tool_response="***"))),
        cwd=str(tmp_path),
    )
    agent.fire("post_tool_use", PAYLOADS["tool_response_transform"])
    assert seen(tmp_path)["tool_response"] == "***"


def test_hooks_of_other_events_run_at_once(tmp_path: Path):
    waits = "i=0; while [ ! -e {} ] && [ $i -lt 200 ]; do sleep 0.05; i=$((i+1)); done; test -e {}"
    hooks = [
        command("touch a; " + waits.format("b", "b")),
        command("touch b; " + waits.format("a", "a")),
    ]
    _outcome, runs = fired("session_start", *hooks, cwd=str(tmp_path))
    assert [run.status for run in runs] == ["ok", "ok"]


def test_turn_start_hooks_come_before_before_llm_call_hooks_which_see_their_text(tmp_path: Path):
    agent = agent_with(
        entry("before_llm_call", command("cat > seen.json"))
        + entry("turn_start", command("sleep 0.2; echo one"), command("echo two")),
        cwd=str(tmp_path),
    )
    outcome = agent.fire("before_llm_call", PAYLOADS["before_llm_call"])
    assert [each["content"] for each in seen(tmp_path)["messages"]] == ["hi", "one", "two"]
    assert outcome.context == ("one", "two")


def test_a_rewrite_of_the_messages_does_not_hold_the_text_of_this_turn_twice():
    kept = [{"role": "user", "content": "hi"}, {"role": "system", "content": "now"}]
    turn = entry("turn_start", command("echo now"))
    agent = agent_with(
        turn
        + entry("before_llm_call", says(specific(updated_messages=[*kept, {"role": "user", "content": "x"}])))
    )
    outcome = agent.fire("turn_start", PAYLOADS["turn_start"])
    assert [each["content"] for each in outcome.updated_messages] == ["hi", "x"]
    assert outcome.context == ("now",)
    agent = agent_with(turn + entry("before_llm_call", says(specific(updated_messages=kept[:1]))))
    agent.fire("turn_start", PAYLOADS["turn_start"])
    assert agent.runs[-1].dropped == ("change of turn_start text",)


def test_turn_start_text_is_for_one_request_and_new_each_time(tmp_path: Path):
    agent = agent_with(entry("turn_start", command("echo x >> n; wc -l < n")), cwd=str(tmp_path))
    request = PAYLOADS["turn_start"]
    items = [agent.fire("turn_start", request).context_items[0] for _ in range(2)]
    assert [item.text for item in items] == ["1", "2"]
    assert {(item.placement, item.lifetime) for item in items} == {("transient", "call")}
    assert request.messages == ({"role": "user", "content": "hi"},)


def test_a_tool_call_passes_transforms_then_guards_then_the_preempting_lane_then_the_rest(tmp_path: Path):
    def note(word: str) -> str:
        return command(f"cat > {word}.json; echo {word} >> order")

    agent = agent_with(
        entry("pre_tool_use", note("plain"))
        + "  - preempt_yolo: true\n    hooks:\n      - " + note("preempt") + "\n"
        + entry("tool_guard", note("guard"))
        + entry("tool_input_transform", note("transform"), says(specific(updated_input={"safe": True}))),
        cwd=str(tmp_path),
    )  # fmt: skip
    agent.fire("pre_tool_use", TOOL)
    assert (tmp_path / "order").read_text().split() == ["transform", "guard", "preempt", "plain"]
    assert seen(tmp_path, "preempt.json")["hook_event_name"] == "pre_tool_use"
    assert seen(tmp_path, "guard.json")["tool_input"]["safe"] is True


def test_a_guard_is_asked_again_when_a_later_hook_changed_the_call():
    agent = agent_with(
        entry("tool_guard", command("grep -q evil && exit 2; exit 0"))
        + entry("pre_tool_use", says(specific(updated_input={"cmd": "evil"})))
    )
    assert agent.fire("pre_tool_use", TOOL).blocked


def test_the_same_definition_runs_once_and_any_difference_makes_two():
    same = command("echo hi")
    outcome, runs = fired(
        "session_start", same, same, "{type: command, command: echo hi, args: [], env: {}, name: ''}"
    )
    assert (outcome.context, len(runs)) == (("hi",), 1)
    for difference in (
        {"timeout": 60},
        {"name": "n"},
        {"env": {"A": "1"}},
        {"working_dir": "."},
        {"strict_output": True},
    ):
        assert len(fired("session_start", same, command("echo hi", **difference))[1]) == 2
    builtin = "{{type: builtin, command: add_prompt_files, args: [{}]}}"
    assert len(fired("turn_start", builtin.format("a"), builtin.format("b"), builtin.format("a"))[1]) == 2


def test_the_same_definition_in_two_groups_runs_once_per_call_at_its_first_place():
    hook = command("test 1 = 1")
    agent = agent_with(
        f"""
        post_tool_use:
          - matcher: edit_file
            hooks: [{hook}]
          - matcher: shell
            hooks: [{command("true")}, {hook}]
          - hooks: [{hook}]
        """
    )
    agent.fire("post_tool_use", PAYLOADS["post_tool_use"])
    assert [run.source for run in agent.runs] == ["agent.yaml:10", "agent.yaml:10"]
    assert len(agent.runs) == 2


@pytest.mark.parametrize(
    ("flags", "event", "explicit", "text"),
    [
        ("add_date: true\n", "turn_start", "command: add_date", "Today's date: "),
        (
            "add_environment_info: true\n",
            "session_start",
            "command: add_environment_info",
            "Working directory",
        ),
        ("add_prompt_files: [A.md]\n", "turn_start", "command: add_prompt_files, args: [A.md]", "be kind"),
    ],
)
def test_a_flag_is_a_builtin_and_an_equal_explicit_one_runs_once(
    flags: str, event: str, explicit: str, text: str, tmp_path: Path
):
    (tmp_path / "A.md").write_text("be kind")
    for hooks in ("{}", entry(event, f"{{type: builtin, {explicit}}}")):
        agent = agent_with(hooks, flags, cwd=str(tmp_path))
        outcome = agent.fire(event, PAYLOADS[event])
        assert len(agent.runs) == 1
        assert text in outcome.context[0]


def test_flag_hooks_and_user_hooks_are_added_to_those_of_the_file_for_every_event(tmp_path: Path):
    text = agent_file("".join(entry(name, command(f"echo {name}")) for name in PAYLOADS))
    user_text = "settings:\n  hooks:\n    stop: [{type: command, command: 'true', name: mine}]\n"
    docker = dialect()
    found = read_hooks(
        docker, [("agent.yaml", "project", text), ("config.yaml", "user", user_text)], handlers()
    )
    flags = [docker.flag_hook(event_name, f"flag {name}") for name, event_name in docker.events.items()]
    by_event: dict[str, list[str]] = {}
    for hook in (*found.hooks, *flags):
        by_event.setdefault(hook.policy.event_name, []).append(hook.name)
    assert by_event["stop"] == ["echo", "mine", "flag"]
    assert by_event["notification"] == ["echo", "flag"]
    assert by_event.keys() == PAYLOADS.keys()
    assert all(names[-1] == "flag" for names in by_event.values())
    assert all(hook.matcher is None and hook.timeout == 60 for hook in flags)


def test_post_tool_use_also_runs_for_a_call_that_failed(tmp_path: Path):
    agent = agent_with(entry("post_tool_use", command("cat > seen.json")), cwd=str(tmp_path))
    agent.fire("PostToolUseFailure", p.ToolFailure(tool_name="shell", error="no such file"))
    received = seen(tmp_path)
    assert (received["tool_response"], received["tool_error"], received["hook_event_name"]) == (
        "no such file",
        True,
        "post_tool_use",
    )


def test_a_steering_message_a_follow_up_and_a_prompt_are_different_events():
    names = ("user_prompt_submit", "user_steering_messages_submit", "user_followup_submit")
    agent = agent_with("".join(entry(name, command(f"echo {name}")) for name in names))
    for name in names:
        assert agent.fire(name, PAYLOADS[name]).context == (name,)


def test_resuming_past_the_limit_is_not_reaching_it():
    hooks = entry("on_max_iterations", command("true", name="reached")) + entry(
        "on_session_resume", command("true", name="on")
    )
    for extra, name in ((None, "reached"), ({"new_max_iterations": 40}, "on")):
        agent = agent_with(hooks, extra=extra)
        agent.fire("on_max_iterations", PAYLOADS["on_max_iterations"])
        assert [run.hook for run in agent.runs] == [name]


TWO_AGENTS = """
agents:
  root:
    hooks:
      stop: [{type: command, command: cat > root.json}]
  writer:
    hooks:
      stop: [{type: command, command: cat > writer.json}]
  reader:
    hooks:
      stop: [{type: command, command: cat > writer.json}]
"""


@pytest.mark.parametrize(
    ("agent_type", "ran"), [(None, "root"), ("root", "root"), ("writer", "writer"), ("guest", "root")]
)
def test_an_agents_hooks_run_for_that_agent_and_the_roots_for_everybody_unknown(
    agent_type: Any, ran: str, tmp_path: Path
):
    agent = agent_with_file(TWO_AGENTS, cwd=str(tmp_path), agent_type=agent_type)
    agent.fire("stop", PAYLOADS["stop"])
    assert [each.name for each in tmp_path.iterdir()] == [f"{ran}.json"]
    assert seen(tmp_path, f"{ran}.json")["agent_name"] == (agent_type or "root")


def test_equal_hooks_of_two_agents_are_not_the_same_hook(tmp_path: Path):
    agent = agent_with_file(TWO_AGENTS, cwd=str(tmp_path), agent_type="reader")
    agent.fire("stop", PAYLOADS["stop"])
    assert seen(tmp_path, "writer.json")["agent_name"] == "reader"


def test_builtins_are_private_to_the_engine_they_were_given_to():
    hooks = "session_start: [{type: builtin, command: mine}]"
    agent = agent_with(hooks, builtins={"mine": quiet})
    assert agent.fire("session_start", PAYLOADS["session_start"]) == Outcome()
    other = agent_with_file(agent_file(hooks))
    assert [each.code for each in other.reading.diagnostics] == ["cannot-run"]


def test_variables_and_a_directory_reach_commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("OUTSIDE", "from outside")
    monkeypatch.setenv("PLACE", str(tmp_path))
    (tmp_path / "in").mkdir()
    hook = command(
        'pwd; echo "$A|$B|$OUTSIDE"',
        env={"A": "${env.OUTSIDE}!", "B": "$OUTSIDE", "OUTSIDE": "replaced"},
        working_dir="${env.PLACE}/in",
    )
    agent = agent_with(entry("session_start", hook))
    assert agent.fire("session_start", PAYLOADS["session_start"]).context == (
        f"{tmp_path}/in\nfrom outside!|$OUTSIDE|replaced",
    )
    monkeypatch.setenv("OUTSIDE", "later")
    assert "later!" in agent.fire("session_start", PAYLOADS["session_start"]).context[0]


@pytest.mark.parametrize("directory", ["~/in", "$PLACE/in", "${PLACE}/in", "in"])
def test_a_working_directory_may_be_written_in_many_ways(
    directory: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PLACE", str(tmp_path))
    (tmp_path / "in").mkdir()
    outcome = fire("session_start", command("pwd", working_dir=directory), cwd=str(tmp_path))
    assert outcome.context == (f"{tmp_path}/in",)


def test_variables_and_a_directory_reach_builtins(tmp_path: Path):
    found: list[Any] = []

    def note(args: tuple[str, ...], _payload: Any, info: Any) -> None:
        found.append((args, info.cwd, info.extra))

    hook = '{type: builtin, command: note, args: [1, true, x], working_dir: sub, env: {A: "1", N: 2}}'
    agent = agent_with(entry("session_start", hook), builtins={"note": note}, cwd=str(tmp_path))
    agent.fire("session_start", PAYLOADS["session_start"])
    assert found == [(("1", "true", "x"), f"{tmp_path}/sub", {"env": {"A": "1", "N": "2"}})]


def test_a_trace_is_handed_on():
    outcome = fire("session_start", command('echo "$TRACEPARENT"'), extra={"traceparent": "00-abc-def-01"})
    assert outcome.context == ("00-abc-def-01",)


@pytest.mark.parametrize(("written", "seconds"), [("", 60), (", timeout: 5", 5)])
def test_a_timeout_is_in_seconds_and_60_when_left_out(written: str, seconds: float):
    assert read_agent(entry("stop", f"{{type: command, command: x{written}}}")).hooks[0].timeout == seconds


def test_a_timeout_of_0_is_60_seconds():
    found = read_agent(entry("stop", "{type: command, command: x, timeout: 0}"))
    assert found.hooks[0].timeout == 60
    assert [each.severity for each in found.diagnostics] == ["error"]


def test_a_hook_knows_its_file_and_line():
    found = read_agent("stop:\n  - type: command\n    command: x\n")
    assert str(found.hooks[0].where) == "agent.yaml:6"
    assert json.dumps(found.hooks[0].dialect) == '"docker-agent"'
