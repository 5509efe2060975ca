"""Test a question of an agent without a user: it waits for a person, is answered once, and is denied at the end."""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from hookline.engine.host.approvals import ApprovalAnswer, ApprovalQueue, QueuedCall
from hookline.journal.file import journal_path
from hookline.journal.reader import read_journal
from tests.cli.run_cli import Workspace, clean_env, workspace
from tests.hook.test_headless import AGENT, CALL, GUARD
from tests.waiting import wait_until

pytestmark = pytest.mark.skipif(
    not os.path.exists("/proc/self/stat"), reason="parents of a process are known on Linux"
)


def queue_of(where: Workspace) -> ApprovalQueue:
    return ApprovalQueue({"HOME": str(where.home)})


def asked(
    where: Workspace, settings: str, answer: Callable[[QueuedCall], object] | None = None
) -> dict[str, str]:
    """Let an agent without a user ask; meanwhile somebody answers. Return the answer that the agent gets."""
    where.write("~/.config/hookline/hooks.toml", GUARD)
    where.write("~/.config/hookline/settings.toml", settings)
    program = where.home / "gemini"
    program.write_text(f"#!{sys.executable}\n{AGENT}\n")
    program.chmod(0o755)
    payload = where.write("payload.json", json.dumps({**CALL, "cwd": str(where.project)}))
    hook = f"{sys.executable} -I -m hookline hook --dialect gemini-cli --home {where.home} BeforeTool < {payload}; true"

    def person() -> None:
        queue = queue_of(where)
        wait_until(lambda: bool(queue.waiting()))
        assert answer is not None
        answer(queue.waiting()[0])

    somebody = threading.Thread(target=person)
    if answer is not None:
        somebody.start()
    ran = subprocess.run(
        [str(program), hook], cwd=where.project, env=clean_env(where.home), capture_output=True,
        stdin=subprocess.DEVNULL, text=True, check=True,
    )  # fmt: skip
    if answer is not None:
        somebody.join()
    found: dict[str, str] = json.loads(ran.stdout or "{}")
    return found


def command(where: Workspace, *words: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "hookline", "approvals", *words], env=clean_env(where.home), cwd=where.project,
        capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL,
    )  # fmt: skip


def test_a_person_lets_the_exact_call_run(tmp_path: Path) -> None:
    del tmp_path
    with workspace() as where:

        def person(call: QueuedCall) -> None:
            listed = command(where)
            assert "run_shell_command ls" in listed.stdout
            shown = json.loads(command(where, "show", call.pending.id[:6], "--json").stdout)
            assert shown["pending"]["tool_input"] == {"command": "ls"}
            assert shown["pending"]["reason"] == "sure?"
            assert shown["agent"] == "Gemini CLI"
            refused = command(where, "allow", call.pending.id[:6])
            assert refused.returncode == 1
            assert "say --yes to allow it without a question" in refused.stderr
            assert command(where, "allow", call.pending.id[:6], "--yes").returncode == 0
            again = command(where, "deny", call.pending.id[:6])
            assert again.returncode == 1

        answer = asked(where, "approvals = 300\n", person)
        assert answer.get("decision", "allow") == "allow"
        runs = read_journal(journal_path({"HOME": str(where.home)})).runs
        assert any(run.decision == "allow" and "hookline approvals" in run.why for run in runs)


def test_a_denial_has_the_words_of_the_person() -> None:
    with workspace() as where:

        def person(call: QueuedCall) -> None:
            assert (
                command(where, "deny", call.pending.id, "--message", "use the test account").returncode == 0
            )

        answer = asked(where, "approvals = 300\n", person)
    assert answer["decision"] == "deny"
    assert answer["reason"].startswith("sure? (denied by ")
    assert answer["reason"].endswith(": use the test account)")


def test_nobody_answers_so_it_is_denied_and_a_later_answer_has_no_effect() -> None:
    with workspace() as where:
        answer = asked(where, "approvals = 0.5\n")
        assert answer["decision"] == "deny"
        assert "sure? (denied: no one answered in time)" in answer["reason"]
        (file,) = Path(queue_of(where).directory).glob("*.json")
        assert not queue_of(where).answer(file.stem, ApprovalAnswer(allow=True, by="late"))
        assert queue_of(where).waiting() == []


def test_a_file_that_others_can_write_is_no_answer() -> None:
    with workspace() as where:

        def person(call: QueuedCall) -> None:
            file = Path(queue_of(where).directory, f"{call.pending.id}.answer")
            file.write_text('{"allow":true,"by":"somebody"}')
            file.chmod(0o666)

        answer = asked(where, "approvals = 2\n", person)
    assert answer["decision"] == "deny"


def test_without_the_setting_nothing_waits() -> None:
    with workspace() as where:
        answer = asked(where, "")
    assert answer["decision"] == "deny"
    assert "no user can be asked" in answer["reason"]
