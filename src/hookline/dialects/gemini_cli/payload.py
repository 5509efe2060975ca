"""Read and write payloads of Gemini CLI's events, and set the variables its hooks find.

Facts of a document beyond the event's own payload are kept in the session info, so that they can be written
again unchanged.
"""

from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from typing import Any, Final, cast

from hookline.dialects.family import wire as family
from hookline.dialects.family.messages import put_back
from hookline.dialects.family.wire import bad_payload, encoded, info_texts, payload_record
from hookline.dialects.gemini_cli.events import ROWS
from hookline.dialects.json_text import written
from hookline.documents.document import misshaped
from hookline.model import events as e
from hookline.model.events import field_of
from hookline.model.messages import AnyMessage, HostMessage, Usage, with_text
from hookline.model.payloads import ModelRequest, ModelResponse, Prompt, ToolSelection
from hookline.model.session_info import SessionInfo
from hookline.model.wire import Encoded, HookInvocation, Parsed

Object = Mapping[str, Any]

#: Gemini's role of a speaker, by the usual one; messages of others hold no text for hooks.
_ROLES: Final[Mapping[str, str]] = {"user": "user", "assistant": "model", "system": "system"}
_USUAL_ROLES: Final = {own: usual for usual, own in _ROLES.items()}
#: Facts kept beside the payload, by the events that send them; the first three are objects.
_OBJECTS: Final = ("llm_request", "llm_response", "mcp_context")
_KEPT: Final = (*_OBJECTS, "original_request_name", "tool_response", "prompt", "details", "timestamp")


class PromptWithContext(Prompt, frozen=True, kw_only=True):
    """A prompt, and text that earlier hooks have added: the next one gets both as one text."""

    added_context: tuple[str, ...] = ()


def as_object(value: Any) -> Object:
    return cast("Object", value) if isinstance(value, Mapping) else {}


def as_items(value: Any) -> list[Any]:
    return list(cast("Iterable[Any]", value)) if isinstance(value, list | tuple) else []


def text_of(content: Any) -> str:
    """Return the text of a message or a result; of several parts, those that are text."""
    if isinstance(content, str) or content is None:
        return content or ""
    parts = [each if isinstance(each, str) else field_of(each, "text") for each in as_items(content)]
    return "".join(part for part in parts if isinstance(part, str))


# Payloads for hooks


def encode_payload(call: HookInvocation) -> Encoded:
    info, project = call.info, call.info.project_dir or call.info.cwd
    env = {
        "GEMINI_PROJECT_DIR": project,
        "GEMINI_CWD": info.cwd,
        "GEMINI_SESSION_ID": info.session_id,
        "CLAUDE_PROJECT_DIR": project,
    }
    return Encoded(encoded(PayloadWriter(call).document()), env)


class PayloadWriter:
    """One payload being written. Facts that only Gemini has come from its own document."""

    def __init__(self, call: HookInvocation) -> None:
        self.name = call.hook.policy.event_name
        self.event = call.event
        self.payload = call.payload
        self.info = call.info
        self.kept = call.info.extra or {}

    def document(self) -> dict[str, Any]:
        now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        return {
            "session_id": self.info.session_id,
            "transcript_path": self.info.transcript_path,
            "cwd": self.info.cwd,
            "hook_event_name": self.name,
            "timestamp": self.kept.get("timestamp") or now,
            **_WRITERS[self.name](self),
        }

    def get(self, name: str) -> Any:
        return field_of(self.payload, name)

    def prompt(self) -> dict[str, Any]:
        return {"prompt": "\n\n".join([self.get("prompt"), *as_items(self.get("added_context"))])}

    def request(self) -> dict[str, Any]:
        """Return the request: only text of the messages; calls of tools and their results are left out."""
        asked: ModelRequest | ToolSelection | ModelResponse = self.payload
        model = asked.model or self.info.model or ""
        request: dict[str, Any] = {"model": model, "messages": [], "config": {}}
        request |= as_object(self.kept.get("llm_request"))
        if asked.messages or isinstance(asked, ModelRequest):
            request |= {"messages": received_messages(asked), "model": model or request["model"]}
        return {"llm_request": request}

    def response(self) -> dict[str, Any]:
        answer: ModelResponse = self.payload
        text, known = answer.response, as_object(self.kept.get("llm_response"))
        response = known if known and response_text(known) == text else llm_response(text, answer.usage)
        return {**self.request(), "llm_response": response}

    def call(self) -> dict[str, Any]:
        shown: dict[str, Any] = {name: self.get(name) or {} for name in ("tool_name", "tool_input")}
        server, known = as_object(self.get("mcp_server")).get("name"), as_object(self.kept.get("mcp_context"))
        if server and known.get("server_name") == server:
            shown["mcp_context"] = known
        elif server:
            tool = str(shown["tool_name"]).removeprefix(f"mcp_{server}_")
            shown["mcp_context"] = {"server_name": server, "tool_name": tool}
        original = self.kept.get("original_request_name")
        return {**shown, "original_request_name": original} if original else shown

    def result(self) -> dict[str, Any]:
        result: Any = self.get("tool_response")
        if self.event is e.POST_TOOL_USE_FAILURE:
            error, result = self.get("error") or "", as_object(self.kept.get("tool_response"))
            if error_of(result) != error:
                result = {"llmContent": error, "returnDisplay": error, "error": {"message": error}}
        elif "llmContent" not in as_object(result):
            text = result if isinstance(result, str) else "" if result is None else written(result).decode()
            result = {"llmContent": text, "returnDisplay": text}
        return {**self.call(), "tool_response": result}

    def turn(self) -> dict[str, Any]:
        return {
            "prompt": self.kept.get("prompt") or self.info.prompt or "",
            "prompt_response": self.get("last_assistant_message") or "",
            "stop_hook_active": bool(self.get("stop_hook_active")),
        }

    def notice(self) -> dict[str, Any]:
        shown = {name: self.get(name) for name in ("notification_type", "message")}
        return {**shown, "details": self.kept.get("details") or {}}


_WRITERS: Final[Mapping[str, Callable[[PayloadWriter], dict[str, Any]]]] = {
    "SessionStart": lambda writer: {"source": writer.get("source")},
    "SessionEnd": lambda writer: {"reason": writer.get("reason")},
    "PreCompress": lambda writer: {"trigger": writer.get("trigger")},
    "BeforeAgent": PayloadWriter.prompt,
    "BeforeModel": PayloadWriter.request,
    "BeforeToolSelection": PayloadWriter.request,
    "AfterModel": PayloadWriter.response,
    "BeforeTool": PayloadWriter.call,
    "AfterTool": PayloadWriter.result,
    "AfterAgent": PayloadWriter.turn,
    "Notification": PayloadWriter.notice,
}


def llm_response(text: str, usage: Usage | None = None) -> dict[str, Any]:
    """Return a whole answer of the model that is this text."""
    content = {"role": "model", "parts": [text]}
    response = {"text": text, "candidates": [{"content": content, "finishReason": "STOP", "index": 0}]}
    counts = {} if usage is None else {
        "promptTokenCount": usage.input_tokens,
        "candidatesTokenCount": usage.output_tokens,
        "totalTokenCount": usage.total_tokens,
    }  # fmt: skip
    known = {name: count for name, count in counts.items() if count is not None}
    return {**response, "usageMetadata": known} if known else response


def response_text(response: Object) -> str:
    if isinstance(response.get("text"), str):
        return response["text"]
    first = as_object(next(iter(as_items(response.get("candidates"))), None))
    return text_of(as_object(first.get("content")).get("parts"))


def error_of(result: Object) -> str | None:
    """Return the error of a result; None for a successful one."""
    error = result.get("error")
    return str(as_object(error).get("message") or error) if error else None


# Payloads of Gemini CLI


def parse_payload(document: Object) -> Parsed:
    """Parse a payload. Raises `UnknownEventError`, or `ConfigError` with a message that names the field."""
    name = family.event_name(document, ROWS)
    given = {key: value for key, value in document.items() if value is not None}
    for key in _OBJECTS:
        if (instead := misshaped(given.get(key, {}), "an object")) is not None:
            raise bad_payload(f"the payload of {name}: {key} is {instead}")
    event, values = ROWS[name].event, {**given, **_values(name, given)}
    if name == "AfterTool" and (error := error_of(as_object(given.get("tool_response")))) is not None:
        event, values = e.POST_TOOL_USE_FAILURE, {**values, "error": error}
    known = info_texts(given, ("session_id", "transcript_path", "cwd"))
    kept = {key: given[key] for key in _KEPT if key in given}
    return Parsed(event, payload_record(event, name, values), SessionInfo(**known, extra=kept or None))


def _values(name: str, given: Object) -> dict[str, Any]:
    """Return the fields of the event's own payload that have other names in the document."""
    request, server = as_object(given.get("llm_request")), as_object(given.get("mcp_context"))
    found: dict[str, Any] = {} if request.get("model") is None else {"model": request["model"]}
    if name == "BeforeModel" and "messages" in request:
        found["messages"] = usual_messages(request["messages"])
    if name == "AfterModel":
        found["response"] = response_text(as_object(given.get("llm_response")))
    if name == "AfterAgent" and "prompt_response" in given:
        found["last_assistant_message"] = given["prompt_response"]
    if server.get("server_name"):
        found["mcp_server"] = {"name": server["server_name"]}
    return found


def usual_messages(messages: Any) -> Any:
    """Use the usual names of the roles."""
    if not isinstance(messages, list):
        return messages
    return [
        {**as_object(each), "role": _USUAL_ROLES.get(as_object(each).get("role", ""), "user")}
        for each in cast("list[Any]", messages)
    ]


def received_message(message: AnyMessage) -> dict[str, str] | None:
    """Return a message in Gemini's form; None for one that is not text of user, model or system."""
    given = isinstance(message, HostMessage) and "content" in message
    text = text_of(cast("HostMessage", message)["content"]) if given else message.text
    return {"role": _ROLES[message.role], "content": text} if message.role in _ROLES and text else None


def own_messages(messages: Iterable[AnyMessage]) -> list[dict[str, str]]:
    """Return messages in Gemini's form: text alone."""
    return [shown for each in messages if (shown := received_message(each)) is not None]


def received_messages(asked: ModelRequest | ToolSelection | ModelResponse) -> list[dict[str, str]]:
    """Return all text that the model gets as messages, also the text for this request alone."""
    return [*own_messages(asked.messages), *transient_messages(asked)]


def transient_messages(asked: Any) -> list[dict[str, str]]:
    texts = asked.transient if isinstance(asked, ModelRequest) else ()
    return [{"role": "user", "content": text} for text in texts]


def read_messages(wanted: list[Any], asked: ModelRequest) -> list[AnyMessage]:
    """Return the messages of the request as a hook wants them; it saw their text alone."""
    documents = [as_object(each) for each in wanted]
    for shown in transient_messages(asked):
        if shown in documents:
            documents.reverse()
            documents.remove(shown)
            documents.reverse()
    return put_back([(each, received_message(each)) for each in asked.messages], documents, _read_message)


def _read_message(document: Object, before: AnyMessage | None) -> AnyMessage:
    text = text_of(document.get("content"))
    if before is not None:
        return with_text(before, text)
    return HostMessage(role=_USUAL_ROLES.get(str(document.get("role")), "user"), content=text)
