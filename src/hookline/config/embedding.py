"""The engine a host builds in one line: every handler, the native dialect, a journal in memory."""

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from hookline.background.detached import Background
from hookline.dialects.native.home import NativeHome
from hookline.engine import core
from hookline.engine.admission import Admit, admit_all
from hookline.engine.journal import Journal
from hookline.engine.redaction import Redactor
from hookline.engine.trace import Trace, trace_wanted
from hookline.handlers.registry import Handler, standard_handlers
from hookline.model.events import EVENTS, EventSpec, event_table
from hookline.model.hook import Hook
from hookline.model.run import Run

if TYPE_CHECKING:
    from hookline.config.loading import Loaded
    from hookline.dialects.native.config import NativeReader


class Engine(core.Engine):
    """Runs hooks. Give it what you have; what is left out is what most hosts want.

    `rows` adds events of your own to the table; `handlers` replaces the registry of handler kinds.
    """

    def __init__(
        self,
        hooks: Sequence[Hook] = (),
        *,
        handlers: Mapping[str, Handler] | None = None,
        rows: Sequence[EventSpec[Any]] = (),
        journal: Journal | None = None,
        admit: Admit = admit_all,
        background: Background | None = None,
        drain_seconds: float = 5.0,
    ) -> None:
        events = event_table((*EVENTS.values(), *rows)) if rows else EVENTS
        native = NativeHome(events)
        super().__init__(
            hooks,
            handlers=handlers if handlers is not None else standard_handlers(),
            home=native,
            journal=journal if journal is not None else memory_journal(),
            events=events,
            admit=admit,
            background=background,
            drain_seconds=drain_seconds,
        )
        self._native = native
        self._reader: NativeReader | None = None
        self._loaded = False

    def load(self, cwd: str, files: Sequence[str] | None = None) -> "Loaded":
        """Put the configuration of a directory (or exactly these files) in force.

        A bad entry is reported and its neighbours run. A file that cannot be read at all leaves the set that
        was in force as it is; what came back says so.
        """
        # Only here: an engine whose hooks are made in code reads no files.
        from hookline.config.loading import load_files, load_native  # noqa: PLC0415 see above

        if self._reader is None:
            self._reader = self._native.reader(self.handlers)
        loaded = load_native(cwd, self._reader) if files is None else load_files(files, self._reader)
        if not loaded.unreadable or not self._loaded:
            self.swap(loaded.hooks)
            self._loaded = True
        return loaded


def memory_journal() -> Journal:
    """A journal that keeps the newest runs, and prints them as they happen when HOOKLINE_TRACE is set."""
    return Journal(Redactor(os.environ), subscribers=tracers())


def tracers() -> tuple[Callable[[Run], None], ...]:
    return (Trace(sys.stderr).record,) if trace_wanted(os.environ) else ()
