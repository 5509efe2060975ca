"""Provide built-in guards: named guards that judge what a tool call does, however it is written.

They are builtins: `type = "builtin"`, `command = "force-push"`. A program that embeds Hookline adds them with
`guard`:

    from hookline.guards import guard

    engine.add(PRE_TOOL_USE, guard("force-push"))
    engine.add(PRE_TOOL_USE, guard("secrets-read", "ask", "allow=.env.test"))

docs/reference/guards.md lists what each guard catches, its options, and what it cannot catch.
"""

from msgspec import Struct

__all__ = ["GUARD_NAMES", "Guard", "guard"]

#: The built-in guards, and the module with the rows of each.
MODULES = {
    "delete-recursive": "deletes",
    "force-push": "git",
    "history-rewrite": "git",
    "secrets-read": "secrets",
    "write-outside-project": "outside_project",
    "network-upload": "uploads",
    "pipe-to-shell": "downloads",
    "privilege": "privilege",
    "database-drop": "databases",
    "cloud-delete": "clouds",
    "disk": "deletes",
    "self-protection": "outside_project",
    "forbid-path": "forbidden",
    "forbid-host": "forbidden",
    "forbid-command": "forbidden",
}

#: They do nothing without options that say what is forbidden.
FORBIDDING = ("forbid-path", "forbid-host", "forbid-command")
GUARD_NAMES = tuple(name for name in MODULES if name not in FORBIDDING)

#: The guards that `hookline guard add recommended` adds, with their options: those that stop most attacks for the
#: fewest everyday lines. tests/guards/test_recommended.py measures it.
RECOMMENDED = {
    "secrets-read": (),
    "force-push": (),
    "network-upload": (),
    "write-outside-project": (),
    "delete-recursive": ("without=rebuilt",),
}


class Guard(Struct, frozen=True):
    """One guard with its options, to be added as a hook; `guard` makes one.

    ::

        engine.add(PRE_TOOL_USE, guard("disk"))
    """

    name: str
    args: tuple[str, ...] = ()


def guard(name: str, *options: str) -> Guard:
    """Return the guard of that name; ValueError if there is none, or if it has no such options.

    ::

        engine.add(PRE_TOOL_USE, guard("secrets-read", "ask", "allow=.env.test"))
    """
    # Only here: a configuration that names no guard does without their tables.
    from hookline.guards.settings import problem  # noqa: PLC0415
    from hookline.guards.spec import policy_of  # noqa: PLC0415

    if name not in MODULES:
        raise ValueError(_unknown(name))
    wrong = problem(policy_of(name), options)
    if wrong is not None:
        raise ValueError(wrong)
    return Guard(name, options)


def _unknown(name: str) -> str:
    from hookline.matching.nearest import nearest  # noqa: PLC0415 only for a mistake

    close = nearest(name, MODULES)
    return f"no guard is called {name!r}; " + (
        f"did you mean {close!r}?" if close else f"there are {', '.join(MODULES)}"
    )
