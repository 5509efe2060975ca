"""Test where agents contradict each other: each gets its own answer, in every order of finishing."""

import itertools
from typing import Any

from hookline.engine.memory import counts_of, once_marks_of, share_memory
from hookline.events import (
    PERMISSION_REQUEST,
    POST_TOOL_USE,
    PRE_MODEL_CALL,
    PRE_TOOL_USE,
    STOP,
    TURN_END,
    TURN_START,
    USER_PROMPT_SUBMIT,
    ModelRequest,
    PermissionAsked,
    Prompt,
    ToolCall,
    ToolResult,
    TurnAnswer,
    TurnBegun,
)
from hookline.extending import Exited, Failed, Hook, Policy
from hookline.model.wire import Wire
from tests.engine import agent_policies as agents
from tests.engine.agent_policies import exits, says
from tests.engine.scripted_hooks import HANGS, ScriptedHost, fire, scripted

LS = ToolCall(tool_name="Bash", tool_input={"command": "ls", "timeout": 5})
ASKED = PermissionAsked(tool_name="Bash", tool_input=LS.tool_input)
WHALE, CLAUDE, DOCKER, REASONIX, GEMINI, CODEX = (
    agents.ChainWire(), agents.NestedWire(), agents.PatchWire(), agents.CodeWire(), agents.TextWire(),
    agents.StrictWire(),
)  # fmt: skip

Log = list[tuple[str, Any]]


def guard_against_rm(call: Any) -> Exited:
    wants_rm = "rm" in call.tool_input["command"]
    return says(
        permissionDecision="deny" if wants_rm else "allow", permissionDecisionReason="rm" if wants_rm else ""
    )


def test_codewhale_submit_chains_and_a_lenient_timeout_keeps_the_text() -> None:
    log: Log = []
    hooks = [
        scripted("a", USER_PROMPT_SUBMIT, agents.WHALE_SUBMIT, WHALE, exits(text="A"), log=log),
        scripted(
            "b", USER_PROMPT_SUBMIT, agents.WHALE_SUBMIT, WHALE, exits(), delay=HANGS, log=log, timeout=0.02
        ),
        scripted(
            "c",
            USER_PROMPT_SUBMIT,
            agents.WHALE_SUBMIT,
            WHALE,
            lambda seen: exits(text=seen.prompt + "C"),
            log=log,
        ),
    ]
    outcome = fire(hooks, USER_PROMPT_SUBMIT, Prompt(prompt="x"))
    assert outcome.updated_prompt == "AC"
    assert not outcome.blocked
    assert [message.hook for message in outcome.messages] == ["b"]
    assert [seen.prompt for _, seen in log] == ["x", "A", "A"]


def test_codewhale_submit_a_strict_failure_blocks_and_ends_the_chain() -> None:
    log: Log = []
    hooks = [
        scripted("a", USER_PROMPT_SUBMIT, agents.WHALE_SUBMIT, WHALE, exits(text="A"), log=log),
        scripted("b", USER_PROMPT_SUBMIT, agents.WHALE_SUBMIT, WHALE, exits(1), log=log, on_failure="block"),
        scripted("c", USER_PROMPT_SUBMIT, agents.WHALE_SUBMIT, WHALE, exits(text="Z"), log=log),
    ]
    assert fire(hooks, USER_PROMPT_SUBMIT, Prompt(prompt="x")).blocked
    assert [name for name, _ in log] == ["a", "b"]


def test_codewhale_tool_gate_all_see_the_original_and_exit_2_beats_an_earlier_json_deny() -> None:
    log: Log = []
    hooks = [
        scripted(
            "a", PRE_TOOL_USE, agents.WHALE_TOOL, WHALE,
            exits(updatedInput={"command": "1"}, decision="deny", reason="json"), log=log,
        ),
        scripted("b", PRE_TOOL_USE, agents.WHALE_TOOL, WHALE, exits(2, reason="hard"), log=log),
        scripted(
            "c", PRE_TOOL_USE, agents.WHALE_TOOL, WHALE,
            exits(1, updatedInput={"command": "3"}, decision="allow"), log=log,
        ),
    ]  # fmt: skip
    outcome = fire(hooks, PRE_TOOL_USE, LS)
    assert outcome.reason == "hard"
    assert outcome.updated_input == {"command": "3"}
    assert [seen.tool_input for _, seen in log] == [LS.tool_input] * 3


def test_codewhale_tool_gate_a_strict_hook_without_a_verdict_outranks_a_deny_and_ends_the_lane() -> None:
    log: Log = []
    hooks = [
        scripted("a", PRE_TOOL_USE, agents.WHALE_TOOL, WHALE, exits(2, reason="hard"), log=log),
        scripted(
            "s",
            PRE_TOOL_USE,
            agents.WHALE_TOOL,
            WHALE,
            exits(),
            delay=HANGS,
            log=log,
            timeout=0.02,
            on_failure="block",
        ),
        scripted("z", PRE_TOOL_USE, agents.WHALE_TOOL, WHALE, exits(), log=log),
    ]
    assert "no answer within" in (fire(hooks, PRE_TOOL_USE, LS).reason or "")
    assert len(log) == 2


def test_gencode_stops_at_the_first_block_and_keeps_nothing_else() -> None:
    log: Log = []
    hooks = [
        scripted(
            "a",
            PRE_TOOL_USE,
            agents.GEN_TOOL,
            CLAUDE,
            says(additionalContext="c", updatedInput={"command": "1"}),
            log=log,
        ),
        scripted("b", PRE_TOOL_USE, agents.GEN_TOOL, CLAUDE, Exited(2, b"", b"no"), log=log),
        scripted("c", PRE_TOOL_USE, agents.GEN_TOOL, CLAUDE, says(permissionDecision="allow"), log=log),
    ]
    outcome = fire(hooks, PRE_TOOL_USE, LS)
    assert (outcome.blocked, outcome.reason, outcome.context, outcome.edits) == (True, "no", (), ())
    assert len(log) == 2


def test_docker_patches_are_chained_and_a_failure_keeps_the_earlier_ones() -> None:
    def adds_one(seen: Any) -> Exited:
        return exits(hook_specific_output={"updated_input": {"b": seen.tool_input["a"] + 1}})

    hooks = [
        scripted(
            "a",
            PRE_TOOL_USE,
            agents.DOCKER_TOOL,
            DOCKER,
            exits(hook_specific_output={"updated_input": {"a": 1}}),
        ),
        scripted("f", PRE_TOOL_USE, agents.DOCKER_TOOL, DOCKER, exits(1), on_failure="warn"),
        scripted("b", PRE_TOOL_USE, agents.DOCKER_TOOL, DOCKER, adds_one),
    ]
    outcome = fire(hooks, PRE_TOOL_USE, LS)
    assert outcome.updated_input == {"command": "ls", "timeout": 5, "a": 1, "b": 2}
    assert not outcome.blocked


def test_docker_patches_at_once_compose_in_config_order_whatever_finishes_first() -> None:
    answers: tuple[dict[str, Any], ...] = (
        {"updated_input": {"k": 1}},
        {"updated_input": {"k": 2, "j": 1}},
        {"permission_decision": "ask"},
    )
    for delays in itertools.permutations((0.0, 0.01, 0.02)):
        hooks = [
            scripted(
                name,
                PRE_TOOL_USE,
                agents.DOCKER_AT_ONCE,
                DOCKER,
                exits(hook_specific_output=answer),
                delay=delay,
            )
            for name, answer, delay in zip("abc", answers, delays, strict=True)
        ]
        outcome = fire(hooks, PRE_TOOL_USE, LS)
        assert outcome.updated_input == {"command": "ls", "timeout": 5, "k": 2, "j": 1}
        assert outcome.permission == "ask"


def test_reasonix_warns_on_exit_1_and_on_no_start_but_a_timeout_on_a_gate_blocks() -> None:
    log: Log = []
    hooks = [
        scripted("w", PRE_TOOL_USE, agents.REASONIX_GATE, REASONIX, exits(1), log=log),
        scripted(
            "n", PRE_TOOL_USE, agents.REASONIX_GATE, REASONIX, Failed("not_started", "not found"), log=log
        ),
        scripted(
            "t", PRE_TOOL_USE, agents.REASONIX_GATE, REASONIX, exits(), delay=HANGS, log=log, timeout=0.02
        ),
        scripted("z", PRE_TOOL_USE, agents.REASONIX_GATE, REASONIX, exits(), log=log),
    ]
    outcome = fire(hooks, PRE_TOOL_USE, LS)
    assert outcome.blocked
    assert [name for name, _ in log] == ["w", "n", "t"]
    assert [message.hook for message in outcome.messages] == ["w", "n"]


def test_claude_takes_the_strictest_and_keeps_config_order_in_all_finish_orders() -> None:
    words = ("allow", "ask", "defer", "deny")
    for delays in itertools.permutations((0.0, 0.004, 0.008, 0.012)):
        hooks = [
            scripted(
                word, PRE_TOOL_USE, agents.CLAUDE_TOOL, CLAUDE,
                says(permissionDecision=word, permissionDecisionReason=word, additionalContext=word), delay=delay,
            )
            for word, delay in zip(words, delays, strict=True)
        ]  # fmt: skip
        outcome = fire(hooks, PRE_TOOL_USE, LS)
        assert (outcome.permission, outcome.reason, outcome.context) == ("deny", "deny", words)


def asked_hooks(policy: Policy) -> list[Hook]:
    return [
        scripted(
            "slow",
            PERMISSION_REQUEST,
            policy,
            CLAUDE,
            says(decision={"behavior": "deny", "message": "no"}),
            delay=0.05,
        ),
        scripted("fast", PERMISSION_REQUEST, policy, CLAUDE, says(decision={"behavior": "allow"})),
    ]


def test_permission_request_waits_for_the_deny_unless_the_dialect_takes_the_first_answer() -> None:
    assert fire(asked_hooks(agents.CLAUDE_ASKED), PERMISSION_REQUEST, ASKED).permission == "deny"
    host = ScriptedHost(asked_hooks(agents.CLAUDE_ASKED_RACE))
    assert host.fire(PERMISSION_REQUEST, ASKED).permission == "allow"
    assert [(run.hook, run.status) for run in host.runs] == [("fast", "ok"), ("slow", "cancelled")]


def test_a_race_that_nobody_wins_keeps_everything_in_config_order() -> None:
    hooks = [
        scripted(name, PERMISSION_REQUEST, agents.CLAUDE_ASKED_RACE, CLAUDE, exits(1), delay=delay)
        for name, delay in (("a", 0.02), ("b", 0.0))
    ]
    assert [message.hook for message in fire(hooks, PERMISSION_REQUEST, ASKED).messages] == ["a", "b"]


def test_claude_exit_1_with_an_allow_allows_unless_its_failure_closes() -> None:
    allow = exits(1, hookSpecificOutput={"permissionDecision": "allow"})
    lenient = fire([scripted("g", PRE_TOOL_USE, agents.CLAUDE_TOOL, CLAUDE, allow)], PRE_TOOL_USE, LS)
    strict = fire(
        [scripted("g", PRE_TOOL_USE, agents.CLAUDE_TOOL, CLAUDE, allow, on_failure="block")], PRE_TOOL_USE, LS
    )
    assert lenient.permission == "allow"
    assert strict.blocked


def test_gemini_one_sequential_hook_makes_the_lane_serial_and_chained() -> None:
    def hooks(log: Log, *, sequential: bool) -> list[Hook]:
        rewrite = exits(decision="deny", reason="r1", hookSpecificOutput={"tool_input": {"x": 1}})
        return [
            scripted("a", PRE_TOOL_USE, agents.GEMINI_TOOL, GEMINI, rewrite, log=log),
            scripted(
                "b", PRE_TOOL_USE, agents.GEMINI_TOOL, GEMINI, exits(3, "r2"), log=log, rewrites=sequential
            ),
        ]

    for sequential in (False, True):
        log: Log = []
        outcome = fire(hooks(log, sequential=sequential), PRE_TOOL_USE, LS)
        assert outcome.reason == "r1\nr2"
        assert (log[1][1].tool_input != LS.tool_input) == sequential


def test_gemini_the_next_sequential_prompt_hook_sees_the_context() -> None:
    log: Log = []
    hooks = [
        scripted(
            "a", USER_PROMPT_SUBMIT, agents.GEMINI_PROMPT, GEMINI,
            exits(hookSpecificOutput={"additionalContext": "CTX"}), log=log, rewrites=True,
        ),
        scripted("b", USER_PROMPT_SUBMIT, agents.GEMINI_PROMPT, GEMINI, exits(), log=log),
    ]  # fmt: skip
    fire(hooks, USER_PROMPT_SUBMIT, Prompt(prompt="p"))
    assert log[1][1].prompt == "p\n\nCTX"


def test_codex_answers_it_does_not_accept_are_failures_on_record_and_the_call_goes_on() -> None:
    deny_with_extra = exits(
        hookSpecificOutput={"permissionDecision": "deny", "permissionDecisionReason": "x"}, foo=1
    )
    host = ScriptedHost(
        [
            scripted("d", PRE_TOOL_USE, agents.CODEX_TOOL, CODEX, says(permissionDecision="deny")),
            scripted("u", PRE_TOOL_USE, agents.CODEX_TOOL, CODEX, deny_with_extra),
            scripted("e", PRE_TOOL_USE, agents.CODEX_TOOL, CODEX, Exited(2)),
        ]
    )
    assert not host.fire(PRE_TOOL_USE, LS).blocked
    assert [(run.status, run.cause, run.failed_open) for run in host.runs] == [
        ("failed", "unreadable", True)
    ] * 3


def two_dialects(log: Log) -> list[Hook]:
    rewrite = exits(updatedInput={"command": "rm -rf /"}, decision="allow")
    return [
        scripted("rewriter", PRE_TOOL_USE, agents.WHALE_TOOL, WHALE, rewrite, log=log, dialect="codewhale"),
        scripted(
            "guard",
            PRE_TOOL_USE,
            agents.CLAUDE_TOOL,
            CLAUDE,
            guard_against_rm,
            log=log,
            dialect="claude-code",
        ),
    ]


def test_the_next_lane_sees_the_rewrite_and_its_deny_beats_the_earlier_allow() -> None:
    log: Log = []
    outcome = fire(two_dialects(log), PRE_TOOL_USE, LS)
    assert outcome.reason == "rm"
    assert log[1][1].tool_input == {"command": "rm -rf /"}


def test_a_guard_that_saw_the_harmless_input_is_asked_again_on_the_final_one() -> None:
    host = ScriptedHost(two_dialects([])[::-1])
    assert host.fire(PRE_TOOL_USE, LS).reason == "rm"
    assert [(run.hook, run.recheck) for run in host.runs] == [
        ("guard", False),
        ("rewriter", False),
        ("guard", True),
    ]


def test_one_event_two_meanings_of_a_block_both_kept() -> None:
    def post(policy: Policy, wire: Wire, reason: str) -> Hook:
        return scripted(reason, POST_TOOL_USE, policy, wire, exits(decision="block", reason=reason))

    outcome = fire(
        [post(agents.CODEX_POST, CODEX, "A"), post(agents.CLAUDE_POST, CLAUDE, "B")],
        POST_TOOL_USE,
        ToolResult(tool_name="Bash"),
    )
    assert [(vote.means, vote.reason) for vote in outcome.votes] == [
        ("replace_output", "A"),
        ("beside_output", "B"),
    ]


def test_reasonix_the_third_block_in_a_row_is_forced_through_or_ends_the_turn() -> None:
    host = ScriptedHost(
        [
            scripted(
                "gate", TURN_END, agents.REASONIX_TURN_END, REASONIX, exits(2, "todo"), dialect="reasonix"
            ),
            scripted(
                "model", PRE_MODEL_CALL, agents.REASONIX_MODEL, REASONIX, exits(2, "no"), dialect="reasonix"
            ),
        ]
    )
    ends = [host.fire(TURN_END, TurnAnswer()) for _ in range(4)]
    assert [end.blocked for end in ends] == [True, True, False, True]
    assert [end.limit_reached for end in ends] == [False, False, True, False]
    calls = [host.fire(PRE_MODEL_CALL, ModelRequest()) for _ in range(3)]
    assert [call.stop for call in calls] == [False, False, True]
    assert calls[2].blocked


def test_block_counts_belong_to_one_session_and_a_new_turn_starts_anew() -> None:
    host = ScriptedHost([scripted("gate", TURN_END, agents.REASONIX_TURN_END, REASONIX, exits(2, "todo"))])
    other = host.engine.session("t")
    for _ in range(2):
        host.fire(TURN_END, TurnAnswer())
    kept, marks = counts_of(host.session), once_marks_of(host.session)
    share_memory(host.session, counts_of(other), marks)
    assert host.fire(TURN_END, TurnAnswer()).blocked
    share_memory(host.session, kept, marks)
    host.fire(TURN_START, TurnBegun())
    assert host.fire(TURN_END, TurnAnswer()).blocked


def test_claude_stop_is_obeyed_eight_times_and_a_tool_call_in_between_resets_it() -> None:
    host = ScriptedHost([scripted("g", STOP, agents.CLAUDE_STOP, CLAUDE, Exited(2, b"", b"go on"))])
    assert [host.fire(STOP, TurnAnswer()).blocked for _ in range(9)] == [True] * 8 + [False]
    blocked: list[bool] = []
    for _ in range(12):
        blocked.append(host.fire(STOP, TurnAnswer()).blocked)
        host.fire(PRE_TOOL_USE, LS)
    assert blocked == [True] * 12
