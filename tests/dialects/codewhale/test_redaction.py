"""Denials say why, and carry nothing along that a transcript must not keep."""

import time

import pytest

from hookline.dialects.codewhale.texts import redacted
from tests.dialects.codewhale.hooks import HELLO, agent_with, bash, entry, says
from tests.every import every


@every(
    ("reason", "shown"),
    [
        ("never touch /etc/passwd", "never touch [path]"),
        ("see ~/notes, ./here and C:\\Users", "see [path] [path] and [path]"),
        ("do not use --force or -rf", "do not use [argument] or [argument]"),
        ("token=abc and API_KEY: abc", "[secret] and [secret] [secret]"),
        ("password = hunter2", "password [secret]"),
        ("Authorization: Bearer abc.def tail", "[secret] [secret] [secret] tail"),
        ("Authorization=Digest abc tail", "[secret] [secret] tail"),
        ('header "Authorization: Basic abc" sent', "header [secret] sent"),
        ("use Bearer abc then", "use [secret] [secret] then"),
        ("sk-live ghp_abc github_pat_abc", "[secret] [secret] [secret]"),
        ('command="rm -rf" is out', "[command] is out"),
        ("cmd: rm", "[command] [command]"),
        ("path='/private folder' stays", "[path] stays"),
        ("'see /etc/x now' he said", "'see [path] now' he said"),
        ('{"token":"abc"}', "[secret]"),
        ("--password=abc", "[secret]"),
        ("the token abc123def is known", "the token [secret] is known"),
        ("don't use sk-abc", "don't use [secret]"),
        ("an ordinary sentence: the file is too big, use 'git push' - please", None),
        ("one line\nanother", None),
        ("", None),
    ],
)
def test_what_a_reason_loses(reason: str, shown: str | None) -> None:
    assert redacted(reason) == (reason if shown is None else shown)


@every("unit", ["a='", "'\" ", "\"a 'b ", "x=", "'", "a:", " -", "\\", "token "])
def test_no_reason_takes_long(unit: str) -> None:
    began = time.monotonic()
    redacted(unit * (65_536 // len(unit)))

    assert time.monotonic() - began < 5


def test_every_denial_is_redacted() -> None:
    reason = "no /etc/passwd with --force and token=abc"
    shown = "no [path] with [argument] and [secret]"

    for command in (says({"decision": "deny", "reason": reason}), f"echo '{reason}'; exit 2"):
        assert agent_with(entry("tool_call_before", command)).fire("tool_call_before", bash()).reason == shown
    blocked = agent_with(entry("message_submit", says({"reason": reason}, 2))).fire("message_submit", HELLO)
    assert blocked.reason == shown


def test_a_denial_loses_secrets_that_only_hookline_knows() -> None:
    reason = "AKIAIOSFODNN7EXAMPLE and AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI7MDENG"

    for event, payload in (("tool_call_before", bash()), ("message_submit", HELLO)):
        said = agent_with(entry(event, f"echo '{reason}' >&2; exit 2")).fire(event, payload).reason
        assert said == "[redacted] and AWS_SECRET_ACCESS_KEY=[redacted]"


@pytest.mark.parametrize("event", ["message_submit", "tool_call_before"])
def test_a_hook_that_could_not_start_shows_what_kind_of_error_and_no_more(event: str) -> None:
    config = "[hooks]\nworking_dir = '/no/such/place'\n" + entry(
        event, "deploy --token abc", name="run /opt/deploy", continue_on_error=False
    )
    reason = agent_with(config).fire(event, HELLO if event == "message_submit" else bash()).reason

    assert reason is not None
    assert reason.startswith("hook run [path] gave no answer: its working directory [path]")
    for hidden in ("/no", "deploy", "token"):
        assert hidden not in reason


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("event", ["message_submit", "tool_call_before"])
@pytest.mark.parametrize("end", ["exit 1", "kill -9 $$"])
def test_what_a_failed_guard_wrote_to_stderr_is_redacted(end: str, event: str, strict: bool) -> None:
    command = f"echo 'cannot read /etc/passwd with token=abc' >&2; echo more >&2; {end}"
    hook = entry(event, command, name="guard", continue_on_error=not strict)
    outcome = agent_with(hook).fire(event, HELLO if event == "message_submit" else bash())
    (said,) = [outcome.reason] if strict else [message.text for message in outcome.messages]

    assert said is not None
    assert said.startswith("hook guard gave no answer: ")
    assert said.endswith(": cannot read [path] with [secret]")
