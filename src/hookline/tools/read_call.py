"""A call in an agent's own terms, read as what it does: its acts, each in canonical terms."""

import contextlib
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

import msgspec
from msgspec import Struct

from hookline.tools.declare import Argument, Choice, Edits, Tool
from hookline.tools.kinds import KINDS, Kind
from hookline.tools.patches import Change, PatchError, patch_in_line, read_patch
from hookline.tools.units import UnitError
from hookline.tools.usual import mcp_tool

if TYPE_CHECKING:
    from hookline.tools.table import ToolTable

#: A place in the arguments of a call: keys of objects, and positions in lists.
Path = tuple[str | int, ...]

_MOST_ACTS = 200
_DEEPEST = 4
_URL = re.compile(r"\b[a-z][a-z0-9+.-]*://[^\s<>\"'`]+", re.IGNORECASE)
_MISSING = object()


class Place(Struct, frozen=True):
    """Where a call is made: paths are read from there."""

    cwd: str = ""
    root: str = ""
    home: str = ""


class Act(Struct, frozen=True):
    """One thing that a call does, in canonical terms."""

    #: None for a tool of no known kind, which keeps its name and arguments.
    kind: Kind | None
    tool_name: str
    arguments: dict[str, Any]
    #: How the agent's own arguments say it, and where they are in the call.
    tool: Tool | None = None
    at: Mapping[str, Path] = {}
    base: Path = ()
    #: The directory it happens in, where the call says so.
    cwd: str = ""
    #: What of the call the canonical form does not say.
    lost: tuple[str, ...] = ()
    #: Why it cannot be said what the act does.
    doubt: str = ""
    #: Why a rewrite of it cannot be put back into the call.
    fixed: str = ""
    #: It is what a tool of an MCP server does, beside the call of that tool: for hooks in canonical terms alone.
    implied: bool = False

    @property
    def targets(self) -> tuple[str, ...]:
        """The files it is about, as absolute paths where the call says enough."""
        names = self.kind.paths if self.kind is not None else ()
        return tuple(value for name in names if isinstance(value := self.arguments.get(name), str))

    @property
    def access(self) -> str:
        return self.kind.access if self.kind is not None else ""


def read_call(
    table: "ToolTable", tool_name: str, arguments: Any, place: Place, server: str = ""
) -> tuple[Act, ...]:
    """The acts of a call. A call that cannot be read is one act with a `doubt`; an unknown tool one without a kind."""
    given: Mapping[str, Any] = cast("Mapping[str, Any]", arguments) if isinstance(arguments, Mapping) else {}
    acts = tuple(_Reader(table, place).acts(tool_name, given, (), 0, server))
    return acts[:_MOST_ACTS] if len(acts) <= _MOST_ACTS else (*acts[: _MOST_ACTS - 1], _too_many(acts[0]))


def _too_many(act: Act) -> Act:
    return Act(act.kind, act.tool_name, act.arguments, doubt=f"it does more than {_MOST_ACTS} things")


class _Reader:
    def __init__(self, table: "ToolTable", place: Place) -> None:
        self._table = table
        self._place = place

    def acts(
        self, name: str, given: Mapping[str, Any], base: Path, depth: int, server: str = ""
    ) -> Iterator[Act]:
        tool = self._table.tool(name)
        if tool is None:
            names = self._table.mcp_names(name, server)
            if not names:
                yield Act(None, name, dict(given), base=base, doubt="its name can be read in too many ways")
            for known in names:
                yield Act(None, known, dict(given), base=base)
            yield from self._implied(names, given, base, depth)
            return
        yield from self._by_tool(tool, name, given, base, depth)

    def _by_tool(
        self, tool: Tool, name: str, given: Mapping[str, Any], base: Path, depth: int
    ) -> Iterator[Act]:
        if tool.choice is not None:
            chosen = _chosen(tool.choice, given)
            if chosen is None:
                yield Act(None, name, dict(given), base=base)
            else:
                yield from self._by_tool(chosen, name, given, base, depth)
        elif tool.calls is not None:
            yield from self._inner_calls(tool, name, given, base, depth)
        elif tool.each_of:
            found = [inner for inner in tool.each_of if _has_main(inner, given)]
            for inner in found or tool.each_of[:1]:
                yield from self._by_tool(inner, name, given, base, depth)
        elif tool.items is not None:
            yield from self._items(tool.items, name, given, base, depth)
        elif tool.patch:
            yield from self._patched(tool, name, given)
        elif not tool.kind:
            yield Act(None, name, dict(given), base=base)
        elif tool.urls_in:
            yield from _addresses(tool, given, base)
        else:
            yield from self._leaf(tool, name, given, base)

    def _implied(
        self, names: Sequence[str], given: Mapping[str, Any], base: Path, depth: int
    ) -> Iterator[Act]:
        """What tools of well-known MCP servers do."""
        for name in names:
            tool = mcp_tool(name)
            if tool is not None:
                acts = self._by_tool(tool, name, given, base, depth)
                yield from (
                    msgspec.structs.replace(act, implied=True) for act in acts if act.kind is not None
                )

    # --- one tool of a known kind --------------------------------------------------------------------------------

    def _leaf(self, tool: Tool, name: str, given: Mapping[str, Any], base: Path) -> Iterator[Act]:
        kind = KINDS[tool.kind]
        try:
            known, at, lost = self._arguments(tool.arguments, kind, given, base)
        except UnitError as problem:
            yield Act(kind, kind.tool, {}, tool, base=base, doubt=str(problem))
            return
        if tool.guessed and not isinstance(known.get(kind.needs), str | list) and kind.needs:
            yield Act(None, name, dict(given), base=base)
            return
        cwd = self._cwd(tool, given)
        if tool.means:
            known = {**tool.means, **known}
        act = Act(kind, kind.tool, known, tool, at, base, cwd, lost)
        if tool.edits is not None:
            yield from self._edits(act, tool.edits, given, base)
            return
        for one in _each(act, tool):
            yield self._checked(one)
            if tool.may_patch:
                yield from self._patch_in_line(one)

    def _arguments(
        self, declared: Mapping[str, Argument], kind: Kind, given: Mapping[str, Any], base: Path
    ) -> tuple[dict[str, Any], dict[str, Path], tuple[str, ...]]:
        known: dict[str, Any] = {}
        at: dict[str, Path] = {}
        lost: tuple[str, ...] = ()
        for name, argument in declared.items():
            key, value = _value(argument, given)
            if value is _MISSING:
                continue
            read = self._read(name, argument, kind, value, known, key)
            if read is None:
                lost = (*lost, key)
                continue
            known[name] = read
            at[name] = (*base, key)
        return known, at, lost

    def _read(
        self, name: str, argument: Argument, kind: Kind, value: Any, known: dict[str, Any], key: str
    ) -> Any:
        try:
            if argument.many and isinstance(value, list | tuple):
                values = [argument.unit.read(one, known) for one in cast("list[Any]", value)]
                return [self._whole(name, argument, kind, one) for one in values]
            return self._whole(name, argument, kind, argument.unit.read(value, known))
        except UnitError as problem:
            raise UnitError(f"{key} cannot be read: {problem}") from None

    def _whole(self, name: str, argument: Argument, kind: Kind, value: Any) -> Any:
        return self._path(value, argument) if name in kind.paths and isinstance(value, str) else value

    def _path(self, path: str, argument: Argument) -> str:
        if argument.below_root:
            return _joined(self._place.root or self._place.cwd, path.lstrip("/"))
        if path.startswith("~") and self._place.home and path[1:2] in {"", "/"}:
            return self._place.home + path[1:]
        return _joined(self._place.cwd, path)

    def _cwd(self, tool: Tool, given: Mapping[str, Any]) -> str:
        if tool.cwd is None:
            return ""
        _key, value = _value(tool.cwd, given)
        return self._path(value, tool.cwd) if isinstance(value, str) else ""

    def _checked(self, act: Act) -> Act:
        """A file or a line that is not text says nothing: then the act could be anything of its kind."""
        kind = act.kind
        if kind is None or not kind.needs or isinstance(act.arguments.get(kind.needs), str):
            return act
        return msgspec.structs.replace(act, doubt=f"its arguments have no {kind.needs} that is text")

    # --- one call, several acts ----------------------------------------------------------------------------------

    def _edits(self, act: Act, edits: Edits, given: Mapping[str, Any], base: Path) -> Iterator[Act]:
        key, value = _value(Argument(edits.keys), given)
        found = _decoded(value) if isinstance(value, str) else value
        if not isinstance(found, list | tuple) or not found:
            why = "it has no edits" if value is _MISSING else f"{key} cannot be read"
            yield msgspec.structs.replace(act, doubt=why)
            return
        kind = KINDS["edit"]
        for index, one in enumerate(cast("list[Any]", found)):
            inner = (*base, key, index)
            if not isinstance(one, Mapping):
                yield msgspec.structs.replace(act, doubt=f"{key} cannot be read")
                continue
            known, at, lost = self._arguments(edits.arguments, kind, cast("Mapping[str, Any]", one), inner)
            yield self._checked(
                Act(
                    kind, kind.tool, {**act.arguments, **known}, act.tool, {**act.at, **at}, base,
                    lost=(*act.lost, *lost),
                )
            )  # fmt: skip

    def _items(
        self, items: tuple[str, Tool], name: str, given: Mapping[str, Any], base: Path, depth: int
    ) -> Iterator[Act]:
        key, tool = items
        found = given.get(key)
        found = _decoded(found) if isinstance(found, str) else found
        if not isinstance(found, list | tuple) or not found:
            yield self._doubtful(tool, name, f"{key} cannot be read")
            return
        for index, one in enumerate(cast("list[Any]", found)):
            if isinstance(one, Mapping):
                inner = cast("Mapping[str, Any]", one)
                yield from self._by_tool(tool, name, inner, (*base, key, index), depth)
            else:
                yield self._doubtful(tool, name, f"{key} cannot be read")

    @staticmethod
    def _doubtful(tool: Tool, name: str, doubt: str) -> Act:
        kind = KINDS.get(tool.kind)
        return Act(kind, name if kind is None else kind.tool, {}, doubt=doubt)

    def _inner_calls(
        self, tool: Tool, name: str, given: Mapping[str, Any], base: Path, depth: int
    ) -> Iterator[Act]:
        calls = tool.calls
        found: Any = given.get(calls.key) if calls is not None and calls.key else [given]
        if calls is None or not isinstance(found, list | tuple) or depth >= _DEEPEST:
            yield Act(None, name, dict(given), base=base, doubt="the calls that it makes cannot be read")
            return
        for index, one in enumerate(cast("list[Any]", found)):
            inner: Mapping[str, Any] = cast("Mapping[str, Any]", one) if isinstance(one, Mapping) else {}
            called, arguments = inner.get(calls.name), inner.get(calls.arguments)
            if arguments is None and calls.optional:
                yield Act(None, name, dict(given), base=base)
                continue
            if isinstance(arguments, str):
                arguments = _decoded(arguments)
            if not isinstance(called, str) or not isinstance(arguments, Mapping):
                yield Act(None, name, dict(given), base=base, doubt="a call that it makes cannot be read")
                continue
            below = (*base, *((calls.key, index) if calls.key else ()), calls.arguments)
            table = cast("Mapping[str, Any]", arguments)
            yield from self.acts(called.removeprefix(calls.prefix), table, below, depth + 1)

    def _patched(self, tool: Tool, name: str, given: Mapping[str, Any]) -> Iterator[Act]:
        text = given.get(tool.patch)
        file = _value(tool.arguments["file_path"], given)[1] if tool.arguments else _MISSING
        if isinstance(file, str):
            # It may say which file a patch without names is for, or overrule those names.
            yield _of_patch("edit", {"file_path": _joined(self._place.cwd, file)})
            with contextlib.suppress(PatchError):
                for change in read_patch(text) if isinstance(text, str) else ():
                    yield from self._change(change)
            return
        yield from self._patch(text, name)

    def _patch(self, text: Any, name: str) -> Iterator[Act]:
        kind = KINDS["edit"]
        try:
            changes = read_patch(text) if isinstance(text, str) else []
        except PatchError as problem:
            yield Act(kind, kind.tool, {}, doubt=str(problem))
            return
        if not changes:
            yield Act(kind, kind.tool, {}, doubt=f"{name} has no patch that is text")
        for change in changes:
            yield from self._change(change)

    def _patch_in_line(self, act: Act) -> Iterator[Act]:
        line = act.arguments.get("command")
        text = patch_in_line(line) if isinstance(line, str) else None
        if text is not None:
            yield from self._patch(text, "apply_patch")

    def _change(self, change: Change) -> Iterator[Act]:
        path = _joined(self._place.cwd, change.path)
        old, new = "\n".join(change.removed), "\n".join(change.added)
        arguments: dict[str, Any] = {"file_path": path}
        if change.does == "write":
            arguments["content"] = new
        elif change.does == "edit":
            arguments |= {"old_string": old, "new_string": new}
        # A change that only moves the file edits nothing.
        if change.does != "edit" or old or new or not change.moved_to:
            yield _of_patch(change.does, arguments)
        if change.moved_to:
            moved = {"source": path, "destination": _joined(self._place.cwd, change.moved_to)}
            yield _of_patch("move", moved)


def _of_patch(kind: str, arguments: dict[str, Any]) -> Act:
    return Act(KINDS[kind], KINDS[kind].tool, arguments, fixed="it is one part of a patch")


def _chosen(choice: Choice, given: Mapping[str, Any]) -> Tool | None:
    value = given.get(choice.key)
    found = choice.tools.get(value) if isinstance(value, str) else None
    return found if found is not None else choice.otherwise


def _has_main(tool: Tool, given: Mapping[str, Any]) -> bool:
    """Whether a call has the argument that the tool is about."""
    if tool.patch or tool.items is not None:
        return given.get(tool.patch or cast("tuple[str, Tool]", tool.items)[0]) is not None
    main = (KINDS[tool.kind].needs or next(iter(tool.arguments), "")) if tool.kind else ""
    argument = tool.arguments.get(main)
    return argument is not None and _value(argument, given)[1] is not _MISSING


def _value(argument: Argument, given: Mapping[str, Any]) -> tuple[str, Any]:
    """The first key with a value; text of blanks counts as none while another key has one."""
    first: tuple[str, Any] = (argument.keys[0], _MISSING)
    for key in argument.keys:
        value = given.get(key, _MISSING)
        if value is _MISSING or value is None:
            continue
        if not (isinstance(value, str) and not value.strip()):
            return key, value
        if first[1] is _MISSING:
            first = (key, value)
    return first


def _each(act: Act, tool: Tool) -> Iterator[Act]:
    """One act for each value of the argument that may be a list."""
    for name, argument in tool.arguments.items():
        values = act.arguments.get(name)
        if not argument.many or not isinstance(values, list):
            continue
        if not values:
            yield msgspec.structs.replace(act, arguments={}, doubt=f"{argument.keys[0]} is empty")
            return
        for index, value in enumerate(cast("list[Any]", values)):
            arguments, place = {**act.arguments, name: value}, (*act.at[name], index)
            yield msgspec.structs.replace(act, arguments=arguments, at={**act.at, name: place})
        return
    yield act


def _addresses(tool: Tool, given: Mapping[str, Any], base: Path) -> Iterator[Act]:
    kind, text = KINDS["fetch"], given.get(tool.urls_in)
    found = list(dict.fromkeys(_URL.findall(text))) if isinstance(text, str) else []
    if not found:
        yield Act(kind, kind.tool, {}, tool, base=base, doubt="its text has no address that can be read")
    for url in found:
        arguments = {"url": url.rstrip(".,;:!?)]}"), "prompt": text}
        yield Act(kind, kind.tool, arguments, fixed="its addresses are in a text", base=base)


def _decoded(text: str) -> Any:
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return None


def _joined(directory: str, path: str) -> str:
    """The path from the root. `..` stays: what is before it may be a link, which nothing here can follow."""
    if path.startswith("/") or not directory:
        return path
    while path.startswith("./"):
        path = path[2:].lstrip("/")
    return directory if path in {"", "."} else f"{directory.rstrip('/')}/{path}"


def value_at(arguments: Any, path: Sequence[str | int]) -> Any:
    """What is at a place in the arguments; JSON that came as text is read. None where there is nothing."""
    found = arguments
    for step in path:
        if isinstance(found, str):
            found = _decoded(found)
        try:
            found = found[step]
        except (KeyError, IndexError, TypeError):
            return None
    return found


def with_value(arguments: Any, path: Sequence[str | int], value: Any, *, remove: bool = False) -> Any:
    """A copy of the arguments with another value at a place, or without it. JSON in a text becomes what it says."""
    if not path:
        return value
    step, rest = path[0], path[1:]
    found = _decoded(arguments) if isinstance(arguments, str) else arguments
    if isinstance(step, int):
        items = list(cast("Sequence[Any]", found))
        items[step] = with_value(items[step], rest, value, remove=remove)
        return items
    table: dict[str, Any] = dict(cast("Mapping[str, Any]", found))
    if rest:
        table[step] = with_value(table.get(step), rest, value, remove=remove)
    elif remove:
        table.pop(step, None)
    else:
        table[step] = value
    return table
