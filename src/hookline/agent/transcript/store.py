"""Find transcripts: one directory per project in the user's state directory, one file per session."""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from itertools import islice
from zlib import crc32

from msgspec import Struct

from hookline.agent.transcript.records import MessageRecord, SessionRecord, decoded
from hookline.agent.transcript.writer import TranscriptError
from hookline.dialects.dialect import upward
from hookline.journal.file import state_dir
from hookline.matching.nearest import nearest
from hookline.model.messages import User
from hookline.model.safe_text import one_line

_ENDING = ".jsonl"
_WIDEST_SLUG = 80
_NEWEST_SHOWN = 3
_MOST_LISTED = 20
#: Bytes of a file that are read to describe it.
_OPENING = 64 * 1024
#: The beginning of a message's line.
_MESSAGE = b'{"type":"message"'
#: A shorter beginning of an id is taken for a mistake.
_SHORTEST_PREFIX = 4


class StoredSession(Struct, frozen=True):
    """A session that can be resumed."""

    id: str
    path: str
    #: When it was last written, in seconds since 1970.
    changed: float


class Opening(Struct, frozen=True):
    """Beginning of a session, for lists."""

    cwd: str = ""
    model: str | None = None
    started: float = 0.0
    #: The first prompt.
    prompt: str = ""


class SessionsStore:
    """Sessions of one project. Nothing is cached."""

    def __init__(self, env: Mapping[str, str], cwd: str) -> None:
        self._all = os.path.join(state_dir(env), "sessions")
        #: For Transcript.create.
        self.directory = os.path.join(self._all, project_slug(cwd))

    def path(self, session_id: str) -> str:
        return os.path.join(self.directory, session_id + _ENDING)

    def sessions(self) -> tuple[StoredSession, ...]:
        """Return the sessions, newest first."""
        return _stored(self.directory)

    def last(self, but: str = "") -> StoredSession:
        """Return the newest session with a message in it, other than `but`.

        Raises TranscriptError when there is none.
        """
        for each in self.sessions():
            if each.id != but and _has_message(each.path):
                return each
        raise TranscriptError("this project has no earlier session")

    def find(self, wanted: str) -> StoredSession:
        """Find a session by its id or the beginning of it. Raises TranscriptError with a hint."""
        here = self.sessions()
        found = _matching(here, wanted)
        if len(found) == 1:
            return found[0]
        if found:
            raise TranscriptError(f"several sessions begin like this: {', '.join(_ids(found))}")
        elsewhere = _matching(self._elsewhere(), wanted)
        if elsewhere:
            where = one_line(opening(elsewhere[0].path).cwd, 300) or "another project"
            raise TranscriptError(f"session {elsewhere[0].id} belongs to {where}: resume it there")
        raise TranscriptError(_not_found(wanted, here))

    def _elsewhere(self) -> list[StoredSession]:
        try:
            directories = sorted(os.listdir(self._all))
        except OSError:
            return []
        paths = [os.path.join(self._all, directory) for directory in directories]
        return [each for path in paths if path != self.directory for each in _stored(path)]


def new_session_id() -> str:
    """Return a random UUID, as hooks of other agents expect."""
    raw = bytearray(os.urandom(16))
    raw[6] = raw[6] & 0x0F | 0x40
    raw[8] = raw[8] & 0x3F | 0x80
    text = raw.hex()
    return "-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:]))


def project_slug(cwd: str) -> str:
    """Return a readable directory name that no two projects share."""
    project = upward(os.path.realpath(cwd))[-1]
    readable = re.sub(r"[^A-Za-z0-9]+", "-", project).strip("-")[-_WIDEST_SLUG:]
    return f"{readable or 'root'}-{crc32(os.fsencode(project)):08x}"


def opening(path: str) -> Opening:
    """Read the beginning of a session; empty when it cannot be read."""
    session: SessionRecord | None = None
    prompt = ""
    for line in _first_lines(path):
        try:
            record = decoded(line)
        except ValueError:
            continue
        if isinstance(record, SessionRecord):
            session = session or record
        elif isinstance(record, MessageRecord) and isinstance(record.message, User) and not record.message.by:
            prompt = record.message.text
            break
    if session is None:
        return Opening(prompt=prompt)
    return Opening(session.cwd, session.model, session.started, prompt)


def described(store: SessionsStore) -> dict[str, str]:
    """Return the newest sessions with a message in them, by id: when it was used last, and how it began."""
    return {
        each.id: f"{when_used(each)}  {one_line(opening(each.path).prompt, 80)}"
        for each in islice(_with_messages(store), _MOST_LISTED)
    }


def listed(store: SessionsStore) -> str:
    """List the newest sessions, one line each: id, time, how it began."""
    lines = [f"{session}  {says}" for session, says in described(store).items()]
    more = sum(1 for _ in islice(_with_messages(store), _MOST_LISTED, None))
    lines += [f"and {more} older ones"] if more else []
    return "\n".join(lines) or "this project has no earlier session"


def _with_messages(store: SessionsStore) -> Iterator[StoredSession]:
    return (each for each in store.sessions() if _has_message(each.path))


def when_used(session: StoredSession) -> str:
    when = datetime.fromtimestamp(session.changed)  # noqa: DTZ006 - by the user's own clock
    return f"{when:%Y-%m-%d %H:%M}"


def _has_message(path: str) -> bool:
    """Return True if it has a message, or may have one: the first message may be longer than what is read."""
    lines = _first_lines(path)
    return sum(map(len, lines)) + len(lines) > _OPENING or any(line.startswith(_MESSAGE) for line in lines)


def _first_lines(path: str) -> list[bytes]:
    from hookline.handlers.builtin import read_start  # noqa: PLC0415 - only for lists

    try:
        return read_start(path, _OPENING).split(b"\n")
    except (OSError, ValueError):
        return []


def _stored(directory: str) -> tuple[StoredSession, ...]:
    found: list[StoredSession] = []
    try:
        with os.scandir(directory) as scan:
            for entry in scan:
                if entry.name.endswith(_ENDING) and entry.is_file(follow_symlinks=False):
                    changed = entry.stat(follow_symlinks=False).st_mtime
                    found.append(StoredSession(entry.name.removesuffix(_ENDING), entry.path, changed))
    except OSError:
        # Missing, or removed meanwhile.
        pass
    return tuple(sorted(found, key=lambda each: (-each.changed, each.id)))


def _matching(sessions: Sequence[StoredSession], wanted: str) -> list[StoredSession]:
    exact = [each for each in sessions if each.id == wanted]
    if exact or len(wanted) < _SHORTEST_PREFIX:
        return exact
    return [each for each in sessions if each.id.startswith(wanted)]


def _not_found(wanted: str, here: Sequence[StoredSession]) -> str:
    said = f"unknown session {one_line(wanted, 80)!r}"
    if not here:
        return f"{said}; this project has none"
    close = nearest(wanted, [each.id for each in here])
    if close is not None:
        return f"{said}; did you mean {close}?"
    return f"{said}; the newest are {', '.join(_ids(here[:_NEWEST_SHOWN]))}"


def _ids(sessions: Sequence[StoredSession]) -> list[str]:
    return [one_line(each.id, 80) for each in sessions]
