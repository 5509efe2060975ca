"""Find the home directory of the user, before anything below it is read or written.

A project's settings can set variables for the hooks of its agent. So a call of an agent uses the user
database and the option `--home`, never HOME; a command that a person runs uses a HOME that no other user
could have made.
"""

import os
import stat
from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct

from hookline.journal.file import account_home
from hookline.model.errors import HooklineError

_NAME_IT = (
    "set HOME to a directory that is yours alone; entries of agents name it with --home DIR, and `hookline install` "
    "writes that"
)


class HomeError(HooklineError):
    """The home directory of the user is unknown."""


class Home(Struct, frozen=True):
    """The home directory in use."""

    path: str
    #: The reason why it differs from HOME; empty if it is the same.
    remark: str = ""

    @property
    def option(self) -> tuple[str, ...]:
        """The words that name it to a process which trusts only the user database."""
        account = account_home()
        return () if account is not None and self.is_at(account) else ("--home", self.path)

    def is_at(self, path: str) -> bool:
        """Return True if the path leads to the same directory."""
        return _same(self.path, path)


def home_of_call(named: str | None, env: Mapping[str, str], projects: "Callable[[], Sequence[str]]") -> Home:
    """Find the home of a call of an agent, or of the daemon; `named` is its `--home`. Raises HomeError."""
    if named is not None:
        return named_home(named)
    account, given = account_home(), env.get("HOME", "")
    if account is None:
        return _believed(given, projects)
    if not os.path.isabs(given) or _same(given, account):
        return Home(account)
    return Home(account, f"HOME is {given}, your home directory is {account}: that is used instead")


def home_by_hand(env: Mapping[str, str], projects: "Callable[[], Sequence[str]] | None" = None) -> Home:
    """Find the home for a command that a person runs, or for a program. Raises HomeError."""
    given = env.get("HOME", "")
    try:
        return _believed(given, projects or projects_here)
    except HomeError as problem:
        # Only here: the user database may be on another machine.
        account = account_home()
        if account is None:
            raise
        if not given or _same(given, account):
            return Home(given or account)
        return Home(account, f"{problem.args[0].partition(';')[0]}: {account} is used instead")


def projects_here(cwd: str | None = None) -> list[str]:
    """Return the repository of a directory, if it is in one."""
    from hookline.trust.project import project_root  # noqa: PLC0415 rarely needed

    try:
        root = project_root(cwd or os.getcwd())
    except OSError:  # the working directory is gone
        return []
    return [root] if os.path.lexists(os.path.join(root, ".git")) else []


def named_home(path: str) -> Home:
    """Accept `--home`: only the starter of the process can have written it. Raises HomeError."""
    if not os.path.isabs(path) or not os.path.isdir(path):
        raise HomeError(f"--home {path} is not the whole path of a directory; {_NAME_IT}")
    return Home(path)


def _believed(given: str, projects: "Callable[[], Sequence[str]]") -> Home:
    """Return HOME, if only the user or root can have made it."""
    why = _unfit(given) if os.path.isabs(given) else "which is not an absolute path"
    if why is None:
        from hookline.trust.project import is_inside  # noqa: PLC0415 rarely needed

        real = os.path.realpath(given)
        inside = next((root for root in projects() if root != os.sep and is_inside(real, root)), None)
        why = None if inside is None else f"which is inside the project {inside}"
    if why is not None:
        said = f"HOME is {given}, {why}" if given else "HOME is not set"
        raise HomeError(f"{said}; the user database has no entry for uid {os.geteuid()}: {_NAME_IT}")
    return Home(given)


def _unfit(path: str) -> str | None:
    try:
        found = os.stat(path)
    except OSError as problem:
        return f"which cannot be read ({problem.strerror})"
    if not stat.S_ISDIR(found.st_mode):
        return "which is not a directory"
    if found.st_uid not in (os.geteuid(), 0):
        return f"which belongs to another user (uid {found.st_uid})"
    if found.st_mode & 0o022:
        return "which other users can write"
    return None


def _same(one: str, other: str) -> bool:
    return one == other or os.path.realpath(one) == os.path.realpath(other)
