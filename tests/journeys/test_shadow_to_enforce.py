"""From guards in shadow mode to guards that hold in an agent, a pause, and back: every sentence is compared with what
the installed entry really does."""

import json
import subprocess
from pathlib import Path

from hookline import Engine
from hookline.config.pauses import GuardPauses
from hookline.guards import RECOMMENDED
from tests.cli.run_cli import Workspace, clean_env, run_cli

LINE = "cd app && git push -uf"


def command(where: Workspace, *words: str) -> str:
    """Return what the command says, in one line."""
    return " ".join(run_cli(list(words), where.project, where.home).stdout.split())


def entry(where: Workspace) -> str:
    settings = json.loads((where.home / ".claude/settings.json").read_text())
    return settings["hooks"]["PreToolUse"][0]["hooks"][0]["command"]


def is_denied(where: Workspace, number: int) -> bool:
    """Call the entry as Claude Code does."""
    payload = {
        "hook_event_name": "PreToolUse", "session_id": "s-1", "cwd": str(where.project), "tool_name": "Bash",
        "tool_input": {"command": LINE}, "tool_use_id": f"t-{number}",
    }  # fmt: skip
    ran = subprocess.run(
        ["sh", "-c", entry(where)], cwd=where.project, env=clean_env(where.home),
        input=json.dumps(payload).encode(), capture_output=True, check=False, timeout=60,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    if not ran.stdout.strip():
        return False
    answer = json.loads(ran.stdout)["hookSpecificOutput"]
    assert "hookline guard pause force-push" in answer["permissionDecisionReason"]
    return answer["permissionDecision"] == "deny"


def test_from_shadow_to_enforce_and_back(where: Workspace) -> None:
    assert "they run and are recorded, but stop nothing" in command(
        where, "guard", "add", "recommended", "--user", "--shadow"
    )
    (where.home / ".claude").mkdir()
    assert "installed: Claude Code" in command(where, "install", "claude-code", "--yes")

    assert not is_denied(where, 1)
    assert "1 would have blocked" in command(where, "log")
    assert "0 blocked" in command(where, "log")
    assert "these are in shadow mode and would have stopped it: force-push" in command(
        where, "guard", "test", LINE
    )

    assert command(where, "guard", "promote", "recommended", "--yes").count("promoted") == len(RECOMMENDED)
    assert is_denied(where, 2)
    said = command(where, "guard", "test", LINE)
    assert said.startswith("denied by force-push (~/.config/hookline/hooks.toml:")
    assert said.endswith("holds in: Claude Code")

    home = {"HOME": str(where.home)}
    loaded = Engine(env=home).load(where.project).hooks
    guard = next(hook for hook in loaded if hook.name == "force-push")
    assert Path(guard.where.file) == where.home / ".config/hookline/hooks.toml"
    GuardPauses(home).begin(guard, 600)
    assert not is_denied(where, 3)
    assert "these are paused and would have stopped it: force-push" in command(where, "guard", "test", LINE)
    totals = json.loads(command(where, "log", "--json", "--hook", "force-push", "--from", "claude-code"))[
        "totals"
    ]
    assert (totals["runs"], totals["blocked"], totals["would_have_blocked"]) == (3, 1, 2)
    assert "force-push" in command(where, "guard", "resume", "force-push")
    assert is_denied(where, 4)

    said = command(where, "guard", "off", "force-push")
    assert "Sessions here that began with it ask you at each call, until you run `hookline trust`." in said
    hashes = json.loads(run_cli(["trust", "--json"], where.project, where.home).stdout)["hashes"]
    command(where, "trust", "--yes", hashes)
    # Then they go on without it, and a guard that no session began with is nobody's business.
    command(where, "guard", "promote", "force-push", "--yes")
    assert "Sessions here" not in command(where, "guard", "off", "force-push")
    command(where, "guard", "promote", "force-push", "--yes")

    command(where, "uninstall", "claude-code", "--yes")
    assert "Claude Code: not installed last asked: " in command(where, "doctor")
    assert "Hookline is not installed there" in command(where, "guard", "test", LINE)
