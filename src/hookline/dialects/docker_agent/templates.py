"""Fill in prompts of model hooks: the part of Go's template language that prompts need.

`{{ .ToolName }}`, `{{ .ToolInput | toJSON | truncate 500 }}`, `{{ if .ToolError }}…{{ else }}…{{ end }}`,
trim marks and comments. Payload keys work as field names too (`.tool_name`). There are no loops, variables or
other functions, so a prompt can neither run long nor read anything but the payload.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, cast

import msgspec
from msgspec import Struct

from hookline.dialects.docker_agent.payload import KEYS
from hookline.model.errors import HooklineError

_MAX_TEMPLATE = 64 * 1024
_MAX_PROMPT = 1 << 20
_MAX_DEPTH = 16
_MAX_TOKENS = 200

_TOKEN = re.compile(
    r"\s*(?:(?P<text>\"(?:[^\"\\\n]|\\.)*\"|`[^`]*`)|(?P<number>-?\d+)|(?P<field>(?:\.[A-Za-z_]\w*)+|\.)"
    r"|(?P<word>[A-Za-z_]\w*)|(?P<mark>[|()]))"
)
_CONSTANTS: Mapping[str, Any] = {"true": True, "false": False, "nil": None}

#: A compiled part of a template: returns its value for a payload.
Part = Callable[[Mapping[str, Any]], Any]
Tokens = Sequence[tuple[str, str]]


class TemplateError(HooklineError):
    """A prompt that cannot be parsed, or cannot be filled in."""


_NAMES: Mapping[str, str] = MappingProxyType(
    {
        name: key
        for key in ("session_id", "cwd", "hook_event_name", *KEYS)
        for name in (key, "".join("ID" if part == "id" else part.capitalize() for part in key.split("_")))
    }
)


class Template(Struct, frozen=True):
    """A parsed prompt."""

    parts: tuple[Part, ...]
    #: The text as it was written. Parts are functions, which cannot be compared.
    text: str = ""

    def rendered(self, payload: Mapping[str, Any]) -> str:
        """Fill in the template. Raises `TemplateError` when a helper cannot work with the values of the payload."""
        text = _rendered(self.parts, payload)
        if len(text) > _MAX_PROMPT:
            raise TemplateError(f"the prompt would have {len(text):,} characters, more than {_MAX_PROMPT:,}")
        return text


def template(text: str) -> Template:
    """Parse a template. Raises `TemplateError` with the error."""
    if len(text) > _MAX_TEMPLATE:
        raise TemplateError(f"{len(text):,} characters are more than {_MAX_TEMPLATE:,}")
    parts, end = _Blocks(text).read(0)
    if end:
        raise TemplateError(f"{{{{ {end} }}}} has no if before it")
    return Template(parts, text)


class _Blocks:
    """Plain text and actions in turn, nested by `if` and `end`."""

    def __init__(self, text: str) -> None:
        self._pieces = iter(_pieces(text))

    def read(self, depth: int) -> tuple[tuple[Part, ...], str]:
        """Read the parts up to the next `else` or `end` of this level; return them and that word."""
        if depth > _MAX_DEPTH:
            raise TemplateError(f"if is nested more than {_MAX_DEPTH} levels deep")
        parts: list[Part] = []
        for is_action, text in self._pieces:
            if not is_action:
                parts.append(_constant(text))
            elif text in ("end", "else"):
                return tuple(parts), text
            else:
                parts.append(self._condition(text, depth) if re.match(r"if\b", text) else _pipeline(text))
        return tuple(parts), ""

    def _condition(self, action: str, depth: int) -> Part:
        then, end = self.read(depth + 1)
        otherwise: tuple[Part, ...] = ()
        if end == "else":
            otherwise, end = self.read(depth + 1)
        if end != "end":
            raise TemplateError(f"{{{{ {action} }}}} has no end" if not end else "a second else")
        condition = _pipeline(action[2:])
        return lambda payload: _rendered(then if condition(payload) else otherwise, payload)


def _pieces(text: str) -> list[tuple[bool, str]]:
    """Return each piece, and True if it is an action. Trim marks are applied, comments dropped."""
    pieces: list[tuple[bool, str]] = []
    trims = False
    while text:
        plain, opened, rest = text.partition("{{")
        action, closed, text = rest.partition("}}")
        if opened and not closed:
            raise TemplateError("a {{ is never closed")
        plain = plain.lstrip() if trims else plain
        pieces.append((False, plain.rstrip() if action.startswith("- ") else plain))
        trims = action.endswith(" -")
        action = action.removeprefix("- ").removesuffix(" -").strip()
        if opened and not (action.startswith("/*") and action.endswith("*/")):
            pieces.append((True, action))
    return pieces


def _pipeline(action: str) -> Part:
    part, rest = _piped(_tokens(action), 0)
    if rest:
        raise TemplateError(f"{rest[0][1]!r} is not expected in {{{{ {action} }}}}")
    return part


def _tokens(action: str) -> Tokens:
    tokens: list[tuple[str, str]] = []
    at = 0
    while at < len(action):
        if len(tokens) == _MAX_TOKENS:
            raise TemplateError(f"an action has more than {_MAX_TOKENS} parts")
        found = _TOKEN.match(action, at)
        if found is None:
            unknown = action[at:].strip()[:20]
            raise TemplateError(f"{unknown!r} is not understood; there are fields, toJSON and truncate")
        tokens.append((found.lastgroup or "", found[found.lastgroup or 0]))
        at = found.end()
    if not tokens:
        raise TemplateError("an action is empty")
    return tokens


def _piped(tokens: Tokens, depth: int) -> tuple[Part, Tokens]:
    """Read `a | b c`: the left side is the last argument of the right side."""
    if depth > _MAX_DEPTH:
        raise TemplateError(f"brackets are nested more than {_MAX_DEPTH} levels deep")
    part, tokens = _command(tokens, depth, ())
    while tokens and tokens[0][1] == "|":
        part, tokens = _command(tokens[1:], depth, (part,))
    return part, tokens


def _command(tokens: Tokens, depth: int, piped: tuple[Part, ...]) -> tuple[Part, Tokens]:
    terms: list[Part] = []
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
        raise TemplateError("there is a value where a helper is needed" if terms else "a value is missing")
    return terms[0], tokens


def _term(tokens: Tokens, depth: int) -> tuple[Part, Tokens]:
    kind, text = tokens[0]
    rest = tokens[1:]
    if text == "(":
        part, rest = _piped(rest, depth + 1)
        if not rest:
            raise TemplateError("a ( is never closed")
        return part, rest[1:]
    if kind == "field":
        return _field(text), rest
    if kind == "number":
        return _constant(int(text[:10])), rest
    if kind == "text":
        inside = text[1:-1]
        return _constant(re.sub(r"\\(.)", r"\1", inside) if text[0] == '"' else inside), rest
    return _constant(_CONSTANTS[text]), rest


def _constant(value: Any) -> Part:
    return lambda _payload: value


def _field(text: str) -> Part:
    """Compile a path into the payload; `.` alone is all of it."""
    first, *more = [part for part in text.split(".") if part] or [""]
    if not first:
        return lambda payload: payload
    key = _NAMES.get(first)
    if key is None:
        raise TemplateError(f"the payload has no field {first!r}")
    return lambda payload: _looked_up(payload, key, more)


def _looked_up(payload: Mapping[str, Any], key: str, more: Sequence[str]) -> Any:
    value: Any = payload.get(key)
    for name in more:
        if value is None:
            return None
        if not isinstance(value, Mapping):
            raise TemplateError(f"{key} has no field {name!r}")
        value = cast("Mapping[str, Any]", value).get(name)
    return value


def _helper(word: str, arguments: tuple[Part, ...]) -> Part:
    if word not in _HELPERS:
        raise TemplateError(f"no helper is called {word!r}; there are {', '.join(_HELPERS)}")
    count, helper = _HELPERS[word]
    if len(arguments) != count:
        raise TemplateError(f"{word} takes {count} argument{'s' * (count > 1)}, not {len(arguments)}")
    return lambda payload: helper(*(argument(payload) for argument in arguments))


def _as_json(value: Any) -> str:
    try:
        return msgspec.json.encode(value).decode()
    except (TypeError, ValueError, RecursionError) as error:
        raise TemplateError(f"toJSON: {error}") from None


def _truncated(most: Any, text: Any) -> str:
    """Return at most that many bytes, never cut inside a character, with a mark where it was cut."""
    if not isinstance(most, int) or not isinstance(text, str | None):
        raise TemplateError("truncate takes a number and a text: {{ .ToolInput | toJSON | truncate 500 }}")
    content = (text or "").encode("utf-8", "replace")
    if most <= 0 or len(content) <= most:
        return text or ""
    return content[:most].decode("utf-8", "ignore") + "…"


#: The number of arguments of each helper, and its function.
_HELPERS: Mapping[str, tuple[int, Callable[..., str]]] = {
    "toJSON": (1, _as_json),
    "truncate": (2, _truncated),
}


def _rendered(parts: Sequence[Part], payload: Mapping[str, Any]) -> str:
    return "".join(_shown(part(payload), 0) for part in parts)


def _shown(value: Any, depth: int) -> str:
    """Return a value as Go prints it: `map[a:1 b:2]`, `[1 2]`."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if depth > _MAX_DEPTH:
        return "…"
    if isinstance(value, Mapping):
        pairs = sorted(cast("Mapping[str, Any]", value).items())
        return f"map[{' '.join(f'{key}:{_shown(each, depth + 1)}' for key, each in pairs)}]"
    if isinstance(value, list | tuple):
        return f"[{' '.join(_shown(each, depth + 1) for each in cast('list[Any]', value))}]"
    return str(value)
