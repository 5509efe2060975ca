"""Ask Codex itself which hooks it runs: `hooks/list` of `codex app-server`, one question over its standard streams."""

import json
import os
import selectors
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any, cast

import msgspec
from msgspec import Struct

#: Seconds that its start and the answer may take.
SECONDS = 10.0
#: Variables that it gets: what it needs to find its files and its Node.js, and no keys.
_TAKEN = ("HOME", "CODEX_HOME", "PATH", "LANG", "LC_ALL", "TMPDIR")
_QUESTIONS = (
    {"id": 1, "method": "initialize", "params": {"clientInfo": {"name": "hookline", "version": "1"}}},
    {"method": "initialized"},
)
_ANSWER = 2


class AppServerHook(Struct, frozen=True, rename={"trust": "trustStatus"}):
    """A hook as Codex has it."""

    key: str
    #: untrusted, trusted, modified or managed.
    trust: str
    enabled: bool = True


class _Directory(Struct, frozen=True):
    hooks: tuple[AppServerHook, ...] = ()


class _Result(Struct, frozen=True):
    data: tuple[_Directory, ...] = ()


def listed_hooks(program: str, cwd: str, env: Mapping[str, str]) -> list[AppServerHook] | None:
    """Return the hooks that Codex loads in a directory; None for a Codex that does not answer, as older ones do."""
    question = {"id": _ANSWER, "method": "hooks/list", "params": {"cwds": [cwd]}}
    lines = "".join(f"{json.dumps(each)}\n" for each in (*_QUESTIONS, question)).encode()
    given = {name: env[name] for name in _TAKEN if env.get(name)}
    try:
        process = subprocess.Popen(
            [program, "app-server"], cwd=os.sep, env=given, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip
    except OSError:
        return None
    try:
        with suppress(OSError, ValueError):
            for answer in _answers(process, lines):
                if answer.get("id") == _ANSWER:
                    return list(_read(answer))
        return None
    finally:
        with suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                with suppress(OSError):
                    stream.close()


def _answers(process: "subprocess.Popen[bytes]", lines: bytes) -> Iterator[Mapping[str, Any]]:
    """Yield the documents that it writes, until its time is over. Raises OSError and ValueError."""
    if process.stdin is None or process.stdout is None:
        return
    process.stdin.write(lines)
    process.stdin.flush()
    until, received = time.monotonic() + SECONDS, b""
    with selectors.DefaultSelector() as waiting:
        waiting.register(process.stdout, selectors.EVENT_READ)
        while (left := until - time.monotonic()) > 0 and waiting.select(left):
            part = os.read(process.stdout.fileno(), 1 << 16)
            if not part:
                return
            *whole, received = (received + part).split(b"\n")
            for line in whole:
                value: Any = json.loads(line)
                if isinstance(value, dict):
                    yield cast("Mapping[str, Any]", value)


def _read(answer: Mapping[str, Any]) -> Iterator[AppServerHook]:
    """Read the hooks of all directories. Raises ValueError for another shape."""
    try:
        found = msgspec.convert(answer.get("result"), _Result, strict=False)
    except msgspec.ValidationError as problem:
        raise ValueError(str(problem)) from None
    return (hook for directory in found.data for hook in directory.hooks)
