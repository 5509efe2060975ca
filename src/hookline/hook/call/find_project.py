"""Find the project of a call: named by the agent, else where the session began, else the nearest.

The current directory alone never decides: an agent changes it freely, and its guards must not change with it.
"""

import os
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from hookline.config.home import projects_here
from hookline.dialects.registry import standard_dialects
from hookline.disk import DISK, Disk
from hookline.trust.project import is_inside, lookup_directory, project_root


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
