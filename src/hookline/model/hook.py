"""Define the record of one configured hook. It is flat and immutable; its identity is the whole definition."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, Protocol

from msgspec import Struct
from msgspec.structs import force_setattr

from hookline.model.diagnostics import NOWHERE, Where
from hookline.model.events import Capability, EventSpec, event_label
from hookline.model.policy import Cause, Policy, Reaction
from hookline.model.run import Mode
from hookline.model.session_info import SessionInfo

if TYPE_CHECKING:
    from hookline.model.wire import Wire

Waiting = Literal["wait", "async", "rewake"]
#: The reaction to a match in doubt: a match, a question to the user instead of the hook, or no match.
InDoubt = Literal["match", "ask", "pass"]
#: The calls that a hook about files is asked about: those of tools that its matcher or `if` names, or `all` that touch
#: such a file, also by a line of a shell; or `others`, where its own agent asks it about those that it names.
FollowedCalls = Literal["named", "all", "others"]
#: `ignore` drops what a hook prints or replies; only its exit code or status is used.
Output = Literal["answer", "ignore"]
#: `none`: the hook changes nothing, and its answer depends on its input only, so it may run on past calls.
SideEffects = Literal["unknown", "none"]
#: `fleet`: run by whichever machine of the fleet comes first.
Durable = bool | Literal["fleet"]
#: `session`: a durable hook waits for the earlier ones of its session that say so, too.
Order = Literal["none", "session"]
Scope = Literal["managed", "user", "project", "local", "plugin", "flag", "session"]


class Matcher(Protocol):
    """A test of an event's subject. Pure, so that the result can be remembered."""

    @property
    def text(self) -> str:
        """The matcher as it was configured."""
        ...

    def matches(self, subject: str) -> bool: ...


class Doubt(Struct, frozen=True):
    """An uncertain match; `text` says what could not be determined. It counts as true."""

    text: str


#: No, yes, or in doubt. A plain truth test takes doubt for yes, as a guard must.
Answer = bool | Doubt


class Condition(Protocol):
    """A test of the payload, beyond its subject."""

    @property
    def text(self) -> str: ...

    def holds(self, event: EventSpec[Any], payload: Any, info: SessionInfo) -> Answer: ...


#: Columns of a name that is made safe.
_LONGEST_NAME = 500


def shown_name(name: str) -> str:
    """Return a name on one line, without invisible or control characters."""
    if name.isprintable():
        return name
    from hookline.model.safe_text import one_line  # noqa: PLC0415 only for names that are odd

    return one_line(name, _LONGEST_NAME)


#: In the environment of each command of a bundle: the directory with its files.
BUNDLE_VARIABLE = "HOOKLINE_BUNDLE"


class HookBundle(Struct, frozen=True, kw_only=True):
    """The signed bundle of a hook: the facts needed to run it."""

    #: Its name and revision.
    label: str
    #: The directory with its files; `files` maps their paths below it to digests.
    directory: str = ""
    files: Mapping[str, str] = {}
    #: The end of its validity: in seconds since the epoch, and by the monotonic clock, which users cannot set
    #: back.
    expires: float = float("inf")
    closes: float = float("inf")
    #: The reason why it is not valid now, or empty.
    problem: str = ""

    @property
    def name(self) -> str:
        return self.label.rpartition(" ")[0]

    def lapse(self, now: float, monotonic: float) -> str:
        """Return why it is not valid any more; empty if it is."""
        if self.problem or (now < self.expires and monotonic < self.closes):
            return self.problem
        from time import gmtime, strftime  # noqa: PLC0415 only for one that expired

        since = strftime("%Y-%m-%d %H:%M UTC", gmtime(self.expires))
        return (
            f"the bundle {self.label} expired on {since}, so its guards are closed: run `hookline fleet pull`, "
            "or have it published again"
        )


def withholds(hook: "Hook") -> bool:
    """Return True if a hook that fails closed replaces its value: a block here would only stand beside it.

    That is so for results of tools and answers of the model, which exist already; hooks of other agents do there what
    their agent does.
    """
    policy, may = hook.policy, hook.event.may & hook.policy.may
    beside = not may & Capability.BLOCK or policy.block_means == "beside_output"
    return policy.run == "rewriters_first" and beside and bool(may & Capability.REWRITE)


class Hook(Struct, frozen=True, kw_only=True, eq=False):
    """One configured hook: its code, its event, and how its answer is read."""

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
    actions: FollowedCalls = "named"
    timeout: float = 600.0
    waiting: Waiting = "wait"
    #: For a background hook: once its event was accepted, it runs to its end, by another process if need be.
    durable: Durable = False
    order: Order = "none"
    once: bool = False
    mode: Mode = "enforce"
    #: The line of the user's file that switched it off; None if its entry did, or nothing.
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
    #: It gets tool calls as the program makes them, not translated for its wire.
    as_called: bool = False
    #: Equal identities in one lane run once. None never equals another.
    identity: object = None
    #: The reason why it cannot run: an entry that could not be read, kept so that its guard is not lost.
    broken: str | None = None
    #: It is an entry of Hookline in an agent's file: shown, and never run by Hookline, which it would call again.
    calls_hookline: bool = False
    #: The signed bundle it came with, which may expire.
    bundle: HookBundle | None = None

    def __post_init__(self) -> None:
        # Names appear in messages everywhere: line breaks or terminal controls in one could forge lines.
        if not self.name.isprintable():
            force_setattr(self, "name", shown_name(self.name) or "?")
        if self.on_failure is not None and withholds(self):
            # Its replacement of the value must be there before other hooks see it.
            force_setattr(self, "rewrites", self.rewrites or self.closes())

    @property
    def event_label(self) -> str:
        """Its event's name as users see it."""
        return event_label(self.policy.event_name, self.event.name)

    @property
    def asks_in_doubt(self) -> bool:
        """True if the user is asked instead of the hook when the match is uncertain.

        A background hook, or one that can stop nothing, runs.
        """
        can_stop = self.event.may & self.policy.may & (Capability.PERMIT | Capability.BLOCK)
        return self.in_doubt == "ask" and self.waiting == "wait" and bool(can_stop)

    @property
    def in_background(self) -> bool:
        """True if the agent does not wait for it, by its own entry or by the policy of its event."""
        return self.waiting != "wait" or not self.policy.waits

    def closes(self, *words: Reaction) -> bool:
        """Return True if its own `on_failure` stops the action, for any cause; or has one of these words."""
        own = self.on_failure
        reactions = () if own is None else (own,) if isinstance(own, str) else own.values()
        return any(word in reactions for word in words or ("block", "ask"))

    def reaction(self, cause: Cause) -> Reaction:
        """Return the reaction to a failure of this hook: its own `on_failure` first, then its policy."""
        own = self.on_failure
        if own is not None:
            if isinstance(own, str):
                return own
            if cause in own:
                return own[cause]
        return self.policy.failures.get(cause, "warn")
