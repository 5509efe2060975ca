"""Provide the console with the documents that other commands print, and with the terminal."""

import argparse
import asyncio
import os
import shlex
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

from hookline.cli.commands.approvals.run import open_approvals
from hookline.cli.output import note, show_part
from hookline.cli.requests import RequestError
from hookline.journal.journal import Journal
from hookline.journal.redaction import Redactor
from hookline.model.run import Run
from hookline.model.safe_text import one_line

if TYPE_CHECKING:
    from hookline.team.fleet.audit.copy import AuditCopy

_OBSERVED_SECONDS = 7 * 86_400
#: A longer transcript is not searched for one call.
_LONGEST_TRANSCRIPT = 256 * 1024 * 1024
#: The argument that the one line of an input is, by a part of the tool's name.
_MAIN_ARGUMENTS = {
    "read": "file_path", "write": "file_path", "edit": "file_path", "fetch": "url", "grep": "pattern",
    "glob": "pattern", "search": "query",
}  # fmt: skip


class ConsoleOptions(Struct, frozen=True, kw_only=True):
    directory: str
    journal: str
    machine: str
    #: The runs of other machines, if they are wanted.
    team: "AuditCopy | None"
    port: int | None
    host: str | None
    cert: str
    key: str


class ConsoleAnswers:
    """Services for the console. Each method may be called in any thread."""

    def __init__(self, *, opens: bool, as_json: bool, fleet: bool = False) -> None:
        self._opens = opens
        self._as_json = as_json
        self._fleet = fleet

    # -- the terminal

    def say(self, text: str) -> None:
        note(one_line(f"hookline console: {text}", 500))

    def started(self, address: str, link: str, file: str) -> None:
        """Announce the console. Without a link it is running already, and only its file can open it."""
        opened = self._opens and _open_browser(file)
        if self._as_json:
            facts = {
                "address": address,
                "link": link,
                "login_file": file,
                "opened": opened,
                "pid": os.getpid(),
            }
            show_part(msgspec.json.encode(facts).decode(), as_json=True)
            return
        if not link:
            show_part(f"a console is running already at {address}")
            if not opened:
                show_part(f"open this file in your browser: {file}")
            return
        show_part(f"the console is at {address}")
        if opened:
            show_part("your browser opens it; if it does not, open this link, which works once:")
        else:
            show_part("open this link in your browser; it works once:")
        show_part(f"  {link}")
        show_part("Ctrl-C ends it")

    # -- documents

    def payload(self, run: Run) -> Any:
        if not run.call.payload:
            return None
        from hookline.journal.payloads import kept_payload, payloads_path

        return kept_payload(payloads_path(os.environ), run.call.payload)

    def explain(self, run: Run) -> Mapping[str, Any]:
        from hookline.cli.commands.explain.run import explain_document
        from hookline.cli.engines import inspection_engine, prepare, working_directory

        cwd = working_directory(run.call.project or None)
        engine = inspection_engine()
        kept = self.payload(run)
        origin, arguments = _arguments(run, kept)
        caller = run.call.caller if run.call.caller in engine.loader.names else None
        args = argparse.Namespace(
            words=_words(run, arguments), payload=None, caller=caller, dialect=None, config=None, hook=None,
            strict=False, trust=False,
        )  # fmt: skip
        request, loaded = prepare(engine, args, cwd)
        explained = msgspec.to_builtins(explain_document(engine, request, loaded, cwd))
        shown = Journal(Redactor(os.environ)).without_secrets(arguments)
        words = [*_words(run, shown), "--cwd", cwd, *(["--as", caller] if caller else [])]
        return {
            "from": origin if kept is None else "record",
            "payload": _payload(run, shown) if kept is None else kept,
            "explain": explained,
            "command": shlex.join(["hookline", "explain", *words]),
        }

    def coverage(self, tick: Callable[[float], None]) -> Mapping[str, Any]:
        from hookline.cli.commands.coverage.report import coverage_document
        from hookline.cli.engines import inspection_engine
        from hookline.cli.history import caller_of, readable_dialects
        from hookline.history.causes import Causes, SettingsCache
        from hookline.history.engines import Configuration
        from hookline.history.sources import find_sources
        from hookline.history.workers import ReplayTask, look_back

        dialects, started = readable_dialects(), time.time()
        since = started - _OBSERVED_SECONDS
        sources = find_sources(list(dialects.values()), os.environ, (), since)
        if not sources.found:
            raise RequestError(
                f"No agent wrote a transcript in the last 7 days; searched {', '.join(sources.directories)}"
            )
        job = ReplayTask(
            sources=sources.found, configuration=Configuration(keep=False), since=since, observe=True
        )
        whole = max(sources.size, 1)
        sightings = asyncio.run(look_back(job, dialects, lambda done: tick(done / whole), apart=True))
        callers = {name: caller_of(dialects, name) for name in dialects}
        settings = SettingsCache(inspection_engine().loader, os.environ)
        missed = Causes(sightings, callers, settings).explained()
        document = coverage_document(sightings, missed, dialects, frozenset(), time.time() - started)
        return msgspec.to_builtins(document)

    def doctor(self) -> Mapping[str, Any]:
        from hookline.cli.commands.doctor.report import as_document
        from hookline.cli.commands.doctor.run import examine
        from hookline.cli.main import build_parser

        return msgspec.to_builtins(as_document(examine(build_parser("doctor").parse_args(["doctor"]))))

    def fleet(self) -> Mapping[str, Any]:
        from hookline.cli.commands.fleet.run import transport_of
        from hookline.config.bundles.settings import bundle_settings
        from hookline.team.fleet.status import FleetStatus, read_status

        async def status() -> FleetStatus:
            settings = bundle_settings(os.environ)
            async with transport_of(argparse.Namespace(directory=None)) as transport:
                return await read_status(transport, settings.keys if settings is not None else None)

        return msgspec.to_builtins(asyncio.run(status()))

    def jobs(self) -> Mapping[str, Any]:
        from hookline.cli.commands.jobs.report import JobsDocument, job_document
        from hookline.jobs.file import user_queue

        queue = user_queue(os.environ)
        try:
            jobs = tuple(job_document(job) for job in queue.jobs(settled=True))
            return msgspec.to_builtins(JobsDocument(queue=queue.path, jobs=jobs))
        finally:
            queue.close()

    def job(self, beginning: str) -> Mapping[str, Any] | None:
        from hookline.cli.commands.jobs.report import job_document
        from hookline.jobs.file import user_queue

        queue = user_queue(os.environ)
        try:
            found = queue.find(beginning)
        finally:
            queue.close()
        if len(found) != 1:
            return None
        document = msgspec.to_builtins(job_document(found[0], payload=True))
        return Journal(Redactor(os.environ)).without_secrets(document)

    def approvals(self) -> list[Mapping[str, Any]]:
        async def waiting() -> list[Mapping[str, Any]]:
            async with open_approvals(fleet=self._fleet) as found:
                return [msgspec.to_builtins(each) for each in await found.waiting()]

        return asyncio.run(waiting())

    def answer(self, name: str, *, allow: bool, message: str) -> bool:
        from hookline.engine.host.approvals import ApprovalAnswer
        from hookline.journal.file import account_name

        async def answer() -> bool:
            async with open_approvals(fleet=self._fleet) as found:
                call = next((each for each in await found.waiting() if each.pending.id == name), None)
                given = ApprovalAnswer(allow=allow, by=account_name(), message=message, at=time.time())
                return call is not None and await found.answer(call, given)

        return asyncio.run(answer())

    def backtests(self) -> list[Mapping[str, Any]]:
        from hookline.history.reports import kept_reports

        return [
            {
                "name": each.name, "at": each.at, "sessions": _count(each.report.get("sessions")),
                "recorded_events": _count(each.report.get("recorded_events")),
                **{name: _effect(each.report, name) for name in ("block", "ask", "rewrite")},
            }
            for each in kept_reports(os.environ)
        ]  # fmt: skip

    def backtest(self, name: str) -> Mapping[str, Any] | None:
        from hookline.history.reports import kept_report

        found = kept_report(os.environ, name)
        return {"at": found.at, "report": found.report} if found is not None else None


def _count(value: object) -> int:
    return value if isinstance(value, int) else 0


def _effect(report: Mapping[str, Any], name: str) -> int:
    effects: Any = report.get("effects")
    effect: Any = effects.get(name) if isinstance(effects, dict) else None  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType] JSON
    return _count(effect.get("recorded_events")) if isinstance(effect, dict) else 0  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType] JSON


# Rebuild a call from its records


def _arguments(run: Run, kept: Any) -> tuple[str, dict[str, Any]]:
    """Return the input of the call: from the agent's transcript, which has all of it, the recorded payload,
    or the journal's line.
    """
    call = run.call
    if call.id and run.session:
        found = _from_transcript(run)
        if found is not None:
            return "transcript", found
    given: Any = kept.get("tool_input") if isinstance(kept, dict) else None  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType] JSON
    if isinstance(given, dict):
        return "record", given  # pyright: ignore[reportUnknownVariableType] JSON
    if not call.input:
        return "journal", {}
    name = call.tool.casefold()
    key = next((key for part, key in _MAIN_ARGUMENTS.items() if part in name), "command")
    return "journal", {key: call.input}


def _from_transcript(run: Run) -> dict[str, Any] | None:
    from hookline.cli.history import caller_of, readable_dialects
    from hookline.dialects.recorded_event import RecordedEvent, Tally

    dialects = readable_dialects()
    for name, dialect in dialects.items():
        transcripts = dialect.transcripts
        if transcripts is None or caller_of(dialects, name) != run.call.caller:
            continue
        for file in transcripts.files(os.environ):
            # Agents name the file after the session.
            if run.session not in file or os.path.getsize(file) > _LONGEST_TRANSCRIPT:
                continue
            for item in transcripts.read(file, Tally()):
                if isinstance(item, RecordedEvent) and item.kind == "call" and item.call_id == run.call.id:
                    given = msgspec.json.decode(item.input) if item.input else None
                    return given if isinstance(given, dict) else None  # pyright: ignore[reportUnknownVariableType] JSON
    return None


def _words(run: Run, arguments: Mapping[str, Any]) -> list[str]:
    """Return the call as arguments of `hookline explain`."""
    if not run.call.tool:
        return [run.event]
    settings = [
        f"{key}={value}" if isinstance(value, str) else f"{key}:={msgspec.json.encode(value).decode()}"
        for key, value in arguments.items()
        if key and not set(key) & set("=.:")
    ]
    return [run.event, run.call.tool, *settings]


def _payload(run: Run, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
    call = run.call
    known = {
        "hook_event_name": run.dialect_event or run.event, "session_id": run.session, "cwd": call.project,
        "tool_name": call.tool, "tool_input": arguments if call.tool else None, "tool_use_id": call.id,
    }  # fmt: skip
    return {name: value for name, value in known.items() if value}


# The browser


def _open_browser(file: str) -> bool:
    """Open a browser; return True if one was started.

    It gets a file, because other users can read programs' arguments.
    """
    if sys.platform == "darwin":
        command = ["open", file]
    elif os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"):
        command = ["xdg-open", file]
    else:
        return False  # no one would see it; a browser for terminals would take this one
    try:
        subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            start_new_session=True,
        )  # fmt: skip
    except OSError:
        return False
    return True
