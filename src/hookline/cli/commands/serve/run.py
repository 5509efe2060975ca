"""Load the hooks, listen, and report."""

import argparse
import os
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import msgspec

from hookline.cli.engines import (
    any_error,
    command_handlers,
    command_journal,
    command_observer,
    load,
    report_diagnostics,
    working_directory,
)
from hookline.cli.output import ExitStatus, log_lines, note, show
from hookline.cli.requests import RequestError
from hookline.cli.text import count_of
from hookline.config.engine import Engine
from hookline.team.ops import Operations, operating
from hookline.team.serve.access import Access, AccessError, default_token_file, require_safe_bind
from hookline.team.serve.app import DECIDE, DecisionApp, ServerLimits, ServerStatus
from hookline.team.serve.decide import Decider, InServerDirectory, Lifetimes, load_guards, revision_of

if TYPE_CHECKING:
    from ssl import SSLContext

    from hookline.handlers.process.pool import Processes

_CALLER = "hookline serve"


@runtime_checkable
class ServerObserver(Protocol):
    """Telemetry that also watches the queue of a server."""

    def watch_server(self, status: Callable[[], tuple[int, int, Mapping[str, int]]]) -> None: ...


async def run(args: argparse.Namespace) -> int:
    access, bounds = _access(args), _bounds(args)
    require_safe_bind(args.host, access)
    tls, tokens = access.tls(), access.tokens()
    say = log_lines(args.log, _CALLER)
    try:
        from hookline.team.serve.server import Listening, decision_server, open_socket, serve
    except ModuleNotFoundError as missing:
        from hookline.extras import how_to_add

        note(f"hookline serve: it needs {missing.name}: {how_to_add('serve')}")
        return ExitStatus.PROBLEM
    engine = _engine(args)
    try:
        decider = _decider(engine, args, bounds)
        if decider is None:
            return ExitStatus.PROBLEM
        await load_guards(engine)
        listening = Listening(args.host, args.port, tls, args.share_port)
        try:
            listener = open_socket(listening)
        except (OSError, OverflowError) as problem:
            why = getattr(problem, "strerror", None) or problem
            note(
                f"hookline serve: cannot listen on {args.host} port {args.port}: {why}; say another --host or --port"
            )
            return ExitStatus.PROBLEM
        app = DecisionApp(decider, tokens, bounds)
        if isinstance(engine.observer, ServerObserver):
            engine.observer.watch_server(lambda: (app.waiting, app.under_way, app.counts.refused))
        started = partial(_started, args, access, decider, listener.getsockname()[1])
        server = decision_server(app, listening, bounds)

        def reload() -> None:
            _reload(decider, args, say)
            _reload_access(app, access, tls, say)

        def ending() -> None:
            app.accepting = False

        try:
            async with operating(
                args.ops_host, args.ops_port, Operations(app.not_ready, app.metrics)
            ) as port:
                if port is not None:
                    say(f"http://{args.ops_host}:{port}/healthz, /readyz and /metrics")
                await serve(server, listener, started, reload, ending)
        except OSError as problem:
            say(f"cannot listen on {args.ops_host} port {args.ops_port}: {problem.strerror or problem}")
            return ExitStatus.PROBLEM
        return _ended(app.status(), as_json=args.json)
    finally:
        await engine.close()


def _access(args: argparse.Namespace) -> Access:
    token_file = args.token_file
    if token_file is None and not args.client_ca:
        token_file = default_token_file(os.environ)
    return Access(token_file or "", args.cert or "", args.key or "", args.client_ca or "")


def _bounds(args: argparse.Namespace) -> ServerLimits:
    if not 0 < args.deadline <= 600:
        raise RequestError(f"--deadline {args.deadline:g}: say seconds, up to 600")
    for name in ("at_once", "queue", "per_caller", "deny_seconds", "allow_seconds"):
        if not (1 if name in ("at_once", "per_caller") else 0) <= getattr(args, name) <= 100_000:
            raise RequestError(f"--{name.replace('_', '-')} {getattr(args, name)} is out of range")
    return ServerLimits(
        at_once=args.at_once, queue=args.queue, deadline=args.deadline, per_caller=args.per_caller
    )


def _engine(args: argparse.Namespace) -> Engine:
    cwd = working_directory(args.cwd)
    handlers = command_handlers(args.model, cwd, processes=_warm_processes)
    commands = InServerDirectory(handlers["command"], cwd)
    journal = command_journal(caller=_CALLER)
    return Engine(
        handlers=handlers | {"command": commands},
        journal=journal,
        observer=command_observer(journal, lasting=True),
    )


def _warm_processes() -> "Processes":
    from hookline.handlers.process.pool import Processes

    return Processes(containment="subreaper", warm=True)


def _decider(engine: Engine, args: argparse.Namespace, bounds: ServerLimits) -> Decider | None:
    loaded = load(engine, args, working_directory(args.cwd))
    report_diagnostics(loaded.diagnostics)
    if any_error(loaded.diagnostics):
        note("hookline serve: not started: a guard with a mistake would let actions pass that it should stop")
        return None
    if not engine.hooks:
        note(
            "hookline serve: not started: no hook is configured here, so everything would pass; say --config or --cwd"
        )
        return None
    lifetimes = Lifetimes(args.deny_seconds, args.allow_seconds)
    return Decider(engine, engine.loader.home, revision_of(loaded), bounds.deadline, lifetimes)


def _reload_access(
    app: DecisionApp, access: Access, tls: "SSLContext | None", say: Callable[[str], None]
) -> None:
    """Read the tokens and the certificate again. What cannot be used leaves the last ones."""
    try:
        tokens = access.tokens()
        access.reload(tls)
    except AccessError as problem:
        say(f"the tokens and the certificate stay as they were: {problem}")
        return
    app.tokens = tokens


def _reload(decider: Decider, args: argparse.Namespace, say: Callable[[str], None]) -> None:
    """Reload the configuration. One with a mistake, or without hooks, leaves the last one active."""
    before = decider.engine.hooks
    try:
        loaded = load(decider.engine, args, working_directory(args.cwd))
    except Exception as problem:  # noqa: BLE001 whatever is wrong with the files, decisions continue
        say(f"not reloaded: {type(problem).__name__}: {problem}")
        return
    report_diagnostics(loaded.diagnostics)
    if any_error(loaded.diagnostics) or not decider.engine.hooks:
        decider.engine.swap(before)
        say(f"revision {decider.revision} stays active")
        return
    decider.revision = revision_of(loaded)
    say(f"revision {decider.revision}, {count_of(len(decider.engine.hooks), 'hook')}")


def _started(args: argparse.Namespace, access: Access, decider: Decider, port: int) -> None:
    host = f"[{args.host}]" if ":" in args.host else args.host
    url = f"{'https' if access.cert else 'http'}://{host}:{port}{DECIDE}"
    count = len(decider.engine.hooks)
    if args.json:
        line = {"url": url, "revision": decider.revision, "hooks": count, "token_file": access.token_file}
        show(msgspec.json.encode(line).decode(), as_json=True)
        return
    show(f"{url}  revision {decider.revision}, {count_of(count, 'hook')}")
    who = f"the token in {access.token_file}" if access.token_file else ""
    both = " and ".join(
        filter(None, (who, f"a certificate signed by {access.client_ca}" if access.client_ca else ""))
    )
    show(f"callers need {both}")


def _ended(status: ServerStatus, *, as_json: bool) -> int:
    if as_json:
        return show(msgspec.json.encode(status).decode(), as_json=True)
    refused = ", ".join(f"{count} {why}" for why, count in sorted(status.refused.items()))
    text = f"{count_of(status.decisions, 'decision')}: {status.denied} denied, {status.timed_out} not made in time, "
    text += f"{status.failed_open} failed open"
    return show(text + (f"; refused: {refused}" if refused else ""))
