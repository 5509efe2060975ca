"""An agent whose hooks are given as text in its own format: real handlers, one session, every run on record."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from hookline import Engine, Outcome, Session
from hookline.documents.document import format_of, read_document
from hookline.engine.background import LateMessage
from hookline.extending import ConfigPath, Dialect, Handler, Layer, LoadedHooks, Run, Tools, standard_handlers
from hookline.matching.patterns import Patterns
from hookline.model.diagnostics import Diagnostic
from hookline.model.hook import Scope
from hookline.shell import ShellReader

File = tuple[str, Scope, str]


def read_hooks(
    dialect: Dialect, files: Sequence[File], handlers: Mapping[str, Handler] | None = None
) -> LoadedHooks:
    """The hooks of (file name, scope, text) layers, as the dialect's reader combines them."""
    layers: list[Layer] = []
    for name, scope, text in files:
        format_ = format_of(name)
        assert format_ is not None, name
        layers.append(Layer(ConfigPath(name, scope), read_document(text, format_, name)))
    tools = Tools(handlers if handlers is not None else standard_handlers(), Patterns(), ShellReader())
    return dialect.read(layers, tools)


def lines_and_codes(diagnostics: Sequence[Diagnostic]) -> list[tuple[int | None, str]]:
    return [(one.where.line, one.code) for one in diagnostics]


class HookedAgent:
    """Fires events on hooks read from text. Each `fire` is a whole dispatch, background hooks included."""

    def __init__(
        self,
        dialect: Dialect,
        files: Sequence[File],
        *,
        handlers: Mapping[str, Handler] | None = None,
        **info: Any,
    ) -> None:
        handlers = handlers if handlers is not None else standard_handlers()
        self.reading = read_hooks(dialect, files, handlers)
        self.engine = Engine(self.reading.hooks, handlers=handlers)
        self.session: Session = self.engine.session(info.pop("session_id", "s"), **info)
        self.session.tools = dialect.own_tools
        self.dialect = dialect
        self.runs: list[Run] = []
        self.late: list[LateMessage] = []
        self.engine.journal.subscribe(self.runs.append)

    def fire(self, name: str, payload: Any) -> Outcome:
        """Dispatch under one of the dialect's own event names (or a canonical one)."""
        own_event = self.dialect.events.get(name)
        event = own_event.event if own_event is not None else self.engine.events[name]
        return asyncio.run(self._fire(event, payload))

    async def _fire(self, event: Any, payload: Any) -> Outcome:
        outcome = await self.session.dispatch(event, payload)
        await self.engine.drain(30)
        for handler in self.engine.handlers.values():
            await handler.close()
        self.late.extend(self.session.inbox.take_all())
        return outcome
