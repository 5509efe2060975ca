"""Read a text file with its lines numbered (Read)."""

import os
from collections.abc import Iterator
from typing import Annotated, Any, Final

from msgspec import Meta, Struct

from hookline.agent.tools.base import RecordTool, ToolOutput, Workplace
from hookline.agent.tools.files import open_regular, refusal, shown
from hookline.agent.tools.off_loop import WorkLimit, off_loop
from hookline.model.errors import ToolError

#: Characters shown of one line, and of all lines together.
LONGEST_LINE: Final = 2000
MOST_CHARACTERS: Final = 100_000
_CHUNK: Final = 1 << 18
_LOOKED_AT: Final = 8192
#: Bytes of a line that are kept: enough for the characters that are shown.
_BYTES_OF_A_LINE: Final = LONGEST_LINE * 4 + 4
_PICTURES: Final = (
    (b"\x89PNG\r\n\x1a\n", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF8", "a GIF image"),
    (b"BM", "a BMP image"),
    (b"II*\x00", "a TIFF image"),
    (b"MM\x00*", "a TIFF image"),
    (b"%PDF-", "a PDF document"),
)
_MOST_LINES = 2000
_LARGEST = 256 << 20
_DESCRIPTION = f"""\
Returns a text file with numbered lines: {_MOST_LINES} of them when no limit is given, each cut at {LONGEST_LINE} \
characters. Use offset and limit for parts of long files. It shows neither images nor directories."""


class ReadArguments(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    file_path: Annotated[
        str, Meta(min_length=1, description="The file; absolute, or from the working directory.")
    ]
    offset: Annotated[int, Meta(ge=0, description="The number of the first line to show.")] = 1
    limit: Annotated[int, Meta(ge=1, description="How many lines to show.")] = _MOST_LINES


class FileLines(Struct, frozen=True):
    """Some lines of a file, without line ends, and the number of all lines."""

    lines: tuple[str, ...]
    total: int


def read_tool() -> RecordTool[ReadArguments]:
    return RecordTool("Read", _DESCRIPTION, "read", ReadArguments, _run)


async def _run(arguments: ReadArguments, workplace: Workplace) -> ToolOutput:
    path = workplace.path(arguments.file_path)
    first = max(arguments.offset, 1)
    real, changed, found = await off_loop(lambda limit: _read(path, first, arguments.limit, limit))
    if first > found.total:
        raise ToolError(f"{shown(path)} has only {found.total} lines, so line {first} does not exist.")
    workplace.read_files[real] = changed
    return ToolOutput(text=_numbered(found, first), response=read_response(path, found, first))


def _read(path: str, first: int, most: int, limit: WorkLimit) -> tuple[str, float, FileLines]:
    try:
        real = os.path.realpath(path)
        fd = open_regular(real)
        try:
            facts = os.fstat(fd)
            if facts.st_size > _LARGEST:
                raise ToolError(
                    f"{shown(path)} has {facts.st_size} bytes, which is more than Read reads "
                    f"({_LARGEST}). Look at parts of it with Grep, or with head or sed in Bash."
                )
            found = read_lines(fd, first, most, limit)
        finally:
            os.close(fd)
    except (OSError, ValueError) as problem:
        raise refusal(path, problem) from None
    if isinstance(found, str):
        raise ToolError(f"{shown(path)} is {found}; Read shows text only.")
    return real, facts.st_mtime, found


def _numbered(found: FileLines, first: int) -> str:
    if found == FileLines(("",), 1):
        return "(the file is empty)"
    lines = [f"{number}\t{line}" for number, line in enumerate(found.lines, first)]
    last = first + len(found.lines) - 1
    if last < found.total:
        lines.append(f"[the file has {found.total} lines; continue with offset {last + 1}]")
    return "\n".join(lines)


def read_response(path: str, found: FileLines, first: int = 1) -> dict[str, Any]:
    """Return `tool_response` for hooks."""
    return {
        "type": "text",
        "file": {
            "filePath": shown(path),
            "content": "\n".join(found.lines),
            "numLines": len(found.lines),
            "startLine": first,
            "totalLines": found.total,
        },
    }


def read_lines(fd: int, first: int, most: int, limit: WorkLimit) -> FileLines | str:
    """Return the lines from `first` on, counted from 1; or the kind of file, if it is not text."""
    lines: list[str] = []
    total, characters, cut = 0, 0, False
    for line in _raw_lines(fd, limit):
        if isinstance(line, str):
            return line
        total += 1
        if total < first or len(lines) >= most or cut:
            continue
        text = _shortened(line.removesuffix(b"\r"), with_mark=total == 1)
        characters += len(text) + 1
        if characters > MOST_CHARACTERS and lines:
            cut = True
            continue
        lines.append(text)
    return FileLines(tuple(lines), total)


def _shortened(line: bytes, *, with_mark: bool) -> str:
    text = line.decode("utf-8-sig" if with_mark else "utf-8", "replace")
    if len(text) <= LONGEST_LINE:
        return text
    return f"{text[:LONGEST_LINE]}[... line cut at {LONGEST_LINE} characters]"


def _raw_lines(fd: int, limit: WorkLimit) -> Iterator[bytes | str]:
    """Yield each line without its newline; the text after the last newline is a line, too, even if it is empty."""
    begun = b""
    at_start = True
    while not limit.over and (chunk := os.read(fd, _CHUNK)):
        if at_start:
            at_start = False
            other = not_text(chunk)
            if other is not None:
                yield other
                return
        *whole, rest = chunk.split(b"\n")
        if whole:
            yield begun + whole[0]
            yield from whole[1:]
            begun = rest
        else:
            begun = (begun + rest)[:_BYTES_OF_A_LINE]
    yield begun


def not_text(start: bytes) -> str | None:
    """Return the kind of a file that begins like this, if it is not text."""
    for magic, name in _PICTURES:
        # Two letters may begin any text, so a bitmap must also be binary.
        if start.startswith(magic) and (len(magic) > 2 or b"\0" in start):
            return name
    if start[:4] == b"RIFF" and start[8:12] == b"WEBP":
        return "a WebP image"
    return "a binary file" if b"\0" in start[:_LOOKED_AT] else None
