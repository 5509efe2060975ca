"""Open sessions with the small server of this directory."""

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


def configure(directory: Path, **servers: Mapping[str, Any]) -> None:
    project = directory / "home" / "project"
    project.mkdir(parents=True, exist_ok=True)
    (project / ".mcp.json").write_text(json.dumps({"mcpServers": servers}))


def session_with(directory: Path, *script: Mapping[str, Any], **more: Any) -> ScriptedSession:
    """A session whose calls of servers need no permission, and that waits for servers as long as it takes."""
    more.setdefault("allow", ("mcp__*",))
    made = ScriptedSession(directory, script, **more)
    made.servers.first_wait = 60
    return made


def alive(pid: int) -> bool:
    """Return True for a live process; a zombie is not alive."""
    try:
        status = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
    return status.rpartition(")")[2].split()[0] != "Z"
