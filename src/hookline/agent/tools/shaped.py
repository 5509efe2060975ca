"""A tool whose arguments are a record: its schema, its objections and its run all read the same one."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Generic, TypeVar, cast

import msgspec
from msgspec import Struct

from hookline.agent.tooling import Category, ToolReply, Workplace
from hookline.matching.nearest import nearest

A = TypeVar("A", bound=Struct)

_LONGEST_NAME = 80


class ShapedTool(Generic[A]):
    """A tool made of a record of arguments and a function that takes one."""

    def __init__(
        self,
        name: str,
        description: str,
        category: Category,
        shape: type[A],
        work: Callable[[A, Workplace], Awaitable[ToolReply]],
        callers: frozenset[str] | None = None,
    ) -> None:
        self.name = name
        self.description = description
        self.category: Category = category
        self.callers = callers
        self._shape = shape
        self._work = work
        self._schema: Mapping[str, Any] | None = None

    @property
    def schema(self) -> Mapping[str, Any]:
        if self._schema is None:
            self._schema = schema_of(self._shape)
        return self._schema

    def problem(self, arguments: Mapping[str, Any]) -> str | None:
        return problem_of(self._shape, arguments)

    async def run(self, arguments: Mapping[str, Any], place: Workplace) -> ToolReply:
        return await self._work(msgspec.convert(_whole_numbers(arguments), self._shape), place)


def schema_of(shape: type[Struct]) -> Mapping[str, Any]:
    """JSON Schema with nothing to look up elsewhere: not every provider follows references."""
    (reference,), components = msgspec.json.schema_components([shape], ref_template="{name}")
    found: Any = components[reference["$ref"]]
    return {key: value for key, value in found.items() if key != "title"}


def problem_of(shape: type[Struct], arguments: Mapping[str, Any]) -> str | None:
    """Everything that is wrong with the arguments in one sentence, or None."""
    fields = {field.encode_name: field for field in msgspec.structs.fields(shape)}
    given = _whole_numbers(arguments)
    found = [f"{name} is missing" for name, field in fields.items() if field.required and name not in given]
    for name, value in given.items():
        field = fields.get(name)
        if field is None:
            found.append(_unknown(name, fields))
        elif (wrong := _misfit(value, field.type)) is not None:
            found.append(f"{name}: {wrong}")
    return "; ".join(found) + "." if found else None


def _misfit(value: Any, kind: Any) -> str | None:
    try:
        msgspec.convert(value, kind)
    except msgspec.ValidationError as problem:
        said = str(problem)
        return said[:1].lower() + said[1:]
    return None


def _unknown(name: Any, fields: Mapping[str, Any]) -> str:
    shown = str(name)[:_LONGEST_NAME]
    close = nearest(shown, fields)
    return f"there is no argument {shown!r}" + (f" (did you mean {close!r}?)" if close else "")


def _whole_numbers(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Some providers send every number as a float."""
    return {
        name: int(value) if isinstance(value, float) and value.is_integer() else cast("Any", value)
        for name, value in arguments.items()
    }
