"""Jobs of durable hooks that another process has left: their hooks are read again, and trust in them is asked again."""

import os
import time
from collections.abc import Mapping

from hookline.config.engine import Engine, jobs_path, payload_file
from hookline.config.trust.trust import Options
from hookline.durable.file import DurableFile
from hookline.engine.jobs.stored import StoredCall, hook_key
from hookline.handlers.process.pool import Processes
from hookline.handlers.registry import Handler, standard_handlers
from hookline.journal.file import JournalFile, journal_path
from hookline.journal.journal import Journal
from hookline.journal.redaction import Redactor
from hookline.model.errors import HooklineError
from hookline.model.hook import Hook

#: Seconds for which what was read of a project counts: jobs come in heaps.
_FRESH_SECONDS = 1.0


class ProjectHooks:
    """Finds the hooks of jobs, of whatever project, as their files say now."""

    def __init__(self, env: Mapping[str, str], handlers: Mapping[str, Handler], journal: Journal) -> None:
        self._env = env
        self._handlers = handlers
        self._journal = journal
        #: By directory, dialect and file: when it was read, the engine and the hooks by their keys.
        self._read: dict[tuple[str, str, str], tuple[float, Engine, Mapping[str, Hook]]] = {}

    def __call__(self, stored: StoredCall) -> tuple[Engine, Hook] | str:
        """The hook of a job and an engine that admits it, or does not; or why there is none."""
        places = [
            stored.directory,
            stored.scene.cwd,
            stored.scene.project_dir or "",
            os.path.dirname(stored.file),
        ]
        tried = list(dict.fromkeys(each for each in places if each and os.path.isdir(each)))
        named = stored.file if stored.scope == "flag" else ""
        looks = [(each, "") for each in tried] + ([(os.path.dirname(named), named)] if named else [])
        for directory, file in looks:
            try:
                engine, hooks = self._hooks(directory, stored.dialect, file)
            except HooklineError as problem:
                return f"its configuration cannot be read: {problem}"
            hook = hooks.get(stored.hook)
            if hook is not None:
                return engine, hook
        return f"{stored.file} has no such hook any more, or not as it was"

    def _hooks(self, directory: str, dialect: str, file: str) -> tuple[Engine, Mapping[str, Hook]]:
        """Hooks of a directory, or of the file in it that a job claims the user named."""
        key = directory, dialect, file
        known = self._read.get(key)
        if known is None or time.monotonic() - known[0] > _FRESH_SECONDS:
            engine = Engine(handlers=self._handlers, journal=self._journal, env=self._env)
            # What a variable of this process vouches for was not said of that one.
            trust = engine.trust_in(directory, Options(environment=False))
            # A queue grants no trust: a file that it says the user named counts as one that its directory brings.
            loaded = (
                engine.loader.files([file], dialect, trust=trust)
                if file
                else engine.loader.directory(directory, [dialect], trust=trust)
            )
            by_key = {hook_key(hook): hook for hook in loaded.hooks if hook.in_background}
            known = self._read[key] = time.monotonic(), engine, by_key
        return known[1], known[2]


def adopt_jobs(engine: Engine, *, wait_for_queue: bool = False) -> None:
    """Let an engine run what other processes of the user have left, until it is closed.

    If there is no queue yet, there is nothing to look for again and again; unless `wait_for_queue`.
    """
    if wait_for_queue or os.path.lexists(jobs_path(engine.env)):
        engine.desk.adopt(ProjectHooks(engine.env, engine.handlers, engine.journal))


def left_jobs(processes: Processes, env: Mapping[str, str], caller: str) -> Engine:
    """An engine that does nothing else, until it is closed. Hooks get this environment."""
    redactor = Redactor(env)
    journal = Journal(
        redactor,
        file=JournalFile(journal_path(env)),
        caller=caller,
        payloads=payload_file(env, redactor),
    )
    engine = Engine(handlers=standard_handlers(processes=processes, env=env), journal=journal, env=env)
    adopt_jobs(engine, wait_for_queue=True)
    return engine


def open_jobs_file(env: Mapping[str, str]) -> DurableFile:
    """The queue of this user, for those who look at it or work on it by hand."""
    return DurableFile(jobs_path(env))
