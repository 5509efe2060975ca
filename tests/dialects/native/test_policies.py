import pytest

from hookline.dialects.native.events import NativePolicies
from hookline.events import EVENTS, Capability, EventSpec, Payload
from hookline.extending import Policy
from hookline.model.policy import CAUSES, BlockLimit
from tests.dialects.native.calls import POLICIES
from tests.every import every


def policy(name: str) -> Policy:
    return POLICIES.of(EVENTS[name])


@every("name", EVENTS)
def test_guards_fail_closed_and_everything_else_goes_on(name: str):
    row, found = EVENTS[name], policy(name)
    wanted = {"block"} if row.guard else {"warn"}
    assert {found.failures[cause] for cause in CAUSES if cause != "cancelled"} == wanted
    assert found.failures["cancelled"] == "block"


@every("name", EVENTS)
def test_every_row_may_do_what_its_event_allows_and_rewriters_come_first(name: str):
    found = policy(name)
    assert (found.event_name, found.may) == (name, EVENTS[name].may)
    assert (found.run, found.sees, found.recheck_own, found.waits) == (
        "rewriters_first",
        "current",
        True,
        True,
    )


def test_the_same_row_always_has_the_same_policy():
    for row in EVENTS.values():
        assert POLICIES.of(row) is POLICIES.of(row)
    late = EventSpec("Late", Payload, "late.", Capability.BLOCK, guard=True)
    assert POLICIES.of(late) is POLICIES.of(late)
    assert POLICIES.of(late).block_means == "deny_call"
    assert POLICIES.of(late).failures["crashed"] == "block"


def test_two_tables_do_not_share_policies():
    other = NativePolicies()
    assert other.of(EVENTS["Stop"]) is not POLICIES.of(EVENTS["Stop"])


@pytest.mark.parametrize(
    ("name", "limit"),
    [
        ("TurnEnd", BlockLimit(2, "pass")),
        ("PreModelCall", BlockLimit(2, "end_turn")),
        ("Stop", BlockLimit(8, "pass", "call")),
        ("SubagentStop", BlockLimit(8, "pass", "call")),
        ("PreToolUse", None),
    ],
)
def test_blocks_that_could_go_on_for_ever_are_limited(name: str, limit: BlockLimit | None):
    assert policy(name).limit == limit


@every(
    ("name", "means", "placement", "lifetime"),
    [
        ("PreToolUse", "deny_call", "tool_result", "session"),
        ("PermissionRequest", "deny_call", "tool_result", "session"),
        ("UserPromptSubmit", "reject_prompt", "conversation", "session"),
        ("TurnStart", "end_turn", "conversation", "turn"),
        ("PreModelCall", "retry_call", "transient", "call"),
        ("PostToolUse", "beside_output", "tool_result", "session"),
        ("Stop", "continue_turn", "conversation", "session"),
        ("TurnEnd", "continue_turn", "conversation", "session"),
        ("SessionStart", "cancel", "conversation", "session"),
        ("PreCompact", "cancel", "conversation", "session"),
    ],
)
def test_what_a_block_means_and_where_text_lands(name: str, means: str, placement: str, lifetime: str):
    found = policy(name)
    assert (found.block_means, found.placement, found.lifetime) == (means, placement, lifetime)


def test_closing_a_session_takes_at_most_a_minute():
    assert policy("SessionEnd").budget == 60.0
