"""JSON as most agents read it: of a key that stands twice the last one counts. Bounded, and never a surprise."""

from typing import Any

import msgspec

from hookline.documents.reading import SyntaxProblem, refuse_excess
from hookline.model.errors import HooklineError


class LenientJsonError(HooklineError):
    """Why a text is not JSON, in a few words."""


def read_lenient(text: str | bytes) -> Any:
    """The value of a JSON text. Raises `LenientJsonError` and nothing else."""
    try:
        value = msgspec.json.decode(text)
        refuse_excess(value)
    except (msgspec.DecodeError, SyntaxProblem, UnicodeError) as error:
        raise LenientJsonError(_plainer(str(error))) from None
    except RecursionError:
        raise LenientJsonError("nested too deeply") from None
    return value


def _plainer(problem: str) -> str:
    if problem == "Input data was truncated":
        return "the JSON ends too early"
    return problem[:1].lower() + problem[1:] if not problem.startswith("JSON") else problem
