"""Test the decisions of the recorded client: the same rules, the same answers of hooks, the same decision."""

import json
import re
from typing import Any, cast

from hookline import Outcome
from hookline.model.outcome import Vote, VoteKind
from hookline.permissions.decide import PermissionDecision, answered, decide
from hookline.permissions.facts import call_facts
from hookline.permissions.settings import permission_settings
from hookline.permissions.state import Permissions
from tests.every import every
from tests.permissions.permission_cases import PROJECT, reader
from tests.recorded import Case, recorded_cases

CASES = recorded_cases()

DECIDED = [
    *(name for name in CASES if name.startswith("perm-")),
    "pre-json-deny", "pre-json-ask-preapproved", "two-allow-ask-not-preapproved", "two-deny-allow", "two-allow-deny",
    "pre-updatedinput-only", "pre-updatedinput-only-not-preapproved", "pre-legacy-approve-not-preapproved",
    "permreq-silent", "permreq-allow", "permreq-allow-updatedinput", "permreq-deny", "permreq-two-deny-allow-slow",
    "cfg-malformed-post-with-denyrule",
]  # fmt: skip
_WORDS: dict[str, VoteKind] = {
    "deny": "block", "block": "block", "approve": "allow", "allow": "allow", "ask": "ask", "defer": "defer",
}  # fmt: skip


def answers(case: Case, event: str) -> list[dict[str, Any]]:
    """Return what the scripts of the case print."""
    found: list[dict[str, Any]] = []
    for group in case["hooks"].get(event, ()):
        for hook in group["hooks"]:
            printed = re.search(r"printf '%s' '(.*?)'(?:;|$)", hook.get("command", ""), re.DOTALL)
            found.extend([json.loads(printed[1])] if printed else [])
    return found


def said(answer: dict[str, Any]) -> tuple[Vote | None, dict[str, Any] | None]:
    """The vote in an answer, and the arguments it wants instead."""
    specific = cast("dict[str, Any]", answer.get("hookSpecificOutput", {}))
    decision = cast("dict[str, Any]", specific.get("decision", {}))
    word = specific.get("permissionDecision") or decision.get("behavior") or answer.get("decision")
    reason = specific.get("permissionDecisionReason") or decision.get("message") or ""
    vote = Vote(_WORDS[word], reason) if word else None
    return vote, specific.get("updatedInput") or decision.get("updatedInput")


def play(case: Case) -> PermissionDecision:
    found = permission_settings(case.get("settings") or {}, "settings", reader=reader())
    permissions = Permissions(found.rules, root=PROJECT, reader=reader())
    permissions.add_rules("allow", [case["preapproved_tools"]] if case["preapproved_tools"] else [], "flag")
    tool = case["model_tool_calls"][0]
    facts = call_facts(tool["name"], tool["input"], PROJECT)
    votes: list[Vote] = []
    for vote, updated in map(said, answers(case, "PreToolUse")):
        votes.extend([vote] if vote else [])
        facts = call_facts(tool["name"], updated, PROJECT) if updated else facts
    decision = decide(facts, permissions, Outcome(votes=tuple(votes)).deciding_vote, attended=False)
    requests = [said(answer) for answer in answers(case, "PermissionRequest")]
    if not decision.question or not requests:
        return decision
    asked = tuple(vote for vote, _updated in requests if vote)
    after = next(
        (call_facts(tool["name"], updated, PROJECT) for _vote, updated in requests if updated), facts
    )
    return answered(decision, facts, after, permissions, Outcome(votes=asked).deciding_vote, attended=False)


@every("name", DECIDED)
def test_a_recorded_call_is_decided_as_the_client_decided_it(name: str) -> None:
    observed = CASES[name]["observed"]
    found = play(CASES[name])
    assert found.decision == ("deny" if observed["blocked"] else "allow")
    reason = observed["reason_seen_by_model"] or ""
    for own_words in re.findall(r"HK_\w+", reason):
        assert own_words in found.reason


def test_the_step_that_decided_is_the_one_the_recording_is_about() -> None:
    assert play(CASES["perm-denyrule-vs-hook-allow"]).step == "deny_rule"
    assert play(CASES["perm-denyrule-vs-updatedinput"]).rule == "Bash(touch:*)"
    assert play(CASES["perm-askrule-vs-hook-allow"]).rule == "Bash(echo:*)"
    assert play(CASES["permreq-allow"]).step == "request_allow"


def test_where_the_client_loses_its_deny_rules_with_a_bad_hook_they_hold_here() -> None:
    case = CASES["cfg-malformed-entry-other-settings"]
    assert case["observed"]["blocked"] is False
    whole = {**case["settings"], "hooks": case["hooks"]}
    assert play({**case, "settings": whole}).step == "deny_rule"
