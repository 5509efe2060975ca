"""Starting the resident: by hand, or behind the back of a call that found none."""

import os
import pwd
import re
import sys
import time
from collections.abc import Mapping
from typing import Final

from hookline.config.home import Home
from hookline.journal.file import state_dir
from hookline.model.safe_text import one_line
from hookline.resident import protocol
from hookline.resident.folder import TRIED, FolderError, connect, open_folder
from hookline.resident.protocol import Reply, Request

#: `off`: calls start no resident.
SWITCH: Final = "HOOKLINE_RESIDENT"
#: What the resident takes from the environment of the call that starts it. Everything else, PATH and HOME as well, a
#: project's settings could have set, and the resident answers for all projects of the user.
_TAKEN: Final = re.compile(
    r"LANG|LC_.*|TZ"
    # Telemetry, which it sends to this machine only.
    r"|OTEL_(SDK_DISABLED|SERVICE_NAME|RESOURCE_ATTRIBUTES|(TRACES|METRICS)_EXPORTER|TRACES_SAMPLER(_ARG)?|"
    r"EXPORTER_OTLP_.*|BSP_.*|METRIC_EXPORT_.*|INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT)",
    re.DOTALL,
)
_PATH: Final = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_MOST_LOG: Final = 1 << 20
#: Seconds in which calls start one daemon only, if it does not come to listen.
_TRY_SECONDS: Final = 30.0


def start(
    folder: str | None = None, options: tuple[str, ...] = (), env: Mapping[str, str] = os.environ
) -> int:
    """Start it in a session of its own, without anything of ours; returns the process. Raises OSError.

    HOME in `env` is the home directory that was decided on.
    """
    home = Home(env.get("HOME", ""))
    words = [sys.executable, "-I", "-m", "hookline", "resident", "run", *options, *home.option]
    words += ["--folder", folder] if folder else []
    own = {name: value for name, value in env.items() if _TAKEN.fullmatch(name)}
    own |= {"PATH": _PATH, "HOME": home.path, **_account()}
    nothing = (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDWR, 0)
    actions = [nothing, (os.POSIX_SPAWN_DUP2, 0, 1), (os.POSIX_SPAWN_DUP2, 0, 2)]
    return os.posix_spawn(sys.executable, words, own, file_actions=actions, setsid=True)


def _account() -> dict[str, str]:
    """Return what the user database says of the user; nothing for a user without an entry."""
    try:
        found = pwd.getpwuid(os.geteuid())
    except KeyError:
        return {}
    return {"USER": found.pw_name, "LOGNAME": found.pw_name, "SHELL": found.pw_shell or "/bin/sh"}


def start_if_wanted(relay: str, env: Mapping[str, str]) -> None:
    """After a call that a relay had to hand over: the next one is to find a resident. Fails silently."""
    why, _, folder = relay.partition(" ")
    if why not in ("none", "version") or env.get(SWITCH) == "off":
        return
    try:
        opened = open_folder(folder or None, create=True)
        try:
            if _tried_lately(opened.descriptor):
                return
        finally:
            opened.close()
        start(folder or None, env=env)
    except (OSError, FolderError):
        return


def _tried_lately(folder: int) -> bool:
    """Return True if a call has started one that does not listen yet: not every call is to start another."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
    try:
        lately = time.time() - os.stat(TRIED, dir_fd=folder, follow_symlinks=False).st_mtime < _TRY_SECONDS
    except FileNotFoundError:
        lately = False
    if not lately:
        os.close(os.open(TRIED, flags, 0o600, dir_fd=folder))
        os.utime(TRIED, dir_fd=folder)
    return lately


def ask(folder: str | None, *words: str, version: str) -> Reply:
    """Send the resident a command. Raises OSError or FolderError where there is none."""
    opened = open_folder(folder)
    try:
        with connect(opened) as connection:
            request = Request(version, os.sep, ("resident", *words), {}, b"")
            connection.sendall(protocol.write_request(request))
            received = b""
            while (found := protocol.read_frame(received)) is None:
                part = connection.recv(1 << 16)
                if not part:
                    raise ConnectionResetError("the resident has closed the connection")
                received += part
    finally:
        opened.close()
    kind, body = found
    return protocol.read_reply(body) if kind == protocol.ANSWER else Reply(2, b"", body)


class LogFile:
    """The resident's own log: a line each time it starts, ends, or something goes wrong."""

    def __init__(self, env: Mapping[str, str]) -> None:
        self.path = os.path.join(state_dir(env), "resident.log")

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
