"""Make a home of a user of several agents: hooks, transcripts, jobs, a report, and the console that shows them."""

import json
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from hookline.engine.host.approvals import ApprovalQueue, QueuedCall
from hookline.engine.host.pending import PendingCall
from hookline.history.reports import keep_report
from hookline.jobs.file import DurableFile
from hookline.jobs.port import Job
from hookline.jobs.stored import StoredCall
from hookline.journal.file import JournalFile
from hookline.journal.payloads import PayloadFile
from hookline.journal.redaction import Redactor
from hookline.model.run import Called, Run
from hookline.model.session_info import SessionInfo
from tests.cli.run_cli import clean_env
from tests.history.past import ClaudeSession, codex_session, rules

REPORT = Path(__file__).parent / "browser" / "backtest.json"
SESSION = "9b2d4c1e-guarded"


def journal_of(home: Path) -> Path:
    return home / ".local/state/hookline/journal.jsonl"


def append(home: Path, **facts: Any) -> None:
    """One more run, as a hook that runs now writes it."""
    file = JournalFile(str(journal_of(home)))
    call = Called(
        tool=facts.pop("tool", "Bash"), input=facts.pop("input", "ls"), project=facts.pop("project", ""),
        id=facts.pop("id", ""), caller=facts.pop("caller", "claude-code"), payload=facts.pop("payload", ""),
    )  # fmt: skip
    known: dict[str, Any] = {
        "event": "PreToolUse",
        "dialect_event": "PreToolUse",
        "session": "now",
        "duration_ms": 3.0,
        "at": time.time(),
    }
    file.append(Run(call=call, **{**known, **facts}))
    assert file.problems == ()
    file.close()


def furnish(home: Path) -> None:
    """Guards of the user, sessions of two agents of which one asked Hookline, jobs in every state, and a report."""
    project = home / "shop"
    project.mkdir(parents=True, exist_ok=True)
    config = home / ".config/hookline/hooks.toml"
    config.parent.mkdir(parents=True, exist_ok=True)
    config.write_text(
        rules(
            **{"no force push": "deny Bash(git push --force*)", "no recursive delete": "deny Bash(rm -rf *)"}
        )
    )
    began = time.time() - 7200
    session = ClaudeSession(home=home, id=SESSION, cwd=str(project), at=began, lines=[], calls=[]).prompt(
        "ship it"
    )
    for command in ("git push --force origin main", "rm -rf build", "rm -rf dist", "git push --force"):
        made = session.call(command)
        for name, word in (("no force push", "git push"), ("no recursive delete", "rm -rf")):
            if word in command:
                append(
                    home, hook=name, source=f"{config}:1", session=SESSION, input=command, id=made.id, at=made.at + 0.1,
                    project=str(project), type="builtin", status="blocked", decision="deny",
                    reason="not without a person",
                )  # fmt: skip
    session.write()
    codex_session(home, "7c1f-unguarded", str(project), ["git push --force", "rm -rf build", "ls"], began)
    _kept_payload(home, project)
    _jobs(home, project)
    _waiting_call(home, project)
    keep_report({"HOME": str(home)}, REPORT.read_bytes(), time.time() - 3600)


def _kept_payload(home: Path, project: Path) -> None:
    """A run whose payload its user has kept, of a size that people have."""
    edit = {
        "file_path": str(project / "prices.py"),
        "description": "keep-this-payload",
        "new_string": "".join(f"price_{n} = {n}  # <b>{n}</b>\n" for n in range(60)),
        "api_key": "sk-" + "live-0123456789abcdef",
    }
    payload = {"tool_name": "Edit", "tool_input": edit, "tool_use_id": "kept-1", "mode": "default"}
    file = PayloadFile(str(home / ".local/state/hookline/payloads.jsonl"), Redactor({}))
    append(
        home, hook="secret scan", source=f"{home}/.config/hookline/hooks.toml:1", session="5e1f-kept", tool="Edit",
        input="keep-this-payload prices.py", project=str(project), payload=file.keep(payload), status="failed",
        cause="timed_out", failed_open=True, detail="no answer within 5 s",
        at=time.time() - 3600,
    )  # fmt: skip
    file.close()


def _waiting_call(home: Path, project: Path) -> None:
    """A call that waits for a person."""
    given = {"command": "terraform apply -auto-approve"}
    pending = PendingCall(
        tool_name="Bash", tool_input=given, given=given, reason="this changes production", hook="clusters",
        tool_use_id="waits-1", session_id="2c9a-waits",
    )  # fmt: skip
    asked = QueuedCall(
        pending=pending, agent="Gemini CLI", project=str(project), user="ci", until=time.time() + 600
    )
    ApprovalQueue({"HOME": str(home)}).add(asked)


def _jobs(home: Path, project: Path) -> None:
    queue = DurableFile(str(home / ".local/state/hookline/jobs.sqlite"), back_off=(0.0,))
    names = ("licence check", "licence check", "nightly scan", "index docs", "index docs")
    for number, name in enumerate(names):
        payload = {"tool_name": "Bash", "tool_input": {"command": "export TOKEN=ghp_" + "a1B2" * 9}}
        stored = StoredCall(
            hook="k", name=name, type="command", event="PostToolUse", event_id=f"e{number}", dialect="native",
            file=str(home / ".config/hookline/hooks.toml"), source=f"{home}/.config/hookline/hooks.toml:9",
            payload=msgspec.Raw(json.dumps(payload).encode()), info=SessionInfo(session_id=SESSION, cwd=str(project)),
        )  # fmt: skip
        queue.submit(
            Job(
                id=f"{number}a5f2c{number:026x}",
                session=SESSION,
                queue="files",
                body=msgspec.json.encode(stored),
            )
        )
    leases = queue.claim(("files",), 4)
    queue.bury(leases[0], (), "exit 1 three times: <b>licence.json</b> is missing")
    queue.settle(leases[1], ())
    queue.bury(leases[2], (), "timed out three times")
    queue.close()


class Running(Struct, frozen=True):
    """A console in a separate process."""

    address: str
    link: str
    login_file: str
    pid: int

    @property
    def port(self) -> int:
        return int(self.address.rpartition(":")[2])


@contextmanager
def console(home: Path, *words: str) -> Generator[Running]:
    command = [sys.executable, "-m", "hookline", "console", "--no-open", "--json", "--port", "0", *words]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, env=clean_env(home), cwd=home, text=True
    ) as process:
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            assert line, f"it ended with {process.wait()}"
            yield msgspec.json.decode(line, type=Running)
        finally:
            process.terminate()
            assert process.wait(20) == 0
            directory = home / ".local/state/hookline"
            assert not list(directory.glob("console*/login*"))
