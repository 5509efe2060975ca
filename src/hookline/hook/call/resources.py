"""Give a call its resources: its project, hooks, protected files and session.

In the daemon, calls with the same environment share them until a file changes. A separate process caches
nothing.
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING, TypeVar

from hookline.config.engine import Engine
from hookline.config.journals import keeps_payloads, payload_file
from hookline.config.load import Loader
from hookline.dialects.registry import home_dialect
from hookline.disk import DISK, Disk
from hookline.engine.session import Session
from hookline.handlers.registry import standard_handlers
from hookline.hook.call.project import CallProject, LoadedProject, find_project, load_project
from hookline.journal.file import jobs_path, journal_path
from hookline.journal.redaction import Redactor
from hookline.model.hook import Hook
from hookline.trust.sessions import SeenSession, SessionStore

if TYPE_CHECKING:
    from hookline.config.protection.calls import CallReader
    from hookline.config.protection.protected_paths import Protected
    from hookline.dialects.entries import AskedHooks
    from hookline.hook.daemon.cache import DaemonCache
    from hookline.hook.daemon.journal import CallJournal, JournalFiles
    from hookline.hook.daemon.path_cache import PathCache
    from hookline.shell import ShellReader

T = TypeVar("T")

#: The record of a session, and why it cannot be used.
_Recalled = tuple[SeenSession | None, tuple[str, ...]]


class CallResources:
    """The resources of one agent's calls with one environment. Another environment may mean other files and
    secrets."""

    def __init__(
        self, env: Mapping[str, str], paths: "PathCache | None" = None, daemon: "DaemonCache | None" = None
    ) -> None:
        """Make the resources; without `paths` nothing is cached."""
        self.env = env
        self._paths = paths
        self._daemon = daemon

    def _read(self, key: Hashable, find: Callable[[Disk], T], env: Mapping[str, str] | None = None) -> T:
        """Return what `find` reads; `env` are the variables of the call, if it looks up others than the shared."""
        return find(DISK) if self._paths is None else self._paths.get(key, find, env or self.env)

    @cached_property
    def loader(self) -> Loader:
        """The reader of configuration for the engines of these calls; it builds each dialect once."""
        return Loader(home_dialect(), standard_handlers(env=self.env), self.env, disk=DISK)

    @cached_property
    def _redactor(self) -> Redactor:
        return Redactor(self.env)

    @cached_property
    def jobs_path(self) -> str:
        """The file of durable hooks."""
        return jobs_path(self.env)

    @cached_property
    def _journal_path(self) -> str:
        return journal_path(self.env)

    def journal(self, files: "JournalFiles", caller: str) -> "CallJournal":
        """Make the journal of one call of this agent."""
        keeps = self._read("payloads", partial(keeps_payloads, self.env))
        payloads = payload_file(self.env, self._redactor) if keeps else None
        return files.of_call(self._redactor, self._journal_path, caller, payloads)

    def call_project(self, cwd: str, shown: Mapping[str, str], began_in: str | None) -> CallProject | None:
        """Find the project of a call; None if nothing names one.

        `shown` are the variables that name the project; they may vary between calls.
        """
        env, names = {**self.env, **shown}, tuple(shown)
        key = "call project", cwd, began_in, *shown.items()
        return self._read(key, lambda disk: find_project(cwd, names, began_in, env, disk))

    def project(
        self,
        engine: Engine,
        cwd: str,
        caller: str,
        files: Sequence[str] | None,
        source: str | None = None,
        *,
        strict: bool,
        hooks: "AskedHooks" = "all",
    ) -> LoadedProject:
        """Read the hooks that answer calls of this agent in this directory; the engine gets their trust."""
        key = "project", cwd, caller, strict, hooks, source, None if files is None else tuple(files)
        read = partial(load_project, engine, cwd, caller, files, source, strict=strict, hooks=hooks)
        found = self._read(key, lambda disk: read(disk=disk), engine.env)
        if found.trust is not None:
            engine.use_trust(found.trust)
        return found

    def call_reader(
        self, project: CallProject, hooks: Sequence[Hook], shell: "Callable[[], ShellReader]"
    ) -> "CallReader":
        """Return a reader of calls that edit files which no call may edit without a question."""
        from hookline.config.protection.calls import CallReader
        from hookline.config.protection.protected_paths import home_in

        # The result keeps the hooks: no other ones get their id as long as it is cached.
        key = "protection", project.cwd, project.directory, project.root, id(hooks)
        find = partial(self._read, key, lambda disk: (protected_for(project, hooks, self.env, disk), hooks))
        return CallReader(lambda: find()[0], home_in(self.env), shell)

    def recall(self, sessions: SessionStore, new: SeenSession) -> SeenSession | None:
        """Read the record of a session; errors go to `sessions`."""
        key = "session", new.dialect, new.session, new.files
        found, problems = self._read(key, partial(_recall, sessions.home, new))
        sessions.problems += problems
        return found

    def join(self, dialect: str, session: Session) -> None:
        """Continue the session of earlier calls."""
        if self._daemon is not None:
            self._daemon.join(dialect, session)


def _recall(home: str, new: SeenSession, disk: Disk) -> _Recalled:
    sessions = SessionStore(home)
    return sessions.recall(new, disk), tuple(sessions.problems)


def protected_for(
    project: CallProject, hooks: Sequence[Hook], env: Mapping[str, str], disk: Disk
) -> "Protected":
    """List the protected paths of a project with these hooks."""
    from hookline.config.protection.calls import worktree_of
    from hookline.config.protection.protected_paths import configuring_names, protected_in

    directories = (project.cwd, project.directory, project.root)
    return protected_in(directories, env, hooks, configuring_names(), disk).within(
        worktree_of(project.cwd, disk)
    )
