"""Find files by their names (Glob)."""

import heapq
import os
from time import monotonic
from typing import Annotated

from msgspec import Meta, Struct

from hookline.agent.tools.base import RecordTool, ToolOutput, Workplace
from hookline.agent.tools.files import missing, shown
from hookline.agent.tools.off_loop import WorkLimit, off_loop
from hookline.agent.tools.walk import DirectoryWalk, path_pattern, split_base
from hookline.model.errors import PatternError, ToolError

_MOST = 100
_SECONDS = 20.0

_DESCRIPTION = f"""\
Finds files whose path matches a pattern such as **/*.py or src/*.{{ts,tsx}}; without a slash it matches at any depth. \
Returns at most {_MOST}, the last changed first. Skips .git and node_modules."""


class GlobArguments(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    pattern: Annotated[str, Meta(min_length=1, description="The pattern for paths.")]
    path: Annotated[
        str, Meta(description="The directory to search: the working directory when not given.")
    ] = ""


class _Found(Struct, frozen=True):
    paths: tuple[str, ...]
    total: int
    left_out: list[str]


def glob_tool() -> RecordTool[GlobArguments]:
    return RecordTool("Glob", _DESCRIPTION, "read", GlobArguments, _run)


async def _run(arguments: GlobArguments, workplace: Workplace) -> ToolOutput:
    base, pattern = split_base(arguments.pattern)
    root = workplace.path(os.path.join(arguments.path or ".", base))
    started = monotonic()
    found = await off_loop(lambda limit: _find(root, pattern, limit), _SECONDS)
    lines = list(found.paths) or ["No files found"]
    if found.total > len(found.paths):
        lines.append(
            f"[{len(found.paths)} of {found.total} files are shown; a narrower pattern shows others]"
        )
    lines += [f"[the search is incomplete: {each}]" for each in found.left_out]
    return ToolOutput(
        text="\n".join(lines),
        response={
            "filenames": list(found.paths),
            "durationMs": int((monotonic() - started) * 1000),
            "numFiles": len(found.paths),
            "truncated": found.total > len(found.paths) or bool(found.left_out),
        },
    )


def _find(root: str, pattern: str, limit: WorkLimit) -> _Found:
    try:
        fits = path_pattern(pattern)
        if not os.path.isdir(root):
            raise ToolError(f"{shown(root)} is not a directory." if os.path.exists(root) else missing(root))
    except (PatternError, ValueError) as problem:
        raise ToolError(f"The pattern cannot be used: {problem}.") from None
    walk = DirectoryWalk(root, limit)
    matches = [(_changed(entry), relative) for relative, entry in walk.files() if fits(relative)]
    newest = heapq.nsmallest(_MOST, matches, key=lambda match: (-match[0], match[1]))
    paths = tuple(shown(os.path.join(root, relative)) for _, relative in newest)
    return _Found(paths, len(matches), walk.left_out)


def _changed(entry: os.DirEntry[str]) -> float:
    try:
        return entry.stat(follow_symlinks=False).st_mtime
    except OSError:
        return 0.0
