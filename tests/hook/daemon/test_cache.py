"""Check what calls to the daemon share: the hooks of a project, prepared once, until a file changes."""

import asyncio
import time
from pathlib import Path

import pytest

from hookline.engine.lanes import Lanes
from hookline.engine.memory import memory_of
from hookline.hook.call.deduplicate import now
from hookline.hook.daemon.cache import DaemonCache
from hookline.hook.daemon.calls import DaemonCall
from hookline.hook.daemon.handlers import SharedProcesses
from hookline.hook.daemon.protocol import RelayRequest
from tests.cli.commands.agent_calls import DENIES, Caller, decision, repository


async def _agree() -> None:
    """Let hooks start, as a relay does."""


def _answered(caller: Caller, cache: DaemonCache, *words: str, number: int = 0) -> tuple[str | None, Lanes]:
    """Make a call; returns its decision and the prepared hooks that answered."""

    async def answer() -> tuple[str | None, Lanes]:
        processes = SharedProcesses()
        payload = (
            f'{{"hook_event_name": "PreToolUse", "session_id": "s", "cwd": "{caller.project}", "tool_name": "Bash", '
            f'"tool_input": {{"command": "ls"}}, "tool_use_id": "{number}"}}'
        )
        env = {"HOME": str(caller.home), "OLDPWD": f"/{number}", "TRACEPARENT": f"00-{number:032x}-01"}
        request = RelayRequest(
            "", str(caller.project), ("hook", "--dialect", "claude-code", *words), env, payload.encode()
        )
        call = DaemonCall(cache, processes, request, _agree, now)
        try:
            return decision(await call.call.answer(request.input)), memory_of(call.engine).store.lanes.get(
                "PreToolUse", ()
            )
        finally:
            await call.close()
            await processes.close_all()

    return asyncio.run(answer())


def test_calls_of_a_project_share_its_prepared_hooks_until_a_file_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    caller, cache = Caller(tmp_path, monkeypatch), DaemonCache()
    repository(caller.project)
    file = caller.write(".hookline/hooks.toml", DENIES)
    time.sleep(0.12)  # what changed just now is not kept
    first, second = (_answered(caller, cache, number=number) for number in (1, 2))
    assert first[0] == second[0] == "deny"
    assert first[1] is second[1]
    assert _answered(caller, cache, "--strict", number=3)[1] is not first[1]
    file.write_text("")
    # The session remembers that a guard is gone, and asks.
    assert _answered(caller, cache, number=4) == ("ask", ())
