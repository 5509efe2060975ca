"""Translate a call for another agent's hooks: into the tool and arguments with which that agent would do the
same.

A hook gets a call under the name and with the arguments of its own agent, one view for each action. Its
rewrites are put back into the caller's own arguments.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import Any, cast

from msgspec import Struct

from hookline.actions.action import Action, PathContext
from hookline.actions.declare import same
from hookline.actions.kinds import FURTHER, KINDS, ToolKind
from hookline.actions.parse_call import read_call
from hookline.actions.patches import write_patch
from hookline.actions.rewrite import (
    IrreversibleError,
    Rewritten,
    below_root,
    changed,
    put,
    value_at,
    with_value,
)
from hookline.actions.table import ToolTable
from hookline.actions.tool import Argument, Tool
from hookline.actions.units import UnitError


class TranslatedAction(Struct, eq=False):
    """One action, translated for the hooks of one agent. Its arguments are computed on demand."""

    tool_name: str
    action: Action
    #: The form of the agent's own tool; None for canonical terms, or the caller's own.
    tool: Tool | None = None
    #: Further names by which a matcher may mean it.
    also: tuple[str, ...] = ()
    #: The reason why a rewrite of it cannot be put back.
    irreversible: str = ""
    #: The translated action, where it is not the action that happens.
    similar: Action | None = None
    path_context: PathContext = PathContext()
    #: Arguments and lost facts, once they were computed.
    translated: tuple[dict[str, Any], tuple[str, ...]] | None = None

    @property
    def arguments(self) -> dict[str, Any]:
        return self._tell()[0]

    @property
    def lost(self) -> tuple[str, ...]:
        """Facts that the agent's own tool cannot express."""
        return self._tell()[1]

    @property
    def cwd(self) -> str:
        """The directory it happens in, where the arguments do not have it."""
        return "" if self.tool is not None and self.tool.cwd is not None else self.action.cwd

    def _tell(self) -> tuple[dict[str, Any], tuple[str, ...]]:
        if self.translated is None:
            action = self.similar or self.action
            # A hook may change its input.
            self.translated = (
                (dict(action.arguments), ())
                if self.tool is None
                else _written(action, self.tool, self.path_context)
            )
        return self.translated


#: Kinds and canonical arguments of similar calls.
Parts = list[tuple[str, dict[str, Any]]]
#: One translation of an action: usually one view, several where the agent has no tool that does it all at
#: once.
Way = tuple[TranslatedAction, ...]


class ReadCall:
    """A call of one agent, read once, and its translations for others."""

    def __init__(
        self, table: ToolTable, tool_name: str, arguments: Any, path_context: PathContext, server: str = ""
    ) -> None:
        self.table = table
        self.tool_name = tool_name
        self.arguments = arguments
        self.actions = read_call(table, tool_name, arguments, path_context, server)
        self.path_context = path_context
        self._server = server
        #: By the table of the other agent: most hooks of an event are of one.
        self._known_ways: dict[int, tuple[tuple[Way, ...], ...]] = {}

    @cached_property
    def whole(self) -> TranslatedAction:
        """The whole call, as it was called."""
        return TranslatedAction(self.tool_name, Action(None, self.tool_name, dict(self.arguments)))

    @property
    def is_widened(self) -> bool:
        """True if it asks for more rights than its effect needs elsewhere."""
        return any(
            value_at(self.arguments, (*action.base, key)) not in _NO_MORE
            for action in self.actions
            if action.tool is not None
            for key in action.tool.widened_by
        )

    @cached_property
    def is_undeclared(self) -> bool:
        """True if the tool is not declared: its effect can be guessed by its arguments alone."""
        return (
            isinstance(self.arguments, Mapping)
            and self.table.tool(self.tool_name) is None
            and self.tool_name not in FURTHER
            and not any(action.implied for action in self.actions)
        )

    def ways(self, target: ToolTable) -> tuple[tuple[Way, ...], ...]:
        """Return the translations of each action for the other agent; the first one is preferred."""
        known = self._known_ways.get(id(target))
        if known is None:
            actions = (
                self.actions
                if target.canonical or len(self.actions) == 1
                else [a for a in self.actions if not a.implied]
            )
            known = self._known_ways[id(target)] = tuple([self._ways(action, target) for action in actions])
        return known

    def followed_ways(self, action: Action, target: ToolTable) -> tuple[Way, ...]:
        """Return the translations of something that the call does beside what its tool says: a file that is written
        may be translated to a write or to an edit."""
        ways = self._ways(action, target)
        if not action.because:
            return ways
        kind, path = action.kind.name if action.kind is not None else "", action.arguments.get("file_path")
        parts: list[Parts] = []
        if kind in _WRITES or kind == "delete":
            others: list[tuple[str, dict[str, Any]]] = [
                (name, {"file_path": path}) for name in _WRITES if name != kind
            ]
            if str(path).endswith(".ipynb"):
                others.append(("notebook", {"notebook_path": path}))
            parts = [[other] for other in others]
        similar = [way for each in parts for way in self._similar(action, target, each)]
        return _patches_last(ways, tuple(similar))

    def rewritten(self, view: TranslatedAction, new: Any, now: Any) -> Rewritten:
        """Return the arguments `now`, after a hook that got `view` rewrote it. Raises `IrreversibleError`."""
        reason = view.irreversible or view.action.irreversible or view.action.doubt
        if view.tool is not None and (view.tool.patch or view.tool.urls_in):
            reason = reason or "the hook got it as one text"
        if reason:
            raise IrreversibleError(reason)
        if not isinstance(new, Mapping):
            raise IrreversibleError("its new arguments are not an object")
        table = cast("Mapping[str, Any]", new)
        if view.action.kind is None:
            return Rewritten(with_value(now, view.action.base, dict(table)))
        try:
            changes = changed(
                view.action,
                view.tool or same(view.action.kind.name),
                view.arguments,
                table,
                self.path_context,
            )
            return self._put(view.action, changes, now)
        except RecursionError:
            raise IrreversibleError("its new arguments are nested too deeply") from None

    def _put(self, action: Action, changes: Mapping[str, Any], now: Any) -> Rewritten:
        """Return the arguments with the changes. The call must then do exactly what was asked for."""
        index = next(at for at, one in enumerate(self.actions) if one is action)
        before = self.actions if now is self.arguments else self._read(now)
        if len(before) != len(self.actions):
            raise IrreversibleError("another hook has changed what the call does")
        translated, wanted, coarser = put(before[index], changes, now, self.path_context)
        after = self._read(translated.arguments)
        if index >= len(after) or after[index].doubt:
            raise IrreversibleError("with it the call would do something else")
        if not action.implied and not _same_otherwise(before, after, index):
            raise IrreversibleError("it would change what else the call does")
        does = after[index].arguments
        for name in {**wanted, **does}:
            if name not in coarser and does.get(name, _DEFAULTS.get(name)) != wanted.get(
                name, _DEFAULTS.get(name)
            ):
                raise IrreversibleError(f"{name} would differ from what the hook asked for")
        return translated

    def _read(self, arguments: Any) -> tuple[Action, ...]:
        return read_call(self.table, self.tool_name, arguments, self.path_context, self._server)

    def fits(self, action: Action, target: ToolTable) -> bool:
        """Return True if the other agent has a tool of that name that would read the call, with that action
        in it."""
        given, kind = self.arguments, action.kind
        if kind is None or target.tool(self.tool_name) is None or not isinstance(given, Mapping):
            return False
        actions = read_call(target, self.tool_name, cast("Any", given), self.path_context, self._server)
        same = [one.arguments.get(kind.needs) for one in actions if one.kind is kind]
        return not any(one.doubt for one in actions) and (
            not same or action.arguments.get(kind.needs) in same
        )

    def _ways(self, action: Action, target: ToolTable) -> tuple[Way, ...]:
        kind = action.kind
        if kind is None:
            return self._as_it_is(action, target)
        ways = self._exact(action, kind, target)
        further = _FALLBACKS.get(kind.name)
        if further is not None:
            similar = [self._similar(action, target, parts) for parts in further(action.arguments)]
            ways = _patches_last(ways, tuple(way for each in similar for way in each))
        tool = action.tool
        if (
            tool is not None
            and (tool.guessed or tool.narrow)
            and not target.canonical
            and self.fits(action, target)
        ):
            # A name alone proves nothing: a hook for a tool of that name sees the call as it is.
            ways = ((self.whole,), *ways)
        return ways or (self._as_called(action, target),)

    @staticmethod
    def _as_it_is(action: Action, target: ToolTable) -> tuple[Way, ...]:
        """Return a tool of no kind under its name as the other agent would write it, and as it is."""
        name = target.mcp_name(action.tool_name)
        also = (action.called,) if target.canonical and action.called != name else ()
        renamed = (TranslatedAction(name, action, None, also),)
        return (
            (renamed,)
            if name == action.tool_name
            else (renamed, (TranslatedAction(action.tool_name, action),))
        )

    def _exact(self, action: Action, kind: ToolKind, target: ToolTable) -> tuple[Way, ...]:
        if target.canonical:
            also = kind.also
            if not action.implied:
                called, whole = action.called, self.tool_name
                also = (*also, called) if called == whole else (*also, called, whole)
            return ((TranslatedAction(kind.tool, action, None, also),),)
        place = self.path_context
        return tuple(
            [
                (TranslatedAction(name, action, tool, (), "", None, place),)
                for name, tool in target.tools_of(kind.name)
                if not tool.means or _meant(action, tool)
            ]
        )

    def _similar(self, action: Action, target: ToolTable, parts: Parts) -> tuple[Way, ...]:
        """Translate the action as calls of other kinds, for agents and hooks that have no tool of its own
        kind."""
        found = [Action(KINDS[name], KINDS[name].tool, given, called=action.called) for name, given in parts]
        forms = [self._exact(part, part.kind, target) for part in found if part.kind is not None]
        return tuple(
            tuple(
                TranslatedAction(
                    view.tool_name, action, view.tool, view.also, _SIMILAR, part, self.path_context
                )
                for part, way in zip(found, ways, strict=True)
                for view in way
            )
            for ways in zip(*forms, strict=True)
        )

    def _as_called(self, action: Action, target: ToolTable) -> Way:
        """Keep the name of a tool without a counterpart, unless it means something else there."""
        why = f"{target.agent or 'the agent'} of the hook has no tool that does this"
        given = value_at(self.arguments, action.base)
        if target.tool(action.called) is None and isinstance(given, Mapping):
            own = Action(None, action.called, dict(cast("Mapping[str, Any]", given)))
            return (TranslatedAction(action.called, action, None, (), why, own),)
        return (TranslatedAction(action.tool_name, action, None, (), why),)


#: Kinds of which a hook about one means the others, too, where a line of a shell writes the file.
_WRITES = ("write", "edit")
#: Values of an argument that gives no more rights.
_NO_MORE: tuple[Any, ...] = (None, "", "use_default", [], False)
#: The default value of an argument.
_DEFAULTS = {"offset": 1}
_SIMILAR = "the hook got a similar call, because its agent has no tool that does this"
#: The message for an argument that another agent's tool does not have.
_NO_SUCH = {name: f"{name}: it has no such argument" for kind in KINDS.values() for name in kind.arguments}


def _patches_last(exact: tuple[Way, ...], similar: tuple[Way, ...]) -> tuple[Way, ...]:
    """Prefer similar calls to patches: a hook that reads paths among the arguments finds none in a patch."""
    patches = [way for way in exact if way[0].tool is not None and way[0].tool.patch]
    return (*(way for way in exact if way not in patches), *similar, *patches)


def _same_otherwise(before: Sequence[Action], after: Sequence[Action], index: int) -> bool:
    """Return True if all other actions are unchanged. Patches in a line that is rewritten may be gone."""
    others, now = (
        [
            (action.tool_name, action.arguments, action.irreversible)
            for at, action in enumerate(actions)
            if at != index and not action.implied
        ]
        for actions in (before, after)
    )
    if len(others) == len(now):
        return others == now
    return all(action in now or action[2] for action in others) and all(action in others for action in now)


def _meant(action: Action, tool: Tool) -> bool:
    """Return True if a tool whose name implies some argument can express the action."""
    for name, value in tool.means.items():  # noqa: SIM110 a loop takes a third of the time
        if action.arguments.get(name) != value:
            return False
    return True


def _written(action: Action, tool: Tool, path_context: PathContext) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return the action in the arguments of a tool, and the facts that tool cannot express."""
    if tool.patch or tool.urls_in:
        return {**tool.fixed, **_in_one_text(action, tool)}, ()
    arguments: dict[str, Any] = dict(tool.fixed) if tool.fixed else {}
    edit: dict[str, Any] = {}
    lost: tuple[str, ...] = ()
    writes = tool.writes
    for name, value in action.arguments.items():
        write = writes.get(name)
        if write is None:
            lost = lost if name in tool.means else (*lost, _NO_SUCH[name])
            continue
        key, in_edit, as_it_is, argument, needed = write
        translated = value
        if not as_it_is:
            translated, less = _in_own_terms(value, argument, action.arguments, path_context)
            if less:
                lost = (*lost, f"{name}: {less}")
            if translated is None and needed:
                translated = value
        if translated is not None:
            (edit if in_edit else arguments)[key] = translated
    if tool.edits is not None:
        arguments[tool.edits.key] = [edit]
    if action.cwd and tool.cwd is not None:
        arguments[tool.cwd.keys[0]] = action.cwd
    return arguments, lost


def _in_own_terms(
    value: Any, argument: Argument, canonical: Mapping[str, Any], path_context: PathContext
) -> tuple[Any, str]:
    """Return a value in an agent's own terms, and the lost facts; None where it cannot express the value."""
    try:
        own = below_root(value, path_context) if argument.below_root else value
        own, less = argument.unit.write(own, canonical, None)
    except UnitError as problem:
        return None, str(problem)
    return ([own] if argument.many == "always" else own), less


def _in_one_text(action: Action, tool: Tool) -> dict[str, Any]:
    given = action.arguments
    if tool.patch:
        kind = action.kind.name if action.kind is not None else ""
        return {tool.patch: write_patch(kind, given, unified=tool.unified)}
    return {tool.urls_in: f"{given.get('url', '')} {given.get('prompt') or ''}".strip()}


def _deleted(given: Mapping[str, Any]) -> list[Parts]:
    return [[("write", {"file_path": given.get("file_path"), "content": ""})]]


def _moved(given: Mapping[str, Any]) -> list[Parts]:
    """Translate a move: both files are written; and a user who may not read a file must not get it elsewhere."""
    written: Parts = [
        ("write", {"file_path": given.get(name), "content": ""})
        for name in ("destination", "source")
        if given.get(name)
    ]
    return [written, [("read", {"file_path": given.get("source")})]] if given.get("source") else [written]


def _cell(given: Mapping[str, Any]) -> list[Parts]:
    new = given.get("new_source") or ""
    return [[("edit", {"file_path": given.get("notebook_path"), "old_string": "", "new_string": new})]]


#: Translations of actions for hooks that are written for no tool of that kind: guards of writes see what ends
#: in a write.
_FALLBACKS: Mapping[str, Callable[[Mapping[str, Any]], list[Parts]]] = MappingProxyType(
    {"delete": _deleted, "move": _moved, "notebook": _cell}
)
