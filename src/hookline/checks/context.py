"""Define what checks receive besides the hooks, and what they share."""

import os
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property, wraps
from typing import TYPE_CHECKING, Any, TypeVar

from msgspec import Struct

from hookline.config.load import Loaded
from hookline.journal.redaction import Redactor
from hookline.model.diagnostics import Diagnostic
from hookline.model.hook import Hook
from hookline.shell import ShellReader

if TYPE_CHECKING:
    from hookline.config.load import Loader
    from hookline.dialects.dialect import Dialect
    from hookline.trust.trust import Trust


T = TypeVar("T")


class CheckContext(Struct, frozen=True, eq=False, dict=True):
    """Directory, environment and dialects of a check."""

    cwd: str
    env: Mapping[str, str]
    shell: ShellReader
    loader: "Loader"
    #: None: only files that the user named are checked.
    trust: "Trust | None" = None
    #: Nothing is known of this machine: neither its programs nor its user. So it is in CI.
    files_only: bool = False

    @cached_property
    def agents(self) -> "tuple[Dialect, ...]":
        """The dialects of the agents that are used here."""
        return tuple(self.loader.used(self.cwd))

    @cached_property
    def redactor(self) -> Redactor:
        """The redactor of secrets in the environment."""
        return Redactor(self.env)

    @cached_property
    def known(self) -> dict[object, tuple[Hook, Any]]:
        """What was found out about hooks (`once_per_hook`). A hook is kept, so that its id stays its own."""
        return {}

    def dialect(self, hook: Hook) -> "Dialect":
        return self.loader.dialect(hook.dialect)

    def title(self, dialect: str) -> str:
        """Return the agent's title, or its name if the journal names an unknown agent."""
        return self.loader.dialect(dialect).title if dialect in self.loader.names else dialect


#: Only reads files: it runs and changes nothing.
CheckFunction = Callable[[Loaded, CheckContext], Iterator[Diagnostic]]


def once_per_hook(find: Callable[[Hook, CheckContext], T]) -> Callable[[Hook, CheckContext], T]:
    """Find something out about a hook once in each context: several checks ask for it."""

    @wraps(find)
    def found(hook: Hook, context: CheckContext) -> T:
        key = (find, id(hook))
        if key not in context.known:
            context.known[key] = (hook, find(hook, context))
        return context.known[key][1]

    return found


def entries(loaded: Loaded) -> Iterator[Hook]:
    """Yield one hook per entry of a file: some entries are hooks at several events."""
    seen: set[object] = set()
    for hook in loaded.hooks:
        place = (hook.where.file, hook.where.path) if hook.where.file else id(hook)
        if place not in seen:
            seen.add(place)
            yield hook


def project_of_file(file: str, cwd: str) -> str:
    """Return the project that a configuration file is in; the working directory for a file outside projects."""
    directory = os.path.dirname(os.path.abspath(file)) if file else cwd
    return os.path.dirname(directory) if os.path.basename(directory).startswith(".") else directory
