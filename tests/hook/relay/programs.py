"""Provide both relays, each in a directory with a `hookline` that prints what it got, or the real one."""

import ast
import atexit
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Literal

import pytest
from msgspec import Struct

import hookline
from hookline.hook.relay.build import compile_relay, write_pure_relay

Kind = Literal["compiled", "pure"]
KINDS: tuple[Kind, ...] = ("compiled", "pure")
_SOURCE = str(Path(hookline.__file__).parents[1])
CALL = ("hook", "--dialect", "native", "PreToolUse")
#: What the telling `hookline` exits with.
IN_PROCESS = 7

# Without the standard library's packages: this is started hundreds of times.
_TELLING = f"""#!{sys.executable} -IS
import posix, sys
parts = []
while True:
    try:
        part = posix.read(0, 1 << 20)
    except OSError as problem:
        parts.append(b"error %d" % problem.errno)
        break
    if not part:
        break
    parts.append(part)
given = b"".join(parts)
try:
    directory = posix.getcwd()
except OSError:
    directory = ""
env = {{name: value for name, value in posix.environ.items() if name != b"LC_CTYPE"}}
size, given = len(given), given[:1000]
told = {{"words": sys.argv[1:], "input": given, "size": size, "env": env, "directory": directory}}
sys.stderr.write(repr(told))
sys.stderr.flush()
posix._exit({IN_PROCESS})
"""


class InProcess(Struct, frozen=True):
    """The arguments and streams that `hookline` was started with."""

    words: list[str]
    #: The first thousand bytes of its input, and how many there were.
    input: bytes
    size: int
    env: dict[bytes, bytes]
    directory: str

    @property
    def reason(self) -> str | None:
        found = self.env.get(b"HOOKLINE_RELAY")
        return None if found is None else found.decode().partition(" ")[0]


class Ran(Struct, frozen=True):
    code: int
    stdout: bytes
    stderr: bytes

    @property
    def in_process(self) -> InProcess:
        """Raises AssertionError if the relay answered."""
        assert self.code == IN_PROCESS, self
        return InProcess(**ast.literal_eval(self.stderr.decode()))


class Relay(Struct, frozen=True):
    kind: Kind
    program: Path
    #: Where tests let a server listen.
    directory: Path

    def words(self, *words: str | bytes) -> list[str | bytes]:
        """The command line, with the call that tests make if there are no words."""
        return [str(self.program), "--daemon", str(self.directory), *(words or CALL)]

    def run(
        self,
        *words: str | bytes,
        given: bytes = b"{}",
        env: Mapping[Any, Any] | None = None,
        cwd: Path | None = None,
        **more: Any,
    ) -> Ran:
        done = subprocess.run(
            self.words(*words),
            input=given,
            env=env or clean(),
            cwd=cwd,
            capture_output=True,
            check=False,
            **more,
        )
        return Ran(done.returncode, done.stdout, done.stderr)


def clean() -> dict[str, str]:
    return {"PATH": os.defpath, "PWD": os.getcwd()}


@cache
def programs() -> Path:
    """Make a directory with one bin/ for each kind, once per process of a test run."""
    directory = Path(tempfile.mkdtemp(prefix="hookline-relays-"))
    atexit.register(shutil.rmtree, directory, ignore_errors=True)
    for kind in KINDS:
        (directory / kind).mkdir()
        telling = directory / kind / "hookline"
        telling.write_text(_TELLING)
        telling.chmod(0o755)
    compile_relay(directory / "compiled" / "hookline-relay", hookline.__version__)
    write_pure_relay(directory / "pure" / "hookline-relay", hookline.__version__, _SOURCE)
    return directory


def relay_of(kind: Kind, directory: Path) -> Relay:
    program = programs() / kind / "hookline-relay"
    if not program.exists():
        pytest.skip("there is no C compiler")
    return Relay(kind, program, directory)


def real_relay(kind: Kind, directory: Path, bin_directory: Path) -> Relay:
    """A relay with the real `hookline` beside it."""
    bin_directory.mkdir(parents=True)
    shutil.copy(relay_of(kind, directory).program, bin_directory)
    real = bin_directory / "hookline"
    real.write_text(f"#!{sys.executable}\nfrom hookline.app import main\nmain()\n")
    real.chmod(0o755)
    return Relay(kind, bin_directory / "hookline-relay", directory)


def env_of(entries: Sequence[bytes]) -> dict[bytes, bytes]:
    """Without what a shell sets on its way."""
    pairs = dict(entry.split(b"=", 1) for entry in entries)
    return {name: value for name, value in pairs.items() if name not in (b"_", b"SHLVL", b"OLDPWD")}
