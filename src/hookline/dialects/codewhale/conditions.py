"""Read condition tables: `condition = {type = "all", conditions = [...]}`, with every mistake in them
reported."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, cast

from msgspec import Struct

from hookline.dialects.codewhale.events import MODES, EventRow, mode_of
from hookline.dialects.codewhale.tools import CATEGORIZED
from hookline.documents.document import misshaped
from hookline.matching.conditions import AllOf, Always, AnyOf, ExitCode, ToolCategory, tool_name
from hookline.matching.nearest import nearest
from hookline.model.diagnostics import Path
from hookline.model.events import EventSpec, field_of
from hookline.model.hook import Condition
from hookline.model.session_info import SessionInfo

_MAX_DEPTH = 16
_CATEGORIES = ("shell", "file_write", "safe", "other")
_OWN_MODES = ("agent", "plan", "operate")


class InOwnMode(Struct, frozen=True):
    """The mode under CodeWhale's name for it, ignoring case. For a change of mode, the new one."""

    mode: str

    @property
    def text(self) -> str:
        return f"mode {self.mode}"

    def holds(self, event: EventSpec[Any], payload: Any, info: SessionInfo) -> bool:  # noqa: ARG002 - the protocol
        return mode_of(self.mode).casefold() == current_mode(payload, info).casefold()

    def why(self, event: EventSpec[Any], payload: Any, info: SessionInfo) -> str:
        decision = "is" if self.holds(event, payload, info) else "is not"
        return f'mode "{current_mode(payload, info)}" {decision} {self.mode}'


def current_mode(payload: Any, info: SessionInfo) -> str:
    moved = field_of(payload, "new_mode")
    return mode_of(moved if isinstance(moved, str) else info.permission_mode)


def _category(category: str) -> ToolCategory:
    return ToolCategory(category, CATEGORIZED, _CATEGORIES)


class _Kind(Struct, frozen=True):
    """One type of condition: the field it needs, that field's shape, and what the event has to know."""

    field: str = ""
    shape: str = ""
    needs: str = ""
    make: Callable[[Any], Condition] | None = None


KINDS: Mapping[str, _Kind] = MappingProxyType(
    {
        "always": _Kind(),
        "tool_name": _Kind("name", "text", "tool", tool_name),
        "tool_category": _Kind("category", "text", "tool", _category),
        "mode": _Kind("mode", "text", "mode", InOwnMode),
        "exit_code": _Kind("code", "a whole number", "exit_code", ExitCode),
        "all": _Kind("conditions", "a list of objects"),
        "any": _Kind("conditions", "a list of objects"),
    }
)
_NOT_KNOWN: Mapping[str, str] = {
    "tool": "it is not about a tool",
    "mode": "its hooks do not get the mode",
    "exit_code": "no exit code is known there",
}


class ConditionReader:
    """Reads the conditions of one entry. `say` reports a mistake at a path below it; an error drops the hook."""

    def __init__(self, row: EventRow, say: Callable[..., None]) -> None:
        self._row = row
        self._say = say

    def read(self, table: Mapping[str, Any], path: Path) -> Condition:
        name = table.get("type")
        kind = KINDS.get(name) if isinstance(name, str) else None
        if kind is None:
            self._unknown_type(name, path)
            return Always()
        for key in table:
            if key not in ("type", kind.field):
                message = f"no field of a {name} condition is called {key!r}"
                fix = f"{name} reads {kind.field or 'nothing else'}"
                self._say("warning", "unknown-field", message, *path, key, fix=fix)
        if not kind.field:
            return Always()
        if kind.field not in table:
            self._say("error", "bad-condition", f"a {name} condition needs {kind.field}", *path)
        elif (instead := misshaped(value := table[kind.field], kind.shape)) is not None:
            self._say("error", "bad-condition", f"{kind.field} is {instead}", *path, kind.field)
        elif kind.make is None:
            return self._several(cast("str", name), value, (*path, kind.field))
        else:
            self._check(cast("str", name), kind, value, (*path, kind.field))
            return kind.make(value)
        return Always()

    def _several(self, name: str, tables: Sequence[Mapping[str, Any]], path: Path) -> Condition:
        if len(path) > 2 * _MAX_DEPTH + 1:
            message = f"conditions nested more than {_MAX_DEPTH} levels deep"
            self._say("error", "bad-condition", message, *path)
            return Always()
        inner = tuple(self.read(each, (*path, index)) for index, each in enumerate(tables))
        if name == "all":
            return AllOf(inner)
        if not inner:
            message = "any of no conditions never holds, so the hook never runs"
            self._say("warning", "dead-condition", message, *path, fix="list a condition, or leave it out")
        return AnyOf(inner)

    def _check(self, name: str, kind: _Kind, value: Any, path: Path) -> None:
        if kind.needs not in self._row.knows:
            message = f"{name} can never hold at {self._row.event_name}: {_NOT_KNOWN[kind.needs]}"
            self._say("error", "never-runs", message, *path, fix="remove it from the condition")
        elif name == "tool_category" and value not in _CATEGORIES:
            self._dead("category", value, _CATEGORIES, path)
        elif name == "mode" and value.casefold() not in MODES:
            self._dead("mode", value, _OWN_MODES, path)
        elif name == "tool_name" and (not value or value != value.strip()):
            self._say("warning", "dead-condition", f"no tool is called {value!r}", *path)

    def _dead(self, what: str, value: str, known: Sequence[str], path: Path) -> None:
        message = f"no {what} is called {value!r}, so it never holds"
        self._say("warning", "dead-condition", message, *path, fix=_choice(value, known))

    def _unknown_type(self, name: Any, path: Path) -> None:
        if name is None:
            self._say("error", "bad-condition", "a condition needs a type", *path, fix=_choice("", KINDS))
        else:
            message = f"no condition is called {name!r}"
            self._say("error", "bad-condition", message, *path, "type", fix=_choice(name, KINDS))


def _choice(value: Any, known: Iterable[str]) -> str:
    close = nearest(value, known) if isinstance(value, str) and value else None
    return f"did you mean {close}?" if close else f"one of {', '.join(known)}"
