"""Stand in for a model: it pays what the user says, and reads the account aloud. Put the client of yours here."""

import asyncio
import re
from collections.abc import AsyncIterator, Sequence
from typing import Any


class Reply:
    """The reply to these messages; `calls` are known when the last piece was read."""

    def __init__(self, messages: Sequence[dict[str, Any]]) -> None:
        self._last = messages[-1]
        self._turn = sum(message["role"] == "user" for message in messages)
        self.calls: list[dict[str, Any]] = []

    async def pieces(self) -> AsyncIterator[str]:
        wanted = re.search(r"pay (\d+)", self._last["content"])
        if self._last["role"] == "user" and wanted is not None:
            yield "I will. "
            self.calls.append(
                {"id": f"call-{self._turn}", "name": "pay", "input": {"amount": int(wanted[1])}}
            )
            return
        text = f"Done: {self._last['content']} from account 4711."
        for start in range(0, len(text), 8):
            await asyncio.sleep(0)
            yield text[start : start + 8]
