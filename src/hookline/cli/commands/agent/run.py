"""Run the agent: on a screen, by lines, or with nothing but its answers; or list the sessions it may continue."""

import argparse
import os
import sys
from collections.abc import Coroutine, Mapping
from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from hookline.cli.output import ExitStatus, note, show

if TYPE_CHECKING:
    from hookline.agent.user_interface import UserInterface


def run(args: argparse.Namespace) -> "int | Coroutine[Any, Any, int]":
    args.format = "json" if args.json else args.output_format
    if args.resume == "":
        return _list_sessions(args)
    if args.resume is None and args.continue_:
        args.resume = "last"
    if args.screen is not None and wants_screen(args, os.environ):
        return args.screen(partial(_play_on, args))
    return _play(args)


def wants_screen(args: argparse.Namespace, env: Mapping[str, str]) -> bool:
    """Return True at a terminal that can show a screen, where it is installed, unless lines are requested."""
    if args.plain or args.print or args.format != "text" or env.get("TERM", "dumb") == "dumb":
        return False
    if not all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stdout, sys.stderr)):
        return False
    # Looks for the packages without importing them.
    return all(find_spec(name) is not None for name in ("prompt_toolkit", "rich"))


async def _play_on(args: argparse.Namespace, front: "UserInterface") -> int:
    from hookline.cli.commands.agent.play import play

    return await play(args, front)


async def _play(args: argparse.Namespace) -> int:
    from hookline.cli.commands.agent.play import play
    from hookline.cli.commands.agent.report import front_for

    if args.print or args.format != "text":
        from hookline.cli.commands.agent.piped import with_piped_input

        args.words = with_piped_input(args.words)
    return await play(args, front_for(args))


def _list_sessions(args: argparse.Namespace) -> ExitStatus:
    from hookline.agent.transcript.store import SessionsStore, listed
    from hookline.cli.engines import working_directory

    cwd = os.path.realpath(working_directory(args.cwd))
    note("the sessions of this project, newest first; --resume ID continues one, --continue the newest")
    return show(listed(SessionsStore(os.environ, cwd)))
