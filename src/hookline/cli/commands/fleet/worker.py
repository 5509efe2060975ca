"""Run this machine's part in the fleet until it is ended: `hookline fleet worker`."""

import argparse
import asyncio
import os
import signal

from hookline.cli.output import ExitStatus, note, show
from hookline.model.safe_text import one_line
from hookline.team.fleet.settings import read_settings
from hookline.team.fleet.worker import Worker, with_slots


async def run(args: argparse.Namespace) -> int:
    settings = with_slots(read_settings(os.environ), args.slots)
    worker = Worker(settings, os.environ, lambda line: note(one_line(f"hookline fleet: {line}", 500)))
    task = asyncio.ensure_future(worker.run())
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        loop.add_signal_handler(number, task.cancel)
    try:
        await task
    except asyncio.CancelledError:
        return show(f"{settings.name} has left the fleet")
    return ExitStatus.OK
