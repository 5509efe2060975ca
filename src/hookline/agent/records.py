"""Where a conversation is written down as it goes. The agent needs no more of a transcript than this."""

from collections.abc import Sequence
from typing import Protocol

from hookline.agent.messages import Message
from hookline.agent.modelport import Usage


class Records(Protocol):
    @property
    def path(self) -> str:
        """The file, as hooks are told it; empty where there is none."""
        ...

    def message(self, message: Message) -> None: ...

    def turn(self, number: int, status: str, usage: Usage, totals: Usage) -> None: ...

    def cleared(self) -> None: ...

    def compacted(self, summary: str, kept: Sequence[Message]) -> None: ...

    def close(self) -> None: ...


class NoRecords:
    """Writes nothing down."""

    path = ""

    def message(self, message: Message) -> None: ...

    def turn(self, number: int, status: str, usage: Usage, totals: Usage) -> None: ...

    def cleared(self) -> None: ...

    def compacted(self, summary: str, kept: Sequence[Message]) -> None: ...

    def close(self) -> None: ...
