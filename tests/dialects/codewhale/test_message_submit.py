"""message_submit: the text goes from hook to hook; each may replace it, and any may block it."""

import json
from pathlib import Path
from typing import Any

import pytest

from hookline import Outcome
from hookline.dialects.codewhale.wire import CodeWhaleWire
from hookline.events import Prompt
from tests.dialects.codewhale.hooks import HELLO, agent_with, document, entry, read_config, says, variables
from tests.dialects.hooked_agent import HookedAgent
from tests.every import every

PREPEND = r"""sed 's/.*"text":"\([^"]*\)".*/{"text":"[hooked] \1"}/'"""


def submit(*hooks: str, text: str = "hello", **info: Any) -> tuple[Outcome, HookedAgent]:
    agent = agent_with("".join(hooks), **info)
    return agent.fire("message_submit", Prompt(prompt=text)), agent


def test_the_hook_of_the_rfc_prepends_to_every_message() -> None:
    outcome, _ = submit(entry("message_submit", PREPEND, timeout_secs=2, continue_on_error=True))

    assert outcome.updated_prompt == "[hooked] hello"
    assert not outcome.blocked


def test_each_hook_sees_the_text_of_the_one_before(tmp_path: Path) -> None:
    seen, env = tmp_path / "stdin", tmp_path / "env"
    outcome, _ = submit(
        entry("message_submit", says({"text": "x"})),
        entry("message_submit", f"cat > {seen}; env -0 > {env}"),
        entry("message_submit", PREPEND),
    )

    assert document(seen)["text"] == "x"
    assert variables(env)["DEEPSEEK_MESSAGE"] == "x"
    assert outcome.updated_prompt == "[hooked] x"


@pytest.mark.parametrize("stdout", ["", "  \n", "{}", '{"reason": "none"}', '{"decision": "deny"}'])
def test_an_answer_without_text_changes_nothing_and_is_no_mistake(stdout: str) -> None:
    outcome, agent = submit(entry("message_submit", f"printf '{stdout}'"))

    assert outcome == Outcome()
    assert [run.status for run in agent.runs] == ["ok"]


@pytest.mark.parametrize(
    "stdout",
    [
        "not json",
        '{"text": ',
        '["text"]',
        "5",
        '"text"',
        '{"text": ""}',
        '{"text": 5}',
        '{"text": null}',
        '{"text": "x"} trailing',
        '{"text": NaN}',
        json.dumps({"text": "x" * 32_001}),
        "[" * 60_000,
    ],
)
def test_a_malformed_answer_is_a_warning_and_later_hooks_run(stdout: str, tmp_path: Path) -> None:
    file = tmp_path / "stdout"
    file.write_text(stdout)
    outcome, _ = submit(
        entry("message_submit", f"cat {file}", name="odd", continue_on_error=False),
        entry("message_submit", PREPEND),
    )

    assert outcome.updated_prompt == "[hooked] hello"
    assert [message.hook for message in outcome.messages] == ["odd"]
    assert not outcome.blocked


def test_a_replacement_of_32000_characters_is_taken(tmp_path: Path) -> None:
    file = tmp_path / "stdout"
    file.write_text(json.dumps({"text": "ü" * 32_000}, ensure_ascii=False))

    outcome, _ = submit(entry("message_submit", f"cat {file}"))

    assert outcome.updated_prompt == "ü" * 32_000


def test_of_a_key_that_stands_twice_the_last_one_counts() -> None:
    outcome, _ = submit(entry("message_submit", """echo '{"text": "a", "text": "b"}'"""))

    assert outcome.updated_prompt == "b"


def test_exit_2_blocks_and_ends_the_chain() -> None:
    outcome, agent = submit(
        entry("message_submit", says({"text": "changed"})),
        entry("message_submit", says({"reason": "no swearing", "text": "ignored"}, 2), name="guard"),
        entry("message_submit", "true", name="after"),
    )

    assert outcome.blocked
    assert outcome.reason == "no swearing"
    assert outcome.votes[0].means == "reject_prompt"
    assert outcome.updated_prompt is None
    assert [run.hook for run in agent.runs][-1] == "guard"


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        ("""echo '{"reason": "from json"}'; echo err >&2; exit 2""", "from json"),
        ("echo from stdout; echo ' from stderr ' >&2; exit 2", "from stderr"),
        ("echo from stdout; exit 2", "from stdout"),
        ("""echo '{"reason": 5, "text": "the text"}'; echo from stderr >&2; exit 2""", "from stderr"),
        ("printf 'two\\nlines, see /etc/passwd' >&2; exit 2", "two lines, see [path]"),
    ],
)
def test_the_reason_of_a_block_is_its_json_its_errors_or_its_output(command: str, reason: str) -> None:
    outcome, _ = submit(entry("message_submit", command, name="guard"))

    assert outcome.blocked
    assert outcome.reason == reason


@pytest.mark.parametrize(
    "command",
    [
        "exit 2",
        """echo '{"reason": 5, "text": "the text"}'; exit 2""",
        """echo '{"text": "the text", "reason": "  "}'; exit 2""",
    ],
)
def test_a_block_without_a_reason_names_its_hook_and_never_shows_its_answer(command: str) -> None:
    outcome, _ = submit(entry("message_submit", command, name="guard"))

    assert outcome.blocked
    assert outcome.reason == "hook guard blocked this message and gave no reason"


def test_a_reason_is_one_redacted_line_of_240_characters() -> None:
    outcome, _ = submit(
        entry("message_submit", says({"reason": "see /etc/passwd\nand " + "x" * 400}, 2)),
    )

    assert outcome.reason is not None
    assert outcome.reason.startswith("see [path] and xxx")
    assert outcome.reason.endswith("x…[truncated]")
    assert len(outcome.reason) == 240 + len("…[truncated]")


def test_exit_1_of_a_lenient_hook_is_a_warning() -> None:
    outcome, agent = submit(
        entry("message_submit", says({"text": "not read"}, 1), name="weak"),
        entry("message_submit", PREPEND),
    )

    assert outcome.updated_prompt == "[hooked] hello"
    assert [message.text for message in outcome.messages] == ["hook weak gave no answer: exit 1"]
    assert agent.runs[0].failed_open


def test_exit_1_of_a_strict_hook_blocks() -> None:
    outcome, agent = submit(
        entry("message_submit", "echo words; exit 1", name="strict", continue_on_error=False),
        entry("message_submit", PREPEND),
    )

    assert outcome.blocked
    assert outcome.reason == "hook strict gave no answer: exit 1"
    assert len(agent.runs) == 1


@pytest.mark.parametrize("strict", [False, True])
def test_a_timeout_warns_or_blocks(*, strict: bool) -> None:
    outcome, agent = submit(
        entry("message_submit", "sleep 30", timeout_secs=1, continue_on_error=not strict),
        entry("message_submit", PREPEND),
    )

    assert agent.runs[0].status == "timed_out"
    assert outcome.blocked is strict
    assert bool(outcome.messages) is not strict
    assert outcome.updated_prompt == (None if strict else "[hooked] hello")


def test_a_background_hook_only_watches(tmp_path: Path) -> None:
    seen, env = tmp_path / "stdin", tmp_path / "env"
    command = f'cat > {seen}; env -0 > {env}; echo \'{{"text": "changed"}}\'; exit 2'
    outcome, agent = submit(
        entry("message_submit", command, background=True, continue_on_error=False),
        entry("message_submit", "exit 0"),
    )

    assert outcome == Outcome()
    assert agent.late == []
    assert document(seen)["text"] == "hello"
    assert variables(env)["DEEPSEEK_MESSAGE"] == "hello"
    assert {run.status for run in agent.runs} == {"background", "ok", "failed"}


def test_nobody_reads_what_a_background_hook_prints() -> None:
    outcome, agent = submit(entry("message_submit", "echo nonsense", background=True))

    assert outcome == Outcome()
    assert agent.late == []


def test_a_background_guard_is_one_warning_when_it_is_read_and_none_when_it_runs() -> None:
    found = read_config(entry("message_submit", "true", background=True))

    assert [(one.severity, one.code) for one in found.diagnostics] == [("warning", "async-guard")]


KEYS = [
    "event", "text", "text_bytes", "text_original_bytes", "text_truncated",
    "session_id", "workspace", "mode", "model", "total_tokens",
]  # fmt: skip


def received(text: str, **info: Any) -> tuple[bytes, dict[str, Any]]:
    """Return what is on stdin, without a process."""
    agent = agent_with(entry("message_submit", "true"), **info)
    from hookline.model.wire import HookInvocation

    hook = agent.reading.hooks[0]
    call = HookInvocation(
        hook=hook, event=hook.event, payload=Prompt(prompt=text), info=agent.session.info, timeout=1
    )
    raw = CodeWhaleWire().encode(call).document
    return raw, json.loads(raw)


def test_the_document_of_a_short_message() -> None:
    raw, fields = received("grüße", session_id="sess_1", cwd="/w", model="m", extra={"total_tokens": 1234})

    assert list(fields) == KEYS
    assert fields == {
        "event": "message_submit",
        "text": "grüße",
        "text_bytes": 7,
        "text_original_bytes": 7,
        "text_truncated": False,
        "session_id": "sess_1",
        "workspace": "/w",
        "mode": "agent",
        "model": "m",
        "total_tokens": 1234,
    }
    assert raw.endswith(b"}\n")


@every("character", ["x", "ü", "\n", "\x01", "😀", '"', "\ud800", "\0"])
def test_the_document_is_at_most_32_kib_after_escaping(character: str) -> None:
    raw, fields = received(character * 200_000, cwd="/w" * 20_000, model="m" * 20_000)

    assert 32_768 - 16 < len(raw) <= 32_768
    assert fields["text_truncated"] is True
    assert fields["text_bytes"] == len(fields["text"].encode())
    assert fields["text_original_bytes"] > 32_768
    assert set(fields["text"]) == {fields["text"][0]}
    assert fields["workspace"] == "/w" * 2048 + "...[truncated]"


def test_what_is_told_beside_the_text_gives_way_before_the_text_does() -> None:
    wide = "\x01" * 50_000  # six bytes each after escaping
    _, fields = received("hello", session_id=wide, cwd=wide, model=wide)

    assert fields["text"] == "hello"
    assert fields["text_truncated"] is False
    assert len(fields["session_id"]) == 256 + len("...[truncated]")


def test_what_cannot_even_be_shortened_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    from hookline.dialects.codewhale import payload

    monkeypatch.setattr(payload, "DOCUMENT_BYTES", 600)
    _, fields = received("hello", session_id="s" * 400, cwd="w" * 400)

    assert fields["text"] == "hello"
    assert [fields[key] for key in KEYS[5:]] == [None] * 5


def test_a_message_of_any_size_is_encoded_within_bounds() -> None:
    outcome, _ = submit(entry("message_submit", "wc -c >&2; exit 0"), text="x" * 3_000_000)

    assert not outcome.blocked
    assert HELLO.prompt == "hello"
