"""`hookline run --shell`: the shell of another agent, under the exec guard by a server beside the agent."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hookline.config.install.shell import OWN_SHELLS
from hookline.hook.daemon.directory import default_directory
from hookline.hook.relay.build import SHELLS
from tests.execguard.guarded import needs_verify
from tests.waiting import wait_until

pytestmark = needs_verify

_BASH = str(Path(sys.executable).with_name("hookline-bash"))
#: An agent: it starts its shell for each line that it reads, and says how that ended.
_AGENT = """
import json, os, resource, subprocess, sys
for line in sys.stdin:
    call = json.loads(line)
    lower = lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (call["files"],) * 2) if call.get("files") else None
    env = {**os.environ, **call.get("env", {})}
    started = subprocess.Popen([sys.argv[1], "-c", call["line"]], cwd=call.get("cwd"), env=env, text=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
        preexec_fn=lower)
    if call.get("leave"):
        print(started.pid, flush=True)
        continue
    out, err = started.communicate()
    print(json.dumps([started.returncode, out, err]), flush=True)
"""
_RULES = {"deny": ["Bash(touch *)"], "ask": ["Bash(mkdir *)"]}
#: Starts a program that no text shows.
_HIDDEN = (
    'python3 -c \'import subprocess; print(subprocess.run(["tou" + "ch", "made"]).returncode)\' 2>/dev/null'
)


class Agent:
    """A process that starts shells as an agent does, in a project."""

    def __init__(self, place: Path) -> None:
        self.project, self.home = place / "project", place / "home"
        (self.home / ".claude").mkdir(parents=True)
        self.project.mkdir()
        (self.home / ".claude" / "settings.json").write_text(json.dumps({"permissions": _RULES}))
        env = {name: value for name, value in os.environ.items() if name != "HOOKLINE_DAEMON"}
        self._process = subprocess.Popen(
            [sys.executable, "-S", "-c", _AGENT, _BASH], cwd=self.project, text=True,
            env={**env, "HOME": str(self.home), "CLAUDE_CODE_SESSION_ID": "s-1"},
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )  # fmt: skip
        self.socket = Path(default_directory(), f"shell-{self._process.pid}")

    def call(self, line: str, **options: Any) -> Any:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps({"line": line, **options}) + "\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())

    def served(self) -> None:
        """Make the first call, and wait for the server that it starts."""
        assert self.call("true") == [0, "", ""]
        wait_until(self.socket.exists)

    def server(self) -> int:
        """Return the server's process."""
        words = ["run", "--shell-server", str(self._process.pid)]
        for directory in Path("/proc").glob("[0-9]*"):
            try:
                found = (directory / "cmdline").read_bytes().decode().split("\0")
            except OSError:
                continue
            if found[-len(words) - 1 : -1] == words:
                return int(directory.name)
        raise AssertionError("there is no server")

    def end(self) -> None:
        self._process.communicate()


@pytest.fixture
def agent(tmp_path: Path) -> Iterator[Agent]:
    made = Agent(tmp_path)
    yield made
    made.end()
    wait_until(lambda: not made.socket.exists())


def test_the_names_of_the_programs_are_the_same_everywhere() -> None:
    assert tuple(OWN_SHELLS.values()) == SHELLS


def test_a_program_that_no_text_shows_is_denied_at_the_first_call_and_by_the_server(agent: Agent) -> None:
    for _ in range(2):
        code, _out, err = agent.call(_HIDDEN)
        assert code == 1
        assert "hookline: denied: touch made: `touch made` was denied by the rule Bash(touch *)" in err
        wait_until(agent.socket.exists)
    assert not (agent.project / "made").exists()
    journal = (agent.home / ".local/state/hookline/journal.jsonl").read_text()
    runs = [json.loads(line) for line in journal.splitlines()]
    assert [(run["decision"], run["session"]) for run in runs] == [("deny", "s-1"), ("deny", "s-1")]


def test_by_the_server_streams_directory_and_status_are_those_of_the_shell(agent: Agent) -> None:
    agent.served()
    (agent.project / "sub").mkdir()

    said = agent.call("pwd; echo bad >&2; echo $SHELL; exit 3", cwd=str(agent.project / "sub"))

    assert said == [3, f"{agent.project}/sub\n/bin/bash\n", "bad\n"]
    _code, parent, _err = agent.call(
        "while read -r name value; do [ $name = PPid: ] && echo $value; done < /proc/$PPID/status"
    )
    assert int(parent) == agent.server()
    assert agent.call("kill -9 $$")[0] == 128 + signal.SIGKILL
    assert agent.call("cat") == [0, "", ""]


def test_a_question_was_asked_if_the_line_shows_the_command_and_is_a_denial_if_not(agent: Agent) -> None:
    agent.served()

    assert agent.call("mkdir shown") == [0, "", ""]
    code, _out, err = agent.call(
        'python3 -c \'import os; os.execvp("mkdir", ["mkdir", "hidden"])\' 2>/dev/null'
    )

    assert code == 1
    assert "Nobody can be asked while it runs. Write the command in the line itself" in err
    assert (agent.project / "shown").is_dir()
    assert not (agent.project / "hidden").exists()


def test_a_rule_that_is_written_later_holds_at_the_next_call(agent: Agent) -> None:
    agent.served()
    assert agent.call("uname >/dev/null") == [0, "", ""]

    (agent.home / ".claude" / "settings.json").write_text(
        json.dumps({"permissions": {"deny": ["Bash(uname)"]}})
    )

    assert "was denied by the rule Bash(uname)" in agent.call("uname")[2]


def test_the_rules_are_those_of_the_home_that_the_agent_was_started_with(
    agent: Agent, tmp_path: Path
) -> None:
    other = {"HOME": str(tmp_path / "other")}
    (tmp_path / "other").mkdir()
    for _ in range(2):
        said = agent.call("echo $HOME; touch made", env=other)
        assert said[:2] == [126, f"{tmp_path}/other\n"]
        assert "denied by the rule Bash(touch *)" in said[2]
        wait_until(agent.socket.exists)


def test_a_shell_that_is_confined_otherwise_is_not_run_by_the_server(agent: Agent) -> None:
    agent.served()

    assert agent.call("ulimit -n; touch made", files=200)[:2] == [126, "200\n"]


#: Asks a server for a command that an ask rule is about, as if the agent had started it.
_POSING = """
import os, socket, sys
from hookline import __version__
from hookline.hook.daemon.protocol import RelayRequest, read_frame, write_request
words = ("run", "--shell", "bash", "--", "-c", "mkdir hidden")
asked = write_request(RelayRequest(__version__, os.getcwd(), words, dict(os.environ), b""))
with socket.socket(socket.AF_UNIX) as to:
    to.connect(sys.argv[1])
    socket.send_fds(to, [asked], [0, 1, 2])
    kind, _body = read_frame(to.recv(65536))
    print(kind.decode())
    if kind == b"B":
        to.send(b"G")
        to.recv(65536)
"""


def test_a_guarded_command_cannot_pose_as_the_agent(agent: Agent) -> None:
    agent.served()
    (agent.project / "pose.py").write_text(_POSING)

    code, out, _err = agent.call(f"{sys.executable} pose.py {agent.socket}")

    assert (code, out.strip()) == (0, "V")
    assert not (agent.project / "hidden").exists()


def test_what_a_command_leaves_running_stays_guarded(agent: Agent) -> None:
    agent.served()
    os.mkfifo(agent.project / "go")

    agent.call("(read -t 20 x < go; touch made; echo $? > status) >/dev/null 2>&1 &")
    (agent.project / "go").write_text("\n")

    wait_until(lambda: (agent.project / "status").exists() and (agent.project / "status").read_text())
    assert (agent.project / "status").read_text() == "126\n"


def test_a_shell_that_is_killed_takes_its_command_with_it(agent: Agent) -> None:
    agent.served()

    shell = agent.call("echo $$ > pid; exec sleep 100", leave=True)
    wait_until(lambda: (agent.project / "pid").exists() and (agent.project / "pid").read_text())
    os.kill(shell, signal.SIGKILL)

    command = int((agent.project / "pid").read_text())
    wait_until(lambda: not Path(f"/proc/{command}").exists())


def test_without_its_server_a_call_is_guarded_all_the_same(agent: Agent) -> None:
    agent.served()

    os.kill(agent.server(), signal.SIGKILL)

    assert agent.call(_HIDDEN)[0] == 1
    assert not (agent.project / "made").exists()


def test_inside_a_guarded_command_the_outer_guard_holds_and_it_says_so(agent: Agent) -> None:
    code, out, err = agent.call(f"{_BASH} -c 'echo inside; touch made'")

    assert (code, out) == (126, "inside\n")
    assert "it runs inside a guarded command" in err
    assert not (agent.project / "made").exists()


def test_the_server_ends_with_its_agent(tmp_path: Path) -> None:
    agent = Agent(tmp_path)
    agent.served()
    server = agent.server()

    agent.end()

    wait_until(lambda: not _is_running(server))
    assert not agent.socket.exists()


def test_the_socket_of_a_killed_server_is_removed_after_the_end_of_its_agent(tmp_path: Path) -> None:
    agent = Agent(tmp_path)
    agent.served()
    os.kill(agent.server(), signal.SIGKILL)
    agent.end()
    assert agent.socket.exists()

    late = [
        sys.executable,
        "-I",
        "-m",
        "hookline",
        "run",
        "--shell-server",
        agent.socket.name.removeprefix("shell-"),
    ]
    subprocess.run(late, check=False, capture_output=True)

    assert not agent.socket.exists()


def _is_running(pid: int) -> bool:
    """Return False for one that has ended, also as a zombie that its parent has not reaped yet."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
