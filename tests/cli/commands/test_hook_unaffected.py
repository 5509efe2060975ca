"""Late results, telemetry and the journal change no decision of `hookline hook` when they fail."""

import asyncio
import json
import os
import shutil
import sqlite3
import subprocess
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExporter, SpanExportResult

from hookline import Engine
from hookline.cli.commands.hook import answer_stdin
from hookline.config.commands import HookArguments
from hookline.engine.background import LateMessage
from hookline.hook.call.answer import AgentCall
from hookline.jobs.file import DurableFile
from hookline.jobs.port import Job, Wake
from hookline.jobs.stored import StoredCall
from hookline.journal.file import JournalFile
from hookline.journal.journal import Journal
from hookline.journal.observer import Ended
from hookline.journal.redaction import Redactor
from hookline.model.events import EventSpec
from hookline.model.run import Run
from hookline.model.session_info import SessionInfo
from hookline.telemetry import Telemetry
from tests.cli.run_cli import Ran, clean_env, command_line, run_cli

GUARD = """
[[hooks.PreToolUse]]
[[hooks.PreToolUse.hooks]]
type = "builtin"
command = "force-push"
"""
#: How each agent names the event and its shell.
AGENTS = {
    "claude-code": ("PreToolUse", "Bash"),
    "codex": ("PreToolUse", "Bash"),
    "gemini-cli": ("BeforeTool", "run_shell_command"),
}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home with one guard and a project."""
    file = tmp_path / ".config/hookline/hooks.toml"
    file.parent.mkdir(parents=True)
    file.write_text(GUARD)
    (tmp_path / "project").mkdir()
    (tmp_path / ".local/state/hookline").mkdir(parents=True)
    return tmp_path


def payload(home: Path, line: str, dialect: str = "claude-code", **fields: Any) -> str:
    event, tool = AGENTS[dialect]
    translated = {
        "session_id": "s-1", "transcript_path": "/t", "cwd": str(home / "project"), "permission_mode": "default",
        "hook_event_name": event, "tool_name": tool, "tool_use_id": line, "tool_input": {"command": line},
    }  # fmt: skip
    return json.dumps({**translated, **fields})


def hook(home: Path, line: str, dialect: str = "claude-code", env: Mapping[str, str] | None = None) -> Ran:
    words = ["hook", "--dialect", dialect]
    return run_cli(words, home / "project", home, stdin=payload(home, line, dialect), env=env)


def check_decisions(ask: Callable[[str], Ran]) -> None:
    """The guard's own decisions: `ls` passes, a force push is denied for the guard's reason."""
    passed, denied = ask("ls"), ask("git push -f")
    assert (passed.status, passed.stdout) == (0, "")
    assert (denied.status, "`git push -f` overwrites" in denied.stdout) == (0, True), denied


# Late results


def queue_file(home: Path) -> Path:
    return home / ".local/state/hookline/jobs.sqlite"


def job(session: str, body: bytes | None = None) -> Job:
    stored = StoredCall(
        hook="key", name="scan", type="command", event="PostToolUse", event_id="1", dialect="native", file="/x",
        source="/x:1", scope="user", payload=msgspec.Raw(b"{}"), info=SessionInfo(session_id=session),
    )  # fmt: skip
    return Job(id="0001", session=session, queue="files", body=body or msgspec.json.encode(stored))


def submit(home: Path, *jobs: Job) -> None:
    queue = DurableFile(str(queue_file(home)))
    for each in jobs:
        queue.submit(each)
    queue.close()


def execute(home: Path, sql: str, *values: object) -> None:
    with closing(sqlite3.connect(queue_file(home))) as connection, connection:
        connection.execute(sql, values)


@pytest.mark.parametrize("dialect", AGENTS)
def test_a_job_that_waits_for_the_session_denies_nothing(home: Path, dialect: str) -> None:
    submit(home, job("s-1"))
    check_decisions(lambda line: hook(home, line, dialect))


@pytest.mark.parametrize("dialect", AGENTS)
def test_a_machine_that_was_in_a_fleet_once_denies_nothing(home: Path, dialect: str) -> None:
    submit(home, job("another"))
    execute(home, "INSERT INTO member VALUES ('machine')")
    check_decisions(lambda line: hook(home, line, dialect))


def _fill(home: Path) -> None:
    submit(home, job("s-1"))


def _truncate(home: Path) -> None:
    submit(home, job("s-1", b"x" * 50_000))
    os.truncate(queue_file(home), 9000)


def _damage_result(home: Path) -> None:
    _fill(home)
    execute(home, "INSERT INTO wake (id, session, body, at) VALUES ('w', 's-1', x'ff22', 1)")


DAMAGED: Mapping[str, Callable[[Path], object]] = {
    "a job": lambda home: submit(home, job("s-1", b'{"hook": 5')),
    "text that is none": lambda home: submit(home, job("s-1", b'{"hook":"\xff"}')),
    "a result": _damage_result,
    "pages": _truncate,
    "all of it": lambda home: queue_file(home).write_bytes(b"no database" * 900),
    "a directory": lambda home: queue_file(home).mkdir(),
    "a link": lambda home: queue_file(home).symlink_to(home / "project"),
}


@pytest.mark.parametrize("name", DAMAGED)
def test_a_damaged_queue_changes_no_decision(home: Path, name: str) -> None:
    DAMAGED[name](home)
    check_decisions(lambda line: hook(home, line))


def test_a_locked_queue_changes_no_decision(home: Path) -> None:
    _fill(home)
    with closing(sqlite3.connect(queue_file(home), isolation_level=None)) as connection:
        connection.execute("PRAGMA locking_mode = EXCLUSIVE")
        connection.execute("BEGIN EXCLUSIVE")
        check_decisions(lambda line: hook(home, line))


def test_a_damaged_result_does_not_hide_the_next_one(home: Path) -> None:
    _damage_result(home)
    good = LateMessage(kind="context", text="the scan found it", placement="conversation", wake_id="good")
    wake = Wake(id="good", session="s-1", body=msgspec.json.encode(good))
    execute(home, "INSERT INTO wake (id, session, body, at) VALUES (?, ?, ?, 2)", wake.id, "s-1", wake.body)
    said = payload(home, "", hook_event_name="UserPromptSubmit", prompt="go on")
    ran = run_cli(["hook", "--dialect", "claude-code"], home / "project", home, stdin=said)
    assert "the scan found it" in ran.stdout


def test_guards_that_have_to_wait_are_asked(home: Path) -> None:
    """Two that cannot run, as those of a bundle that expired, are begun one beside the other."""
    entry = '[[hooks.PreToolUse.hooks]]\ntype = "builtin"\ncommand = "no-such-guard"\non_failure = "open"\n'
    file = home / ".config/hookline/hooks.toml"
    file.write_text(GUARD + entry + entry.replace("no-such", "no-other"))
    passed, denied = hook(home, "ls"), hook(home, "git push -f")
    assert "permissionDecision" not in passed.stdout
    assert "no builtin is called 'no-such-guard'" in passed.stdout
    assert "`git push -f` overwrites" in denied.stdout


# The journal


def without_rights() -> Sequence[str]:
    """Return how to run a program to which the modes of files apply."""
    if os.geteuid() != 0:
        return ()
    if shutil.which("setpriv") is None:
        pytest.skip("root writes every file, and without setpriv it cannot give that up")
    return ("setpriv", "--bounding-set=-dac_override,-dac_read_search")


def by(home: Path, words: Sequence[str], line: str) -> Ran:
    """The call in a fresh process that another program starts."""
    ran = subprocess.run(
        [*words, *command_line(["hook", "--dialect", "claude-code"], home)],
        input=payload(home, line), text=True, capture_output=True, cwd=home / "project", env=clean_env(home),
        timeout=60, check=False,
    )  # fmt: skip
    return Ran(ran.returncode, ran.stdout, ran.stderr)


@contextmanager
def closed_to_all(directory: Path) -> Generator[None]:
    directory.chmod(0)
    try:
        yield
    finally:
        directory.chmod(0o700)


def test_a_state_directory_without_rights_changes_no_decision(home: Path) -> None:
    _fill(home)
    words = without_rights()
    with closed_to_all(home / ".local/state/hookline"):
        check_decisions(lambda line: by(home, words, line))


def test_a_full_disk_changes_no_decision(home: Path) -> None:
    check_decisions(lambda line: by(home, ["sh", "-c", 'ulimit -f 0; exec "$@"', "sh"], line))


@pytest.mark.parametrize("name", ["journal.jsonl", "."])
def test_something_else_in_place_of_the_journal_changes_no_decision(home: Path, name: str) -> None:
    file = home / ".local/state/hookline" / name
    if name == ".":
        file.rmdir()
        file.touch()
    else:
        file.mkdir()
    check_decisions(lambda line: hook(home, line))


class _BrokenFile(JournalFile):
    def append(self, run: Any) -> None:
        raise RuntimeError(f"no room for {run.hook}")


def test_recording_never_raises() -> None:
    journal = Journal(Redactor({}), file=_BrokenFile("/nowhere"))
    journal.record(Run(hook="guard"))
    journal.record_later("ok", lambda noted: Run(hook=noted), "guard")
    assert journal.problems == ("journal: Journal._record raised RuntimeError: no room for guard",)


# Telemetry


@pytest.mark.parametrize(
    "settings",
    [
        {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1"},
        {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://[", "OTEL_TRACES_EXPORTER": "otlp"},
        {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1", "OTEL_BSP_MAX_QUEUE_SIZE": "-1"},
    ],
)
def test_a_collector_that_cannot_be_used_changes_no_decision(home: Path, settings: dict[str, str]) -> None:
    check_decisions(lambda line: hook(home, line, env=settings))


class _BrokenExporter(SpanExporter):
    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        raise RuntimeError("no")


class _BrokenTelemetry(Telemetry):
    """Its exporter raises, and so do the calls that an engine makes."""

    def __init__(self, where: str) -> None:
        tracers = TracerProvider(shutdown_on_exit=False)
        tracers.add_span_processor(SimpleSpanProcessor(_BrokenExporter()))
        super().__init__(tracers)
        self._where = where

    def began(self, session: Any, event: EventSpec[Any], payload: Any) -> Ended:
        self._break("began")
        ended = super().began(session, event, payload)

        def end(outcome: Any) -> None:
            ended(outcome)
            self._break("ended")

        return end

    def ran(self, run: Run) -> None:
        self._break("ran")

    def closed(self) -> None:
        self._break("closed")

    def _break(self, where: str) -> None:
        if where == self._where:
            raise RuntimeError("no")


@pytest.mark.parametrize("where", ["export", "began", "ended", "ran", "closed"])
def test_telemetry_that_raises_changes_no_decision(
    home: Path, where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(home))

    async def answer(line: str) -> Ran:
        engine = Engine(observer=_BrokenTelemetry(where))
        call = AgentCall(engine, "claude-code", "PreToolUse", env={"HOME": str(home)})
        reply = await call.answer(payload(home, line).encode())
        await engine.close()
        return Ran(reply.code, reply.stdout, reply.stderr)

    check_decisions(lambda line: asyncio.run(answer(line)))


# After the answer


class _UnclosableEngine(Engine):
    async def drain(self, limit: float | None = None) -> bool:
        raise RuntimeError("cannot wait")

    async def close(self, limit: float | None = None) -> tuple[str, ...]:
        raise RuntimeError("cannot close")


def _unclosable_engine(**_options: Any) -> Engine:
    return _UnclosableEngine()


def test_what_fails_after_the_answer_does_not_become_the_status(
    home: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setattr(answer_stdin, "command_engine", _unclosable_engine)
    monkeypatch.setattr(answer_stdin, "read_input", lambda: payload(home, "ls").encode())
    monkeypatch.setattr(answer_stdin, "_close_streams", lambda: None)
    assert answer_stdin.answer_stdin(HookArguments("claude-code")) == 0
    assert capfd.readouterr().out == ""
