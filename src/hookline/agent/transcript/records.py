"""Define the records of a transcript: one per line, each with its type."""

from typing import Any

import msgspec
from msgspec import Struct

from hookline.agent.tools.base import MAIN
from hookline.model.messages import Message, Usage


class SessionFacts(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Directory, model and start of a session. `started` is in seconds since 1970; 0 for now."""

    cwd: str
    model: str | None = None
    started: float = 0.0
    #: The session it was forked from, or whose subagent it is.
    parent: str | None = None


class SessionRecord(
    SessionFacts, frozen=True, kw_only=True, omit_defaults=True, tag_field="type", tag="session"
):
    """Record of the first line. A later one records a change of the model or the directory."""

    id: str


class _Record(Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="type"):
    #: Seconds since 1970, set when it is written.
    at: float = 0.0


class MessageRecord(_Record, frozen=True, kw_only=True, omit_defaults=True, tag="message"):
    message: Message
    #: The agent whose conversation it is.
    who: str = MAIN


class TurnRecord(_Record, frozen=True, kw_only=True, omit_defaults=True, tag="turn"):
    """A turn that ended."""

    turn: int
    status: str
    usage: Usage = Usage()
    totals: Usage = Usage()


class CompactionRecord(_Record, frozen=True, kw_only=True, omit_defaults=True, tag="compaction"):
    """Record of a compaction: from here on the conversation is what was kept, or the summary alone.

    Messages are written again, so that a line lost before this one does not matter.
    """

    summary: str
    kept: tuple[Message, ...] = ()
    who: str = MAIN


class ClearRecord(_Record, frozen=True, kw_only=True, omit_defaults=True, tag="clear"):
    """Record that the conversation was cleared."""


class NoteRecord(_Record, frozen=True, kw_only=True, omit_defaults=True, tag="note"):
    """A remark for people who read the file."""

    text: str
    kind: str = ""


class GrantsRecord(_Record, frozen=True, kw_only=True, omit_defaults=True, tag="grants"):
    """Everything the user has allowed for the session so far; the last such record counts."""

    rules: tuple[str, ...] = ()
    directories: tuple[str, ...] = ()
    mode: str | None = None


Record = (
    SessionRecord | MessageRecord | TurnRecord | CompactionRecord | ClearRecord | NoteRecord | GrantsRecord
)


def encoded(record: Record) -> bytes:
    """Encode one line. Raises ValueError for what JSON cannot hold."""
    try:
        return msgspec.json.encode(record) + b"\n"
    except UnicodeEncodeError:
        # A lone surrogate cannot be written as UTF-8; it is escaped.
        return msgspec.json.encode(_escaped(msgspec.to_builtins(record))) + b"\n"
    except (RecursionError, TypeError, msgspec.MsgspecError) as error:
        raise ValueError(str(error)) from None


def decoded(line: bytes) -> Record:
    """Decode one line. Raises ValueError that says why it is not a record."""
    try:
        return _decode(line)
    except (msgspec.DecodeError, RecursionError) as error:
        raise ValueError(str(error)) from None


_decode = msgspec.json.Decoder(Record).decode


def _escaped(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, dict):
        return {_escaped(key): _escaped(each) for key, each in value.items()}  # pyright: ignore[reportUnknownVariableType] - of Any
    if isinstance(value, list | tuple):
        return [_escaped(each) for each in value]  # pyright: ignore[reportUnknownVariableType] - of Any
    return value
