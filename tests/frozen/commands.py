"""Many commands in little time: one process that has the program loaded, and one fork of it per command.

Each command still is a process: it has its own streams, directory and environment, and its exit status is real.
Only the installed entry point is used, so no move of a module changes anything here.
"""

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from tests.cli.run_cli import Place, Ran, clean_env

#: Read from stdin: a list of commands. Written to stdout: a list of what each one did.
_SERVER = """
import gc, importlib, json, os, pkgutil, sys, tempfile
import hookline, hookline.app
for module in pkgutil.walk_packages(hookline.__path__, "hookline."):
    if not module.name.endswith("__main__"):
        importlib.import_module(module.name)
gc.freeze()
def run(command):
    streams = [tempfile.TemporaryFile() for _ in range(3)]
    streams[0].write(command["stdin"].encode())
    streams[0].seek(0)
    child = os.fork()
    if not child:
        for number, stream in enumerate(streams):
            os.dup2(stream.fileno(), number)
        os.chdir(command["cwd"])
        os.environ.clear()
        os.environ.update(command["env"])
        sys.argv = ["hookline", *command["words"]]
        hookline.app.main()
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    texts = []
    for stream in streams[1:]:
        stream.seek(0)
        texts.append(stream.read().decode("utf-8", "replace"))
    return [status, *texts]
json.dump([run(command) for command in json.load(sys.stdin)], sys.stdout)
"""


class Command(Struct, frozen=True):
    where: Place
    words: Sequence[str]
    stdin: str = ""
    env: Mapping[str, str] = {}


def command(where: Place, line: str, **given: Any) -> Command:
    """Of a line as it is typed into a shell."""
    return Command(where, shlex.split(line), **given)


def run_commands(commands: Sequence[Command]) -> list[Ran]:
    """What each one did, one after the other."""
    asked = [
        {
            "words": command.words,
            "stdin": command.stdin,
            "env": clean_env(command.where.home, command.env),
            "cwd": str(command.where.project),
        }
        for command in commands
    ]
    done = subprocess.run(
        [sys.executable, "-c", _SERVER],
        input=json.dumps(asked).encode(),
        stdout=subprocess.PIPE,
        check=True,
        cwd=Path(__file__).parents[2],
        env=os.environ,
    )
    answers = msgspec.json.decode(done.stdout, type=list[tuple[int, str, str]])
    return [Ran(*answer) for answer in answers]
