"""Which project a call belongs to: what the calling agent says, else where the session began, else what is nearest.

Never the directory of the moment alone: an agent goes where it likes, and its guards must not change with that.
"""

import os
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from hookline.config.home import projects_here
from hookline.dialects.registry import standard_dialects
from hookline.trust.project import is_inside, lookup_directory, project_root


class Place(Struct, frozen=True):
    """Where a call comes from, and whose hooks answer it."""

    #: Where hooks run: the directory that the payload names, if it exists.
    cwd: str
    #: Where hooks are looked up.
    directory: str
    #: The root of the project; where there is none, the directory.
    root: str
    #: Whether the directory is in a project. Elsewhere only hooks of the user and managed ones answer.
    in_project: bool = True
    #: Lines about what does not fit together.
    remarks: tuple[str, ...] = ()


def find_place(
    cwd: str, variables: Sequence[str], began_in: str | None, env: Mapping[str, str]
) -> Place | None:
    """Where a call belongs; None if the directory is gone and nothing else tells the project."""
    here = os.path.realpath(cwd) if os.path.isdir(cwd) else None
    began = began_in if began_in and os.path.isdir(began_in) else None
    told = list(_told(variables, env))
    remarks = list(_differences(told))
    project = told[0][1] if told else None
    if project is not None and began is not None and not _fits(project, here, began):
        remarks.append(
            f"{told[0][0]} is {project}, but the session began in {began} and is not below {project} now: "
            f"hooks of {began} answer"
        )
        project = None
    elif project is not None and began is None and here is not None and not is_inside(here, project):
        remarks.append(
            f"{told[0][0]} is {project}, and the session is in {here} now: hooks of {project} answer"
        )
    project = project or began
    if project is None and here is not None:
        project = lookup_directory(here, _markers(), env.get("HOME", ""))
        if project is None:
            return Place(here, here, here, in_project=False, remarks=tuple(remarks))
    if project is None:
        return None
    return Place(here or project, project, project_root(project), remarks=tuple(remarks))


def projects_of(variables: Sequence[str], env: Mapping[str, str], cwd: str | None = None) -> list[str]:
    """Return the projects that a call may be of: a home directory in one of them is the project's."""
    return [path for _, path in _told(variables, env)] + projects_here(cwd)


def _differences(told: Sequence[tuple[str, str]]) -> Iterator[str]:
    for name, path in told[1:]:
        if path != told[0][1]:
            yield f"{told[0][0]} is {told[0][1]}, but {name} is {path}: the first one counts"


def _told(variables: Sequence[str], env: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """The variables of the agent that name a directory, each with its real path."""
    for name in variables:
        value = env.get(name, "")
        if os.path.isabs(value) and os.path.isdir(value):
            yield name, os.path.realpath(value)


def _fits(project: str, here: str | None, began: str) -> bool:
    """Settings of a project can set variables: one that has nothing to do with the session says nothing."""
    return is_inside(began, project) or (here is not None and is_inside(here, project))


def _markers() -> tuple[str, ...]:
    return tuple(marker for listed in standard_dialects().values() for marker in listed.markers)
