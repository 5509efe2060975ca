"""The terminal agent with Hookline's own MCP server: the model writes a guard, tests it, and reads the log."""

import json
import sys
from typing import Any

from tests.cli.run_cli import Workspace, clean_env, run_cli, workspace

RULE = "deny Bash(terraform * destroy*)"
EXAMPLES = [
    {"line": "cd prod && terraform -chdir=x destroy", "stopped": True},
    {"line": "terraform plan", "stopped": False},
]


def test_a_model_writes_a_guard_tests_it_and_reads_the_log() -> None:
    with workspace() as where:
        _play(where)


def _play(where: Workspace) -> None:
    server = {
        "command": sys.executable,
        "args": ["-I", "-m", "hookline", "mcp"],
        "env": clean_env(where.home),
    }
    where.write(".mcp.json", json.dumps({"mcpServers": {"hookline": server}}))
    where.write(
        ".hookline/hooks.toml",
        '[[hooks.PreToolUse]]\nmatcher = "Bash"\nhooks = [{ name = "seen", command = "true" }]\n',
    )
    written = {"name": "no destroy", "rule": RULE, "examples": EXAMPLES}
    calls: list[dict[str, Any]] = [
        {"name": "mcp__hookline__guards", "input": {}},
        {"name": "mcp__hookline__write_guard", "input": written},
        {"name": "Bash", "input": {"command": "echo from the agent"}},
        {"name": "mcp__hookline__log", "input": {}},
    ]
    script = [*({"tool_calls": [call]} for call in calls), {"text": "ready"}]
    where.write("script.json", json.dumps(script))
    files = {path: path.read_bytes() for path in where.project.rglob("*") if path.is_file()}
    ran = run_cli(
        ["agent", "--print", "write me a guard", "--model", "scripted:script.json", "--json", "--trust",
         "--allow", "mcp__hookline__*", "--allow", "Bash(echo *)"],
        where.project, where.home,
    )  # fmt: skip
    assert ran.status == 0, ran.stderr
    said = json.loads(ran.stdout)
    assert (said["status"], said["result"]) == ("completed", "ready")
    texts = [message["text"] for message in said["requests"][-1]["messages"] if message["role"] == "tool"]
    assert len(texts) == len(calls)
    proposed = json.loads(texts[1])
    assert proposed["all_right"], proposed
    assert RULE in texts[1]
    assert "seen" in texts[3], "the log has the run of this session"
    assert {path: path.read_bytes() for path in files} == files, "only a person adds a guard"
