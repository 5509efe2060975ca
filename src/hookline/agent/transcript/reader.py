"""Read a transcript: every complete record, the problems found, and the conversation they make up."""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from io import BufferedReader

from msgspec import Struct

from hookline.agent.conversation import INTERRUPTED
from hookline.agent.tools.base import MAIN
from hookline.agent.transcript.records import (
    ClearRecord,
    CompactionRecord,
    GrantsRecord,
    MessageRecord,
    Record,
    SessionRecord,
    TurnRecord,
    decoded,
)
from hookline.journal.reader import regular_file
from hookline.model.messages import Assistant, Message, ToolMessage, Usage, User
from hookline.model.safe_text import one_line

_LONGEST_LINE = 32 * 1024 * 1024
_PROBLEMS_KEPT = 50

#: The source of a message that summarises earlier ones.
COMPACTION = "compaction"


class Read(Struct, frozen=True):
    """Content of a file. `torn_at` is where an incomplete last line begins."""

    records: tuple[Record, ...] = ()
    problems: tuple[str, ...] = ()
    torn_at: int | None = None
    #: The last record is complete, but its line has no end.
    unended: bool = False


class EarlierSession(Struct, frozen=True, kw_only=True):
    """An earlier session, as far as resuming it needs it."""

    session: SessionRecord | None = None
    messages: tuple[Message, ...] = ()
    turns: int = 0
    totals: Usage = Usage()
    grants: GrantsRecord = GrantsRecord()
    problems: tuple[str, ...] = ()
    #: The ids of durable hooks' results that the session has received.
    wakes: frozenset[str] = frozenset()


def read_transcript(path: str) -> Read:
    """Read a transcript. Never raises: a file that cannot be read is among the problems."""
    try:
        with regular_file(path) as file:
            return _read(file)
    except (OSError, ValueError) as error:
        return Read(problems=(one_line(f"the transcript cannot be read: {error}", 500),))


def _read(file: BufferedReader) -> Read:
    records: list[Record] = []
    problems: list[str] = []
    torn_at: int | None = None
    unended = False
    for number, (start, line, ends) in enumerate(_lines(file), 1):
        if not line.strip():
            continue
        try:
            records.append(decoded(line))
            unended = not ends
        except ValueError as error:
            torn_at = None if ends else start
            what = "is not a record" if ends else "is incomplete and was ignored"
            problems.append(one_line(f"line {number} {what}: {error}", 300))
    more = len(problems) - _PROBLEMS_KEPT
    if more > 0:
        problems = [*problems[:_PROBLEMS_KEPT], f"and {more} more"]
    return Read(tuple(records), tuple(problems), torn_at, unended)


def _lines(file: BufferedReader) -> Iterator[tuple[int, bytes, bool]]:
    """Yield where a line begins, the line, and True if it is complete. A line that is too long is cut off."""
    start = 0
    while line := file.readline(_LONGEST_LINE):
        ends = line.endswith(b"\n")
        length = len(line)
        while not ends and (rest := file.readline(_LONGEST_LINE)):
            length += len(rest)
            ends = rest.endswith(b"\n")
            line = line[:100]
        yield start, line, ends
        start += length


def earlier_session(read: Read, who: str = MAIN) -> EarlierSession:
    """Return one agent's conversation, with a result for every call."""
    session: SessionRecord | None = None
    grants = GrantsRecord()
    last = TurnRecord(turn=0, status="")
    for record in read.records:
        if isinstance(record, SessionRecord):
            session = record
        elif isinstance(record, GrantsRecord):
            grants = record
        elif isinstance(record, TurnRecord):
            last = record
    return EarlierSession(
        session=session,
        messages=with_results(_messages(read.records, who)),
        turns=last.turn,
        totals=last.totals,
        grants=grants,
        problems=read.problems,
        wakes=frozenset(
            record.message.late_id
            for record in read.records
            if isinstance(record, MessageRecord)
            and isinstance(record.message, User)
            and record.message.late_id
        ),
    )


def _messages(records: Iterable[Record], who: str) -> list[Message]:
    messages: list[Message] = []
    for record in records:
        if isinstance(record, MessageRecord) and record.who == who:
            messages.append(record.message)
        elif isinstance(record, CompactionRecord) and record.who == who:
            messages = list(record.kept) or [User(text=record.summary, by=COMPACTION)]
        elif isinstance(record, ClearRecord):
            messages.clear()
    return messages


def with_results(messages: Sequence[Message]) -> tuple[Message, ...]:
    """Follow each call by its result, made up if it is missing; drop results without a call.

    A killed agent leaves calls without results, and a damaged line may remove either. Providers refuse such a
    conversation.
    """
    found: list[Message] = []
    rest = deque(messages)
    while rest:
        message = rest.popleft()
        if isinstance(message, ToolMessage):
            continue
        found.append(message)
        if isinstance(message, Assistant) and message.tool_calls:
            found += _results(message, rest)
    return tuple(found)


def _results(asked: Assistant, rest: "deque[Message]") -> list[ToolMessage]:
    given: dict[str, deque[ToolMessage]] = {}
    # Text of hooks may come between the results of a batch; the model's next message ends it.
    batch: list[Message] = []
    while rest and not isinstance(rest[0], Assistant):
        batch.append(rest.popleft())
    for each in batch:
        if isinstance(each, ToolMessage):
            given.setdefault(each.tool_use_id, deque()).append(each)
    rest.extendleft(reversed([each for each in batch if not isinstance(each, ToolMessage)]))
    return [
        given[use.id].popleft()
        if given.get(use.id)
        else ToolMessage(tool_use_id=use.id, name=use.name, text=INTERRUPTED, is_error=True)
        for use in asked.tool_calls
    ]
