"""`hookline serve` as a process: it starts only if it is safe, reads its files again, and finishes what it began."""

import json
import os
import signal
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hookline.journal.reader import read_journal
from tests.every import every
from tests.telemetry.collector import Collector, collecting
from tests.waiting import wait_until, waits_for
from tests.warm_process import Ran, run_warm

TRACE, PARENT = "c" * 32, "d" * 16
GUARD = """
[[hooks.PreToolUse]]
hooks = [
  {{ name = "slow", command = '''touch {began}; {waits}''', if = "Bash(slow *)" }},
  {{ name = "guard", type = "builtin", command = "deny", args = ["{reason}"] }},
]
"""


class Server:
    def __init__(self, top: Path, collector: Collector) -> None:
        self.top, self.began, self.release = top, top / "began", top / "release"
        self.config = top / "guards.toml"
        self.write("first")
        self.collector = collector
        env = {"HOME": str(top), "PATH": os.environ["PATH"], "LANG": "C.UTF-8", **collector.env}
        words = ["serve", "--config", str(self.config), "--port", "0", "--json", "--deadline", "60"]
        self.process = subprocess.Popen(
            [sys.executable, "-m", "hookline", *words],
            env=env, cwd=top, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        assert self.process.stdout is not None
        self.said: dict[str, Any] = json.loads(self.process.stdout.readline())
        self.token = Path(self.said["token_file"]).read_text()

    def write(self, reason: str) -> None:
        waits = waits_for(self.release)
        self.config.write_text(GUARD.format(reason=reason, waits=waits, began=self.began))

    def ask(self, command: str) -> dict[str, Any]:
        call = {"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": command}}
        request = urllib.request.Request(
            self.said["url"],
            json.dumps(call).encode(),
            {"Authorization": f"Bearer {self.token}", "traceparent": f"00-{TRACE}-{PARENT}-01"},
        )
        with urllib.request.urlopen(request, timeout=60) as reply:
            return json.load(reply)

    def reason(self) -> str:
        return self.ask("ls")["hookSpecificOutput"]["permissionDecisionReason"]


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    with collecting() as collector:
        made = Server(tmp_path, collector)
        yield made
        made.release.touch()
        if made.process.poll() is None:
            made.process.kill()
        made.process.communicate()


def test_files_are_read_again_and_what_began_is_finished(server: Server) -> None:
    assert server.reason() == "first"
    with pytest.raises(urllib.error.HTTPError, match="401") as refused:
        urllib.request.urlopen(server.said["url"], b"{}", timeout=60)
    refused.value.close()
    server.config.write_text("[[hooks.PreToolUse]]\nhooks = [{ commando = 'ls' }]\n")
    server.process.send_signal(signal.SIGHUP)
    assert server.process.stderr is not None
    while f"revision {server.said['revision']} stays active" not in (
        line := server.process.stderr.readline().decode()
    ):
        assert line, "it does not say that the last revision stays active"
    assert server.reason() == "first"
    server.write("second")
    server.process.send_signal(signal.SIGHUP)
    wait_until(lambda: server.reason() == "second")

    answers: list[dict[str, Any]] = []
    asking = threading.Thread(target=lambda: answers.append(server.ask("slow thing")))
    asking.start()
    wait_until(server.began.exists)
    server.process.send_signal(signal.SIGTERM)
    server.release.touch()
    asking.join(60)
    out, _ = server.process.communicate(timeout=60)
    assert server.process.returncode == 0
    assert answers[0]["hookSpecificOutput"]["permissionDecision"] == "deny"
    status = json.loads(out.splitlines()[-1])
    assert status["decisions"] == status["denied"] >= 4
    runs = read_journal(str(server.top / ".local/state/hookline/journal.jsonl")).runs
    decision_id = answers[0]["hookline"]["decision_id"]
    assert decision_id in {run.decision_id for run in runs if run.hook == "slow"}
    _check_telemetry(server.collector, decision_id)


def _check_telemetry(collector: Collector, decision_id: str) -> None:
    """The spans of a decision are under that of its caller, and the metrics show the queue."""
    spans = [span for span in collector.spans if span.attributes.get("hookline.decision_id") == decision_id]
    dispatch = next(span for span in spans if span.name == "hookline.dispatch PreToolUse")
    assert (dispatch.trace, dispatch.parent) == (TRACE, PARENT)
    assert {span.name for span in spans if span.parent == dispatch.id} == {
        "hookline.hook slow", "hookline.hook guard",
    }  # fmt: skip
    assert collector.metrics["hookline.serve.waiting"] == [({}, 0.0)]
    assert collector.metrics["hookline.serve.refused"] == [({"hookline.refused": "token"}, 1.0)]


def serve(top: Path, *words: str) -> Ran:
    return run_warm(["serve", *words], cwd=top, env={"HOME": str(top), "PATH": os.environ["PATH"]})


@every(
    ("words", "said"),
    [
        (("--host", "0.0.0.0"), b"can be reached from other machines"),
        (("--client-ca", "ca.pem"), b"need --cert"),
        (("--cert", "none.pem"), b"none.pem cannot be used for TLS"),
        (("--config", "bad.toml"), b"not started: a guard with a mistake"),
        (("--config", "none.toml"), b"no such file: none.toml"),
        ((), b"not started: no hook is configured here"),
        (("--config", "good.toml", "--port", "99999"), b"cannot listen on 127.0.0.1 port 99999"),
        (("--deadline", "0"), b"--deadline 0"),
        (("--queue", "-1"), b"--queue -1 is out of range"),
    ],
)
def test_it_does_not_start_if_it_would_not_be_safe(
    words: tuple[str, ...], said: bytes, tmp_path: Path
) -> None:
    (tmp_path / "bad.toml").write_text("[[hooks.PreToolUse]]\nhooks = [{ commando = 'ls' }]\n")
    (tmp_path / "good.toml").write_text(GUARD.format(reason="no", waits="true", began="began"))
    ran = serve(tmp_path, *words)
    assert (ran.status, ran.stdout) == (1, b"")
    assert said in ran.stderr


def test_a_server_that_is_killed_in_mid_decision_closes_the_guard_that_asked(
    server: Server, tmp_path: Path
) -> None:
    entry = (
        f'name = "central"\ntype = "http"\nurl = "{server.said["url"]}"\ntimeout = 60\n'
        'headers = { Authorization = "Bearer ${T}" }\nallowedEnvVars = ["T"]\n'
    )
    (tmp_path / "caller.toml").write_text(f"[[hooks.PreToolUse]]\n[[hooks.PreToolUse.hooks]]\n{entry}")
    home = tmp_path / "caller"
    home.mkdir()
    env = {"HOME": str(home), "PATH": os.environ["PATH"], "LANG": "C.UTF-8", "T": server.token}
    words = [
        "fire",
        "PreToolUse",
        "Bash",
        "command=slow one",
        "--config",
        str(tmp_path / "caller.toml"),
        "--json",
    ]
    fired: list[Ran] = []
    asking = threading.Thread(target=lambda: fired.append(run_warm(words, cwd=tmp_path, env=env)))
    asking.start()
    wait_until(server.began.exists)
    server.process.kill()
    asking.join(60)
    (ran,) = fired
    assert ran.status == 2, ran.stderr
    (run,) = json.loads(ran.stdout)["runs"]
    assert (run["status"], run["cause"], run["failed_open"]) == ("failed", "transport", False)
    kept = read_journal(str(home / ".local/state/hookline/journal.jsonl")).runs
    assert [each.cause for each in kept] == ["transport"], "it is counted"
