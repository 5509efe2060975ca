"""What every check gets besides the hooks, and what checks have in common."""

import os
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

from msgspec import Struct

from hookline.config.load import Loaded
from hookline.matching.shell import ShellReader
from hookline.model.diagnostics import Diagnostic
from hookline.model.hook import Hook

if TYPE_CHECKING:
    from hookline.config.load import Loader
    from hookline.dialects.dialect import Dialect
    from hookline.trust.trust import Trust


class CheckContext(Struct, frozen=True, eq=False):
    """The directory, the user's environment, and the dialects."""

    cwd: str
    env: Mapping[str, str]
    shell: ShellReader
    loader: "Loader"
    #: None: only files that the user named are looked at.
    trust: "Trust | None" = None

    def dialect(self, hook: Hook) -> "Dialect":
        return self.loader.dialect(hook.dialect)

    def title(self, dialect: str) -> str:
        """What people call the agent. The journal may name one that is not known any more."""
        return self.loader.dialect(dialect).title if dialect in self.loader.names else dialect


#: Reads and looks at files; runs nothing, changes nothing.
CheckFunction = Callable[[Loaded, CheckContext], Iterator[Diagnostic]]


def entries(loaded: Loaded) -> Iterator[Hook]:
    """One hook per entry of a file: some entries are hooks at several moments."""
    seen: set[object] = set()
    for hook in loaded.hooks:
        place = (hook.where.file, hook.where.path) if hook.where.file else id(hook)
        if place not in seen:
            seen.add(place)
            yield hook


def project_of_file(file: str, cwd: str) -> str:
    """The project a configuration file is in; the working directory for a file that is in none."""
    folder = os.path.dirname(os.path.abspath(file)) if file else cwd
    return os.path.dirname(folder) if os.path.basename(folder).startswith(".") else folder
