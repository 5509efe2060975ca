"""Run a real daemon of the user of a scratch home, and calls that relays bring to it."""

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from hookline import __version__
from hookline.hook.daemon.directory import connect, open_directory
from hookline.hook.daemon.protocol import (
    ANSWER,
    BEGINS,
    GO,
    RelayReply,
    RelayRequest,
    read_frame,
    read_reply,
    write_request,
)
from hookline.hook.daemon.server import DaemonStatus
from hookline.hook.daemon.start import ask
from tests.homes import at_home
from tests.hook.relay.programs import Ran
from tests.waiting import wait_until

#: Of each frame, before its body.
HEADER_BYTES = 5


class RefusalError(Exception):
    """The daemon left the call to another process."""


class Daemons:
    """A home, a project, and the residents that were started for them."""

    def __init__(self, top: Path) -> None:
        self.home, self.project, self.directory = top / "home", top / "home" / "project", top / "run"
        self.project.mkdir(parents=True)
        (self.project / ".git").mkdir()
        self.directory.mkdir(mode=0o700)
        self.write("~/.config/hookline/settings.toml", f'trusted = ["{top}"]\n')
        self.started: list[subprocess.Popen[bytes]] = []
        self._number = 0

    def write(self, name: str, text: str) -> Path:
        file = self.home / name[2:] if name.startswith("~/") else self.project / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return file

    @property
    def env(self) -> dict[str, str]:
        return {"HOME": str(self.home), "PATH": os.environ["PATH"], "LANG": "C.UTF-8"}

    def start(
        self, *options: str, env: Mapping[str, str] | None = None, by: Sequence[str] = ()
    ) -> subprocess.Popen[bytes]:
        """Returns when it answers. `by`: a program that runs it."""
        given = {**self.env, **(env or {})}
        own = at_home(["daemon", "run", "--directory", str(self.directory), *options], given)
        words = [*by, sys.executable, "-P", "-m", "hookline", *own]
        process = subprocess.Popen(words, env=given, cwd="/", stdin=subprocess.DEVNULL)
        self.started.append(process)
        wait_until(lambda: self.status() is not None or process.poll() is not None)
        assert process.poll() is None
        return process

    def status(self) -> DaemonStatus | None:
        try:
            return msgspec.json.decode(
                ask(str(self.directory), "status", version=__version__).stdout, type=DaemonStatus
            )
        except OSError:
            return None

    def stop(self) -> None:
        for process in self.started:
            process.kill()
            process.wait()
        # Those that calls have started: one may only be about to listen, and would outlive a stop.
        for process in Path("/proc").iterdir():
            with contextlib.suppress(OSError, ValueError):
                if os.fsencode(self.directory) in (process / "cmdline").read_bytes().split(b"\0"):
                    os.kill(int(process.name), signal.SIGKILL)

    def payload(self, event: str = "PreToolUse", **fields: Any) -> bytes:
        self._number += 1
        received = {
            "hook_event_name": event, "session_id": "s-1", "cwd": str(self.project), "tool_name": "Bash",
            "tool_input": {"command": "ls"}, "tool_use_id": f"call {self._number}", "prompt": "hello",
        }  # fmt: skip
        return json.dumps({**received, **fields}).encode()

    def request(
        self, event: str = "PreToolUse", *, dialect: str = "claude-code", version: str = __version__,
        env: Mapping[str, str] | None = None, words: tuple[str, ...] | None = None, **fields: Any,
    ) -> bytes:  # fmt: skip
        own = at_home(words or ("hook", "--dialect", dialect, event), self.env)
        given = {**self.env, **(env or {})}
        return write_request(
            RelayRequest(version, str(self.project), tuple(own), given, self.payload(event, **fields))
        )

    def call(self, event: str = "PreToolUse", **options: Any) -> RelayReply:
        """As a relay makes it. Raises RefusalError."""
        return self.send(self.request(event, **options))

    def send(self, request: bytes) -> RelayReply:
        directory = open_directory(str(self.directory))
        try:
            with connect(directory, 60) as connection:
                connection.sendall(request)
                received = b""
                while True:
                    while (found := read_frame(received)) is None:
                        part = connection.recv(1 << 16)
                        if not part:
                            raise ConnectionResetError
                        received += part
                    kind, body = found
                    if kind == ANSWER:
                        return read_reply(body)
                    if kind != BEGINS:
                        raise RefusalError(body.decode())
                    received = received[HEADER_BYTES + len(body) :]
                    connection.sendall(GO)
        finally:
            directory.close()

    def in_process(self, payload: bytes, *words: str, env: Mapping[str, str] | None = None) -> Ran:
        """Make the same call without the daemon."""
        done = subprocess.run(
            [sys.executable, "-P", "-m", "hookline", *at_home(words, self.env)], input=payload,
            cwd=self.project, env={**self.env, **(env or {})}, capture_output=True, check=False,
        )  # fmt: skip
        return Ran(done.returncode, done.stdout, done.stderr)


class SharedResident(Daemons):
    """Make a new project, for a daemon that others use as well."""

    def __init__(self, whole: Daemons, name: str) -> None:
        self.home, self.directory, self.project = whole.home, whole.directory, whole.home / name
        self.started = []
        self._number = 0
        self.session = name
        (self.project / ".git").mkdir(parents=True)

    def payload(self, event: str = "PreToolUse", **fields: Any) -> bytes:
        return super().payload(event, **{"session_id": self.session, **fields})


def decision(reply: RelayReply) -> str | None:
    return json.loads(reply.stdout)["hookSpecificOutput"]["permissionDecision"] if reply.stdout else None


def hook_file(*entries: str, event: str = "PreToolUse") -> str:
    return "".join(f"[[hooks.{event}]]\n[[hooks.{event}.hooks]]\n{entry}\n" for entry in entries)


def command(line: str, more: str = "") -> str:
    return f"type = \"command\"\ncommand = '''{line}'''\n{more}"
