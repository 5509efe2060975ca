"""What a transcript is made of: one record a line, each saying what it is."""

from typing import Any

import msgspec
from msgspec import Struct

from hookline.agent.messages import Message
from hookline.agent.models.port import Usage
from hookline.agent.tools.base import MAIN


class SessionFacts(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Where and with what a session runs. `started` is seconds since 1970, now when it is 0."""

    cwd: str
    model: str | None = None
    started: float = 0.0
    #: The session whose sub-agent this is.
    parent: str | None = None


class SessionRecord(
    SessionFacts, frozen=True, kw_only=True, omit_defaults=True, tag_field="type", tag="session"
):
    """The first line. A later one tells what changed: the model, the directory."""

    id: str


class _Record(Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="type"):
    #: Seconds since 1970; filled in when it is written.
    at: float = 0.0


class MessageRecord(_Record, frozen=True, kw_only=True, omit_defaults=True, tag="message"):
    message: Message
    #: The agent whose conversation it belongs to.
    who: str = MAIN


class TurnRecord(_Record, frozen=True, kw_only=True, omit_defaults=True, tag="turn"):
    """A turn that ended."""

    turn: int
    status: str
    usage: Usage = Usage()
    totals: Usage = Usage()


class CompactionRecord(_Record, frozen=True, kw_only=True, omit_defaults=True, tag="compaction"):
    """From here on the conversation is what was kept; the summary alone where nothing was.

    Messages are written out once more: a line that was lost before this one cannot shift them.
    """

    summary: str
    kept: tuple[Message, ...] = ()
    who: str = MAIN


class ClearRecord(_Record, frozen=True, kw_only=True, omit_defaults=True, tag="clear"):
    """The conversation begins anew."""


class NoteRecord(_Record, frozen=True, kw_only=True, omit_defaults=True, tag="note"):
    """Something for people who read the file."""

    text: str
    kind: str = ""


class GrantsRecord(_Record, frozen=True, kw_only=True, omit_defaults=True, tag="grants"):
    """Everything the user has allowed for the session so far: the last such record holds."""

    rules: tuple[str, ...] = ()
    directories: tuple[str, ...] = ()
    mode: str | None = None


Record = (
    SessionRecord | MessageRecord | TurnRecord | CompactionRecord | ClearRecord | NoteRecord | GrantsRecord
)


def encoded(record: Record) -> bytes:
    """One line. Raises ValueError for what no JSON can hold."""
    try:
        return msgspec.json.encode(record) + b"\n"
    except UnicodeEncodeError:
        # Half a surrogate pair cannot be written as UTF-8; it is spelled out instead.
        return msgspec.json.encode(_spelled_out(msgspec.to_builtins(record))) + b"\n"
    except (RecursionError, TypeError, msgspec.MsgspecError) as error:
        raise ValueError(str(error)) from None


def decoded(line: bytes) -> Record:
    """Raises ValueError that says why the line is no record."""
    try:
        return _decode(line)
    except (msgspec.DecodeError, RecursionError) as error:
        raise ValueError(str(error)) from None


_decode = msgspec.json.Decoder(Record).decode


def _spelled_out(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, dict):
        return {_spelled_out(key): _spelled_out(each) for key, each in value.items()}  # pyright: ignore[reportUnknownVariableType] - of Any
    if isinstance(value, list | tuple):
        return [_spelled_out(each) for each in value]  # pyright: ignore[reportUnknownVariableType] - of Any
    return value
