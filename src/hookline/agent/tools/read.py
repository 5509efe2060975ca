"""Read: a text file with its lines numbered."""

import os
from typing import Annotated, Any

from msgspec import Meta, Struct

from hookline.agent.tooling import ToolError, ToolReply, Workplace
from hookline.agent.tools.files import open_regular, refusal, shown
from hookline.agent.tools.off_loop import Patience, off_loop
from hookline.agent.tools.reading import LONGEST_LINE, Lines, read_lines
from hookline.agent.tools.shaped import ShapedTool

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


def read_tool() -> ShapedTool[ReadArguments]:
    return ShapedTool("Read", _DESCRIPTION, "read", ReadArguments, _run)


async def _run(arguments: ReadArguments, place: Workplace) -> ToolReply:
    path = place.path(arguments.file_path)
    first = max(arguments.offset, 1)
    real, changed, found = await off_loop(lambda patience: _read(path, first, arguments.limit, patience))
    if first > found.total:
        raise ToolError(
            f"{shown(path)} has only {found.total} lines, so there is nothing from line {first} on."
        )
    place.read_files[real] = changed
    return ToolReply(text=_numbered(found, first), response=_response(path, found, first))


def _read(path: str, first: int, most: int, patience: Patience) -> tuple[str, float, Lines]:
    try:
        real = os.path.realpath(path)
        fd = open_regular(real)
        try:
            facts = os.fstat(fd)
            if facts.st_size > _LARGEST:
                raise ToolError(
                    f"{shown(path)} has {facts.st_size} bytes, which is more than Read goes through "
                    f"({_LARGEST}). Look at parts of it with Grep, or with head or sed in Bash."
                )
            found = read_lines(fd, first, most, patience)
        finally:
            os.close(fd)
    except (OSError, ValueError) as problem:
        raise refusal(path, problem) from None
    if isinstance(found, str):
        raise ToolError(f"{shown(path)} is {found}; Read shows text only.")
    return real, facts.st_mtime, found


def _numbered(found: Lines, first: int) -> str:
    if found == Lines(("",), 1):
        return "(the file is empty)"
    lines = [f"{number}\t{line}" for number, line in enumerate(found.lines, first)]
    last = first + len(found.lines) - 1
    if last < found.total:
        lines.append(f"[the file goes on to line {found.total}; read on with offset {last + 1}]")
    return "\n".join(lines)


def _response(path: str, found: Lines, first: int) -> dict[str, Any]:
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
