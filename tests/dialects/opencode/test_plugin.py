"""Hookline's plugin in OpenCode: the real file, run by Node.js as OpenCode runs it."""

import json
import re
import shlex
import shutil
import socket
import socketserver
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Self

import pytest

from hookline.dialects.opencode.installer import plugin_text
from tests.cli.run_cli import run_cli
from tests.homes import at_home
from tests.hook.daemon.daemons import Daemons, command, hook_file
from tests.waiting import wait_until

pytestmark = pytest.mark.skipif(shutil.which("node") is None, reason="Node.js is not installed")

EVENTS = ("chat.message", "tool.execute.before", "tool.execute.after")


def says(event: str, **fields: Any) -> str:
    """The line of a hook that gives this answer."""
    return f"echo '{json.dumps({'hookSpecificOutput': {'hookEventName': event, **fields}})}'"


_ASKS = says("PreToolUse", permissionDecision="ask", permissionDecisionReason="sure?")
_CHANGES = says("PreToolUse", permissionDecision="allow", updatedInput={"command": "true"})
#: Answers by the text of a command: it denies, asks or rewrites.
HOOK = f"""case $(cat) in
*forbidden*) echo not that >&2; exit 2 ;;
*slowly*) {_ASKS} ;;
*change*) {_CHANGES} ;;
esac"""
PROMPTS = "case $(cat) in *password*) echo no passwords >&2; exit 2; esac"
#: Loads the plugin and plays calls, as OpenCode would.
DRIVER = """
const [file, directory, steps] = process.argv.slice(1)
const { Hookline } = await import(file)
const logged = []
const say = async ({ body }) => logged.push(body.message)
const client = { app: { log: say }, tui: { showToast: say } }
const hooks = await Hookline({ client, directory })
const results = []
for (const [event, input, output] of JSON.parse(steps)) {
  try {
    await hooks[event](input, output)
    results.push({ output })
  } catch (problem) {
    results.push({ error: problem.message })
  }
}
console.log(JSON.stringify({ results, logged }))
"""


class OpenCode:
    """A session of OpenCode with the plugin, as far as plugins see it."""

    def __init__(self, daemons: Daemons) -> None:
        self.daemons = daemons
        daemons.write(
            ".hookline/hooks.toml",
            hook_file(command(HOOK, "rewrites = true"))
            + hook_file(command(PROMPTS), event="UserPromptSubmit")
            + hook_file(command(says("PostToolUse", additionalContext="look twice")), event="PostToolUse"),
        )
        self.file = daemons.home / "hookline.mjs"
        self.install()

    def install(self, line: str = "") -> None:
        """Write the plugin; `line` instead of Hookline."""
        own = [sys.executable, "-P", "-m", "hookline"]
        lines = {
            event: line
            or shlex.join([*own, *at_home(["hook", "--dialect", "opencode", event], self.daemons.env)])
            for event in EVENTS
        }
        home = f"const HOME = {json.dumps(str(self.daemons.home))}"
        self.file.write_text(
            re.sub(r"^const HOME = .*$", lambda _: home, plugin_text(lines), flags=re.MULTILINE)
        )

    @property
    def address(self) -> Path:
        return self.daemons.home / ".local/state/hookline/daemon-http.json"

    def play(self, *steps: tuple[str, Mapping[str, Any], Mapping[str, Any]]) -> dict[str, Any]:
        ran = subprocess.run(
            ["node", "--input-type=module", "-e", DRIVER, str(self.file), str(self.daemons.project), json.dumps(steps)],
            env={**self.daemons.env, "HOOKLINE_DAEMON": "off"}, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert ran.returncode == 0, ran.stderr
        return json.loads(ran.stdout)

    def bash(self, *lines: str) -> list[Any]:
        """How each command ended: its arguments then, or the error that the model reads."""
        steps = [
            (
                "tool.execute.before",
                {"tool": "bash", "sessionID": "s", "callID": f"c{number}"},
                {"args": {"command": line, "description": "d"}},
            )
            for number, line in enumerate(lines)
        ]
        found = self.play(*steps)["results"]
        return [each.get("error") or each["output"]["args"] for each in found]


class _Between:
    """A server between the plugin and the daemon, which counts connections, and may end after its first answer."""

    def __init__(self, opencode: OpenCode, *, ends: bool = False) -> None:
        self.connections = 0
        self._file = opencode.address
        self._before = self._file.read_text()
        self._port = int(json.loads(self._before)["url"].split(":")[2].split("/")[0])
        between = self

        class Handler(socketserver.BaseRequestHandler):
            def handle(self) -> None:
                between.connections += 1
                with socket.create_connection(("127.0.0.1", between._port)) as daemon:
                    while asked := self.request.recv(1 << 16):
                        # The daemon knows its port by the header Host.
                        daemon.sendall(
                            asked.replace(f":{between.port}".encode(), f":{between._port}".encode())
                        )
                        answer = daemon.recv(1 << 16)
                        if ends:
                            between.end()
                        self.request.sendall(answer)
                        if ends:
                            return

        self._server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.port = self._server.server_address[1]

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        self._file.write_text(self._before.replace(f":{self._port}/", f":{self.port}/"))
        return self

    def __exit__(self, *_exc: object) -> None:
        self.end()

    def end(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._file.write_text(self._before)


@pytest.fixture
def opencode(tmp_path: Path) -> Iterator[OpenCode]:
    daemons = Daemons(tmp_path)
    yield OpenCode(daemons)
    daemons.stop()


EXPECTED = [{"command": "ls", "description": "d"}, "not that", "sure?"]


def test_a_process_answers_where_no_daemon_runs(opencode: OpenCode) -> None:
    *others, changed = opencode.bash("ls", "touch forbidden", "go slowly", "change it")
    assert others == EXPECTED
    assert changed["command"] == "true"


def test_a_session_uses_one_connection(opencode: OpenCode) -> None:
    opencode.install("exit 9")
    opencode.daemons.start("--http", "0")
    with _Between(opencode) as between:
        assert opencode.bash(*["ls"] * 5) == [EXPECTED[0]] * 5
        assert between.connections == 1


def test_a_session_finds_a_daemon_that_has_replaced_the_first(opencode: OpenCode) -> None:
    opencode.install("exit 9")
    opencode.daemons.start("--http", "0")
    with _Between(opencode, ends=True) as between:
        assert opencode.bash("ls", "ls", "touch forbidden") == [EXPECTED[0], EXPECTED[0], "not that"]
        assert between.connections == 1


def test_an_answer_without_the_proof_is_no_answer(opencode: OpenCode) -> None:
    opencode.install("exit 9")
    opencode.daemons.start("--http", "0")
    other = json.loads(opencode.address.read_text())
    opencode.address.write_text(json.dumps(other | {"proof": "another"}))
    assert "hookline could not be run" in opencode.bash("ls")[0]


def test_it_asks_the_daemon_without_the_requests_of_its_runtime() -> None:
    """Bun sends those through HTTP_PROXY, also to loopback, with the token and every call in them."""
    text = plugin_text({})
    assert re.findall(r"from \"(.*)\"", text) == ["node:child_process", "node:fs", "node:net", "node:os"]
    assert "fetch(" not in text


def test_the_daemon_answers_without_a_process(opencode: OpenCode) -> None:
    opencode.install("exit 9")
    opencode.daemons.start("--http", "0")
    assert opencode.address.stat().st_mode & 0o777 == 0o600
    *others, changed = opencode.bash("ls", "touch forbidden", "go slowly", "change it")
    assert others == EXPECTED
    assert changed["command"] == "true"
    status = opencode.daemons.status()
    assert status is not None
    assert status.calls == 4


def test_a_daemon_that_a_relay_asks_for_it_begins_to_listen(opencode: OpenCode) -> None:
    opencode.daemons.start()
    opencode.daemons.call(
        "tool.execute.before", dialect="opencode", tool_name="bash", env={"HOOKLINE_HTTP": "1"}
    )
    wait_until(opencode.address.exists)
    opencode.install("exit 9")
    assert opencode.bash("touch forbidden") == ["not that"]


def test_prompts_and_results(opencode: OpenCode) -> None:
    opencode.daemons.start("--http", "0")
    parts = [{"type": "text", "text": "my password"}, {"type": "text", "text": "added", "synthetic": True}]
    after = {"tool": "bash", "sessionID": "s", "callID": "c", "args": {"command": "ls"}}
    found = opencode.play(
        ("chat.message", {"sessionID": "s"}, {"parts": parts, "message": {}}),
        ("chat.message", {"sessionID": "s"}, {"parts": parts[1:], "message": {}}),
        ("tool.execute.after", after, {"title": "", "output": "a b", "metadata": {}}),
    )
    refused, fine, result = found["results"]
    assert refused == {"error": "no passwords"}
    assert found["logged"] == ["hookline: no passwords"]  # the user reads it, as OpenCode does not say it
    assert "output" in fine
    assert result["output"]["output"] == "a b\nlook twice"


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("exit 1", "status 1"),
        ("echo broken >&2; exit 3", "broken"),
        ("kill -9 $$", "status null"),
        ("echo nonsense", "JSON"),
    ],
)
def test_it_fails_closed(opencode: OpenCode, line: str, words: str) -> None:
    """There is no daemon, its address leads nowhere, or Hookline cannot be run."""
    opencode.install(line)
    opencode.address.parent.mkdir(parents=True, exist_ok=True)
    opencode.address.write_text('{"url": "http://127.0.0.1:9/hook/", "token": "t", "proof": "p"}')
    (error,) = opencode.bash("ls")
    assert words in error


def test_only_what_cannot_stop_anything_fails_open_and_is_logged(opencode: OpenCode) -> None:
    opencode.install("exit 1")
    after = {"tool": "bash", "sessionID": "s", "callID": "c", "args": {"command": "ls"}}
    found = opencode.play(("tool.execute.after", after, {"title": "", "output": "a", "metadata": {}}))
    assert found["results"][0]["output"]["output"] == "a"
    (logged,) = found["logged"]
    assert logged.startswith("tool.execute.after: hookline could not be run")


def test_another_program_on_the_daemons_port_is_not_believed(opencode: OpenCode) -> None:
    """Another user may get the port of an ended daemon: without the proof its answer is worth nothing."""
    asked: list[str] = []

    class Impostor(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked.append(self.path)
            self.send_response(200)
            self.send_header("Hookline-Proof", "guessed")
            self.send_header("Content-Length", "2")
            self.end_headers()
            self.wfile.write(b"{}")

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name is http.server's
            del format, args

    with ThreadingHTTPServer(("127.0.0.1", 0), Impostor) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_address[1]}/hook/"
        opencode.address.parent.mkdir(parents=True, exist_ok=True)
        opencode.address.write_text(json.dumps({"url": url, "token": "t", "proof": "p"}))
        assert opencode.bash("touch forbidden") == ["not that"]
        server.shutdown()
    assert asked == ["/hook/opencode/tool.execute.before"]


def test_an_ended_daemon_takes_its_address_with_it(opencode: OpenCode) -> None:
    process = opencode.daemons.start("--http", "0")
    assert opencode.address.exists()
    process.terminate()
    process.wait()
    assert not opencode.address.exists()


@pytest.mark.parametrize(
    ("agent", "scope", "file"),
    [
        ("opencode", "--user", "~/.config/opencode/plugin/hookline.js"),
        ("opencode", "--project", ".opencode/plugin/hookline.js"),
        ("kilo", "--user", "~/.config/kilo/plugin/hookline.js"),
        ("kilo", "--project", ".kilo/plugin/hookline.js"),
    ],
)
def test_it_is_installed_and_leaves_no_trace(opencode: OpenCode, agent: str, scope: str, file: str) -> None:
    home, project = opencode.daemons.home, opencode.daemons.project
    opencode.file.unlink()

    def seen() -> set[str]:
        return {str(each) for each in home.rglob("*") if ".local" not in each.parts}

    before = seen()
    run_cli(["install", agent, scope, "--yes"], project, home)
    there = home / file[2:] if file.startswith("~/") else project / file
    assert subprocess.run(["node", "--check", there], check=False).returncode == 0
    assert f'const AGENT = "{agent}"' in there.read_text()
    found = json.loads(run_cli(["doctor", "--dialect", agent, "--json"], project, home).stdout)["agents"][0]
    (site,) = [each for each in found["sites"] if each["events"]]
    assert (site["trusted_by_agent"], site["file"]) == ("trusted", str(there))
    there.write_text(there.read_text().replace("throw new Error(answer.reason)", ""))
    found = json.loads(run_cli(["doctor", "--dialect", agent, "--json"], project, home).stdout)["agents"][0]
    (site,) = [each for each in found["sites"] if each["events"]]
    assert (site["trusted_by_agent"], "was changed" in site["agent_says"]) == ("untrusted", True)
    run_cli(["install", agent, scope, "--yes"], project, home)
    assert "throw new Error(answer.reason)" in there.read_text()
    run_cli(["uninstall", agent, scope, "--yes"], project, home)
    assert seen() == before


def test_a_plugin_of_the_same_name_is_not_overwritten(opencode: OpenCode) -> None:
    home = opencode.daemons.home
    mine = home / ".config/opencode/plugin/hookline.js"
    mine.parent.mkdir(parents=True)
    mine.write_text("export const Mine = async () => ({})\n")
    ran = run_cli(["install", "opencode", "--yes"], opencode.daemons.project, home)
    assert ran.status == 1
    assert "is not Hookline's plugin" in ran.stderr
    assert mine.read_text() == "export const Mine = async () => ({})\n"
