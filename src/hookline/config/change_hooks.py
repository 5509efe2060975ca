"""Change hooks of every format as Hookline's own files say: `disable` and `actions`.

`disable` switches hooks off by name. They stay with the mode `off` and the line that switches them off, so that every
command can show it. With `actions = "all"`, hooks in other agents' formats follow actions: their own agents ask them
about the tools that they name, and they are also asked about calls of other tools, such as a shell, that touch a
file they are about.
"""

import os
from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from hookline.dialects.dialect import Disabled, Followed
from hookline.matching.nearest import nearest
from hookline.model.diagnostics import Diagnostic
from hookline.model.hook import FollowedCalls, Hook, shown_name


def switched_off(hooks: Sequence[Hook], disabled: Sequence[Disabled]) -> tuple[Hook, ...]:
    """Return all hooks, with the named ones switched off. Managed hooks stay on."""
    by_name = {shown_name(one.name): one.where for one in reversed(disabled)}
    return tuple(
        replace(hook, mode="off", disabled_by=by_name[hook.name])
        if hook.name in by_name and hook.scope != "managed"
        else hook
        for hook in hooks
    )


def disable_problems(hooks: Sequence[Hook], disabled: Sequence[Disabled]) -> Iterator[Diagnostic]:
    """Report names that switch nothing off. `hooks` must be all of them."""
    managed = {hook.name for hook in hooks if hook.scope == "managed"}
    others = {hook.name for hook in hooks if hook.scope != "managed"}
    for one in disabled:
        name = shown_name(one.name)
        if name in others:
            continue
        if name in managed:
            message = f"the hook {one.name!r} is managed and stays on"
            yield Diagnostic("warning", "managed-hook", message, one.where, fix="remove it from disable")
        elif (close := nearest(one.name, others)) is not None:
            message = f"disable names {one.name!r}, and no hook has that name"
            yield Diagnostic("warning", "unknown-hook", message, one.where, fix=f"did you mean {close}?")
        else:
            message = (
                f"disable names {one.name!r}, and no hook here has that name; another project may have it"
            )
            yield Diagnostic("info", "unknown-hook", message, one.where)


def following(
    hooks: Sequence[Hook], followed: Sequence[Followed], own: str, actions: FollowedCalls = "all"
) -> tuple[Hook, ...]:
    """Return all hooks; those that the setting names, of formats other than `own`, follow actions."""
    return tuple(
        replace(hook, actions=actions) if hook.dialect != own and _is_named(hook, followed) else hook
        for hook in hooks
    )


def _is_named(hook: Hook, followed: Sequence[Followed]) -> bool:
    file = hook.where.file
    for one in followed:
        if one.name == "all" or shown_name(one.name) == hook.name:
            return True
        # A file is named from the project, or from the home directory.
        path = os.path.expanduser(one.name)
        if (
            file
            and "/" in path
            and (file == path or file.endswith(f"/{path.removeprefix('./').lstrip('/')}"))
        ):
            return True
    return False
