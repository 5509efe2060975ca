"""Say to the model where it works: date, directory, git, platform, shell, permission mode."""

import asyncio
import datetime as dt

from hookline.agent.turn.turn import AgentParts, Turn
from hookline.handlers.builtin import environment_info
from hookline.permissions.modes import Mode


class Environment:
    """Environment of one agent, as text of the system prompt. It stays the same until something in it changes."""

    def __init__(self, parts: AgentParts) -> None:
        self._parts = parts
        self._place = ""

    async def update(self, turn: Turn) -> None:
        """Update the system text before a request. The directory is read when a turn begins."""
        if not self._parts.settings.environment:
            return
        if turn.iteration == 1 or not self._place:
            # It reads files.
            self._place = await asyncio.to_thread(environment_info, self._parts.workplace.cwd)
        self._parts.conversation.environment = _text(self._place, self._parts.permissions.mode_row)


def _text(place: str, mode: Mode) -> str:
    today = dt.datetime.now().astimezone().date()
    lines = [
        place,
        "- Shell of commands: bash",
        f"- Date: {today.isoformat()}",
        f"- Permission mode: {mode.name}. {mode.says}",
    ]
    return "\n".join(lines) + (f"\n\n{mode.instructs}" if mode.instructs else "")
