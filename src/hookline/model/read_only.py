"""Make payloads that a hook in this process cannot change, and values as JSON would have them.

A function hook gets dicts and lists that refuse changes, at any depth: its changes would otherwise reach the
host and later hooks without any check. Such a value is still a dict or a list, so `json.dumps`, `{**value}`
and `isinstance` work; `copy.deepcopy` gives a plain one.
"""

from collections.abc import Callable, Mapping
from functools import cache
from types import NoneType, UnionType
from typing import Any, NoReturn, Union, cast, get_args, get_origin

import msgspec
from msgspec import Struct
from msgspec.structs import fields, force_setattr

from hookline.model.messages import HostMessage
from hookline.model.payloads import Payload, plain_value

_PLAIN = frozenset({str, int, float, bool, NoneType, bytes})


def _refuse(self: Any, *_arguments: Any, **_more: Any) -> NoReturn:
    del self
    raise TypeError(
        "a hook cannot change its payload in place: return rewrite(...), or work on copy.deepcopy of it"
    )


class ReadOnlyDict(dict[Any, Any]):
    """A dict that a hook may read."""

    __slots__ = ()
    __setitem__ = __delitem__ = __ior__ = _refuse  # pyright: ignore[reportAssignmentType]
    clear = pop = popitem = setdefault = update = _refuse  # pyright: ignore[reportAssignmentType]

    def __copy__(self) -> dict[Any, Any]:
        return dict(self)

    def __deepcopy__(self, memo: Any) -> dict[Any, Any]:
        return changeable(self)

    def __reduce__(self) -> Any:
        return dict, (dict(self),)


class ReadOnlyList(list[Any]):
    """A list that a hook may read."""

    __slots__ = ()
    __setitem__ = __delitem__ = __iadd__ = __imul__ = _refuse  # pyright: ignore[reportAssignmentType]
    append = clear = extend = insert = pop = remove = reverse = sort = _refuse  # pyright: ignore[reportAssignmentType]

    def __copy__(self) -> list[Any]:
        return list(self)

    def __deepcopy__(self, memo: Any) -> list[Any]:
        return changeable(self)

    def __reduce__(self) -> Any:
        return list, (list(self),)


class RecordDict(ReadOnlyDict):
    """A record as the object that it is in JSON, whose fields may also be read as attributes."""

    __slots__ = ("_record",)

    def __init__(self, fields: Mapping[str, Any], record: Any) -> None:
        super().__init__(fields)
        self._record = record

    def __getattr__(self, name: str) -> Any:
        # The dict's value first: the record's could be changed in place.
        return self[name] if name in self else getattr(self._record, name)


#: Values of these types are shown as they are.
_UNCHANGEABLE = _PLAIN | {ReadOnlyDict, ReadOnlyList, RecordDict}


def read_only(value: Any, other: Callable[[Any], Any]) -> Any:
    """Return the value so that it cannot be changed; `other` converts values that are not dicts or lists."""
    kind = type(value)  # pyright: ignore[reportUnknownVariableType] a cast costs a call
    if kind is dict:
        for inner in value.values():
            if type(inner) not in _UNCHANGEABLE:
                return ReadOnlyDict({name: read_only(inner, other) for name, inner in value.items()})
        return ReadOnlyDict(value)
    if kind in _UNCHANGEABLE:
        return value
    if kind is list or kind is tuple:
        items = [read_only(inner, other) for inner in value]
        return ReadOnlyList(items) if kind is list else tuple(items)
    if isinstance(value, Mapping):
        fields = read_only(dict(cast("Mapping[Any, Any]", value)), other)
        return RecordDict(fields, value) if isinstance(value, HostMessage) else fields
    return other(value)


def _json_read_only(value: Any) -> Any:
    shown = read_only(as_json(value), _itself)
    return RecordDict(cast("dict[str, Any]", shown), value) if isinstance(value, Struct) else shown


def _itself(value: Any) -> Any:
    return value


def changeable(value: Any) -> Any:
    """Return a copy in plain dicts and lists, at any depth."""
    if isinstance(value, dict):
        return {name: changeable(inner) for name, inner in cast("dict[Any, Any]", value).items()}
    if isinstance(value, list):
        return [changeable(inner) for inner in cast("list[Any]", value)]
    return tuple(map(changeable, cast("tuple[Any, ...]", value))) if type(value) is tuple else value


def as_json(value: Any) -> Any:
    """Return the value in dicts, lists and plain values. Raises TypeError or ValueError where it has no such form."""
    return msgspec.to_builtins(value, enc_hook=plain_value)


# Whole payloads


def read_only_record(payload: Any) -> Any:
    """Return a payload of Hookline's with read-only values as JSON would have them; None for any other."""
    names = _open_fields(type(payload))  # pyright: ignore[reportUnknownArgumentType] a cast costs a call
    if names is None:
        return None
    shown = payload.__copy__()
    for name in names:
        value = getattr(payload, name)
        if value is not None:
            force_setattr(shown, name, read_only(value, _json_read_only))
    return shown


@cache
def _open_fields(kind: type) -> tuple[str, ...] | None:
    """Return the fields of a payload of Hookline's that may hold something that can be changed."""
    if not issubclass(kind, Payload):
        return None
    return tuple(field.name for field in fields(kind) if not _is_plain(field.type))


def _is_plain(shape: Any) -> bool:
    if get_origin(shape) in (Union, UnionType):
        return all(map(_is_plain, get_args(shape)))
    if get_origin(shape) is tuple:
        return all(inner is Ellipsis or _is_plain(inner) for inner in get_args(shape))
    return shape in _PLAIN


def own_copy(payload: Any) -> Any:
    """Copy a payload of a host; its objects stay the same. Its fields may be set: each hook needs its own copy."""
    if isinstance(payload, Mapping):
        return read_only(payload, _itself)
    from copy import copy  # noqa: PLC0415 only for payloads of hosts

    copied = copy(payload)
    if isinstance(payload, Struct):
        values = {name: getattr(payload, name) for name in payload.__struct_fields__}
        for name, value in values.items():
            force_setattr(copied, name, read_only(value, _itself))
    elif hasattr(copied, "__dict__"):
        own = cast("dict[str, Any]", copied.__dict__)
        own.update({name: read_only(value, _itself) for name, value in own.items()})
    return copied
