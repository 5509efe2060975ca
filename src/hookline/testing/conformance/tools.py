"""Provide the tools of the suite. They do little, and log their arguments."""

import asyncio
import functools
import time
from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct

from hookline.testing.conformance.harness import CaseTool, schema_of

#: The result of `weigh`, and its pattern in a text.
GRAMS = 7351


class Ran(Struct, frozen=True):
    """A call that reached its tool."""

    name: str
    input: Mapping[str, Any]


class ToolLog:
    """Tools of one conversation, and their arguments, in the order in which they began."""

    def __init__(self) -> None:
        self.ran: list[Ran] = []
        self.tools = (
            self._tool("look", "Look at a place.", self._look),
            self._tool("note", "Write a note.", self._note),
            self._tool("late", "Look at a place, slowly.", self._late, pause=0.03),
            self._tool("broken", "Look at a place that is not there.", self._broken),
            self._tool("weigh", "Weigh something.", self._weigh),
            self._tool("survey", "Find out what is at a place.", self._survey),
            self._tool("run_shell", "Run a shell command.", self._run_shell),
        )

    def calls(self, name: str) -> list[Mapping[str, Any]]:
        """Return the arguments of a tool's calls."""
        return [each.input for each in self.ran if each.name == name]

    def _look(self, place: str = "here") -> str:
        self.ran.append(Ran("look", {"place": place}))
        return f"saw {place}"

    def _note(self, text: str, times: int = 1) -> str:
        self.ran.append(Ran("note", {"text": text, "times": times}))
        return f"noted {text}"

    def _late(self, place: str = "here") -> str:
        self.ran.append(Ran("late", {"place": place}))
        return f"saw {place} at last"

    def _broken(self, place: str = "here") -> str:
        self.ran.append(Ran("broken", {"place": place}))
        raise RuntimeError(f"there is no {place}")

    def _weigh(self, thing: str) -> Any:
        self.ran.append(Ran("weigh", {"thing": thing}))
        return _weight(thing)

    def _survey(self, place: str = "here") -> dict[str, Any]:
        self.ran.append(Ran("survey", {"place": place}))
        return {"found": ["a tree", "a house"]}

    def _run_shell(self, cmd: str) -> str:
        self.ran.append(Ran("run_shell", {"cmd": cmd}))
        return f"ran {cmd}"

    @staticmethod
    def _tool(name: str, description: str, plain: Callable[..., Any], pause: float = 0.0) -> CaseTool:
        @functools.wraps(plain)
        async def function(*args: Any, **given: Any) -> Any:
            await asyncio.sleep(pause)
            return plain(*args, **given)

        @functools.wraps(plain)
        def blocking(*args: Any, **given: Any) -> Any:
            time.sleep(pause)
            return plain(*args, **given)

        for each in (function, blocking):
            each.__name__ = each.__qualname__ = name
            each.__doc__ = description
        return CaseTool(name, description, schema_of(plain), function, blocking)


def _weight(thing: str) -> Any:
    """Return a pydantic model where pydantic is installed, as tools of many agents do."""
    try:
        from pydantic import create_model  # noqa: PLC0415 no dependency of Hookline
    except ImportError:
        return Weight(thing, GRAMS)
    return create_model("Weight", thing=(str, ...), grams=(int, ...))(thing=thing, grams=GRAMS)


class Weight(Struct, frozen=True):
    """Result of `weigh` without pydantic."""

    thing: str
    grams: int
