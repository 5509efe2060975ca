"""Run this machine's part in the fleet until it is ended: `hookline fleet worker`."""

import argparse
import asyncio
import os
import signal
from collections.abc import Callable
from typing import TYPE_CHECKING

from hookline.cli.engines import server_observer
from hookline.cli.output import ExitStatus, log_lines, show
from hookline.model.errors import HooklineError
from hookline.team.fleet.settings import FleetSettings, read_settings
from hookline.team.fleet.worker import Worker, with_slots
from hookline.team.ops import Operations, operating

if TYPE_CHECKING:
    from hookline.telemetry.observer import Telemetry

#: Seconds that its end may take to send telemetry.
_FLUSH_SECONDS = 5.0


async def run(args: argparse.Namespace) -> int:
    say = log_lines(args.log, "hookline fleet")
    settings = with_slots(read_settings(os.environ), args.slots)
    observer = server_observer(os.environ, say, machine=settings.name)
    try:
        return await _stay(args, settings, say, observer)
    finally:
        if observer is not None:
            await asyncio.to_thread(observer.flush, _FLUSH_SECONDS)


async def _stay(
    args: argparse.Namespace,
    settings: FleetSettings,
    say: Callable[[str], None],
    observer: "Telemetry | None",
) -> int:
    again = asyncio.Event()
    worker = Worker(settings, os.environ, say, for_all=args.for_all)
    if observer is not None:
        observer.watch_machine(lambda: worker.facts())  # noqa: PLW0108 of the worker that is there then
    while True:
        operations = Operations(worker.not_ready, worker.metrics)
        try:
            async with operating(args.ops_host, args.ops_port, operations) as port:
                if port is not None:
                    say(f"http://{args.ops_host}:{port}/healthz, /readyz and /metrics")
                await _until_signalled(worker, again)
        except OSError as problem:
            say(f"cannot listen on {args.ops_host} port {args.ops_port}: {problem.strerror or problem}")
            return ExitStatus.PROBLEM
        if not again.is_set():
            return show(f"{settings.name} has left the fleet")
        again.clear()
        settings = _settings_again(args, settings, say)
        worker = Worker(settings, os.environ, say, for_all=args.for_all)


async def _until_signalled(worker: Worker, again: asyncio.Event) -> None:
    """Run a worker until a signal ends it; HUP asks for another one."""
    task = asyncio.ensure_future(worker.run())
    loop = asyncio.get_running_loop()

    def reload() -> None:
        again.set()
        task.cancel()

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, task.cancel)
    loop.add_signal_handler(signal.SIGHUP, reload)
    try:
        await task
    except asyncio.CancelledError:
        pass


def _settings_again(
    args: argparse.Namespace, before: FleetSettings, say: Callable[[str], None]
) -> FleetSettings:
    """Read the settings again. Those with a mistake leave the last ones."""
    try:
        settings = with_slots(read_settings(os.environ), args.slots)
    except HooklineError as problem:
        say(f"the settings stay as they were: {problem}")
        return before
    say("the settings were read again")
    return settings
