"""Write entries that make an agent call Hookline at its events."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

from msgspec import Struct
from msgspec.structs import replace

if TYPE_CHECKING:
    from hookline.model.wire import HookReply

#: The hooks that answer the calls of an entry: Hookline's own, or also those written for other agents.
HookSelection = Literal["own", "all"]
#: The same for one call: where another entry has asked Hookline's own, only the others.
AskedHooks = Literal["own", "all", "others"]
#: The reaction of an entry's shell line if Hookline is not installed any more.
IfMissing = Literal["allow", "block"]


#: What the shell says in Hookline's place.
BROKEN = (
    "hookline could not be run, so this was blocked: its program or its Python is missing or broken; "
    "install hookline again, or remove its entries from the hooks of this agent"
)


class HookCall(Struct, frozen=True):
    """One entry to write: at this event of the agent, run this command."""

    event: str
    command: str
    seconds: int
    #: True if the action must not proceed when the call fails.
    guards: bool
    #: True for a call that a module of Hookline inside the agent makes.
    inside: bool = False


def grouped_entries(calls: Sequence[HookCall], **for_guards: str) -> str:
    """Write event, groups, hooks as JSON: the shape of the Claude family. Guards get the further fields."""
    return as_json({"hooks": {call.event: [{"hooks": [_handler(call, for_guards)]}] for call in calls}})


def _handler(call: HookCall, for_guards: dict[str, str]) -> dict[str, Any]:
    handler = {"type": "command", "command": call.command, "timeout": call.seconds}
    return handler | for_guards if call.guards else handler


def started_if(installed: str, otherwise: "HookReply", command: str) -> str:
    """Return a shell line that runs the command if the test `installed` holds; if not, the shell itself gives
    the answer."""
    from shlex import quote  # noqa: PLC0415 only to install

    said = [
        f"printf '%s\\n' {quote(text.rstrip())}{to}; "
        for text, to in ((otherwise.stdout, ""), (otherwise.stderr, " >&2"))
        if text
    ]
    instead = f"{{ {''.join(said)}exit {otherwise.code}; }}" if said else f"exit {otherwise.code}"
    return f"{installed} || {instead}; {command}"


def closed_in_shell(command: str) -> str:
    """Return the command of a guard whose agent would continue if Hookline cannot be run: then the shell
    blocks instead.

    An exit code 2 is Hookline's own, and it has given the reason.
    """
    close = f"[ $? = 2 ] || echo '{BROKEN}' >&2; exit 2;"
    return f"{command} || {{ {close} }}"


def answered_in_shell(command: str, otherwise: "HookReply") -> str:
    """Return the command of a guard whose agent reads reasons only in an answer: the shell gives this one if
    Hookline cannot be run.

    Where that answer has an exit code, so have Hookline's own; without a text it is the relay's, which could not
    give a reason in this agent's form.
    """
    from shlex import quote  # noqa: PLC0415 only to install

    instead = quote(otherwise.stdout.rstrip())
    if not otherwise.code:
        return f"said=$({command}) || said={instead}; printf '%s\\n' \"$said\""
    code = otherwise.code
    close = f'[ $? = {code} ] && [ "$said" ] || said={instead}; code={code};'
    return f"said=$({command}) && code=0 || {{ {close} }}; printf '%s' \"$said\"; exit $code"


def closed_guards(calls: Sequence[HookCall]) -> list[HookCall]:
    """Return the calls, with those of guards closed in the shell."""
    return [replace(call, command=closed_in_shell(call.command)) if call.guards else call for call in calls]


def as_json(value: Any) -> str:
    import json  # noqa: PLC0415 rarely needed

    return json.dumps(value, indent=2, ensure_ascii=False)


def quoted(text: str) -> str:
    """Quote a text as JSON, TOML and YAML all read it."""
    import json  # noqa: PLC0415 rarely needed

    return json.dumps(text)
