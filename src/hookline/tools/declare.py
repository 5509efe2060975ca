"""How an agent's tools are declared: a kind, and where each canonical argument is among the tool's own.

    TOOLS = {
        "run_shell": shell("cmd"),
        "open_file": read("path", offset=zero_based("start")),
        "save": write("path", content="text"),
    }

The first arguments of each function are the keys of the main argument in the agent's own order of precedence; keywords
name further canonical arguments. What is not declared is not translated.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from hookline.tools.kinds import KINDS
from hookline.tools.units import (
    FROM_EITHER_END,
    FROM_ZERO,
    LAST_LINE,
    RANGE_LENGTH,
    RANGE_START,
    SAME,
    SECONDS,
    TEXT_RANGE_LENGTH,
    TEXT_RANGE_START,
    WORDS,
    Unit,
)

_NOTHING: Mapping[str, Any] = MappingProxyType({})


class Argument(Struct, frozen=True, eq=False):
    """Where an argument is: the first of these keys that has a value."""

    keys: tuple[str, ...]
    unit: Unit = SAME
    #: Whether a list of values may be given, or always is: each is an act of its own.
    many: Literal["", "may", "always"] = ""
    #: Paths begin at the project's root, also those with a leading slash.
    below_root: bool = False


class Edits(Struct, frozen=True, eq=False):
    """Several replacements in one file: a list of objects, which may also come as JSON text."""

    keys: tuple[str, ...]
    arguments: Mapping[str, Argument]
    #: Each is made in what the one before left; otherwise each is made in the original text.
    in_sequence: bool = False


class Choice(Struct, frozen=True, eq=False):
    """A tool that is several: an argument says which."""

    key: str
    tools: "Mapping[str, Tool]"
    #: What a call without that argument is, or with a value that is not known.
    otherwise: "Tool | None" = None


class Calls(Struct, frozen=True, eq=False):
    """A tool that makes other calls."""

    #: The list of calls; empty where the arguments are themselves one call.
    key: str
    name: str
    arguments: str
    #: What may stand before the name of a tool.
    prefix: str = ""


class Tool(Struct, frozen=True, eq=False):
    """One tool of an agent."""

    kind: str = ""
    arguments: Mapping[str, Argument] = _NOTHING
    #: Own arguments that hooks of the agent are always told.
    fixed: Mapping[str, Any] = _NOTHING
    #: The directory it runs in, if an argument says so.
    cwd: Argument | None = None
    edits: Edits | None = None
    choice: Choice | None = None
    calls: Calls | None = None
    #: The argument that is a patch of several files.
    patch: str = ""
    #: The argument in whose text the addresses are.
    urls_in: str = ""
    #: A line may begin with `apply_patch`, which is a patch too.
    may_patch: bool = False
    #: Known by its name alone: a call without its main argument is not of this kind.
    guessed: bool = False
    #: Further own arguments that mean nothing elsewhere, for those who check calls.
    beside: tuple[str, ...] = ()


Key = str | Argument


def seconds(*keys: str) -> Argument:
    return Argument(keys, SECONDS)


def zero_based(*keys: str) -> Argument:
    """A line number that counts from 0."""
    return Argument(keys, FROM_ZERO)


def from_either_end(*keys: str) -> Argument:
    """A line number from 1; a negative one counts from the end."""
    return Argument(keys, FROM_EITHER_END)


def last_line(*keys: str) -> Argument:
    """The last line, where others give the number of lines."""
    return Argument(keys, LAST_LINE)


def line_range(key: str, *, text: bool = False) -> dict[str, Argument]:
    """Offset and limit from one argument: `[first, last]`, or the text "first-last"."""
    start, length = (TEXT_RANGE_START, TEXT_RANGE_LENGTH) if text else (RANGE_START, RANGE_LENGTH)
    return {"offset": Argument((key,), start), "limit": Argument((key,), length)}


def words(*keys: str) -> Argument:
    """The words of one command, as a program is started without a shell."""
    return Argument(keys, WORDS)


def many(*keys: str, always: bool = True) -> Argument:
    """A list: each value is an act of its own."""
    return Argument(keys, many="always" if always else "may")


def below_root(*keys: str) -> Argument:
    """A path that begins at the project's root, whether it has a leading slash or not."""
    return Argument(keys, below_root=True)


def shell(*command: Key, cwd: Key | None = None, may_patch: bool = False, **others: Key) -> Tool:
    """It runs a line in a shell, or the words of a command."""
    tool = _tool("shell", "command", command, others)
    return replace(tool, cwd=None if cwd is None else _argument(cwd), may_patch=may_patch)


def read(*file_path: Key, **others: Key) -> Tool:
    return _tool("read", "file_path", file_path, others)


def write(*file_path: Key, **others: Key) -> Tool:
    return _tool("write", "file_path", file_path, others)


def edit(*file_path: Key, **others: Key) -> Tool:
    """One replacement in a file: `old_string`, `new_string`, `replace_all`."""
    return _tool("edit", "file_path", file_path, others)


def multi_edit(
    *file_path: Key,
    edits: str = "edits",
    in_sequence: bool = False,
    others: Mapping[str, Key] = _NOTHING,
    **each: Key,
) -> Tool:
    """Several replacements in a file, in the list `edits`; keywords name the arguments of each."""
    inner = Edits((edits,), {name: _argument(key) for name, key in each.items()}, in_sequence)
    return replace(_tool("edit", "file_path", file_path, others), edits=inner)


def delete(*file_path: Key) -> Tool:
    return _tool("delete", "file_path", file_path, {})


def move(*source: Key, destination: Key) -> Tool:
    return _tool("move", "source", source, {"destination": destination})


def notebook(*notebook_path: Key, **others: Key) -> Tool:
    return _tool("notebook", "notebook_path", notebook_path, others)


def list_files(*path: Key) -> Tool:
    return _tool("list", "path", path, {})


def glob(*pattern: Key, **others: Key) -> Tool:
    return _tool("glob", "pattern", pattern, others)


def grep(*pattern: Key, **others: Key) -> Tool:
    """It searches in files, so it reads them."""
    return _tool("grep", "pattern", pattern, others)


def fetch(*url: Key, **others: Key) -> Tool:
    return _tool("fetch", "url", url, others)


def fetch_from_text(key: str) -> Tool:
    """It fetches the addresses in a text."""
    return Tool("fetch", {"prompt": Argument((key,))}, urls_in=key)


def search(*query: Key) -> Tool:
    return _tool("search", "query", query, {})


def agent(*prompt: Key, **others: Key) -> Tool:
    """It starts a sub-agent."""
    return _tool("agent", "prompt", prompt, others)


def code(*text: Key, language: str = "") -> Tool:
    """It runs code of a language other than a shell's."""
    tool = _tool("code", "code", text, {})
    return replace(tool, fixed={"language": language}) if language else tool


def patch(key: str) -> Tool:
    """It changes several files by a patch."""
    return Tool(patch=key)


def by_action(key: str, tools: Mapping[str, Tool], otherwise: Tool | None = None) -> Tool:
    """A tool that is several: the argument `key` says which."""
    return Tool(choice=Choice(key, tools, otherwise))


def calls(key: str, *, name: str, arguments: str, prefix: str = "") -> Tool:
    """A tool that makes other calls: a list of them, or one (`key` is empty then)."""
    return Tool(calls=Calls(key, name, arguments, prefix))


def other(kind: str, **arguments: Key) -> Tool:
    """A tool of any kind, by the kind's name and its canonical arguments."""
    return Tool(KINDS[kind].name, {name: _argument(key) for name, key in arguments.items()})


def same(kind: str, **changes: Any) -> Tool:
    """A tool whose arguments have their canonical names."""
    names = KINDS[kind].arguments
    return Tool(kind, {name: Argument((name,)) for name in names}, **changes)


def _tool(kind: str, main: str, keys: tuple[Key, ...], others: Mapping[str, Key]) -> Tool:
    known = KINDS[kind].arguments
    for name in others:
        if name not in known:
            raise ValueError(f"a tool of kind {kind} has no argument {name!r}; it has {', '.join(known)}")
    if not keys:
        raise ValueError(f'say which argument holds {main}: {kind}("{main}")')
    return Tool(kind, {main: _merged(keys), **{name: _argument(key) for name, key in others.items()}})


def _merged(keys: tuple[Key, ...]) -> Argument:
    """Several keys as one argument, in order of precedence."""
    found = [_argument(key) for key in keys]
    names = tuple(name for one in found for name in one.keys)
    return replace(found[0], keys=names)


def _argument(key: Key) -> Argument:
    return Argument((key,)) if isinstance(key, str) else key
