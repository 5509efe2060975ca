"""Define exit statuses, standard output and standard error, and the terminal: its width, colours, a line of
progress.

A stream that fails never changes the status of a command. `hookline --help` imports this: nothing here may be
slow.
"""

import os
import sys
import time
from collections.abc import Callable
from enum import IntEnum
from types import TracebackType
from typing import Literal, Self, TextIO

Colour = Literal["red", "green", "yellow", "blue", "cyan", "bold", "dim"]

_CODES: dict[Colour, str] = {
    "red": "31", "green": "32", "yellow": "33", "blue": "34", "cyan": "36", "bold": "1", "dim": "2",
}  # fmt: skip
_NARROWEST = 40
_UNLIMITED = 1000
_HIGHEST_STANDARD_DESCRIPTOR = 2


class ExitStatus(IntEnum):
    """Exit statuses of every command; `hookline hook` answers with the exit codes of the agent that called it."""

    OK = 0
    #: A problem was found, or a usage or configuration error.
    PROBLEM = 1
    #: `fire` was blocked. For the agents that call `hook`, too, 2 means: do not continue.
    BLOCKED = 2
    INTERRUPTED = 130


def open_standard_streams() -> None:
    """Connect closed standard streams to /dev/null, so that no file we open takes their descriptors.

    For reading only: a write there must fail, so that a lost answer is noticed.
    """
    while (descriptor := os.open(os.devnull, os.O_RDONLY)) <= _HIGHEST_STANDARD_DESCRIPTOR:
        pass
    os.close(descriptor)
    # The type says it is always there; Python leaves None where the descriptor was closed.
    if sys.stderr is None:  # pyright: ignore[reportUnnecessaryComparison] see above
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 it lives as long as the process


def show(text: str, *, as_json: bool = False) -> ExitStatus:
    """Print to stdout. A reader that closed the pipe is fine, a full disk is a problem."""
    return show_part(text, as_json=as_json) or ExitStatus.OK


def show_part(text: str, *, as_json: bool = False) -> ExitStatus | None:
    """Print like `show`, for a command that continues printing: return the status to end with, or None to continue."""
    stream: TextIO | None = sys.stdout
    if stream is None:
        note("hookline: cannot write to stdout: it is closed")
        return ExitStatus.PROBLEM
    if as_json:
        text = _escaped(text)
    try:
        stream.write(_encodable(text, stream.encoding, as_json=as_json) + "\n")
        stream.flush()
    except BrokenPipeError:
        _discard(stream)
        return ExitStatus.OK
    except OSError as problem:
        _discard(stream)
        note(f"hookline: cannot write to stdout: {problem.strerror}")
        return ExitStatus.PROBLEM
    return None


def note(text: str) -> None:
    """Print to stderr. If that fails too, there is nowhere left to report it."""
    try:
        print(text, file=sys.stderr, flush=True)
    except OSError:
        _discard(sys.stderr)


def _escaped(document: str) -> str:
    """Escape characters in JSON that a terminal obeys or hides; it means the same to a JSON reader."""
    if document.isascii() and "\x7f" not in document:
        return document
    from hookline.model.safe_text import printable

    steering = {
        ord(each): _json_escape(each)
        for each in set(document)
        if (each == "\x7f" or not each.isascii()) and printable(f"x{each}") != f"x{each}"
    }
    return document.translate(steering)


def _encodable(text: str, encoding: str | None, *, as_json: bool) -> str:
    """Escape what the encoding of the stream cannot express; in JSON as JSON escapes."""
    if text.isascii() or encoding is None:
        return text
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        if as_json:
            return "".join([each if each.isascii() else _json_escape(each) for each in text])
        return text.encode(encoding, "backslashreplace").decode(encoding)
    return text


def _json_escape(character: str) -> str:
    units = character.encode("utf-16-be", "surrogatepass").hex()
    return "".join([f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4)])


def _discard(stream: TextIO) -> None:
    """Discard buffered text: it would fail again at shutdown, and change the exit status."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


def columns(default: int = _UNLIMITED) -> int:
    """Return the columns of the terminal, COLUMNS where it is set, else `default`: a file or a pipe has no
    width.

    Not by shutil: importing it loads every archive format.
    """
    try:
        return max(os.get_terminal_size().columns, _NARROWEST)
    except OSError:
        wanted = os.environ.get("COLUMNS", "")
        return int(wanted) if wanted.isdigit() else default


def paint(text: str, colour: Colour, stream: TextIO | None = None) -> str:
    """Return the text in that colour if `stream` (default: stdout) shows colours, else unchanged.

    Paint last: `printable`, `one_line` and `table` strip escapes, these too.
    """
    if not shows_colours(sys.stdout if stream is None else stream):
        return text
    return f"\x1b[{_CODES[colour]}m{text}\x1b[0m"


def shows_colours(stream: TextIO | None) -> bool:
    if stream is None or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return _is_terminal(stream)


class Progress:
    """Line of progress on stderr, for commands that may take a while.

    Shown only on a terminal, after `after` seconds, at most five times a second, and removed at the end:
    `with Progress() as progress: progress.say("reading 3 of 8")`.
    """

    def __init__(self, after: float = 1.0, stream: TextIO | None = None) -> None:
        self._stream = sys.stderr if stream is None else stream
        self._wanted = _is_terminal(self._stream)
        self._next = time.monotonic() + after
        self._shown = False

    def say(self, text: str) -> None:
        if not self._wanted or (now := time.monotonic()) < self._next:
            return
        from hookline.model.safe_text import one_line

        self._next = now + 0.2
        self._shown = True
        self._write(f"\r\x1b[K{one_line(text, min(columns(80), 200) - 1)}")

    def clear(self) -> None:
        """Remove the line, before something else is printed."""
        if self._shown:
            self._shown = False
            self._write("\r\x1b[K")

    def _write(self, text: str) -> None:
        try:
            self._stream.write(text)
            self._stream.flush()
        except (OSError, ValueError):
            self._wanted = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.clear()


def _is_terminal(stream: TextIO) -> bool:
    try:
        return stream.isatty()
    except ValueError:  # closed
        return False


def log_lines(form: str, program: str) -> Callable[[str], None]:
    """Return a function that writes one line to standard error: text for a person, or JSON for a collector of logs."""
    from hookline.model.safe_text import one_line

    def say(text: str) -> None:
        text = one_line(text, 500)
        if form == "text":
            note(f"{program}: {text}")
            return
        from msgspec.json import encode

        at = time.time()
        stamp = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(at)) + f".{int(at % 1 * 1000):03}Z"
        line: dict[str, str] = {"time": stamp, "program": program, "message": text}
        note(encode(line).decode())

    return say
