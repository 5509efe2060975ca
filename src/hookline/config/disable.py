"""Switch hooks off by name, as the user's own file says, whichever format they are written in.

They stay with the mode `off` and the line that switches them off, so that every command can show it.
"""

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from hookline.dialects.dialect import Disabled
from hookline.matching.nearest import nearest
from hookline.model.diagnostics import Diagnostic
from hookline.model.hook import Hook, shown_name


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
