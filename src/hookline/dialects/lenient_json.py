"""JSON as most agents read it: of a key that stands twice the last one counts. Bounded, and never a surprise."""

from typing import Any, NoReturn

import msgspec

from hookline.dialects.whole_text import whole_texts
from hookline.documents.reading import SyntaxProblem, refuse_excess
from hookline.model.errors import HooklineError

#: What the forgiving reader, which is much slower, is still given.
_MOST_CHARACTERS = 10 << 20
#: Longer whole numbers are floats to the agents, and Python refuses to read the longest.
_WHOLE_DIGITS = 4000


class LenientJsonError(HooklineError):
    """Why a text is not JSON, in a few words."""


def read_lenient(text: str | bytes) -> Any:
    """The value of a JSON text. Raises `LenientJsonError` and nothing else."""
    try:
        value = _read(text)
    except (msgspec.DecodeError, SyntaxProblem, UnicodeError) as error:
        raise LenientJsonError(_plainer(str(error))) from None
    except RecursionError:
        raise LenientJsonError("nested too deeply") from None
    return value


def _read(text: str | bytes) -> Any:
    try:
        value = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeError):
        try:
            return _forgiven(text)
        except ValueError:
            pass
        raise
    refuse_excess(value)
    return value


def _forgiven(text: str | bytes) -> Any:
    """JSON that agents take and a strict reader refuses: half a character, a number beyond all floats."""
    if len(text) > _MOST_CHARACTERS:
        raise ValueError("too long to be read twice")
    import json  # noqa: PLC0415 - rare

    decoded = text.decode("utf-8", "replace") if isinstance(text, bytes) else text
    value = json.loads(decoded, parse_constant=_refused, parse_int=_whole)
    refuse_excess(value)
    return whole_texts(value)


def _whole(digits: str) -> int | float:
    return int(digits) if len(digits) < _WHOLE_DIGITS else float(digits)


def _refused(word: str) -> NoReturn:
    raise ValueError(f"{word} is not JSON")


def _plainer(problem: str) -> str:
    if problem == "Input data was truncated":
        return "the JSON ends too early"
    return problem[:1].lower() + problem[1:] if not problem.startswith("JSON") else problem
