"""Choose how the agent is shown, and run it: on a screen, by lines, or with nothing but the answer."""

import argparse
import os
import sys
from collections.abc import Coroutine
from functools import partial
from typing import Any

from hookline.cli.output import ExitStatus, note


def run(args: argparse.Namespace) -> "int | Coroutine[Any, Any, int]":
    if args.resume == "":
        return _list_sessions(args)
    args.format = "json" if args.json else args.output_format
    if args.resume is None and args.continue_:
        args.resume = "last"
    if _is_shown(args):
        status = _on_screen(args)
        if status is not None:
            return status
    return _without_screen(args)


def _is_shown(args: argparse.Namespace) -> bool:
    """A screen needs a terminal on all sides, one that can be steered."""
    if args.print or args.plain or args.format != "text" or os.environ.get("TERM", "dumb") == "dumb":
        return False
    return all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stdout, sys.stderr))


def _on_screen(args: argparse.Namespace) -> int | None:
    """None if there is no screen: then the conversation is by lines."""
    open_screen = getattr(args, "open_screen", None)
    if open_screen is None:
        return None
    return open_screen(args, partial(_play, args))


async def _play(args: argparse.Namespace, front: Any) -> int:
    # Loading it takes longer than showing a first screen.
    from hookline.cli.commands.agent.play import play

    return await play(args, front)


async def _without_screen(args: argparse.Namespace) -> int:
    from hookline.cli.commands.agent.play import play
    from hookline.cli.commands.agent.report import front_for

    return await play(args, front_for(args))


def _list_sessions(args: argparse.Namespace) -> ExitStatus:
    from hookline.agent.transcript.store import SessionsStore, listed
    from hookline.cli.engines import working_directory
    from hookline.cli.output import show

    cwd = os.path.realpath(working_directory(args.cwd))
    note(
        "the sessions of this project, newest first; --resume ID goes on with one, --continue with the newest"
    )
    return show(listed(SessionsStore(os.environ, cwd)))
