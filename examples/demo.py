"""Three kinds of hooks decide on a few tool calls: a Python function, a shell command, an HTTP endpoint.

Nothing here needs an account or a key. The HTTP endpoint is a server this script starts on loopback.
"""

import asyncio
import json
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread
from typing import Any

from hookline import Engine, Outcome, rewrite
from hookline.events import PRE_TOOL_USE, ToolCall
from hookline.model.run import Run

CONFIG = """\
# A shell hook: it reads the call as JSON on stdin; exit code 2 stops it, stderr says why.
[[hooks.PreToolUse]]
matcher = "Bash"
[[hooks.PreToolUse.hooks]]
name = "no secrets (shell)"
if = "Bash(cat *)"
command = '''
if grep -q "[.]env"; then echo "secrets stay where they are" >&2; exit 2; fi
'''
timeout = 10

# An HTTP hook: the same JSON is posted to a server of the team.
[[hooks.PreToolUse]]
matcher = "Bash|Write"
[[hooks.PreToolUse.hooks]]
name = "team policy (http)"
type = "http"
url = "{url}"
timeout = 10
"""

CALLS = [
    ("list files", ToolCall(tool_name="Bash", tool_input={"command": "ls -la"})),
    ("read a secret", ToolCall(tool_name="Bash", tool_input={"command": "cd app && cat .env"})),
    ("push to main", ToolCall(tool_name="Bash", tool_input={"command": "git push origin main"})),
    ("install a package", ToolCall(tool_name="Bash", tool_input={"command": "pip install requests"})),
]


class TeamPolicy(BaseHTTPRequestHandler):
    """The team's server: nobody pushes to main."""

    def do_POST(self) -> None:
        call = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        answer: dict[str, Any] = {}
        if "push origin main" in call["tool_input"].get("command", ""):
            answer = {
                "hookSpecificOutput": {
                    "hookEventName": "PreToolUse",
                    "permissionDecision": "deny",
                    "permissionDecisionReason": "open a pull request instead",
                }
            }
        body = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 the name http.server wants
        pass


def offline_pip(call: ToolCall) -> Outcome | None:
    """A Python hook: it changes what it sees."""
    command: str = call.tool_input["command"]
    return rewrite(command=f"{command} --no-index") if command.startswith("pip install") else None


async def play(url: str, project: Path) -> None:
    (project / ".hookline").mkdir()
    (project / ".hookline" / "hooks.toml").write_text(CONFIG.format(url=url))
    engine = Engine()
    engine.add(PRE_TOOL_USE, offline_pip, "Bash", name="offline pip (python)", rewrites=True)
    for diagnostic in engine.load(str(project)).diagnostics:
        print(diagnostic)
    session = engine.session("demo", cwd=str(project))
    runs: list[Run] = []
    engine.journal.subscribe(runs.append)
    for wish, call in CALLS:
        runs.clear()
        outcome = await session.dispatch(PRE_TOOL_USE, call)
        show(wish, call, runs, outcome)
    await engine.close()


def show(wish: str, call: ToolCall, runs: list[Run], outcome: Outcome) -> None:
    print(f"\nThe agent wants to {wish}:  {call.tool_input['command']}")
    for run in runs:
        said = f"says no: {run.reason}" if run.decision == "deny" else "has no objection"
        again = ", asked again about the new command" if run.recheck else ""
        print(f"    {run.hook:<22} {said}  ({run.duration_ms:.1f} ms{again})")
    if outcome.blocked:
        print(f"  -> stopped. The model is told: {outcome.reason}")
    elif outcome.updated_input is not None:
        print(f"  -> goes ahead, but as:  {outcome.updated_input['command']}")
    else:
        print("  -> goes ahead.")


def main() -> None:
    print("Hookline demo: three hooks look at every command before it runs.")
    server = HTTPServer(("127.0.0.1", 0), TeamPolicy)
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        with TemporaryDirectory() as folder:
            asyncio.run(play(f"http://127.0.0.1:{server.server_port}/policy", Path(folder)))
    finally:
        server.shutdown()
        server.server_close()
    print(
        "\nNext: write .hookline/hooks.toml in a project and try `hookline fire PreToolUse Bash command=ls`."
    )


if __name__ == "__main__":
    main()
