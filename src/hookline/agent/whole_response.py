"""A model's answer that can be written down: no halves of characters, no nesting without end."""

from typing import Any

import msgspec
from msgspec.structs import replace

from hookline.agent.messages import ToolUse
from hookline.agent.modelport import Response
from hookline.dialects.whole_text import whole_text, whole_texts

_TOO_DEEP = "(arguments that are nested too deeply to be read)"


def whole_response(response: Response) -> Response:
    """The answer as it is, unless hooks, transcripts and the next request could not carry it."""
    try:
        msgspec.json.encode(response)
    except (UnicodeEncodeError, RecursionError):
        return replace(
            response,
            text=whole_text(response.text),
            reasoning=None if response.reasoning is None else whole_text(response.reasoning),
            tool_calls=tuple(_whole_use(use) for use in response.tool_calls),
        )
    return response


def _whole_use(use: ToolUse) -> ToolUse:
    return ToolUse(id=whole_text(use.id), name=whole_text(use.name), input=_whole_input(use.input))


def _whole_input(given: Any) -> Any:
    try:
        msgspec.json.encode(given)
    except UnicodeEncodeError:
        return whole_texts(given)
    except RecursionError:
        # Text stands for arguments that are no object, and is refused as such.
        return _TOO_DEEP
    return given
