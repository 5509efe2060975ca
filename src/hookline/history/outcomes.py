"""Judge one past event by the same dispatch as in a live session, each input once."""

import re
from collections.abc import Mapping
from hashlib import blake2b
from typing import Any, Literal, NamedTuple

from msgspec import Struct

from hookline.dialects.recorded_event import RecordedEvent
from hookline.history.engines import AskedAt, CollectedRun, Engines, ProjectEngine
from hookline.history.handlers import VOLATILE
from hookline.model.errors import HooklineError
from hookline.model.outcome import PASS, Outcome
from hookline.model.run import Decision, Run, RunMode

Effect = Literal["block", "ask", "rewrite", "allow", "context", "stop", "none"]

#: The decisions that have an effect.
_DECIDES: Mapping[Effect, tuple[Decision, ...]] = {
    "block": ("deny",),
    "ask": ("ask", "defer"),
    "allow": ("allow",),
}
_MOST_REMEMBERED = 400_000
_LONGEST_REASON = 300
#: Inputs up to this many bytes are cached as they are.
_SHORT = 64
#: Matches JSON arguments with a path that is not relative to the directory.
_NAMES_PLACE = re.compile(rb"PWD|HOME|~|\.\.|(?:^|[^\w.*/\x00-]|\\[nrtu])/")
#: Fields that may decide besides the tool and its arguments.
_TEXTS = ("prompt", "last_assistant_message")


class HookDecision(Struct, frozen=True):
    """Decision of one hook."""

    hook: str
    source: str
    dialect: str
    type: str
    mode: RunMode
    decision: Decision | None
    #: The failure, if it gave no answer.
    failure: str = ""
    reason: str = ""
    rewrote: bool = False
    milliseconds: float = 0.0


class ReplayOutcome(Struct, frozen=True):
    """Outcome of all hooks at one past event."""

    effect: Effect = "none"
    #: Hooks that decided something, and hooks that ran and passed.
    voices: tuple[HookDecision, ...] = ()
    passed: tuple[tuple[str, str], ...] = ()
    #: Hooks that were not run, each with the reason.
    unjudged: tuple[tuple[str, str, str], ...] = ()
    #: Why the event could not be judged.
    problem: str = ""

    @property
    def asked(self) -> bool:
        return bool(self.voices or self.passed or self.unjudged)

    @property
    def reason(self) -> str:
        """The reason of a hook that decided; hooks in shadow mode decide nothing."""
        heard = [voice for voice in self.voices if voice.reason and voice.mode == "enforce"]
        decided = (voice for voice in heard if voice.decision in _DECIDES.get(self.effect, ()))
        found = next(decided, None) or next(iter(heard), None)
        return found.reason if found is not None else ""


NOTHING = ReplayOutcome()
_QUIET_KEPT = 1000


class Questions:
    """Keys under which equal inputs share one answer: the same call in the same directory."""

    def __init__(self) -> None:
        self._shared: tuple[Mapping[str, Any], tuple[Any, ...]] | None = None

    def key(
        self, recorded: RecordedEvent, placed: ProjectEngine, asked_at: AskedAt, *, by_call: bool = False
    ) -> tuple[Any, ...] | None:
        """Return the cache key of an input, or None if its answer may differ each time.

        `by_call`: results do not matter.
        """
        if not asked_at.memorable:
            return None
        if recorded.kind == "call" or (by_call and recorded.input):
            asked: Any = recorded.input
        elif recorded.kind in ("prompt", "turn_end", "subagent_end", "start", "end", "subagent_start"):
            said = "\0".join(str(recorded.fields.get(name, "")) for name in _TEXTS)
            asked = said.encode("utf-8", "surrogatepass")
        else:
            return None  # results of tools are hardly ever equal
        cwd, began_in = recorded.cwd, recorded.began_in or recorded.cwd
        if not asked_at.places_matter and cwd.startswith(began_in) and len(began_in) > 1:
            inside = asked.replace(f"{began_in}/".encode("utf-8", "surrogatepass"), b"\0/")
            if _NAMES_PLACE.search(inside) is None:
                # The same call in another project: only where it is in that project counts.
                cwd, asked = cwd[len(began_in) :], inside
        if len(asked) > _SHORT:
            asked = blake2b(asked, digest_size=16).digest()
        return (
            placed.fingerprint,
            recorded.agent,
            recorded.event,
            recorded.tool,
            cwd,
            self._others(recorded),
            asked,
        )

    def _others(self, recorded: RecordedEvent) -> tuple[Any, ...]:
        """Return the values that payloads of a turn share, without those that identify the turn."""
        if self._shared is None or self._shared[0] is not recorded.shared:
            rest = tuple((name, str(each)) for name, each in recorded.shared.items() if name not in VOLATILE)
            self._shared = (recorded.shared, (bool(recorded.subagent), *rest))
        return self._shared[1]


class UnjudgedEvent(NamedTuple):
    """An event that no equal one was judged before, and the key of its outcome."""

    recorded: RecordedEvent
    placed: ProjectEngine
    key: tuple[Any, ...] | None


class EventJudge:
    """Judge of past events by one configuration."""

    def __init__(self, engines: Engines) -> None:
        self._engines = engines
        self._memory: dict[tuple[Any, ...], ReplayOutcome] = {}
        #: Outcomes without any decision, each once.
        self._quiet: dict[Any, ReplayOutcome] = {}
        self._questions = Questions()
        #: How often hooks were really asked.
        self.judgements = 0

    def recall(self, recorded: RecordedEvent) -> "ReplayOutcome | UnjudgedEvent":
        """Return the outcome of an equal event, or what it takes to judge this one: most were judged before."""
        if not recorded.event:
            return NOTHING
        placed = self._engines.at(recorded.began_in or recorded.cwd)
        asked_at = placed.asked_at(recorded)
        if not asked_at.events:
            return NOTHING
        key = self._questions.key(recorded, placed, asked_at)
        known = self._memory.get(key) if key is not None else None
        return known if known is not None else UnjudgedEvent(recorded, placed, key)

    async def judge(self, event: "ReplayOutcome | UnjudgedEvent") -> ReplayOutcome:
        """Judge an event, unless its outcome is known."""
        if isinstance(event, ReplayOutcome):
            return event
        found = await self._judge(event.recorded, event.placed)
        if event.key is not None and not found.problem:
            if len(self._memory) >= _MOST_REMEMBERED:
                self._memory.clear()
            self._memory[event.key] = found
        return found

    async def _judge(self, recorded: RecordedEvent, placed: ProjectEngine) -> ReplayOutcome:
        self.judgements += 1
        try:
            parsed = placed.parse(recorded)
        except HooklineError as problem:
            return ReplayOutcome(problem=str(problem))
        session = placed.session(recorded, parsed)
        runs, left_out = placed.journal.collected, placed.left_out
        runs.clear()
        left_out.clear()
        outcome = PASS
        for event in placed.dialect(recorded.agent).asked_at(parsed.event):
            if session.has(event) and not outcome.blocked:
                outcome += await session.dispatch(event, parsed.payload)
        found = _decision(outcome, runs, {(hook.name, str(hook.where)): why for hook, why in left_out})
        if found.voices or found is NOTHING:
            return found
        if len(self._quiet) >= _QUIET_KEPT:
            self._quiet.clear()
        return self._quiet.setdefault((found.effect, found.passed, found.unjudged), found)


def _decision(
    outcome: Outcome, runs: list[CollectedRun], left_out: Mapping[tuple[str, str], str]
) -> ReplayOutcome:
    rewriters = {edit.by for edit in outcome.edits}
    voices: list[HookDecision] = []
    passed: list[tuple[str, str]] = []
    unjudged: list[tuple[str, str, str]] = []
    for hook, source, run in runs:
        name = (hook, source)
        if name in left_out:
            unjudged.append((*name, left_out[name]))
        elif run is None or (run.decision is None and run.status == "ok" and hook not in rewriters):
            passed.append(name)
        else:
            voices.append(_voice(run, hook in rewriters))
    if not (voices or passed or unjudged):
        return NOTHING
    return ReplayOutcome(_effect(outcome), tuple(voices), tuple(passed), tuple(unjudged))


def _voice(run: Run, rewrote: bool) -> HookDecision:
    failure = "" if run.status in ("ok", "blocked") else (run.detail or run.status)[:_LONGEST_REASON]
    return HookDecision(
        run.hook, run.source, run.dialect, run.type, run.mode, run.decision, failure,
        (run.reason or "")[:_LONGEST_REASON], rewrote, run.duration_ms,
    )  # fmt: skip


def _effect(outcome: Outcome) -> Effect:
    if outcome.blocked:
        return "block"
    if outcome.permission in ("ask", "defer"):
        return "ask"
    if outcome.edits:
        return "rewrite"
    if outcome.stop:
        return "stop"
    if outcome.permission == "allow":
        return "allow"
    return "context" if outcome.context_items else "none"
