"""Codex's hooks given as data: its files, the user's trust in them, and an agent that runs them."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hookline.dialects.codex import dialect
from hookline.dialects.codex.trust import state_key, trusted_hash
from hookline.extending import LoadedHooks
from tests.dialects.hooked_agent import HookedAgent, read_hooks

FILE, CONFIG, PROJECT = "/u/.codex/hooks.json", "/u/.codex/config.toml", "/p/.codex/hooks.json"
Hooks = Mapping[str, Any]


def entry(command: str = "true", **more: Any) -> dict[str, Any]:
    return {"type": "command", "command": command, **more}


def group(*entries: Mapping[str, Any], matcher: str | None = None) -> dict[str, Any]:
    return {**({} if matcher is None else {"matcher": matcher}), "hooks": list(entries)}


def text_of(hooks: Hooks, **more: Any) -> str:
    return json.dumps({**more, "hooks": hooks}, indent=1)


def agent_with(event: str, *entries: Mapping[str, Any], matcher: str | None = None) -> HookedAgent:
    """Hooks in a file that the caller names, which count as trusted."""
    return HookedAgent(
        dialect(), [(FILE, "flag", text_of({event: [group(*entries, matcher=matcher)]}))], cwd="/tmp"
    )


def read(*files: tuple[str, Any, str]) -> LoadedHooks:
    return read_hooks(dialect(), files)


def states(file: str, hooks: Hooks) -> dict[str, dict[str, Any]]:
    """Return what Codex writes into the user's config.toml when the user trusts every hook of a file."""
    return {
        state_key(file, event, at, index): {"trusted_hash": trusted_hash(event, each.get("matcher"), one)}
        for event, groups in hooks.items()
        for at, each in enumerate(groups)
        for index, one in enumerate(each["hooks"])
    }


def config_toml(trusted: Mapping[str, Mapping[str, Any]], top: str = "") -> str:
    """JSON's texts and words are TOML as well."""
    lines = [top]
    for key, state in trusted.items():
        lines.append(f"[hooks.state.{json.dumps(key)}]")
        lines += [f"{name} = {json.dumps(value)}" for name, value in state.items()]
    return "\n".join(lines) + "\n"


def trust_in_codex(home: Path, file: Path) -> None:
    """The user trusts each hook of the file, as Codex has it in the user's own configuration."""
    trusted = states(str(file), json.loads(file.read_text())["hooks"])
    (home / ".codex").mkdir(parents=True, exist_ok=True)
    (home / ".codex/config.toml").write_text(config_toml(trusted))
