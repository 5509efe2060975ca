"""Find the project of a call, and read and prepare the hooks that answer there.

The project is the one that the agent names, else where the session began, else the nearest. The current directory
alone never decides: an agent changes it freely, and its guards must not change with it.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from hookline.config.engine import Engine, strictly
from hookline.config.home import projects_here
from hookline.config.load import Loaded, Loader
from hookline.dialects.dialect import upward
from hookline.dialects.registry import OWN_FORMAT, standard_dialects
from hookline.disk import DISK, Disk
from hookline.engine.lanes import HookStore
from hookline.model.hook import Hook, Scope
from hookline.trust.project import is_inside, lookup_directory, project_root
from hookline.trust.sessions import HookGuards
from hookline.trust.trust import Trust, TrustOptions

if TYPE_CHECKING:
    from hookline.dialects.entries import AskedHooks
    from hookline.shell import ShellReader


class CallProject(Struct, frozen=True):
    """The origin of a call, and the project whose hooks answer it."""

    #: The directory of hooks: the one that the payload names, if it exists.
    cwd: str
    #: The directory whose hooks apply.
    directory: str
    #: The root of the project; where there is none, the directory.
    root: str
    #: True if the directory is in a project. Elsewhere only hooks of the user and managed ones answer.
    in_project: bool = True
    #: Lines about contradictions.
    remarks: tuple[str, ...] = ()


def find_project(
    cwd: str, variables: Sequence[str], began_in: str | None, env: Mapping[str, str], disk: Disk
) -> CallProject | None:
    """Find the project of a call; None if the directory is gone and nothing else names the project."""
    here = disk.realpath(cwd) if disk.isdir(cwd) else None
    began = began_in if began_in and disk.isdir(began_in) else None
    shown = list(_named_directories(variables, env, disk))
    remarks = list(_differences(shown))
    project = shown[0][1] if shown else None
    if project is not None and began is not None and not _fits(project, here, began):
        remarks.append(
            f"{shown[0][0]} is {project}, but the session began in {began} and is not below {project} now: "
            f"hooks of {began} answer"
        )
        project = None
    elif project is not None and began is None and here is not None and not is_inside(here, project):
        remarks.append(
            f"{shown[0][0]} is {project}, and the session is in {here} now: hooks of {project} answer"
        )
    project = project or began
    if project is None and here is not None:
        markers = tuple(marker for listed in standard_dialects().values() for marker in listed.markers)
        project = lookup_directory(here, markers, env.get("HOME", ""), disk)
        if project is None:
            return CallProject(here, here, here, in_project=False, remarks=tuple(remarks))
    if project is None:
        return None
    return CallProject(here or project, project, project_root(project, disk), remarks=tuple(remarks))


def projects_of(variables: Sequence[str], env: Mapping[str, str], cwd: str | None = None) -> list[str]:
    """Return the projects that a call may be of: a home directory in one of them is the project's."""
    return [path for _, path in _named_directories(variables, env, DISK)] + projects_here(cwd)


def _differences(shown: Sequence[tuple[str, str]]) -> Iterator[str]:
    for name, path in shown[1:]:
        if path != shown[0][1]:
            yield f"{shown[0][0]} is {shown[0][1]}, but {name} is {path}: the first one is used"


def _named_directories(
    variables: Sequence[str], env: Mapping[str, str], disk: Disk
) -> Iterator[tuple[str, str]]:
    """Yield the variables of the agent that name a directory, each with its real path."""
    for name in variables:
        value = env.get(name, "")
        if os.path.isabs(value) and disk.isdir(value):
            yield name, disk.realpath(value)


def _fits(project: str, here: str | None, began: str) -> bool:
    """Return True if a variable fits the session. Settings of a project can set variables: an unrelated one
    is ignored."""
    return is_inside(began, project) or (here is not None and is_inside(here, project))


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
    source: str | None = None,
    *,
    strict: bool,
    hooks: "AskedHooks" = "all",
    disk: Disk,
) -> LoadedProject:
    """Read the hooks that answer and prepare them, for this engine and others of the same environment."""
    loaded = hooks_for(engine, cwd, caller, files, source, strict=strict, hooks=hooks, disk=disk)
    store = HookStore(dict.fromkeys(engine.handlers), engine.events)
    store.swap(strictly(engine, loaded.hooks) if strict else loaded.hooks)
    return LoadedProject(loaded, None if files is not None else engine.trust, store, HookGuards(loaded.hooks))


def hooks_for(
    engine: Engine,
    cwd: str,
    caller: str,
    files: Sequence[str] | None,
    source: str | None = None,
    *,
    strict: bool = False,
    hooks: "AskedHooks" = "all",
    disk: Disk,
) -> Loaded:
    """Load the hooks that answer: native ones and, if all are wanted, those of other agents, without those
    that the calling agent runs itself and those that would call Hookline again.

    With `files` these alone answer; `source` is their dialect, if their paths do not show it."""
    loader = engine.loader.through(disk)
    if files is not None:
        loaded = loader.files(files, source)
        own: set[str] = set()
    else:
        trust = Trust(
            cwd, disk.environment(engine.env), TrustOptions(environment=False, asks=True, strict=strict), disk
        )
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
