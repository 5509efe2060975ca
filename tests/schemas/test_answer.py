from collections.abc import Mapping
from functools import cache
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from hookline.dialects.family.wire import UnreadableAnswerError
from hookline.dialects.native import answers as answer
from hookline.dialects.native.answers import read_answer
from hookline.events import EVENTS, PRE_TOOL_USE, USER_PROMPT_SUBMIT, EventSpec
from hookline.model.outcome import PASS
from hookline.schemas.answer import answer_schema
from hookline.schemas.examples import example_answers
from tests.every import every
from tests.schemas.samples import DEPLOYING, HOSTS, POLICIES, Checker

ALL = {**EVENTS, **HOSTS}
every_event = every("event", ALL.values())


@cache
def checker(name: str) -> Checker:
    return Checker(answer_schema(ALL[name]))


def valid(event: EventSpec[Any], document: object) -> bool:
    return checker(event.name).valid(document)


def lost(event: EventSpec[Any], document: Mapping[str, Any]) -> tuple[str, ...]:
    """Return what the real reader drops of an answer."""
    try:
        outcome, ignored = read_answer(document, event, POLICIES.of(event), "h")
    except UnreadableAnswerError as error:
        return (str(error),)
    return (*ignored, *outcome.clipped(event.may)[1])


@every_event
def test_every_example_validates_and_is_obeyed(event: EventSpec[Any]):
    for example in example_answers(event):
        assert valid(event, example.answer), example.does
        assert lost(event, example.answer) == (), example.does


@every_event
def test_an_example_of_what_the_event_does_not_allow_does_not_validate(event: EventSpec[Any]):
    allowed = {example.does for example in example_answers(event)}
    for other in EVENTS.values():
        for example in example_answers(other):
            if example.does not in allowed:
                foreign = _renamed(example.answer, event.name)
                assert not valid(event, foreign), (other.name, example.does)


def _renamed(document: Mapping[str, Any], event: str) -> dict[str, Any]:
    if "hookSpecificOutput" not in document:
        return dict(document)
    return {**document, "hookSpecificOutput": {**document["hookSpecificOutput"], "hookEventName": event}}


@every_event
def test_a_misspelled_field_does_not_validate(event: EventSpec[Any]):
    assert valid(event, {})
    assert not valid(event, {"desicion": "block"})
    assert not valid(event, {"hookSpecificOutput": {"aditionalContext": "x"}})
    assert not valid(event, {"hookSpecificOutput": {"hookEventName": "Other"}})


def test_a_field_of_the_wrong_type_does_not_validate():
    assert not valid(PRE_TOOL_USE, {"continue": "no"})
    assert not valid(PRE_TOOL_USE, {"decision": "deny"})
    assert not valid(PRE_TOOL_USE, {"hookSpecificOutput": {"updatedInput": "ls"}})
    assert not valid(USER_PROMPT_SUBMIT, {"hookSpecificOutput": {"updatedPrompt": {"text": "ls"}}})


def test_a_reason_needs_something_to_be_the_reason_of():
    assert not valid(PRE_TOOL_USE, {"reason": "because"})
    assert valid(PRE_TOOL_USE, {"ok": False, "reason": "because"})


def test_a_host_names_the_field_that_replaces_its_own():
    assert valid(DEPLOYING, {"hookSpecificOutput": {"updatedParts": [{"number": 2}]}})
    assert not valid(DEPLOYING, {"hookSpecificOutput": {"updatedParts": [{"number": "two"}]}})


_VALUES: tuple[Any, ...] = (
    True, False, "", "because", 3, ["/a"], [{"type": "addRules"}], [{"type": 1}], {"a": "b"}, {"a": 1},
    "block", "approve", "allow", "deny", "ask", "defer", "accept", "PreToolUse",
    {"behavior": "deny"}, {"behavior": "ask", "interrupt": True}, {"behavior": "maybe"}, {"message": "no"},
    {"behavior": "allow", "updatedInput": {"a": "b"}, "updatedPermissions": [{"type": "setMode"}]},
    {"version": 1}, {"version": 2}, {"version": 1, "decision_id": "a", "revision": "b"},
)  # fmt: skip
_TOP_NAMES = (
    "continue", "stopReason", "decision", "ok", "reason", "systemMessage", "suppressOutput", "async", "asyncTimeout",
    "hookline",
    "permissionDecision", "additionalContext",
)  # fmt: skip
_SPECIFIC_NAMES = (
    "hookEventName", "permissionDecision", "permissionDecisionReason", "decision", "updatedInput", "updatedPrompt",
    "updatedToolOutput", "updatedMessages", "updatedResponse", "additionalContext", "updatedPermissions",
    "watchPaths", "initialUserMessage", "retry", "env", "answer", "worktreePath", "summary", "displayContent",
    "action", "content", "ok",
)  # fmt: skip


def one_field_answers() -> list[dict[str, Any]]:
    top = [{name: value} for name in _TOP_NAMES for value in _VALUES]
    return top + [{"hookSpecificOutput": {name: value}} for name in _SPECIFIC_NAMES for value in _VALUES]


@every("event", EVENTS.values())
def test_an_answer_of_one_field_validates_exactly_when_it_is_read_and_obeyed(event: EventSpec[Any]):
    wrong = [
        document
        for document in one_field_answers()
        if valid(event, document) != (lost(event, document) == ()) and not says_nothing(event, document)
    ]
    assert wrong == []


def says_nothing(event: EventSpec[Any], document: Mapping[str, Any]) -> bool:
    """Read without complaint and without effect, such as a stopReason alone, or an empty text to drop."""
    try:
        outcome, ignored = read_answer(document, event, POLICIES.of(event), "h")
    except UnreadableAnswerError:
        return False
    return not ignored and outcome.clipped(event.may)[0] == PASS and not outcome.clipped(event.may)[1]


@cache
def good_fields(name: str) -> list[dict[str, Any]]:
    return [document for document in one_field_answers() if valid(ALL[name], document)]


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(list(EVENTS.values())), st.data())
def test_fields_that_validate_together_are_read_and_obeyed_together(
    event: EventSpec[Any], data: st.DataObject
):
    good = good_fields(event.name)
    chosen = data.draw(st.lists(st.sampled_from(good), min_size=2, max_size=6))
    document: dict[str, Any] = {"hookSpecificOutput": {}}
    for each in chosen:
        document["hookSpecificOutput"].update(each.get("hookSpecificOutput", {}))
        document.update({name: value for name, value in each.items() if name != "hookSpecificOutput"})
    if valid(event, document):
        assert lost(event, document) == ()


def test_every_field_the_reader_knows_is_in_some_schema():
    known: set[str] = set()
    for event in EVENTS.values():
        properties = answer_schema(event)["properties"]
        specific = properties["hookSpecificOutput"]["properties"]
        known |= {*properties, *specific, *specific.get("decision", {}).get("properties", {})}
    read = {name for table in answer.FIELDS.values() for name in table}
    assert read <= known
