"""Content, arguments and results of ADK, as hooks read and write them."""

from collections.abc import Iterable
from typing import Any

from google.genai import types

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
