"""Read calls of undeclared tools by the names of the tools and of their arguments: everything they may do.

A name proves nothing, so every act here is in doubt. Guards, rules and self-protection, which are closed in
doubt, read calls with this; other hooks get nothing of it. Self-protection looks at guesses, too: what it
protects has names that nothing else has.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, cast

from msgspec.structs import replace

from hookline.actions.action import BY_NAMES, Action, PathContext
from hookline.actions.kinds import FURTHER, KINDS, USUAL_KEYS
from hookline.actions.parse_call import decoded, read_call
from hookline.actions.patches import files_named
from hookline.actions.units import WORDS, UnitError

if TYPE_CHECKING:
    from hookline.actions.table import ToolTable

#: Actions of these categories change nothing here: a subagent's calls are separate calls.
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
_CODE = frozenset(("code", "script", "source", "expression", "js", "javascript", "python", "snippet"))
#: Usual keys of a command that are usual for other things, too, where nothing else is known of the tool.
_OFTEN_OTHER = frozenset(("line", "script", "input"))
_LINES = frozenset(("commands", "cmds"))
_COMMANDS = (frozenset(map(_plain, USUAL_KEYS["command"])) - _OFTEN_OTHER) | _LINES | {"argv", "bash", "run"}
#: Arguments that name the program of a command, whose words come in another one.
_PROGRAMS = frozenset(("program", "executable", "binary", "exe"))
#: Tools with one of these words in their name give what they are sent to a shell.
_TERMINALS = frozenset(("terminal", "shell", "bash", "console", "tmux", "pty", "ssh", "keys", "stdin"))
_TYPED = frozenset(("input", "line", "keys", "text", "data"))
#: Arguments that hold the words behind a command.
_ARGUMENTS = frozenset(("args", "argv", "arguments", "commandargs", "parameters", "params"))
#: Command lines that have tools named after their sub-commands: `git_push` with `force` is `git push --force`.
_COMMAND_LINES = frozenset(
    (
        "git",
        "docker",
        "podman",
        "kubectl",
        "helm",
        "gh",
        "glab",
        "npm",
        "aws",
        "gcloud",
        "az",
        "terraform",
        "fly",
    )
)
_DELETES = frozenset(("delete", "remove", "rm", "rmdir", "rmtree", "unlink", "trash", "purge"))
_FILES = frozenset(map(_plain, USUAL_KEYS["file_path"])) | frozenset(
    ("paths", "files", "filepaths", "filenames", "source", "destination", "src", "dst", "dest", "outputpath",
     "outputfile", "inputfile", "inputpath", "destinationpath", "notebookpath", "absolutepath", "target", "location",
     "resource", "savepath", "saveto", "outfile", "bodyfile", "attachment", "attachments")
)  # fmt: skip
_ADDRESSES = frozenset(map(_plain, USUAL_KEYS["url"])) | {"urls"}
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


def read_widely(
    table: "ToolTable", tool_name: str, arguments: Any, path_context: PathContext, *, changes: bool = False
) -> Iterator[Action]:
    """Yield the actions of a call, and those it may do by undeclared arguments, or if it is unreadable.

    `changes`: it is known to change something, whatever the name of the tool says.
    """
    actions = read_call(table, tool_name, arguments, path_context)
    yield from _widened(table, actions, changes)
    given: Any = decoded(arguments) if isinstance(arguments, str) else arguments
    known = [action for action in actions if action.kind is not None and action.kind.category not in HARMLESS]
    unread = any(action.doubt for action in (*known, *(action for action in actions if action.kind is None)))
    if not isinstance(given, Mapping) or not (known or unread):
        return
    rest = cast("Mapping[str, Any]", given)
    tool = table.tool(tool_name)
    if tool is not None and not unread:
        rest = {key: value for key, value in rest.items() if key not in tool.own_keys}
    found = may_do(tool_name, rest, changes=True)
    yield from (replace(one, guess=True) for one in found) if tool is None and not unread else found


def _widened(table: "ToolTable", actions: Sequence[Action], changes: bool) -> Iterator[Action]:
    """Yield the acts, and all that those may do which cannot be read, or are of no kind that says what they
    do."""
    implied = any(action.implied for action in actions)
    for action in actions:
        yield action
        category = action.kind.category if action.kind is not None else "other"
        if category == "other" or (action.doubt and category not in HARMLESS):
            found = may_do(action.tool_name, action.arguments, changes=changes or category != "other")
            declared = category == "other" and (implied or _is_declared(table, action))
            yield from (replace(one, guess=True) for one in found) if declared else found


def _is_declared(table: "ToolTable", action: Action) -> bool:
    """Return True if the tool is known, and known to be of no kind that says what it does."""
    tool = table.tool(action.called or action.tool_name)
    return action.tool_name in FURTHER or (tool is not None and not tool.guessed and not action.doubt)


def may_do(tool_name: str, arguments: Mapping[str, Any], *, changes: bool = False) -> Iterator[Action]:
    """Yield all that a call of an unknown tool may do; it only reads, if its name says so."""
    fields = list(_fields(arguments))
    own = _words(tool_name)
    shells = any(name in _COMMANDS and value not in _LOOKS for name, value, _word in fields)
    looks = any(str(arguments.get(name)) in _LOOKS for name in ("command", "action"))
    only = (reads_only(tool_name) and not changes) or (looks and not shells and _WRITES.isdisjoint(own))
    places = [value for name, value, _word in fields if name in _PLACES and shells]
    found = () if only else (*_by_fields(fields, arguments, shells), *_by_tool(own, fields, arguments))
    for kind, key, value, guess in (*found, *_read_by_fields(fields)):
        for place in places or ("",):
            yield Action(
                KINDS[kind],
                KINDS[kind].tool,
                {key: value},
                called=tool_name,
                cwd=place,
                doubt=BY_NAMES,
                guess=guess,
            )


#: The name of an argument, a text in it, and whether that is one word of several, as those of a command.
_Field = tuple[str, str, bool]
#: A kind, an argument of it, its value, and whether only the value says so.
_May = tuple[str, str, str, bool]


def _by_fields(fields: Sequence[_Field], arguments: Mapping[str, Any], shells: bool) -> Iterator[_May]:
    """Yield all that the arguments may mean to a tool that changes something."""
    for name, value, word in fields:
        if name in _TEXTS or (shells and name in _PLACES):
            continue
        if name in _CODE:
            yield "code", "code", value, False
        if "\n" in value:
            yield from (("edit", "file_path", file, False) for file in files_named(value))
        if name in _COMMANDS:
            yield "shell", "command", value, word
        elif _may_be_path(value):
            yield "write", "file_path", value, name not in _FILES
    given: list[tuple[str, Any]] = [(_plain(key), value) for key, value in arguments.items()]
    commands = [value for key, value in given if key in _COMMANDS | _PROGRAMS]
    if not commands:
        # Without a program, the first of its arguments is one.
        lists = (value for key, value in given if key in _ARGUMENTS)
        commands = [value for value in lists if type(value) in (list, tuple)]
    for line in (line for command in commands for line in _lines(command, arguments)):
        yield "shell", "command", line, False


def _by_tool(own: Sequence[str], fields: Sequence[_Field], arguments: Mapping[str, Any]) -> Iterator[_May]:
    """Yield what the name of the tool makes of its arguments: a terminal's input, a deletion, a command line."""
    for name, value, _word in fields:
        if name in _TYPED and not _TERMINALS.isdisjoint(own):
            yield "shell", "command", value, False
        elif name in _FILES | _PLACES and not _DELETES.isdisjoint(own) and _may_be_path(value):
            yield "delete", "file_path", value, False
    at = next((at for at, word in enumerate(own) if word in _COMMAND_LINES), None)
    if at is not None:
        # `mcp__git__git_push` names it twice.
        words = [word for word in own[at:] if word != own[at]]
        flags = [f"--{str(key).replace('_', '-')}" for key, value in arguments.items() if value is True]
        given = [
            value
            for name, value, _word in reversed(fields)
            if name not in _TEXTS | _PLACES | {"repopath", "path"}
        ]
        yield from (("shell", "command", line, False) for line in _joined([own[at], *words, *flags, *given]))


def _read_by_fields(fields: Sequence[_Field]) -> Iterator[_May]:
    """Yield all that they may mean to a tool that reads."""
    for name, value, _word in fields:
        if value.startswith("file://"):
            yield "read", "file_path", value.removeprefix("file://"), False
        elif (name in _FILES or (name not in _TEXTS and value[:1] in ("~", ".", "/"))) and _may_be_path(
            value
        ):
            yield "read", "file_path", value, False
        elif name in _ADDRESSES:
            yield "fetch", "url", value, False


def _may_be_path(value: str) -> bool:
    return "\n" not in value and len(value) <= _LONGEST_PATH and "\0" not in value


def _lines(command: Any, arguments: Mapping[str, Any]) -> Iterator[str]:
    """Yield commands that come as lists of their words, or as a program and its arguments."""
    if isinstance(command, list | tuple):
        yield from _joined([word for word in cast("Sequence[Any]", command) if isinstance(word, str)])
        return
    for key, value in arguments.items() if isinstance(command, str) else ():
        if _plain(key) in _ARGUMENTS and isinstance(value, list | tuple):
            words = [word for word in cast("Sequence[Any]", value) if isinstance(word, str)]
            yield from (f"{command} {line}" for line in _joined(words))
        elif _plain(key) in _ARGUMENTS and isinstance(value, str):
            yield f"{command} {value}"


def _joined(words: Sequence[str]) -> Iterator[str]:
    """Yield a command that comes as a list of its words."""
    try:
        yield from (WORDS.read(words, {}),) if words else ()
    except UnitError:
        yield " ".join(words)


def reads_only(tool_name: str) -> bool:
    """Return True if a tool's name says that it only reads."""
    server, _, tool = tool_name.rpartition("__")
    words = _words(tool if server else tool_name)
    # In `mcp_server_tool` the second word is the server's.
    own = words[2:] if words[:1] == ("mcp",) and not server else words
    return not _READS.isdisjoint(own) and _WRITES.isdisjoint(words)


@lru_cache(maxsize=1024)
def _words(name: str) -> Sequence[str]:
    """Return the words of a name in any of the usual spellings: readTextFile, read_text_file, ReadTextFile."""
    spread = "".join(f" {each}" if each.isupper() else each if each.isalnum() else " " for each in name)
    return tuple(spread.casefold().split())


def _fields(arguments: Mapping[str, Any]) -> Iterator[_Field]:
    """Yield every text in the arguments with its name; also of JSON that came as text."""
    waiting: list[tuple[str, Any, int, bool]] = [("", arguments, 0, False)]
    seen = 0
    while waiting and seen < _MOST_TEXTS:
        name, value, depth, word = waiting.pop()
        if isinstance(value, str):
            seen += 1
            inner: Any = (
                decoded(value) if name not in _TEXTS and depth < _DEEPEST and value[:1] in "{[" else None
            )
            if isinstance(inner, dict | list):
                waiting.append((name, cast("Any", inner), depth + 1, False))
            else:
                yield name, value, word
        elif depth < _DEEPEST and isinstance(value, Mapping):
            table = cast("Mapping[Any, Any]", value)
            waiting.extend((_plain(key), each, depth + 1, False) for key, each in table.items())
        elif depth < _DEEPEST and isinstance(value, list | tuple):
            found = cast("Sequence[Any]", value)
            # The program of a command is a word without blanks; `commands` are lines.
            words = name not in _LINES and bool(found) and len(str(found[0]).split()) == 1
            waiting.extend((name, each, depth + 1, words) for each in found)
