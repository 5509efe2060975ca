"""`hookline install --as-plugin`: Hookline as one directory among an agent's plugins."""

import json
import subprocess
from pathlib import Path

import pytest

from hookline.config.install.self_calls import entry_call
from tests.agents import AGENTS, OTHERS
from tests.cli.run_cli import Workspace, clean_env, run_cli

PLUGINS = {
    "claude-code": (".claude/skills/hookline", ".claude-plugin/plugin.json", ".mcp.json"),
    "gemini-cli": (".gemini/extensions/hookline-plugin", "gemini-extension.json", "gemini-extension.json"),
}


def tree(directory: Path) -> set[str]:
    return {each.relative_to(directory).as_posix() for each in directory.rglob("*")}


@pytest.mark.parametrize("agent", PLUGINS)
def test_a_plugin_comes_and_goes_as_one_directory(where: Workspace, agent: str) -> None:
    directory, manifest, servers = PLUGINS[agent]
    (where.home / directory.partition("/")[0]).mkdir()
    before = tree(where.home)
    root = where.home / directory
    ran = run_cli(["install", agent, "--as-plugin", "--yes"], where.project, where.home)
    assert (ran.status, ran.stderr) == (0, "")
    entries = json.loads((root / "hooks" / "hooks.json").read_text())["hooks"]
    lines = [hook["command"] for groups in entries.values() for group in groups for hook in group["hooks"]]
    assert lines
    for line in lines:
        call = entry_call(line)
        assert call is not None
        assert Path(call.program[0]).is_absolute(), "a name found by PATH can be shadowed by a project"
    assert json.loads((root / manifest).read_text())["name"].startswith("hookline")
    server = json.loads((root / servers).read_text())["mcpServers"]["hookline"]
    assert Path(server["command"]).is_absolute()
    shown = subprocess.run(
        [server["command"], *server["args"], "--help"], env=clean_env(where.home), capture_output=True, text=True,
        check=True,
    )  # fmt: skip
    assert "MCP server" in shown.stdout
    assert (root / "skills" / "write-hooks" / "SKILL.md").read_text().startswith("---\nname: write-hooks\n")
    again = run_cli(["install", agent, "--as-plugin", "--yes"], where.project, where.home)
    assert "already installed as a plugin of yours" in again.stdout
    shown_by_doctor = run_cli(["doctor"], where.project, where.home).stdout
    assert "as a plugin of yours: ~/" + directory in shown_by_doctor
    gone = run_cli(["uninstall", "--yes"], where.project, where.home)
    assert (gone.status, gone.stderr) == (0, "")
    assert {each for each in tree(where.home) - before if not each.startswith(".local")} == set()


def test_a_call_through_the_entries_of_the_plugin_is_decided(where: Workspace) -> None:
    (where.home / ".claude").mkdir()
    run_cli(["install", "claude-code", "--as-plugin", "--yes"], where.project, where.home)
    run_cli(["guard", "add", "force-push", "--user"], where.project, where.home)
    entries = json.loads((where.home / ".claude/skills/hookline/hooks/hooks.json").read_text())["hooks"]
    line = entries["PreToolUse"][0]["hooks"][0]["command"]
    payload = {
        "session_id": "s", "hook_event_name": "PreToolUse", "cwd": str(where.project), "tool_name": "Bash",
        "tool_input": {"command": "git push -uf"}, "tool_use_id": "t",
    }  # fmt: skip
    said = subprocess.run(
        ["sh", "-c", line], input=json.dumps(payload), env=clean_env(where.home, {"HOOKLINE_DAEMON": "off"}),
        capture_output=True, text=True, check=False, cwd=where.project,
    )  # fmt: skip
    assert '"permissionDecision":"deny"' in said.stdout, said


def test_an_agent_without_plugins_says_so(where: Workspace) -> None:
    agent = next(name for name in OTHERS if name not in PLUGINS and AGENTS[name].user_file)
    ran = run_cli(["install", agent, "--as-plugin", "--yes"], where.project, where.home)
    assert ran.status == 1
    assert "has no plugins that Hookline can write" in ran.stdout + ran.stderr
