"""Single checks, where a whole tree would say too little."""

import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from msgspec.structs import replace

from hookline.checks.commands.answers import answers, decides, uses_text
from hookline.checks.commands.programs import unstartable
from hookline.checks.jobs import jobs
from hookline.checks.journal import payloads
from hookline.checks.registry import ranked
from hookline.checks.settings import fails_open, open_cases, secrets
from hookline.events import EVENTS
from hookline.jobs.file import DurableFile
from hookline.jobs.port import Job
from hookline.model.diagnostics import Diagnostic, Where
from tests.checks.hooks import claude, here, looking, native


def test_plain_text_is_heard_exactly_where_claude_code_puts_it_before_the_model(tmp_path: Path) -> None:
    dialect = looking().loader.dialect("claude-code")
    read = {
        name
        for name in dialect.events
        if uses_text(dialect.flag_hook(dialect.events[name], "true"), "some words")
    }
    # A worktree hook prints the path it made; the other four give the model context.
    assert read == {"SessionStart", "UserPromptSubmit", "UserPromptExpansion", "PreCompact", "WorktreeCreate"}


def test_a_decision_counts_where_claude_code_says_so(tmp_path: Path) -> None:
    dialect = looking().loader.dialect("claude-code")
    block = {"decision": "block", "reason": "x"}
    reads = {
        name for name in dialect.events if decides(dialect.flag_hook(dialect.events[name], "true"), block)
    }
    assert reads == {
        "UserPromptSubmit", "UserPromptExpansion", "PreToolUse", "PostToolUse", "PostToolUseFailure",
        "PostToolBatch", "SubagentStop", "TaskCreated", "Stop", "ConfigChange", "PreCompact",
    }  # fmt: skip


def test_the_cases_in_which_a_guard_is_open_follow_its_own_word(tmp_path: Path) -> None:
    failing = '{ timed_out = "open", crashed = "ask" }'
    text = f'[[hooks.PreToolUse]]\nhooks = [{{ command = "true", on_failure = {failing} }}]\n'
    (hook,) = native(tmp_path, text).hooks
    assert open_cases(hook) == ("takes too long",)


@pytest.mark.parametrize("event", ["PermissionRequest", "PostToolUse", "Stop", "SessionStart"])
def test_what_guards_nothing_does_not_fail_open(tmp_path: Path, event: str) -> None:
    loaded = claude(tmp_path, event, {"command": "true"})
    assert list(fails_open(loaded, here(tmp_path))) == []


#: The command, and the severity of the finding that it fails open, at a tool call and at a prompt.
GUARDS = (
    ("grep -q -e --force && exit 2; exit 0", "info", "info"),
    ("""jq -c '{decision: "block", reason: .tool_name}'""", "info", "info"),
    ("python3 judge.py", "info", "info"),
    ("./guard.sh", "info", "info"),
    ("node deny.mjs", "info", "info"),
    ("uvx no-secrets", "info", "info"),
    ("company-hooks pre", "info", None),
    ("rc=$(company-hooks pre); exit $rc", "info", None),
    ('echo "Branch: $(git branch --show-current)"', None, None),
    ("jq -r .tool_name >> ~/tools.log", None, None),
    ("bash -c 'date >> /tmp/x.log'", None, None),
    ("""echo '{"hookSpecificOutput": {"permissionDecision": "allow"}}'""", None, None),
    ("python3 context.py", None, None),
    ("./remind.sh || true", None, None),
)
SCRIPTS = {
    "judge.py": "import sys\n\ndef main():\n    return 2\n\nsys.exit(main())\n",
    "guard.sh": "#!/bin/sh\n./other || exit 2\n",
    "deny.mjs": "if (bad) process.exit(2)\n",
    "context.py": "# exit 2 would block\nprint('The tests are in tests/. Remember: ask before you delete.')\n",
    "remind.sh": '#!/bin/bash\nset -euo pipefail\nsay() { echo "$1"; }\nfor i in 1 2; do say $i; done\nexit 0\n',
}


@pytest.mark.parametrize(("command", "at_a_call", "at_a_prompt"), GUARDS)
def test_only_what_may_be_a_guard_is_said_to_fail_open(
    tmp_path: Path, command: str, at_a_call: str | None, at_a_prompt: str | None
) -> None:
    for name, text in SCRIPTS.items():
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    said = {
        event: [
            (one.severity, one.fix)
            for one in fails_open(claude(tmp_path, event, {"command": command}), here(tmp_path))
        ]
        for event in ("PreToolUse", "UserPromptSubmit")
    }
    assert [severity for severity, _ in said["PreToolUse"]] == [each for each in (at_a_call,) if each]
    # Never with advice: a hook that fails closed there would block every prompt when it breaks.
    assert said["UserPromptSubmit"] == [(each, None) for each in (at_a_prompt,) if each]


@pytest.mark.parametrize(
    ("event", "name", "said"),
    [
        ("PreToolUse", "check.sh", ["exit 2, if it is to block"]),
        ("UserPromptSubmit", "add-context.sh", []),
        ("UserPromptSubmit", "no-secrets.sh", ["exit 2, if it is to block"]),
    ],
)
def test_a_prompt_is_not_to_be_blocked_by_a_hook_that_adds_context(
    tmp_path: Path, event: str, name: str, said: list[str]
) -> None:
    (tmp_path / name).write_text(
        '#!/bin/sh\n[ -e notes.md ] || { echo "no notes" >&2; exit 1; }\ncat notes.md\n'
    )
    (tmp_path / name).chmod(0o755)
    found = answers(claude(tmp_path, event, {"command": f"./{name}"}), here(tmp_path))
    assert [one.fix for one in found if one.code == "exit-1"] == said


def test_whoever_opened_a_guard_in_so_many_words_gets_a_note(tmp_path: Path) -> None:
    entry = """{ command = "grep -q rm && exit 2; exit 0", on_failure = "open" }"""
    (said,) = fails_open(native(tmp_path, f"[[hooks.PreToolUse]]\nhooks = [{entry}]\n"), here(tmp_path))
    assert (said.severity, said.fix) == ("info", 'on_failure = "closed"')


@pytest.mark.parametrize(
    "entry",
    [
        "command = \"curl -H 'X-Api-Key: sk-proj-abcdefghij0123456789ab' x\"",
        'command = "x"\nargs = ["--token", "ghp_abcdefghijklmnop0123456789"]',
        'command = "x"\nenv = { DB_PASSWORD = "correcthorse9" }',
        'type = "http"\nurl = "https://x.example/h?token=abcdef0123456789"',
    ],
)
def test_a_secret_is_found_wherever_it_stands_in_an_entry(tmp_path: Path, entry: str) -> None:
    loaded = native(tmp_path, f"[[hooks.Stop]]\n[[hooks.Stop.hooks]]\n{entry}\n")
    (said,) = secrets(loaded, here(tmp_path))
    assert (said.code, said.severity) == ("secret-in-config", "warning")


@pytest.mark.parametrize(
    "entry",
    [
        "command = \"curl -H 'X-Api-Key: $API_KEY' x\"",
        'command = "x --token-file /run/secrets/token"',
        'command = "x"\nenv = { API_TOKEN = "${API_TOKEN}", TOKEN_FILE = "/run/secrets/token" }',
        'type = "http"\nurl = "https://x.example/tokens"\nheaders = { Authorization = "Bearer $T" }',
    ],
)
def test_the_name_of_a_secret_is_none(tmp_path: Path, entry: str) -> None:
    loaded = native(tmp_path, f"[[hooks.Stop]]\n[[hooks.Stop.hooks]]\n{entry}\n")
    assert list(secrets(loaded, here(tmp_path))) == []


def test_a_secret_of_this_environment_is_known_by_its_value(tmp_path: Path) -> None:
    loaded = native(tmp_path, '[[hooks.Stop]]\nhooks = [{ command = "x correct-horse-battery" }]\n')
    assert list(secrets(loaded, here(tmp_path))) == []
    assert len(list(secrets(loaded, here(tmp_path, DEPLOY_TOKEN="correct-horse-battery")))) == 1


def test_a_thousand_programs_that_are_missing_are_all_named_in_no_time(tmp_path: Path) -> None:
    entry = '[[hooks.Stop]]\nhooks = [{ command = "no-such-program-%d" }]\n'
    loaded = native(tmp_path, "".join(entry % number for number in range(1000)))
    assert len(list(unstartable(loaded, here(tmp_path)))) == 1000


@pytest.mark.parametrize(
    "line",
    [
        "{" * 60_000,
        "echo a" + " " * 60_000 + "(",
        "\n" * 60_000,
        "echo " + "a " * 30_000 + "(",
        "# " * 30_000,
    ],
)
def test_hostile_scripts_are_read_in_no_time(tmp_path: Path, line: str) -> None:
    script = tmp_path / "guard.sh"
    script.write_text(f"#!/bin/sh\n{line}\n")
    script.chmod(0o755)
    loaded = claude(tmp_path, "PostToolUse", {"command": "./guard.sh"})
    assert list(answers(loaded, here(tmp_path))) == []


@pytest.mark.parametrize(
    "command", ["./a\udc80b", "/" + "x" * 5000, "./a\u202eb", "''", "\\", "$(", "'" * 999, "${A" * 9999]
)
def test_hostile_commands_never_make_a_check_fall_over(tmp_path: Path, command: str) -> None:
    loaded = claude(tmp_path, "PreToolUse", {"command": command})
    for check in (unstartable, answers, secrets, fails_open):
        list(check(loaded, here(tmp_path)))


def test_an_executable_file_may_be_what_nobody_can_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe", 0o755)
    loaded = claude(tmp_path, "PreToolUse", {"command": "./pipe"})
    assert list(unstartable(loaded, here(tmp_path))) == []


def test_errors_come_first_and_in_the_order_of_their_lines(tmp_path: Path) -> None:
    loaded = native(tmp_path, '[[hooks.Stop]]\nhooks = [{ command = "true" }]\n')
    (hook,) = loaded.hooks
    file = hook.where.file

    def said(severity: str, line: int) -> Diagnostic:
        return Diagnostic(severity, "x", f"{severity} {line}", Where(file, (), lambda _path: line))  # pyright: ignore[reportArgumentType] a Severity

    given = [said("info", 1), said("warning", 2), said("error", 9), said("error", 3), said("error", 3)]
    messages = [one.message for one in ranked(loaded, given, here(tmp_path))]
    assert messages == [
        "error 3",
        "error 9",
        "warning 2",
        "info 1",
    ]


def test_every_event_of_the_table_can_be_asked_about(tmp_path: Path) -> None:
    engine = looking()
    for event in EVENTS.values():
        matcher = "git" if event.name == "ExecStart" else None  # it fires for every program
        hook = engine.make_hook(event, "true", matcher=matcher, name="x")
        assert uses_text(hook, "some words") in (True, False)


def test_dead_letters_late_jobs_and_a_damaged_queue_are_said(tmp_path: Path) -> None:
    path = tmp_path / ".local/state/hookline/jobs.sqlite"
    context = replace(here(tmp_path), env={"HOME": str(tmp_path)})
    loaded = native(tmp_path, "")

    def found() -> list[tuple[str, str, str]]:
        return [(each.severity, each.code, each.message) for each in jobs(loaded, context)]

    assert found() == []
    assert not path.exists()
    queue = DurableFile(str(path))
    for number in ("1", "2"):
        queue.submit(Job(id=number, session="s", queue="files", body=b"{}"))
    (lease,) = queue.claim(["files"], 1)
    queue.bury(lease, (), "exit 1\x1b[2J")
    queue.close()
    dead = ("warning", "dead-letters", "1 dead letter of durable hooks, the last one: exit 1")
    assert found() == [dead]
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("update job set sent = sent - 7200")
    assert found() == [dead, ("warning", "jobs-wait", "1 job of durable hooks waited for more than an hour")]
    path.write_bytes(b"no database" * 1000)
    assert [each[:2] for each in found()] == [("error", "jobs-unusable")]


def test_a_setting_that_was_meant_to_keep_payloads_is_said(tmp_path: Path) -> None:
    context = replace(here(tmp_path), env={"HOME": str(tmp_path)})
    settings = tmp_path / ".config/hookline/settings.toml"
    settings.parent.mkdir(parents=True)
    for text, found in (
        ('\nkeep_payloads = "true"', [f"{settings}:2"]),
        ("keep_payloads = true", []),
        ("approvals = true", [f"{settings}:1"]),
        ("approvals = 601", [f"{settings}:1"]),
        ("approvals = 300", []),
        ("[jobs]\ndelays = [-1]", [f"{settings}:1"]),
        ('[jobs]\nsynchronous = "often"', [f"{settings}:1"]),
        ('[jobs]\ndelays = []\nsynchronous = "full"', []),
        ("", []),
    ):
        settings.write_text(text)
        assert [str(each.where) for each in payloads(native(tmp_path, ""), context)] == found
