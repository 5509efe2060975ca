"""A call as another agent would tell its hooks about it: the tool and arguments with which it would do the same.

"Told" is the word for this everywhere: a hook is told a call under the name and with the arguments that its own agent
has for it, one view for each act. What the hook rewrites there is put back into the caller's own arguments.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import Any, cast

from msgspec import Struct

from hookline.tools.acts import Act, Place
from hookline.tools.declare import same
from hookline.tools.kinds import KINDS, Kind
from hookline.tools.patches import write_patch
from hookline.tools.read_call import read_call
from hookline.tools.rewrite import (
    IrreversibleError,
    Rewritten,
    below_root,
    changed,
    put,
    value_at,
    with_value,
)
from hookline.tools.table import ToolTable
from hookline.tools.tool import Argument, Tool
from hookline.tools.units import UnitError


class View(Struct, eq=False):
    """One act as the hooks of one agent are told it. Its arguments are worked out when they are asked for."""

    tool_name: str
    act: Act
    #: The form of the agent's own tool; None: canonical terms, or the caller's own.
    tool: Tool | None = None
    #: Further names by which a matcher may mean it.
    also: tuple[str, ...] = ()
    #: Why a rewrite of it cannot be put back.
    irreversible: str = ""
    #: The act in the terms that are told, where it is not the act that happens.
    similar: Act | None = None
    place: Place = Place()
    #: Arguments and what is lost, once they were asked for.
    told: tuple[dict[str, Any], tuple[str, ...]] | None = None

    @property
    def arguments(self) -> dict[str, Any]:
        return self._tell()[0]

    @property
    def lost(self) -> tuple[str, ...]:
        """What the agent's own tool cannot say."""
        return self._tell()[1]

    @property
    def cwd(self) -> str:
        """The directory it happens in, where the arguments do not say it."""
        return "" if self.tool is not None and self.tool.cwd is not None else self.act.cwd

    def _tell(self) -> tuple[dict[str, Any], tuple[str, ...]]:
        if self.told is None:
            act = self.similar or self.act
            # A hook may change what it gets.
            self.told = (
                (dict(act.arguments), ()) if self.tool is None else _written(act, self.tool, self.place)
            )
        return self.told


#: Kinds and canonical arguments of similar calls.
Parts = list[tuple[str, dict[str, Any]]]
#: One way to tell an act: usually one view, several where the agent has no tool that does it all at once.
Way = tuple[View, ...]


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
        #: By the table of the other agent: most hooks of an event are of one.
        self._told_ways: dict[int, tuple[tuple[Way, ...], ...]] = {}

    @cached_property
    def whole(self) -> View:
        """All that the call does, told as it was called."""
        return View(self.tool_name, Act(None, self.tool_name, dict(self.arguments)))

    @property
    def is_widened(self) -> bool:
        """Whether it asks for more rights than what it does needs elsewhere."""
        return any(
            value_at(self.arguments, (*act.base, key)) not in _NO_MORE
            for act in self.acts
            if act.tool is not None
            for key in act.tool.widened_by
        )

    def ways(self, target: ToolTable) -> tuple[tuple[Way, ...], ...]:
        """For each act, the ways in which the other agent would tell it; the first one is preferred."""
        known = self._told_ways.get(id(target))
        if known is None:
            acts = (
                self.acts
                if target.canonical or len(self.acts) == 1
                else [a for a in self.acts if not a.implied]
            )
            known = self._told_ways[id(target)] = tuple([self._ways(act, target) for act in acts])
        return known

    def rewritten(self, view: View, new: Any, now: Any) -> Rewritten:
        """The arguments `now`, after a hook that was told `view` rewrote it. Raises `IrreversibleError`."""
        reason = view.irreversible or view.act.irreversible or view.act.doubt
        if view.tool is not None and (view.tool.patch or view.tool.urls_in):
            reason = reason or "the hook was told it as one text"
        if reason:
            raise IrreversibleError(reason)
        if not isinstance(new, Mapping):
            raise IrreversibleError("its new arguments are not an object")
        table = cast("Mapping[str, Any]", new)
        if view.act.kind is None:
            return Rewritten(with_value(now, view.act.base, dict(table)))
        try:
            changes = changed(
                view.act, view.tool or same(view.act.kind.name), view.arguments, table, self._place
            )
            return self._put(view.act, changes, now)
        except RecursionError:
            raise IrreversibleError("its new arguments are nested too deeply") from None

    def _put(self, act: Act, changes: Mapping[str, Any], now: Any) -> Rewritten:
        """The arguments with the changes. The call must do then what was asked for, and nothing else."""
        index = next(at for at, one in enumerate(self.acts) if one is act)
        before = self.acts if now is self.arguments else self._read(now)
        if len(before) != len(self.acts):
            raise IrreversibleError("another hook has changed what the call does")
        told, wanted, coarser = put(before[index], changes, now, self._place)
        after = self._read(told.arguments)
        if index >= len(after) or after[index].doubt:
            raise IrreversibleError("with it the call would do something else")
        if not act.implied and not _same_otherwise(before, after, index):
            raise IrreversibleError("it would change what else the call does")
        does = after[index].arguments
        for name in {**wanted, **does}:
            if name not in coarser and does.get(name, _DEFAULTS.get(name)) != wanted.get(
                name, _DEFAULTS.get(name)
            ):
                raise IrreversibleError(f"{name} would not be what the hook asked for")
        return told

    def _read(self, arguments: Any) -> tuple[Act, ...]:
        return read_call(self.table, self.tool_name, arguments, self._place, self._server)

    def fits(self, act: Act, target: ToolTable) -> bool:
        """Whether the other agent has a tool of that name that would read the call, with that act in it."""
        given, kind = self.arguments, act.kind
        if kind is None or target.tool(self.tool_name) is None or not isinstance(given, Mapping):
            return False
        acts = read_call(target, self.tool_name, cast("Any", given), self._place, self._server)
        same = [one.arguments.get(kind.needs) for one in acts if one.kind is kind]
        return not any(one.doubt for one in acts) and (not same or act.arguments.get(kind.needs) in same)

    def _ways(self, act: Act, target: ToolTable) -> tuple[Way, ...]:
        kind = act.kind
        if kind is None:
            return self._as_it_is(act, target)
        ways = self._exact(act, kind, target)
        further = _FALLBACKS.get(kind.name)
        if further is not None:
            similar = [self._similar(act, target, parts) for parts in further(act.arguments)]
            ways = _patches_last(ways, tuple(way for each in similar for way in each))
        tool = act.tool
        if (
            tool is not None
            and (tool.guessed or tool.narrow)
            and not target.canonical
            and self.fits(act, target)
        ):
            # A name alone proves nothing: a hook for a tool of that name sees the call as it is.
            ways = ((self.whole,), *ways)
        return ways or (self._as_called(act, target),)

    @staticmethod
    def _as_it_is(act: Act, target: ToolTable) -> tuple[Way, ...]:
        """A tool of no kind: its name as the other agent would write it, and as it is."""
        name = target.mcp_name(act.tool_name)
        also = (act.called,) if target.canonical and act.called != name else ()
        renamed = (View(name, act, None, also),)
        return (renamed,) if name == act.tool_name else (renamed, (View(act.tool_name, act),))

    def _exact(self, act: Act, kind: Kind, target: ToolTable) -> tuple[Way, ...]:
        if target.canonical:
            also = kind.also
            if not act.implied:
                called, whole = act.called, self.tool_name
                also = (*also, called) if called == whole else (*also, called, whole)
            return ((View(kind.tool, act, None, also),),)
        place = self._place
        return tuple(
            [
                (View(name, act, tool, (), "", None, place),)
                for name, tool in target.tools_of(kind.name)
                if not tool.means or _meant(act, tool)
            ]
        )

    def _similar(self, act: Act, target: ToolTable, parts: Parts) -> tuple[Way, ...]:
        """The act as calls of other kinds, for agents and hooks that have no tool of its own kind."""
        found = [Act(KINDS[name], KINDS[name].tool, given, called=act.called) for name, given in parts]
        forms = [self._exact(part, part.kind, target) for part in found if part.kind is not None]
        return tuple(
            tuple(
                View(view.tool_name, act, view.tool, view.also, _SIMILAR, part, self._place)
                for part, way in zip(found, ways, strict=True)
                for view in way
            )
            for ways in zip(*forms, strict=True)
        )

    def _as_called(self, act: Act, target: ToolTable) -> Way:
        """A tool with no counterpart keeps its name, unless that means something else there."""
        why = f"{target.agent or 'the agent'} of the hook has no tool that does this"
        given = value_at(self.arguments, act.base)
        if target.tool(act.called) is None and isinstance(given, Mapping):
            own = Act(None, act.called, dict(cast("Mapping[str, Any]", given)))
            return (View(act.called, act, None, (), why, own),)
        return (View(act.tool_name, act, None, (), why),)


#: Values of an argument that gives no more rights.
_NO_MORE: tuple[Any, ...] = (None, "", "use_default", [], False)
#: What an argument is where it is not said.
_DEFAULTS = {"offset": 1}
_SIMILAR = "the hook was told a similar call, because its agent has no tool that does this"
#: What is said of an argument that another agent's tool does not have.
_NO_SUCH = {name: f"{name}: it has no such argument" for kind in KINDS.values() for name in kind.arguments}


def _patches_last(exact: tuple[Way, ...], similar: tuple[Way, ...]) -> tuple[Way, ...]:
    """A hook that reads paths among the arguments finds none in a patch, so it is told similar calls if it can be."""
    patches = [way for way in exact if way[0].tool is not None and way[0].tool.patch]
    return (*(way for way in exact if way not in patches), *similar, *patches)


def _same_otherwise(before: Sequence[Act], after: Sequence[Act], index: int) -> bool:
    """Whether all other acts are what they were. Patches in a line that is rewritten may be gone."""
    others, now = (
        [
            (act.tool_name, act.arguments, act.irreversible)
            for at, act in enumerate(acts)
            if at != index and not act.implied
        ]
        for acts in (before, after)
    )
    if len(others) == len(now):
        return others == now
    return all(act in now or act[2] for act in others) and all(act in others for act in now)


def _meant(act: Act, tool: Tool) -> bool:
    """Whether a tool whose name stands for some argument may be told the act."""
    for name, value in tool.means.items():  # noqa: SIM110 a loop takes a third of the time
        if act.arguments.get(name) != value:
            return False
    return True


def _written(act: Act, tool: Tool, place: Place) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The act in the arguments of a tool, and what that tool cannot say."""
    if tool.patch or tool.urls_in:
        return {**tool.fixed, **_in_one_text(act, tool)}, ()
    arguments: dict[str, Any] = dict(tool.fixed) if tool.fixed else {}
    edit: dict[str, Any] = {}
    lost: tuple[str, ...] = ()
    writes = tool.writes
    for name, value in act.arguments.items():
        write = writes.get(name)
        if write is None:
            lost = lost if name in tool.means else (*lost, _NO_SUCH[name])
            continue
        key, in_edit, as_it_is, argument, needed = write
        told = value
        if not as_it_is:
            told, less = _in_own_terms(value, argument, act.arguments, place)
            if less:
                lost = (*lost, f"{name}: {less}")
            if told is None and needed:
                told = value
        if told is not None:
            (edit if in_edit else arguments)[key] = told
    if tool.edits is not None:
        arguments[tool.edits.key] = [edit]
    if act.cwd and tool.cwd is not None:
        arguments[tool.cwd.keys[0]] = act.cwd
    return arguments, lost


def _in_own_terms(
    value: Any, argument: Argument, canonical: Mapping[str, Any], place: Place
) -> tuple[Any, str]:
    """A value as an agent says it, and what is lost by that; None where it has no way to say it."""
    try:
        own = below_root(value, place) if argument.below_root else value
        own, less = argument.unit.write(own, canonical, None)
    except UnitError as problem:
        return None, str(problem)
    return ([own] if argument.many == "always" else own), less


def _in_one_text(act: Act, tool: Tool) -> dict[str, Any]:
    given = act.arguments
    if tool.patch:
        kind = act.kind.name if act.kind is not None else ""
        return {tool.patch: write_patch(kind, given, unified=tool.unified)}
    return {tool.urls_in: f"{given.get('url', '')} {given.get('prompt') or ''}".strip()}


def _deleted(given: Mapping[str, Any]) -> list[Parts]:
    return [[("write", {"file_path": given.get("file_path"), "content": ""})]]


def _moved(given: Mapping[str, Any]) -> list[Parts]:
    """Both files are written; and who may not read a file must not have it elsewhere."""
    written: Parts = [
        ("write", {"file_path": given.get(name), "content": ""})
        for name in ("destination", "source")
        if given.get(name)
    ]
    return [written, [("read", {"file_path": given.get("source")})]] if given.get("source") else [written]


def _cell(given: Mapping[str, Any]) -> list[Parts]:
    new = given.get("new_source") or ""
    return [[("edit", {"file_path": given.get("notebook_path"), "old_string": "", "new_string": new})]]


#: How acts are told to hooks that are written for no tool of that kind: guards of writes see what ends in a write.
_FALLBACKS: Mapping[str, Callable[[Mapping[str, Any]], list[Parts]]] = MappingProxyType(
    {"delete": _deleted, "move": _moved, "notebook": _cell}
)
