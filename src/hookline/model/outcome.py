"""Define outcomes: what the hooks of an event said, and what follows from it.

An outcome holds *what was said*, as tuples in config order, so merging is concatenation: associative, and
nothing is lost. The *result* (blocked, reason, permission, updated input) is derived on demand.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeVar, cast

from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import replace

from hookline.model.events import Capability, EventSpec, field_of
from hookline.model.policy import Lifetime, Placement
from hookline.model.read_only import as_json

P = TypeVar("P")

VoteKind = Literal["block", "defer", "ask", "allow"]
Permission = Literal["deny", "defer", "ask", "allow"]

_STRENGTH: Mapping[str, int] = {"block": 4, "defer": 3, "ask": 2, "allow": 1}


class Vote(Struct, frozen=True):
    """One hook's vote: may the action proceed?"""

    kind: VoteKind
    reason: str = ""
    #: Breaks ties between votes of one kind; the higher one gives the reason.
    rank: int = 0
    by: str = ""
    #: The effect of a block at this event in the hook's format.
    means: str = ""


class Rewrite(Struct, frozen=True):
    """A rewrite: a whole value, or (patch) keys to merge into the current value."""

    value: Any
    patch: bool = False
    field: str = ""
    by: str = ""
    #: The whole value after this edit; filled in by the engine, which knows the value before it.
    whole: Any = UNSET


class ContextItem(Struct, frozen=True):
    """Text for the model, where it goes and how long it stays.

    ::

        for item in done.context:
            messages.append({"role": "user", "content": item.text})
    """

    text: str
    #: `system`, `conversation`, `user`, `tool_result` or `transient`; empty: as its event does it.
    placement: Placement | Literal[""] = ""
    #: `session`, `turn` or `call`: the next request only; empty: as its event does it.
    lifetime: Lifetime | Literal[""] = ""
    #: The hook that it comes from.
    hook: str = ""


class Message(Struct, frozen=True):
    """Text for the user."""

    text: str
    hook: str = ""
    #: To be shown as a warning, not as a notice.
    warns: bool = False


class Halt(Struct, frozen=True):
    """A hook asks that the whole run stops."""

    reason: str = ""
    by: str = ""


class PermissionUpdate(Struct, frozen=True, omit_defaults=True):
    """A change of permission rules that a hook asks for."""

    type: str
    mode: str | None = None
    rules: tuple[Mapping[str, Any], ...] = ()
    behavior: str | None = None
    directories: tuple[str, ...] = ()
    destination: str | None = None
    by: str = ""


class Answer(Struct, frozen=True):
    """A value a hook supplies at an event that takes one."""

    value: Any
    by: str = ""


class Outcome(Struct, frozen=True, omit_defaults=True):
    """The answers of an event's hooks. The empty outcome lets the action proceed.

    The tuples hold every answer, in config order; the properties give the result. Outcomes add up, so a hook
    can say two things at once::

        return ask("is it time for a release?") + context("the last one was an hour ago")
    """

    #: Each hook's deny, ask or allow.
    votes: tuple[Vote, ...] = ()
    #: Rewrites of what the event is about.
    edits: tuple[Rewrite, ...] = ()
    #: Text for the model, with its placement and how long it stays.
    context_items: tuple[ContextItem, ...] = ()
    #: Text for the user.
    messages: tuple[Message, ...] = ()
    #: Requests to stop the whole run.
    halts: tuple[Halt, ...] = ()
    #: Changes of permission rules.
    permission_updates: tuple[PermissionUpdate, ...] = ()
    #: Files that hooks want to watch.
    watch_paths: tuple[str, ...] = ()
    #: First messages in the user's name.
    seeds: tuple[str, ...] = ()
    #: Environment variables for a shell command.
    env_items: tuple[tuple[str, str], ...] = ()
    #: Values that hooks supply, at events that take one.
    answers: tuple[Answer, ...] = ()
    #: The model may try a denied call again.
    retry: bool = False
    #: Hooks blocked more often in a row than is obeyed.
    limit_reached: bool = False

    def __add__(self, other: "Outcome") -> "Outcome":
        if other is PASS:
            return self
        if self is PASS:
            return other
        return Outcome(
            self.votes + other.votes,
            self.edits + other.edits,
            self.context_items + other.context_items,
            self.messages + other.messages,
            self.halts + other.halts,
            self.permission_updates + other.permission_updates,
            self.watch_paths + other.watch_paths,
            self.seeds + other.seeds,
            self.env_items + other.env_items,
            self.answers + other.answers,
            self.retry or other.retry,
            self.limit_reached or other.limit_reached,
        )

    @property
    def blocked(self) -> bool:
        """True if a hook denied the action. An unanswered ask, and a stop, must not let it run either."""
        for vote in self.votes:  # noqa: SIM110 on the path of every event, and any() costs three times as much
            if vote.kind == "block":
                return True
        return False

    @property
    def deciding_vote(self) -> Vote | None:
        """The strongest vote; among equals the higher rank, then the first in config order."""
        if len(self.votes) == 1:
            return self.votes[0]
        return max(self.votes, key=lambda vote: (_STRENGTH[vote.kind], vote.rank), default=None)

    @property
    def reason(self) -> str | None:
        """The reason of the denial or ask."""
        vote = self.deciding_vote
        return vote.reason if vote is not None and vote.kind != "allow" else None

    @property
    def permission(self) -> Permission | None:
        """The strongest vote as a permission: deny, defer, ask or allow; None if no hook voted."""
        vote = self.deciding_vote
        if vote is None:
            return None
        return "deny" if vote.kind == "block" else vote.kind

    @property
    def stop(self) -> bool:
        """True if a hook stops the whole run."""
        return bool(self.halts)

    @property
    def stop_reason(self) -> str | None:
        """The reason to stop the run, if a hook gave one."""
        return next((halt.reason for halt in self.halts if halt.reason), None)

    @property
    def context(self) -> tuple[str, ...]:
        """The texts for the model."""
        return tuple(item.text for item in self.context_items)

    @property
    def initial_user_message(self) -> str | None:
        """The first message in the user's name, of the last hook that gave one."""
        return self.seeds[-1] if self.seeds else None

    @property
    def env(self) -> dict[str, str]:
        """Environment variables for a shell command."""
        return dict(self.env_items)

    @property
    def answer(self) -> Any:
        """The first answer in config order."""
        return self.answers[0].value if self.answers else None

    @property
    def updated_input(self) -> Any:
        """The rewritten arguments of a tool call, or None; they may be empty."""
        return self.updated("tool_input")

    @property
    def updated_prompt(self) -> Any:
        """The rewritten prompt, or None."""
        return self.updated("prompt")

    @property
    def updated_output(self) -> Any:
        """The rewritten tool result, or the rewritten model answer."""
        found = self.updated("tool_response")
        return found if found is not None else self.updated("response")

    @property
    def updated_messages(self) -> Any:
        """The rewritten messages of a request, or None."""
        return self.updated("messages")

    def updated(self, field: str) -> Any:
        """Return the value of a rewritten payload field after the last edit, or None when nothing changed it."""
        for edit in reversed(self.edits):
            if edit.field == field:
                return edit.value if isinstance(edit.whole, UnsetType) else edit.whole
        return None

    def effective(self, payload: P) -> P:
        """Return the payload after the hooks: with their rewrites, or the same object if there are none.

        ::

            outcome = await session.dispatch(PRE_TOOL_USE, call)
            arguments = outcome.effective(call).tool_input
        """
        for edit in self.edits:
            if edit.field:
                value = edited(field_of(payload, edit.field), edit) if edit.whole is UNSET else edit.whole
                payload = _replaced(payload, edit.field, value)
        return payload

    def clipped(self, may: Capability) -> tuple["Outcome", tuple[str, ...]]:
        """Return this outcome without disallowed parts, and the names of the dropped parts."""
        allowed = may.value
        dropped: list[str] = []
        changes: dict[str, Any] = {}
        if not has_only_votes(self):
            for name, needed, label in _NEEDS:
                if getattr(self, name) and not needed & allowed:
                    dropped.append(label)
                    changes[name] = False if name == "retry" else ()
        lost = {vote.kind for vote in self.votes if not _VOTE_NEEDS[vote.kind] & allowed}
        if lost:
            dropped.extend(sorted(lost))
            changes["votes"] = tuple(vote for vote in self.votes if vote.kind not in lost)
        return (replace(self, **changes) if changes else self), tuple(dropped)


#: The empty outcome. Compared by identity on the fast path, by value everywhere else.
PASS = Outcome()

#: The capability that each part of an outcome needs, and its name when dropped. Bare bits, because the
#: arithmetic of enum.Flag costs a microsecond a time.
_NEEDS: tuple[tuple[str, int, str], ...] = (
    ("edits", Capability.REWRITE.value, "rewrite"),
    ("context_items", Capability.CONTEXT.value, "context"),
    ("halts", Capability.STOP.value, "stop"),
    ("permission_updates", Capability.RULES.value, "permission_updates"),
    ("watch_paths", Capability.WATCH.value, "watch_paths"),
    ("seeds", Capability.SEED.value, "initial_user_message"),
    ("env_items", Capability.ENV.value, "env"),
    ("answers", Capability.ANSWER.value, "answer"),
    ("retry", Capability.RETRY.value, "retry"),
)
_VOTE_NEEDS: Mapping[str, int] = {
    "block": Capability.BLOCK.value,
    "defer": Capability.PERMIT.value,
    "ask": Capability.PERMIT.value,
    "allow": Capability.PERMIT.value,
}


def has_only_votes(outcome: Outcome) -> bool:
    """Return True if there are only votes: the most common answer of a guard, and the fast path through the
    engine."""
    return not (
        outcome.messages or outcome.edits or outcome.context_items or outcome.halts or outcome.permission_updates
        or outcome.watch_paths or outcome.seeds or outcome.env_items or outcome.answers or outcome.retry
    )  # fmt: skip


def only_vote(outcome: Outcome, allowed: int) -> Vote | None:
    """Return the vote of an outcome that is one vote and nothing else, if these bits of `Capability` allow it."""
    votes = outcome.votes
    if len(votes) != 1 or not has_only_votes(outcome):
        return None
    return votes[0] if _VOTE_NEEDS[votes[0].kind] & allowed else None


def merged(outcomes: Sequence[Outcome]) -> Outcome:
    """Merge outcomes in the given order."""
    total = PASS
    for outcome in outcomes:
        total += outcome
    return total


def edited(value: Any, edit: Rewrite) -> Any:
    """Return the value after one edit. A patch over something that has no keys replaces it."""
    laid_over: Any = edit.value
    if edit.patch and not isinstance(value, Mapping | str | list | None):
        value = as_json(value)  # a record of the host has the keys that JSON would give it
    if edit.patch and isinstance(value, Mapping) and isinstance(laid_over, Mapping):
        return {**cast("Mapping[str, Any]", value), **cast("Mapping[str, Any]", laid_over)}
    return laid_over


def patch_problem(edit: Rewrite, payload: Any, field: str) -> str | None:
    """Return the error in `rewrite(key=value)`: the field has no keys, or is itself taken for one of them."""
    if not edit.patch:
        return None
    before, call = field_of(payload, field), f"rewrite({next(iter(edit.value), '')}=…)"
    if isinstance(before, str | list | tuple | int | float):
        what = (
            "a text"
            if isinstance(before, str)
            else "a list"
            if isinstance(before, list | tuple)
            else "a number"
        )
        return f"{call} changes keys, and {field} is {what}: return rewrite(value), with the whole value"
    if [*edit.value] == [field] and isinstance(before, Mapping) and field not in before:
        return f"{call} would add a key {field!r} to {field}: return rewrite(value), or rewrite(key=value)"
    return None


def deny(reason: str) -> Outcome:
    """Stop the action. The model, or the user, gets the reason.

    ::

        return deny("force pushes rewrite history")
    """
    return Outcome((Vote("block", reason),))


def ask(reason: str = "") -> Outcome:
    """Let the user decide; without a user this is a denial.

    ::

        return ask("it deletes 40 files")
    """
    return Outcome(votes=(Vote("ask", reason),))


def allow(reason: str = "") -> Outcome:
    """Let the action proceed without asking the user; never beats another hook's deny or ask.

    ::

        return allow("a read-only command")
    """
    return Outcome(votes=(Vote("allow", reason),))


def context(text: str, *, transient: bool = False) -> Outcome:
    """Add text for the model; with `transient` it is in the next request only, and not in the conversation.

    ::

        return context("the tests of this directory take an hour")
        return context("it is half past nine", transient=True)
    """
    return Outcome(
        context_items=(ContextItem(text, "transient", "call") if transient else ContextItem(text),)
    )


def halt(reason: str = "") -> Outcome:
    """Stop the whole run of the agent, not only this action.

    ::

        return halt("the budget of today is used up")
    """
    return Outcome(halts=(Halt(reason),))


def rewrite(value: Any = None, /, **changes: Any) -> Outcome:
    """Replace what the event is about: a whole value, or some keys of it as keyword arguments.

    ::

        return rewrite(timeout=60)  # this argument of the call; the others stay
        return rewrite({"command": "git push --dry-run"})  # all arguments
        return rewrite("***")  # a prompt, an answer or a result
    """
    if value is None:
        return Outcome(edits=(Rewrite(changes, patch=True),))
    if changes:
        raise TypeError("rewrite() takes a whole value or keyword arguments, not both")
    return Outcome(edits=(Rewrite(value),))


class OutcomeBuilder(Struct, kw_only=True):
    """An answer while it is being read: the parts of an outcome, field by field, and the names of ignored
    parts."""

    votes: list[Vote] = []
    edits: list[Rewrite] = []
    context: list[ContextItem] = []
    messages: list[Message] = []
    halts: list[Halt] = []
    updates: list[PermissionUpdate] = []
    watch: list[str] = []
    seeds: list[str] = []
    env: list[tuple[str, str]] = []
    answers: list[Answer] = []
    retry: bool = False
    ignored: list[str] = []

    def outcome(self) -> Outcome:
        return Outcome(
            votes=tuple(self.votes),
            edits=tuple(self.edits),
            context_items=tuple(self.context),
            messages=tuple(self.messages),
            halts=tuple(self.halts),
            permission_updates=tuple(self.updates),
            watch_paths=tuple(self.watch),
            seeds=tuple(self.seeds),
            env_items=tuple(self.env),
            answers=tuple(self.answers),
            retry=self.retry,
        )


def unsaid(outcome: Outcome, *said: str) -> list[str]:
    """Return the names of the parts that an outcome has, without those in `said`."""
    parts = [("votes", "decision"), *((name, label) for name, _needed, label in _NEEDS)]
    parts.insert(3, ("messages", "messages"))
    return [label for name, label in parts if label not in said and getattr(outcome, name)]


def with_edits(event: EventSpec[Any], payload: Any, outcome: Outcome) -> Any:
    """Return the payload with the event's field as the edits left it; the same object when there are none."""
    field = event.rewrites
    if not field or not outcome.edits:
        return payload
    value = before = field_of(payload, field)
    for edit in outcome.edits:
        if edit.field in ("", field):
            value = edited(value, edit) if edit.whole is UNSET else edit.whole
    return payload if value is before else _replaced(payload, field, value)


def _replaced(payload: Any, field: str, value: Any) -> Any:
    if isinstance(payload, Mapping):
        return {**cast("Mapping[str, Any]", payload), field: value}
    if isinstance(payload, Struct):
        return replace(payload, **{field: value})
    import dataclasses  # noqa: PLC0415 - only hosts with rows of their own have such payloads

    return dataclasses.replace(payload, **{field: value})
