"""Condition tables: `condition = {type = "all", conditions = [...]}`, with every mistake in them found."""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, cast

from msgspec import Struct

from hookline.dialects.codewhale.events import MODES, Row, mode_of
from hookline.documents.shapes import misshaped
from hookline.matching.conditions import AllOf, Always, AnyOf, ExitCode, ToolCategory, tool_name
from hookline.matching.nearest import nearest
from hookline.model.events import EventSpec, field_of
from hookline.model.hook import Condition
from hookline.model.scene import Scene

_DEEPEST = 16
_CATEGORIES = ("shell", "file_write", "safe", "other")
_OWN_MODES = ("agent", "plan", "operate")


class InMode(Struct, frozen=True):
    """The mode under CodeWhale's name for it; case does not count. A change of mode is about the new one."""

    mode: str

    @property
    def text(self) -> str:
        return f"mode {self.mode}"

    def holds(self, event: EventSpec[Any], payload: Any, scene: Scene) -> bool:  # noqa: ARG002 - the protocol
        return mode_of(self.mode).casefold() == current_mode(payload, scene).casefold()

    def why(self, event: EventSpec[Any], payload: Any, scene: Scene) -> str:
        verdict = "is" if self.holds(event, payload, scene) else "is not"
        return f'mode "{current_mode(payload, scene)}" {verdict} {self.mode}'


def current_mode(payload: Any, scene: Scene) -> str:
    moved = field_of(payload, "new_mode")
    return mode_of(moved if isinstance(moved, str) else scene.permission_mode)


class Mistake(Struct, frozen=True):
    """What is wrong, and where below the condition. One that is not fatal leaves a hook that never runs."""

    code: str
    message: str
    path: tuple[str | int, ...] = ()
    fix: str | None = None
    fatal: bool = True


def read_condition(table: Mapping[str, Any], row: Row) -> tuple[Condition, Sequence[Mistake]]:
    """The condition, and everything that is wrong with it at that event."""
    reader = _Reader(row)
    return reader.condition(table, ()), reader.mistakes


class _Kind(Struct, frozen=True):
    """One type of condition: the field it needs, that field's shape, and what it asks about."""

    field: str = ""
    shape: str = ""
    asks: str = ""


_KINDS: Mapping[str, _Kind] = MappingProxyType(
    {
        "always": _Kind(),
        "tool_name": _Kind("name", "text", "tool"),
        "tool_category": _Kind("category", "text", "tool"),
        "mode": _Kind("mode", "text", "mode"),
        "exit_code": _Kind("code", "a whole number", "exit_code"),
        "all": _Kind("conditions", "a list of objects"),
        "any": _Kind("conditions", "a list of objects"),
    }
)
_SIMPLE: Mapping[str, Callable[[Any], Condition]] = MappingProxyType(
    {
        "tool_name": tool_name,
        "tool_category": ToolCategory,
        "mode": InMode,
        "exit_code": ExitCode,
    }
)
_UNKNOWN_THERE: Mapping[str, str] = {
    "tool": "it is not about a tool",
    "mode": "its hooks are not told the mode",
    "exit_code": "no exit code is known there",
}


class _Reader:
    def __init__(self, row: Row) -> None:
        self._row = row
        self.mistakes: list[Mistake] = []

    def condition(self, table: Mapping[str, Any], path: tuple[str | int, ...]) -> Condition:
        name = table.get("type")
        kind = _KINDS.get(name) if isinstance(name, str) else None
        if kind is None or not isinstance(name, str):
            self._unknown_type(name, path)
            return Always()
        for key in table:
            if key not in ("type", kind.field):
                fix = f"{name} reads {kind.field}" if kind.field else f"{name} reads nothing else"
                message = f"no field of a {name} condition is called {key!r}"
                self._wrong("unknown-field", message, (*path, key), fix, fatal=False)
        return self._filled(name, kind, table, path)

    def _filled(
        self, name: str, kind: _Kind, table: Mapping[str, Any], path: tuple[str | int, ...]
    ) -> Condition:
        if not kind.field:
            return Always()
        value = table.get(kind.field)
        if kind.field not in table:
            self._wrong("bad-condition", f"a {name} condition needs {kind.field}", path)
            return Always()
        if (instead := misshaped(value, kind.shape)) is not None:
            self._wrong("bad-condition", f"{kind.field} is {instead}", (*path, kind.field))
            return Always()
        if name in ("all", "any"):
            return self._several(name, cast("Sequence[Mapping[str, Any]]", value), (*path, kind.field))
        self._possible(name, kind, value, (*path, kind.field))
        return _SIMPLE[name](value)

    def _several(
        self, name: str, tables: Sequence[Mapping[str, Any]], path: tuple[str | int, ...]
    ) -> Condition:
        if len(path) > 2 * _DEEPEST:
            self._wrong("bad-condition", f"conditions nested more than {_DEEPEST} levels deep", path)
            return Always()
        inner = tuple(self.condition(each, (*path, index)) for index, each in enumerate(tables))
        if name == "all":
            return AllOf(inner)
        if not inner:
            message = "any of no conditions never holds, so the hook never runs"
            self._wrong("dead-condition", message, path, "list a condition, or leave it out", fatal=False)
        return AnyOf(inner)

    def _possible(self, name: str, kind: _Kind, value: Any, path: tuple[str | int, ...]) -> None:
        if kind.asks not in self._row.knows:
            message = f"{name} can never hold at {self._row.event_name}: {_UNKNOWN_THERE[kind.asks]}"
            self._wrong("never-runs", message, path, "remove it from the condition")
        elif name == "tool_category" and value not in _CATEGORIES:
            self._dead("category", value, _CATEGORIES, path)
        elif name == "mode" and value.casefold() not in MODES:
            self._dead("mode", value, _OWN_MODES, path)
        elif name == "tool_name" and (not value or value != value.strip()):
            self._wrong("dead-condition", f"no tool is called {value!r}", path, fatal=False)

    def _dead(self, what: str, value: str, known: Sequence[str], path: tuple[str | int, ...]) -> None:
        close = nearest(value, known)
        fix = f"did you mean {close}?" if close else f"one of {', '.join(known)}"
        message = f"no {what} is called {value!r}, so it never holds"
        self._wrong("dead-condition", message, path, fix, fatal=False)

    def _unknown_type(self, name: Any, path: tuple[str | int, ...]) -> None:
        if name is None:
            self._wrong("bad-condition", "a condition needs a type", path, f"one of {', '.join(_KINDS)}")
            return
        close = nearest(name, _KINDS) if isinstance(name, str) else None
        fix = f"did you mean {close}?" if close else f"one of {', '.join(_KINDS)}"
        self._wrong("bad-condition", f"no condition is called {name!r}", (*path, "type"), fix)

    def _wrong(
        self,
        code: str,
        message: str,
        path: tuple[str | int, ...],
        fix: str | None = None,
        *,
        fatal: bool = True,
    ) -> None:
        self.mistakes.append(Mistake(code, message, path, fix, fatal))
