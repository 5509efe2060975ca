"""One case: what the model does in a client, and what must become of it."""

from collections.abc import Callable, Mapping, Sequence
from typing import Literal

from msgspec import Struct

from tools.clients.agents.claude_code import CLAUDE_CODE
from tools.clients.client import Client
from tools.clients.model_server import Model
from tools.clients.protocols.protocol import Call
from tools.clients.scene import Hooked, Scene, Trusted

#: "ran" and "denied" are about the last call; "received" is about what the model has read.
Verdict = Literal["denied", "ran", "received"]
Scripts = Mapping[str, Sequence[Call]]

#: The prompt of the user, by which the model knows its script.
MAIN = "MAIN-SCRIPT"


class Case(Struct, frozen=True, kw_only=True):
    name: str
    expected: str
    client: Client = CLAUDE_CODE
    #: What the model does; a subagent has a separate script.
    script: Callable[[Scene], Scripts]
    #: Whether the last call did what it was meant to.
    ran: Callable[[Scene], bool] = lambda _info: False
    #: The result, if it is not about the last call alone; an unexpected one says what happened.
    decision: Callable[[Scene, Model], str] | None = None
    mode: str = "default"
    #: What the user says; it names the script.
    prompt: str = MAIN
    hooked: Hooked = "printed"
    #: Whether the project has a native guard.
    guarded: bool = True
    trusted: Trusted = "settings"
