"""Sessions with the small server of this folder."""

import json
import sys
from collections.abc import Mapping
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
