"""Calls of tools that nobody declared, read by the names of the tools and of their arguments: all that they may do.

A name proves nothing, so every act here is in doubt. Guards and self-protection, which are closed in doubt, read calls
with this; hooks are told nothing of it.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from hookline.tools.acts import Act, Place
from hookline.tools.kinds import KINDS, USUAL_KEYS
from hookline.tools.patches import files_named
from hookline.tools.read_call import decoded, read_call
from hookline.tools.units import WORDS, UnitError

if TYPE_CHECKING:
    from hookline.tools.table import ToolTable

#: Acts of these categories change nothing here: a subagent's calls are calls of their own.
HARMLESS = frozenset(("read", "web", "agent"))


def _plain(key: object) -> str:
    return str(key).replace("_", "").replace("-", "").casefold()


#: Arguments that hold text for a file, a person or a model: a path in them names no file to write.
_TEXTS = frozenset(
    (
        "content", "contents", "filetext", "text", "newstring", "oldstring", "newstr", "oldstr", "newtext", "oldtext",
        "newsource", "search", "replace", "description", "prompt", "instruction", "instructions", "justification",
        "message", "query", "pattern", "regex", "body", "explanation", "reason", "url", "title", "note", "thought",
        "question", "oldtextcontext", "summary", "activeform", "subject",
    )
)  # fmt: skip
_CODE = frozenset(("code", "script", "source", "expression"))
#: Usual keys of a command that are usual for other things, too, where nothing else is known of the tool.
_OFTEN_OTHER = frozenset(("line", "script", "input"))
_COMMANDS = (frozenset(map(_plain, USUAL_KEYS["command"])) - _OFTEN_OTHER) | {"commands", "cmds", "argv"}
#: Where a command runs.
_PLACES = frozenset(map(_plain, USUAL_KEYS["cwd"])) | {"dir", "root"}
#: Verbs of an editor that come in `command` and change nothing.
_LOOKS = frozenset(("view", "read", "show"))

_READS = frozenset(
    (
        "read", "get", "list", "ls", "search", "find", "view", "show", "stat", "glob", "grep", "rg", "cat", "head",
        "tail", "tree", "info", "describe", "query", "count", "exists", "fetch", "lookup", "open", "inspect", "check",
        "ask", "think", "diff", "log", "status", "blame",
    )
)  # fmt: skip
_WRITES = frozenset(
    (
        "write", "edit", "create", "delete", "remove", "move", "mv", "rename", "copy", "cp", "replace", "update",
        "set", "put", "patch", "append", "insert", "save", "apply", "run", "exec", "execute", "modify", "add", "make",
        "mkdir", "rm", "upload", "download", "format", "fix", "change", "upsert", "store", "touch", "truncate",
        "shell", "bash", "terminal", "command",
    )
)  # fmt: skip

_DEEPEST = 6
_MOST_TEXTS = 2000
_LONGEST_PATH = 4096
_BY_NAMES = "it is known by the names of its arguments alone"


def read_widely(
    table: "ToolTable", tool_name: str, arguments: Any, place: Place, *, changes: bool = False
) -> Iterator[Act]:
    """The acts of a call, and what it may do beside: by arguments that nobody declared, or if it cannot be read.

    `changes`: it is known to change something, whatever the name of the tool says.
    """
    acts = read_call(table, tool_name, arguments, place)
    yield from widened(acts, changes=changes)
    given: Any = decoded(arguments) if isinstance(arguments, str) else arguments
    known = [act for act in acts if act.kind is not None and act.kind.category not in HARMLESS]
    unread = any(act.doubt for act in (*known, *(act for act in acts if act.kind is None)))
    if not isinstance(given, Mapping) or not (known or unread):
        return
    rest = cast("Mapping[str, Any]", given)
    tool = table.tool(tool_name)
    if tool is not None and not unread:
        rest = {key: value for key, value in rest.items() if key not in tool.own_keys}
    yield from may_do(tool_name, rest, changes=True)


def widened(acts: Sequence[Act], *, changes: bool = False) -> Iterator[Act]:
    """The acts, and all that those may do which cannot be read, or are of no kind that says what they do."""
    for act in acts:
        yield act
        category = act.kind.category if act.kind is not None else "other"
        if category == "other" or (act.doubt and category not in HARMLESS):
            yield from may_do(act.tool_name, act.arguments, changes=changes or category != "other")


def may_do(tool_name: str, arguments: Mapping[str, Any], *, changes: bool = False) -> Iterator[Act]:
    """What a call of a tool that is not known may do; nothing, if its name says that it only reads."""
    if not arguments or (reads_only(tool_name) and not changes):
        return
    fields = list(_fields(arguments))
    shells = any(name in _COMMANDS and value not in _LOOKS for name, value in fields)
    looks = any(str(arguments.get(name)) in _LOOKS for name in ("command", "action"))
    if looks and not shells and _WRITES.isdisjoint(_words(tool_name)):
        return
    places = [value for name, value in fields if name in _PLACES and shells]
    for kind, key, value in _by_fields(fields, arguments, shells):
        for place in places or ("",):
            yield Act(
                KINDS[kind], KINDS[kind].tool, {key: value}, called=tool_name, cwd=place, doubt=_BY_NAMES
            )


def _by_fields(
    fields: Sequence[tuple[str, str]], arguments: Mapping[str, Any], shells: bool
) -> Iterator[tuple[str, str, str]]:
    """A kind, an argument of it and its value, for all that the arguments may mean."""
    for name, value in fields:
        if name in _TEXTS or (shells and name in _PLACES):
            continue
        if name in _CODE:
            yield "code", "code", value
        if "\n" in value:
            yield from (("edit", "file_path", file) for file in files_named(value))
        if name in _COMMANDS:
            yield "shell", "command", value
        elif "\n" not in value and len(value) <= _LONGEST_PATH and "\0" not in value:
            yield "write", "file_path", value
    for key, value in arguments.items():
        if _plain(key) in _COMMANDS and isinstance(value, list | tuple):
            words = [word for word in cast("Sequence[Any]", value) if isinstance(word, str)]
            yield from (("shell", "command", line) for line in _joined(words))


def _joined(words: Sequence[str]) -> Iterator[str]:
    """A command that comes as a list of its words."""
    try:
        yield from (WORDS.read(words, {}),) if words else ()
    except UnitError:
        yield " ".join(words)


def reads_only(tool_name: str) -> bool:
    """Whether a tool's name says that it only reads."""
    server, _, tool = tool_name.rpartition("__")
    words = _words(tool if server else tool_name)
    # In `mcp_server_tool` the second word is the server's.
    own = words[2:] if words[:1] == ["mcp"] and not server else words
    return not _READS.isdisjoint(own) and _WRITES.isdisjoint(words)


def _words(name: str) -> list[str]:
    """The words of a name in any of the usual spellings: readTextFile, read_text_file, ReadTextFile."""
    spread = "".join(f" {each}" if each.isupper() else each if each.isalnum() else " " for each in name)
    return spread.casefold().split()


def _fields(arguments: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Every text in the arguments with the name it has there; also of JSON that came as text."""
    waiting: list[tuple[str, Any, int]] = [("", arguments, 0)]
    seen = 0
    while waiting and seen < _MOST_TEXTS:
        name, value, depth = waiting.pop()
        if isinstance(value, str):
            seen += 1
            inner: Any = (
                decoded(value) if name not in _TEXTS and depth < _DEEPEST and value[:1] in "{[" else None
            )
            if isinstance(inner, dict | list):
                waiting.append((name, cast("Any", inner), depth + 1))
            else:
                yield name, value
        elif depth < _DEEPEST and isinstance(value, Mapping):
            table = cast("Mapping[Any, Any]", value)
            waiting.extend((_plain(key), each, depth + 1) for key, each in table.items())
        elif depth < _DEEPEST and isinstance(value, list | tuple):
            waiting.extend((name, each, depth + 1) for each in cast("Sequence[Any]", value))
