"""Content and tool calls of ADK, as hooks read and write them."""

from asyncio import CancelledError
from collections.abc import Iterable
from functools import partial
from typing import Any, cast
from weakref import WeakKeyDictionary

from google.adk.tools import BaseTool
from google.genai import types
from pydantic_core import to_jsonable_python

from hookline import Session
from hookline.adapters.sessions import inside
from hookline.host import CallResult, HostCall

#: ADK goes on after a call only. So this one follows an answer that a Stop hook sends back; the model is not shown it.
SENT_BACK = "hookline_sent_back"


def text_of(content: types.Content) -> str:
    """What is said in it."""
    return "\n".join(part.text for part in content.parts or () if part.text and not part.thought)


def other_parts(content: types.Content) -> list[types.Part]:
    """What is not said: calls, pictures, thoughts."""
    return [part for part in content.parts or () if not part.text or part.thought]


def content_of(role: str, texts: Iterable[str], others: Iterable[types.Part] = ()) -> types.Content:
    """Texts, and then other parts."""
    return types.Content(role=role, parts=[*(types.Part(text=text) for text in texts), *others])


def as_shown(content: types.Content) -> types.Content:
    """As the model is shown it: words of a Stop hook as those of the user, and not as the result of a call."""
    parts = content.parts or []
    words = [part.function_response for part in parts if _name(part.function_response) == SENT_BACK]
    if words:
        return content_of("user", [str((each.response or {})["words"]) for each in words if each])
    kept = [part for part in parts if _name(part.function_call) != SENT_BACK]
    return content if len(kept) == len(parts) else types.Content(role="model", parts=kept)


def _name(part: Any) -> str | None:
    return part.name if part is not None else None


class ToolCalls:
    """The calls that are under way, by their contexts: ADK calls a plugin before a tool and after it."""

    def __init__(self) -> None:
        self._calls: WeakKeyDictionary[Any, tuple[HostCall, Any]] = WeakKeyDictionary()

    async def before(self, session: Session, tool: Any, tool_args: Any, tool_context: Any) -> Any:
        """What stands in place of the result of a call that does not run; None: it runs."""
        if type(tool) is BaseTool or _problem(tool, tool_args):  # no such tool, or ADK itself objects
            return None
        check = partial(_problem, tool, unless=tool_args)
        call_id = tool_context.function_call_id
        call = await session.open_tool(tool.name, dict(tool_args), id=call_id, check=check)
        if call.refused is not None:
            return {"error": call.refused.text}
        tool_args.clear()
        tool_args.update(call.arguments)
        self._calls[tool_context] = call, (around := inside(session))
        around.__enter__()
        return None

    async def after(self, tool_context: Any, result: Any) -> dict[str, Any] | None:
        """What the model reads in place of a result; None: that."""
        call = self._closed(tool_context)
        if call is None or tool_context.actions.requested_tool_confirmations:
            return None  # it did not run, or not yet
        return _result(await call.returned(to_jsonable_python(result, fallback=str)), result)

    async def failed(self, tool_context: Any, error: Any) -> dict[str, Any] | None:
        """What the model reads of an error; None: ADK does what it does with errors, and raises it."""
        call = self._closed(tool_context)
        if call is None or isinstance(error, CancelledError):
            return None
        return _result(await call.failed(error), {"error": str(error)})

    def _closed(self, tool_context: Any) -> HostCall | None:
        call, around = self._calls.pop(tool_context, (None, None))
        if around is not None:
            around.__exit__(None, None, None)
        return call


def _problem(tool: Any, arguments: dict[str, Any], unless: dict[str, Any] | None = None) -> str | None:
    """What ADK objects to in the arguments of a function; in others than `unless` also wrong types, which it takes."""
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
    """What the model reads in place of what was given; None: that."""
    added = done.text_up_to(0).strip()
    if not done.rewritten and not added and done.stop is None:
        return None
    value = done.output if done.rewritten else given
    read = cast("dict[str, Any]", value) if isinstance(value, dict) else {"result": value}
    return read | ({"hooks": added} if added else {})
