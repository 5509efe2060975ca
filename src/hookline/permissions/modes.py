"""Define the permission modes as rows: the calls that run without a question, those refused, and the answers
to questions."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from hookline.permissions.facts import Category

ModeName = Literal["plan", "dontAsk", "default", "acceptEdits", "bypass"]


class Mode(Struct, frozen=True):
    name: ModeName
    #: One sentence for the user who chooses it.
    says: str
    #: Tools of these categories run without a question; those that name files, inside the directories.
    runs: frozenset[Category]
    #: Tools of these categories never run, whatever allows them.
    refuses: frozenset[Category] = frozenset()
    #: Files outside the directories and protected paths are treated like any other.
    anywhere: bool = False
    #: The answer to a question that no hook answered.
    unanswered: Literal["ask", "deny"] = "ask"
    #: For the model: how it works in this mode.
    instructs: str = ""


_READS: frozenset[Category] = frozenset({"read", "agent"})
_EDITS: frozenset[Category] = frozenset({"read", "agent", "write"})
_ALL: frozenset[Category] = frozenset({"read", "agent", "write", "run", "web", "mcp", "other"})

#: From the tightest to the loosest.
MODES: Mapping[ModeName, Mode] = MappingProxyType(
    {
        row.name: row
        for row in (
            Mode(
                "plan",
                "Tools that write are refused.",
                _READS,
                refuses=frozenset({"write"}),
                instructs="You are in plan mode: look, think and ask, but change nothing, neither with tools nor "
                "with shell commands. When you know how to do it, call ExitPlanMode with your plan. Work begins "
                "once the user has approved it.",
            ),
            Mode("dontAsk", "Calls that would need approval are denied.", _READS, unanswered="deny"),
            Mode("default", "Reading runs; everything else needs approval.", _READS),
            Mode("acceptEdits", "Edits inside the directories run as well.", _EDITS),
            Mode("bypass", "Only rules and hooks stop a call.", _ALL, anywhere=True),
        )
    }
)

_NAMES: Mapping[str, ModeName] = MappingProxyType(
    {
        **{name.casefold(): name for name in MODES},
        "bypasspermissions": "bypass",
        "normal": "default",
    }
)


def mode_of(text: str) -> ModeName | None:
    """Return the mode by any agent's name for it, or None."""
    return _NAMES.get(text.strip().replace("-", "").replace("_", "").casefold())


def narrowed(mode: Mode, by: Mode) -> Mode:
    """Return a mode as strict as both: the effective mode of a subagent."""
    if mode.name == by.name:
        return mode
    order = list(MODES)
    return replace(
        min(mode, by, key=lambda row: order.index(row.name)),
        runs=mode.runs & by.runs,
        refuses=mode.refuses | by.refuses,
        anywhere=mode.anywhere and by.anywhere,
        unanswered="deny" if "deny" in {mode.unanswered, by.unanswered} else "ask",
    )
