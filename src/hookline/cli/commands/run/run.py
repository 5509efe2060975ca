"""Run one command under a supervisor of its own, and answer its questions from the terminal."""

import argparse
import asyncio
import os
import shlex
import signal
import socket
import subprocess
import sys
from collections.abc import Iterable, Sequence

from hookline.agent.settings import read_settings
from hookline.cli.commands.run.command import NOT_FOUND, WIDEST, FollowedCommand
from hookline.cli.engines import command_engine, report_diagnostics
from hookline.cli.output import ExitStatus, note
from hookline.config.engine import Engine
from hookline.engine.host.tool import ApprovalRequest
from hookline.execguard.guard import SessionDecider
from hookline.execguard.judge import RuleRow
from hookline.execguard.messages import NetworkWall, SupervisedCommand, sealed, send
from hookline.execguard.probe import Capabilities, capabilities
from hookline.execguard.ready import START_ALONE
from hookline.execguard.supervision import MOST_DENIALS, CallContext, ExecDecider
from hookline.execguard.walls.files import file_wall
from hookline.handlers.process.spawn import find_program
from hookline.model.raw import Failed
from hookline.model.safe_text import one_line, printable
from hookline.permissions.rules import PermissionRule, RuleReader, is_about_commands


async def run(args: argparse.Namespace) -> int:
    words = args.command_words[1:] if args.command_words[:1] == ["--"] else args.command_words
    if args.shell_server is not None:
        from hookline.cli.commands.run.shell import serve_shells

        return await serve_shells(args.shell_server)
    if args.shell is not None:
        from hookline.cli.commands.run.shell import run_shell

        return await run_shell(args.shell, words)
    if not words:
        note("hookline: there is no command; write it after --: hookline run -- make test")
        return ExitStatus.PROBLEM
    found = capabilities()
    missing = _missing(found, args)
    if missing:
        note(printable(f"hookline: {missing}"))
        return ExitStatus.PROBLEM
    if found.level == "notify":
        note(printable(f"hookline: programs are judged, but not verified: {found.why}"))
    cwd = os.getcwd()
    program = find_program(words[0], os.environ.get("PATH", os.defpath), cwd)
    if isinstance(program, Failed):
        note(printable(f"hookline: {program.detail}"))
        return NOT_FOUND
    engine = command_engine(None, cwd, origin="run")
    engine.approve = _ask_at_terminal
    try:
        decider = decider_in(
            engine, cwd, args.session, map(_given, args.deny), map(_given, args.ask), attended=_has_terminal()
        )
        job = SupervisedCommand(
            argv=tuple(words), program=program, env=dict(os.environ), cwd=cwd,
            mode="verify" if found.level == "verify" else "notify", trusts_first=False,
            asks_always=decider.asks_always, most_denials=MOST_DENIALS, outlives=True,
            files=file_wall(decider.rules) if args.walls else None,
            network=NetworkWall(tuple(args.only_host)) if args.only_host is not None else None,
        )  # fmt: skip
        return await run_alone(decider, job, CallContext(shlex.join(job.argv)))
    finally:
        await engine.close()


def _missing(found: Capabilities, args: argparse.Namespace) -> str:
    """Return why nothing is run: what was asked for does not work here."""
    if found.level == "none":
        return f"the exec guard does not work here, so nothing was run: {found.why}"
    if args.walls and not found.landlock:
        return f"file walls do not work here, so nothing was run: {found.landlock_why}"
    if args.only_host is not None and found.network_why:
        return f"there is no network wall here, so nothing was run: {found.network_why}"
    return ""


def decider_in(
    engine: Engine,
    directory: str,
    session_id: str = "",
    deny: Iterable[RuleRow] = (),
    ask: Iterable[RuleRow] = (),
    *,
    attended: bool = False,
    quiet: bool = False,
) -> SessionDecider:
    """Return who decides by the rules and guards of a directory, as its files are now."""
    found = rules_in(engine, directory, quiet=quiet)
    session = engine.session(session_id or "run", cwd=directory, attended=attended)
    return SessionDecider(session, (*found[0], *deny), (*found[1], *ask))


def rules_in(engine: Engine, directory: str, *, quiet: bool) -> tuple[Sequence[RuleRow], Sequence[RuleRow]]:
    """Load the guards of a directory, and return its rules that deny and that ask, as its files are now."""
    loaded = engine.load(directory)
    reader = RuleReader(home=engine.env.get("HOME", ""))
    settings = read_settings(directory, engine.env, reader, engine.trust)
    if not quiet:
        report_diagnostics((*loaded.diagnostics, *settings.diagnostics, *settings.unreadable))
    layers = settings.layers.values()
    return (
        _rows(rule for layer in layers for rule in layer.deny),
        _rows(rule for layer in layers for rule in layer.ask),
    )


def _rows(rules: Iterable[PermissionRule]) -> list[RuleRow]:
    return [RuleRow(rule.text, rule.source) for rule in rules if is_about_commands(rule)]


def _given(text: str) -> RuleRow:
    return RuleRow(text, "the command line")


async def run_alone(decider: ExecDecider, job: SupervisedCommand, call: CallContext) -> int:
    """Run a command with our terminal, group and streams; return its exit status."""
    loop = asyncio.get_running_loop()
    channel, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    supervisor = subprocess.Popen(  # noqa: ASYNC220 - it needs our terminal, group and streams
        [sys.executable, "-I", "-c", START_ALONE, str(theirs.fileno()), *sys.path],
        pass_fds=(theirs.fileno(),),
    )
    theirs.close()
    rules, described = sealed(decider.rules), sealed(job)
    send(channel, b"J", (rules, described))
    os.close(rules)
    os.close(described)
    command = FollowedCommand(decider, call, channel, note)

    def pass_on(number: signal.Signals) -> None:
        if command.pid:
            try:
                os.kill(command.pid, number)
            except ProcessLookupError:
                pass

    # The terminal sends these to the command, too; what only we get is passed on.
    loop.add_signal_handler(signal.SIGINT, lambda: None)
    for number in (signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, pass_on, number)
    try:
        return await command.end()
    finally:
        # It may go on: what the command left running is still supervised.
        supervisor.poll()


def _has_terminal() -> bool:
    try:
        os.close(os.open("/dev/tty", os.O_RDWR | os.O_CLOEXEC))
    except OSError:
        return False
    return True


def _ask_at_terminal(request: ApprovalRequest) -> bool:
    with open("/dev/tty", "r+", encoding="utf-8", errors="replace") as terminal:
        command = one_line(str(request.tool_input.get("command", "")), WIDEST)
        terminal.write(printable(f"hookline: may this run? {command}\n  {request.reason}\n  yes or no: "))
        terminal.flush()
        return terminal.readline().strip().casefold() in ("y", "yes")
