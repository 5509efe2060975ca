"""The schema and the reader must agree: what one refuses, the other complains about."""

import json
import tomllib
from collections.abc import Mapping, Sequence
from typing import Any

from hookline.dialects.native import dialect
from hookline.dialects.native.settings import COMMON, KINDS
from hookline.documents.document import read_document
from hookline.events import EVENTS
from hookline.extending import ConfigPath, Layer, Tools, standard_handlers
from hookline.handlers.agent import AgentConversation, HookAgentTool
from hookline.handlers.mcp_tool import McpReply
from hookline.matching.patterns import Patterns
from hookline.model.policy import CAUSES
from hookline.schemas.config import ENTRY_WORDS, REACTIONS, config_schema
from hookline.shell import ShellReader
from tests.every import every
from tests.schemas.samples import HOSTS, Checker
from tools.config_page import EXAMPLE

SCHEMA = Checker(config_schema(EVENTS))


class Host:
    """Has every seam that handlers need, so that only the entries themselves can be wrong."""

    tools: Sequence[HookAgentTool] = ()

    async def complete(self, prompt: str, *, system: str, model: str | None) -> str:
        return "{}"

    async def begin(
        self, task: str, *, system: str, model: str | None, tools: Sequence[HookAgentTool]
    ) -> AgentConversation:
        raise NotImplementedError

    async def call_tool(self, server: str, tool: str, arguments: Mapping[str, Any]) -> McpReply:
        return McpReply("")


def complaints(config: object) -> list[str]:
    host = Host()
    tools = Tools(standard_handlers(completer=host, agent_runner=host, mcp=host), Patterns(), ShellReader())
    document = read_document(json.dumps(config), "json", "hooks.json")
    reading = dialect().read([Layer(ConfigPath("hooks.json", "project"), document)], tools)
    return [str(each) for each in reading.diagnostics if each.severity != "info"]


def entry(**fields: Any) -> dict[str, Any]:
    return {"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [fields]}]}}


def condition(**fields: Any) -> dict[str, Any]:
    return entry(command="x", condition=fields)


GOOD: dict[str, Any] = {
    "empty": {},
    "other people's settings": {"permissions": {"allow": []}, "model": "m", "hooks": {}},
    "switched off": {"disableAllHooks": False, "hooks": {}},
    "a schema for the editor": {"$schema": "hooks.json"},
    "no matcher": {"hooks": {"Stop": [{"hooks": [{"command": "x"}]}]}},
    "a group for people": {"hooks": {"Stop": [{"description": "mine", "hooks": []}]}},
    "command": entry(type="command", command="x", shell="bash", env={"A": "b"}, cwd="/", timeout=0.5),
    "exec form": entry(command="x", args=[]),
    "http": entry(type="http", url="https://example.com/", headers={"X-A": "${A}"}, allowedEnvVars=["A"]),
    "prompt": entry(type="prompt", prompt="fine?", model="m", continueOnBlock=True),
    "agent": entry(type="agent", prompt="fine?", max_steps=3),
    "mcp_tool": entry(type="mcp_tool", server="s", tool="t", input={"a": "${tool_name}"}),
    "builtin by command": entry(type="builtin", command="deny", args=["no"]),
    "builtin by name": entry(type="builtin", name="deny"),
    "everything else": entry(
        command="x", name="n", statusMessage="...", once=True, rewrites=True, required=True, mode="shadow",
        **{"if": "Bash(git *)"},
    ),
    "async": {"hooks": {"Stop": [{"hooks": [{"command": "x", "async": True}, {"command": "y", "asyncRewake": True}]}]}},
    "failures by cause": entry(command="x", on_failure={"timed_out": "open", "crashed": "ask"}),
    "condition always": condition(type="always"),
    "condition tree": condition(
        type="all", conditions=[{"type": "any", "conditions": [{"type": "tool_name", "name": "B*"}]}]
    ),
    "condition mode": condition(type="mode", mode="plan"),
    "condition category": condition(type="tool_category", category="shell"),
    **{f"on_failure {word}": entry(command="x", on_failure=word) for word in REACTIONS},
    **{f"onFailure {word}": entry(command="x", onFailure=word) for word in REACTIONS},
}  # fmt: skip

BAD: dict[str, Any] = {
    "unknown event": {"hooks": {"PreTolUse": []}},
    "event outside hooks": {"PreToolUse": []},
    "hooks is a list": {"hooks": []},
    "event is no list": {"hooks": {"Stop": {"hooks": []}}},
    "group is text": {"hooks": {"Stop": ["x"]}},
    "group without hooks": {"hooks": {"Stop": [{"matcher": "x"}]}},
    "entry instead of a group": {"hooks": {"Stop": [{"command": "x"}]}},
    "unknown field of a group": {"hooks": {"Stop": [{"hooks": [], "macher": "x"}]}},
    "matcher is a number": {"hooks": {"Stop": [{"matcher": 3, "hooks": []}]}},
    "entry is text": {"hooks": {"Stop": [{"hooks": ["x"]}]}},
    "unknown type": entry(type="comand", command="x"),
    "function in a file": entry(type="function", command="x"),
    "unknown field": entry(command="x", on_falure="closed"),
    "field of another kind": entry(command="x", url="https://example.com/"),
    "no command": entry(timeout=1),
    "empty command": entry(command=" "),
    "command is a list": entry(command=["x"]),
    "args is text": entry(command="x", args="y"),
    "unknown shell": entry(command="x", shell="fish"),
    "env of numbers": entry(command="x", env={"A": 1}),
    "no url": entry(type="http"),
    "no prompt": entry(type="prompt"),
    "no tool": entry(type="mcp_tool", server="s"),
    "builtin without a name": entry(type="builtin"),
    "no steps": entry(type="agent", prompt="x", max_steps=0),
    "half a step": entry(type="agent", prompt="x", max_steps=1.5),
    "timeout 0": entry(command="x", timeout=0),
    "timeout below 0": entry(command="x", timeout=-1),
    "timeout is text": entry(command="x", timeout="5"),
    "timeout is true": entry(command="x", timeout=True),
    "once is text": entry(command="x", once="yes"),
    "unknown mode": entry(command="x", mode="quiet"),
    "unknown reaction": entry(command="x", on_failure="shut"),
    "unknown cause": entry(command="x", on_failure={"exploded": "open"}),
    "unknown reaction to a cause": entry(command="x", on_failure={"crashed": "shut"}),
    "condition is text": entry(command="x", condition="always"),
    "unknown condition": condition(type="weather"),
    "condition without its field": condition(type="tool_name"),
    "condition with an empty field": condition(type="tool_name", name=""),
    "exit code is text": condition(type="exit_code", code="1"),
    "bad condition inside": condition(type="all", conditions=[{"type": "weather"}]),
    "conditions is no list": condition(type="any", conditions={}),
}


@every("config", GOOD.values())
def test_a_good_config_validates_and_is_read_without_complaint(config: Any):
    assert SCHEMA.mistakes(config) == []
    assert complaints(config) == []


@every("config", BAD.values())
def test_a_config_with_a_mistake_does_not_validate_and_is_complained_about(config: Any):
    assert not SCHEMA.valid(config)
    assert complaints(config)


def test_the_example_of_the_reference_validates_and_is_read_without_complaint():
    config = tomllib.loads(EXAMPLE)
    assert SCHEMA.valid(config)
    assert complaints(config) == []


@every("name", EVENTS)
def test_every_event_can_be_configured(name: str):
    assert SCHEMA.valid({"hooks": {name: [{"hooks": [{"command": "x"}]}]}})


def test_an_unknown_event_is_refused_with_the_list_of_events():
    (mistake,) = SCHEMA.mistakes({"hooks": {"PreTolUse": []}})
    assert "'PreToolUse'" in mistake


def test_every_cause_can_have_its_own_reaction():
    assert SCHEMA.valid(entry(command="x", on_failure=dict.fromkeys(CAUSES, "open")))


def test_every_field_of_an_entry_has_a_sentence_and_every_sentence_a_field():
    fields = set(COMMON).union(*(kind.fields for kind in KINDS.values()))
    assert {name.split(".")[-1] for name in ENTRY_WORDS} == fields
    assert {name.split(".")[0] for name in ENTRY_WORDS if "." in name} <= set(KINDS)


def test_the_rows_and_handlers_of_a_host_are_accepted():
    schema = Checker(config_schema({**EVENTS, **HOSTS}, kinds=("queue", "command", "function")))
    deploying = {"hooks": {"Deploying": [{"hooks": [{"type": "queue", "topic": "t", "timeout": 3}]}]}}
    assert schema.valid(deploying)
    assert not SCHEMA.valid(deploying)
    assert not schema.valid({"hooks": {"Deploying": [{"hooks": [{"type": "queue", "timeout": 0}]}]}})
    assert not schema.valid({"hooks": {"Deploying": [{"hooks": [{"type": "function"}]}]}})
