"""Define the tools and resources of `hookline mcp`. Each runs a command of Hookline, so both say the same."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Final

import anyio.to_thread
from mcp.server.mcpserver import MCPServer
from mcp_types import ToolAnnotations
from pydantic import BaseModel, Field

from hookline import __version__

_INSTRUCTIONS: Final = """Hookline runs hooks of AI agents. To write a guard: look up the event (resource \
hookline://events/NAME), propose it with write_guard and lines that it must stop and must let pass, correct it until \
every line is right, then show the user the file and the command that adds it. Nothing here changes a file."""
#: Characters of an answer; the model pays for each.
_LONGEST: Final = 60_000
_SECONDS: Final = 60
_READS: Final = ToolAnnotations(read_only_hint=True, open_world_hint=False)
_RUNS: Final = ToolAnnotations(read_only_hint=False, open_world_hint=True)
_MOST_EXAMPLES: Final = 20

Directory = Annotated[str, Field(description="the project's directory; empty: where the server was started")]


class Example(BaseModel):
    """A shell line, and what a guard must say about it."""

    line: str
    stopped: bool = Field(description="True: the guard must deny it or ask; False: it must let it pass")


class HooklineCommandError(Exception):
    """An error of a command, in its own words."""


async def _hookline(*words: str, cwd: str = "", home: str = "") -> str:
    """Run a command and return what it prints. Raises HooklineCommandError."""
    env: Mapping[str, str] = {**os.environ, **({"HOME": home} if home else {})}

    def run() -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-I", "-m", "hookline", *words],
            cwd=cwd or None,
            env=env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_SECONDS,
            check=False,
        )

    try:
        ran = await anyio.to_thread.run_sync(run)
    except (OSError, subprocess.TimeoutExpired) as problem:
        raise HooklineCommandError(f"hookline {words[0]} did not run: {problem}") from None
    if not ran.stdout.strip():
        raise HooklineCommandError(ran.stderr.strip()[-2000:] or f"hookline {words[0]} printed nothing")
    if len(ran.stdout) > _LONGEST:
        return f"{ran.stdout[:_LONGEST]}\n… cut after {_LONGEST:,} characters: ask for less"
    return ran.stdout


def _call(event: str, tool: str, arguments: Mapping[str, Any]) -> Sequence[str]:
    words = [f"{key}:={json.dumps(value)}" for key, value in arguments.items() if key.isidentifier()]
    return [event, *([tool] if tool else []), *words]


async def doctor(directory: Directory = "") -> str:
    """Find every hook of every agent here, where Hookline is installed, and what is wrong, with fixes."""
    return await _hookline("doctor", "--json", cwd=directory)


async def explain(
    event: str, tool: str = "", arguments: dict[str, Any] | None = None, directory: Directory = ""
) -> str:
    """Say which hooks would run on an event, or a tool call, and why. Runs nothing."""
    return await _hookline("explain", *_call(event, tool, arguments or {}), "--json", cwd=directory)


async def log(since: str = "24h", hook: str = "", decision: str = "", limit: int = 30) -> str:
    """Show what hooks did: `since` such as 2h or 7d; `decision`: block, ask, allow, pass or would_block."""
    words = ["--since", since, "--limit", str(max(limit, 1))]
    words += ["--hook", hook] if hook else []
    words += ["--decision", decision] if decision else []
    return await _hookline("log", *words, "--json")


async def guards(directory: Directory = "") -> str:
    """List the guards in Hookline's own files here, with their decisions."""
    return await _hookline("guard", "list", "--json", cwd=directory)


async def write_guard(name: str, rule: str, examples: list[Example]) -> str:
    """Propose a guard and test it on examples. It is not added: the answer has the file and the command.

    `rule` is deny, ask or allow and a tool call, such as `deny Bash(terraform destroy *)`, or a built-in guard,
    such as `deny force-push`.
    """
    with tempfile.TemporaryDirectory(prefix="hookline-") as scratch:
        return await _proposal(Path(scratch), name, rule, examples[:_MOST_EXAMPLES])


async def fire(
    event: str, tool: str = "", arguments: dict[str, Any] | None = None, directory: Directory = ""
) -> str:
    """Run the real hooks on one event, and say what each decided."""
    return await _hookline("fire", *_call(event, tool, arguments or {}), "--json", cwd=directory)


async def events() -> str:
    """List all events: when each fires, and what hooks may do there."""
    return await _hookline("events", "--json")


async def event(name: str) -> str:
    """Describe one event: payload, answers, and the names that agents have for it."""
    return await _hookline("events", name, "--json")


async def format_of(dialect: str) -> str:
    """Describe the events of an agent's format, in its own words."""
    return await _hookline("events", "--dialect", dialect, "--json")


def build_server(*, may_fire: bool) -> MCPServer[Any]:
    """Build the server; `may_fire` adds the tool that runs hooks for real."""
    server: MCPServer[Any] = MCPServer("hookline", instructions=_INSTRUCTIONS, version=__version__)
    for tool in (doctor, explain, log, guards, write_guard):
        server.add_tool(tool, annotations=_READS)
    if may_fire:
        server.add_tool(fire, annotations=_RUNS)
    for address, resource in (
        ("hookline://events", events),
        ("hookline://events/{name}", event),
        ("hookline://formats/{dialect}", format_of),
    ):
        server.resource(address, mime_type="application/json")(resource)
    return server


async def _proposal(scratch: Path, name: str, rule: str, examples: Sequence[Example]) -> str:
    """Add the guard to an empty project with an empty home, test it there, and return its file."""
    project, home = scratch / "project", scratch / "home"
    project.mkdir()
    home.mkdir()
    added = json.loads(
        await _hookline("guard", "add", name, rule, "--json", cwd=str(project), home=str(home))
    )
    file = next(project.glob(".hookline/hooks.*"))
    results: list[dict[str, Any]] = []
    for each in examples:
        found = json.loads(
            await _hookline("guard", "test", each.line, "--json", cwd=str(project), home=str(home))
        )
        stops = found["decision"] in ("deny", "ask")
        results.append(
            {
                "line": each.line,
                "decision": found["decision"] or "pass",
                "reason": found["reason"],
                "right": stops == each.stopped,
            }
        )
    proposal = {
        "added": False,
        "all_right": all(each["right"] for each in results),
        "examples": results,
        "file": f".hookline/{file.name}",
        "text": file.read_text(),
        "problems": added.get("problems", []),
        "command": ["hookline", "guard", "add", name, rule],
        "next": "Show the user the text and the command. Only the user adds the guard.",
    }
    return json.dumps(proposal, indent=1)
