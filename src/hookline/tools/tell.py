"""Telling a call to hooks of another agent, in that agent's terms; and putting what they rewrite back into the call."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, cast

from msgspec import Struct

from hookline.tools.declare import Argument, Tool, same
from hookline.tools.kinds import KINDS
from hookline.tools.patches import write_patch
from hookline.tools.read_call import Act, Path, Place, read_call, value_at, with_value
from hookline.tools.table import ToolTable
from hookline.tools.units import UnitError

_GONE = object()


class IrreversibleError(Exception):
    """A rewrite that cannot be put back into the call; the message says why."""


class View(Struct, frozen=True, eq=False):
    """One act as the hooks of one agent are told it."""

    tool_name: str
    arguments: dict[str, Any]
    act: Act
    #: The form of the agent's own tool; None: canonical terms.
    tool: Tool | None = None
    #: Further names by which a matcher may mean it.
    also: tuple[str, ...] = ()
    #: The directory it happens in, where the arguments do not say it.
    cwd: str = ""
    #: Why a rewrite of it cannot be put back.
    fixed: str = ""
    #: What the agent's own tool cannot say.
    lost: tuple[str, ...] = ()


#: One way to tell an act: usually one view, several where the agent has no tool that does it all at once.
Telling = tuple[View, ...]


class Told(Struct, frozen=True):
    """What a rewrite made of a call's arguments."""

    arguments: Any
    lost: tuple[str, ...] = ()


class ReadCall:
    """A call of one agent, read once, and what it looks like to others."""

    def __init__(
        self, table: ToolTable, tool_name: str, arguments: Any, place: Place, server: str = ""
    ) -> None:
        self.table = table
        self.tool_name = tool_name
        self.arguments = arguments
        self.acts = read_call(table, tool_name, arguments, place, server)
        self._place = place
        self._server = server

    def tellings(self, target: ToolTable) -> tuple[tuple[Telling, ...], ...]:
        """For each act, the ways in which the other agent would tell it; the first one is preferred."""
        acts = [act for act in self.acts if target.canonical or not act.implied]
        return tuple(_tellings(act, target, self) for act in acts)

    def fits(self, target: ToolTable) -> bool:
        """Whether the other agent has a tool of that name that would read the call."""
        if target.tool(self.tool_name) is None:
            return False
        acts = read_call(target, self.tool_name, self.arguments, self._place, self._server)
        return not any(act.doubt for act in acts)

    def rewritten(self, view: View, new: Any, now: Any) -> Told:
        """The arguments `now`, after a hook that was told `view` rewrote it. Raises `IrreversibleError`."""
        reason = view.fixed or view.act.fixed
        if reason:
            raise IrreversibleError(reason)
        if not isinstance(new, Mapping):
            raise IrreversibleError("its new arguments are not an object")
        table = cast("Mapping[str, Any]", new)
        if view.act.kind is None:
            return Told(with_value(now, view.act.base, dict(table)))
        changes = _changes(view, table, self._place)
        told = _put(view.act, changes, now, self._place)
        self._verify(view.act, changes, told)
        return told

    def _verify(self, act: Act, changes: Mapping[str, Any], told: Told) -> None:
        """What the call does now must be what was asked for, and no other act may have changed."""
        after = read_call(self.table, self.tool_name, told.arguments, self._place, self._server)
        index = next(at for at, one in enumerate(self.acts) if one is act)
        if len(after) != len(self.acts) or after[index].doubt:
            raise IrreversibleError("with it the call would do something else")
        found = after[index].arguments
        for name, value in changes.items():
            wanted = _GONE if value is _GONE else value
            if found.get(name, _GONE) != wanted and not told.lost:
                raise IrreversibleError(f"{name} would not be what the hook asked for")


# Telling


def _tellings(act: Act, target: ToolTable, call: ReadCall) -> tuple[Telling, ...]:
    if act.kind is None:
        name = target.mcp_name(act.tool_name)
        also = (call.tool_name,) if target.canonical and call.tool_name != name else ()
        renamed = (View(name, act.arguments, act, also=also, cwd=act.cwd),)
        return (renamed,) if name == act.tool_name else (renamed, (View(act.tool_name, act.arguments, act),))
    if act.tool is not None and act.tool.guessed and not target.canonical and call.fits(target):
        # A name alone proves nothing: hooks of an agent that has such a tool see the call as it is.
        whole = Act(None, call.tool_name, dict(call.arguments))
        return ((View(call.tool_name, whole.arguments, whole),),)
    exact = _exact(act, target, call)
    further = _FALLBACKS.get(act.kind.name)
    if further is None:
        # A tool with no counterpart keeps its name.
        return exact or ((View(call.tool_name, dict(act.arguments), act, fixed=_no_counterpart(target)),),)
    views = tuple(
        view
        for kind, arguments in further(act.arguments)
        for view in _first(
            _exact(Act(KINDS[kind], KINDS[kind].tool, arguments, cwd=act.cwd, fixed=_APART), target, call)
        )
    )
    told = tuple(View(v.tool_name, v.arguments, act, v.tool, v.also, v.cwd, _APART, v.lost) for v in views)
    return (*exact, *((told,) if told else ()))


_APART = "the hook was told a similar call, because its agent has no tool that does this"


def _no_counterpart(target: ToolTable) -> str:
    return f"{target.agent or 'its agent'} has no such tool"


def _first(tellings: tuple[Telling, ...]) -> Telling:
    return tellings[0] if tellings else ()


def _exact(act: Act, target: ToolTable, call: ReadCall) -> tuple[Telling, ...]:
    kind = act.kind
    if kind is None:
        return ()
    if target.canonical:
        return ((View(kind.tool, act.arguments, act, None, (*kind.also, call.tool_name), act.cwd),),)
    return tuple(
        (_written(act, name, tool),)
        for name, tool in target.tools_of(kind.name)
        if all(act.arguments.get(each) == value for each, value in tool.means.items())
    )


def _written(act: Act, name: str, tool: Tool) -> View:
    """The act in the arguments of a tool; what that tool cannot say is lost."""
    arguments: dict[str, Any] = dict(tool.fixed)
    lost: list[str] = []
    kind = act.kind.name if act.kind is not None else ""
    if tool.patch:
        text = write_patch(kind, act.arguments)
        return View(name, {tool.patch: text}, act, tool, fixed="it was told as a patch", cwd=act.cwd)
    if tool.urls_in:
        text = f"{act.arguments.get('url', '')} {act.arguments.get('prompt') or ''}".strip()
        return View(name, {tool.urls_in: text}, act, tool, fixed="its address is in a text", cwd=act.cwd)
    _write_all(tool.arguments, act.arguments, arguments, lost)
    if tool.edits is not None:
        inner: dict[str, Any] = {}
        _write_all(tool.edits.arguments, act.arguments, inner, lost)
        arguments[tool.edits.keys[0]] = [inner]
    cwd = act.cwd
    if cwd and tool.cwd is not None:
        arguments[tool.cwd.keys[0]], cwd = cwd, ""
    return View(name, arguments, act, tool, cwd=cwd, lost=tuple(lost))


def _write_all(
    declared: Mapping[str, Argument], canonical: Mapping[str, Any], into: dict[str, Any], lost: list[str]
) -> None:
    for name, argument in declared.items():
        if name not in canonical:
            continue
        try:
            value, less = argument.unit.write(canonical[name], canonical, None)
        except UnitError as problem:
            lost.append(f"{name}: {problem}")
            continue
        if less:
            lost.append(f"{name}: {less}")
        into[argument.keys[0]] = [value] if argument.many == "always" else value


Parts = list[tuple[str, dict[str, Any]]]


def _deleted(given: Mapping[str, Any]) -> Parts:
    return [("write", {"file_path": given.get("file_path"), "content": ""})]


def _moved(given: Mapping[str, Any]) -> Parts:
    return [
        ("write", {"file_path": given.get(name), "content": ""})
        for name in ("destination", "source")
        if given.get(name)
    ]


def _cell(given: Mapping[str, Any]) -> Parts:
    new = given.get("new_source") or ""
    return [("edit", {"file_path": given.get("notebook_path"), "old_string": "", "new_string": new})]


#: How acts are told to hooks that are written for no tool of that kind: guards of writes see what ends in a write.
_FALLBACKS: Mapping[str, Callable[[Mapping[str, Any]], Parts]] = MappingProxyType(
    {"delete": _deleted, "move": _moved, "notebook": _cell}
)


# Putting a rewrite back


def _changes(view: View, new: Mapping[str, Any], place: Place) -> dict[str, Any]:
    """The canonical arguments that a hook changed; `_GONE` for those it left out."""
    before, after = (_canonical(view, each, place) for each in (view.arguments, new))
    changes = {name: value for name, value in after.items() if before.get(name, _GONE) != value}
    changes.update((name, _GONE) for name in before if name not in after)
    needs = view.act.kind.needs if view.act.kind is not None else ""
    if changes.get(needs) is _GONE or (needs in changes and not isinstance(changes[needs], str)):
        raise IrreversibleError(f"its new arguments have no {needs}")
    return changes


def _canonical(view: View, given: Mapping[str, Any], place: Place) -> dict[str, Any]:
    """Arguments in the terms of a view, read back. Raises for what has no meaning there."""
    kind = view.act.kind
    tool = view.tool or same(kind.name if kind is not None else "read")
    edits: Any = given.get(tool.edits.keys[0]) if tool.edits is not None else None
    keys = {key for argument in tool.arguments.values() for key in argument.keys}
    own = (*keys, *tool.fixed, *tool.beside, *(tool.edits.keys if tool.edits else ()))
    _refuse_unknown(given, (*own, *(tool.cwd.keys if tool.cwd else ())), view)
    # One tool, read by itself.
    acts = read_call(ToolTable("", {view.tool_name: tool}), view.tool_name, given, place)
    if tool.edits is not None and (not isinstance(edits, list) or len(cast("list[Any]", edits)) != 1):
        raise IrreversibleError("it must stay one edit")
    if len(acts) != 1 or acts[0].doubt:
        raise IrreversibleError(acts[0].doubt if len(acts) == 1 else "it would become several calls")
    cwd = acts[0].cwd
    if cwd != (view.act.cwd if tool.cwd is not None else ""):
        raise IrreversibleError("the directory of a call cannot be changed")
    return acts[0].arguments


def _refuse_unknown(given: Mapping[str, Any], known: tuple[str, ...], view: View) -> None:
    for key, value in given.items():
        if key not in known and view.arguments.get(key, _GONE) != value:
            raise IrreversibleError(f"{view.tool_name} has no argument {key!r}")


def _put(act: Act, changes: Mapping[str, Any], now: Any, place: Place) -> Told:
    """The caller's arguments with the changes, in the caller's keys and units."""
    tool = act.tool
    if tool is None:
        raise IrreversibleError("its tool has no arguments that are known")
    after = {**act.arguments, **changes}
    after = {name: value for name, value in after.items() if value is not _GONE}
    declared = {**tool.arguments, **(tool.edits.arguments if tool.edits is not None else {})}
    lost: list[str] = []
    names = [
        *changes,
        *(name for name, each in declared.items() if each.unit.beside in changes and name in after),
    ]
    for name in dict.fromkeys(names):
        argument = declared.get(name)
        if argument is None:
            raise IrreversibleError(f"the agent's tool has no argument for {name}")
        if name not in after:
            for key in argument.keys:
                now = with_value(now, _beside(act, name, key), None, remove=True)
            continue
        where = _place_of(act, name, argument)
        try:
            written = _below_root(after[name], place) if argument.below_root else after[name]
            value, less = argument.unit.write(written, after, value_at(now, where))
        except UnitError as problem:
            raise IrreversibleError(f"{name}: {problem}") from None
        if less:
            lost.append(f"{name}: {less}")
        now = with_value(now, where, value)
    return Told(now, tuple(lost))


def _below_root(path: Any, place: Place) -> str:
    root = (place.root or place.cwd).rstrip("/")
    if not isinstance(path, str) or not path.startswith(f"{root}/"):
        raise UnitError("the agent's tool reaches no file outside the project")
    return path.removeprefix(f"{root}/")


def _place_of(act: Act, name: str, argument: Argument) -> Path:
    """Where a new value goes: the key that wins, beside the one the value was read from; a place in a list stays."""
    found = act.at.get(name)
    if found is not None and isinstance(found[-1], int):
        return found
    value: Path = _beside(act, name, argument.keys[0])
    return (*value, 0) if argument.many == "always" else value


def _beside(act: Act, name: str, key: str) -> Path:
    found = act.at.get(name)
    if found is not None:
        return (*found[:-1], key) if not isinstance(found[-1], int) else (*found[:-2], key)
    edits = act.tool.edits if act.tool is not None else None
    if edits is not None and name in edits.arguments:
        # Beside another argument of the same edit.
        other = next((place for each, place in act.at.items() if each in edits.arguments), None)
        if other is not None:
            return (*other[:-1], key)
    return (*act.base, key)
