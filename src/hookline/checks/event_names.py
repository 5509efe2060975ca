"""Event names of one agent in the file of another: what the same moment is called there."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

from msgspec.structs import replace

from hookline.checks.context import AGENTS
from hookline.config.load import Loaded
from hookline.model.diagnostics import Diagnostic
from hookline.model.events import EventSpec

_NAMED: Final = re.compile(r"no event is called '([A-Za-z_]{1,80})'")
#: Gemini CLI's names, which people bring along.
_GEMINI: Final[Mapping[str, str]] = {
    "BeforeTool": "PreToolUse", "AfterTool": "PostToolUse", "BeforeAgent": "UserPromptSubmit", "AfterAgent": "Stop",
    "BeforeModel": "PreModelCall", "AfterModel": "PostModelCall", "PreCompress": "PreCompact",
    "BeforeToolSelection": "PreToolSelection",
}  # fmt: skip

#: Event names of a dialect with the rows they stand for.
Names = Mapping[str, EventSpec[Any]]


def with_names(
    diagnostics: Iterable[Diagnostic], loaded: Loaded, names: Callable[[], Mapping[str, Names]]
) -> Iterator[Diagnostic]:
    """Unknown events with the name that is right in their file, where another agent knows the wrong one."""
    whose = {found.file: found.dialect for found in loaded.found}
    for one in diagnostics:
        found = _NAMED.search(one.message) if one.code == "unknown-event" else None
        better = _better(found[1], whose.get(one.where.file, ""), names()) if found else None
        yield one if better is None else replace(one, fix=better)


def _better(name: str, dialect: str, names: Mapping[str, Names]) -> str | None:
    here = names.get(dialect)
    if here is None:
        return None
    event, agent = _meant(name, names)
    if event is None:
        return None
    same = next((event_name for event_name, row in here.items() if row.name == event), None)
    if same is None:
        return f"{name} is an event of {agent}; {AGENTS.get(dialect, dialect)} has none like it"
    return f"write {same}: {name} is {agent}'s name for it"


def _meant(name: str, names: Mapping[str, Names]) -> tuple[str | None, str]:
    if name in _GEMINI:
        return _GEMINI[name], "Gemini CLI"
    for dialect, known in names.items():
        if name in known:
            return known[name].name, AGENTS.get(dialect, dialect)
    return None, ""
