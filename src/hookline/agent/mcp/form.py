"""Let the user fill in forms of MCP servers: one line for each field, checked as it is typed."""

from collections.abc import Mapping
from typing import Any, Protocol, cast

from hookline.agent.mcp.elicitation import ServerAnswer, ServerQuestion
from hookline.agent.mcp.schema import arguments_problem
from hookline.model.safe_text import one_line

#: Values of a yes-or-no field.
_TRUE = frozenset({"y", "yes", "true", "ok", "1"})
_FALSE = frozenset({"n", "no", "false", "0"})
_MOST_TRIES = 3
_DECLINE, _CANCEL = ServerAnswer(action="decline"), ServerAnswer(action="cancel")


class _EndedError(Exception):
    """An error that says that the user declined or cancelled."""

    def __init__(self, answer: ServerAnswer) -> None:
        super().__init__(answer.action)
        self.answer = answer


class LineDialog(Protocol):
    """Questions by lines: it shows a text, and takes the next line the user types."""

    def say(self, text: str, /) -> None: ...

    async def next_line(self) -> str | None:
        """Return the next line; None if the input has ended."""
        ...


class FormAnswers:
    """Answers to MCP servers, with one line for each field of the form."""

    def __init__(self, lines: LineDialog) -> None:
        self._lines = lines

    async def ask(self, question: ServerQuestion) -> ServerAnswer:
        shown = one_line(question.message, 500)
        self._lines.say(f"? the MCP server {one_line(question.server, 60)} asks: {shown}")
        try:
            if question.mode == "url":
                return await self._visit(question)
            return await self._form(question.schema)
        except _EndedError as ended:
            return ended.answer

    async def _visit(self, question: ServerQuestion) -> ServerAnswer:
        address = one_line(question.url or "", 500)
        self._lines.say(f"  it asks you to open {address}\n  y when you agree, n to decline")
        agreed = await self._typed({"type": "boolean"})
        return ServerAnswer(action="accept") if agreed else _DECLINE

    async def _form(self, schema: Mapping[str, Any]) -> ServerAnswer:
        known = _table(schema.get("properties"))
        if not known:
            self._lines.say("  y to accept, n to decline")
            return (
                ServerAnswer(action="accept", content={})
                if await self._typed({"type": "boolean"})
                else _DECLINE
            )
        self._lines.say("  a line for each; /decline says no, /cancel gives no answer")
        required: Any = schema.get("required")
        needed = cast("list[Any]", required) if isinstance(required, list) else []
        content: dict[str, Any] = {}
        for name, rules in known.items():
            value = await self._field(str(name), _table(rules), needed=name in needed)
            if value is not None:
                content[str(name)] = value
        return ServerAnswer(action="accept", content=content)

    async def _field(self, name: str, rules: Mapping[str, Any], *, needed: bool) -> Any:
        title = str(rules.get("title") or rules.get("description") or "")
        of = f" ({one_line(title, 120)})" if title else ""
        self._lines.say(
            f"  {one_line(name, 60)}{of}{_choices(rules)}{'' if needed else ', may be left empty'}:"
        )
        return await self._typed(rules, needed=needed)

    async def _typed(self, rules: Mapping[str, Any], *, needed: bool = True) -> Any:
        """Return a line that is a valid value; the user gets a few tries, each with what is wrong."""
        for _ in range(_MOST_TRIES):
            line = await self._lines.next_line()
            if line is None or line.strip() == "/cancel":
                raise _EndedError(_CANCEL)
            if line.strip() == "/decline":
                raise _EndedError(_DECLINE)
            if not line.strip() and not needed:
                return rules.get("default")
            value = _value(line.strip(), rules)
            problem = arguments_problem({"properties": {"it": rules}}, {"it": value})
            if problem is None and (value != "" or not needed):
                return value
            self._lines.say(f"  that does not fit: {one_line(problem or 'it is empty', 200)}")
        raise _EndedError(_CANCEL)


def _value(line: str, rules: Mapping[str, Any]) -> Any:
    """Convert a line to the requested type; return it unchanged if it does not fit."""
    match rules.get("type"):
        case "boolean" if line.casefold() in _TRUE | _FALSE:
            return line.casefold() in _TRUE
        case "integer" | "number":
            return _number(line)
        case "array":
            return [part.strip() for part in line.split(",") if part.strip()]
        case _:
            return line


def _number(line: str) -> Any:
    for kind in (int, float):
        try:
            return kind(line)
        except (ValueError, OverflowError):
            continue
    return line


def _choices(rules: Mapping[str, Any]) -> str:
    if rules.get("type") == "boolean":
        return ", y or n"
    of: Any = rules.get("enum") or _table(rules.get("items")).get("enum")
    if not isinstance(of, list):
        return ""
    return f", one of {one_line(', '.join(map(str, cast('list[Any]', of))), 300)}"


def _table(value: Any) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}
