"""Protect Hookline inside another agent: the user is asked about a call that would edit the configuration of
guards."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from hookline.disk import DISK, Disk
from hookline.model.events import PERMISSION_REQUEST, PRE_TOOL_USE
from hookline.model.hook import Hook
from hookline.model.outcome import Outcome, Vote
from hookline.model.wire import Parsed

if TYPE_CHECKING:
    from hookline.config.protection.calls import CallReader
    from hookline.config.protection.protected_paths import Protected
    from hookline.dialects.dialect import Dialect
    from hookline.hook.call.find_project import CallProject


def protect(
    outcome: Outcome, parsed: Parsed, dialect: "Dialect", cwd: str, reader: "Callable[[], CallReader]"
) -> Outcome:
    """Add a question about an edit of a protected file to the outcome. A hook's denial is stronger, its allow
    is not.

    An agent that cannot ask at this event denies the call, through its wire. Where the agent asks already, no
    hook may answer for the user.
    """
    tool: Any = getattr(parsed.payload, "tool_name", None)
    if outcome.blocked or parsed.event not in (PRE_TOOL_USE, PERMISSION_REQUEST) or not isinstance(tool, str):
        return outcome
    updated: Any = outcome.updated_input
    arguments: Any = updated if updated is not None else getattr(parsed.payload, "tool_input", None)
    hit = reader().written_by_call(tool, arguments, cwd, dialect.own_tools)
    if hit is None:
        return outcome
    if parsed.event is PERMISSION_REQUEST:
        return replace(outcome, votes=tuple(vote for vote in outcome.votes if vote.kind != "allow"))
    return outcome + Outcome(votes=(Vote("ask", str(hit), by="hookline hook"),))


def names_protected(texts: Sequence[object], project: "CallProject", env: Mapping[str, str]) -> bool:
    """Return True if arguments that the agent cut off name a protected file: then they cannot be passed
    unseen."""
    protected = protected_for(project, (), env, DISK)
    return any(isinstance(text, str) and protected.mentioned(text) for text in texts)


def protected_for(
    project: "CallProject", hooks: Sequence[Hook], env: Mapping[str, str], disk: Disk
) -> "Protected":
    """List the protected paths of a project with these hooks."""
    from hookline.config.protection.calls import worktree_of
    from hookline.config.protection.protected_paths import configuring_names, protected_in

    directories = (project.cwd, project.directory, project.root)
    return protected_in(directories, env, hooks, configuring_names(), disk).within(
        worktree_of(project.cwd, disk)
    )
