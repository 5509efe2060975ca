"""Name the home of a test's user to a process that agents start: it ignores HOME."""

import pwd
from collections.abc import Mapping, Sequence
from typing import Final

#: The home that tests find in the user database, here and in processes of `warm_process`. Nothing can be made there.
NOBODYS_HOME: Final = "/proc/hookline-tests"


def hide_own_home() -> None:
    """Keep tests out of the home of the user who runs them: a command without HOME asks the user database."""
    known = pwd.getpwuid

    def without_home(uid: int) -> pwd.struct_passwd:
        found = list(known(uid))
        return pwd.struct_passwd((*found[:5], NOBODYS_HOME, *found[6:]))

    pwd.getpwuid = without_home


def at_home(words: Sequence[str], env: Mapping[str, str]) -> list[str]:
    """Add `--home` with the HOME of `env` to a call or a daemon; other commands believe HOME."""
    call = list(words[:1]) == ["hook"] and "--dialect" in words
    received = call or list(words[:2]) == ["daemon", "run"]
    return (
        [*words, "--home", env["HOME"]]
        if received and env.get("HOME") and "--home" not in words
        else list(words)
    )
