"""Read a call in an agent's own terms as its actions, each in canonical terms."""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, cast

import msgspec
from msgspec.structs import replace as _with

from hookline.actions.action import Action, Path, PathContext
from hookline.actions.kinds import KINDS, ToolKind
from hookline.actions.tool import NOTHING, Edits, ReadRow, Tool
from hookline.actions.units import UnitError

if TYPE_CHECKING:
    from hookline.actions.patches import Change
    from hookline.actions.table import ToolTable

_MOST_ACTS = 200
_DEEPEST = 4
#: Addresses are searched for in a text up to this size.
_LONGEST_TEXT = 500_000
_URL = r"\b[a-z][a-z0-9+.-]{0,30}://[^\s<>\"'`]+"
#: Without the first of these, the second is about something else.
_TOGETHER = {"offset": "limit"}


def read_call(
    table: "ToolTable", tool_name: str, arguments: Any, path_context: PathContext, server: str = ""
) -> tuple[Action, ...]:
    """Return the actions of a call. A call that cannot be read is one action with a `doubt`; an unknown tool
    one without a kind."""
    tool = table.tool(tool_name)
    shape = arguments.__class__
    if (
        shape is dict
        and tool is not None
        and tool.direct
        and tool.unsure_keys.isdisjoint(arguments)
        and not (table.any_case and tool.is_hidden(arguments))
    ):
        action = _action(tool, tool_name, arguments, path_context, ())
        return (action,) if tool.edits is None else _edits(action, tool.edits, arguments, path_context)
    given: Any = decoded(arguments) if isinstance(arguments, str) else {} if arguments is None else arguments
    if not isinstance(given, Mapping):
        return _unreadable(tool, tool_name, "its arguments are not an object")
    found = _Reader(table, path_context).actions(tool_name, cast("Mapping[str, Any]", given), (), 0, server)
    actions = tuple(islice(found, _MOST_ACTS + 1))
    if len(actions) <= _MOST_ACTS:
        return actions
    return (*actions[:_MOST_ACTS], *_unreadable(tool, tool_name, f"it does more than {_MOST_ACTS} things"))


def says_all(table: "ToolTable", tool_name: str, arguments: Any, actions: Sequence[Action]) -> bool:
    """Return True if the acts are all that the call may do, so that it need not be read widely."""
    tool = table.tool(tool_name)
    if (
        tool is None
        or not isinstance(arguments, Mapping)
        or not tool.own_keys.issuperset(cast("Mapping[str, Any]", arguments))
    ):
        return False
    return all(
        action.kind is not None and action.kind.category != "other" and not action.doubt for action in actions
    )


def _doubtful(tool: Tool | None, name: str, doubt: str) -> Action:
    """Return an action of which only its kind is known."""
    kind = KINDS.get(tool.kind) if tool is not None else None
    return Action(kind, name if kind is None else kind.tool, {}, called=name, doubt=doubt)


def _unreadable(tool: Tool | None, name: str, doubt: str) -> tuple[Action, ...]:
    """Return one action for each kind that a call may be, when only its tool is known."""
    if tool is None:
        return (_doubtful(None, name, doubt),)
    kinds = dict.fromkeys(_may_be(tool))
    return tuple(
        Action(KINDS[kind], KINDS[kind].tool, {}, called=name, doubt=doubt)
        if kind
        else Action(None, name, {}, called=name, doubt=doubt, anything=True)
        for kind in kinds
    )


def _may_be(tool: Tool) -> Iterator[str]:
    """Yield the kinds of what a tool may do; an empty one for anything."""
    inner = [*tool.each_of, *(tool.items[1:] if tool.items is not None else ())]
    if tool.choice is not None:
        inner += tool.choice.tools.values()
        inner += (tool.choice.otherwise,) if tool.choice.otherwise is not None else ()
    for one in inner:
        yield from _may_be(one)
    if tool.patch:
        yield from ("edit", "write", "delete", "move")
    elif tool.calls is not None:
        yield ""
    elif tool.kind:
        yield tool.kind


# One tool whose arguments directly describe what it does


def _action(tool: Tool, name: str, given: Mapping[str, Any], path_context: PathContext, base: Path) -> Action:
    kind = tool.of
    known, lost, doubt = _known(tool, given, path_context)
    if kind.needs and not doubt and not isinstance(known.get(kind.needs), str) and tool.direct:
        doubt = _no_text(kind)
    cwd, extra = "", NOTHING
    if tool.cwd is not None:
        value = _value(tool.cwd.keys, given)[1]
        if isinstance(value, str):
            cwd = path_context.path(value, below_root=tool.cwd.below_root)
        elif value is not None:
            doubt = doubt or "its directory is not text"
    if tool.extra:
        extra = tool.always or {
            name: (given.get(value[0]) == value[1] if isinstance(value, tuple) else value)
            for name, value in tool.extra.items()
        }
    return Action(kind, kind.tool, known, tool, name, base, NOTHING, cwd, lost, doubt, "", False, extra)


def _known(
    tool: Tool, given: Mapping[str, Any], path_context: PathContext
) -> tuple[dict[str, Any], tuple[str, ...], str]:
    """Return the canonical arguments, the facts they lack, and why the call cannot be understood."""
    names = tool.names
    if names is None:
        return _known_by_units(tool, given, path_context)
    known = {names[key]: value for key, value in given.items() if key in names and value is not None}
    doubt = ""
    for name in tool.paths:
        value = known.get(name)
        if isinstance(value, str):
            known[name] = value if value.startswith("/") else path_context.path(value)
        elif value is not None:
            doubt = f"{name} is not text"
    return known, (), doubt


def _known_by_units(
    tool: Tool, given: Mapping[str, Any], path_context: PathContext
) -> tuple[dict[str, Any], tuple[str, ...], str]:
    """Return the same for tools that count in other units, or have several names for an argument."""
    known: dict[str, Any] = dict(tool.means) if tool.means else {}
    lost: tuple[str, ...] = ()
    doubt = without = ""
    for row in tool.reads:
        name, key, more, unit, is_path, needed, argument = row
        value = given.get(key)
        if more and (value is None or (isinstance(value, str) and not value.strip())):
            key, value = _value(argument.keys, given)
        if value is None or name == without:
            continue
        try:
            if unit is not None or is_path or argument.many:
                value = _read(row, value, known, path_context)
        except UnitError as problem:
            lost = (*lost, f"{key}: {problem}")
            if needed and not doubt:
                doubt = f"{key} cannot be read: {problem}"
            without = _TOGETHER.get(name, "")
        else:
            if value is not None:
                known[name] = value
    return known, lost, doubt


def _read(row: ReadRow, value: Any, known: Mapping[str, Any], path_context: PathContext) -> Any:
    if row.argument.many and isinstance(value, list | tuple):
        values = cast("Sequence[Any]", value)
        if len(values) > _MOST_ACTS:
            raise UnitError(f"it is a list of more than {_MOST_ACTS}")
        return [_read_one(row, one, known, path_context) for one in values]
    return _read_one(row, value, known, path_context)


def _read_one(row: ReadRow, value: Any, known: Mapping[str, Any], path_context: PathContext) -> Any:
    if row.unit is not None:
        value = row.unit(value, known)
    if not row.is_path:
        return value
    if not isinstance(value, str):
        raise UnitError("it is not text")
    return path_context.path(value, below_root=row.argument.below_root)


def _value(keys: Sequence[str], given: Mapping[str, Any]) -> tuple[str, Any]:
    """Return the first key with a value; text of blanks is ignored while another key has one."""
    blank: tuple[str, Any] = (keys[0], None)
    for key in keys:
        value = given.get(key)
        if value is None:
            continue
        if not isinstance(value, str) or value.strip():
            return key, value
        if blank[1] is None:
            blank = (key, value)
    return blank


def _edits(
    action: Action, edits: Edits, given: Mapping[str, Any], path_context: PathContext
) -> tuple[Action, ...]:
    """Return one action for each replacement in a file."""
    value: Any = given.get(edits.key)
    shape = value.__class__
    found: Sequence[Any] = value if shape is list else _listed(value)
    if not found:
        why = "it has no edits" if edits.key not in given else f"{edits.key} cannot be read"
        return (_with(action, doubt=action.doubt or why),)
    if len(found) > _MOST_ACTS:
        return (_with(action, doubt=f"it makes more than {_MOST_ACTS} edits"),)
    return tuple([_edit(action, edits, index, one, path_context) for index, one in enumerate(found)])


def _edit(action: Action, edits: Edits, index: int, given: Any, path_context: PathContext) -> Action:
    shape = given.__class__
    if shape is not dict and not issubclass(shape, Mapping):
        return _with(action, doubt=f"{edits.key} cannot be read")
    known, lost, doubt = _known(edits.each, given, path_context)
    where = (*action.base, edits.key, index)
    return Action(
        action.kind, action.tool_name, {**action.arguments, **known}, action.tool, action.called, action.base,
        dict.fromkeys(edits.each.arguments, where), action.cwd, (*action.lost, *lost) if lost else action.lost,
        action.doubt or doubt, "", False, action.extra,
    )  # fmt: skip


def _listed(value: Any) -> Sequence[Any]:
    """Return a list, which may have come as JSON in a text; an empty one for anything else."""
    found: Any = decoded(value) if isinstance(value, str) else value
    return cast("Sequence[Any]", found) if isinstance(found, list | tuple) else ()


class _Reader:
    """A reader of calls that may be several actions."""

    def __init__(self, table: "ToolTable", path_context: PathContext) -> None:
        self._table = table
        self._place = path_context

    def actions(
        self, name: str, given: Mapping[str, Any], base: Path, depth: int, server: str = ""
    ) -> Iterator[Action]:
        tool = self._table.tool(name)
        if tool is not None and self._table.any_case and tool.is_hidden(given):
            yield from _unreadable(tool, name, "a key of its arguments has another case than it should")
            return
        if tool is not None:
            yield from self._by_tool(tool, name, given, base, depth)
            return
        names = self._table.mcp_names(name, server)
        if not names:
            doubt = "its name can be read in too many ways"
            yield Action(None, name, dict(given), called=name, base=base, doubt=doubt, anything=True)
        for known in names:
            yield Action(None, known, dict(given), called=name, base=base)
        yield from self._implied(names, given, base, depth)

    def _implied(
        self, names: Sequence[str], given: Mapping[str, Any], base: Path, depth: int
    ) -> Iterator[Action]:
        """Yield what tools of well-known MCP servers do."""
        for name in names:
            from hookline.actions.usual_names import mcp_tool  # noqa: PLC0415 most tools are known

            tool = mcp_tool(name)
            if tool is not None:
                actions = self._by_tool(tool, name, given, base, depth)
                yield from (_with(action, implied=True) for action in actions if action.kind is not None)

    def _by_tool(
        self, tool: Tool, name: str, given: Mapping[str, Any], base: Path, depth: int
    ) -> Iterator[Action]:
        if tool.choice is not None:
            value = given.get(tool.choice.key)
            chosen = tool.choice.tools.get(value) if isinstance(value, str) else None
            chosen = chosen or tool.choice.otherwise or Tool()
            yield from self._by_tool(chosen, name, given, base, depth)
        elif tool.each_of:
            found = [inner for inner in tool.each_of if _has_main(inner, given)]
            for inner in found or tool.each_of[:1]:
                yield from self._by_tool(inner, name, given, base, depth)
        elif tool.calls is not None:
            yield from self._inner_calls(tool, name, given, base, depth)
        elif tool.items is not None:
            yield from self._items(tool.items, name, given, base, depth)
        elif tool.patch:
            yield from self._patched(tool, name, given)
        elif tool.urls_in:
            yield from _addresses(tool, name, given, base)
        elif not tool.kind:
            yield Action(None, name, dict(given), called=name, base=base)
        else:
            for one in _by_each_key(tool, given):
                yield from self._of_one_kind(one, name, given, base)

    def _of_one_kind(self, tool: Tool, name: str, given: Mapping[str, Any], base: Path) -> Iterator[Action]:
        action = _action(tool, name, given, self._place, base)
        if tool.guessed and _is_other(action, given):
            yield Action(None, name, dict(given), called=name, base=base)
        elif tool.edits is not None:
            yield from _edits(action, tool.edits, given, self._place)
        else:
            for one in _each(action, tool, given):
                yield one
                if tool.may_patch and isinstance(line := one.arguments.get("command"), str):
                    from hookline.actions.patches import patch_in_line  # noqa: PLC0415 as below

                    text = patch_in_line(line)
                    yield from self._patch(text, name) if text is not None else ()

    def _items(
        self, items: tuple[str, Tool], name: str, given: Mapping[str, Any], base: Path, depth: int
    ) -> Iterator[Action]:
        key, tool = items
        found = _listed(given.get(key))
        if not found:
            yield _doubtful(tool, name, f"{key} cannot be read")
        for index, one in enumerate(found):
            if isinstance(one, Mapping):
                inner = cast("Mapping[str, Any]", one)
                yield from self._by_tool(tool, name, inner, (*base, key, index), depth)
            else:
                yield _doubtful(tool, name, f"{key} cannot be read")

    def _inner_calls(
        self, tool: Tool, name: str, given: Mapping[str, Any], base: Path, depth: int
    ) -> Iterator[Action]:
        calls = tool.calls
        found: Any = given.get(calls.key) if calls is not None and calls.key else [given]
        found = decoded(found) if isinstance(found, str) else found
        if calls is None or not isinstance(found, list | tuple) or depth >= _DEEPEST:
            yield from _unreadable(tool, name, "the calls that it makes cannot be read")
            return
        if not found:
            yield Action(None, name, dict(given), called=name, base=base)
        for index, one in enumerate(cast("list[Any]", found)):
            inner: Mapping[str, Any] = cast("Mapping[str, Any]", one) if isinstance(one, Mapping) else {}
            called, arguments = inner.get(calls.name), inner.get(calls.arguments)
            if arguments is None and calls.optional:
                yield Action(None, name, dict(given), called=name, base=base)
                continue
            if isinstance(arguments, str):
                arguments = decoded(arguments)
            if not isinstance(called, str) or not isinstance(arguments, Mapping):
                yield from _unreadable(tool, name, "a call that it makes cannot be read")
                continue
            below = (*base, *((calls.key, index) if calls.key else ()), calls.arguments)
            inside = cast("Mapping[str, Any]", arguments)
            yield from self.actions(called.removeprefix(calls.prefix), inside, below, depth + 1)

    # --- patches
    # -------------------------------------------------------------------------------------------------

    def _patched(self, tool: Tool, name: str, given: Mapping[str, Any]) -> Iterator[Action]:
        from hookline.actions.patches import is_patch  # noqa: PLC0415 few agents have such tools

        text = given.get(tool.patch)
        if tool.guessed and not (isinstance(text, str) and is_patch(text)):
            yield Action(None, name, dict(given), called=name)
            return
        file = _value(tool.arguments["file_path"].keys, given)[1] if tool.arguments else None
        if isinstance(file, str):
            # It may name the file of a patch without names, or overrule those names.
            yield _of_patch("edit", {"file_path": self._place.path(file)}, name)
        for action in self._patch(text, name, unified=tool.unified):
            if not (action.doubt and isinstance(file, str)):
                yield action

    def _patch(self, text: Any, name: str, *, unified: bool = False) -> Iterator[Action]:
        from hookline.actions.patches import PatchError, read_patch  # noqa: PLC0415 as above

        try:
            changes = read_patch(text, unified=unified) if isinstance(text, str) else []
        except PatchError as problem:
            yield _doubtful(_EDITS, name, str(problem))
            return
        if not changes:
            yield _doubtful(_EDITS, name, f"{name} has no patch that is text")
        for change in changes:
            yield from self._change(change, name)

    def _change(self, change: "Change", name: str) -> Iterator[Action]:
        path = self._place.path(change.path)
        old, new = "\n".join(change.removed), "\n".join(change.added)
        arguments: dict[str, Any] = {"file_path": path}
        if change.does == "write":
            arguments["content"] = new
        elif change.does == "edit":
            arguments |= {"old_string": old, "new_string": new}
        # A change that only moves the file edits nothing.
        if change.does != "edit" or old or new or not change.moved_to:
            yield _of_patch(change.does, arguments, name)
        if change.moved_to:
            moved = {"source": path, "destination": self._place.path(change.moved_to)}
            yield _of_patch("move", moved, name)


#: The effect of a patch that cannot be read.
_EDITS = Tool("edit")


def _of_patch(kind: str, arguments: dict[str, Any], name: str) -> Action:
    return Action(
        KINDS[kind], KINDS[kind].tool, arguments, called=name, irreversible="it is one part of a patch"
    )


def _has_main(tool: Tool, given: Mapping[str, Any]) -> bool:
    """Return True if a call has the main argument of the tool."""
    if tool.choice is not None:
        return given.get(tool.choice.key) is not None
    if tool.patch or tool.items is not None:
        return given.get(tool.patch or cast("tuple[str, Tool]", tool.items)[0]) is not None
    if tool.edits is not None:
        return given.get(tool.edits.key) is not None
    main = (KINDS[tool.kind].needs or next(iter(tool.arguments), "")) if tool.kind else ""
    argument = tool.arguments.get(main)
    return argument is not None and _value(argument.keys, given)[1] is not None


def _by_each_key(tool: Tool, given: Mapping[str, Any]) -> list[Tool]:
    """Return the tool; as many as there are keys with values, where the precedence is unknown."""
    found = [tool]
    for name, argument in tool.arguments.items():
        if not argument.unsure or len(argument.keys) == 1:
            continue
        keys = [key for key in argument.keys if _says(given.get(key))]
        if keys and keys != [_value(argument.keys, given)[0]]:
            found = [
                _with(one, arguments={**one.arguments, name: _with(argument, keys=(key,))})
                for one in found
                for key in keys
            ]
    return found


def _says(value: Any) -> bool:
    """Return True if a value may be a command, a file or an address, or several of them."""
    return bool(value.strip()) if isinstance(value, str) else isinstance(value, list | tuple) and value != []


def _is_other(action: Action, given: Mapping[str, Any]) -> bool:
    """Return True if a call that seemed to be of a kind by its name turns out to be something else."""
    kind = action.kind
    if kind is None or not kind.needs or isinstance(action.arguments.get(kind.needs), str):
        return False
    argument = action.tool.arguments.get(kind.needs) if action.tool is not None else None
    # A list of unreadable values may well be commands or files.
    return argument is None or not _says(_value(argument.keys, given)[1])


def _each(action: Action, tool: Tool, given: Mapping[str, Any]) -> Iterator[Action]:
    """Yield one action for each value of the argument that may be a list."""
    for name, argument in tool.arguments.items():
        values = action.arguments.get(name)
        if not argument.many or not isinstance(values, list):
            continue
        key = _value(argument.keys, given)[0]
        if not values:
            yield _with(action, arguments={}, doubt=f"{key} is empty")
            return
        for index, value in enumerate(cast("list[Any]", values)):
            at: Mapping[str, Path] = {name: (*action.base, key, index)}
            yield _checked(_with(action, arguments={**action.arguments, name: value}, at=at))
        return
    yield _checked(action)


def _checked(action: Action) -> Action:
    """Check an action: if a file or a line is not text, the action could be anything of its kind."""
    kind = action.kind
    if kind is None or not kind.needs or action.doubt or isinstance(action.arguments.get(kind.needs), str):
        return action
    return _with(action, doubt=_no_text(kind))


def _no_text(kind: ToolKind) -> str:
    return f"its arguments have no {kind.needs} that is text"


def _addresses(tool: Tool, name: str, given: Mapping[str, Any], base: Path) -> Iterator[Action]:
    kind, text = KINDS["fetch"], given.get(tool.urls_in)
    if not isinstance(text, str) or len(text) > _LONGEST_TEXT:
        yield _doubtful(tool, name, f"{tool.urls_in} cannot be read")
        return
    found = dict.fromkeys(match[0].rstrip(".,;:!?)]}") for match in re.finditer(_URL, text, re.IGNORECASE))
    if not found:
        yield _doubtful(tool, name, "its text has no address that can be read")
    for url in found:
        arguments = {"url": url, "prompt": text}
        yield Action(
            kind, kind.tool, arguments, called=name, base=base, irreversible="its addresses are in a text"
        )


def decoded(text: str) -> Any:
    """Decode JSON that came as text; None for anything else."""
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return None
