"""Grep: find lines in files."""

import os
import stat
from collections.abc import Callable
from typing import Annotated, Literal

from msgspec import Meta, Struct, field

from hookline.agent.tooling import ToolError, ToolReply, Workplace
from hookline.agent.tools.files import kind_of, refusal, shown
from hookline.agent.tools.globbing import path_pattern
from hookline.agent.tools.grep_modes import MODES, Told, Wanted
from hookline.agent.tools.off_loop import Patience, off_loop
from hookline.agent.tools.searching import Haystack, Needle
from hookline.agent.tools.shaped import ShapedTool
from hookline.model.errors import PatternError
from hookline.model.safetext import head_and_tail

_SECONDS = 20.0
_MOST_CHARACTERS = 40_000

_DESCRIPTION = """\
Searches the lines of files for a regular expression (RE2 syntax: no lookaround, no back-references). output_mode \
files_with_matches gives the paths, last changed first; content gives the lines; count gives how many there are per \
file. Does not look into .git, node_modules and binary files."""

_Around = Annotated[int, Meta(ge=0, le=100, description="With content: so many lines around each.")]


class GrepArguments(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    pattern: Annotated[str, Meta(min_length=1, description="The regular expression.")]
    path: Annotated[str, Meta(description="A file or folder: the working directory when not given.")] = ""
    glob: Annotated[
        str, Meta(description="Only files that fit, such as *.py or src/**; after a ! those that do not.")
    ] = ""
    output_mode: Literal["files_with_matches", "content", "count"] = "files_with_matches"
    ignore_case: Annotated[bool, Meta(description="Ignore case.")] = field(default=False, name="-i")
    numbers: Annotated[bool, Meta(description="With content: number the lines.")] = field(
        default=True, name="-n"
    )
    after: Annotated[int, Meta(ge=0, le=100, description="With content: lines after each.")] = field(
        default=0, name="-A"
    )
    before: Annotated[int, Meta(ge=0, le=100, description="With content: lines before each.")] = field(
        default=0, name="-B"
    )
    around: _Around = field(default=0, name="-C")
    head_limit: Annotated[
        int, Meta(ge=0, description="At most so many files or matches: 250 when not given, 0 for all.")
    ] = 250


def grep_tool() -> ShapedTool[GrepArguments]:
    return ShapedTool("Grep", _DESCRIPTION, "read", GrepArguments, _run)


async def _run(arguments: GrepArguments, place: Workplace) -> ToolReply:
    root = place.path(arguments.path or ".")
    wanted = Wanted(
        place.cwd,
        arguments.head_limit,
        arguments.numbers,
        max(arguments.before, arguments.around),
        max(arguments.after, arguments.around),
    )
    told, left_out = await off_loop(lambda patience: _search(arguments, root, wanted, patience), _SECONDS)
    missing = [told.cut] if told.cut else []
    notes = [f"[the search is not whole: {each}]" for each in (*missing, *left_out)]
    content = head_and_tail("\n".join(told.lines), _MOST_CHARACTERS // 2)
    return ToolReply(
        text="\n".join([content, *notes]),
        response={"mode": arguments.output_mode, **told.response, "truncated": bool(notes)},
    )


def _search(
    arguments: GrepArguments, root: str, wanted: Wanted, patience: Patience
) -> tuple[Told, list[str]]:
    _refuse_odd(root)
    try:
        needle = Needle(arguments.pattern, ignore_case=arguments.ignore_case)
        fits = _chosen(arguments.glob)
    except PatternError as problem:
        raise ToolError(f"That cannot be searched for: {problem}.") from None
    mode = MODES[arguments.output_mode](wanted)
    haystack = Haystack(root, fits, patience)
    for path, content, changed in haystack.files():
        mode.take(path, content, changed, needle.lines(content, patience))
        if mode.enough:
            break
    return mode.told(), haystack.left_out


def _chosen(glob: str) -> Callable[[str], bool]:
    if not glob:
        return lambda _path: True
    fits = path_pattern(glob.removeprefix("!"))
    return (lambda path: not fits(path)) if glob.startswith("!") else fits


def _refuse_odd(root: str) -> None:
    """Only a folder or a regular file can be searched."""
    try:
        mode = os.stat(root).st_mode
    except (OSError, ValueError) as problem:
        raise refusal(root, problem) from None
    if not (stat.S_ISDIR(mode) or stat.S_ISREG(mode)):
        raise ToolError(f"{shown(root)} is {kind_of(mode)}; only files and folders can be searched.")
