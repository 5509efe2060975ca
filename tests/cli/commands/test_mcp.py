"""Test `hookline mcp` with the real client over stdio: every tool, and that nothing is changed."""

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

from mcp import Client, StdioServerParameters

from tests.cli.run_cli import clean_env, run_cli


def _files(home: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in sorted(home.rglob("*")) if path.is_file()}


async def _text(client: Client, tool: str, **arguments: Any) -> str:
    answer = await client.call_tool(tool, arguments)
    assert not answer.is_error, answer
    return "".join(getattr(part, "text", "") for part in answer.content)


def _server(home: Path, cwd: Path) -> StdioServerParameters:
    words = ["-I", "-m", "hookline", "mcp"]
    return StdioServerParameters(command=sys.executable, args=words, env=clean_env(home), cwd=str(cwd))


def test_an_agent_writes_a_guard_and_tests_it_and_only_a_person_adds_it(tmp_path: Path) -> None:
    home, project = tmp_path / "home", tmp_path / "project"
    home.mkdir()
    project.mkdir()
    before = _files(tmp_path)

    async def main() -> dict[str, Any]:
        async with Client(_server(home, project)) as client:
            names = {tool.name for tool in (await client.list_tools()).tools}
            assert names == {"doctor", "explain", "log", "guards", "write_guard"}, (
                "fire needs the user's setting"
            )
            lines = [
                {"line": "terraform -chdir=prod destroy -auto-approve", "stopped": True},
                {"line": "cd prod && terraform destroy", "stopped": True},
                {"line": "terraform plan", "stopped": False},
                {"line": "terraform apply", "stopped": True},
            ]
            text = await _text(
                client,
                "write_guard",
                name="no destroy",
                rule="deny Bash(terraform * destroy*)",
                examples=lines,
            )
            assert "git push --force" not in text
            event = await client.read_resource("hookline://events/PreToolUse")
            assert "tool_name" in getattr(event.contents[0], "text", "")
            assert json.loads(await _text(client, "doctor"))["cwd"] == str(project)
            assert json.loads(await _text(client, "log"))["runs"] == []
            return json.loads(text)

    proposal = asyncio.run(main())
    assert [each["right"] for each in proposal["examples"]][2:] == [True, False], (
        "the last one is not covered"
    )
    assert not proposal["all_right"]
    assert "no destroy" in proposal["text"]
    assert _files(tmp_path) == before, "a proposal changes nothing"
    # A person runs the command of the proposal, and the guard decides as the proposal said.
    added = run_cli([*proposal["command"][1:], "--json"], project, home)
    assert added.status == 0, added
    assert (project / proposal["file"]).read_text() == proposal["text"]
    for each in proposal["examples"]:
        found = json.loads(run_cli(["guard", "test", each["line"], "--json"], project, home).stdout)
        assert (found["decision"] or "pass") == each["decision"], each


def test_fire_is_there_only_with_the_user_s_own_setting(tmp_path: Path) -> None:
    home, project = tmp_path / "home", tmp_path / "project"
    (project / ".hookline").mkdir(parents=True)
    (project / ".hookline/settings.toml").write_text("mcp_fire = true\n")
    home.mkdir()

    async def tools() -> set[str]:
        async with Client(_server(home, project)) as client:
            return {tool.name for tool in (await client.list_tools()).tools}

    assert "fire" not in asyncio.run(tools()), "a project cannot allow it"
    settings = home / ".config/hookline/settings.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text("mcp_fire = true\n")
    assert "fire" in asyncio.run(tools())
