"""An agent in this process whose hooks are in the files of another agent, in its own format."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from hookline import Engine
from tests.agent.scripted_session import Say, ScriptedSession


class DialectSession(ScriptedSession):
    """`files` by their path in the project; those that `config` names hold hooks of the dialect."""

    def __init__(
        self,
        directory: Path,
        script: Sequence[Say],
        *,
        dialect: str,
        config: str,
        files: Mapping[str, str],
        **more: Any,
    ) -> None:
        self._dialect = dialect
        self._config = config
        self._files = files
        super().__init__(directory, script, **more)

    def _load(self, engine: Engine, hooks: Mapping[str, Any] | None) -> None:
        del hooks
        for name, text in self._files.items():
            file = self.project / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        loaded = engine.load(str(self.project), [str(self.project / self._config)], [self._dialect])
        self.diagnostics = tuple(loaded.diagnostics)
        engine.journal.subscribe(self.log.ran)

    def text(self, name: str) -> str:
        """A file of the project; empty when it is not there."""
        file = self.project / name
        return file.read_text() if file.is_file() else ""
