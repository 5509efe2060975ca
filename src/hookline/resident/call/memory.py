"""What one call knows of its session, and adds to it."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from hookline.model.events import May
from hookline.model.hook import Hook
from hookline.model.outcome import GO_ON, Outcome, Vote
from hookline.model.policy import Policy
from hookline.model.wire import Parsed
from hookline.resident.call.place import Place
from hookline.trust.sessions import SessionRecord, Sessions, guards_of, missing_guards

if TYPE_CHECKING:
    from hookline.trust.trust import Trust

#: Where a start of the agent by its user shows: what changed before that, the user has seen.
_START, _STARTS = "SessionStart", ("startup", "resume")
#: Lines that are remembered as said.
_MOST_TOLD = 50
#: Guards that a reason names one by one.
_MOST_NAMED = 3


class CallMemory:
    """The record of the session, as it was before this call and as it is after it."""

    def __init__(self, dialect: str, parsed: Parsed, files: Sequence[str] | None, sessions: Sessions) -> None:
        self._sessions = sessions
        session = parsed.scene.session_id.encode("utf-8", "backslashreplace").decode()
        record = SessionRecord(dialect=dialect, session=session, files=tuple(files or ()))
        anew = parsed.event.name == _START and getattr(parsed.payload, "source", "") in _STARTS
        # An agent that does not say which session it is has none that could be remembered.
        self._before = self._sessions.recall(record) if session and not anew else None
        self._record = self._before or record
        self._kept = self._before
        self._event = parsed.event
        self._missing: tuple[str, ...] = ()

    @property
    def began_in(self) -> str | None:
        return self._record.directory or None

    @property
    def problems(self) -> Sequence[str]:
        """What could not be read or written."""
        return self._sessions.problems

    def add(self, place: Place, hooks: Sequence[Hook], trust: "Trust") -> None:
        """Compare the guards that are there with those the session had, and remember those that are new."""
        present, record = guards_of(hooks, trust), self._record
        directory = place.directory if place.in_project else ""
        if self._before is None or (not record.directory and place.directory == record.root):
            # Also where it began in a directory that has become a project meanwhile.
            record = replace(record, directory=directory, root=place.root)
        missing = missing_guards(record, present)
        event = self._event.name
        self._missing = tuple(dict.fromkeys(guard.label for guard in missing if guard.event == event))
        if record.directory == directory and not missing:
            # Guards of another directory that the agent went to are not the session's, and a guard that took the
            # place of another one waits for the user: who undoes the change must not miss it.
            record = replace(record, guards={**record.guards, **present})
        self._record = record

    @property
    def weakened(self) -> bool:
        """Whether a guard of this event that the session had is gone or was changed."""
        return bool(self._missing)

    def objection(self, policy: Policy) -> Outcome:
        """What is said about guards that are gone: a question, or a block where the agent cannot ask."""
        if not self._missing:
            return GO_ON
        names = ", ".join(self._missing[:_MOST_NAMED])
        more = len(self._missing) - _MOST_NAMED
        reason = (
            f"a guard of this session is gone or was changed: {names}{f' and {more} more' if more > 0 else ''}; "
            f"if you want that, run `hookline trust` in {self._record.root}"
        )
        return Outcome(votes=(Vote("ask" if policy.may & May.PERMIT else "block", reason),))

    def new(self, lines: Iterable[str]) -> tuple[str, ...]:
        """Those of the lines that were not said in this session before. They count as said from now on."""
        told = self._record.told
        new = tuple(line for line in dict.fromkeys(lines) if line not in told)
        if new:
            self._record = replace(self._record, told=(*told, *new)[-_MOST_TOLD:])
        return new

    def keep(self) -> None:
        """Write down what this call has added so far."""
        if not self._record.session or self._record == self._kept:
            return
        self._sessions.keep(self._record)
        if self._kept is None:
            self._sessions.sweep()
        self._kept = self._record
