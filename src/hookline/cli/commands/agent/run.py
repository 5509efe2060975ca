"""Run the agent: on a screen, by lines, or with nothing but its answers; or list the sessions it may continue."""

import argparse
import os
import select
import stat
import sys
from collections.abc import Coroutine, Mapping, Sequence
from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from hookline.cli.output import ExitStatus, note, show

if TYPE_CHECKING:
    from hookline.agent.user_interface import UserInterface

_MOST_BYTES = 1 << 20
#: A pipe that stays silent for so many seconds is not waited for: the program that started the agent may hold it open.
_FIRST_BYTE = 3.0


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
        args.words = with_piped_input(args.words)
    return await play(args, front_for(args))


def _list_sessions(args: argparse.Namespace) -> ExitStatus:
    from hookline.agent.transcript.store import SessionsStore, listed
    from hookline.cli.engines import working_directory

    cwd = os.path.realpath(working_directory(args.cwd))
    note("the sessions of this project, newest first; --resume ID continues one, --continue the newest")
    return show(listed(SessionsStore(os.environ, cwd)))


def with_piped_input(words: Sequence[str], descriptor: int = 0) -> list[str]:
    """Return the prompts; the first one with the piped text, if there is any."""
    if not words or not _is_piped(descriptor):
        return list(words)
    text, cut = _read(descriptor)
    if not text.strip():
        return list(words)
    if cut:
        note(f"warning: only the first {_MOST_BYTES} bytes of standard input are used")
    return [f"{words[0]}\n\n<stdin>\n{text.rstrip()}\n</stdin>", *words[1:]]


def _is_piped(descriptor: int) -> bool:
    try:
        mode = os.fstat(descriptor).st_mode
    except OSError:
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISREG(mode) or stat.S_ISSOCK(mode)


def _read(descriptor: int) -> tuple[str, bool]:
    if not select.select([descriptor], [], [], _FIRST_BYTE)[0]:
        note(f"note: nothing on standard input for {_FIRST_BYTE:g} s; continuing without it")
        return "", False
    content = b""
    while len(content) <= _MOST_BYTES:
        try:
            chunk = os.read(descriptor, 65536)
        except OSError:
            break
        if not chunk:
            break
        content += chunk
    return content[:_MOST_BYTES].decode("utf-8", "replace"), len(content) > _MOST_BYTES
