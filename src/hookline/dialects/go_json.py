"""JSON as agents written in Go read it: the last of two equal keys counts, broken characters are replaced.

Whatever the bytes are, the result is a value or a `GoJsonError`; a hook decides how much it prints.
"""

import json
from math import inf
from typing import Any, NoReturn

from hookline.documents.document import SyntaxProblem, refuse_excess
from hookline.model.errors import HooklineError

LIMIT = 10 << 20


class GoJsonError(HooklineError):
    """Why a text is not taken as JSON."""


def read_go_json(text: bytes, *, limit: int = LIMIT) -> Any:
    """The value of a JSON text. Raises `GoJsonError` and nothing else."""
    if len(text) > limit:
        raise GoJsonError(f"{len(text):,} bytes are more than the {limit:,} that are read")
    decoded = text.decode("utf-8", "replace")
    try:
        value = json.loads(decoded, parse_constant=_refused, parse_float=_finite)
        refuse_excess(value)
        return _whole_characters(value) if "\\ud" in decoded or "\\uD" in decoded else value
    except json.JSONDecodeError as error:
        raise GoJsonError(f"{error.msg} (line {error.lineno}, column {error.colno})") from None
    except SyntaxProblem as problem:
        raise GoJsonError(str(problem)) from None
    except RecursionError:
        raise GoJsonError("nested too deeply") from None
    except ValueError:
        raise GoJsonError("a number has too many digits") from None


def _refused(word: str) -> NoReturn:
    raise GoJsonError(f"{word} is not JSON")


def _finite(digits: str) -> float:
    value = float(digits)
    if value in (inf, -inf):
        raise GoJsonError(f"the number {digits[:20]} is too large")
    return value


def _whole_characters(value: Any) -> Any:
    """Halves of a surrogate pair cannot be written anywhere again, so each becomes a replacement character."""
    written = json.dumps(value, ensure_ascii=False)
    return json.loads(written.encode("utf-16", "surrogatepass").decode("utf-16", "replace"))
