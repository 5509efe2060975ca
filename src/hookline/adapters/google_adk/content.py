"""Convert content and tool calls of ADK for hooks and back."""

from asyncio import CancelledError
from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any, Protocol, cast
from weakref import WeakKeyDictionary

from google.adk.models.llm_request import LlmRequest
from google.adk.tools import BaseTool
from google.genai import types
from pydantic_core import to_jsonable_python

from hookline import Session
from hookline.adapters.sessions import inside
from hookline.adapters.tool_calls import approval_of, question_of
from hookline.host import Approval, CallResult, HostCall

#: ADK continues only after a call. So this one follows an answer that a Stop hook sends back.
#: The model does not see it.
SENT_BACK = "hookline_sent_back"


def text_of(content: types.Content) -> str:
    """Return the text of a content."""
    return "\n".join(part.text for part in content.parts or () if part.text and not part.thought)


def other_parts(content: types.Content) -> list[types.Part]:
    """Return the other parts: calls, pictures, thoughts."""
    return [part for part in content.parts or () if not part.text or part.thought]


def content_of(role: str, texts: Iterable[str], others: Iterable[types.Part] = ()) -> types.Content:
    """Build a content of texts, then other parts."""
    return types.Content(role=role, parts=[*(types.Part(text=text) for text in texts), *others])


def as_shown(content: types.Content) -> types.Content:
    """Return a content as the model sees it: words of a Stop hook as the user's, and not as the result of a call."""
    parts = content.parts or []
    words = [part.function_response for part in parts if _name(part.function_response) == SENT_BACK]
    if words:
        return content_of("user", [str((each.response or {})["words"]) for each in words if each])
    kept = [part for part in parts if _name(part.function_call) != SENT_BACK]
    return content if len(kept) == len(parts) else types.Content(role="model", parts=kept)


def shown_request(request: LlmRequest) -> list[dict[str, Any]]:
    """Return the messages of a request as hooks read them, the system prompt first."""
    config: Any = request.config
    system: Any = config.system_instruction
    first = [{"role": "system", "content": system}] if isinstance(system, str) and system else []
    return [*first, *(each.model_dump(mode="json", exclude_none=True) for each in request.contents)]


def use_messages(request: LlmRequest, messages: Iterable[Mapping[str, Any]]) -> None:
    """Send these messages, in the form of ADK or in the usual one, as a hook wrote them."""
    system, contents = list[str](), list[types.Content]()
    for each in messages:
        if each.get("role") == "system":
            system.append(str(each["content"]))
        elif "content" in each:
            role = "model" if each["role"] == "assistant" else "user"
            contents.append(content_of(role, [str(each["content"])]))
        else:
            contents.append(types.Content.model_validate(each))
    config: Any = request.config
    request.contents = contents
    if isinstance(config.system_instruction, str):
        config.system_instruction = "\n\n".join(system) or None


def _name(part: Any) -> str | None:
    return part.name if part is not None else None


class Waits(Protocol):
    """A run, with text of hooks that waits for its next request."""

    session: Session
    waiting: list[str]


class ToolCalls:
    """Running calls, by their contexts: ADK calls a plugin before a tool and after it."""

    def __init__(self) -> None:
        self._calls: WeakKeyDictionary[Any, tuple[HostCall, Any, Waits]] = WeakKeyDictionary()

    async def before(self, run: Waits, tool: Any, tool_args: Any, tool_context: Any) -> Any:
        """Return a replacement for the result of a call that does not run; None: it runs."""
        if type(tool) is BaseTool or _problem(tool, tool_args):  # an unknown tool, or ADK itself rejects it
            return None
        check, session = partial(_problem, tool, unless=tool_args), run.session
        call_id = tool_context.function_call_id
        call = await session.open_tool(tool.name, dict(tool_args), id=call_id, check=check)
        waiting = call.refused.pending if call.refused is not None else None
        if waiting is not None:
            given = tool_context.tool_confirmation
            if given is None:
                tool_context.request_confirmation(hint=waiting.reason, payload=question_of(waiting))
                tool_context.actions.skip_summarization = True
                return {"error": f"It waits for approval: {waiting.reason}"}
            call = await session.reopen(waiting, _approval(given), check=check)
        if call.refused is not None:
            _keep(run, call.refused)
            return {"error": call.refused.text}
        tool_args.clear()
        tool_args.update(call.arguments)
        self._calls[tool_context] = call, (around := inside(session)), run
        around.__enter__()
        return None

    async def after(self, tool_context: Any, result: Any) -> dict[str, Any] | None:
        """Return what the model reads instead of a result; None: the result itself."""
        call, run = self._closed(tool_context)
        if call is None or tool_context.actions.requested_tool_confirmations:
            return None  # it did not run, or not yet
        return _result(_keep(run, await call.returned(to_jsonable_python(result, fallback=str))), result)

    async def failed(self, tool_context: Any, error: Any) -> dict[str, Any] | None:
        """Return what the model reads of an error; None: ADK handles it, and raises it."""
        call, run = self._closed(tool_context)
        if call is None or isinstance(error, CancelledError):
            return None
        return _result(_keep(run, await call.failed(error)), {"error": str(error)})

    def _closed(self, tool_context: Any) -> tuple[HostCall | None, Any]:
        call, around, run = self._calls.pop(tool_context, (None, None, None))
        if around is not None:
            around.__exit__(None, None, None)
        return call, run


def _approval(confirmation: Any) -> Approval:
    """Read a confirmation. Its payload may have other arguments, or words for the model."""
    payload: Any = confirmation.payload
    given = cast("dict[str, Any]", payload) if isinstance(payload, dict) else {}
    others = {name: given[name] for name in ("message", "arguments") if name in given}
    return approval_of({"allow": confirmation.confirmed is True, **others})


def _keep(run: Waits, done: CallResult) -> CallResult:
    """Let text that does not belong into the result wait for the next request."""
    run.waiting += [item.text for item in done.context]
    return done


def _problem(tool: Any, arguments: dict[str, Any], unless: dict[str, Any] | None = None) -> str | None:
    """Return what ADK rejects in the arguments of a function; in others than `unless` also wrong types, which
    it accepts.
    """
    spec = getattr(tool, "_spec", None)
    if spec is None or not spec.has_signature:
        return None
    missing = [f"{name} is missing" for name in tool._get_mandatory_args() if name not in arguments]  # noqa: SLF001
    if unless is None or arguments == unless:
        wrong = tool._preprocess_args_with_validation(arguments)[1]  # noqa: SLF001
    else:
        given = spec.signature.parameters.items()
        hints = [(name, spec.type_hints.get(name, each.annotation)) for name, each in given]
        wrong = tool._validate_args(arguments, hints)[1]  # noqa: SLF001
    return "; ".join([*missing, *wrong]) or None


def _result(done: CallResult, given: Any) -> dict[str, Any] | None:
    """Return what the model reads instead of the given value; None: the value itself."""
    added = done.text_up_to(0).strip()
    if not done.rewritten and not added and done.stop is None:
        return None
    value = done.output if done.rewritten else given
    read = cast("dict[str, Any]", value) if isinstance(value, dict) else {"result": value}
    return read | ({"hooks": added} if added else {})
