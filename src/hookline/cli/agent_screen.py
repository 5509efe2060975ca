"""What a run without a screen tells while it works, on stderr: the answer alone belongs on stdout."""

import msgspec

from hookline.agent.outside import Shown
from hookline.cli.output import tell
from hookline.model.safetext import one_line, printable

_WIDEST = 160


class Silent:
    """For --json: everything is in the document."""

    def show(self, shown: Shown) -> None:
        del shown


class Transcribing:
    """One line for each thing that happens."""

    def show(self, shown: Shown) -> None:
        line = _line(shown)
        if line is not None:
            tell(f"{_who(shown)}{line}")


def _who(shown: Shown) -> str:
    return f"[{one_line(shown.agent, 40)}] " if shown.agent else ""


def _line(shown: Shown) -> str | None:
    match shown.kind:
        case "call":
            given = msgspec.json.encode(shown.tool_input).decode()
            return one_line(f"- {shown.tool} {given}", _WIDEST)
        case "result":
            mark = "x" if shown.is_error else "="
            return one_line(f"  {mark} {shown.text}", _WIDEST)
        case "warning" | "notice":
            return printable(f"! {shown.text}")
        case "blocked":
            return printable(f"blocked: {shown.text}")
        case _:
            return None
