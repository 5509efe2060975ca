"""Model hooks: their prompts, and what a reply means."""

import time
from typing import Any

import pytest

from hookline import Outcome
from hookline.dialects.docker_agent.templates import TemplateError, template
from tests.dialects.docker_agent.hooks import (
    PAYLOADS,
    TOOL,
    ScriptedCompleter,
    agent_file,
    agent_with,
    agent_with_file,
    entry,
    says,
    specific,
)
from tests.every import every

PAYLOAD: dict[str, Any] = {
    "tool_name": "shell",
    "tool_input": {"cmd": "ls ü", "n": {"deep": [1, True]}},
    "tool_use_id": "call_1",
    "session_id": "s",
}
JUDGE = "{type: model, model: openai/gpt-5-mini, prompt: 'May it {{ .ToolInput.cmd }}?', schema: pre_tool_use_decision}"


def short(text: str) -> str:
    return repr(text[:30])


def judged(*replies: str, event: str = "pre_tool_use") -> tuple[Outcome, Any, ScriptedCompleter]:
    paper = ScriptedCompleter(*replies)
    agent = agent_with(entry(event, JUDGE), model=paper)
    return agent.fire(event, TOOL), agent.runs[0], paper


def test_a_judge_is_asked_with_its_own_model_and_prompt():
    outcome, _run, paper = judged('{"decision":"deny","reason":"too risky"}')
    ((prompt, system, model),) = paper.asked
    assert (prompt, model) == ("May it ls?", "openai/gpt-5-mini")
    assert '"decision"' in system
    assert (outcome.permission, outcome.reason) == ("deny", "too risky")


@pytest.mark.parametrize(
    ("reply", "permission"),
    [
        ('{"decision":"allow"}', "allow"),
        ('```json\n{"decision":"ask","reason":"hm"}\n```', "ask"),
        ('{"decision":"maybe"}', "deny"),
        ('{"reason":"x"}', "deny"),
        ("yes", "deny"),
        ("", "deny"),
    ],
)
def test_a_judge_that_does_not_say_allow_ask_or_deny_has_failed(reply: str, permission: str):
    outcome, _run, _paper = judged(reply)
    assert outcome.permission == permission


def test_a_model_that_is_gone_fails_closed_before_a_tool():
    outcome, run, _paper = judged()
    assert outcome.blocked
    assert run.cause == "transport"


def test_a_judge_sees_the_rewritten_input():
    paper = ScriptedCompleter('{"decision":"allow"}')
    agent = agent_with(entry("pre_tool_use", says(specific(updated_input={"cmd": "rm"})), JUDGE), model=paper)
    agent.fire("pre_tool_use", TOOL)
    assert paper.asked[0][0] == "May it rm?"


def test_a_reply_without_a_schema_is_text_for_the_model():
    paper = ScriptedCompleter("  keep going  ")
    agent = agent_with(
        entry("turn_start", "{type: model, model: m, prompt: 'Session {{ .SessionID }}'}"), model=paper
    )
    assert agent.fire("turn_start", PAYLOADS["turn_start"]).context == ("keep going",)
    assert paper.asked[0][0] == "Session s"
    assert "JSON" not in paper.asked[0][1]


def test_text_of_a_model_where_no_text_goes_is_dropped_with_a_word():
    agent = agent_with(entry("stop", "{type: model, model: m, prompt: hi}"), model=ScriptedCompleter("text"))
    agent.fire("stop", PAYLOADS["stop"])
    assert agent.runs[0].dropped == ("the model's reply",)


@pytest.mark.parametrize(
    ("hook", "code"),
    [
        ("{type: model, model: m, prompt: '{{ .Nonsense }}'}", "bad-template"),
        ("{type: model, model: m, prompt: '{{ if .ToolName }}'}", "bad-template"),
        ("{type: model, model: '', prompt: hi}", "missing-field"),
        ("{type: model, model: m}", "missing-field"),
        ("{type: model, model: m, prompt: hi, schema: other}", "unknown-schema"),
    ],
)
def test_a_model_hook_that_cannot_work_is_reported_and_fails_when_due(hook: str, code: str):
    agent = agent_with_file(agent_file(entry("pre_tool_use", hook)), model=ScriptedCompleter("hi"))
    assert [each.code for each in agent.reading.diagnostics] == [code]
    assert agent.fire("pre_tool_use", TOOL).blocked
    assert agent.runs[0].status == "not_started"


def test_a_prompt_that_fails_on_this_payload_is_a_failure_of_the_hook_only():
    hook = "{type: model, model: m, prompt: '{{ .Prompt.inner }}', on_error: ignore}"
    agent = agent_with(entry("user_prompt_submit", hook), model=ScriptedCompleter("hi"))
    assert not agent.fire("user_prompt_submit", PAYLOADS["user_prompt_submit"]).blocked
    assert agent.runs[0].cause == "not_started"


@every(
    ("text", "rendered"),
    [
        ("plain", "plain"),
        ("", ""),
        ("{{.ToolName}} {{ .tool_name }}", "shell shell"),
        ("{{ .ToolInput.cmd }}", "ls ü"),
        ("{{ .ToolInput.nope }}", ""),
        ("{{ .ToolUseID }}", "call_1"),
        ("{{ .ToolInput }}", "map[cmd:ls ü n:map[deep:[1 true]]]"),
        ("{{ .ToolInput | toJSON }}", '{"cmd":"ls ü","n":{"deep":[1,true]}}'),
        ("{{ toJSON .ToolInput.n }}", '{"deep":[1,true]}'),
        ("{{ toJSON .ToolResponse }}", "null"),
        ("{{ .ToolInput | toJSON | truncate 8 }}", '{"cmd":"…'),
        ("{{ truncate 4 .ToolInput.cmd }}", "ls …"),
        ("{{ truncate 0 .ToolInput.cmd }}", "ls ü"),
        ("{{ truncate 3 (toJSON .ToolInput) }}", '{"c…'),
        ('{{ "a \\"b\\"" }}{{ `c` }}', 'a "b"c'),
        ("a {{- .ToolName -}} b", "ashellb"),
        ("a{{/* a remark */}}b", "ab"),
        ("{{ if .ToolError }}bad{{ else }}good{{ end }}", "good"),
        ("{{ if .ToolName }}{{ if .Summary }}x{{ end }}y{{ end }}", "y"),
        ("{{ .ToolError }}", ""),
        ("{{ true }}{{ 7 }}{{ nil }}", "true7"),
    ],
)
def test_templates(text: str, rendered: str):
    assert template(text).rendered(PAYLOAD) == rendered


@every(
    "text",
    [
        "{{",
        "{{ }}",
        "{{ .Nope }}",
        "{{ end }}",
        "{{ if .ToolName }}",
        "{{ if .ToolName }}{{ else }}{{ else }}{{ end }}",
        "{{ range .Messages }}{{ end }}",
        "{{ $x := 1 }}",
        "{{ printf .ToolName }}",
        "{{ toJSON }}",
        "{{ truncate .ToolName }}",
        "{{ .ToolName toJSON }}",
        "{{ (.ToolName }}",
        "{{ .ToolName) }}",
        "{{ .ToolName | 7 }}",
        "{{ .ToolName | }}",
        "{{ toJSON truncate 3 .ToolName }}",
        "{{ " + "(" * 40 + ".ToolName" + ")" * 40 + " }}",
        "{{ if .ToolName }}" * 40 + "{{ end }}" * 40,
        "x" * 100_000,
    ],
)
def test_a_template_that_is_none(text: str):
    with pytest.raises(TemplateError):
        template(text)


@pytest.mark.parametrize(
    "text", ["{{ truncate 5 .ToolInput }}", "{{ truncate .ToolName .ToolName }}", "{{ .ToolName.x }}"]
)
def test_a_template_that_cannot_be_filled_in(text: str):
    with pytest.raises(TemplateError):
        template(text).rendered(PAYLOAD)


def test_a_prompt_never_becomes_huge():
    with pytest.raises(TemplateError):
        template("{{ .ToolName }}" * 4000).rendered({"tool_name": "x" * 1000})


@pytest.mark.parametrize(
    "text",
    ["{{" * 30_000, "{{ if .ToolName }}" * 3000, "{{ " + "." * 60_000 + " }}", "}}" * 30_000],
    ids=short,
)
def test_hostile_templates_are_judged_quickly(text: str):
    started = time.perf_counter()
    try:
        template(text)
    except TemplateError:
        pass
    assert time.perf_counter() - started < 5
