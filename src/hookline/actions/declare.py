"""Declare an agent's tools: a kind, and the tool's own name of each canonical argument.

    TOOLS = {
        "run_shell": shell("cmd"),
        "open_file": read("path", offset=zero_based("start")),
        "save": write("path", content="text"),
    }

The first arguments of each function are the keys of the main argument in the agent's own order of precedence;
keywords name further canonical arguments. Undeclared arguments are not translated.
"""

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from hookline.actions.kinds import KINDS, Category
from hookline.actions.tool import Argument, Edits, NestedCalls, Tool, ToolChoice
from hookline.actions.units import (
    FROM_EITHER_END,
    FROM_ZERO,
    GLOBS,
    LAST_LINE,
    RANGE_LENGTH,
    RANGE_START,
    SECONDS,
    TEXT_RANGE_LENGTH,
    TEXT_RANGE_START,
    WORDS,
    listed,
)

Key = str | Argument


def either(*keys: str) -> Argument:
    """Declare the first of these keys that has a value."""
    return Argument(keys)


def any_of(*keys: str) -> Argument:
    """Declare any of these keys, where the precedence is unknown if a call has several."""
    return Argument(keys, unsure=True)


def seconds(*keys: str) -> Argument:
    """Declare a time in seconds, where others count milliseconds."""
    return Argument(keys, SECONDS)


def zero_based(*keys: str) -> Argument:
    """Declare a line number that counts from 0."""
    return Argument(keys, FROM_ZERO)


def from_either_end(*keys: str) -> Argument:
    """Declare a line number from 1; a negative one counts from the end."""
    return Argument(keys, FROM_EITHER_END)


def last_line(*keys: str) -> Argument:
    """Declare the last line, where others give the number of lines."""
    return Argument(keys, LAST_LINE)


def line_range(key: str, *, text: bool = False) -> dict[str, Argument]:
    """Declare offset and limit from one argument: `[first, last]`, or the text "first-last"."""
    start, length = (TEXT_RANGE_START, TEXT_RANGE_LENGTH) if text else (RANGE_START, RANGE_LENGTH)
    return {"offset": Argument((key,), start), "limit": Argument((key,), length)}


def words(*keys: str) -> Argument:
    """Declare the words of one command, as a program is started without a shell."""
    return Argument(keys, WORDS)


def many(*keys: str, always: bool = True) -> Argument:
    """Declare a list: each value is a separate action."""
    return Argument(keys, many="always" if always else "may")


def globs(*keys: str) -> Argument:
    """Declare a list of patterns for names of files, of which one must match."""
    return Argument(keys, GLOBS)


def todos(key: str, *, content: str) -> Argument:
    """Declare a list of tasks, and the key of each one's text; an empty one: each is a text."""
    return Argument((key,), listed("content", content))


def below_root(*keys: str) -> Argument:
    """Declare a path that begins at the project's root, with or without a leading slash."""
    return Argument(keys, below_root=True)


def shell(*command: Key, cwd: Key | None = None, may_patch: bool = False, **others: Key) -> Tool:
    """Declare a tool that runs a line in a shell, or the words of a command: `cwd`, `timeout`, `description`,
    `run_in_background`."""
    tool = _tool("shell", "command", command, others)
    return replace(tool, cwd=None if cwd is None else _argument(cwd), may_patch=may_patch)


def read(*file_path: Key, **others: Key) -> Tool:
    """Declare a tool that reads a file: `offset` (the first line), `limit` (how many), `pages`."""
    return _tool("read", "file_path", file_path, others)


def write(*file_path: Key, **others: Key) -> Tool:
    """Declare a tool that writes a file and replaces all its content: `content`."""
    return _tool("write", "file_path", file_path, others)


def edit(*file_path: Key, **others: Key) -> Tool:
    """Declare a tool that makes one replacement in a file: `old_string`, `new_string`, `replace_all`."""
    return _tool("edit", "file_path", file_path, others)


def multi_edit(*file_path: Key, edits: str = "edits", in_sequence: bool = False, **each: Key) -> Tool:
    """Declare a tool that makes several replacements in a file, in the list `edits`; keywords name the
    arguments of each."""
    tool = _tool("edit", "file_path", file_path, {})
    listed_edits = Edits(edits, other("edit", **each), in_sequence)
    return replace(tool, edits=listed_edits, extra={"in_sequence": in_sequence})


def delete(*file_path: Key) -> Tool:
    """Declare a tool that deletes a file."""
    return _tool("delete", "file_path", file_path, {})


def move(*source: Key, destination: Key) -> Tool:
    """Declare a tool that moves a file."""
    return _tool("move", "source", source, {"destination": destination})


def notebook(*notebook_path: Key, **others: Key) -> Tool:
    """Declare a tool that changes a cell of a notebook: `cell_id`, `new_source`, `cell_type`, `edit_mode`."""
    return _tool("notebook", "notebook_path", notebook_path, others)


def list_files(*path: Key) -> Tool:
    """Declare a tool that lists a directory."""
    return _tool("list", "path", path, {})


def glob(*pattern: Key, **others: Key) -> Tool:
    """Declare a tool that finds files by their names: the search begins at `path`."""
    return _tool("glob", "pattern", pattern, others)


def grep(*pattern: Key, **others: Key) -> Tool:
    """Declare a tool that searches in files, so it reads them: `path`, `glob`, `output_mode`."""
    return _tool("grep", "pattern", pattern, others)


def fetch(*url: Key, **others: Key) -> Tool:
    """Declare a tool that fetches a page or sends a request: `prompt` is the question about it."""
    return _tool("fetch", "url", url, others)


def fetch_from_text(key: str) -> Tool:
    """Declare a tool that fetches the addresses in a text."""
    return Tool("fetch", {"prompt": Argument((key,))}, urls_in=key)


def search(*query: Key) -> Tool:
    """Declare a tool that searches the web."""
    return _tool("search", "query", query, {})


def agent(*prompt: Key, **others: Key) -> Tool:
    """Declare a tool that starts a subagent: `description`, `subagent_type`."""
    return _tool("agent", "prompt", prompt, others)


def code(*text: Key, language: str = "") -> Tool:
    """Declare a tool that runs code of a language other than a shell's."""
    tool = _tool("code", "code", text, {})
    return replace(tool, means={"language": language}) if language else tool


def patch(key: str, *, file: Key | None = None, unified: bool = False) -> Tool:
    """Declare a tool that changes several files by a patch, or by a unified diff; `file`: the argument that
    may name one of them."""
    named = {} if file is None else {"file_path": _argument(file)}
    return Tool(arguments=named, patch=key, unified=unified)


def by_action(
    key: str, tools: Mapping[str, Tool], otherwise: Tool | None = None, *, does: Category | None = None
) -> Tool:
    """Declare a tool that is several: the argument `key` chooses one; `does` is the category of them all."""
    return Tool(choice=ToolChoice(key, tools, otherwise), does=does)


def each_of(*tools: Tool) -> Tool:
    """Declare a tool that does what each of these does whose main argument the call has; the first one reads
    a call with none."""
    return Tool(each_of=tools)


def nothing(does: Category | None = None) -> Tool:
    """Declare a tool of no known kind; `does="read"` if it changes nothing."""
    return Tool(does=does)


def list_of(key: str, tool: Tool) -> Tool:
    """Declare a list of objects, each with the arguments of a tool."""
    return Tool(items=(key, tool))


def calls(key: str, *, name: str, arguments: str, prefix: str = "", optional: bool = False) -> Tool:
    """Declare a tool that makes other calls: a list of them, or one (`key` is empty then)."""
    return Tool(calls=NestedCalls(key, name, arguments, prefix, optional))


def in_background(tool: Tool) -> Tool:
    """Declare the same tool for commands that run in the background."""
    return replace(tool, means={"run_in_background": True})


def extra(tool: Tool, **facts: bool | tuple[str, Any]) -> Tool:
    """Declare facts about a call besides its canonical arguments: `append=("mode", "append")`,
    `must_be_new=True`."""
    return replace(tool, extra={**tool.extra, **facts})


def widened(tool: Tool, *keys: str) -> Tool:
    """Declare arguments that give a call more rights: a hook that does not see them cannot allow it."""
    return replace(tool, widened_by=keys)


def narrow(tool: Tool) -> Tool:
    """Declare a tool that does less than its kind: a hook for it does not see every call of that kind."""
    return replace(tool, narrow=True)


def other(kind: str, **arguments: Key) -> Tool:
    """Declare a tool of any kind, by the kind's name and its canonical arguments."""
    known = KINDS[kind].arguments
    _check(kind, arguments)
    # In the order of the kind: units may need arguments that come before.
    return Tool(kind, {name: _argument(arguments[name]) for name in known if name in arguments})


def same(kind: str) -> Tool:
    """Declare a tool whose arguments have their canonical names."""
    names = KINDS[kind].arguments
    return Tool(kind, {name: Argument((name,)) for name in names})


def _check(kind: str, names: Mapping[str, Key]) -> None:
    known = KINDS[kind].arguments
    for name in names:
        if name not in known:
            raise ValueError(f"a tool of kind {kind} has no argument {name!r}; it has {', '.join(known)}")


def _tool(kind: str, main: str, keys: tuple[Key, ...], others: Mapping[str, Key]) -> Tool:
    _check(kind, others)
    if not keys:
        raise ValueError(f'say which argument holds {main}: {kind}("{main}")')
    return other(kind, **{main: _merged(keys), **others})


def _merged(keys: tuple[Key, ...]) -> Argument:
    """Merge several keys into one argument, in order of precedence."""
    found = [_argument(key) for key in keys]
    names = tuple(name for one in found for name in one.keys)
    return replace(found[0], keys=names)


def _argument(key: Key) -> Argument:
    return Argument((key,)) if isinstance(key, str) else key
