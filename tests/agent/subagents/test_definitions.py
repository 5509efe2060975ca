"""Test agents described in files: their fields, their mistakes, and a session that runs them."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from hookline import ConfigError
from hookline.agent.subagents.definitions import AgentDefinitions, read_definitions
from tests.cli.run_cli import run_cli

DOCKER = """\
version: "2"
models:
  fast: {provider: anthropic, model: claude-x, max_tokens: 1000}
  gpt-9: {provider: openai}
agents:
  root:
    model: fast
    description: the boss
    instruction: You are the boss.
    sub_agents: [helper, other]
    max_iterations: 7
    add_date: true
    add_environment_info: true
    add_prompt_files: [NOTES.md]
    toolsets: [{type: shell}]
    hooks:
      pre_tool_use:
        - matcher: Bash
          hooks: [{type: command, command: "echo root >> log"}]
      session_start:
        - {type: command, command: "echo a hook of root"}
  helper:
    model: openai/gpt-5
    instruction: You help.
    tools: [Bash]
    hooks:
      pre_tool_use:
        - matcher: Bash
          hooks: [{type: command, command: "echo helper >> log; echo not you >&2; exit 2"}]
  other:
    model: gpt-9
    instruction: You do other things.
"""

NATIVE = """\
[agents.root]
instruction = "You are native."
sub_agents = ["helper"]
tools = ["Bash", "Agent"]
add_environment_info = true

[[agents.root.hooks.PreToolUse]]
matcher = "Bash"
hooks = [{ command = "echo root >> log" }]

[agents.helper]
instruction = "You help."
add_date = true
add_environment_info = true

[[agents.helper.hooks.PreToolUse]]
hooks = [{ command = "echo helper >> log; echo not you >&2; exit 2" }]
"""

NATIVE_YAML = """\
models:
  fast: {provider: anthropic, model: claude-x}
agents:
  main:
    model: fast
    instruction: You are native too.
    hooks:
      PreToolUse:
        - matcher: Bash
          hooks: [{command: "echo main >> log"}]
"""


def _read(directory: Path, text: str, name: str = "agent.yaml") -> AgentDefinitions:
    (directory / name).write_text(text)
    return read_definitions(str(directory / name))


def _wrong(directory: Path, text: str, name: str = "agent.yaml") -> list[tuple[int | None, str]]:
    with pytest.raises(ConfigError) as problem:
        _read(directory, text, name)
    return [(said.where.line, said.message) for said in problem.value.diagnostics]


def test_a_file_of_docker_agent_says_what_its_agents_are(tmp_path: Path):
    found = _read(tmp_path, DOCKER)
    assert found.dialect.name == "docker-agent"
    root = found.root(None)
    assert (root.name, root.model, root.max_iterations) == ("root", "anthropic:claude-x", 7)
    assert root.add_prompt_files == ("NOTES.md",)
    helper, other = found.types(root)
    assert (helper.name, helper.model, helper.tools) == ("helper", "openai:gpt-5", ("Bash",))
    assert (other.model, other.description) == ("openai:gpt-9", "You do other things.")


def test_what_means_nothing_here_is_told_and_does_no_harm(tmp_path: Path):
    (notice,) = _read(tmp_path, DOCKER).notices
    assert (notice.severity, notice.where.line) == ("info", 15)
    assert "`toolsets` is not supported" in notice.message


@pytest.mark.parametrize(("name", "text"), [("agent.toml", NATIVE), ("agent.yaml", NATIVE_YAML)])
def test_the_native_format_is_known_by_its_suffix_or_its_events(tmp_path: Path, name: str, text: str):
    assert _read(tmp_path, text, name).dialect.name == "native"


def test_without_a_root_the_first_agent_runs_and_any_other_by_its_name(tmp_path: Path):
    found = _read(tmp_path, NATIVE_YAML)
    assert found.root(None).name == "main"
    assert found.root("main").model == "anthropic:claude-x"
    with pytest.raises(ConfigError, match="unknown agent 'mian'; did you mean 'main'"):
        found.root("mian")


@pytest.mark.parametrize(
    ("field", "says"),
    [
        ("model: 3", "model: Expected `str | null`, got `int`"),
        ("description: []", "description: Expected `str`, got `array`"),
        ("instruction: {}", "instruction: Expected `str`, got `object`"),
        ("sub_agents: helper", "sub_agents: Expected `array`, got `str`"),
        ("sub_agents: [nobody]", "unknown agent 'nobody' in this file"),
        ("sub_agents: [roto]", "unknown agent 'roto' in this file; did you mean 'root'?"),
        ("tools: Bash", "tools: Expected `array | null`, got `str`"),
        ("max_iterations: many", "max_iterations: Expected `int | null`, got `str`"),
        ("add_date: sometimes", "add_date: Expected `bool`, got `str`"),
        ("add_environment_info: 1", "add_environment_info: Expected `bool`, got `int`"),
        ("add_prompt_files: NOTES.md", "add_prompt_files: Expected `array`, got `str`"),
        ("instructions: x", "unknown field 'instructions'; did you mean 'instruction'?"),
        ("sub_agent: [x]", "unknown field 'sub_agent'; did you mean 'sub_agents'?"),
    ],
)
@pytest.mark.parametrize("native", [True, False])
def test_every_wrong_field_is_told_with_its_line(tmp_path: Path, field: str, says: str, native: bool):
    hooks = "\n    hooks: {Stop: []}" if native else ""
    text = f"agents:\n  root:\n    description: x\n    {field}{hooks}\n"
    ((line, message),) = _wrong(tmp_path, text)
    assert line == 4
    assert says in message


def test_all_mistakes_are_told_at_once(tmp_path: Path):
    text = "models:\n  a: 3\n  b: {model: []}\nagents:\n  root: []\n  x:\n    model: 1\n    sub_agents: [y]\n"
    assert [line for line, _ in _wrong(tmp_path, text)] == [2, 3, 5, 7, 8]


def test_a_native_file_has_nothing_beside_agents_and_models(tmp_path: Path):
    ((line, message),) = _wrong(tmp_path, '[agents.a]\ninstruction = "x"\n[agent]\nx = 1\n', "a.toml")
    assert line == 3
    assert message == "unknown field 'agent'; there are agents, models"


@pytest.mark.parametrize(
    "text",
    ["", "3", "[]", "agents: []", "agents: {}", "agents: 3", "models: {}", "agents: {", "a: &a [*a]", "\x00"],
)
def test_a_file_that_is_no_definition_is_refused_with_words(tmp_path: Path, text: str):
    assert _wrong(tmp_path, text)


def test_keys_that_are_no_text_are_read_as_text(tmp_path: Path):
    found = _read(tmp_path, "agents:\n  1:\n    instruction: x\n    2: y\n")
    assert found.root(None).name == "1"
    with pytest.raises(ConfigError):
        read_definitions(str(tmp_path / "missing.yaml"))


# -- sessions ------------------------------------------------------------------------------------------------------

CALL = {"tool_calls": [{"name": "Bash", "input": {"command": "true"}}]}


def _ask(kind: str) -> Mapping[str, Any]:
    return {"tool_calls": [{"name": "Agent", "input": {"prompt": "do it", "subagent_type": kind}}]}


def _run(
    directory: Path, text: str, name: str, script: Sequence[Mapping[str, Any]], *words: str
) -> Mapping[str, Any]:
    project = directory / "home" / "project"
    project.mkdir(parents=True)
    (project / name).write_text(text)
    (project / "NOTES.md").write_text("be nice\n")
    (directory / "script.json").write_text(json.dumps(script))
    model = ["--model", f"scripted:{directory / 'script.json'}", "--mode", "bypass"]
    ran = run_cli(
        ["agent", "--json", "go", "--definition", name, *model, *words], project, directory / "home"
    )
    assert ran.status == 0, ran.stderr
    return {
        **json.loads(ran.stdout),
        "stderr": ran.stderr,
        "log": (project / "log").read_text().split() if (project / "log").exists() else [],
    }


def _texts(request: Mapping[str, Any]) -> str:
    return "\n".join([request["system"], *(message.get("text", "") for message in request["messages"])])


def test_a_definition_of_docker_agent_runs_with_its_flags_and_each_agent_under_its_own_hooks(tmp_path: Path):
    script = [
        CALL,
        _ask("helper"),
        CALL,
        {"text": "no"},
        _ask("general-purpose"),
        CALL,
        {"text": "yes"},
        {"text": "end"},
    ]
    ran = _run(tmp_path, DOCKER, "agent.yaml", script)
    first = _texts(ran["requests"][0])
    for part in ("You are the boss.", "a hook of root", "Today's date:", "Working directory:", "be nice"):
        assert part in first
    helper = [request for request in ran["requests"] if request["agent"] == "helper"]
    assert helper[0]["system"].startswith("You help.")
    assert helper[0]["tools"] == ["Bash"]
    assert "Today's date:" not in _texts(helper[0])
    assert "not you" in _texts(helper[1])
    # An agent the file does not define is under the hooks of the one that called it.
    assert ran["log"] == ["root", "helper", "root"]


@pytest.mark.parametrize(
    ("name", "text"), [("agent.yaml", DOCKER), ("elsewhere.yaml", DOCKER), ("agent.toml", NATIVE)]
)
def test_the_agent_that_was_chosen_runs_under_its_own_hooks_and_no_others(
    tmp_path: Path, name: str, text: str
):
    ran = _run(tmp_path, text, name, [CALL, {"text": "done"}], "--agent", "helper")
    assert ran["requests"][0]["system"].startswith("You help.")
    assert "a hook of root" not in _texts(ran["requests"][0])
    assert "not you" in _texts(ran["requests"][1])
    assert ran["log"] == ["helper"]


def test_a_native_definition_gives_each_agent_its_own_tools_hooks_and_flags(tmp_path: Path):
    script = [
        CALL,
        _ask("helper"),
        CALL,
        {"text": "no"},
        _ask("general-purpose"),
        CALL,
        {"text": "yes"},
        {"text": "end"},
    ]
    ran = _run(tmp_path, NATIVE, "agent.toml", script)
    root, helper, general = (
        next(request for request in ran["requests"] if request["agent"] == agent)
        for agent in (None, "helper", "general-purpose")
    )
    assert root["tools"] == ["Bash", "Agent"]
    assert general["tools"] == ["Bash"]
    assert "Working directory:" in _texts(root)
    assert "Today's date:" not in _texts(root)
    assert "Working directory:" in _texts(helper)
    assert "Today's date:" in _texts(helper)
    assert ran["log"] == ["root", "helper", "root"]


def test_a_tool_that_does_not_exist_is_told(tmp_path: Path):
    text = NATIVE.replace('tools = ["Bash", "Agent"]', 'tools = ["Bsah", "mcp__later__x"]')
    ran = _run(tmp_path, text, "agent.toml", [{"text": "done"}])
    assert ran["requests"][0]["tools"] == []
    assert [notice["text"] for notice in ran["notices"]] == ["unknown tool 'Bsah'; did you mean Bash?"]


def test_a_definition_with_a_wrong_field_ends_with_a_message_and_no_session(tmp_path: Path):
    (tmp_path / "agent.yaml").write_text("agents:\n  root:\n    modle: x\n")
    ran = run_cli(["agent", "--json", "go", "--definition", "agent.yaml"], tmp_path, tmp_path)
    assert ran.status == 1
    assert "agent.yaml:3: error: unknown field 'modle'; did you mean 'model'?" in ran.stderr
    assert "Traceback" not in ran.stderr
