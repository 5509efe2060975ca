"""The prompts of model hooks: the small part of Go's template language that prompts need.

`{{ .ToolName }}`, `{{ .ToolInput | toJSON | truncate 500 }}`, `{{ if .ToolError }}…{{ else }}…{{ end }}`, trim
marks and comments. A field has its key's name too (`.tool_name`). There are no loops, no variables and no other
functions, so a prompt can neither run long nor reach anything but the payload.
"""

import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, cast

import msgspec
from msgspec import Struct

from hookline.dialects.docker_agent.payload import KEYS
from hookline.model.errors import HooklineError

_LONGEST = 64 * 1024
_LARGEST = 1 << 20
_DEEPEST = 16
_MOST_TOKENS = 200

_TOKEN = re.compile(
    r"\s*(?:(?P<text>\"(?:[^\"\\\n]|\\.)*\"|`[^`]*`)|(?P<number>-?\d+)|(?P<field>(?:\.[A-Za-z_]\w*)+|\.)"
    r"|(?P<word>[A-Za-z_]\w*)|(?P<mark>[|()]))"
)
_CONSTANTS: Mapping[str, Any] = {"true": True, "false": False, "nil": None}


class TemplateError(HooklineError):
    """Why a prompt cannot be understood, or not be filled in."""


def _go_name(key: str) -> str:
    return "".join("ID" if part == "id" else part.capitalize() for part in key.split("_"))


_NAMES: Mapping[str, str] = MappingProxyType(
    {name: key for key in ("session_id", "cwd", "hook_event_name", *KEYS) for name in (key, _go_name(key))}
)


class _Get(Struct, frozen=True):
    """A path into the payload; the empty one is all of it."""

    path: tuple[str, ...]


class _Value(Struct, frozen=True):
    value: Any


class _Helper(Struct, frozen=True):
    name: str
    arguments: tuple[Any, ...]


class _If(Struct, frozen=True):
    condition: Any
    then: tuple[Any, ...]
    otherwise: tuple[Any, ...]


class Template(Struct, frozen=True):
    """A prompt, understood once."""

    parts: tuple[Any, ...]

    def rendered(self, payload: Mapping[str, Any]) -> str:
        """Raises `TemplateError` when a helper cannot work with what the payload holds."""
        text = "".join(_written(self.parts, payload))
        if len(text) > _LARGEST:
            raise TemplateError(f"the prompt would have {len(text):,} characters, more than {_LARGEST:,}")
        return text


def template(text: str) -> Template:
    """Raises `TemplateError` with what is wrong."""
    if len(text) > _LONGEST:
        raise TemplateError(f"{len(text):,} characters are more than {_LONGEST:,}")
    return Template(_Blocks(text).read())


class _Blocks:
    """The text between actions, and the actions, nested by `if` and `end`."""

    def __init__(self, text: str) -> None:
        self._pieces = list(_pieces(text))
        self._at = 0

    def read(self) -> tuple[Any, ...]:
        parts, end = self._until(0)
        if end:
            raise TemplateError(f"{{{{ {end} }}}} has no if before it")
        return parts

    def _until(self, depth: int) -> tuple[tuple[Any, ...], str]:
        """The parts up to an `else` or `end` of this level, and which of them it was."""
        if depth > _DEEPEST:
            raise TemplateError(f"if is nested more than {_DEEPEST} levels deep")
        parts: list[Any] = []
        while self._at < len(self._pieces):
            piece = self._pieces[self._at]
            self._at += 1
            if isinstance(piece, str):
                parts.append(piece)
                continue
            (action,) = piece
            if action in ("end", "else"):
                return tuple(parts), action
            parts.append(self._condition(action, depth) if re.match(r"if\b", action) else _pipeline(action))
        return tuple(parts), ""

    def _condition(self, action: str, depth: int) -> _If:
        then, end = self._until(depth + 1)
        otherwise: tuple[Any, ...] = ()
        if end == "else":
            otherwise, end = self._until(depth + 1)
        if end != "end":
            raise TemplateError(f"{{{{ {action} }}}} has no end" if not end else "a second else")
        return _If(_pipeline(action[2:]), then, otherwise)


def _pieces(text: str) -> list[Any]:
    """Plain text as it is, an action as a tuple of one; blanks beside a trim mark are gone."""
    pieces: list[Any] = []
    trims = False
    while text:
        plain, opened, rest = text.partition("{{")
        action, closed, text = rest.partition("}}")
        if opened and not closed:
            raise TemplateError("a {{ is never closed")
        plain = plain.lstrip() if trims else plain
        pieces.append(plain.rstrip() if action.startswith("- ") else plain)
        trims = action.endswith(" -")
        action = action.removeprefix("- ").removesuffix(" -").strip()
        if opened and not (action.startswith("/*") and action.endswith("*/")):
            pieces.append((action,))
    return pieces


def _pipeline(action: str) -> Any:
    tokens = _tokens(action)
    result, rest = _piped(tokens, 0)
    if rest:
        raise TemplateError(f"{rest[0][1]!r} is not expected in {{{{ {action} }}}}")
    return result


def _tokens(action: str) -> list[tuple[str, str]]:
    tokens: list[tuple[str, str]] = []
    at = 0
    while at < len(action):
        if len(tokens) == _MOST_TOKENS:
            raise TemplateError(f"an action has more than {_MOST_TOKENS} parts")
        found = _TOKEN.match(action, at)
        if found is None:
            raise TemplateError(
                f"{action[at:].strip()[:20]!r} is not understood; there are fields, toJSON and truncate"
            )
        tokens.append((found.lastgroup or "", found[found.lastgroup or 0]))
        at = found.end()
    if not tokens:
        raise TemplateError("an action is empty")
    return tokens


Tokens = Sequence[tuple[str, str]]


def _piped(tokens: Tokens, depth: int) -> tuple[Any, Tokens]:
    """`a | b c`: what stands left is the last argument of what stands right."""
    if depth > _DEEPEST:
        raise TemplateError(f"brackets are nested more than {_DEEPEST} levels deep")
    value, tokens = _command(tokens, depth, ())
    while tokens and tokens[0][1] == "|":
        value, tokens = _command(tokens[1:], depth, (value,))
    return value, tokens


def _command(tokens: Tokens, depth: int, piped: tuple[Any, ...]) -> tuple[Any, Tokens]:
    terms: list[Any] = []
    word = ""
    while tokens and tokens[0][1] not in ("|", ")"):
        kind, text = tokens[0]
        if kind == "word" and text not in _CONSTANTS:
            if terms or word:
                raise TemplateError(f"{text!r} needs brackets around it and its arguments")
            word, tokens = text, tokens[1:]
            continue
        term, tokens = _term(tokens, depth)
        terms.append(term)
    if word:
        return _helper(word, (*terms, *piped)), tokens
    if len(terms) != 1 or piped:
        raise TemplateError("a value stands where a helper is needed" if terms else "a value is missing")
    return terms[0], tokens


def _term(tokens: Tokens, depth: int) -> tuple[Any, Tokens]:
    kind, text = tokens[0]
    rest = tokens[1:]
    if text == "(":
        value, rest = _piped(rest, depth + 1)
        if not rest:
            raise TemplateError("a ( is never closed")
        return value, rest[1:]
    if kind == "field":
        return _Get(_path(text)), rest
    if kind == "number":
        return _Value(int(text[:10])), rest
    if kind == "text":
        inside = text[1:-1]
        return _Value(re.sub(r"\\(.)", r"\1", inside) if text[0] == '"' else inside), rest
    return _Value(_CONSTANTS[text]), rest


def _path(text: str) -> tuple[str, ...]:
    first, *more = [part for part in text.split(".") if part] or [""]
    if not first:
        return ()
    key = _NAMES.get(first)
    if key is None:
        raise TemplateError(f"the payload has no field {first!r}")
    return (key, *more)


def _helper(word: str, arguments: tuple[Any, ...]) -> _Helper:
    wanted = _ARGUMENTS.get(word)
    if wanted is None:
        raise TemplateError(f"no helper is called {word!r}; there are {', '.join(_ARGUMENTS)}")
    if len(arguments) != wanted:
        raise TemplateError(
            f"{word} takes {wanted} argument{'s' if wanted > 1 else ''}, not {len(arguments)}"
        )
    return _Helper(word, arguments)


_ARGUMENTS: Mapping[str, int] = {"toJSON": 1, "truncate": 2}


def _written(parts: Sequence[Any], payload: Mapping[str, Any]) -> list[str]:
    texts: list[str] = []
    for part in parts:
        if isinstance(part, str):
            texts.append(part)
        elif isinstance(part, _If):
            texts.extend(_written(part.then if _value(part.condition, payload) else part.otherwise, payload))
        else:
            texts.append(_shown(_value(part, payload), 0))
    return texts


def _value(term: Any, payload: Mapping[str, Any]) -> Any:
    if isinstance(term, _Value):
        return term.value
    if isinstance(term, _Get):
        return _got(term.path, payload)
    arguments = [_value(each, payload) for each in term.arguments]
    if term.name == "toJSON":
        return _as_json(arguments[0])
    return _truncated(*arguments)


def _got(path: tuple[str, ...], payload: Mapping[str, Any]) -> Any:
    if not path:
        return payload
    value: Any = payload.get(path[0])
    for name in path[1:]:
        if value is None:
            return None
        if not isinstance(value, Mapping):
            raise TemplateError(f"{path[0]} has no field {name!r}")
        value = cast("Mapping[str, Any]", value).get(name)
    return value


def _as_json(value: Any) -> str:
    try:
        return msgspec.json.encode(value).decode()
    except (TypeError, ValueError, RecursionError) as error:
        raise TemplateError(f"toJSON: {error}") from None


def _truncated(most: Any, text: Any) -> str:
    """Cut at so many bytes, never inside a character, with a mark."""
    if not isinstance(most, int) or not isinstance(text, str | None):
        raise TemplateError("truncate takes a number and a text: {{ .ToolInput | toJSON | truncate 500 }}")
    content = (text or "").encode("utf-8", "replace")
    if most <= 0 or len(content) <= most:
        return text or ""
    return content[:most].decode("utf-8", "ignore") + "…"


def _shown(value: Any, depth: int) -> str:
    """As Go prints it: `map[a:1 b:2]`, `[1 2]`."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if depth > _DEEPEST:
        return "…"
    if isinstance(value, Mapping):
        pairs = sorted(cast("Mapping[str, Any]", value).items())
        return f"map[{' '.join(f'{key}:{_shown(each, depth + 1)}' for key, each in pairs)}]"
    if isinstance(value, list | tuple):
        return f"[{' '.join(_shown(each, depth + 1) for each in cast('list[Any]', value))}]"
    return str(value)
