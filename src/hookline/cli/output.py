"""What a command shows. Its answer is its exit status, which no stream that fails may change into another."""

import os
import sys
from typing import TextIO

FINE, PROBLEM = 0, 1
_STANDARD = 2


def settle_streams() -> None:
    """A standard stream that is closed must not become a file of ours, nor stderr's words go to stdout."""
    while (taken := os.open(os.devnull, os.O_RDWR)) <= _STANDARD:
        pass
    os.close(taken)
    # The type says it is always there; Python leaves None where the descriptor was closed.
    if sys.stderr is None:  # pyright: ignore[reportUnnecessaryComparison] see above
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 it lives as long as the process


def show(text: str, *, as_json: bool = False) -> int:
    """Print to stdout. The status this earns: a reader who had enough is fine, a full disk is not."""
    return keep_showing(text, as_json=as_json) or FINE


def keep_showing(text: str, *, as_json: bool = False) -> int | None:
    """As `show`, for a command that goes on: the status to end with, None while somebody reads."""
    stream: TextIO | None = sys.stdout
    if stream is None:
        tell("hookline: cannot write to stdout: it is closed")
        return PROBLEM
    if as_json:
        text = _escaped(text)
    try:
        stream.write(_encodable(text, stream.encoding, as_json=as_json) + "\n")
        stream.flush()
    except BrokenPipeError:
        _silence(stream)
        return FINE
    except OSError as problem:
        _silence(stream)
        tell(f"hookline: cannot write to stdout: {problem.strerror}")
        return PROBLEM
    return None


def tell(text: str) -> None:
    """Print to stderr. Where that is not possible there is nobody left to tell."""
    try:
        print(text, file=sys.stderr, flush=True)
    except OSError:
        _silence(sys.stderr)


def _escaped(document: str) -> str:
    """JSON in which what a terminal obeys or hides is spelled out; JSON reads the same from it."""
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
    """Escapes in place of what the stream has no bytes for; in JSON those that JSON reads back."""
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


def _silence(stream: TextIO) -> None:
    """What is still buffered fails once more when Python shuts down, and would change the exit status."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)
