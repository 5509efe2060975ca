"""Define the messages of a conversation, their tool calls, and the tokens and money they cost.

Agents fill these records, and every format reads them. An unknown count is None.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol, cast, runtime_checkable

import msgspec
from msgspec import Struct
from msgspec.structs import asdict, replace


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


class Usage(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Tokens of one answer, or the sum of several."""

    #: All tokens of the request, also those that the provider had in its cache.
    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_read_tokens: int | None = None
    cache_write_tokens: int | None = None
    reasoning_tokens: int | None = None
    #: None if the price is not known.
    cost_usd: float | None = None

    def __add__(self, other: "Usage") -> "Usage":
        sums: dict[str, Any] = {}
        for name in Usage.__struct_fields__:
            one, more = getattr(self, name), getattr(other, name)
            sums[name] = more if one is None else one if more is None else one + more
        return Usage(**sums)

    @property
    def total_tokens(self) -> int | None:
        if self.input_tokens is None:
            return self.output_tokens
        return self.input_tokens + (self.output_tokens or 0)

    @property
    def cache_miss_tokens(self) -> int | None:
        """Tokens of the request that the provider did not have in its cache."""
        if self.input_tokens is None or self.cache_read_tokens is None:
            return None
        return max(self.input_tokens - self.cache_read_tokens, 0)


class Totals(Usage, frozen=True, kw_only=True, omit_defaults=True):
    """The usage of a session so far."""

    #: Tokens of all requests and answers.
    session_tokens: int | None = None
    #: Tokens that the conversation takes now.
    conversation_tokens: int | None = None


def totals_of(usage: Usage, conversation_tokens: int | None = None) -> Totals:
    """Return the totals of a session that has used this."""
    fields: dict[str, Any] = {}
    for name in Usage.__struct_fields__:
        fields[name] = getattr(usage, name)
    return Totals(**fields, session_tokens=usage.total_tokens, conversation_tokens=conversation_tokens)


#: For each of our fields: the names that providers and frameworks use, with a dot where it is nested.
_NAMES: Mapping[str, tuple[str, ...]] = {
    "input_tokens": (
        "input_tokens", "prompt_tokens", "inputTokens", "promptTokens", "prompt_token_count",
    ),
    "output_tokens": (
        "output_tokens", "completion_tokens", "outputTokens", "completionTokens", "candidates_token_count",
    ),
    "cache_read_tokens": (
        "cache_read_tokens", "cache_read_input_tokens", "prompt_cache_hit_tokens", "cacheReadInputTokens",
        "cacheHitTokens", "cached_input_tokens", "cached_content_token_count", "input_token_details.cache_read",
        "prompt_tokens_details.cached_tokens", "input_tokens_details.cached_tokens",
    ),
    "cache_write_tokens": (
        "cache_write_tokens", "cache_creation_input_tokens", "prompt_cache_write_tokens",
        "cacheWriteInputTokens", "cached_write_tokens", "input_token_details.cache_creation",
    ),
    "reasoning_tokens": (
        "reasoning_tokens", "thoughts_token_count", "output_token_details.reasoning",
        "completion_tokens_details.reasoning_tokens", "output_tokens_details.reasoning_tokens",
    ),
}  # fmt: skip


def usage_of(given: Any) -> Usage | None:
    """Read counts as a host or another agent names them; None if it has none that are known here."""
    if not isinstance(given, Mapping):
        return given
    given = cast("Mapping[str, Any]", given)
    counts = {field: _found(given, names) for field, names in _NAMES.items()}
    cost = given.get("cost_usd")
    known: dict[str, Any] = {field: count for field, count in counts.items() if count is not None}
    if isinstance(cost, int | float) and not isinstance(cost, bool):
        known["cost_usd"] = float(cost)
    return Usage(**known) if known else None


def totals_given(given: Any) -> Totals | None:
    """Read the usage of a whole session, like `usage_of`."""
    if not isinstance(given, Mapping):
        return given
    given = cast("Mapping[str, Any]", given)
    usage = usage_of(given)
    found = totals_of(usage) if usage is not None else Totals()
    names = ("session_tokens", "conversation_tokens")
    counts = {name: count for name in names if (count := _count(given.get(name))) is not None}
    return None if usage is None and not counts else Totals(**{**asdict(found), **counts})


def _found(given: Mapping[str, Any], names: tuple[str, ...]) -> int | None:
    for name in names:
        outer, _, inner = name.partition(".")
        value: Any = given.get(outer)
        if inner:
            value = cast("Mapping[str, Any]", value).get(inner) if isinstance(value, Mapping) else None
        if (count := _count(value)) is not None:
            return count
    return None


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None
