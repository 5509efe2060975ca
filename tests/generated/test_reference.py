"""Every event is in every artefact, and the reference pages say what the code does."""

import json
import re
from typing import Any

import msgspec
import pytest

from hookline import Outcome
from hookline.actions.kinds import KINDS
from hookline.dialects.registry import every_dialect
from hookline.events import EVENTS, Capability
from hookline.extending import Run
from hookline.schemas.answer import answer_schema
from hookline.schemas.event_facts import (
    BLOCK_WORDS,
    LIVES_WORDS,
    MAY_WORDS,
    PLACEMENT_WORDS,
    block_words,
    event_facts,
)
from hookline.schemas.payload import payload_schema
from tests.every import every
from tests.schemas.samples import DEPLOYING, HOSTS, ODD, POLICIES, Checker
from tools.events_page import ExampleError, prove_examples
from tools.generate import ROOT

#: As committed; test_fresh.py proves that this is what the code would write.
PAGE = (ROOT / "docs/reference/events.md").read_text()
SECTIONS = dict(re.findall(r"^## (\w+)\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL))

every_event = every("name", EVENTS)


@every_event
def test_an_event_is_in_every_artefact(name: str):
    schemas = ROOT / "schemas"
    assert json.loads((schemas / f"events/{name}.payload.json").read_text())["title"] == f"{name} payload"
    assert json.loads((schemas / f"events/{name}.answer.json").read_text())["title"] == f"{name} answer"
    assert name in json.loads((schemas / "hooks.json").read_text())["properties"]["hooks"]["properties"]
    assert f"| [{name}](#{name.lower()})" in PAGE
    assert EVENTS[name].fires in SECTIONS[name]


@every_event
def test_the_examples_on_the_page_validate(name: str):
    event, section = EVENTS[name], SECTIONS[name]
    (payload,) = re.findall(r"```json\n(.*?)```", section, re.DOTALL)
    assert Checker(payload_schema(event)).mistakes(json.loads(payload)) == []
    answers = re.findall(r"^\| \w+ \| `(\{.*\})` \|$", section, re.MULTILINE)
    assert len(answers) == len(event_facts(event, POLICIES.of(event)).may) + 1
    checker = Checker(answer_schema(event))
    assert [answer for answer in answers if not checker.valid(json.loads(answer))] == []


@every_event
def test_a_section_names_every_field_and_every_value_a_matcher_knows(name: str):
    event, section = EVENTS[name], SECTIONS[name]
    for field in msgspec.structs.fields(event.payload):
        assert f"| `{field.name}` |" in section
    for value in event.subjects:
        assert f"`{value}`" in section


@every_event
def test_a_section_says_how_the_native_format_behaves(name: str):
    event, policy, section = EVENTS[name], POLICIES.of(EVENTS[name]), SECTIONS[name]
    assert ("| Failures | closed" in section) == event.guard
    assert ("| A block |" in section) == bool(event.may & Capability.BLOCK)
    assert ("| Added text lands |" in section) == bool(event.may & Capability.CONTEXT)
    assert ("| Block limit |" in section) == (policy.limit is not None)
    assert ("| Budget |" in section) == (policy.budget is not None)
    assert ("nothing in Hookline fires it yet" in section) == event.declared_only


def test_every_word_of_the_policies_is_explained():
    policies = [POLICIES.of(event) for event in EVENTS.values()]
    assert {policy.block_means for policy in policies} <= set(BLOCK_WORDS)
    assert {policy.placement for policy in policies} <= set(PLACEMENT_WORDS)
    assert {policy.lifetime for policy in policies} <= set(LIVES_WORDS)
    assert {(may.name or "").lower() for may in Capability} == set(MAY_WORDS) - {"message"}


def test_the_outcome_page_names_every_field_and_property():
    page = (ROOT / "docs/reference/outcome.md").read_text()
    properties = [name for name, value in vars(Outcome).items() if isinstance(value, property)]
    names = [*Outcome.__struct_fields__, *Run.__struct_fields__, *properties]
    assert [name for name in names if not name.startswith("_") and f"| `{name}` |" not in page] == []


def test_the_tools_page_names_every_kind_tool_and_argument():
    page = (ROOT / "docs/reference/tools.md").read_text()
    for kind in KINDS.values():
        assert f"| `{kind.tool}`" in page
    for dialect in every_dialect():
        if dialect.own_tools is not None:
            section = page.partition(f"### {dialect.title}")[2].partition("##")[0]
            names = {
                *dialect.tools.names,
                *(key for tool in dialect.tools.tools.values() for key in tool.own_keys),
            }
            assert {name for name in names if f"`{name}`" not in section} == set()


def test_an_example_that_would_have_no_effect_is_not_printed():
    from hookline.schemas.examples import ExampleAnswer

    event = EVENTS["Stop"]
    facts = event_facts(event, POLICIES.of(event))
    wrong = msgspec.structs.replace(facts, answers=(ExampleAnswer("block", {"desicion": "block"}),))
    with pytest.raises(ExampleError, match="Stop: to block: desicion would have no effect"):
        prove_examples(wrong, event, POLICIES)


@pytest.mark.parametrize("name", HOSTS)
def test_there_are_facts_about_the_rows_of_a_host(name: str):
    event: Any = HOSTS[name]
    facts = event_facts(event, POLICIES.of(event))
    assert facts.event == name
    assert all(example.answer for example in facts.answers)
    assert (facts.payload is None) == (event is ODD)


def test_a_host_row_has_an_example_of_its_own_fields():
    facts = event_facts(DEPLOYING, POLICIES.of(DEPLOYING))
    assert facts.payload is not None
    assert facts.payload["stage"] == "test"
    assert facts.rewritten_by == "updatedParts"
    assert block_words(facts) == "the action does not happen"
