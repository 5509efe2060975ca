"""What a run without a screen tells while it works, on stderr: the answer alone belongs on stdout."""

import msgspec

from hookline.agent.outside import Shown
from hookline.cli.output import tell
from hookline.model.safetext import one_line, printable

_WIDEST = 160


#: What somebody should read that is in no event.
_NOTICES = frozenset({"warning", "notice", "blocked"})


class Silent:
    """For --json: everything is in the document."""

    def __init__(self) -> None:
        self.notices: list[Shown] = []

    def show(self, shown: Shown) -> None:
        if shown.kind in _NOTICES:
            self.notices.append(shown)


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
            # A call that was refused was never shown as one, so its result names the tool.
            begins = f"x {shown.tool}:" if shown.is_error else "="
            return "  " + one_line(f"{begins} {shown.text}", _WIDEST)
        case "warning" | "notice":
            return printable(f"! {shown.text}")
        case "blocked":
            return printable(f"blocked: {shown.text}")
        case _:
            return None
