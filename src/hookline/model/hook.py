"""One configured reaction: a flat immutable record. Its identity is the whole definition."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, Protocol

from msgspec import Struct
from msgspec.structs import force_setattr

from hookline.model.diagnostics import NOWHERE, Where
from hookline.model.events import EventSpec, May, event_label
from hookline.model.policy import Cause, Policy, Reaction
from hookline.model.run import Mode
from hookline.model.scene import Scene

if TYPE_CHECKING:
    from hookline.model.wire import Wire

Waiting = Literal["wait", "async", "rewake"]
#: What a match that is only in doubt counts as: a match, a question to the user in place of the hook, or none.
InDoubt = Literal["match", "ask", "pass"]
#: Whether what a hook prints or replies is its answer.
Output = Literal["answer", "ignore"]
#: Whether a hook may be run on what is long past: `none` says that it changes nothing, and that its answer depends on
#: what is asked and not on when or how often.
SideEffects = Literal["unknown", "none"]
#: `fleet`: run by whichever machine of the fleet comes first.
Durable = bool | Literal["fleet"]
#: `session`: a durable hook waits for the earlier ones of its session that say so, too.
Order = Literal["none", "session"]
Scope = Literal["managed", "user", "project", "local", "plugin", "flag", "session"]


class Matcher(Protocol):
    """Whether a hook concerns an event with that subject. Pure, so that the result can be remembered."""

    @property
    def text(self) -> str:
        """As it was configured."""
        ...

    def matches(self, subject: str) -> bool: ...


class Doubt(Struct, frozen=True):
    """What a rule is about may be there, or not: `text` says what could not be told. It counts as true."""

    text: str


#: No, yes, or in doubt. What only asks whether it is true takes doubt for yes, as a guard must.
Answer = bool | Doubt


class Condition(Protocol):
    """Whether a hook concerns this payload, beyond its subject."""

    @property
    def text(self) -> str: ...

    def holds(self, event: EventSpec[Any], payload: Any, scene: Scene) -> Answer: ...


#: Columns of a name that is made safe.
_LONGEST_NAME = 500


def shown_name(name: str) -> str:
    """A name on one line, without anything that hides or steers."""
    if name.isprintable():
        return name
    from hookline.model.safe_text import one_line  # noqa: PLC0415 only for names that are odd

    return one_line(name, _LONGEST_NAME)


#: In the environment of each command of a bundle: the folder with its files.
BUNDLE_VARIABLE = "HOOKLINE_BUNDLE"


class HookBundle(Struct, frozen=True, kw_only=True):
    """The signed bundle that a hook came with, as far as running it goes."""

    #: Its name and revision.
    label: str
    #: Where its files are, and their digests by their paths below that.
    folder: str = ""
    files: Mapping[str, str] = {}
    #: When it stops counting: in seconds since the epoch, and by the monotonic clock, which nobody can set back.
    expires: float = float("inf")
    closes: float = float("inf")
    #: Why it does not count now.
    problem: str = ""

    @property
    def name(self) -> str:
        return self.label.rpartition(" ")[0]

    def lapse(self, now: float, monotonic: float) -> str:
        """Why it does not count any more; empty if it does."""
        if self.problem or (now < self.expires and monotonic < self.closes):
            return self.problem
        from time import gmtime, strftime  # noqa: PLC0415 only for one that expired

        since = strftime("%Y-%m-%d %H:%M UTC", gmtime(self.expires))
        return (
            f"the bundle {self.label} expired on {since}, so its guards are closed: run `hookline fleet pull`, "
            "or have it published again"
        )


class Hook(Struct, frozen=True, kw_only=True, eq=False):
    """What runs, when, and how its answer is read."""

    name: str
    event: EventSpec[Any]
    policy: Policy
    wire: "Wire"
    #: The handler kind, and its own settings as that handler defines them.
    kind: str
    spec: Any = None
    matcher: Matcher | None = None
    condition: Condition | None = None
    in_doubt: InDoubt = "match"
    timeout: float = 600.0
    waiting: Waiting = "wait"
    #: If it is not waited for: once its event was accepted, it is run to its end, by another process if need be.
    durable: Durable = False
    order: Order = "none"
    once: bool = False
    mode: Mode = "enforce"
    #: The line of the user's own file that switched it off; None where its entry or nobody did.
    disabled_by: Where | None = None
    on_failure: Reaction | Mapping[Cause, Reaction] | None = None
    #: It changes its input, so it runs before the hooks that judge; or it makes its lane run in order.
    rewrites: bool = False
    required: bool = False
    #: `ignore`: only its exit code or status counts.
    output: Output = "answer"
    side_effects: SideEffects = "unknown"
    status_message: str | None = None
    dialect: str = "native"
    scope: Scope = "project"
    where: Where = NOWHERE
    #: It is told tool calls as the program makes them, not in the terms of its wire.
    as_called: bool = False
    #: Equal identities in one lane run once. None never equals another.
    identity: object = None
    #: Why it cannot run: an entry that could not be read, kept so that its guard is not lost.
    broken: str | None = None
    #: The signed bundle it came with, which may expire.
    bundle: HookBundle | None = None

    def __post_init__(self) -> None:
        # Names are in messages everywhere: one that has line breaks or steers a terminal would forge lines of them.
        if not self.name.isprintable():
            force_setattr(self, "name", shown_name(self.name) or "?")

    @property
    def event_label(self) -> str:
        """Its event as people are shown it."""
        return event_label(self.policy.event_name, self.event.name)

    @property
    def asks_in_doubt(self) -> bool:
        """Whether the user is asked in its place where it is in doubt that a call concerns it.

        A hook that is not waited for, or that can stop nothing, runs.
        """
        can_stop = self.event.may & self.policy.may & (May.PERMIT | May.BLOCK)
        return self.in_doubt == "ask" and self.waiting == "wait" and bool(can_stop)

    @property
    def in_background(self) -> bool:
        """Return True if nothing waits for it, by its own entry or by the policy of its event."""
        return self.waiting != "wait" or not self.policy.waits

    def reaction(self, cause: Cause) -> Reaction:
        """What a failure of this hook means: its own `on_failure` first, then its policy."""
        own = self.on_failure
        if own is not None:
            if isinstance(own, str):
                return own
            if cause in own:
                return own[cause]
        return self.policy.failures.get(cause, "warn")
