"""tool_call_before: every gate judges the call as the model asked for it; the strictest word wins."""

import json
from pathlib import Path
from typing import Any

import pytest

from hookline import Outcome
from hookline.dialects.codewhale import dialect
from hookline.extending import HookInvocation, RawResult
from tests.dialects.codewhale.hooks import CONFIG, agent_with, bash, entry, says, variables
from tests.dialects.hooked_agent import HookedAgent
from tests.every import every

ALLOW, ASK, DENY = {"decision": "allow"}, {"decision": "ask"}, {"decision": "deny", "reason": "not now"}
SILENT: dict[str, str] = {}


def gates(*hooks: str, **info: Any) -> tuple[Outcome, HookedAgent]:
    agent = agent_with("".join(hooks), **info)
    return agent.fire("tool_call_before", bash()), agent


def gate(command: str, **more: Any) -> str:
    return entry("tool_call_before", command, **more)


@pytest.mark.parametrize("stdout", ["", '{"decision": "allow"}', '{"decision": "ask"}', "plain", "[1]"])
def test_exit_2_denies_whatever_stdout_says(stdout: str) -> None:
    outcome, _ = gates(gate(f"printf '{stdout}'; exit 2"))

    assert outcome.permission == "deny"


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        ("""echo '{"reason": "from json"}'; echo err >&2; exit 2""", "from json"),
        ("echo '  from stdout '; echo err >&2; exit 2", "from stdout"),
        ("echo 'from stderr' >&2; exit 2", "from stderr"),
        ("""echo '{"decision": "deny"}'; echo 'from stderr' >&2; exit 2""", "from stderr"),
        ("exit 2", "hook guard denied this call and gave no reason"),
    ],
)
def test_the_reason_of_exit_2_is_the_hooks_output(command: str, reason: str) -> None:
    outcome, _ = gates(gate(command, name="guard"))

    assert outcome.reason == reason


def test_a_reason_has_at_most_2000_characters() -> None:
    outcome, _ = gates(gate("yes | head -c 9000 | tr -d '\\n'; exit 2"))

    assert outcome.reason == "y" * 2000 + "…[truncated]"


@pytest.mark.parametrize(
    ("answers", "permission"),
    [
        ([ALLOW, ASK, DENY], "deny"),
        ([DENY, ALLOW], "deny"),
        ([ASK, ALLOW, ALLOW], "ask"),
        ([ALLOW, ASK], "ask"),
        ([ALLOW, ALLOW], "allow"),
        ([SILENT, SILENT], None),
    ],
)
def test_deny_beats_ask_beats_allow(answers: list[dict[str, str]], permission: str | None) -> None:
    outcome, agent = gates(*(gate(says(answer)) for answer in answers))

    assert outcome.permission == permission
    assert len(agent.runs) == len(answers)  # a lenient deny stops no later hook


def test_the_first_deny_by_exit_code_gives_the_reason_before_one_in_words() -> None:
    outcome, _ = gates(
        gate(says(DENY)), gate("echo first; exit 2"), gate("echo second; exit 2"), gate(says(ASK)),
    )  # fmt: skip

    assert outcome.reason == "first"


@every(
    "stdout",
    [
        "",
        "all is well",
        "{}",
        '{"reason": "x"}',
        '{"decision": "maybe"}',
        '{"decision": 1}',
        "[]",
        "7",
        "{oops",
    ],
)
@every("strict", [False, True])
def test_anything_but_a_decision_lets_the_call_go_on(stdout: str, *, strict: bool) -> None:
    outcome, agent = gates(gate(f"printf '{stdout}'", continue_on_error=not strict))

    assert outcome.votes == ()
    assert [run.status for run in agent.runs] == ["ok"]


@pytest.mark.parametrize("stdout", ["{oops", "[]", '{"decision": "maybe"}', '{"updatedInput": [1]}'])
def test_an_answer_that_is_not_read_is_told_to_the_user(stdout: str) -> None:
    outcome, _ = gates(gate(f"printf '{stdout}'", name="odd"))

    assert [message.hook for message in outcome.messages] == ["odd"]


def test_chat_on_stdout_is_only_noted() -> None:
    outcome, agent = gates(gate("echo looking around"))

    assert outcome == Outcome()
    assert agent.runs[0].dropped == ("plain stdout",)


def test_an_answer_counts_whatever_the_exit_code() -> None:
    outcome, agent = gates(gate(says(DENY, 1)))

    assert outcome.reason == "not now"
    assert agent.runs[0].status == "blocked"
    assert gates(gate(says(ASK, 3), continue_on_error=False))[0].permission == "ask"


def test_allow_takes_no_approval_away() -> None:
    outcome, _ = gates(gate(says(ALLOW)))

    assert [vote.means for vote in outcome.votes] == ["no_objection"]


def test_all_gates_see_the_original_input_and_the_last_rewrite_wins(tmp_path: Path) -> None:
    env = tmp_path / "env"
    outcome, _ = gates(
        gate(says({"updatedInput": {"command": "first", "extra": 1}})),
        gate(f"env -0 > {env}; " + says({"updatedInput": {"command": "second"}})),
    )

    assert json.loads(variables(env)["DEEPSEEK_TOOL_ARGS"]) == {"command": "ls"}
    assert outcome.updated_input == {"command": "second"}


@pytest.mark.parametrize(
    ("value", "taken"),
    [
        ({"command": "x" * (32_768 - 14)}, True),
        ({"command": "x" * (32_768 - 13)}, False),
        ([1], False),
        ("text", False),
        (None, False),
    ],
)
def test_a_rewrite_is_an_object_of_at_most_32_kib(value: Any, tmp_path: Path, *, taken: bool) -> None:
    file = tmp_path / "answer"
    file.write_text(json.dumps({"updatedInput": value, "decision": "allow"}, separators=(",", ":")))

    outcome, _ = gates(gate(f"cat {file}"))

    assert outcome.updated_input == (value if taken else None)
    assert bool(outcome.messages) is not taken
    assert outcome.permission == "allow"


def test_a_rewrite_of_another_lane_is_judged_again() -> None:
    whale = agent_with(gate('case "$DEEPSEEK_TOOL_ARGS" in *evil*) exit 2;; esac', name="guard"))

    def rewrite(payload: Any) -> Any:
        from hookline.model.outcome import rewrite as rewritten

        return rewritten({"command": "evil"})

    whale.engine.add(whale.engine.events["PreToolUse"], rewrite)
    outcome = whale.fire("tool_call_before", bash())

    assert outcome.updated_input == {"command": "evil"}
    assert outcome.blocked
    assert [run.recheck for run in whale.runs if run.hook == "guard"] == [False, True]


def test_a_denied_call_is_not_rewritten_and_gets_no_context() -> None:
    outcome, _ = gates(
        gate(says({"updatedInput": {"command": "x"}, "additionalContext": "text"})),
        gate(says(DENY)),
        gate("exit 1", name="weak"),
    )

    assert outcome.blocked
    assert outcome.updated_input is None
    assert outcome.context == ()
    assert [message.hook for message in outcome.messages] == ["weak"]


def test_contexts_are_cleaned_cut_and_land_beside_the_tool_result() -> None:
    outcome, _ = gates(
        gate(says({"additionalContext": "a\x1b[31mb\r\n\tc"})),
        gate(says({"additionalContext": "  "})),
        gate(says({"additionalContext": ["no text"]})),
        gate(says({"additionalContext": "x" * 2001})),
    )

    assert "\n".join(outcome.context) == "a [31mb\n\tc\n" + "x" * 2000 + "…[truncated]"
    assert {item.placement for item in outcome.context_items} == {"tool_result"}


def test_the_contexts_of_one_call_have_8000_characters_together() -> None:
    outcome, _ = gates(*(gate(says({"additionalContext": str(number) * 1999})) for number in range(6)))

    whole = "\n".join(str(number) * 1999 for number in range(6))
    assert "\n".join(outcome.context) == whole[:8000] + "…[truncated]"


@every(
    ("command", "words"),
    [
        ("sleep 30", "timed out after 1 s"),
        ("exit 1", "exit 1"),
        ("kill -9 $$", "it was ended by SIGKILL"),
        ('echo \'{"additionalContext": "x"}\'; exit 3', "exit 3"),
        ("exit 127", "exit 127"),
    ],
)
@every("strict", [False, True])
def test_a_gate_without_a_verdict_denies_when_it_is_strict(command: str, words: str, *, strict: bool) -> None:
    outcome, agent = gates(
        gate(command, name="gate", timeout_secs=1, continue_on_error=not strict),
        gate(says(ALLOW), name="after"),
    )

    assert outcome.permission == ("deny" if strict else "allow")
    said = outcome.reason if strict else outcome.messages[0].text
    assert said is not None
    assert said.startswith("hook gate gave no answer: ")
    assert words in said
    assert [run.hook for run in agent.runs] == (["gate"] if strict else ["gate", "after"])
    assert agent.runs[0].failed_open is not strict


def test_a_gate_that_cannot_start_denies_when_it_is_strict() -> None:
    nowhere = "[hooks]\nworking_dir = '/no/such/place'\n"

    lenient, _ = gates(nowhere, gate("true"))
    strict, agent = gates(nowhere, gate("true", continue_on_error=False))

    assert lenient.permission is None
    assert strict.permission == "deny"
    assert strict.reason is not None
    assert "/no/such/place" not in strict.reason
    assert "/no/such/place" in agent.runs[0].detail  # the reader finds the mistake


def test_strictness_is_of_the_hook_that_ran() -> None:
    other = {"type": "tool_name", "name": "write"}
    outcome, _ = gates(
        gate("exit 1"), gate("exit 1", continue_on_error=False, condition=other), gate("exit 0"),
    )  # fmt: skip

    assert outcome.permission is None


def test_no_verdict_of_a_strict_gate_outranks_a_deny() -> None:
    outcome, _ = gates(
        gate("echo no; exit 2"), gate("exit 1", name="strict", continue_on_error=False), gate("exit 0")
    )

    assert outcome.reason == "hook strict gave no answer: exit 1"


def test_an_unavailable_lenient_gate_leaves_the_other_gates_deny() -> None:
    outcome, _ = gates(gate("sleep 30", timeout_secs=1), gate(says(DENY)))

    assert outcome.blocked
    assert outcome.reason == "not now"


class Lost:
    """A handler that always fails."""

    kind = "command"
    own_clock = True

    async def run(self, call: HookInvocation) -> RawResult:
        raise RuntimeError("panicked at /opt/agent")

    def problem(self, spec: Any) -> str | None:
        return None

    async def close(self) -> None: ...


def test_a_lost_handler_denies_only_where_a_strict_gate_matched() -> None:
    other = {"type": "tool_name", "name": "write"}

    def lost(*hooks: str) -> Outcome:
        agent = HookedAgent(dialect(), [(CONFIG, "user", "".join(hooks))], handlers={"command": Lost()})
        return agent.fire("tool_call_before", bash())

    strict = lost(gate("true", name="gate", continue_on_error=False))
    assert strict.reason == "hook gate gave no answer: it raised RuntimeError"
    lenient = lost(gate("true"), gate("true", continue_on_error=False, condition=other))
    assert not lenient.blocked
    assert lenient.messages


def test_a_background_gate_never_steers() -> None:
    deny = says({**DENY, "updatedInput": {"a": 1}, "additionalContext": "x"}, 2)
    outcome, agent = gates(gate(deny, background=True, continue_on_error=False), gate(says(ALLOW)))

    assert outcome.permission == "allow"
    assert outcome.updated_input is None
    assert agent.late == []
    assert agent.runs[0].status == "background"


def test_the_async_mark_of_other_agents_means_nothing_here() -> None:
    outcome, agent = gates(gate("""echo '{"async": true}'; sleep 0.2; exit 2"""))

    assert outcome.blocked
    assert [run.status for run in agent.runs] == ["blocked"]


def test_an_ask_reaches_the_host_with_its_reason() -> None:
    outcome, _ = gates(gate(says({"decision": "ask", "reason": "look at /etc first"})), gate(says(ALLOW)))

    assert outcome.permission == "ask"
    assert outcome.reason == "look at /etc first"
