"""Read and write JSON as the agents do: payloads and answers out, output of hooks in.

Every payload of a host and every output of a hook gives JSON, a value, or an error that says why.
"""

import re
from collections.abc import Mapping
from math import inf, isfinite
from typing import Any, NoReturn, cast

import msgspec

from hookline.model.errors import HooklineError
from hookline.model.payloads import plain_value, read_value

#: Longer texts are not passed to the readers that are much slower than msgspec's.
_SLOW_LIMIT = 10 << 20
#: Longer whole numbers are floats to the agents, and Python refuses to read the longest.
_WHOLE_DIGITS = 4000


class JsonTextError(HooklineError):
    """A text is not JSON; the message says why in a few words."""


def written(document: Any) -> bytes:
    """Write JSON. Raises TypeError or ValueError for a value that has no JSON form."""
    try:
        try:
            return _encoder.encode(document)
        except UnicodeEncodeError:
            return _with_escapes(document)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def written_answer(document: Mapping[str, Any]) -> str:
    """Write one line. A lone surrogate in a text must not make the whole answer unreadable, so it is replaced."""
    try:
        try:
            text = _encoder.encode(document)
        except UnicodeEncodeError:
            text = _encoder.encode(whole_texts(plain_copy(document)))
    except RecursionError:
        raise ValueError("nested too deeply") from None
    return text.decode() + "\n"


def plain_copy(value: Any) -> Any:
    """Return the value in dicts, lists and plain values. Raises like `written`."""
    try:
        return msgspec.to_builtins(value, enc_hook=plain_value)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _with_escapes(document: Any) -> bytes:
    """Write lone surrogates, which a path whose bytes are not UTF-8 holds, as JSON escapes."""
    import json  # noqa: PLC0415 - rare

    return json.dumps(_finite(plain_copy(document)), separators=(",", ":"), allow_nan=False).encode()


def _finite(value: Any) -> Any:
    """Replace NaN and infinity by null, as msgspec writes them."""
    if isinstance(value, float):
        return value if isfinite(value) else None
    if isinstance(value, dict):
        return {key: _finite(inner) for key, inner in cast("dict[Any, Any]", value).items()}
    return (
        [_finite(inner) for inner in cast("list[Any]", value)] if isinstance(value, list | tuple) else value
    )


_encoder = msgspec.json.Encoder(enc_hook=plain_value)


def read_lenient(text: str | bytes) -> Any:
    """Read JSON as most agents do: of two equal keys the last wins. Raises `JsonTextError` and nothing else."""
    from hookline.documents.document import SyntaxProblem, refuse_excess  # noqa: PLC0415 - writers do without

    try:
        value = _decoded(text)
        refuse_excess(value)
    except (msgspec.DecodeError, SyntaxProblem, UnicodeError) as error:
        raise JsonTextError(_plainer(str(error))) from None
    except RecursionError:
        raise JsonTextError("nested too deeply") from None
    return value


def _decoded(text: str | bytes) -> Any:
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeError):
        try:
            return _forgiven(text)
        except ValueError:
            pass
        raise


def _forgiven(text: str | bytes) -> Any:
    """Read JSON that agents take and a strict reader refuses: lone surrogates, numbers too large for a float."""
    if len(text) > _SLOW_LIMIT:
        raise ValueError("too long to be read twice")
    import json  # noqa: PLC0415 - rare

    decoded = text.decode("utf-8", "replace") if isinstance(text, bytes) else text
    value = json.loads(decoded, parse_constant=_refused, parse_int=_whole)
    return whole_texts(value)


def read_go_json(text: bytes, *, limit: int = _SLOW_LIMIT) -> Any:
    """Read JSON as agents written in Go do: of two equal keys the last wins, broken characters are replaced,
    and a number too large for a float is an error. Raises `JsonTextError` and nothing else."""
    import json  # noqa: PLC0415 - only for those agents

    from hookline.documents.document import SyntaxProblem, refuse_excess  # noqa: PLC0415 - as above

    if len(text) > limit:
        raise JsonTextError(f"{len(text):,} bytes are more than the {limit:,} that are read")
    try:
        decoded = text.decode("utf-8", "replace")
        value = json.loads(decoded, parse_constant=_refused, parse_float=_in_range)
        refuse_excess(value)
        return whole_texts(value) if "\\ud" in decoded or "\\uD" in decoded else value
    except json.JSONDecodeError as error:
        raise JsonTextError(f"{error.msg} (line {error.lineno}, column {error.colno})") from None
    except (SyntaxProblem, _Refused) as problem:
        raise JsonTextError(str(problem)) from None
    except RecursionError:
        raise JsonTextError("nested too deeply") from None
    except ValueError:
        raise JsonTextError("a number has too many digits") from None


class _Refused(ValueError):  # noqa: N818 - never leaves this module
    """A constant that Python reads and JSON does not have."""


def _refused(word: str) -> NoReturn:
    raise _Refused(f"{word} is not JSON")


def _in_range(digits: str) -> float:
    value = float(digits)
    if value in (inf, -inf):
        raise _Refused(f"the number {digits[:20]} is too large")
    return value


def _whole(digits: str) -> int | float:
    return int(digits) if len(digits) < _WHOLE_DIGITS else float(digits)


def _plainer(problem: str) -> str:
    if problem == "Input data was truncated":
        return "the JSON ends too early"
    return problem[:1].lower() + problem[1:] if not problem.startswith("JSON") else problem


def whole_text(text: str) -> str:
    """Replace lone surrogates by the replacement character: they can be neither printed nor sent."""
    return re.sub("[\ud800-\udfff]", "\ufffd", text)


def whole_texts(value: Any) -> Any:
    """Do the same for every text and key in a value. Raises `RecursionError` for a value that contains itself."""
    if isinstance(value, str):
        return whole_text(value)
    if isinstance(value, Mapping):
        table = cast("Mapping[Any, Any]", value)
        return {whole_texts(key): whole_texts(inner) for key, inner in table.items()}
    if isinstance(value, list | tuple):
        return [whole_texts(inner) for inner in cast("list[Any]", value)]
    return value


def converted(document: Mapping[str, Any], record: type[Any]) -> Any:
    """Convert the document to a record. Raises `msgspec.ValidationError`; `RecursionError` for a value that
    contains itself."""
    try:
        return msgspec.convert(document, record, dec_hook=read_value)
    except UnicodeEncodeError:
        return msgspec.convert(whole_texts(document), record, dec_hook=read_value)


def field_first(problem: str) -> str:
    """Put the field first in msgspec's sentence: ``Expected `str`, got `int` - at `$.tool_name` ``."""
    said, found, place = problem.partition(" - at `$.")
    if problem.startswith("Object missing required field"):
        missing = said.split("`")[1]
        return f"{missing} is missing" if not found else f"{place.rstrip('`')}.{missing} is missing"
    said = said.replace("`", "")
    return f"{place.rstrip('`')}: {said[:1].lower()}{said[1:]}" if found else said
