"""One repository opened in one way: run it under strace, and say what happened that should not."""

import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import termios
from collections.abc import Iterator
from pathlib import Path
from time import monotonic
from typing import Literal

from msgspec import Struct

import hookline
from hookline.model.safe_text import one_line
from tests.homes import at_home
from tests.hostile.openings import Opening
from tests.hostile.site import ESCAPE, FORGED, KEY, SECRET, WORDS, Site
from tests.hostile.traces import Act, actions, traced

#: Started as users start it: `python -m` would look for modules in the repository.
HOOKLINE = str(Path(sys.executable).parent / "hookline")
_LONGEST = 90.0
_PACKAGE = f"{Path(hookline.__file__).parent}/"
#: A command that is silent for so long waits for keys: after some output, and otherwise.
_SOON, _LATER = 0.3, 1.5
#: Sequences that show nothing.
_CONTROL = re.compile(rb"\x1b\[[\d;?]*[a-zA-Z]|[\r\n]")

#: Where the C library asks for the user's home directory: sockets of the machine itself.
_USER_DATABASES = ('"/var/run/nscd/', '"/run/nscd/', '"/var/lib/sss/pipes/nss"', '"/run/systemd/userdb/')

Kind = Literal["exec", "connect", "write", "leak", "guard", "hang", "crash"]


class Wrong(Struct, frozen=True):
    """Something that happened although the repository is not trusted."""

    kind: Kind
    text: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.text}"


class Opened(Struct, frozen=True):
    opening: Opening
    status: int
    output: str
    actions: tuple[Act, ...]
    wrong: tuple[Wrong, ...]


def opened(site: Site, opening: Opening, traces: Path) -> Opened:
    command = traced([*_command(site, opening)], traces)
    env = {**site.surroundings(), **dict(opening.env)}
    if opening.daemon:
        site.start_daemon()
    if opening.typed is None:
        status, output = _run(command, site.cwd, env, opening.stdin)
    else:
        status, output = _run_at_terminal(command, site.cwd, env, opening.typed)
    seen = tuple(actions(traces))
    wrong = (*_wrong_actions(site, opening, seen), *_wrong_output(opening, status, output))
    return Opened(opening, status, output, seen, wrong)


def _command(site: Site, opening: Opening) -> tuple[str, ...]:
    """The command line; a call of an agent names the home of the user, as an entry that was installed there does."""
    return (*(opening.program or (HOOKLINE,)), *at_home(opening.words, {"HOME": str(site.home)}))


def _wrong_actions(site: Site, opening: Opening, seen: tuple[Act, ...]) -> Iterator[Wrong]:
    allowed = _writable(site, opening)
    for action in seen:
        if action.what == "exec" and not _is_ours(site, opening, action):
            yield Wrong("exec", one_line(" ".join((action.about, *action.words[1:])), 200))
        elif action.what == "connect" and not any(
            place in action.about for place in (*_USER_DATABASES, "/proc/self/fd/")
        ):
            yield Wrong("connect", action.about[:300])
        elif action.what == "write" and not _is_allowed(action.about, allowed):
            yield Wrong("write", f"{action.about} by {action.call.partition('(')[0]}")


def _is_ours(site: Site, opening: Opening, action: Act) -> bool:
    """The command itself, the watchdog's shell, the user's own guard, and what `fire --times` compares hooks with."""
    guard, command = str(site.guard), _command(site, opening)
    # An entry may begin with `env`, which runs the rest of it.
    entry = command[command.index(sys.executable) :] if sys.executable in opening.program else command
    if action.words in {command, entry}:
        return True
    # The relay runs the Hookline beside it by its Python, isolated, with the same words; before them, how a call ends
    # that nobody answers.
    if opening.program[1:2] == ("--daemon",) and action.words[1:3] == ("-I", "-c"):
        return action.words[4] in {"1", "2"} and action.words[6:] == (
            str(Path(command[0]).with_name("hookline")),
            *command[3:],
        )
    if action.words[1:2] == ("-c",):
        return action.words[2] in {guard, ":"} or action.words[3:4] == ("hookline-watchdog",)
    return action.words == (guard,)


def _writable(site: Site, opening: Opening) -> tuple[str, ...]:
    """Our own state, and for a command that writes into the repository, what it is to write there."""
    own = [site.root / ".hookline", site.cwd.resolve() / ".hookline"] if opening.writes else []
    if opening.words[0] in ("install", "uninstall") and opening.writes:
        own += [site.root, site.cwd.resolve(), site.home / ".codex"]  # the files of every agent that is there
    return tuple(str(each) for each in (site.home / ".local/state/hookline", *own))


def _is_allowed(path: str, allowed: tuple[str, ...]) -> bool:
    if path in {"/dev/null", "/dev/tty", "/dev/ptmx"} or path.startswith("/dev/pts/"):
        return True
    if path.startswith(_PACKAGE) and "__pycache__" in path:  # Python's, of our own modules
        return True
    # A directory is made with those it lies in.
    return any(path == each or path.startswith(f"{each}/") or each.startswith(f"{path}/") for each in allowed)


def _wrong_output(opening: Opening, status: int, output: str) -> Iterator[Wrong]:
    for what, text in {
        "the key": KEY,
        "the secret": SECRET,
        "the escape": ESCAPE,
        "the forged line": f"\n{FORGED}",
    }.items():
        if text in output.replace("\r\n", "\n"):
            yield Wrong("leak", f"{what} was printed: {_around(output, text.strip())}")
    if opening.name == "agent --json":
        received = _requests(output)
        if WORDS in received:
            yield Wrong("leak", f"the model received: {_around(received, WORDS)}")
    if status == _HUNG:
        yield Wrong("hang", f"it did not end within {_LONGEST:g} s; it said {output[-300:]!r}")
    if "hookline: broke" in output or "Traceback" in output:
        yield Wrong("crash", output[-300:])
    if opening.guarded and status != 2 and '"deny"' not in output:
        yield Wrong("guard", f"the user's own guard did not stop it: status {status}, {output[:300]!r}")


def _requests(output: str) -> str:
    """Return what the model got, from the document that is printed between other lines."""
    begins = output.find("\n{") + 1
    if output[begins : begins + 1] != "{":
        return ""
    document, _end = json.JSONDecoder().raw_decode(output, begins)
    return json.dumps(document["requests"])


def _around(output: str, text: str) -> str:
    at = output.find(text)
    return repr(output[max(0, at - 100) : at + len(text) + 20])


_HUNG = -1000


def _run(command: list[str], cwd: Path, env: dict[str, str], stdin: str) -> tuple[int, str]:
    process = subprocess.Popen(
        command, cwd=cwd, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        start_new_session=True,
    )  # fmt: skip
    try:
        output, _ = process.communicate(stdin.encode(), timeout=_LONGEST)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        return _HUNG, process.communicate()[0].decode("utf-8", "replace")
    return process.returncode, output.decode("utf-8", "replace")


def _run_at_terminal(
    command: list[str], cwd: Path, env: dict[str, str], typed: tuple[str, ...]
) -> tuple[int, str]:
    master, slave = pty.openpty()
    termios.tcsetwinsize(slave, (40, 100))
    process = subprocess.Popen(
        command, cwd=cwd, env=env, stdin=slave, stdout=slave, stderr=slave, start_new_session=True,
    )  # fmt: skip
    os.close(slave)
    try:
        said = _conversation(master, typed)
        if said is None:
            os.killpg(process.pid, signal.SIGKILL)
        status = process.wait()
    finally:
        os.close(master)
    return (_HUNG, "") if said is None else (status, said.decode("utf-8", "replace"))


def _conversation(terminal: int, typed: tuple[str, ...]) -> bytes | None:
    """Return the output until every process had ended; None if that took too long.

    It types the next words when the command has been silent for a while: soon after some output, which may be a
    question, and later if not. Ctrl-D follows when there is nothing left, again and again: a question takes one.
    A screen that is drawn again without a change is silent.
    """
    said, rest, answered = bytearray(), list(typed), 0
    last = monotonic()
    until = last + _LONGEST
    while (now := monotonic()) < until:
        wait = last + (_SOON if len(said) > answered else _LATER) - now
        if wait > 0 and select.select([terminal], [], [], wait)[0]:
            try:
                new = os.read(terminal, 65536)
            except OSError:
                return bytes(said)
            said += new
            last = monotonic() if _CONTROL.sub(b"", new) else last
        elif wait <= 0:
            os.write(terminal, rest.pop(0).encode() if rest else b"\x04")
            answered, last = len(said), now
    return None
