"""Find a hook's changes in canonical terms, and apply them to the caller's own arguments, in its keys and
units."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from msgspec import Struct
from msgspec.structs import replace

from hookline.actions.action import Action, Path, PathContext
from hookline.actions.parse_call import decoded, read_call
from hookline.actions.table import ToolTable
from hookline.actions.tool import Argument, Tool
from hookline.actions.units import UnitError

#: Represents an argument that a hook left out.
_GONE = object()


class IrreversibleError(Exception):
    """A rewrite that cannot be put back into the call; the message says why."""


class Rewritten(Struct, frozen=True):
    """A call's arguments after a rewrite."""

    arguments: Any
    lost: tuple[str, ...] = ()


def changed(
    action: Action,
    tool: Tool,
    translated: Mapping[str, Any],
    new: Mapping[str, Any],
    path_context: PathContext,
) -> dict[str, Any]:
    """Return the canonical arguments that a hook changed when it got the action as a call of `tool`."""
    own = _keys(tool)
    for key, value in tool.fixed.items():
        if new.get(key) != value:
            raise IrreversibleError(f"{key} must stay {value!r}")
    for key, value in new.items():
        if key not in own and translated.get(key, _GONE) != value:
            raise IrreversibleError(f"the hook's tool has no argument {key!r}")
    before, after = (_canonical(action, tool, each, path_context) for each in (translated, new))
    changes = {name: value for name, value in after.items() if before.get(name, _GONE) != value}
    changes.update((name, _GONE) for name in before if name not in after)
    needs = action.kind.needs if action.kind is not None else ""
    new_main = changes.get(needs, "as it was")
    # Without one, another key of the call might come up.
    if new_main is _GONE or (isinstance(new_main, str) and not new_main.strip()):
        raise IrreversibleError(f"its new arguments have no {needs}")
    return changes


def _keys(tool: Tool) -> set[str]:
    """Return own arguments of which a new value has a meaning."""
    keys = {key for argument in tool.arguments.values() for key in argument.keys}
    keys.update(tool.cwd.keys if tool.cwd is not None else ())
    keys.update((tool.edits.key,) if tool.edits is not None else ())
    return keys


def _canonical(
    action: Action, tool: Tool, given: Mapping[str, Any], path_context: PathContext
) -> dict[str, Any]:
    """Read arguments in the terms of a hook's tool back."""
    if tool.edits is not None:
        edits = given.get(tool.edits.key)
        edits = decoded(edits) if isinstance(edits, str) else edits
        if not isinstance(edits, list | tuple) or len(cast("list[Any]", edits)) != 1:
            raise IrreversibleError("it must stay one edit")
        one = cast("list[Any]", edits)[0]
        unknown = (
            set(cast("Mapping[str, Any]", one)) - _keys(tool.edits.each) if isinstance(one, Mapping) else ()
        )
        if unknown:
            raise IrreversibleError(f"an edit has no argument {min(unknown)!r}")
    # One tool, read alone.
    actions = read_call(ToolTable("", {"it": replace(tool, guessed=False)}), "it", given, path_context)
    if len(actions) != 1:
        raise IrreversibleError("it would become several calls")
    if actions[0].doubt or actions[0].lost:
        raise IrreversibleError(actions[0].doubt or actions[0].lost[0])
    if actions[0].cwd != (action.cwd if tool.cwd is not None else ""):
        raise IrreversibleError("the directory of a call cannot be changed")
    return actions[0].arguments


def put(
    action: Action, changes: Mapping[str, Any], now: Any, path_context: PathContext
) -> tuple[Rewritten, dict[str, Any], set[str]]:
    """Return the caller's arguments with the changes, and the canonical arguments that the action must have
    then.

    Also return the names of arguments that the agent can only express in coarser terms.
    """
    tool = action.tool
    if tool is None:
        raise IrreversibleError("its tool has no arguments that are known")
    after = {name: value for name, value in {**action.arguments, **changes}.items() if value is not _GONE}
    declared = {**tool.arguments, **(tool.edits.each.arguments if tool.edits is not None else {})}
    names = [
        *changes,
        *(name for name, each in declared.items() if each.unit.depends_on in changes and name in after),
    ]
    lost: list[str] = []
    coarser = set[str]()
    for name in dict.fromkeys(names):
        argument = declared.get(name)
        if argument is None:
            raise IrreversibleError(f"the agent's tool has no argument for {name}")
        where = _place_of(action, name, argument, now)
        if isinstance(where[-1], int) and name not in after:
            raise IrreversibleError(f"{name} is one of a list")
        if not isinstance(where[-1], int):
            for key in _outdated(argument, where, gone=name not in after):
                now = with_value(now, (*where[:-1], key), None, remove=True)
        if name not in after:
            continue
        value, less = _written(name, argument, after, value_at(now, where), path_context)
        if less:
            lost.append(f"{name}: {less}")
            coarser.add(name)
        as_list = argument.many == "always" and not isinstance(where[-1], int)
        now = with_value(now, where, [value] if as_list else value)
    return Rewritten(now, tuple(lost)), after, coarser


def _written(
    name: str, argument: Argument, after: Mapping[str, Any], before: Any, path_context: PathContext
) -> tuple[Any, str]:
    try:
        value = below_root(after[name], path_context) if argument.below_root else after[name]
        return argument.unit.write(value, after, before)
    except UnitError as problem:
        raise IrreversibleError(f"{name}: {problem}") from None


def below_root(path: Any, path_context: PathContext) -> str:
    """Write a path for an agent that begins all of them at the project's root."""
    root = (path_context.root or path_context.cwd).rstrip("/")
    if not isinstance(path, str) or not path.startswith(f"{root}/") or "/../" in f"{path}/":
        raise UnitError("the agent's tool reaches no file outside the project")
    return path.removeprefix(f"{root}/")


def _place_of(action: Action, name: str, argument: Argument, now: Any) -> Path:
    """Return where a new value goes: the key in use, else the one with precedence; a position in a list stays."""
    found = action.at.get(name)
    if found is not None and argument.many:
        return found
    base = action.base if found is None else found
    used = (key for key in argument.keys if value_at(now, (*base, key)) is not None)
    return (*base, next(used, argument.keys[0]))


def _outdated(argument: Argument, where: Path, *, gone: bool) -> Iterator[str]:
    """Yield keys that must not be used again. For a guessed tool it is unknown which others belong to the
    argument."""
    if gone or not argument.unsure:
        yield from (key for key in argument.keys if gone or key != where[-1])


def value_at(arguments: Any, path: Sequence[str | int]) -> Any:
    """Return the value at a path in the arguments; JSON that came as text is read. None where there is nothing."""
    found = arguments
    for step in path:
        if isinstance(found, str):
            found = decoded(found)
        try:
            found = found[step]
        except (KeyError, IndexError, TypeError):
            return None
    return found


def with_value(arguments: Any, path: Sequence[str | int], value: Any, *, remove: bool = False) -> Any:
    """Return a copy of the arguments with another value at a path, or without it. JSON in a text becomes its
    value."""
    if not path:
        return value
    step, rest = path[0], path[1:]
    found = decoded(arguments) if isinstance(arguments, str) else arguments
    if isinstance(step, int):
        items = list(cast("Sequence[Any]", found))
        items[step] = with_value(items[step], rest, value, remove=remove)
        return items
    table: dict[str, Any] = {} if found is None else dict(cast("Mapping[str, Any]", found))
    if rest:
        table[step] = with_value(table.get(step), rest, value, remove=remove)
    elif remove:
        table.pop(step, None)
    else:
        table[step] = value
    return table
