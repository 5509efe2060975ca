"""Which variables a hook of the native format gets.

A project's own hooks come from a repository somebody may have cloned a minute ago. They get what programs
need to work, not what the user's shell happens to hold, and their configuration cannot set the variables
that make other programs load code.
"""

import re
from collections.abc import Mapping
from typing import Final

from hookline.model.hook import Hook, Scope
from hookline.model.raw import Broke

_FROM_REPOSITORIES: Final[frozenset[Scope]] = frozenset(("project", "local"))
_NEEDED: Final = re.compile(
    r"PATH|HOME|LANG|LC_.*|TMPDIR|USER|LOGNAME|SHELL|TZ|XDG_.*|HOOKLINE_.*", re.DOTALL
)
_SECRET: Final = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL", re.IGNORECASE)
_LOADS_CODE: Final = re.compile(r"LD_.*|DYLD_.*|BASH_ENV|ENV|PYTHON.*|NODE_OPTIONS|GIT_.*", re.DOTALL)
_QUIET: Final = {"TERM": "dumb", "NO_COLOR": "1"}


def hook_environment(
    snapshot: Mapping[str, str], scope: Scope, extra: Mapping[str, str]
) -> dict[str, str] | Broke:
    """The snapshot as a hook of that scope may see it, with the entry's own variables on top."""
    if scope not in _FROM_REPOSITORIES:
        return {**snapshot, **extra}
    refused = [name for name in extra if _LOADS_CODE.fullmatch(name)]
    if refused:
        names = ", ".join(refused)
        return Broke(
            "not_started", f"a project's configuration may not set {names}: it makes programs load code"
        )
    needed = {
        name: value
        for name, value in snapshot.items()
        if _NEEDED.fullmatch(name) and not _SECRET.search(name)
    }
    return {**needed, **_QUIET, **extra}


def by_dialect(
    snapshot: Mapping[str, str], hook: Hook, extra: Mapping[str, str]
) -> Mapping[str, str] | Broke:
    """The rules above for native hooks; hooks of other agents inherit everything, as they do there."""
    if hook.dialect == "native":
        return hook_environment(snapshot, hook.scope, extra)
    return {**snapshot, **extra}
