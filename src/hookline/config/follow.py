"""Let hooks in other agents' formats follow actions, as a native file says: `actions = "all"`.

Their own agents ask them about the tools that they name. With this setting they are also asked about calls of
other tools, such as a shell, that touch a file they are about.
"""

import os
from collections.abc import Sequence

from msgspec.structs import replace

from hookline.dialects.dialect import Followed
from hookline.model.hook import FollowedCalls, Hook, shown_name


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
