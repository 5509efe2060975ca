"""Run the agent: a conversation by lines, or nothing but its answers; or list the sessions it may go on with."""

import argparse
import os
from collections.abc import Coroutine
from typing import Any

from hookline.cli.output import ExitStatus, note, show


def run(args: argparse.Namespace) -> "int | Coroutine[Any, Any, int]":
    args.format = "json" if args.json else args.output_format
    if args.resume == "":
        return _list_sessions(args)
    if args.resume is None and args.continue_:
        args.resume = "last"
    return _play(args)


async def _play(args: argparse.Namespace) -> int:
    from hookline.cli.commands.agent.play import play
    from hookline.cli.commands.agent.report import front_for

    return await play(args, front_for(args))


def _list_sessions(args: argparse.Namespace) -> ExitStatus:
    from hookline.agent.transcript.store import SessionsStore, listed
    from hookline.cli.engines import working_directory

    cwd = os.path.realpath(working_directory(args.cwd))
    note(
        "the sessions of this project, newest first; --resume ID goes on with one, --continue with the newest"
    )
    return show(listed(SessionsStore(os.environ, cwd)))
