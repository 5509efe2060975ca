"""Plays a recorded case of Codex: its files and scripts, with real processes, and the payloads of its run."""

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from hookline import Engine, Outcome
from hookline.dialects.codex import dialect
from hookline.engine.background import LateMessage
from hookline.extending import Run, standard_handlers
from hookline.handlers.mcp_tool import McpReply, McpToolHandler
from tests.dialects.codex.hooks import config_toml, states
from tests.dialects.hooked_agent import File, read_hooks
from tests.recorded import Case

_CWD = "/home/user/project"


class Played(Struct, frozen=True):
    outcomes: tuple[Outcome, ...]
    runs: tuple[Run, ...]
    late: tuple[LateMessage, ...]
    #: What a script left behind.
    side: str | None
    texts: tuple[str, ...]


class Mini:
    """The server of the recordings: it says what it was given."""

    async def call_tool(self, server: str, tool: str, arguments: Mapping[str, Any]) -> McpReply:
        assert (server, tool) == ("mini", "echo")
        return McpReply(f"echo:{json.dumps(arguments)}")


def play_case(case: Case, directory: Path) -> Played:
    return asyncio.run(_play(case, directory))


async def _play(case: Case, directory: Path) -> Played:
    for name, text in case["scripts"].items():
        left = text.replace("$HOOK_LOG", str(directory / "log"))
        (directory / name).write_text(f"#!/bin/sh\nP=$(cat)\n{left}\n")
        (directory / name).chmod(0o755)
    handlers = {**standard_handlers(), "mcp_tool": McpToolHandler(Mini())}
    agent = dialect()
    engine = Engine(read_hooks(agent, _files(case, directory), handlers).hooks, handlers=handlers)
    runs: list[Run] = []
    engine.journal.subscribe(runs.append)
    session = engine.session("recorded")
    session.tools = agent.own_tools
    outcomes: list[Outcome] = []
    for payload in case["payloads"]:
        parsed = agent.wire.parse(payload)
        session.info = replace(parsed.info, cwd=str(directory))
        outcomes.append(await session.dispatch(parsed.event, parsed.payload))
    await engine.drain(30)
    late = session.inbox.take_all()
    side = await _side(directory / "log.shell", case)
    await engine.close()
    texts = [text for outcome in outcomes for text in outcome.context] + [each.text for each in late]
    received = tuple(text.replace(str(directory), _CWD) for text in texts)
    return Played(tuple(outcomes), tuple(runs), tuple(late), side, received)


def _files(case: Case, directory: Path) -> list[File]:
    """The file of the case. Most were run with a flag that takes every hook for trusted, as a file that is named."""
    options, config = (
        case.get("options", {}),
        json.loads(json.dumps(case["config"]).replace("<TMP>", str(directory))),
    )
    user, text = str(directory / "config.toml"), json.dumps(config)
    file = str(directory / "ws/.codex/hooks.json")
    if options.get("project_level") == "untrusted":
        top = f'[projects.{json.dumps(str(directory / "ws"))}]\ntrust_level = "untrusted"\n'
        return [(user, "user", top + config_toml(states(file, config["hooks"]))), (file, "project", text)]
    if options.get("trust") == "ok":
        return [(user, "user", config_toml(states(file, config["hooks"]))), (file, "project", text)]
    if "features" in options:
        return [(user, "user", f"[features]\n{options['features']}\n"), (file, "flag", text)]
    return [(file, "flag", text)]


async def _side(file: Path, case: Case) -> str | None:
    """Return what a process of the hook wrote, which may outlive the hook."""
    for _ in range(100 if case["expect"].get("side") else 1):
        if file.exists():
            return file.read_text().strip()
        await asyncio.sleep(0.05)
    return None
