"""Test that the arguments of a tool are declared once: schema, objections and run agree."""

from pathlib import Path
from typing import Any

import msgspec

from hookline.agent.tools.base import problem_of, schema_of
from tests.agent.tools.tool_runner import ToolRunner, run_tools
from tests.every import every


class Arguments(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    command: str
    timeout: int = 5
    quiet: bool = msgspec.field(default=False, name="-q")


@every(
    ("given", "said"),
    [
        ({"command": "x"}, None),
        ({"command": "x", "timeout": 7.0, "-q": True}, None),
        ({}, "command is missing."),
        ({"command": 3}, "command: expected `str`, got `int`."),
        ({"command": "x", "timeout": 1.5}, "timeout: expected `int`, got `float`."),
        ({"command": "x", "timeout": True}, "timeout: expected `int`, got `bool`."),
        ({"command": None}, "command: expected `str`, got `null`."),
        ({"command": "x", "-z": 1}, "unknown argument '-z'."),
        (
            {"comand": "x", "-q": 1},
            (
                "command is missing; unknown argument 'comand' (did you mean 'command'?); "
                "-q: expected `bool`, got `int`."
            ),
        ),
    ],
)
def test_every_mistake_is_named(given: dict[str, Any], said: str | None) -> None:
    assert problem_of(Arguments, given) == said


def test_a_schema_stands_alone() -> None:
    assert schema_of(Arguments) == {
        "type": "object",
        "properties": {
            "command": {"type": "string"},
            "timeout": {"type": "integer", "default": 5},
            "-q": {"type": "boolean", "default": False},
        },
        "required": ["command"],
        "additionalProperties": False,
    }


def test_the_core_tools_are_these(tmp_path: Path) -> None:
    tools = ToolRunner(tmp_path).tools
    assert {name: tool.category for name, tool in tools.items()} == {
        "Bash": "run",
        "BashOutput": "read",
        "KillTask": "read",
        "Read": "read",
        "Write": "write",
        "Edit": "write",
        "Glob": "read",
        "Grep": "read",
    }


def test_every_core_tool_describes_itself_and_its_arguments(tmp_path: Path) -> None:
    for tool in ToolRunner(tmp_path).tools.values():
        assert tool.description.endswith(".")
        assert b"$ref" not in msgspec.json.encode(tool.schema)
        for name, schema in tool.schema["properties"].items():
            assert "description" in schema or "enum" in schema, (tool.name, name)


def test_a_number_sent_as_a_float_is_taken(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("1\n2\n3\n")

    async def action(runner: ToolRunner) -> str:
        return (await runner.call("Read", file_path="a", offset=2.0, limit=1.0)).text

    assert run_tools(tmp_path, action).startswith("2\t2\n")
