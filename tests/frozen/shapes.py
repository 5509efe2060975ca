"""A JSON document as lines: every key with the types found there, and the values of keys that scripts compare."""

import json
from collections.abc import Iterator
from typing import Any, cast

#: Keys whose values are no prose and differ in no two runs: here the value is frozen, not only its type.
EXACT = frozenset(
    {
        "blocked", "cause", "decision", "dialect", "event", "exit_code", "line", "lifetime", "mode", "name",
        "failed_open", "permission", "placement", "recheck", "severity", "signal", "dialect_event", "status",
        "stop", "truncated", "type",
    }
)  # fmt: skip


def shape(document: Any) -> list[str]:
    found: dict[str, set[str]] = {}
    for path, value in _leaves("", document):
        found.setdefault(path, set()).add(value)
    # Hooks that run side by side finish in any order, so the order of values says nothing.
    return [f"{path}: {' | '.join(sorted(values))}" for path, values in found.items()]


def _leaves(path: str, value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict) and value:
        for key, inner in cast("dict[str, Any]", value).items():
            yield from _leaves(f"{path}.{key}" if path else key, inner)
    elif isinstance(value, list) and value:
        for inner in cast("list[Any]", value):
            yield from _leaves(f"{path}[]", inner)
    elif isinstance(value, dict | list):
        yield path, "{}" if isinstance(value, dict) else "[]"
    elif path.rpartition(".")[2] in EXACT:
        yield path, json.dumps(value)
    else:
        yield path, "null" if value is None else type(value).__name__
