"""Sessions with the small server of this folder."""

import asyncio
import json
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from tests.agent.scripted_session import ScriptedSession

SERVER = str(Path(__file__).with_name("server.py"))


def entry(*words: str, **more: Any) -> Mapping[str, Any]:
    """An entry of `.mcp.json`; the words say how the server misbehaves."""
    return {"command": sys.executable, "args": [SERVER, *words], **more}


def configure(place: Path, **servers: Mapping[str, Any]) -> None:
    project = place / "home" / "project"
    project.mkdir(parents=True, exist_ok=True)
    (project / ".mcp.json").write_text(json.dumps({"mcpServers": servers}))


def session_with(place: Path, *script: Mapping[str, Any], **more: Any) -> ScriptedSession:
    """A session whose calls of servers need no permission, and that waits for servers as long as it takes."""
    more.setdefault("allow", ("mcp__*",))
    made = ScriptedSession(place, script, **more)
    made.servers.first_wait = 60
    return made


def alive(pid: int) -> bool:
    """Zombies are not: whoever adopted them has not looked yet."""
    try:
        status = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
    return status.rpartition(")")[2].split()[0] != "Z"


async def until(holds: Callable[[], bool], seconds: float = 60.0) -> None:
    end = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > end:
            raise AssertionError("it never came to be")
        await asyncio.sleep(0.02)
