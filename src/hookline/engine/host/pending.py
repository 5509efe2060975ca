"""Describe a tool call that waits for an approval which comes later: in another request, or in another process."""

from collections.abc import Mapping
from time import time
from typing import Any, Final
from uuid import uuid4

import msgspec
from msgspec import Struct, field

from hookline.model import payloads as p


class Later(Struct, frozen=True):
    """An answer of `approve`: nobody can answer now, so the call waits. `LATER` is the only one."""


#: Return it from `approve` if the answer comes later: the call does not run, and its result has `pending`.
LATER: Final = Later()


class PendingCall(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A tool call that waits for an approval. Store it, ask, and continue with `Session.resume`.

    ::

        done = await session.tool("pay", {"amount": 9}, run=pay)
        if done.pending is not None:
            database.store(done.pending.id, done.pending.to_json())
    """

    tool_name: str
    #: The arguments that are asked about: those of the model, as hooks left them.
    tool_input: Mapping[str, Any]
    #: The question, in the words of the hook or of the host.
    reason: str
    #: The arguments as the model gave them: hooks judge these again when the call continues.
    given: Mapping[str, Any]
    tool_use_id: str | None = None
    #: The hook that asks, if a hook does.
    hook: str = ""
    session_id: str = ""
    agent_type: str | None = None
    tool_category: str | None = None
    mcp_server: Mapping[str, Any] | None = None
    #: Unlike that of any other call.
    id: str = field(default_factory=lambda: uuid4().hex)
    #: The time of the question, in seconds since the epoch.
    asked_at: float = field(default_factory=time)

    def to_json(self) -> str:
        """Return it as text to store."""
        return msgspec.json.encode(self, enc_hook=p.plain_value).decode()

    @classmethod
    def from_json(cls, text: str | bytes) -> "PendingCall":
        """Read what `to_json` returned. Raises ValueError for anything else."""
        return msgspec.json.decode(text, type=cls)

    def call(self, arguments: Mapping[str, Any]) -> p.ToolCall:
        """Return the call with these arguments."""
        return p.ToolCall(
            tool_name=self.tool_name,
            tool_input=arguments,
            tool_use_id=self.tool_use_id,
            tool_category=self.tool_category,
            mcp_server=self.mcp_server,
        )
