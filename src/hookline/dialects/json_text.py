"""A payload document as JSON bytes, whatever records and texts a host put into it."""

from collections.abc import Mapping
from math import isfinite
from typing import Any, NoReturn, cast

import msgspec

from hookline.dialects.surrogates import whole_texts
from hookline.documents.document import SyntaxProblem, refuse_excess
from hookline.model.errors import HooklineError


def written(document: Mapping[str, Any]) -> bytes:
    """Raises TypeError or ValueError for a value that has no JSON form."""
    try:
        try:
            return _encoder.encode(document)
        except UnicodeEncodeError:
            return _with_escapes(document)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def written_answer(document: Mapping[str, Any]) -> str:
    """One line. Half a character in a text must not cost an agent the whole answer, so it is replaced."""
    try:
        try:
            text = _encoder.encode(document)
        except UnicodeEncodeError:
            text = _encoder.encode(whole_texts(msgspec.to_builtins(document, enc_hook=_plain)))
    except RecursionError:
        raise ValueError("nested too deeply") from None
    return text.decode() + "\n"


def _with_escapes(document: Mapping[str, Any]) -> bytes:
    """A path whose bytes are not UTF-8 holds lone surrogates: told as JSON escapes, not refused."""
    import json  # noqa: PLC0415 - rare

    plain = _finite(msgspec.to_builtins(document, enc_hook=_plain))
    return json.dumps(plain, separators=(",", ":"), allow_nan=False).encode()


def _finite(value: Any) -> Any:
    """With null for what is no number in JSON, as the usual writer has it."""
    if isinstance(value, float):
        return value if isfinite(value) else None
    if isinstance(value, dict):
        return {key: _finite(inner) for key, inner in cast("dict[Any, Any]", value).items()}
    return (
        [_finite(inner) for inner in cast("list[Any]", value)] if isinstance(value, list | tuple) else value
    )


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(cast("Mapping[Any, Any]", value))
    raise TypeError(f"a value of type {type(value).__name__} has no JSON form")


_encoder = msgspec.json.Encoder(enc_hook=_plain)


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
