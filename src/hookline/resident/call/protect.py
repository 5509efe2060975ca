"""Self-protection inside another agent: a call that would edit what configures guards is put to the user."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from hookline.model.events import PERMISSION_REQUEST, PRE_TOOL_USE
from hookline.model.hook import Hook
from hookline.model.outcome import Outcome, Vote
from hookline.model.wire import Parsed

if TYPE_CHECKING:
    from hookline.config.protection.calls import CallReader
    from hookline.config.protection.places import Hit, Protected
    from hookline.dialects.dialect import Dialect
    from hookline.resident.call.place import Place


class Protection(Struct, frozen=True, eq=False):
    """What is protected at one place, as long as the hooks there are these and no link leads elsewhere."""

    hooks: Sequence[Hook]
    reader: "CallReader"
    #: A worktree may lie in an agent's folder; its files are the project's all the same.
    worktree: str


def protection_in(place: "Place", hooks: Sequence[Hook], env: Mapping[str, str]) -> Protection:
    from hookline.config.protection.calls import CallReader, worktree_of

    return Protection(hooks, CallReader(_protected(place, hooks, env)), worktree_of(place.cwd))


def protect(
    outcome: Outcome, parsed: Parsed, dialect: "Dialect", cwd: str, protection: Callable[[], Protection]
) -> Outcome:
    """The outcome with a question about an edit of a protected file. A hook's denial is stronger, its allow is not.

    An agent that cannot ask at this event denies it: its wire says so. Where the agent asks already, no hook may
    answer for the user.
    """
    if outcome.blocked or parsed.event not in (PRE_TOOL_USE, PERMISSION_REQUEST):
        return outcome
    hit = _edited(outcome, parsed, dialect, cwd, protection)
    if hit is None:
        return outcome
    if parsed.event is PERMISSION_REQUEST:
        return replace(outcome, votes=tuple(vote for vote in outcome.votes if vote.kind != "allow"))
    return outcome + Outcome(votes=(Vote("ask", str(hit), by="hookline hook"),))


def names_protected(texts: Sequence[object], place: "Place", env: Mapping[str, str]) -> bool:
    """Whether arguments that the agent cut off name a protected file: then they cannot be passed unseen."""
    protected = _protected(place, (), env)
    return any(isinstance(text, str) and protected.mentioned(text) for text in texts)


def _edited(
    outcome: Outcome, parsed: Parsed, dialect: "Dialect", cwd: str, protection: Callable[[], Protection]
) -> "Hit | None":
    tool: Any = getattr(parsed.payload, "tool_name", None)
    arguments: Any = getattr(parsed.payload, "tool_input", None)
    if outcome.updated_input is not None:
        arguments = outcome.updated_input
    if not isinstance(tool, str):
        return None
    found = protection()
    return found.reader.written_by_call(tool, arguments, cwd, found.worktree, dialect.own_tools)


def _protected(place: "Place", hooks: Sequence[Hook], env: Mapping[str, str]) -> "Protected":
    from hookline.config.protection.places import configuring_names, protected_in

    return protected_in((place.cwd, place.directory, place.root), env, hooks, configuring_names())
