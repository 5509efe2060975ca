"""Describe an event in the words of one agent: what its hooks get, what they may answer, what their exit
codes mean.

Nothing here is a separate list. The dialect's wire encodes examples, writes each answer, and reads each way
in which a command can end, and the engine judges that. So it cannot differ from what happens.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, cast

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from hookline.actions.action import PathContext
from hookline.actions.standard_tools import CANONICAL
from hookline.actions.translate import ReadCall
from hookline.dialects.dialect import Dialect, DialectEvent
from hookline.dialects.family.wire import PayloadError
from hookline.model.events import Capability, EventSpec, field_of, fields_of
from hookline.model.messages import Totals
from hookline.model.outcome import (
    Answer,
    ContextItem,
    Halt,
    Message,
    Outcome,
    PermissionUpdate,
    Rewrite,
    Vote,
)
from hookline.model.raw import Exited, Failed, RawResult
from hookline.model.session_info import SessionInfo
from hookline.model.wire import HookInvocation, HookReply
from hookline.schemas.event_facts import BLOCK_WORDS, placement_words
from hookline.schemas.examples import (
    INFO,
    bare_payload,
    block_reason,
    example_payload,
    may_word,
    rewritten_value,
    supplied_value,
)
from hookline.schemas.payload import COMMON, DRAFT, WHEN_KNOWN, Schema, described

if TYPE_CHECKING:
    from hookline.engine.judge import Judgement

_INFO = replace(
    INFO,
    model="small",
    turn=2,
    prompt="Fix the login form.",
    totals=Totals(
        input_tokens=9120, output_tokens=640, cost_usd=0.42, session_tokens=9760, conversation_tokens=5528
    ),
    project_dir=INFO.cwd,
)
#: Texts that can be recognised in a wire's output.
_STDOUT, _STDERR = "text-on-stdout", "text-on-stderr"
#: From here on, numbers of the examples are unlike each other.
_TELLING = 10


class OwnKey(Struct, frozen=True):
    """One input of a hook: a key of the document on stdin, or a variable."""

    name: str
    where: Literal["stdin", "environment"]
    type: str
    #: False: only when it is known.
    always: bool
    description: str


class OwnAnswer(Struct, frozen=True):
    """One answer, as a command gives it."""

    does: str
    exit_code: int
    stdout: str
    stderr: str


class CommandEnding(Struct, frozen=True):
    """One way in which a command can end, and its effect."""

    ends: str
    means: str


class OwnEvent(Struct, frozen=True, kw_only=True):
    """One event of an agent, in the agent's own words."""

    dialect: str
    event: str
    #: Hookline's name; several where one name stands for several events.
    hookline: tuple[str, ...]
    fires: str
    may: tuple[str, ...]
    #: Whether the agent waits for its hooks, and how they run.
    waits: bool
    run: str
    #: Seconds that a hook has if its entry does not say.
    timeout: float
    keys: tuple[OwnKey, ...]
    #: An example of stdin; None: it is empty.
    stdin: Mapping[str, Any] | None
    environment: Mapping[str, str]
    answers: tuple[OwnAnswer, ...]
    endings: tuple[CommandEnding, ...]


def own_event(dialect: Dialect, name: str) -> OwnEvent:
    """Describe one of the dialect's own events completely."""
    recorded_events = [_RecordedEvent(dialect, each) for each in dialect.recorded_events(name)]
    first = recorded_events[0]
    policy = first.own.policy
    return OwnEvent(
        dialect=dialect.name,
        event=name,
        hookline=tuple(dict.fromkeys(each.event.name for each in recorded_events)),
        fires=first.event.fires,
        may=first.may_words,
        waits=policy.waits,
        run=policy.run,
        timeout=first.own.timeout,
        keys=tuple(_keys(recorded_events)),
        stdin=first.sent.document or None,
        environment=first.sent.variables,
        answers=tuple(first.answers()),
        endings=tuple(first.endings()),
    )


def own_keys(dialect: Dialect, name: str) -> Mapping[str, Any]:
    """Return the keys that hooks get at one of the dialect's own events, each with an example.

    Variables that carry a payload are also listed without their prefix, in lower case.
    """
    keys: dict[str, Any] = {}
    for sent in (
        example
        for each in dialect.recorded_events(name)
        for example in _RecordedEvent(dialect, each).examples()
    ):
        for variable, value in sent.variables.items():
            keys.setdefault(variable, value)
            prefix = next((each for each in dialect.payload_variables if variable.startswith(each)), None)
            if prefix is not None:
                keys.setdefault(variable.removeprefix(prefix).lower(), value)
        keys |= {key: value for key, value in sent.document.items() if keys.get(key) is None}
    return keys


class _Sent(Struct, frozen=True):
    """Encoded form of one example."""

    document: Mapping[str, Any] = MappingProxyType({})
    variables: Mapping[str, str] = MappingProxyType({})

    def all(self) -> dict[tuple[str, Literal["stdin", "environment"]], Any]:
        found: dict[tuple[str, Literal["stdin", "environment"]], Any] = {}
        found.update({(name, "stdin"): value for name, value in self.document.items()})
        found.update({(name, "environment"): value for name, value in self.variables.items()})
        return found


class _RecordedEvent:
    """One of the dialect's own names at one event, with an example of everything there."""

    def __init__(self, dialect: Dialect, own: DialectEvent) -> None:
        self.dialect = dialect
        self.own = own
        self.event: EventSpec[Any] = own.event
        self.hook = dialect.flag_hook(own, "true")
        self.payload = self._translated(example_payload(own.event))
        self.sent = self.encoded(self.payload, _INFO)

    @property
    def may(self) -> Capability:
        return self.own.policy.may & self.event.may if self.own.policy.waits else Capability.NOTHING

    @property
    def may_words(self) -> tuple[str, ...]:
        return tuple(may_word(each) for each in Capability if each & self.may)

    def _translated(self, payload: Any) -> Any:
        """Return the example with the call as this agent would make it."""
        table, name = self.dialect.own_tools, field_of(payload, "tool_name")
        if table is None or not name or not isinstance(payload, Struct):
            return payload
        call = ReadCall(CANONICAL, name, field_of(payload, "tool_input") or {}, PathContext(cwd=INFO.cwd))
        view = call.ways(table)[0][0][0]
        changes = {"tool_name": view.tool_name, "tool_input": dict(view.arguments)}
        return replace(payload, **{key: value for key, value in changes.items() if key in fields_of(payload)})

    def call(self, payload: Any, info: SessionInfo = _INFO) -> HookInvocation:
        return HookInvocation(
            hook=self.hook, event=self.event, payload=payload, info=info, timeout=self.own.timeout
        )

    def encoded(self, payload: Any, info: SessionInfo) -> _Sent:
        try:
            encoded = self.dialect.wire.encode(self.call(payload, info))
        except PayloadError:  # of a host's own event, which has no example
            return _Sent()
        document: Any = msgspec.json.decode(encoded.document.strip() or b"{}")
        return _Sent(document, dict(encoded.env))

    def examples(self) -> Iterator[_Sent]:
        """Yield what is sent with all fields, with few, and for each value that a matcher tests."""
        yield self.sent
        yield self.encoded(self._translated(bare_payload(self.event)), replace(INFO, transcript_path=""))
        field = self.event.subject
        for subject in self.event.subjects if isinstance(self.payload, Struct) and field else ():
            if field in fields_of(self.payload):
                yield self.encoded(replace(self.payload, **{field: subject}), _INFO)

    # -- answers ----------------------------------------------------------------------------------------

    def answers(self) -> Iterator[OwnAnswer]:
        """Yield the agent's form of each answer that hooks may give here. Answers without a form are left out."""
        for does, saying in _SAYINGS.items():
            if not self.own.policy.waits or not (saying.needs & self.may or not saying.needs):
                continue
            said, reply = does, self._reply(saying.says(self))
            if reply.lost and does == "context" and Capability.BLOCK & self.may:
                # The agent may have a form for text with a block.
                said = "block, with context"
                reply = self._reply(saying.says(self) + _SAYINGS["block"].says(self))
            if not reply.lost and (reply.code or reply.stdout or reply.stderr):
                yield OwnAnswer(said, reply.code, reply.stdout.rstrip("\n"), reply.stderr.rstrip("\n"))

    def _reply(self, outcome: Outcome) -> HookReply:
        from hookline.engine.dispatch import with_whole_values  # noqa: PLC0415 the list of events needs no engine

        whole = with_whole_values(outcome, field_of(self.payload, self.event.rewrites or ""))
        return self.dialect.wire.answer(self.own.name, whole, self.payload)

    def rewritten(self) -> Any:
        """Return the rewritten field in the agent's own terms: a call keeps its arguments but for the text in them."""
        value = rewritten_value(self.event)
        if self.event.rewrites != "tool_input":
            return value
        before = cast("Mapping[str, Any]", field_of(self.payload, "tool_input") or {})
        return {key: each.replace("--force", "--force-with-lease") if isinstance(each, str) else each
                for key, each in before.items()}  # fmt: skip

    # -- endings ----------------------------------------------------------------------------------------

    def endings(self) -> Iterator[CommandEnding]:
        if not self.own.policy.waits:
            yield CommandEnding("in any way", "changes nothing: the agent does not wait for hooks here")
            return
        stdout, stderr = _STDOUT.encode(), _STDERR.encode()
        yield CommandEnding("exit 0", self._means(Exited(0)))
        yield CommandEnding("exit 0, and prints text", self._means(Exited(0, stdout)))
        yield CommandEnding("exit 2", self._means(Exited(2, stdout, stderr)))
        one, other = (self._means(Exited(code, stdout, stderr)) for code in (1, 3))
        if one != other:
            yield CommandEnding("exit 1", one)
        yield CommandEnding("any other exit", other)
        yield CommandEnding("takes too long", self._means(Failed("timed_out", "after 1 second")))
        yield CommandEnding("cannot start", self._means(Failed("not_started", "no such file")))

    def _means(self, raw: RawResult) -> str:
        from hookline.engine.judge import judge  # noqa: PLC0415 as above
        from hookline.engine.prepared_hook import PreparedHook  # noqa: PLC0415 as above

        decoded = self.dialect.wire.decode(self.call(self.payload), raw)
        judged = judge(PreparedHook(self.hook, None), decoded, attended=True)
        return "; ".join(_effects(judged, self.own)) or "the agent continues"


def _effects(judged: "Judgement", own: DialectEvent) -> Iterator[str]:
    """Describe the effects of an ending in words."""
    outcome = judged.outcome
    if outcome.blocked:
        means = BLOCK_WORDS.get(own.policy.block_means, own.policy.block_means)
        yield f"blocks: {means}{_reason_from(outcome.reason or '')}"
    elif outcome.context_items:
        placed = placement_words(own.policy.placement, own.policy.lifetime)
        yield f"the text goes to the model, {placed}"
    if outcome.env_items:
        yield "the lines KEY=VALUE become variables"
    if judged.failed_open:
        yield "is reported, and the agent continues" if outcome.messages else "the agent continues"
    elif outcome.messages and not outcome.blocked:
        warns = outcome.messages[0].warns
        yield "is not used, and the user is warned" if warns else "the user is shown it"
    elif not outcome.blocked and judged.dropped:
        yield "the agent continues, and its output is not used"


def _reason_from(reason: str) -> str:
    for text, where in ((_STDERR, "stderr"), (_STDOUT, "stdout")):
        if text in reason:
            return f"; {where} is the reason"
    return ""


class _Saying(Struct, frozen=True):
    """One answer that a hook can give, and the capability it needs."""

    needs: Capability
    says: Callable[[_RecordedEvent], Outcome]


_SAYINGS: Mapping[str, _Saying] = MappingProxyType(
    {
        "block": _Saying(
            Capability.BLOCK, lambda recorded: Outcome(votes=(Vote("block", block_reason(recorded.event)),))
        ),
        "allow": _Saying(Capability.PERMIT, lambda _: Outcome(votes=(Vote("allow"),))),
        "ask": _Saying(Capability.PERMIT, lambda _: Outcome(votes=(Vote("ask", "this changes the remote"),))),
        "rewrite": _Saying(
            Capability.REWRITE,
            lambda recorded: Outcome(
                edits=(Rewrite(recorded.rewritten(), field=recorded.event.rewrites or ""),)
            ),
        ),
        "context": _Saying(
            Capability.CONTEXT,
            lambda _: Outcome(context_items=(ContextItem("The build is red since Tuesday."),)),
        ),
        "stop": _Saying(Capability.STOP, lambda _: Outcome(halts=(Halt("the budget is used up"),))),
        "rules": _Saying(
            Capability.RULES,
            lambda _: Outcome(
                votes=(Vote("allow"),),
                permission_updates=(
                    PermissionUpdate(
                        "addRules",
                        rules=({"toolName": "Bash", "ruleContent": "git push:*"},),
                        behavior="allow",
                        destination="session",
                    ),
                ),
            ),
        ),
        "watch": _Saying(Capability.WATCH, lambda _: Outcome(watch_paths=("/home/ada/site/package.json",))),
        "seed": _Saying(Capability.SEED, lambda _: Outcome(seeds=("Read the open issues first.",))),
        "retry": _Saying(Capability.RETRY, lambda _: Outcome(retry=True)),
        "env": _Saying(Capability.ENV, lambda _: Outcome(env_items=(("CI", "1"),))),
        "answer": _Saying(
            Capability.ANSWER, lambda recorded: Outcome(answers=(Answer(supplied_value(recorded.event)),))
        ),
        "message": _Saying(
            Capability.NOTHING, lambda _: Outcome(messages=(Message("The guard looked at this."),))
        ),
    }
)


# -- keys ----------------------------------------------------------------------------------------------


def _keys(recorded_events: Sequence[_RecordedEvent]) -> Iterator[OwnKey]:
    sent = [(recorded, example.all()) for recorded in recorded_events for example in recorded.examples()]
    for place in dict.fromkeys(place for _, example in sent for place in example):
        values = [example.get(place, ...) for _, example in sent]
        known = [value for value in values if value is not ...]
        recorded = next(each for each, example in sent if place in example)
        name, where = place
        yield OwnKey(
            name, where, _type_words(known), len(known) == len(values), _description(name, known[0], recorded)
        )


def _type_words(values: Sequence[Any]) -> str:
    """Return the JSON types of the values that were sent."""
    return " or ".join(dict.fromkeys(json_type(value) for value in values))


def json_type(value: Any) -> str:
    kinds = {str: "string", bool: "boolean", int: "integer", float: "number", list: "array", dict: "object"}
    return kinds.get(cast("type[Any]", type(value)), "null")


def _description(name: str, value: Any, recorded: _RecordedEvent) -> str:
    """Return the sentence for the field that the key is named after, else for the only field with this value."""
    payload = recorded.payload
    named = described(type(payload).__name__, name) if name in fields_of(payload) else _COMMON.get(name)
    if named is not None:
        return named
    if value == recorded.own.name:
        return COMMON["hook_event_name"]
    fields = {described(type(payload).__name__, each): field_of(payload, each) for each in fields_of(payload)}
    info = {text: getattr(_INFO, each, None) for each, text in _COMMON.items()}
    same = [text for text, known in {**info, **fields}.items() if _is_same(known, value)]
    return (same[0] or "") if len(same) == 1 else ""


_COMMON: Mapping[str, str] = {**WHEN_KNOWN, **COMMON}


def _is_same(known: Any, value: Any) -> bool:
    """Compare values, but not flags and small numbers, which do not identify a field."""
    if not known or isinstance(known, bool) or (isinstance(known, int) and known < _TELLING):
        return False
    return known == value or (isinstance(value, str) and str(known) == value)


# -- schemas -------------------------------------------------------------------------------------------


def own_payload_schema(dialect: Dialect, name: str) -> Schema:
    """Return the JSON Schema of what hooks get at one of the dialect's own events: on stdin, else in variables."""
    recorded_events = [_RecordedEvent(dialect, each) for each in dialect.recorded_events(name)]
    sent = [example for recorded in recorded_events for example in recorded.examples()]
    on_stdin = any(example.document for example in sent)
    documents = [example.document if on_stdin else example.variables for example in sent]
    where = "" if on_stdin else " Nothing is on stdin: these are environment variables."
    return {
        "$schema": DRAFT,
        "title": f"{name} payload of {dialect.title}",
        "description": f"Fires {recorded_events[0].event.fires}{where}",
        **_object_schema(documents, {each.name: each.description for each in _keys(recorded_events)}),
    }


def own_answer_schema(dialect: Dialect, name: str) -> Schema | None:
    """Return the JSON Schema of hooks' output at one of the dialect's own events; None: no JSON is read there."""
    answers = [
        answer for each in dialect.recorded_events(name) for answer in _RecordedEvent(dialect, each).answers()
    ]
    documents = [document for answer in answers if (document := _json_object(answer.stdout)) is not None]
    if not documents:
        return None
    schema = _object_schema(documents)
    schema.pop("required", None)
    return {"$schema": DRAFT, "title": f"{name} answer of {dialect.title}", **schema}


def _json_object(text: str) -> dict[str, Any] | None:
    try:
        value: Any = msgspec.json.decode(text)
    except msgspec.DecodeError:
        return None
    return cast("dict[str, Any]", value) if isinstance(value, dict) else None


def _object_schema(documents: Sequence[Mapping[str, Any]], texts: Mapping[str, str] | None = None) -> Schema:
    """Merge documents into one schema: keys of all are required, keys of some optional, more allowed."""
    properties: Schema = {}
    for key in dict.fromkeys(key for document in documents for key in document):
        values = [document[key] for document in documents if key in document]
        properties[key] = _value_schema(values)
        if texts and texts.get(key):
            properties[key]["description"] = texts[key]
    required = [key for key in properties if all(key in document for document in documents)]
    return {"type": "object", "properties": properties, "required": required}


def _value_schema(values: Sequence[Any]) -> Schema:
    kinds = list(dict.fromkeys(json_type(value) for value in values))
    schema: Schema = {"type": kinds[0] if len(kinds) == 1 else kinds}
    objects = [cast("dict[str, Any]", value) for value in values if isinstance(value, dict)]
    if objects and any(objects):
        schema["properties"] = _object_schema(objects)["properties"]
    return schema
