"""Read the questions of Hookline's plugin in OpenCode, and write what it does: throw, assign, append."""

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from hookline.dialects.family import answers as family
from hookline.dialects.family.answers import AnswerField, Object
from hookline.dialects.family.table_wire import GuardWriter, TableWire
from hookline.dialects.opencode.events import ROWS
from hookline.model.outcome import ContextItem, Rewrite

if TYPE_CHECKING:
    from hookline.actions.table import ToolTable


class Reader(family.AnswerReader):
    def fields(self, where: str) -> Mapping[str, AnswerField]:
        del where
        return _FIELDS

    def denied(self, _value: str, holder: Object) -> None:
        self.block(holder.get("reason"))

    def arguments(self, value: Any, _holder: Object) -> None:
        self.edits.append(Rewrite(value, field="tool_input"))

    def output(self, value: Any, _holder: Object) -> None:
        self.edits.append(Rewrite(value, field="tool_response"))

    def text(self, value: str, _holder: Object) -> None:
        self.context.append(ContextItem(value))


_FIELDS: Mapping[str, AnswerField] = {
    "decision": AnswerField("text", Reader.denied, choices=("deny",)), "reason": AnswerField("text"),
    "args": AnswerField("an object", Reader.arguments, frozenset({"tool.execute.before"})),
    "output": AnswerField("anything", Reader.output, frozenset({"tool.execute.after"})),
    "context": AnswerField("text", Reader.text, frozenset({"tool.execute.after"})),
}  # fmt: skip


class Writer(GuardWriter):
    title = "OpenCode"
    permits = ()

    def deny(self, reason: str) -> None:
        self.top |= {"decision": "deny", "reason": reason}

    def rewrite(self, value: Any) -> None:
        self.top["args" if self.row.event.rewrites == "tool_input" else "output"] = value

    def tell(self, text: str) -> None:
        self.top["context"] = text


class OpenCodeWire(TableWire):
    """The wire of Hookline's plugin in OpenCode. Stateless: one object serves every hook."""

    rows = ROWS
    common = {"session_id": "session_id", "cwd": "cwd"}  # noqa: RUF012 a table
    reader, writer = Reader, Writer
    standard_tools = False

    @cached_property
    def _tools(self) -> "ToolTable":
        from hookline.dialects.opencode.tools import TABLE  # noqa: PLC0415 only for calls of tools

        return TABLE


def wire() -> OpenCodeWire:
    return OpenCodeWire()
