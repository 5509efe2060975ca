"""Define the messages of a conversation and their tool calls: agents fill these records, every format reads
them."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol, cast, runtime_checkable

import msgspec
from msgspec import Struct
from msgspec.structs import replace


class ToolUse(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A call the model makes. Arguments that are not a JSON object are kept as text."""

    id: str = ""
    name: str = ""
    input: Mapping[str, Any] | str = {}


class User(Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="role", tag="user"):
    text: str
    #: The hook or the part of the agent that it comes from; empty for the user.
    by: str = ""
    #: The provider may cache everything up to here.
    cache: bool = False
    #: The id of a durable hook's message, so that a resumed session does not get it again.
    late_id: str = ""

    @property
    def role(self) -> str:
        return "user"


class Assistant(Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="role", tag="assistant"):
    text: str = ""
    tool_calls: tuple[ToolUse, ...] = ()
    reasoning: str | None = None

    @property
    def role(self) -> str:
        return "assistant"


class ToolMessage(Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="role", tag="tool"):
    tool_use_id: str
    name: str
    text: str
    is_error: bool = False

    @property
    def role(self) -> str:
        return "tool"


#: The messages of Hookline's own agent.
Message = User | Assistant | ToolMessage


class HostMessage(dict[str, Any]):
    """A message in the shape of the program that has the conversation. Hooks get it in that shape."""

    @property
    def role(self) -> str:
        """The speaker, as far as the shape says it."""
        known = self.get("role")
        if isinstance(known, str):
            return known
        return _ROLES.get(str(self.get("kind") or self.get("type") or ""), "")

    @property
    def text(self) -> str:
        """Its text; of several parts, those that are text."""
        found = next((self[key] for key in _TEXTS if self.get(key) is not None), None)
        return "\n".join(_texts(found))


@runtime_checkable
class AnyMessage(Protocol):
    """A message as hooks see it: one of Hookline's own, or one of a host."""

    @property
    def role(self) -> str: ...

    @property
    def text(self) -> str: ...


#: Keys under which programs keep the text of a message, the most usual first.
_TEXTS = ("content", "text", "parts")
#: The speaker by what programs without roles call a message.
_ROLES = {"request": "user", "response": "assistant", "human": "user", "ai": "assistant"}


def _texts(content: Any) -> Iterator[str]:
    if isinstance(content, str):
        yield content
    elif isinstance(content, list | tuple):
        for part in cast("Sequence[Any]", content):
            yield from _texts_of_part(part)
    elif content is not None:
        yield msgspec.json.encode(content, enc_hook=str).decode()


def _texts_of_part(part: Any) -> Iterator[str]:
    if isinstance(part, Mapping):
        fields = cast("Mapping[str, Any]", part)
        part = next((fields[key] for key in ("text", "content") if fields.get(key) is not None), None)
    if isinstance(part, str | list | tuple):
        yield from _texts(part)


#: Asked first: whether an object fits the protocol takes ten times as long, and conversations are long.
_SHOWN = frozenset((User, Assistant, ToolMessage, HostMessage))


def shown_messages(given: Any) -> tuple[AnyMessage, ...]:
    """Return messages as hooks see them, from records or a host's own objects."""
    records: tuple[Any, ...] = given
    if type(records) is tuple and _SHOWN.issuperset(map(type, records)):
        return records
    return tuple(each if isinstance(each, AnyMessage) else _host_message(each) for each in given)


def _host_message(given: Any) -> HostMessage:
    """Wrap a message of a host. Anything but an object is kept, so that its user can report the error."""
    return HostMessage(cast("Mapping[str, Any]", given) if isinstance(given, Mapping) else {"content": given})


def with_text(message: AnyMessage, text: str) -> AnyMessage:
    """Return the message with another text."""
    if isinstance(message, User | Assistant | ToolMessage):
        return replace(message, text=text)
    fields: dict[str, Any] = message if isinstance(message, HostMessage) else {}
    key = next((key for key in _TEXTS[:2] if isinstance(fields.get(key), str)), "content")
    rest = {name: value for name, value in fields.items() if name not in _TEXTS}
    return HostMessage({**rest, "role": message.role or "user", key: text})


def new_message(role: str, text: str) -> Message:
    """Make a message that a hook adds: an agent can put a second system text only into the conversation."""
    return Assistant(text=text) if role == "assistant" else User(text=text)


def tool_uses(given: Any) -> tuple[ToolUse, ...]:
    """Return the calls of a model's answer as records, from records or a host's own objects."""
    records: tuple[Any, ...] = given
    if type(records) is tuple and {ToolUse}.issuperset(map(type, records)):
        return records
    return tuple(each if isinstance(each, ToolUse) else _tool_use(each) for each in given)


def _tool_use(call: Mapping[str, Any]) -> ToolUse:
    """Read one call. A host may nest name and arguments under `function`, the arguments as JSON text."""
    inner: Any = call.get("function")
    fields = {**call, **cast("Mapping[str, Any]", inner)} if isinstance(inner, Mapping) else call
    keys = ("input", "arguments", "args")
    arguments: Any = next((fields[key] for key in keys if fields.get(key) is not None), dict[str, Any]())
    if isinstance(arguments, str):
        try:
            read: Any = msgspec.json.decode(arguments.encode())
        except (ValueError, RecursionError):
            read = None
        arguments = cast("dict[str, Any]", read) if isinstance(read, dict) else arguments
    return ToolUse(id=str(fields.get("id") or ""), name=str(fields.get("name") or ""), input=arguments)


def own_messages(shown: Sequence[Any]) -> tuple[Message, ...]:
    """Return messages for the agent's own conversation, as hooks left them. Raises ValueError that names the
    bad one."""
    found: list[Message] = []
    for index, message in enumerate(shown, 1):
        if isinstance(message, User | Assistant | ToolMessage):
            found.append(message)
            continue
        try:
            found.append(msgspec.convert(_plain(message), Message))
        except msgspec.ValidationError as problem:
            raise ValueError(f"message {index}: {problem}") from problem
    return tuple(found)


def _plain(document: Any) -> Any:
    """Use the agent's key names: others call the text `content`, and know a second system text."""
    if not isinstance(document, Mapping):
        return document
    fields = dict(cast("Mapping[str, Any]", document))
    if "text" not in fields and isinstance(fields.get("content"), str):
        fields["text"] = fields.pop("content")
    if fields.get("role") == "system":
        fields["role"] = "user"
    return fields
