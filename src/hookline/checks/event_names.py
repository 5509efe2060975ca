"""Event names of one agent in the file of another: what the same moment is called there."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from msgspec.structs import replace

from hookline.checks.context import CheckContext
from hookline.config.load import Loaded
from hookline.model.diagnostics import Diagnostic

_NAMED: Final = re.compile(r"no event is called '([A-Za-z_]{1,80})'")
#: Gemini CLI's names, which people bring along.
_GEMINI: Final[Mapping[str, str]] = {
    "BeforeTool": "PreToolUse", "AfterTool": "PostToolUse", "BeforeAgent": "UserPromptSubmit", "AfterAgent": "Stop",
    "BeforeModel": "PreModelCall", "AfterModel": "PostModelCall", "PreCompress": "PreCompact",
    "BeforeToolSelection": "PreToolSelection",
}  # fmt: skip


def with_names(
    diagnostics: Iterable[Diagnostic], loaded: Loaded, context: CheckContext
) -> Iterator[Diagnostic]:
    """Unknown events with the name that is right in their file, where another agent knows the wrong one."""
    whose = {found.file: found.dialect for found in loaded.found}
    for one in diagnostics:
        found = _NAMED.search(one.message) if one.code == "unknown-event" else None
        dialect = whose.get(one.where.file) if found else None
        better = _better(found[1], dialect, context) if found and dialect else None
        yield one if better is None else replace(one, fix=better)


def _better(name: str, whose: str, context: CheckContext) -> str | None:
    event, agent = _meant(name, context)
    if event is None:
        return None
    dialect = context.loader.dialect(whose)
    same = next((own for own, each in dialect.events.items() if each.event.name == event), None)
    if same is None:
        return f"{name} is an event of {agent}; {dialect.title} has none like it"
    return f"write {same}: {name} is {agent}'s name for it"


def _meant(name: str, context: CheckContext) -> tuple[str | None, str]:
    if name in _GEMINI:
        return _GEMINI[name], "Gemini CLI"
    for dialect in (context.loader.dialect(each) for each in context.loader.names):
        if name in dialect.events:
            return dialect.events[name].event.name, dialect.title
    return None, ""
