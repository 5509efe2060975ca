"""Whether the hooks of a project may run: some agents want the user's own word first, and so do we for them."""

import os
from collections.abc import Iterable, Mapping
from types import MappingProxyType

from hookline.engine.admission import ADMITTED, Admission
from hookline.model.hook import Hook

#: Whose project hooks wait for the user's trust, and from which scopes. Claude Code holds them back only where
#: somebody is there to be asked: a run without a screen counts as trusted.
_ALWAYS: Mapping[str, frozenset[str]] = MappingProxyType(
    {"codewhale": frozenset({"project"}), "reasonix": frozenset({"project"})}
)
_AT_A_TERMINAL: Mapping[str, frozenset[str]] = MappingProxyType(
    {**_ALWAYS, "claude-code": frozenset({"project", "local"})}
)


class ProjectTrust:
    """The word of the user about one project. Nothing inside the project can give it."""

    def __init__(self, root: str, *, trusted: bool, terminal: bool) -> None:
        self._root = root
        self._trusted = trusted
        self._wanting = _AT_A_TERMINAL if terminal else _ALWAYS

    def admit(self, hook: Hook) -> Admission:
        if self._trusted or hook.scope not in self._wanting.get(hook.dialect, ()):
            return ADMITTED
        return Admission(admitted=False, reason=f"{self._root} is not trusted")

    def notice(self, hooks: Iterable[Hook]) -> str | None:
        """What the user must know before wondering why a hook is silent."""
        refused = [hook for hook in hooks if not self.admit(hook).admitted]
        if not refused:
            return None
        files = ", ".join(sorted({hook.where.file for hook in refused}))
        return (
            f"{len(refused)} hooks do not run, because this project is not trusted: {files}. "
            "Look at them; then say --trust, or add the project to `trusted` of [agent] in your own settings"
        )


def is_trusted(root: str, trusted: Iterable[str]) -> bool:
    """Whether the project is one of these directories, or lies in one."""
    real = os.path.realpath(root)
    homes = [os.path.realpath(os.path.expanduser(each)) for each in trusted]
    return any(real == home or real.startswith(home.rstrip(os.sep) + os.sep) for home in homes)
