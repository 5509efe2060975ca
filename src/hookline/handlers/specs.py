"""Define the settings of each kind of hook, one record per handler. Light: reading a config file loads no
handler."""

from collections.abc import Mapping
from typing import Any, Final

from msgspec import Struct

#: Patterns for the text before and after the name of a file in a command line.
NAME_BEGINS: Final = r"(?<![^\s;&|<>()`\"'=])"
NAME_ENDS: Final = r"(?![^\s;&|<>()`\"'])"


class CommandSpec(Struct, frozen=True):
    """A line for a shell; or, with `args`, a program that is started without any shell."""

    command: str
    args: tuple[str, ...] | None = None
    shell: str | None = None
    env: Mapping[str, str] = {}
    cwd: str | None = None
    #: A Python script may be run by an interpreter that was started ahead, where the engine has some.
    warm: bool = True


class HttpSpec(Struct, frozen=True):
    url: str
    headers: Mapping[str, str] = {}
    #: The only environment variables that header values may use; all others are empty.
    allowed_env_vars: tuple[str, ...] = ()
    #: Files: the authority that must have signed the server's certificate (empty: one of the system's), and
    #: the certificate and key that identify the client.
    ca: str = ""
    cert: str = ""
    key: str = ""
    #: The server may be on the private network of a company.
    private: bool = False


class PromptSpec(Struct, frozen=True):
    prompt: str
    model: str | None = None
    #: For wires whose agent has it; the handler has no opinion on answers.
    continue_on_block: bool = False
    #: The system prompt; None uses the handler's own.
    system: str | None = None


class AgentSpec(Struct, frozen=True):
    prompt: str
    model: str | None = None
    max_steps: int = 50
    #: The system prompt; None uses the handler's own.
    system: str | None = None


class McpToolSpec(Struct, frozen=True):
    server: str
    tool: str
    #: Strings in it may hold `${path.to.field}`, taken from the payload document.
    input: Mapping[str, Any] = {}


class BuiltinSpec(Struct, frozen=True):
    name: str
    args: tuple[str, ...] = ()
    #: Its working directory instead of the session's; `env` are variables that it finds in `extra["env"]`.
    cwd: str | None = None
    env: Mapping[str, str] = {}


#: The built-in guards: builtins that only deny or ask. Their rules are in `hookline.guards`, which is loaded
#: with the first hook that names one.
GUARDS = (
    "delete-recursive", "force-push", "history-rewrite", "secrets-read", "write-outside-project", "network-upload",
    "pipe-to-shell", "privilege", "database-drop", "cloud-delete", "disk", "self-protection", "forbid-path",
    "forbid-host", "forbid-command",
)  # fmt: skip
