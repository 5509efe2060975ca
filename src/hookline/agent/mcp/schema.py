"""Check arguments against the JSON Schema of a server's tool: what models get wrong, not all of JSON Schema.

Patterns and references are left to the server: they are untrusted text, and may be slow or refer to anything.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, cast

import msgspec

from hookline.matching.nearest import nearest

_DEEPEST = 16
_MOST_PROBLEMS = 5
_LONGEST_SHOWN = 80

_IS: Mapping[str, Callable[[Any], bool]] = {
    "string": lambda value: isinstance(value, str),
    "integer": lambda value: (
        isinstance(value, int | float) and not isinstance(value, bool) and float(value).is_integer()
    ),
    "number": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
    "boolean": lambda value: isinstance(value, bool),
    "object": lambda value: isinstance(value, Mapping),
    "array": lambda value: isinstance(value, list | tuple),
    "null": lambda value: value is None,
}


def arguments_problem(schema: Mapping[str, Any], arguments: Mapping[str, Any]) -> str | None:
    """Describe what is wrong with the arguments in one sentence, up to a few problems; None when they fit."""
    found: list[str] = []
    for problem in _problems(schema, arguments, "", 0):
        found.append(problem)
        if len(found) == _MOST_PROBLEMS:
            break
    return "; ".join(found) + "." if found else None


def _problems(schema: Any, value: Any, path: str, depth: int) -> Iterator[str]:
    if not isinstance(schema, Mapping) or depth > _DEEPEST:
        return
    rules = cast("Mapping[str, Any]", schema)
    wrong = _wrong_kind(rules, value) or _wrong_value(rules, value)
    if wrong is not None:
        yield f"{path or 'they'}: {wrong}"
        return
    yield from _wrong_choice(rules, value, path, depth)
    if isinstance(value, Mapping):
        yield from _in_object(rules, cast("Mapping[str, Any]", value), path, depth)
    elif isinstance(value, list | tuple):
        for index, each in enumerate(cast("Sequence[Any]", value)):
            yield from _problems(rules.get("items"), each, f"{path}[{index}]", depth + 1)


def _wrong_kind(rules: Mapping[str, Any], value: Any) -> str | None:
    kinds: Any = rules.get("type")
    wanted: Any = [kinds] if isinstance(kinds, str) else kinds
    if not isinstance(wanted, list):
        return None
    known = [kind for kind in cast("list[Any]", wanted) if kind in _IS]
    if not known or any(_IS[kind](value) for kind in known):
        return None
    return f"expected {' or '.join(known)}, got {_shown(value)}"


def _wrong_value(rules: Mapping[str, Any], value: Any) -> str | None:
    allowed: Any = [rules["const"]] if "const" in rules else rules.get("enum")
    if not isinstance(allowed, list) or value in cast("list[Any]", allowed):
        return None
    shown = ", ".join(_shown(each) for each in cast("list[Any]", allowed)[:20])
    return f"{_shown(value)} is none of {shown}"


def _wrong_choice(rules: Mapping[str, Any], value: Any, path: str, depth: int) -> Iterator[str]:
    for key in ("anyOf", "oneOf"):
        choices: Any = rules.get(key)
        if not isinstance(choices, list) or not choices:
            continue
        said = [next(_problems(each, value, path, depth + 1), None) for each in cast("list[Any]", choices)]
        if None not in said:
            yield str(said[0])


def _in_object(rules: Mapping[str, Any], value: Mapping[str, Any], path: str, depth: int) -> Iterator[str]:
    fields: Any = rules.get("properties")
    known: Mapping[str, Any] = cast("Mapping[str, Any]", fields) if isinstance(fields, Mapping) else {}
    required: Any = rules.get("required")
    for name in cast("list[Any]", required) if isinstance(required, list) else ():
        if name not in value:
            yield f"{_inside(path, name)} is missing"
    for name, each in value.items():
        if name in known:
            yield from _problems(known[name], each, _inside(path, name), depth + 1)
        elif rules.get("additionalProperties") is False:
            close = nearest(str(name)[:_LONGEST_SHOWN], known)
            hint = f" (did you mean {close!r}?)" if close else ""
            yield f"unknown argument {_inside(path, name)!r}{hint}"


def _inside(path: str, name: Any) -> str:
    shown = str(name)[:_LONGEST_SHOWN]
    return f"{path}.{shown}" if path else shown


def _shown(value: Any) -> str:
    try:
        text = msgspec.json.encode(value).decode()
    except (TypeError, ValueError, RecursionError):
        text = type(value).__name__
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}…"
