"""Provide payloads that real agents gave their hooks, to be fired at hooks of any dialect."""

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

import msgspec
from msgspec import Struct

from hookline.dialects.registry import standard_dialects
from hookline.matching.nearest import nearest
from hookline.model.errors import UnknownDialectError, UnknownEventError

#: In the directory of a dialect: recorded payloads of its agent. `python -m tools.generate` writes it.
FILE = "recorded.json"
#: The project in which they were recorded; the test's directory replaces it.
PROJECT = "/home/user/project"


class Recorded(Struct, frozen=True):
    """One payload as an agent wrote it.

    ::

        @pytest.mark.parametrize("payload", recorded("claude-code", "PreToolUse"))
        def test_nothing_of_it_is_denied(hooks, payload):
            hooks.load(".")
            assert hooks.event(payload).allowed
    """

    #: Its event and what was special, such as `PreToolUse.Bash`.
    name: str
    #: The event, by the agent's own name.
    event: str
    #: The agent's input to the hook, as JSON.
    payload: Mapping[str, Any]
    dialect: str = ""

    @property
    def __name__(self) -> str:  # pyright: ignore[reportIncompatibleVariableOverride] pytest calls a parameter by it
        return self.name

    def placed(self, project: str) -> dict[str, Any]:
        """Return the payload as if it was recorded in another directory."""
        text = msgspec.json.encode(self.payload).decode()
        inside = msgspec.json.encode(project).decode()[1:-1]
        return msgspec.json.decode(text.replace(PROJECT, inside))


def recorded(dialect: str, event: str | None = None) -> list[Recorded]:
    """Return recorded payloads of a dialect's agent: of one event, by the agent's own name for it, or all.

    ::

        recorded("claude-code", "PreToolUse")
    """
    known = standard_dialects()
    if dialect not in known:
        raise UnknownDialectError(dialect, tuple(known), nearest(dialect, known))
    every = _recorded(dialect)
    if not every:
        having = ", ".join(name for name in known if _recorded(name))
        raise LookupError(f"nothing was recorded of {dialect}; there are recordings of {having}")
    names = dict.fromkeys(each.event for each in every)
    if event is not None and event not in names:
        raise UnknownEventError(event, nearest(event, names))
    return [each for each in every if event is None or each.event == event]


@cache
def _recorded(dialect: str) -> tuple[Recorded, ...]:
    file = files(f"hookline.dialects.{standard_dialects()[dialect].package.partition('.')[0]}") / FILE
    if not file.is_file():
        return ()
    found = msgspec.json.decode(file.read_bytes(), type=tuple[Recorded, ...])
    return tuple(msgspec.structs.replace(each, dialect=dialect) for each in found)
