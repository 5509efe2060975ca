"""Which protected file a tool call writes to: files a tool names, shell lines, patches, arguments of unknown tools.

Tools that are not known are read with care: whatever in their arguments names a protected path counts, unless the
tool is known by its kind or by its name to read only.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from hookline.config.protected import (
    CONFIGURES,
    Hit,
    Protected,
    configuring_names,
    protected_in,
    real_path,
    whole_path,
)
from hookline.config.shell_glance import Glance
from hookline.model.hook import Hook
from hookline.trust.project import is_inside, project_root, trust_root

if TYPE_CHECKING:
    from hookline.matching.shell import ShellReader

#: Arguments that hold text for a file, a person or a model: a path in them names no file to write.
_TEXTS = frozenset(
    (
        "content", "contents", "filetext", "text", "newstring", "oldstring", "newstr", "oldstr", "newtext", "oldtext",
        "newsource", "search", "replace", "description", "prompt", "instruction", "instructions", "justification",
        "message", "query", "pattern", "regex", "body", "explanation", "reason", "url", "title", "note", "thought",
        "question", "oldtextcontext", "summary", "activeform", "subject",
    )
)  # fmt: skip
_COMMANDS = frozenset(("command", "cmd", "commands", "cmds", "commandline", "shellcommand", "argv"))
_CODE = frozenset(("code", "script", "source", "expression"))
#: Where a command runs.
_PLACES = frozenset(
    ("cwd", "workdir", "workingdir", "workingdirectory", "dirpath", "directory", "dir", "root")
)
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

#: Before the files that a patch is about, in the formats that agents use.
_PATCHED = (
    "*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: ", "+++ b/", "--- a/", "+++ ", "--- ",
    "rename to ", "rename from ", "copy to ",
)  # fmt: skip
_DEEPEST = 6
_MOST_TEXTS = 2000
_LONGEST_PATH = 4096
#: Directories of which it is remembered what is protected there.
_MOST_DIRECTORIES = 64


class CallReader:
    """Reads calls for what they write to. One per session."""

    def __init__(self, protected: Protected, shell: "ShellReader | None" = None) -> None:
        self._protected = protected
        self._shell = shell

    def written_files(self, paths: Sequence[str], cwd: str, worktree: str = "") -> Hit | None:
        """The first of these paths that is protected: as it is written, without `..`, or where links lead."""
        for path in paths:
            whole = whole_path(path, cwd, self._protected.home)
            # `link/..` is not what it looks like, so a name that is left again counts.
            inside = bool(worktree) and is_inside(whole, worktree)
            texts = (whole, real_path(whole), *(() if inside else (path,)))
            why = next((why for each in texts if (why := self._protected.why(each, worktree))), None)
            if why is not None:
                return Hit(path, why)
        return None

    def written_by_line(self, line: Any, directories: Sequence[str], worktree: str = "") -> Hit | None:
        """What a shell tool is given: a line, several lines, or the words of one command."""
        lines = [line] if isinstance(line, str) else [*_lines(line)]
        glances = (Glance(one, directories, self._protected, worktree) for one in lines)
        found = (self._parsed(glance) for glance in glances if glance.may_concern())
        return next((hit for hit in found if hit is not None), None)

    def _parsed(self, glance: Glance) -> Hit | None:
        # Only here: most lines need no parser.
        from hookline.config.shell_writes import protected_write  # noqa: PLC0415
        from hookline.matching.shell import ShellReader  # noqa: PLC0415

        if self._shell is None:
            self._shell = ShellReader()
        return protected_write(glance, self._shell)

    def written_by_call(self, tool_name: str, arguments: Any, cwd: str, worktree: str = "") -> Hit | None:
        """What a tool that is not known may write to, going by its name and its arguments."""
        if reads_only(tool_name) or not isinstance(arguments, Mapping):
            return None
        table = cast("Mapping[str, Any]", arguments)
        fields = list(_fields(table))
        shells = any(name in _COMMANDS and value not in _LOOKS for name, value in fields)
        looks = any(str(table.get(name)) in _LOOKS for name in ("command", "action"))
        if looks and not shells and _WRITES.isdisjoint(_words(tool_name)):
            return None
        directories = [cwd, *(_directory(value, cwd) for name, value in fields if name in _PLACES and shells)]
        for name, value in fields:
            hit = self._by_field(name, value, directories, worktree, shells)
            if hit is not None:
                return hit
        return self._by_words(table, directories, worktree)

    def _by_field(
        self, name: str, value: str, directories: Sequence[str], worktree: str, shells: bool
    ) -> Hit | None:
        if name in _TEXTS or (shells and name in _PLACES):
            return None
        if name in _CODE and (mentioned := self._protected.mentioned(value)):
            return Hit(mentioned, CONFIGURES)
        if "\n" in value and (hit := self._by_patch(value, directories, worktree)):
            return hit
        if name in _COMMANDS:
            return self.written_by_line(value, directories, worktree)
        if "\n" in value or len(value) > _LONGEST_PATH or "\0" in value:
            return None
        found = (self.written_files([value], directory, worktree) for directory in directories)
        return next((hit for hit in found if hit is not None), None)

    def _by_patch(self, text: str, directories: Sequence[str], worktree: str) -> Hit | None:
        files = [
            line[len(mark) :].strip()
            for line in text.split("\n")
            for mark in _PATCHED
            if line.startswith(mark)
        ]
        found = (self.written_files(files, directory, worktree) for directory in directories)
        return next((hit for hit in found if hit is not None), None)

    def _by_words(self, table: Mapping[str, Any], directories: Sequence[str], worktree: str) -> Hit | None:
        """A command that comes as a list of its words."""
        for key, value in table.items():
            if _plain(key) in _COMMANDS and isinstance(value, list | tuple):
                hit = self.written_by_line(value, directories, worktree)
                if hit is not None:
                    return hit
        return None


class CallReaders:
    """Readers of calls for the directories in which an engine's sessions are."""

    def __init__(self, env: Mapping[str, str]) -> None:
        self._env = env
        self._hooks: Sequence[Hook] = ()
        self._by_directory: dict[str, CallReader] = {}

    def changes_guards(
        self, tool_name: str, arguments: Mapping[str, Any], cwd: str, hooks: Sequence[Hook]
    ) -> str | None:
        """Why a call changes what guards the agent: hooks, rules, servers, scripts of hooks, what is trusted."""
        if hooks is not self._hooks or len(self._by_directory) >= _MOST_DIRECTORIES:
            self._hooks, self._by_directory = hooks, {}
        reader = self._by_directory.get(cwd)
        if reader is None:
            protected = protected_in((cwd, project_root(cwd)), self._env, hooks, configuring_names())
            reader = self._by_directory[cwd] = CallReader(protected)
        top = project_root(cwd)
        # A worktree may lie in an agent's folder; its files are the project's all the same.
        hit = reader.written_by_call(tool_name, arguments, cwd, top if trust_root(top) != top else "")
        return hit.sentence if hit is not None else None


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


def _lines(value: Any) -> Iterator[str]:
    words = (
        [word for word in cast("Sequence[Any]", value) if isinstance(word, str)] if _is_list(value) else []
    )
    if words:
        yield " ".join("'" + word.replace("'", "'\\''") + "'" for word in words)


def _is_list(value: Any) -> bool:
    return isinstance(value, list | tuple)


def _directory(text: str, cwd: str) -> str:
    return os.path.normpath(os.path.join(cwd or "/", text))


def _plain(key: object) -> str:
    return str(key).replace("_", "").replace("-", "").casefold()


def _fields(arguments: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Every text in the arguments with the name it has there; also of JSON that came as text."""
    waiting: list[tuple[str, Any, int]] = [("", arguments, 0)]
    seen = 0
    while waiting and seen < _MOST_TEXTS:
        name, value, depth = waiting.pop()
        if isinstance(value, str):
            seen += 1
            inner = _json(value) if name not in _TEXTS and depth < _DEEPEST else None
            if inner is None:
                yield name, value
            else:
                waiting.append((name, inner, depth + 1))
        elif depth < _DEEPEST and isinstance(value, Mapping):
            table = cast("Mapping[Any, Any]", value)
            waiting.extend((_plain(key), each, depth + 1) for key, each in table.items())
        elif depth < _DEEPEST and _is_list(value):
            waiting.extend((name, each, depth + 1) for each in cast("Sequence[Any]", value))


def _json(text: str) -> Any:
    if text[:1] not in {"{", "["}:
        return None
    import msgspec  # noqa: PLC0415 - only where an argument looks like it

    try:
        value: Any = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return None
    return cast("Any", value) if isinstance(value, dict | list) else None
