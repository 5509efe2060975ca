"""`hookline doctor` as a process and as a promise: it runs nothing, changes nothing, and never falls over."""

import json
import os
import shlex
import subprocess
import time
from pathlib import Path

import pytest
from msgspec.structs import replace

from hookline import __version__
from hookline.checks.commands.programs import KNOWN_GAP, SURVIVORS, containment_tier, survivors
from hookline.cli.main import run
from hookline.extending import Run
from hookline.hook.daemon.server import DaemonStatus
from hookline.journal.file import encoded
from hookline.model.run import Called
from tests.cli.doctor_case import DoctorCase, alarms, parsed
from tests.cli.golden import check_golden
from tests.cli.run_cli import Workspace, clean_env, command_line, run_cli, workspace
from tests.schemas.samples import Checker
from tests.trusting import trust_nothing

SCHEMA = Path(__file__).parents[3] / "schemas" / "cli-doctor.schema.json"
PLAIN_PATH = {"PATH": "/usr/bin:/bin"}

CLAUDE = """{
  "hooks": {
    "PreToolUse": [
      {
        "matcher": "Bash",
        "hooks": [
          {"type": "command", "command": "\\"$CLAUDE_PROJECT_DIR\\"/.claude/hooks/guard.sh"},
          {"type": "command", "command": ".claude/hooks/audit.sh", "onFailure": "block"}
        ]
      },
      {"matcher": "bash", "hooks": [{"type": "command", "command": "true", "onFailure": "block"}]}
    ],
    "PreToolUes": [{"hooks": [{"type": "command", "command": "true"}]}],
    "PostToolUse": [{"hooks": [{"type": "command", "command": ".claude/hooks/lint.sh"}]}]
  }
}
"""
WHALE = """[hooks]
enabled = true

[[hooks.hooks]]
name = "gate"
event = "tool_call_before"
command = "true"

[[hooks.hooks]]
event = "PreToolUse"
command = "true"
"""
MARKER = "#!/bin/sh\ntouch ran\n"


@pytest.fixture
def case(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> DoctorCase:
    return DoctorCase(tmp_path, monkeypatch)


def rich(where: Workspace) -> None:
    where.write(".claude/settings.json", CLAUDE)
    where.write(".claude/hooks/guard.sh", f"{MARKER}exit 2\n")
    where.write(".claude/hooks/audit.sh", MARKER).chmod(0o644)
    where.write(".claude/hooks/lint.sh", '#!/bin/sh\ncat > /dev/null\necho "Please run the linter."\n')
    where.write("~/.codewhale/config.toml", WHALE)
    where.write(".hookline/hooks.toml", '[[hooks.Stop]]\nhooks = [{ command = "true", mode = "shadow" }]\n')


def test_a_rich_project_in_words() -> None:
    with workspace() as where:
        rich(where)
        ran = run_cli(["doctor"], where.project, where.home, env=PLAIN_PATH)
    assert (ran.status, ran.stderr) == (1, "")
    check_golden("doctor_rich.txt", ran.stdout)


def test_nothing_configured_is_one_line_with_the_next_step() -> None:
    with workspace() as where:
        ran = run_cli(["doctor"], where.project, where.home, env=PLAIN_PATH)
    assert (ran.status, ran.stderr) == (1, "")
    check_golden("doctor_nothing.txt", ran.stdout)


def test_nothing_is_run_and_no_file_is_touched() -> None:
    with workspace() as where:
        rich(where)
        before = snapshot(where.home)
        run_cli(["doctor"], where.project, where.home, env=PLAIN_PATH)
        assert snapshot(where.home) == before


def snapshot(top: Path) -> dict[str, tuple[int, int, int]]:
    found = {str(file): os.lstat(file) for file in (top, *top.rglob("*"))}
    return {name: (each.st_mode, each.st_size, each.st_mtime_ns) for name, each in found.items()}


def test_the_json_fits_its_schema_and_says_what_the_text_says() -> None:
    with workspace() as where:
        rich(where)
        ran = run_cli(["doctor", "--json"], where.project, where.home, env=PLAIN_PATH)
        nothing = run_cli(["doctor", "--json"], where.home / "..", where.home / "none", env=PLAIN_PATH)
    checker = Checker(json.loads(SCHEMA.read_text()))
    document = json.loads(ran.stdout)
    assert checker.mistakes(document) == []
    assert ran.status == 1
    assert (
        document["counts"]["errors"] == sum(one["severity"] == "error" for one in document["problems"]) == 4
    )
    assert {found["dialect"] for found in document["found"]} == {"claude-code", "codewhale", "native"}
    bare = json.loads(nothing.stdout)
    assert checker.mistakes(bare) == []
    assert nothing.status == 1
    assert any("hooks.{toml" in one for one in bare["searched"])


def test_warnings_alone_are_no_failure_unless_that_is_asked_for() -> None:
    with workspace() as where:
        where.write(
            ".hookline/hooks.toml", '[[hooks.Stop]]\nhooks = [{ command = "true", rewrites = true }]\n'
        )
        calm = run_cli(["doctor"], where.project, where.home)
        strict = run_cli(["doctor", "--strict-warnings"], where.project, where.home)
    assert "1 hook in 1 file: 0 errors, 1 warning, 0 notes" in calm.stdout
    assert (calm.status, strict.status) == (0, 1)
    assert calm.stdout == strict.stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--dialect", "claude-cod"], "did you mean 'claude-code'?"),
        (["--cwd", "/no/such/place"], "/no/such/place"),
    ],
)
def test_a_request_that_cannot_be_met_is_one_clear_line(words: list[str], said: str) -> None:
    with workspace() as where:
        ran = run_cli(["doctor", *words], where.project, where.home)
    assert (ran.status, ran.stdout) == (1, "")
    assert said in ran.stderr
    assert len(ran.stderr.splitlines()) == 1


def test_only_the_named_dialect_is_looked_at(case: DoctorCase) -> None:
    case.write(".claude/settings.json", CLAUDE)
    case.write("~/.codewhale/config.toml", WHALE)
    found = case.document(["--dialect", "codewhale"]).found
    assert [each.dialect for each in found] == ["codewhale"]


def test_exactly_the_named_files_are_looked_at(case: DoctorCase) -> None:
    file = case.write("other.json", CLAUDE)
    case.write(".claude/hooks.json", CLAUDE)
    case.write("~/.codewhale/config.toml", WHALE)
    document = case.document(["--config", str(file), "--dialect", "claude-code"])
    assert [each.file for each in document.found] == [str(file)]
    assert {one.file for one in document.problems} == {str(file)}


def test_a_directory_or_a_pipe_in_the_place_of_a_file_is_an_error(case: DoctorCase) -> None:
    (case.project / ".claude/settings.json").mkdir(parents=True)
    case.write(".hookline/note", "")
    os.mkfifo(case.project / ".hookline/hooks.toml")
    problems = case.problems()
    assert sorted((one.code, one.severity) for one in problems) == [("not-a-file", "error")] * 2


def test_a_pipe_in_the_place_of_a_script_is_not_waited_for(case: DoctorCase) -> None:
    case.write(".hookline/hooks.toml", '[[hooks.Stop]]\nhooks = [{ command = "bash ./pipe.sh" }]\n')
    os.mkfifo(case.project / "pipe.sh")
    assert alarms(case.problems()) == []


def test_escapes_and_secrets_in_a_configuration_are_not_printed() -> None:
    key = "ghp_abcdefghijklmnop0123456789"
    entry = (
        f'command = "curl -H \'Authorization: Bearer {key}\' \\u001b[31mred"\nname = "a\\u001b]0;x\\u0007b"'
    )
    with workspace() as where:
        where.write(".hookline/hooks.toml", f"[[hooks.Stop]]\n[[hooks.Stop.hooks]]\n{entry}\nonce = 3\n")
        where.write(".codewhale/hooks.toml", f'[[hooks]]\nevent = "{key}"\ncommand = "true"\n')
        text = run_cli(["doctor"], where.project, where.home)
        document = run_cli(["doctor", "--json"], where.project, where.home)
    for ran in (text, document):
        assert "\x1b" not in ran.stdout
        assert "\\u001b" not in ran.stdout
        assert key not in ran.stdout
        assert ran.stderr == ""


def test_a_reader_who_had_enough_is_fine() -> None:
    with workspace() as where:
        rich(where)
        line = f"{shlex.join(command_line(['doctor']))} | head -n 1"
        ran = subprocess.run(
            ["sh", "-c", line],
            cwd=where.project,
            env=clean_env(where.home, PLAIN_PATH),
            capture_output=True,
            check=False,
            timeout=60,
        )
    assert (ran.stdout, ran.stderr) == (b"Where Hookline is installed and asked\n", b"")


def test_the_help_has_examples_and_the_meaning_of_its_status() -> None:
    with workspace() as where:
        ran = run_cli(["doctor", "--help"], where.project, where.home)
    assert "hookline doctor --dialect claude-code" in ran.stdout
    assert "exit status: 0" in ran.stdout
    assert ran.status == 0


def journal(case: DoctorCase, *runs: Run) -> None:
    file = case.home / ".local/state/hookline/journal.jsonl"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(b"".join(encoded(run) for run in runs) + b"torn{")


def test_what_could_not_be_expressed_lately_is_summed_up_per_agent(case: DoctorCase) -> None:
    now = time.time()
    lost = Run(hook="hookline hook", type="answer", dialect="codewhale", dropped=("stop",), at=now - 60)
    lost = replace(lost, call=Called(project=str(case.project)))
    elsewhere = replace(lost, dialect="claude-code", call=Called(project=str(case.home)))
    old = replace(lost, dialect="reasonix", at=now - 8 * 86400)
    other = Run(hook="x", dialect="gen-code", dropped=("rewrite",), at=now)
    journal(case, lost, lost, elsewhere, old, other)
    case.write(".hookline/hooks.toml", '[[hooks.Stop]]\nhooks = [{ command = "true" }]\n')
    said = [one.message for one in case.problems() if one.code == "not-expressed"]
    assert said == ["in the last 7 days 2 answers could not be expressed to CodeWhale (stop)"]


def test_a_guard_that_let_something_pass_lately_is_an_error_until_it_answers(case: DoctorCase) -> None:
    entry = '[[hooks.PreToolUse]]\nhooks = [{ name = "%s", command = "%s" }]\n'
    file = case.write(".hookline/hooks.toml", entry % ("guard", "exit 2") + entry % ("log", "cat"))
    passed = Run(hook="guard", source=f"{file}:2", failed_open=True, at=time.time())
    here, below = Called(project=str(case.project)), Called(project=str(case.project / "src"))
    journal(
        case,
        replace(passed, call=here),
        replace(passed, call=below),
        # Another project, a hook that was tried, one that guards nothing and one that is gone.
        passed,
        replace(passed, call=Called(project=str(case.home))),
        replace(passed, call=Called(project=str(case.project), origin="fire")),
        replace(passed, call=here, hook="log", source=f"{file}:4"),
        replace(passed, call=here, source=f"{file}:9"),
    )
    (said,) = case.problems()
    assert (said.severity, said.hook, said.file, said.line) == ("error", "guard", str(file), 2)
    assert "it failed 2 times here" in said.message
    journal(case, replace(passed, call=here), replace(passed, call=here, failed_open=False, status="blocked"))
    (said,) = case.problems()
    assert (said.severity, said.code) == ("note", "failed-open")
    assert "since then it has answered" in said.message


NATIVE_GUARD = '[[hooks.PreToolUse]]\nhooks = [{ name = "guard", command = "exit 2" }]\n'


def test_a_guard_that_no_agent_here_asks_is_an_error(case: DoctorCase) -> None:
    case.write(".hookline/hooks.toml", NATIVE_GUARD)
    assert case.problems() == ()  # no agent is here that could ask
    case.write("~/.claude/settings.json", "{}")
    (said,) = case.problems()
    assert (said.severity, said.id, said.fix) == ("error", "unasked-guard:guard", "hookline install")
    assert "Claude Code does not ask Hookline" in said.message
    command = "/gone/bin/hookline hook --dialect claude-code"
    entry = {"hooks": [{"type": "command", "command": command, "onFailure": "block"}]}
    case.write("~/.claude/settings.json", json.dumps({"hooks": {"PreToolUse": [entry]}}))
    assert [(one.severity, one.code) for one in case.problems()] == [
        ("error", "moved"),
        ("error", "unasked-guard"),
    ]
    there = case.write("../bin/hookline", "#!/bin/sh\n", mode=0o755)
    entry["hooks"][0]["command"] = f"{there.resolve()} hook --dialect claude-code"
    case.write("~/.claude/settings.json", json.dumps({"hooks": {"PreToolUse": [entry]}}))
    # Another installation answers there: that is worth a look, and the guard is asked.
    assert [(one.severity, one.code) for one in case.problems()] == [("warning", "moved")]


def test_hooks_in_an_agents_own_file_run_there_whatever_hookline_trusts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = DoctorCase(tmp_path, monkeypatch)
    trust_nothing(case.home)
    group = {"hooks": [{"type": "command", "command": "true"}]}
    case.write(
        ".claude/settings.json", json.dumps({"hooks": {"Stop": [group], "SessionEnd": [group]}}, indent=1)
    )
    found = [one for one in case.problems() if one.code == "needs-trust"]
    assert [one.severity for one in found] == ["note", "note"]
    assert found[0].message.startswith("Claude Code runs it; Hookline does not run it for other agents")
    case.write(".hookline/hooks.toml", '[[hooks.Stop]]\nhooks = [{ command = "true" }]\n')
    own = [one for one in case.problems() if one.code == "needs-trust" and one.dialect == "native"]
    assert [(one.severity, one.message.partition(":")[0]) for one in own] == [("warning", "it does not run")]


def test_entries_that_call_hookline_are_no_findings_meant_for_hooks_of_users(case: DoctorCase) -> None:
    command = "hookline hook --dialect claude-code"
    entry = {"hooks": [{"type": "command", "command": command}]}
    case.write("~/.claude/settings.json", json.dumps({"hooks": {"PreToolUse": [entry, entry]}}))
    # It is not in PATH, would fail open and is there twice.
    assert {(one.severity, one.code) for one in case.problems()} == {("error", "moved")}


def test_one_cause_in_many_places_is_one_finding(
    case: DoctorCase, capsys: pytest.CaptureFixture[str]
) -> None:
    group = {"hooks": [{"type": "command", "command": "./gone.sh"}]}
    case.write(
        ".claude/settings.json", json.dumps({"hooks": {"Stop": [group], "SessionEnd": [group]}}, indent=1)
    )
    case.write("~/.claude/settings.json", json.dumps({"hooks": {"SessionStart": [group]}}))
    assert run(["doctor", "--cwd", str(case.project)]) == 1
    said = capsys.readouterr().out
    assert said.count("the file ./gone.sh does not exist") == 1
    assert "1 error in 3 places" in said.splitlines()[-1]


def test_the_tier_of_containment_is_told_and_its_gap_where_there_is_one(
    case: DoctorCase, monkeypatch: pytest.MonkeyPatch
) -> None:
    import hookline.cli.commands.doctor.run as doctor_run

    case.write(".hookline/hooks.toml", '[[hooks.Stop]]\nhooks = [{ command = "true" }]\n')
    assert (containment_tier("linux"), containment_tier("darwin")) == ("subreaper", "process group")
    for platform, translated in (("linux", False), ("darwin", True)):
        monkeypatch.setattr(doctor_run, "containment_tier", lambda which=platform: containment_tier(which))
        findings = doctor_run.examine(parsed(["--cwd", str(case.project)]))
        text = findings.as_text(2000)
        assert (KNOWN_GAP in text) is translated
        listed = survivors(containment_tier(platform))
        assert [row for row in SURVIVORS if f"{row.kind};" in text or f"{row.kind}." in text] == list(listed)
        assert json.loads(findings.as_json())["survives_kill"] == [row.kind for row in listed]


def test_every_kind_of_hook_a_host_must_serve_is_named_for_native_hooks(case: DoctorCase) -> None:
    entries = [
        '{ type = "prompt", prompt = "May it?" }',
        '{ type = "agent", prompt = "May it?" }',
        '{ type = "mcp_tool", server = "s", tool = "t" }',
    ]
    case.write(".hookline/hooks.toml", f"[[hooks.PreToolUse]]\nhooks = [{', '.join(entries)}]\n")
    assert alarms(case.problems()) == ["needs-host"] * 3


def test_ten_times_as_many_hooks_take_about_ten_times_as_long(case: DoctorCase) -> None:
    """In seconds of the processor, so that a busy machine does not count."""
    entry = '[[hooks.PreToolUse]]\nmatcher = "Bash"\nhooks = [{ command = "./guard.sh %d" }]\n'
    case.write("guard.sh", "#!/bin/sh\nexit 0\n", mode=0o755)
    took: list[float] = []
    for count in (10, 100, 1000):
        case.write(".hookline/hooks.toml", "".join(entry % number for number in range(count)))
        before = time.process_time()
        assert alarms(case.problems()) == []
        took.append(time.process_time() - before)
    assert took[2] < 50 * max(took[1], 0.01)


SHARED = '{"hooks": {"PermissionRequest": [{"hooks": [{"type": "command", "command": "true"}]}]}}'


def test_a_file_two_agents_read_is_one_file_and_what_one_leaves_out_is_told(case: DoctorCase) -> None:
    case.write(".claude/settings.json", SHARED)
    case.write(
        ".gen/settings.json", '{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]}}'
    )
    document = case.document()
    assert (document.counts.files, len(document.found)) == (2, 3)
    (translated,) = [one for one in document.problems if one.code == "not-inherited"]
    assert (translated.severity, translated.line) == ("warning", 1)
    assert "gen-code" in translated.message


def test_a_program_of_another_system_is_not_taken_for_a_slip(case: DoctorCase) -> None:
    case.write("../bin/script", "#!/bin/sh\n", mode=0o755)
    case.write(
        ".claude/settings.json",
        '{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "osascript -e beep"}]}]}}',
    )
    (translated,) = [one for one in case.problems() if one.severity == "error"]
    assert translated.fix == "install osascript, or write its whole path"


def test_a_journal_that_is_none_is_told(case: DoctorCase) -> None:
    case.write(".hookline/hooks.toml", "[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ncommand = 'true'\n")
    (case.home / ".local/state/hookline/journal.jsonl").mkdir(parents=True)
    (translated,) = [one for one in case.problems() if one.code == "no-journal"]
    assert translated.severity == "warning"
    assert translated.file.endswith("journal.jsonl")


def test_without_a_daemon_it_says_what_starts_one(case: DoctorCase, monkeypatch: pytest.MonkeyPatch) -> None:
    def running(_directory: str | None) -> None:
        """Find no daemon, whatever the person who runs these tests has running."""

    monkeypatch.setattr("hookline.cli.commands.doctor.calls.running", running)
    monkeypatch.delenv("HOOKLINE_DAEMON", raising=False)

    def said() -> list[str]:
        return [one.message for one in case.problems() if one.code == "no-daemon"]

    case.write(".hookline/hooks.toml", '[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ncommand = "true"\n')
    assert said() == [], "neither an agent nor a durable hook could use one"
    case.write(
        ".hookline/hooks.toml",
        '[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ncommand = "true"\nasync = true\ndurable = true\n',
    )
    (message,) = said()
    assert message.startswith(
        "no daemon is running, and nothing here starts one: what durable hooks leave behind"
    )
    entry = {"type": "command", "command": "hookline-relay hook --dialect claude-code Stop"}
    case.write("~/.claude/settings.json", json.dumps({"hooks": {"Stop": [{"hooks": [entry]}]}}))
    assert said() == ["no daemon is running; the next call of an agent starts one"]
    monkeypatch.setenv("HOOKLINE_DAEMON", "off")
    assert "HOOKLINE_DAEMON=off keeps calls from using a daemon" in said()[0]


@pytest.mark.parametrize("entries", [True, False])
@pytest.mark.parametrize("own", [True, False])
def test_a_daemon_that_serves_another_home_is_named(
    own: bool, entries: bool, case: DoctorCase, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where no entry calls Hookline yet."""
    home = str(case.home) if own else "/home/ada"

    def running(_directory: str | None) -> DaemonStatus:
        return DaemonStatus(1, __version__, 0.0, 0, 0, 0, 0, 1800.0, home=home)

    monkeypatch.setattr("hookline.cli.commands.doctor.calls.running", running)
    monkeypatch.delenv("HOOKLINE_DAEMON", raising=False)
    entry = {"type": "command", "command": "hookline-relay hook --dialect claude-code Stop"}
    if entries:
        case.write("~/.claude/settings.json", json.dumps({"hooks": {"Stop": [{"hooks": [entry]}]}}))
    found = [one.message for one in case.problems() if one.code == "other-home"]
    served = f"the running daemon serves /home/ada, and your home directory is {case.home}: each call of your agents"
    assert found == ([] if own else [f"{served} starts Hookline anew"])
