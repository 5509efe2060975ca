"""What the hooks say to one moment of the past, by the same dispatch as in a live session; each question once."""

import re
from collections.abc import Mapping
from hashlib import blake2b
from typing import Any, Literal

from msgspec import Struct

from hookline.model.errors import HooklineError
from hookline.model.outcome import GO_ON, Outcome
from hookline.model.run import Decision, Mode, Run
from hookline.replay.engines import AskedAt, CollectedRun, Engines, PlacedEngine
from hookline.replay.handlers import VOLATILE
from hookline.transcripts.moment import Moment

Effect = Literal["block", "ask", "rewrite", "allow", "context", "stop", "none"]

#: The decisions that have an effect.
_DECIDES: Mapping[Effect, tuple[Decision, ...]] = {
    "block": ("deny",),
    "ask": ("ask", "defer"),
    "allow": ("allow",),
}
_MOST_REMEMBERED = 400_000
_LONGEST_REASON = 300
#: Bytes of a question that are kept as they are.
_SHORT = 64
#: JSON text of arguments that name a place by more than its relation to the directory.
_NAMES_PLACE = re.compile(rb"PWD|HOME|~|\.\.|(?:^|[^\w.*/\x00-]|\\[nrtu])/")
#: What may decide besides the tool and its arguments.
_TEXTS = ("prompt", "last_assistant_message")


class Voice(Struct, frozen=True):
    """What one hook said."""

    hook: str
    source: str
    dialect: str
    type: str
    mode: Mode
    decision: Decision | None
    #: What went wrong, if it gave no answer.
    failure: str = ""
    reason: str = ""
    rewrote: bool = False
    milliseconds: float = 0.0


class Verdict(Struct, frozen=True):
    """What the hooks together said to one moment."""

    effect: Effect = "none"
    #: Those that said something, and those that were asked and passed.
    voices: tuple[Voice, ...] = ()
    passed: tuple[tuple[str, str], ...] = ()
    #: Hooks that were not run, each with the reason.
    unjudged: tuple[tuple[str, str, str], ...] = ()
    #: Why nothing can be said of the moment at all.
    problem: str = ""

    @property
    def asked(self) -> bool:
        return bool(self.voices or self.passed or self.unjudged)

    @property
    def reason(self) -> str:
        """Of a hook that decided; those in shadow decide nothing."""
        heard = [voice for voice in self.voices if voice.reason and voice.mode == "enforce"]
        decided = (voice for voice in heard if voice.decision in _DECIDES.get(self.effect, ()))
        found = next(decided, None) or next(iter(heard), None)
        return found.reason if found is not None else ""


NOTHING = Verdict()
_QUIET_KEPT = 1000


class Questions:
    """Which moments ask the same: the same call in the same place, whoever asks and whenever."""

    def __init__(self) -> None:
        self._shared: tuple[Mapping[str, Any], tuple[Any, ...]] | None = None

    def key(
        self, moment: Moment, placed: PlacedEngine, asked_at: AskedAt, *, by_call: bool = False
    ) -> tuple[Any, ...] | None:
        """What decides the answer; None where it may be another one each time. `by_call`: results do not matter."""
        if not asked_at.memorable:
            return None
        if moment.kind == "call" or (by_call and moment.input):
            asked: Any = moment.input
        elif moment.kind in ("prompt", "turn_end", "subagent_end", "start", "end", "subagent_start"):
            said = "\0".join(str(moment.fields.get(name, "")) for name in _TEXTS)
            asked = said.encode("utf-8", "surrogatepass")
        else:
            return None  # what tools return is hardly ever the same
        cwd, began_in = moment.cwd, moment.began_in or moment.cwd
        if not asked_at.places_matter and cwd.startswith(began_in) and len(began_in) > 1:
            inside = asked.replace(f"{began_in}/".encode("utf-8", "surrogatepass"), b"\0/")
            if _NAMES_PLACE.search(inside) is None:
                # The same call in another project: only where it is in that project counts.
                cwd, asked = cwd[len(began_in) :], inside
        if len(asked) > _SHORT:
            asked = blake2b(asked, digest_size=16).digest()
        return (placed.fingerprint, moment.agent, moment.event, moment.tool, cwd, self._others(moment), asked)

    def _others(self, moment: Moment) -> tuple[Any, ...]:
        """What payloads of a turn have in common, without which turn it was."""
        if self._shared is None or self._shared[0] is not moment.shared:
            rest = tuple((name, str(each)) for name, each in moment.shared.items() if name not in VOLATILE)
            self._shared = (moment.shared, (bool(moment.subagent), *rest))
        return self._shared[1]


class Judge:
    """Judges moments by one configuration."""

    def __init__(self, engines: Engines) -> None:
        self._engines = engines
        self._memory: dict[tuple[Any, ...], Verdict] = {}
        #: Verdicts in which no hook said anything, each once.
        self._quiet: dict[Any, Verdict] = {}
        self._questions = Questions()
        #: How often hooks were really asked.
        self.judgements = 0

    async def verdict(self, moment: Moment) -> Verdict:
        if not moment.event:
            return NOTHING
        placed = self._engines.at(moment.began_in or moment.cwd)
        asked_at = placed.asked_at(moment)
        if not asked_at.events:
            return NOTHING
        key = self._questions.key(moment, placed, asked_at)
        known = self._memory.get(key) if key is not None else None
        if known is None:
            known = await self._judge(moment, placed)
            if key is not None and not known.problem:
                if len(self._memory) >= _MOST_REMEMBERED:
                    self._memory.clear()
                self._memory[key] = known
        return known

    async def _judge(self, moment: Moment, placed: PlacedEngine) -> Verdict:
        self.judgements += 1
        try:
            parsed = placed.parse(moment)
        except HooklineError as problem:
            return Verdict(problem=str(problem))
        session = placed.session(moment, parsed)
        runs, left_out = placed.journal.collected, placed.left_out
        runs.clear()
        left_out.clear()
        outcome = GO_ON
        for event in placed.dialect(moment.agent).asked_at(parsed.event):
            if session.has(event) and not outcome.blocked:
                outcome += await session.dispatch(event, parsed.payload)
        found = _verdict(outcome, runs, {(hook.name, str(hook.where)): why for hook, why in left_out})
        if found.voices or found is NOTHING:
            return found
        if len(self._quiet) >= _QUIET_KEPT:
            self._quiet.clear()
        return self._quiet.setdefault((found.effect, found.passed, found.unjudged), found)


def _verdict(outcome: Outcome, runs: list[CollectedRun], left_out: Mapping[tuple[str, str], str]) -> Verdict:
    rewriters = {edit.by for edit in outcome.edits}
    voices: list[Voice] = []
    passed: list[tuple[str, str]] = []
    unjudged: list[tuple[str, str, str]] = []
    for run in runs:
        name = (run.hook, run.source)
        if name in left_out:
            unjudged.append((*name, left_out[name]))
        elif run.passed and run.hook not in rewriters:
            passed.append(name)
        else:
            voices.append(_voice(run.record(), run.hook in rewriters))
    if not (voices or passed or unjudged):
        return NOTHING
    return Verdict(_effect(outcome), tuple(voices), tuple(passed), tuple(unjudged))


def _voice(run: Run, rewrote: bool) -> Voice:
    failure = "" if run.status in ("ok", "blocked") else (run.detail or run.status)[:_LONGEST_REASON]
    return Voice(
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
