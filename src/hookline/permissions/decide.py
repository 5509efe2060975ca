"""Decide if a tool call may run: the order of rules, hooks, grants and the mode."""

from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from hookline.actions.by_names import HARMLESS
from hookline.config.protection.protected_paths import ProtectedWrite
from hookline.model.outcome import Vote
from hookline.model.safe_text import one_line, printable
from hookline.permissions.facts import CallFacts
from hookline.permissions.paths import all_inside, paths_of
from hookline.permissions.rules import PermissionRule, RuleMatch, covering, first_concerned, holds_at_exec
from hookline.permissions.state import Permissions

__all__ = [
    "CallFacts",
    "PermissionDecision",
    "Step",
    "Verdict",
    "answered",
    "decide",
    "denied_by_rule",
    "unanswered",
]

Verdict = Literal["allow", "ask", "deny"]
Step = Literal[
    "deny_rule", "hook_deny", "mode", "ask_rule", "hook_ask", "protected", "hook_allow", "allow_rule",
    "session_grant", "read_only", "default", "unattended", "request_deny", "request_allow", "user_deny",
    "user_allow",
]  # fmt: skip


#: Columns of the doubt's text: it may quote the call.
_WIDEST_DOUBT = 200


class PermissionDecision(Struct, frozen=True):
    """A decision, its step and its reason, for the model and the user."""

    decision: Verdict
    step: Step
    reason: str = ""
    #: The deciding rule as it was written; `source` is where it came from.
    rule: str | None = None
    source: str | None = None
    #: One line for each step that was considered, the deciding one last.
    trail: tuple[str, ...] = ()
    #: PermissionRequest hooks may answer it: an ask, or a denial only because no user can be asked.
    question: bool = False
    #: Only the user can allow it: those hooks may deny it.
    only_user: bool = False


def decide(
    facts: CallFacts, permissions: Permissions, hook_vote: Vote | None = None, attended: bool = True
) -> PermissionDecision:
    """Let the first step that applies decide; later steps cannot soften it.

    Decide again after every rewrite: a decision is about the arguments it was made on.
    """
    steps = _Steps(facts, permissions, hook_vote)
    found = (
        steps.deny_rules()
        or steps.hook_denial()
        or steps.mode_refusal()
        or steps.ask_rules()
        or steps.hook_question()
        or steps.protected_paths()
        or steps.hook_permission()
        or steps.allow_rules()
        or steps.session_grants()
        or steps.mode_permission()
        or steps.default()
    )
    decision = replace(found, trail=(*steps.trail, _line(found)), question=found.decision == "ask")
    return unanswered(decision, permissions, attended)


def denied_by_rule(facts: CallFacts, permissions: Permissions) -> PermissionDecision | None:
    """Run the first step alone: apply the deny rules to a call that is not decided yet."""
    return _Steps(facts, permissions, None).deny_rules()


def unanswered(decision: PermissionDecision, permissions: Permissions, attended: bool) -> PermissionDecision:
    """Handle a question that no hook answered: a denial when no user can be asked."""
    if decision.decision != "ask":
        return decision
    if permissions.mode_row.unanswered == "deny":
        denied = _denied_question(
            decision, "mode", f"mode {permissions.mode} denies what it would otherwise ask"
        )
    elif not attended:
        denied = _denied_question(decision, "unattended", "no user is present to approve it")
    else:
        return decision
    return denied


def answered(
    asked: PermissionDecision,
    before: CallFacts,
    after: CallFacts,
    permissions: Permissions,
    vote: Vote | None,
    attended: bool = True,
) -> PermissionDecision:
    """Return the decision after PermissionRequest hooks ran on a question; `after` is the call as they left
    it.

    Their allow replaces the user's for this call, unless it writes to a protected path. For a call they
    rewrote it is a hook's allow, and everything else is decided again.
    """
    if not asked.question:
        return asked
    if vote is not None and vote.kind == "block":
        return _with(asked, PermissionDecision("deny", "request_deny", _reason_of(vote, "denied")))
    if after != before:
        return decide(after, permissions, vote, attended)
    if vote is None or vote.kind != "allow" or vote.means == "no_objection" or asked.only_user:
        return unanswered(asked, permissions, attended)
    denied = denied_by_rule(after, permissions)
    return _with(asked, denied or PermissionDecision("allow", "request_allow", _reason_of(vote, "allowed")))


class _Steps:
    """One call and each step that may decide it. A step that does not apply leaves a line in the trail."""

    def __init__(self, facts: CallFacts, permissions: Permissions, vote: Vote | None) -> None:
        self._facts = facts
        self._permissions = permissions
        self._rules = permissions.rules
        self._mode = permissions.mode_row
        self._vote = vote
        self._tool = one_line(facts.tool_name, 80)
        self.trail: list[str] = []

    def deny_rules(self) -> PermissionDecision | None:
        found = self._first_concerned(self._rules.deny)
        if found is None:
            return self._pass(f"deny rules: none of {len(self._rules.deny)} matches the call")
        return _by_rule("deny", "deny_rule", found, f"Permission to use {self._tool} was denied by the rule")

    def hook_denial(self) -> PermissionDecision | None:
        vote = self._vote
        if vote is None:
            return self._pass("hooks: no vote")
        if vote.kind != "block":
            return self._pass(f"hooks: {vote.kind}, no denial")
        return PermissionDecision("deny", "hook_deny", _reason_of(vote, "denied"), source=_voter(vote))

    def mode_refusal(self) -> PermissionDecision | None:
        if self._facts.category not in self._mode.refuses:
            return self._pass(f"mode {self._mode.name}: refuses no tool that does {self._facts.category}")
        return PermissionDecision(
            "deny", "mode", f"Mode {self._mode.name} refuses {self._tool}. {self._mode.says}"
        )

    def ask_rules(self) -> PermissionDecision | None:
        found = self._first_concerned(self._rules.ask)
        if found is None:
            return self._pass(f"ask rules: none of {len(self._rules.ask)} matches the call")
        return _by_rule("ask", "ask_rule", found, f"{self._tool} needs approval because of the rule")

    def hook_question(self) -> PermissionDecision | None:
        vote = self._vote
        if vote is None or vote.kind not in {"ask", "defer"}:
            return self._pass("hooks: none asks")
        return PermissionDecision("ask", "hook_ask", _reason_of(vote, "asks about"), source=_voter(vote))

    def protected_paths(self) -> PermissionDecision | None:
        if self._mode.anywhere:
            return self._pass("protected paths: not asked about here")
        hit = self._written()
        if hit is None:
            return self._pass("protected paths: none is written to")
        return PermissionDecision("ask", "protected", str(hit), only_user=True)

    def _written(self) -> ProtectedWrite | None:
        facts = self._facts
        if facts.category in HARMLESS:
            return None
        return self._permissions.call_reader(facts.worktree).written_by_call(
            facts.tool_name, facts.tool_input, facts.cwd, changes=facts.category in ("run", "write")
        )

    def hook_permission(self) -> PermissionDecision | None:
        vote = self._vote
        if vote is None or vote.kind != "allow":
            return self._pass("hooks: none allows")
        if vote.means == "no_objection":
            return self._pass("hooks: no objection, which is not a permission")
        return PermissionDecision("allow", "hook_allow", _reason_of(vote, "allowed"), source=_voter(vote))

    def allow_rules(self) -> PermissionDecision | None:
        rules = self._covering(self._rules.allow)
        if not rules:
            return self._pass(f"allow rules: {len(self._rules.allow)} do not cover the call")
        return _by_rules("allow_rule", rules)

    def session_grants(self) -> PermissionDecision | None:
        grants = self._permissions.grants.allow
        # A grant and a rule may cover the two halves of one line.
        rules = self._covering((*self._rules.allow, *grants)) if grants else ()
        if rules:
            return _by_rules("session_grant", rules)
        if self._permissions.granted_call(self._facts):
            return PermissionDecision(
                "allow", "session_grant", "The user allowed exactly this call for the session."
            )
        return self._pass("grants of this session: none covers the call")

    def mode_permission(self) -> PermissionDecision | None:
        mode, category = self._mode, self._facts.category
        if category not in mode.runs:
            return self._pass(f"mode {mode.name}: {category} does not run without a question")
        if mode.anywhere:
            return PermissionDecision("allow", "mode", f"Mode {mode.name}: {mode.says}")
        if category == "agent":
            return PermissionDecision("allow", "default", "The calls of a subagent are decided one by one.")
        if not self._in_reach():
            return self._pass(f"mode {mode.name}: runs {category} inside the directories only")
        if category == "read":
            return PermissionDecision("allow", "read_only", "It reads inside the directories.")
        return PermissionDecision("allow", "mode", f"Mode {mode.name}: {mode.says}")

    def default(self) -> PermissionDecision:
        if self._facts.category in {"read", "write"} and not self._in_reach():
            return PermissionDecision("ask", "default", f"{self._tool} needs approval: {self._outside()}.")
        return PermissionDecision("ask", "default", f"{self._tool} needs approval: no rule allows this call.")

    def _first_concerned(self, rules: tuple[PermissionRule, ...]) -> RuleMatch | None:
        places = self._permissions.guard_roots
        found = first_concerned(rules, self._facts, places, self._rules.reader)
        if found is not None and found.doubt is not None and self._facts.guarded:
            left = tuple(rule for rule in rules if not holds_at_exec(rule))
            found = first_concerned(left, self._facts, places, self._rules.reader)
        return found

    def _covering(self, rules: tuple[PermissionRule, ...]) -> tuple[PermissionRule, ...]:
        return covering(rules, self._facts, self._permissions.roots)

    def _in_reach(self) -> bool:
        """Return True if all files of the call are in the directories. A tool that writes has to name some."""
        paths = paths_of(self._facts)
        if paths is None or (not paths and self._facts.category == "write"):
            return False
        return all_inside(paths, self._facts.cwd, self._permissions.reach(self._facts.cwd))

    def _outside(self) -> str:
        paths = paths_of(self._facts)
        if not paths:
            return "it is not clear which files it is about"
        # Where no link leads elsewhere, the real path is the given one.
        named = one_line(", ".join(dict.fromkeys(paths)), 160)
        return f"{named} is or may be outside the directories of this session"

    def _pass(self, line: str) -> None:
        self.trail.append(line)


def _by_rule(decision: Verdict, step: Step, found: RuleMatch, text: str) -> PermissionDecision:
    rule = found.rule
    wide = ", which cannot be read and so applies to the whole tool" if rule.widened else ""
    doubt = f" (in doubt: {one_line(found.doubt.text, _WIDEST_DOUBT)})" if found.doubt is not None else ""
    because = f", because {one_line(found.because, _WIDEST_DOUBT)}" if found.because else ""
    reason = f"{text} {rule.shown}{_from(rule)}{wide}{doubt}{because}."
    return PermissionDecision(decision, step, reason, rule.shown, rule.origin or None)


def _by_rules(step: Step, rules: tuple[PermissionRule, ...]) -> PermissionDecision:
    shown = ", ".join(rule.shown for rule in rules)
    origins = ", ".join(dict.fromkeys(rule.origin for rule in rules if rule.source))
    reason = f"Allowed by {', '.join(rule.shown + _from(rule) for rule in rules)}."
    return PermissionDecision("allow", step, reason, shown, origins or None)


def _from(rule: PermissionRule) -> str:
    return f" ({rule.origin})" if rule.source else ""


def _reason_of(vote: Vote, default: str) -> str:
    return printable(vote.reason) if vote.reason else f"A hook ({_voter(vote)}) {default} it."


def _voter(vote: Vote) -> str:
    return f"hook {one_line(vote.by, 100)}" if vote.by else "hook"


def _denied_question(asked: PermissionDecision, step: Step, why: str) -> PermissionDecision:
    return _with(asked, replace(asked, decision="deny", step=step, reason=f"{asked.reason} Denied: {why}."))


def _with(asked: PermissionDecision, found: PermissionDecision) -> PermissionDecision:
    """Return the decision, after the steps that led to the question."""
    open_still = found.decision == "ask" or found.step in {"mode", "unattended"}
    return replace(found, trail=(*asked.trail, _line(found)), question=open_still)


def _line(found: PermissionDecision) -> str:
    return f"{found.step}: {found.decision}. {one_line(found.reason, 300)}"
