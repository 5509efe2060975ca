"""Read and extend the record of a call's session."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from hookline.hook.call.project import CallProject
from hookline.model.events import Capability
from hookline.model.outcome import PASS, Outcome, Vote
from hookline.model.policy import Policy
from hookline.model.wire import Parsed
from hookline.trust.sessions import HookGuards, SeenSession, SessionStore, missing_guards

if TYPE_CHECKING:
    from hookline.hook.call.resources import CallResources
    from hookline.trust.trust import Trust

#: The event and sources of a start by the user: the user has seen earlier changes.
_START, _STARTS = "SessionStart", ("startup", "resume")
#: The most lines remembered as already shown.
_MOST_SHOWN = 50
#: Guards that a reason names one by one.
_MOST_NAMED = 3


class CallMemory:
    """The record of the session, as it was before this call and as it is after it."""

    def __init__(
        self, dialect: str, parsed: Parsed, files: Sequence[str] | None, resources: "CallResources"
    ) -> None:
        self._sessions = SessionStore(resources.env.get("HOME", ""))
        session = parsed.info.session_id.encode("utf-8", "backslashreplace").decode()
        record = SeenSession(dialect=dialect, session=session, files=tuple(files or ()))
        anew = parsed.event.name == _START and getattr(parsed.payload, "source", "") in _STARTS
        # An agent that does not name its session has none that could be remembered.
        self._before = resources.recall(self._sessions, record) if session and not anew else None
        self._record = self._before or record
        self._kept = self._before
        self._event = parsed.event
        self._missing: tuple[str, ...] = ()

    @property
    def began_in(self) -> str | None:
        return self._record.directory or None

    @property
    def problems(self) -> Sequence[str]:
        """Errors of reading and writing."""
        return self._sessions.problems

    def add(self, project: CallProject, guards: HookGuards, trust: "Trust") -> None:
        """Compare the present guards with those the session had, and remember new ones."""
        present, record = guards.present(trust), self._record
        directory = project.directory if project.in_project else ""
        if self._before is None or (not record.directory and project.directory == record.root):
            # Also if it began in a directory that has become a project meanwhile.
            record = replace(record, directory=directory, root=project.root)
        missing = missing_guards(record, present)
        event = self._event.name
        self._missing = tuple(dict.fromkeys(guard.label for guard in missing if guard.event == event))
        if record.directory == directory and not missing:
            # Guards of another directory that the agent changed to are not the session's, and a guard that
            # replaced another one waits for the user: undoing the change must not lose it.
            record = replace(record, guards={**record.guards, **present})
        self._record = record

    @property
    def weakened(self) -> bool:
        """True if a guard of this event that the session had is gone or was changed."""
        return bool(self._missing)

    def objection(self, policy: Policy) -> Outcome:
        """Return the reaction to guards that are gone: a question, or a block where the agent cannot ask."""
        if not self._missing:
            return PASS
        names = ", ".join(self._missing[:_MOST_NAMED])
        more = len(self._missing) - _MOST_NAMED
        reason = (
            f"a guard of this session is gone or was changed: {names}{f' and {more} more' if more > 0 else ''}; "
            f"if you want that, run `hookline trust` in {self._record.root}"
        )
        return Outcome(votes=(Vote("ask" if policy.may & Capability.PERMIT else "block", reason),))

    def new(self, lines: Iterable[str]) -> tuple[str, ...]:
        """Return the lines that were not shown in this session before, and mark them as shown."""
        shown = self._record.shown
        new = tuple(line for line in dict.fromkeys(lines) if line not in shown)
        if new:
            self._record = replace(self._record, shown=(*shown, *new)[-_MOST_SHOWN:])
        return new

    def keep(self) -> None:
        """Store what this call has added so far."""
        if not self._record.session or self._record == self._kept:
            return
        self._sessions.keep(self._record)
        if self._kept is None:
            self._sessions.sweep()
        self._kept = self._record
