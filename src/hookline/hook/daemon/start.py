"""Start the daemon: by hand, or after a call that found none."""

import os
import pwd
import sys
import time
from collections.abc import Mapping
from typing import Final

from hookline.config.home import Home
from hookline.hook.daemon import protocol
from hookline.hook.daemon.directory import TRIED, DirectoryError, connect, open_directory
from hookline.hook.daemon.protocol import RelayReply, RelayRequest
from hookline.journal.file import state_dir
from hookline.model.safe_text import one_line
from hookline.telemetry.variables import spawn_detached, taken_over

#: `off`: calls start no daemon.
SWITCH: Final = "HOOKLINE_DAEMON"
_MOST_LOG: Final = 1 << 20
#: Seconds in which calls start one daemon only, if it does not come to listen.
_TRY_SECONDS: Final = 30.0


def start(
    directory: str | None = None, options: tuple[str, ...] = (), env: Mapping[str, str] = os.environ
) -> int:
    """Start the daemon in its own session, with nothing inherited; return the process. Raises OSError.

    HOME in `env` is the chosen home directory.
    """
    home = Home(env.get("HOME", ""))
    words = [sys.executable, "-I", "-m", "hookline", "daemon", "run", *options, *home.option]
    words += ["--directory", directory] if directory else []
    return spawn_detached(words, {**taken_over(env, home.path), **_account()})


def _account() -> dict[str, str]:
    """Return the user's facts in the user database; nothing for a user without an entry."""
    try:
        found = pwd.getpwuid(os.geteuid())
    except KeyError:
        return {}
    return {"USER": found.pw_name, "LOGNAME": found.pw_name, "SHELL": found.pw_shell or "/bin/sh"}


def start_if_wanted(relay: str, env: Mapping[str, str]) -> None:
    """Start a daemon after a call that a relay had to hand over, for the next one. Fails silently."""
    why, _, directory = relay.partition(" ")
    if why not in ("none", "version") or env.get(SWITCH) == "off":
        return
    try:
        opened = open_directory(directory or None, create=True)
        try:
            if _tried_lately(opened.descriptor):
                return
        finally:
            opened.close()
        start(directory or None, env=env)
    except (OSError, DirectoryError):
        return


def _tried_lately(directory: int) -> bool:
    """Return True if a call has started one that does not listen yet: not every call is to start another."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
    try:
        lately = time.time() - os.stat(TRIED, dir_fd=directory, follow_symlinks=False).st_mtime < _TRY_SECONDS
    except FileNotFoundError:
        lately = False
    if not lately:
        os.close(os.open(TRIED, flags, 0o600, dir_fd=directory))
        os.utime(TRIED, dir_fd=directory)
    return lately


def ask(directory: str | None, *words: str, version: str) -> RelayReply:
    """Send the daemon a command. Raises OSError or DirectoryError where there is none."""
    opened = open_directory(directory)
    try:
        with connect(opened) as connection:
            request = RelayRequest(version, os.sep, ("daemon", *words), {}, b"")
            connection.sendall(protocol.write_request(request))
            received = b""
            while (found := protocol.read_frame(received)) is None:
                part = connection.recv(1 << 16)
                if not part:
                    raise ConnectionResetError("the daemon has closed the connection")
                received += part
    finally:
        opened.close()
    kind, body = found
    return protocol.read_reply(body) if kind == protocol.ANSWER else RelayReply(2, b"", body)


class LogFile:
    """The daemon's log: a line each time it starts, ends, or fails at something."""

    def __init__(self, env: Mapping[str, str]) -> None:
        self.path = os.path.join(state_dir(env), "daemon.log")

    def __call__(self, line: str) -> None:
        stamp = time.strftime("%Y-%m-%d %H:%M:%S")
        try:
            os.makedirs(os.path.dirname(self.path), 0o700, exist_ok=True)
            flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
            descriptor = os.open(self.path, flags, 0o600)
            try:
                if os.fstat(descriptor).st_size > _MOST_LOG:
                    os.ftruncate(descriptor, 0)
                os.write(descriptor, f"{stamp} [{os.getpid()}] {one_line(line, 1000)}\n".encode())
            finally:
                os.close(descriptor)
        except OSError:
            return
