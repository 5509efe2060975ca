"""Read the hooks that answer calls of an agent in a directory, and prepare them to run."""

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from hookline.config.engine import Engine, strictly
from hookline.config.load import Loaded, Loader
from hookline.dialects.dialect import upward
from hookline.dialects.registry import OWN_FORMAT
from hookline.disk import Disk
from hookline.engine.lanes import HookStore
from hookline.model.hook import Hook, Scope
from hookline.trust.project import is_inside, project_root
from hookline.trust.sessions import HookGuards
from hookline.trust.trust import Trust, TrustOptions

if TYPE_CHECKING:
    from hookline.dialects.entries import AskedHooks
    from hookline.shell import ShellReader


class LoadedProject(Struct, frozen=True, eq=False):
    """The hooks for a directory. Calls may share it: nothing in it belongs to one call."""

    loaded: Loaded
    #: None if the hooks are those of files that the entry names.
    trust: Trust | None
    #: The same hooks, prepared to run.
    store: HookStore
    #: The guards among them.
    guards: HookGuards


def load_project(
    engine: Engine,
    cwd: str,
    caller: str,
    files: Sequence[str] | None,
    *,
    strict: bool,
    hooks: "AskedHooks" = "all",
    disk: Disk,
) -> LoadedProject:
    """Read the hooks that answer and prepare them, for this engine and others of the same environment."""
    loaded = hooks_for(engine, cwd, caller, files, strict=strict, hooks=hooks, disk=disk)
    store = HookStore(dict.fromkeys(engine.handlers), engine.events)
    store.swap(strictly(engine, loaded.hooks) if strict else loaded.hooks)
    return LoadedProject(loaded, None if files is not None else engine.trust, store, HookGuards(loaded.hooks))


def hooks_for(
    engine: Engine,
    cwd: str,
    caller: str,
    files: Sequence[str] | None,
    *,
    strict: bool = False,
    hooks: "AskedHooks" = "all",
    disk: Disk,
) -> Loaded:
    """Load the hooks that answer: native ones and, if all are wanted, those of other agents, without those
    that the calling agent runs itself and those that would call Hookline again."""
    loader = engine.loader.through(disk)
    if files is not None:
        loaded = loader.files(files)
        own: set[str] = set()
    else:
        trust = Trust(cwd, engine.env, TrustOptions(environment=False, asks=True, strict=strict), disk)
        engine.use_trust(trust)
        others = [name for name in loader.names if name not in (OWN_FORMAT, caller)]
        names = {"own": [OWN_FORMAT], "others": others}.get(hooks)
        loaded = loader.directory(cwd, names, without=caller, trust=trust)
        own = _files_of_caller(loader, trust, cwd, caller, loaded)
    # Its own hooks the agent does not ask about files that a shell line touches.
    followed = tuple(hook for hook in loaded.hooks if hook.actions == "others")
    rest = (hook for hook in loaded.hooks if hook.actions != "others" and hook.where.file not in own)
    found, followed = (_without_own_calls(hooks) for hooks in (tuple(rest), followed))
    if files is None and any(hook.dialect != OWN_FORMAT for hook in found):
        from hookline.hook.call.same_hooks import each_once

        run_by_caller = loader.directory(cwd, [caller]).hooks if caller != OWN_FORMAT else ()
        found = each_once(found, run_by_caller, loader.dialect, engine.trust)
    found = (*found, *followed)
    return replace(loaded, hooks=found)


def _without_own_calls(hooks: tuple[Hook, ...]) -> tuple[Hook, ...]:
    if all(hook.kind != "command" for hook in hooks):
        return hooks
    from hookline.config.install.self_calls import calls_hookline_hook

    shell: list[ShellReader] = []
    return tuple(hook for hook in hooks if not calls_hookline_hook(hook, shell))


def _files_of_caller(loader: Loader, trust: Trust, cwd: str, caller: str, loaded: Loaded) -> set[str]:
    """Return files of other dialects that the calling agent reads as well, and so runs itself."""
    others: dict[str, Scope] = {
        found.file: found.scope for found in loaded.found if found.dialect != OWN_FORMAT
    }
    if caller == OWN_FORMAT or not others:
        return set()
    disk, reads = loader.disk, dict[str, bool]()
    named, root = upward(os.path.abspath(cwd), disk)[-1], project_root(cwd, disk)
    for place in loader.config_files(cwd, [caller]):
        real = disk.realpath(place)
        # A link in the project may lead to a file of the user: the hooks there stay active.
        by_link = is_inside(os.path.abspath(place), named) and not is_inside(real, root)
        reads[real] = reads.get(real, False) or not by_link
    return {
        file
        for file, scope in others.items()
        if (real := disk.realpath(file)) in reads and (reads[real] or trust.is_foreign(file, scope))
    }
