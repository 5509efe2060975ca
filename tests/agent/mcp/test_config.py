"""Test where servers are configured, and every mistake in an entry with its line."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from hookline.agent.mcp.config import CALL_SECONDS, ServersFound, find_servers
from hookline.agent.settings import read_settings
from hookline.permissions.rules import RuleReader


class Files:
    def __init__(self, directory: Path) -> None:
        self.home = directory / "home"
        self.project = self.home / "work" / "project"
        self.project.mkdir(parents=True)
        (self.project / ".git").mkdir()
        self.env = {"HOME": str(self.home), "SET": "value", "EMPTY": ""}

    def write(self, name: str, text: str) -> None:
        file = self.home / name[2:] if name.startswith("~/") else self.project / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def servers(self, name: str, **servers: Mapping[str, Any]) -> None:
        self.write(name, json.dumps({"mcpServers": servers}, indent=1))

    def find(self, below: str = "") -> ServersFound:
        cwd = self.project / below
        cwd.mkdir(exist_ok=True)
        settings = read_settings(str(cwd), self.env, RuleReader())
        return find_servers(str(cwd), self.env, settings.documents)


@pytest.fixture
def files(tmp_path: Path) -> Files:
    return Files(tmp_path)


def test_every_place_is_read_and_the_nearer_one_wins(files: Files):
    files.servers("~/.config/hookline/mcp.json", a={"command": "user"}, b={"command": "user"})
    files.servers(".mcp.json", b={"command": "project"}, c={"command": "project"}, d={"command": "project"})
    files.servers("below/.mcp.json", d={"command": "below"})
    files.write(".hookline/settings.toml", '[mcp_servers.c]\ncommand = "own"\n')
    files.write(".hookline/settings.local.toml", '[mcp_servers.e]\ncommand = "local"\n')
    found = {spec.name: (spec.source, spec.command[0]) for spec in files.find("below").specs}
    assert found == {
        "a": ("user", "user"),
        "b": ("project", "project"),
        "c": ("project", "own"),
        "d": ("project", "below"),
        "e": ("local", "local"),
    }


def test_tables_of_other_agents_are_not_ours(files: Files):
    files.servers(".claude/settings.json", a={"command": "x"})
    assert files.find() == ServersFound()


def test_an_entry_may_use_variables_with_and_without_a_default(files: Files):
    files.servers(
        ".mcp.json",
        a={"command": "${SET}/run", "args": ["${NOPE:-x}", "${EMPTY:-y}"], "env": {"K": "${SET}"}},
        b={"url": "https://${SET}.example/mcp", "headers": {"Authorization": "Bearer ${SET}"}},
    )
    a, b = files.find().specs
    assert a.command == ("value/run", "x", "y")
    assert a.env == {"K": "value"}
    assert (b.kind, b.url, b.headers) == (
        "http",
        "https://value.example/mcp",
        {"Authorization": "Bearer value"},
    )


def test_a_variable_that_is_not_set_keeps_the_server_out_and_is_named(files: Files):
    files.servers(".mcp.json", a={"command": "x", "env": {"K": "${NOPE}"}}, b={"command": "y"})
    found = files.find()
    assert [spec.name for spec in found.specs] == ["b"]
    (said,) = found.diagnostics
    assert "the MCP server a is not started: NOPE is not set" in said.message
    assert said.where.line == 3


def test_a_name_that_would_write_lines_of_its_own_keeps_the_server_out(files: Files):
    files.servers(
        ".mcp.json", **{"notes\n! all is well\x1b[2J": {"command": "sh"}, "notes": {"command": "sh"}}
    )
    found = files.find()
    assert [spec.name for spec in found.specs] == ["notes"]
    (said,) = found.diagnostics
    assert said.message.endswith("the server is not used: notes ! all is well")


def test_times_are_milliseconds_where_other_agents_read_too_and_seconds_in_our_own_files(files: Files):
    files.servers(".mcp.json", a={"command": "x", "timeout": 5000}, b={"command": "x", "timeout": 0})
    files.write(".hookline/settings.toml", '[mcp_servers.c]\ncommand = "x"\ntimeout = 5\n')
    found = {spec.name: spec.timeout for spec in files.find().specs}
    assert found == {"a": 5.0, "b": CALL_SECONDS, "c": 5.0}


def test_a_server_that_is_switched_off_hides_the_one_of_a_weaker_file(files: Files):
    files.servers("~/.config/hookline/mcp.json", a={"command": "user"})
    files.servers(".mcp.json", a={"command": "x", "disabled": True})
    assert files.find() == ServersFound()


@pytest.mark.parametrize(
    ("given", "says", "line"),
    [
        ([], "the MCP server bad is not a table", 3),
        ({}, "the MCP server bad needs a command (or a url)", 3),
        ({"command": 3}, "command: Expected `str | null`, got `int`", 4),
        ({"command": "x", "args": "y"}, "args: Expected `array`, got `str`", 5),
        ({"command": "x", "env": {"A": []}}, "env: Expected `str`, got `array`", 5),
        ({"type": "carrier-pigeon", "command": "x"}, "unknown type 'carrier-pigeon'", 4),
        ({"type": "http"}, "needs a url that begins with http:// or https://", 3),
        ({"type": "sse", "url": "ftp://x"}, "needs a url that begins with http:// or https://", 3),
    ],
)
def test_a_bad_entry_is_told_with_its_line_and_hides_no_other(files: Files, given: Any, says: str, line: int):
    files.servers(".mcp.json", bad=given, good={"command": "x"})
    found = files.find()
    assert [spec.name for spec in found.specs] == ["good"]
    (said,) = found.diagnostics
    assert said.severity == "error"
    assert says in said.message
    assert said.where.line == line


def test_a_field_nobody_knows_is_left_aside_and_a_misspelt_one_is_a_warning(files: Files):
    files.servers(".mcp.json", a={"command": "x", "autoApprove": ["y"], "comand": "z"})
    found = files.find()
    assert len(found.specs) == 1
    assert {(said.severity, said.message) for said in found.diagnostics} == {
        ("info", "the MCP server a: 'autoApprove' is not supported and was ignored"),
        ("warning", "the MCP server a: 'comand' is not supported; did you mean 'command'?"),
    }


@pytest.mark.parametrize("text", ["{", "[]", "nonsense \x00", '{"mcpServers": 3}'])
def test_a_file_that_makes_no_sense_gives_no_server_and_no_error_that_escapes(files: Files, text: str):
    files.write(".mcp.json", text)
    found = files.find()
    assert found.specs == ()
    assert found.diagnostics or text == "[]"


def test_how_a_server_is_reached_is_told_without_its_secrets(files: Files):
    files.servers(
        ".mcp.json",
        a={"url": "https://h/mcp?key=secret"},
        b={"command": "x", "args": ["y"], "env": {"K": "secret"}},
    )
    a, b = files.find().specs
    assert (a.reached, b.reached) == ("https://h/mcp", "x y")
