"""Run one command under a supervisor of its own, and answer its questions from the terminal."""

import argparse
import asyncio
import os
import shlex
import signal
import socket
import subprocess
import sys
from collections.abc import Iterable

from hookline.agent.settings import read_settings
from hookline.cli.engines import command_engine, report_diagnostics
from hookline.cli.output import ExitStatus, note
from hookline.config.engine import Engine
from hookline.engine.host.tool import ApprovalRequest
from hookline.execguard.guard import SessionDecider
from hookline.execguard.judge import RuleRow
from hookline.execguard.messages import (
    CommandStarted,
    Denied,
    ExecQuestion,
    NetworkWall,
    Problem,
    Report,
    SupervisedCommand,
    encoded,
    receive,
    report_of,
    sealed,
    send,
)
from hookline.execguard.probe import capabilities
from hookline.execguard.ready import START_ALONE
from hookline.execguard.supervision import MOST_DENIALS, CallContext
from hookline.execguard.walls.files import file_wall
from hookline.handlers.process.spawn import find_program
from hookline.model.raw import Failed
from hookline.model.safe_text import one_line, printable
from hookline.permissions.rules import PermissionRule, RuleReader, is_about_commands

_CANNOT_RUN, _NOT_FOUND, _SIGNALLED = 126, 127, 128
_WIDEST = 400


async def run(args: argparse.Namespace) -> int:
    words = args.command_words[1:] if args.command_words[:1] == ["--"] else args.command_words
    if not words:
        note("hookline: there is no command; write it after --: hookline run -- make test")
        return ExitStatus.PROBLEM
    found = capabilities()
    if found.level == "none":
        note(printable(f"hookline: the exec guard does not work here, so nothing was run: {found.why}"))
        return ExitStatus.PROBLEM
    if args.walls and not found.landlock:
        note(printable(f"hookline: file walls do not work here, so nothing was run: {found.landlock_why}"))
        return ExitStatus.PROBLEM
    if args.only_host is not None and found.network_why:
        note(printable(f"hookline: there is no network wall here, so nothing was run: {found.network_why}"))
        return ExitStatus.PROBLEM
    if found.level == "notify":
        note(printable(f"hookline: programs are judged, but not verified: {found.why}"))
    cwd = os.getcwd()
    program = find_program(words[0], os.environ.get("PATH", os.defpath), cwd)
    if isinstance(program, Failed):
        note(printable(f"hookline: {program.detail}"))
        return _NOT_FOUND
    engine = command_engine(None, cwd, origin="run")
    engine.approve = _ask_at_terminal
    try:
        decider = _decider(engine, args, cwd)
        job = SupervisedCommand(
            argv=tuple(words), program=program, env=dict(os.environ), cwd=cwd, mode=found.level,
            trusts_first=False, asks_always=decider.asks_always, most_denials=MOST_DENIALS, outlives=True,
            files=file_wall(decider.rules) if args.walls else None,
            network=NetworkWall(tuple(args.only_host)) if args.only_host is not None else None,
        )  # fmt: skip
        return await _GuardedCommand(decider, job).run()
    finally:
        await engine.close()


def _decider(engine: Engine, args: argparse.Namespace, cwd: str) -> SessionDecider:
    loaded = engine.load(cwd)
    report_diagnostics(loaded.diagnostics)
    reader = RuleReader(home=engine.env.get("HOME", ""))
    settings = read_settings(cwd, engine.env, reader, engine.trust)
    report_diagnostics((*settings.diagnostics, *settings.unreadable))
    session = engine.session(args.session or "run", cwd=cwd, attended=_has_terminal())
    layers = settings.layers.values()
    return SessionDecider(
        session,
        (*_rows(rule for layer in layers for rule in layer.deny), *map(_given, args.deny)),
        (*_rows(rule for layer in layers for rule in layer.ask), *map(_given, args.ask)),
    )


def _rows(rules: Iterable[PermissionRule]) -> list[RuleRow]:
    return [RuleRow(rule.text, rule.source) for rule in rules if is_about_commands(rule)]


def _given(text: str) -> RuleRow:
    return RuleRow(text, "the command line")


class _GuardedCommand:
    """One command, its supervisor, and the answers to its questions."""

    def __init__(self, decider: SessionDecider, job: SupervisedCommand) -> None:
        self._decider = decider
        self._job = job
        self._call = CallContext(shlex.join(job.argv))
        self._ended: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._channel, self._theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._pid = 0
        self._tasks: set[asyncio.Task[None]] = set()

    async def run(self) -> int:
        loop = asyncio.get_running_loop()
        supervisor = subprocess.Popen(  # noqa: ASYNC220 - it needs our terminal, group and streams
            [sys.executable, "-I", "-c", START_ALONE, str(self._theirs.fileno()), *sys.path],
            pass_fds=(self._theirs.fileno(),),
        )
        self._theirs.close()
        rules, job = sealed(self._decider.rules), sealed(self._job)
        send(self._channel, b"J", (rules, job))
        os.close(rules)
        os.close(job)
        self._channel.setblocking(False)
        # The terminal sends these to the command, too; what only we get is passed on.
        loop.add_signal_handler(signal.SIGINT, lambda: None)
        for number in (signal.SIGTERM, signal.SIGHUP):
            loop.add_signal_handler(number, self._pass_on, number)
        loop.add_reader(self._channel.fileno(), self._hear)
        try:
            return await self._ended
        finally:
            loop.remove_reader(self._channel.fileno())
            for task in self._tasks:
                task.cancel()
            self._channel.close()
            # It may go on: what the command left running is still supervised.
            supervisor.poll()

    def _pass_on(self, number: signal.Signals) -> None:
        if self._pid:
            try:
                os.kill(self._pid, number)
            except ProcessLookupError:
                pass

    def _hear(self) -> None:
        try:
            message, _descriptors = receive(self._channel)
        except BlockingIOError:
            return
        except OSError:
            message = b""
        if message:
            self._handle(report_of(message))
        elif not self._ended.done():
            note("hookline: the supervisor was killed, so the command can start nothing more")
            self._ended.set_result(_CANNOT_RUN)

    def _handle(self, report: Report) -> None:
        if isinstance(report, ExecQuestion):
            task = asyncio.ensure_future(self._answer(report))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        elif isinstance(report, Denied):
            verb = "killed" if report.killed else "denied"
            note(one_line(f"hookline: {verb}: {report.what}: {report.reason}", _WIDEST))
            self._decider.denied(report, self._call)
        elif isinstance(report, CommandStarted):
            self._pid = report.pid
        elif isinstance(report, Problem):
            note(printable(f"hookline: not started: {report.text}"))
            if not self._ended.done():
                self._ended.set_result(_CANNOT_RUN)
        elif not self._ended.done():
            if report.why:
                note(f"hookline: {report.why}")
            code = os.waitstatus_to_exitcode(report.status)
            self._ended.set_result(code if code >= 0 else _SIGNALLED - code)

    async def _answer(self, question: ExecQuestion) -> None:
        reply = await self._decider.answer(question, self._call)
        try:
            send(self._channel, encoded(reply))
        except OSError:
            pass  # the command has ended meanwhile


def _has_terminal() -> bool:
    try:
        os.close(os.open("/dev/tty", os.O_RDWR | os.O_CLOEXEC))
    except OSError:
        return False
    return True


def _ask_at_terminal(request: ApprovalRequest) -> bool:
    with open("/dev/tty", "r+", encoding="utf-8", errors="replace") as terminal:
        command = one_line(str(request.tool_input.get("command", "")), _WIDEST)
        terminal.write(printable(f"hookline: may this run? {command}\n  {request.reason}\n  yes or no: "))
        terminal.flush()
        return terminal.readline().strip().casefold() in ("y", "yes")
