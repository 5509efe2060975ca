"""Find transcripts: in the directories where agents keep them, or in named files and directories."""

import os
from collections.abc import Iterator, Mapping, Sequence

import msgspec
from msgspec import Struct

from hookline.dialects.dialect import Dialect
from hookline.dialects.recorded_event import Tally
from hookline.dialects.transcript_reader import files_below, lines_of

#: Bytes of the first line, by which the agent of a file is known.
_FIRST = 8 * 1024 * 1024


class TranscriptSource(Struct, frozen=True):
    """One transcript."""

    dialect: str
    path: str
    size: int


class Sources(Struct, frozen=True):
    found: tuple[TranscriptSource, ...] = ()
    #: Files that were named and are no transcript of a known agent.
    unknown: tuple[str, ...] = ()
    #: Where transcripts were looked for.
    directories: tuple[str, ...] = ()

    @property
    def size(self) -> int:
        return sum(source.size for source in self.found)


def find_sources(
    dialects: Sequence[Dialect], env: Mapping[str, str], named: Sequence[str] = (), since: float = 0.0
) -> Sources:
    """Return the transcripts changed since a time. Raises OSError for a named path that does not exist."""
    found: dict[str, TranscriptSource] = {}
    unknown: list[str] = []
    directories: list[str] = []
    for path in named:
        os.stat(path)
        for file in [path] if os.path.isfile(path) else files_below(path):
            dialect = _whose(file, dialects)
            if dialect is not None:
                _add(found, dialect.name, os.path.abspath(file), since)
            elif os.path.isfile(path):
                unknown.append(file)
    for dialect in dialects if not named else ():
        transcripts = dialect.transcripts
        if transcripts is not None:
            directories += transcripts.directories(env)
            for file in transcripts.files(env):
                _add(found, dialect.name, file, since)
    return Sources(tuple(found.values()), tuple(unknown), tuple(directories))


def _add(found: dict[str, TranscriptSource], dialect: str, path: str, since: float) -> None:
    try:
        status = os.stat(path)
    except OSError:
        return
    if status.st_mtime >= since:
        found.setdefault(path, TranscriptSource(dialect, path, status.st_size))


def _whose(path: str, dialects: Sequence[Dialect]) -> Dialect | None:
    """Return the agent that wrote a file: by its first record, or by its name if the file is one document."""
    known = (each for each in dialects if each.transcripts and each.transcripts.is_document(path))
    if (dialect := next(known, None)) is not None:
        return dialect
    first = next(lines_of(path, Tally(), _FIRST), b"")
    try:
        record = msgspec.json.decode(first, type=dict[str, msgspec.Raw])
        values = {name: msgspec.json.decode(value) for name, value in list(record.items())[:50]}
    except (msgspec.DecodeError, RecursionError):
        return None
    fitting = (each for each in dialects if each.transcripts and each.transcripts.recognises(values))
    # The more a shape asks for, the surer it is.
    return max(fitting, key=lambda each: _certainty(each, values), default=None)


def _certainty(dialect: Dialect, first: Mapping[str, object]) -> int:
    """Count the keys of the record without which the dialect would not recognise it."""
    transcripts = dialect.transcripts
    if transcripts is None:
        return 0
    return sum(
        not transcripts.recognises({key: value for key, value in first.items() if key != name})
        for name in first
    )


def shares(sources: Sequence[TranscriptSource], number: int) -> list[list[TranscriptSource]]:
    """Split the sources into parts of similar size; files of one session stay together."""
    parts: list[list[TranscriptSource]] = [[] for _ in range(number)]
    sizes = [0] * number
    for group in sorted(_groups(sources), key=lambda group: -sum(each.size for each in group)):
        least = sizes.index(min(sizes))
        parts[least] += group
        sizes[least] += sum(each.size for each in group)
    return [part for part in parts if part]


def _groups(sources: Sequence[TranscriptSource]) -> Iterator[list[TranscriptSource]]:
    """Group files: those in a directory named after a file beside it belong to that file."""
    groups: dict[str, list[TranscriptSource]] = {}
    stems = {source.path.rpartition(".")[0]: source.path for source in sources}
    for source in sources:
        directory = os.path.dirname(source.path)
        owner = stems.get(directory) or stems.get(os.path.dirname(directory)) or source.path
        groups.setdefault(owner, []).append(source)
    yield from groups.values()
