"""Protect Hookline inside another agent: the user is asked about a call that would edit the configuration of
guards."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from hookline.disk import DISK, Disk
from hookline.model.events import PERMISSION_REQUEST, PRE_TOOL_USE
from hookline.model.hook import Hook
from hookline.model.outcome import Outcome, Vote
from hookline.model.wire import Parsed

if TYPE_CHECKING:
    from hookline.config.protection.calls import CallReader
    from hookline.config.protection.protected_paths import Protected, ProtectedWrite
    from hookline.dialects.dialect import Dialect
    from hookline.hook.call.find_project import CallProject


class ProjectProtection(Struct, frozen=True, eq=False):
    """The protected files of one project, as long as its hooks are these and links stay the same."""

    hooks: Sequence[Hook]
    reader: "CallReader"
    #: A worktree may lie in an agent's directory; its files are the project's all the same.
    worktree: str


def protection_in(
    project: "CallProject", hooks: Sequence[Hook], env: Mapping[str, str], disk: Disk
) -> ProjectProtection:
    from hookline.config.protection.calls import CallReader, worktree_of

    protected = _protected(project, hooks, env, disk)
    return ProjectProtection(hooks, CallReader(protected), worktree_of(project.cwd, disk))


def protect(
    outcome: Outcome,
    parsed: Parsed,
    dialect: "Dialect",
    cwd: str,
    protection: Callable[[], ProjectProtection],
) -> Outcome:
    """Add a question about an edit of a protected file to the outcome. A hook's denial is stronger, its allow
    is not.

    An agent that cannot ask at this event denies the call, through its wire. Where the agent asks already, no
    hook may answer for the user.
    """
    if outcome.blocked or parsed.event not in (PRE_TOOL_USE, PERMISSION_REQUEST):
        return outcome
    hit = _edited(outcome, parsed, dialect, cwd, protection)
    if hit is None:
        return outcome
    if parsed.event is PERMISSION_REQUEST:
        return replace(outcome, votes=tuple(vote for vote in outcome.votes if vote.kind != "allow"))
    return outcome + Outcome(votes=(Vote("ask", str(hit), by="hookline hook"),))


def names_protected(texts: Sequence[object], project: "CallProject", env: Mapping[str, str]) -> bool:
    """Return True if arguments that the agent cut off name a protected file: then they cannot be passed
    unseen."""
    protected = _protected(project, (), env, DISK)
    return any(isinstance(text, str) and protected.mentioned(text) for text in texts)


def _edited(
    outcome: Outcome,
    parsed: Parsed,
    dialect: "Dialect",
    cwd: str,
    protection: Callable[[], ProjectProtection],
) -> "ProtectedWrite | None":
    tool: Any = getattr(parsed.payload, "tool_name", None)
    arguments: Any = getattr(parsed.payload, "tool_input", None)
    if outcome.updated_input is not None:
        arguments = outcome.updated_input
    if not isinstance(tool, str):
        return None
    found = protection()
    return found.reader.written_by_call(tool, arguments, cwd, found.worktree, dialect.own_tools)


def _protected(
    project: "CallProject", hooks: Sequence[Hook], env: Mapping[str, str], disk: Disk
) -> "Protected":
    from hookline.config.protection.protected_paths import configuring_names, protected_in

    return protected_in((project.cwd, project.directory, project.root), env, hooks, configuring_names(), disk)
