"""One repository opened in one way: run it under strace, and say what happened that should not."""

import json
import os
import pty
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
from tests.hostile.traces import Act, acts, traced

#: Started as users start it: `python -m` would look for modules in the repository.
HOOKLINE = str(Path(sys.executable).parent / "hookline")
_LONGEST = 90.0
_PACKAGE = f"{Path(hookline.__file__).parent}/"
#: A command that has said nothing for so long waits for what is typed: after it has said something, and otherwise.
_SOON, _LATER = 0.3, 1.5

#: Where the C library asks for the user's home directory: sockets of the machine itself.
_USER_DATABASES = ('"/var/run/nscd/', '"/run/nscd/', '"/var/lib/sss/pipes/nss"', '"/run/systemd/userdb/')

Kind = Literal["exec", "connect", "write", "leak", "guard", "hang", "crash"]


class Wrong(Struct, frozen=True):
    """Something that happened although nobody trusts the repository."""

    kind: Kind
    text: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.text}"


class Opened(Struct, frozen=True):
    opening: Opening
    status: int
    output: str
    acts: tuple[Act, ...]
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
    seen = tuple(acts(traces))
    wrong = (*_wrong_acts(site, opening, seen), *_wrong_output(opening, status, output))
    return Opened(opening, status, output, seen, wrong)


def _command(site: Site, opening: Opening) -> tuple[str, ...]:
    """The command line; a call of an agent names the home of the user, as an entry that was installed there does."""
    return (*(opening.program or (HOOKLINE,)), *at_home(opening.words, {"HOME": str(site.home)}))


def _wrong_acts(site: Site, opening: Opening, seen: tuple[Act, ...]) -> Iterator[Wrong]:
    allowed = _writable(site, opening)
    for act in seen:
        if act.what == "exec" and not _is_ours(site, opening, act):
            yield Wrong("exec", one_line(" ".join((act.about, *act.words[1:])), 200))
        elif act.what == "connect" and not any(
            place in act.about for place in (*_USER_DATABASES, "/proc/self/fd/")
        ):
            yield Wrong("connect", act.about[:300])
        elif act.what == "write" and not _is_allowed(act.about, allowed):
            yield Wrong("write", f"{act.about} by {act.call.partition('(')[0]}")


def _is_ours(site: Site, opening: Opening, act: Act) -> bool:
    """The command itself, the watchdog's shell, the user's own guard, and what `bench` compares hooks with."""
    guard, command = str(site.guard), _command(site, opening)
    # An entry may begin with `env`, which runs the rest of it.
    entry = command[command.index(sys.executable) :] if sys.executable in opening.program else command
    if act.words in {command, entry}:
        return True
    # The relay runs the Hookline beside it by its Python, isolated, with the same words.
    if opening.program[1:2] == ("--resident",) and act.words[1:3] == ("-I", "-c"):
        return act.words[4:] == (str(Path(command[0]).with_name("hookline")), *command[3:])
    if act.words[1:2] == ("-c",):
        return act.words[2] in {guard, ":"} or act.words[3:4] == ("hookline-watchdog",)
    return act.words == (guard,)


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
        told = _requests(output)
        if WORDS in told:
            yield Wrong("leak", f"the model was told: {_around(told, WORDS)}")
    if status == _HUNG:
        yield Wrong("hang", f"it did not end within {_LONGEST:g} s; it said {output[-300:]!r}")
    if "hookline: broke" in output or "Traceback" in output:
        yield Wrong("crash", output[-300:])
    if opening.guarded and status != 2 and '"deny"' not in output:
        yield Wrong("guard", f"the user's own guard did not stop it: status {status}, {output[:300]!r}")


def _requests(output: str) -> str:
    """What was sent to the model, of the document that is printed between other lines."""
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
    """What was said until every process had ended; None if that took too long.

    The next words are typed when nothing has been said for a moment: soon after something was said, which may be a
    question, and later if not. Ctrl-D follows when there is nothing left, again and again: a question takes one.
    """
    said, rest, answered = bytearray(), list(typed), 0
    until = monotonic() + _LONGEST
    while monotonic() < until:
        wait = _SOON if len(said) > answered else _LATER
        if select.select([terminal], [], [], wait)[0]:
            try:
                said += os.read(terminal, 65536)
            except OSError:
                return bytes(said)
        else:
            os.write(terminal, rest.pop(0).encode() if rest else b"\x04")
            answered = len(said)
    return None
