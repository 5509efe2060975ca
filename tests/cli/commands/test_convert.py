"""`hookline convert`: by meaning, nothing guessed, every entry with its line."""

import json
import os
import subprocess
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from hookline.dialects.registry import dialect_named, every_dialect
from tests.cli.run_cli import Place, Ran, clean_env, place, run_cli, run_here

FILES = {
    "claude-code": ".claude/settings.json", "codex": ".codex/hooks.json", "gemini-cli": ".gemini/settings.json",
}  # fmt: skip
EXAMPLES = Path(__file__).parents[3] / "examples"
#: A guard that every agent reads alike, if it is about commands.
GUARD = "#!/bin/sh\ncase $(jq -r .tool_input.command) in *forbidden*) echo no >&2; exit 2 ;; esac\n"
#: One that none reads like another.
WHOLE = "#!/bin/sh\ncase $(cat) in *forbidden*) echo no >&2; exit 2 ;; esac\n"
PAIRS = [(source, target) for source in FILES for target in FILES if source != target]


@pytest.fixture
def where() -> Iterator[Place]:
    with place() as made:
        yield made


class Convert:
    """Entries of Claude Code or another agent in a project, and what becomes of them."""

    def __init__(
        self, where: Place, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        self.where = where
        self._of_test = (capsys, monkeypatch)

    def run(self, *words: str) -> Ran:
        return run_here(["convert", *words], self.where, *self._of_test)

    def report(self, hooks: Any, target: str, source: str = "claude-code", *words: str) -> dict[str, Any]:
        self.where.write(FILES[source], json.dumps({"hooks": hooks}, indent=1))
        ran = self.run(FILES[source], "--to", target, "--json", *words)
        assert ran.stderr == ""
        found = json.loads(ran.stdout)
        assert ran.status == (1 if found["lost"] else 0)
        return found

    def one(
        self, event: str, entry: Any, target: str, matcher: str | None = "Bash", source: str = "claude-code"
    ) -> Any:
        own: Any = {"type": "command", "command": entry} if isinstance(entry, str) else entry
        given = {"hooks": [own]} if matcher is None else {"matcher": matcher, "hooks": [own]}
        (found,) = self.report({event: [given]}, target, source)["entries"]
        return found


@pytest.fixture
def convert(where: Place, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Convert:
    return Convert(where, capsys, monkeypatch)


def dialect(name: str) -> Any:
    found = dialect_named(name)
    assert found is not None
    return found


# --- events


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_every_event_is_converted_or_lost_with_its_line(convert: Convert, source: str, target: str) -> None:
    theirs, ours = dialect(source), dialect(target)
    hooks = {name: [{"hooks": [{"type": "command", "command": "true"}]}] for name in theirs.events}
    entries = convert.report(hooks, target, source)["entries"]
    assert [each["event"] for each in entries] == list(theirs.events)
    lines = [int(each["source"].rpartition(":")[2]) for each in entries]
    assert lines == sorted(set(lines))
    for each in entries:
        own = {moment.event for moment in theirs.moments(each["event"])}
        there = {name for name in ours.events for moment in ours.moments(name) if moment.event in own}
        assert set(each["to"]) <= there
        assert (each["how"] == "lost") is (not there), each
        assert each["how"] != "lost" or each["why"] == [f"{ours.title} has no event like {each['event']}"]


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_examples_with_every_event_and_kind_of_handler(convert: Convert, source: str, target: str) -> None:
    text = (EXAMPLES / source / FILES[source]).read_text()
    convert.where.write(FILES[source], text)
    found = json.loads(convert.run(FILES[source], "--to", target, "--json").stdout)
    assert (
        found["direct"] + found["wrapped"] + found["lost"] == len(found["entries"]) == text.count('"type":')
    )
    for each in found["entries"]:
        assert (each["how"] == "direct") is (each["why"] == []) is (each["entries"] != [])
        assert each["source"].startswith(f"{convert.where.project}/{FILES[source]}:")


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_what_is_written_is_read_without_a_word(convert: Convert, source: str, target: str) -> None:
    convert.where.write(FILES[source], (EXAMPLES / source / FILES[source]).read_text())
    convert.run(FILES[source], "--to", target, "--write", "--trust")
    ran = convert_process(convert.where, "doctor", "--config", FILES[target], "--json")
    said = [each for each in json.loads(ran.stdout)["problems"] if each["severity"] == "error"]
    assert said == []


def convert_process(where: Place, *words: str) -> Ran:
    return run_cli(list(words), where.project, where.home)


@pytest.mark.parametrize(
    ("hooks", "why"),
    [
        ([], "hooks is a list, not an object"),
        ({"PreToolUse": {"matcher": "Bash", "hooks": []}}, "PreToolUse is not a list of groups"),
        ({"PreToolUse": ["x"]}, "a group is not an object with hooks"),
        ({"PreToolUse": [{"matcher": "Bash", "command": "x"}]}, "a group needs a list of hooks"),
        ({"PreToolUse": [{"hooks": ["x"]}]}, "a hook is not an object"),
        ({"PreToolUs": [{"hooks": [{"type": "command", "command": "x"}]}]}, "no event is called 'PreToolUs'"),
    ],
)
def test_what_has_another_shape_is_lost_with_its_line(convert: Convert, hooks: Any, why: str) -> None:
    found = convert.report(hooks, "codex")
    (entry,) = found["entries"]
    assert (entry["how"], entry["why"], found["lost"], found["trust"]) == ("lost", [why], 1, None)
    assert entry["source"].rpartition(":")[2].isdecimal()


@pytest.mark.parametrize(
    ("target", "file", "text", "why"),
    [
        ("codex", "~/.codex/config.toml", "[features]\nhooks = false\n", "features.hooks in"),
        ("gemini-cli", ".gemini/settings.json", '{"hooksConfig": {"enabled": false}}', "turns its hooks off"),
        (
            "gemini-cli",
            "~/.gemini/settings.json",
            '{"hooksConfig": {"enabled": false}}',
            "turns its hooks off",
        ),
        ("codex", "~/.codex/config.toml", "[features]\nhooks = true\n", None),
    ],
)
def test_an_agent_that_runs_no_hooks_is_told(
    convert: Convert, target: str, file: str, text: str, why: str | None
) -> None:
    convert.where.write(file, text)
    hooks = {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]}
    found = convert.report(hooks, target)["switched_off"]
    assert found is None if why is None else why in found
    said = convert.run(FILES["claude-code"], "--to", target, "--report").stdout
    assert ("they will not run" in said) is (why is not None)


# --- matchers


@pytest.mark.parametrize(
    ("matcher", "target", "expected"),
    [
        ("Bash", "codex", ["Bash"]),
        ("Bash", "gemini-cli", ["^(run_shell_command)$"]),
        ("Bash|Glob", "gemini-cli", ["^(run_shell_command|glob)$"]),
        ("^Ba", "codex", ["^Ba"]),
        ("^Ba", "gemini-cli", ["^(run_shell_command)$"]),
        ("Bash, Glob", "codex", ["Bash"]),
        ("Edit|Write", "codex", ["Edit|Write"]),
        ("Edit|Write", "gemini-cli", ["^(write_file|replace)$"]),
        ("Grep", "gemini-cli", ["^(grep_search)$"]),
        ("*", "gemini-cli", [None]),
        ("", "codex", [None]),
        (None, "gemini-cli", [None]),
        ("mcp__git__.*", "codex", ["mcp__git__.*"]),
    ],
)
def test_matchers_mean_the_same_tools(
    convert: Convert, matcher: str | None, target: str, expected: list[str | None]
) -> None:
    found = convert.one("PreToolUse", "true", target, matcher)
    assert found["how"] == "direct"
    assert [each.get("matcher") or None for each in found["entries"]] == expected


@pytest.mark.parametrize(
    ("matcher", "target", "how", "why"),
    [
        ("mcp__git__.*", "gemini-cli", "wrapped", "calls MCP tools otherwise"),
        (".*", "gemini-cli", "wrapped", "calls MCP tools otherwise"),
        ("^(?!Read$).*", "codex", "wrapped", "cannot read it as it is"),
        ("Read", "codex", "lost", "Codex has no tool that the matcher 'Read' means"),
        (
            "NotebookEdit",
            "gemini-cli",
            "lost",
            "Gemini CLI has no tool that the matcher 'NotebookEdit' means",
        ),
    ],
)
def test_matchers_that_cannot_be_written(
    convert: Convert, matcher: str, target: str, how: str, why: str
) -> None:
    found = convert.one("PreToolUse", "true", target, matcher)
    assert found["how"] == how
    assert why in found["why"][0]


@pytest.mark.parametrize(
    ("event", "matcher", "target", "notes"),
    [
        ("PreToolUse", "Bash|NotebookEdit", "gemini-cli", ["Gemini CLI has no tool like NotebookEdit"]),
        ("PreToolUse", "Bash|Read|Mine", "codex", ["Codex has no tool like Read",
         "Claude Code has no tool Mine, and Codex has none like it"]),
        ("PreToolUse", "^(Bash|NotebookEdit)$", "gemini-cli", ["Gemini CLI has no tool like NotebookEdit"]),
        ("PreToolUse", "*", "gemini-cli", []),
        ("SessionStart", "startup|compact|fork", "gemini-cli",
         ["Gemini CLI has no source like compact", "Gemini CLI has no source like fork"]),
        ("SessionStart", "startup|compact|fork", "codex", ["Codex has no source like fork"]),
    ],
)  # fmt: skip
def test_parts_of_a_matcher_without_a_counterpart_are_told(
    convert: Convert, event: str, matcher: str, target: str, notes: list[str]
) -> None:
    found = convert.one(event, "true", target, matcher)
    assert (found["how"], found["notes"]) == ("direct", notes)


def test_a_list_of_values_is_a_group_for_each_where_the_agent_compares_whole_texts(convert: Convert) -> None:
    found = convert.one("SessionStart", "true", "gemini-cli", "startup|resume|compact")
    assert [each["matcher"] for each in found["entries"]] == ["startup", "resume"]
    assert (
        convert.one("SessionStart", "true", "codex", "startup|resume")["entries"][0]["matcher"]
        == "startup|resume"
    )
    assert convert.one("SessionStart", "true", "gemini-cli", "fork")["how"] == "lost"


def test_another_agents_names_back_into_claude_codes(convert: Convert) -> None:
    found = convert.one("PreToolUse", "true", "claude-code", "apply_patch", "codex")
    assert found["entries"] == [{"matcher": "Write|Edit|MultiEdit", "type": "command", "command": "true"}]
    assert found["to"] == ["PreToolUse"]
    found = convert.one("BeforeTool", "true", "claude-code", "run_shell", "gemini-cli")
    assert found["to"] == ["PreToolUse"]


# --- timeouts


@pytest.mark.parametrize(
    ("event", "given", "target", "written", "note"),
    [
        ("PreToolUse", 20, "gemini-cli", 20000, ""),
        ("PreToolUse", 0.25, "gemini-cli", 250, ""),
        ("PreToolUse", None, "gemini-cli", 600000, ""),
        ("PreToolUse", None, "codex", None, ""),
        ("UserPromptSubmit", None, "codex", 30, ""),
        ("PreToolUse", 1.5, "codex", 2, "counts whole seconds"),
        ("SessionEnd", 20, "codex", 3, "waits at most 3 s at SessionEnd, not 20"),
    ],
)
def test_timeouts_have_the_unit_and_the_caps_of_the_agent(
    convert: Convert, event: str, given: float | None, target: str, written: int | None, note: str
) -> None:
    entry = {"type": "command", "command": "true"} | ({} if given is None else {"timeout": given})
    found = convert.one(event, entry, target, None)
    assert found["entries"][0].get("timeout") == written
    assert any(note in each for each in found["notes"]) if note else not found["notes"]


# --- kinds of handlers and fields


@pytest.mark.parametrize(
    ("entry", "codex", "gemini"),
    [
        ({"type": "command", "command": "true", "if": "Bash(rm *)"}, "wrapped", "wrapped"),
        ({"type": "command", "command": "true", "async": True}, "direct", "wrapped"),
        ({"type": "command", "command": "true", "asyncRewake": True}, "wrapped", "wrapped"),
        ({"type": "command", "command": "true", "onFailure": "block"}, "wrapped", "wrapped"),
        ({"type": "command", "command": "echo", "args": ["a b"]}, "direct", "direct"),
        ({"type": "command", "command": "echo", "args": ["${CLAUDE_PROJECT_DIR}"]}, "wrapped", "direct"),
        ({"type": "command", "command": "echo", "args": ["${CLAUDE_PLUGIN_ROOT}"]}, "wrapped", "wrapped"),
        ({"type": "http", "url": "http://127.0.0.1:1/"}, "wrapped", "wrapped"),
        ({"type": "prompt", "prompt": "Is it fine?"}, "lost", "lost"),
        ({"type": "agent", "prompt": "Is it fine?"}, "lost", "lost"),
        ({"type": "mcp_tool", "server": "a", "tool": "b"}, "lost", "lost"),
        ({"type": "nonsense"}, "lost", "lost"),
        ({"type": "command"}, "lost", "lost"),
    ],
)
def test_kinds_of_entries(convert: Convert, entry: dict[str, Any], codex: str, gemini: str) -> None:
    for target, how in (("codex", codex), ("gemini-cli", gemini)):
        found = convert.one("PreToolUse", entry, target)
        assert (found["how"], bool(found["why"])) == (how, how != "direct"), found


def test_fields_that_the_agent_has_and_those_that_it_has_not(convert: Convert) -> None:
    entry = {"type": "command", "command": "true", "statusMessage": "Looking ..."}
    assert convert.one("PreToolUse", entry, "codex")["entries"][0]["statusMessage"] == "Looking ..."
    found = convert.one("PreToolUse", entry, "gemini-cli")
    assert found["notes"] == ["statusMessage is left out: Gemini CLI has no such field"]


# --- what scripts use


@pytest.mark.parametrize(
    ("event", "script", "codex", "gemini"),
    [
        ("PreToolUse", GUARD, "", ""),
        ("PreToolUse", "#!/bin/sh\njq -e '.tool_input.command' >/dev/null\n", "", ""),
        (
            "PreToolUse",
            "#!/bin/sh\njq -r .tool_name >> log\n",
            "",
            "reads tool_name, and Bash is run_shell_command",
        ),
        (
            "PreToolUse",
            "#!/bin/sh\njq -r .tool_use_id >> log\n",
            "",
            "reads tool_use_id, which Gemini CLI does not send",
        ),
        ("PreToolUse", "#!/bin/sh\njq -r .transcript_path >> log\n", "transcript_path", "transcript_path"),
        ("PreToolUse", "#!/bin/sh\njq -r .permission_mode >> log\n", "permission_mode", "permission_mode"),
        ("PreToolUse", "#!/bin/sh\njq -r .hook_event_name >> log\n", "", "reads hook_event_name"),
        (
            "PreToolUse",
            "#!/bin/sh\necho $CLAUDE_ENV_FILE >&2\n",
            "uses $CLAUDE_ENV_FILE",
            "uses $CLAUDE_ENV_FILE",
        ),
        ("PreToolUse", WHOLE, "uses the payload as a whole", "uses the payload as a whole"),
        ("PreToolUse", "#!/bin/sh\ngrep -q x && exit 2\n", "payload as a whole", "payload as a whole"),
        # The line itself says something where the script does not.
        (
            "PreToolUse",
            "#!/bin/sh\ncase $(jq -r .tool_input.command) in\n a) echo a >&2; exit 2 ;;\n b) exit 2 ;;\nesac\n",
            "",
            "",
        ),
        ("PreToolUse", "#!/bin/sh\n./other\n", "needs ./other, which cannot be read", "cannot be read"),
        ("PreToolUse", "#!/bin/sh\ncurl http://127.0.0.1:1\n", "runs curl, which is not read", "runs curl"),
        ("PreToolUse", "#!/bin/sh\n$CHECK\n", "known only when it runs", "known only when it runs"),
        ("PreToolUse", "#!/usr/bin/env node\nprocess.exit(0)\n", "a program for /usr/bin/env node", "node"),
        ("PreToolUse", '#!/bin/sh\necho \'{"decision": "block", "reason": "no"}\'\n', "", ""),
        (
            "PreToolUse",
            (
                '#!/bin/sh\necho \'{"hookSpecificOutput": {"hookEventName": "PreToolUse", '
                '"permissionDecision": "deny", '
                '"permissionDecisionReason": "no"}}\'\n'
            ),
            "",
            '"permissionDecision": "deny"',
        ),
        (
            "PreToolUse",
            (
                "#!/bin/sh\n"
                'echo \'{"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "ask"}}\'\n'
            ),
            '"permissionDecision": "ask"',
            '"permissionDecision": "ask"',
        ),
        (
            "PreToolUse",
            (
                "#!/bin/sh\nD=$(jq -r .tool_input.command)\n"
                'jq -n --arg d "$D" \'{hookSpecificOutput: {hookEventName: "PreToolUse", permissionDecision: $d}}\'\n'
            ),
            "permissionDecision",
            "permissionDecision",
        ),
        (
            "PreToolUse",
            '#!/bin/sh\nA="permissionDecision"\necho "{\\"hookSpecificOutput\\": {\\"$A\\": \\"$(date)\\"}}"\n',
            "may print what is not written in it",
            "may print what is not written in it",
        ),
        ("PreToolUse", "#!/bin/sh\necho '{\"continue\": false}'\n", '"continue": false', ""),
        ("UserPromptSubmit", "#!/bin/sh\necho remember\n", "", "may print text"),
        ("UserPromptSubmit", GUARD.replace(".tool_input.command", ".prompt"), "", ""),
        ("UserPromptSubmit", GUARD, "never recorded", "never recorded"),
        ("SessionStart", "#!/bin/sh\necho remember\n", "", "may print text"),
        ("Stop", "#!/bin/sh\necho done\n", "", ""),
        ("Stop", "#!/bin/sh\n[ -e tested ] || { echo run the tests >&2; exit 2; }\n", "", ""),
        ("PreCompact", "#!/bin/sh\necho no >&2; exit 2\n", "exits with 2", "exits with 2"),
    ],
)
def test_a_script_is_called_directly_only_where_it_means_the_same(
    convert: Convert, event: str, script: str, codex: str, gemini: str
) -> None:
    """The texts are in the reasons why it is not; none: it is direct."""
    convert.where.write("hook.sh", script)
    for target, why in (("codex", codex), ("gemini-cli", gemini)):
        found = convert.one(event, "./hook.sh", target, "Bash" if event == "PreToolUse" else None)
        assert found["how"] == ("wrapped" if why else "direct"), found
        assert why in " ".join(found["why"])


@pytest.mark.parametrize(
    ("script", "why"),
    [
        (
            "import json, sys\nif 'x' in json.load(sys.stdin)['tool_input']['command']:\n    sys.exit('no')\n",
            "",
        ),
        ("import sys\nprint('no', file=sys.stderr)\nsys.exit(2)\n", ""),
        ("import sys\nsys.exit(2)\n", ""),
        ("raise SystemExit(2)\n", ""),
        ("import subprocess\n", "uses subprocess"),
        ("import os\nos.system('x')\n", "uses os.system"),
        ("eval('1')\n", "calls eval"),
        ("from .beside import guard\n", "imports from beside"),
        ("def x(:\n", "no Python that can be read"),
    ],
)
def test_python_scripts_are_read(convert: Convert, script: str, why: str) -> None:
    convert.where.write("hook.py", script)
    found = convert.one("PreToolUse", "python3 hook.py", "codex")
    assert found["how"] == ("wrapped" if why else "direct"), found
    assert why in " ".join(found["why"])


def test_what_a_guard_of_files_reads_has_another_form_in_a_patch(convert: Convert) -> None:
    line = "jq -e '.tool_input.file_path | test(\"env$\") | not' >/dev/null || { echo no >&2; exit 2; }"
    found = convert.one("PreToolUse", line, "codex", "Edit|Write")
    assert found["why"][0] == "reads the arguments of Write, and apply_patch has others in Codex"
    found = convert.one("PreToolUse", line, "gemini-cli", "Edit|Write")
    assert "may send relative paths" in found["why"][0]


@pytest.mark.parametrize("target", ["claude-code", "codex"])
def test_a_status_that_only_the_source_takes_for_a_denial(convert: Convert, target: str) -> None:
    """Gemini CLI denies with 3, which is a failure elsewhere; where nothing can be denied, it is one there, too."""
    line = "echo no >&2; exit 3"
    found = convert.one("BeforeTool", line, target, "run_shell_command", "gemini-cli")
    assert found["how"] == "wrapped", found
    assert "exits with another status" in found["why"][0]
    assert convert.one("SessionEnd", line, target, None, "gemini-cli")["how"] == "direct"


@pytest.mark.parametrize("target", ["codex", "gemini-cli"])
@pytest.mark.parametrize(
    "line",
    [
        "exit 2",
        "echo no; exit 2",
        '[ "$USER" = nobody-at-all ] && echo no >&2; exit 2',
        'echo "$1" >&2; exit 2',
    ],
)
def test_a_denial_without_a_word_gets_one(convert: Convert, target: str, line: str) -> None:
    """Claude Code denies; the others would let the call pass."""
    found = convert.one("PreToolUse", line, target)
    assert found["how"] == "direct"
    ran = run_line(convert.where, found["entries"][0]["command"], {}, USER="me")
    assert ran.returncode == 2
    assert ran.stderr.strip() == "a hook said no" or (target, ran.stdout) == ("gemini-cli", "no\n")


def test_an_answer_wins_over_exit_2_in_gemini(convert: Convert) -> None:
    line = "echo '{}'; echo no >&2; exit 2"
    found = convert.one("PreToolUse", line, "gemini-cli")
    assert found["why"] == ["answers {} and exit with 2, which means something else in Gemini CLI"]


# --- lines


def run_line(where: Place, line: str, given: object, **env: str) -> "subprocess.CompletedProcess[str]":
    """As an agent runs the command of an entry."""
    return subprocess.run(
        ["bash", "-c", line], input=json.dumps(given), cwd=where.project,
        env=clean_env(where.home, {"SHELL": "/bin/sh", **env}), capture_output=True, text=True, check=False,
    )  # fmt: skip


@pytest.mark.parametrize("target", ["codex", "gemini-cli"])
@pytest.mark.parametrize(
    ("line", "code", "stderr"),
    [
        ("exit 2", 2, ""),
        ("echo no >&2; exit 2", 2, "no\n"),
        ("(exit 7); exit 0", 0, ""),
        ("exit 7", 7, ""),
        ("false # why", 1, ""),
        ("a=; [ \"$a B\" = ' B' ] && exit 3", 3, ""),
    ],
)
def test_a_line_runs_as_in_its_own_agent(
    convert: Convert, target: str, line: str, code: int, stderr: str
) -> None:
    """Gemini CLI would take other statuses for a denial, so there the line exits with 1."""
    found = convert.one("SessionEnd", line, target, None)
    assert found["how"] == "direct", found
    ran = run_line(convert.where, found["entries"][0]["command"], {})
    expected = 1 if target == "gemini-cli" and code not in (0, 2) else code
    assert (ran.returncode, ran.stderr) == (expected, stderr)


def test_no_entry_holds_the_place_of_the_project(convert: Convert) -> None:
    """It would pass everything after a move. Codex has no variable with the project's directory, Gemini CLI has."""
    convert.where.write(".claude/guard.sh", GUARD).chmod(0o755)
    line = '"$CLAUDE_PROJECT_DIR"/.claude/guard.sh'
    found = convert.one("PreToolUse", line, "codex")
    assert (found["how"], found["why"]) == (
        "wrapped",
        ["uses $CLAUDE_PROJECT_DIR, which Codex does not set"],
    )
    found = convert.one("PreToolUse", line, "gemini-cli")
    assert found["how"] == "direct"
    (entry,) = found["entries"]
    assert str(convert.where.project) not in json.dumps(entry)
    # Gemini CLI itself would replace $CLAUDE_PROJECT_DIR, quoted, in the middle of a text that is quoted.
    assert "${CLAUDE_PROJECT_DIR}" in entry["command"]
    assert "$CLAUDE_PROJECT_DIR" not in entry["command"]
    given = {"tool_input": {"command": "forbidden"}}
    assert (
        run_line(
            convert.where, entry["command"], given, CLAUDE_PROJECT_DIR=str(convert.where.project)
        ).returncode
        == 2
    )


# --- files


@pytest.mark.parametrize("target", ["codex", "gemini-cli"])
def test_hookline_runs_what_is_wrapped_as_its_own_agent_would(where: Place, target: str) -> None:
    guard = "jq -e '.tool_input.file_path | test(\"env$\") | not' >/dev/null || { echo not this file >&2; exit 2; }"
    entry = {"type": "command", "command": guard, "onFailure": "block"}
    where.write(
        FILES["claude-code"], json.dumps({"hooks": {"PreToolUse": [{"matcher": "Write", "hooks": [entry]}]}})
    )
    ran = convert_process(where, "convert", FILES["claude-code"], "--to", target, "--write", "--json")
    assert ran.status == 0, ran
    (where.project / FILES["claude-code"]).unlink()
    report = json.loads(ran.stdout)
    assert report["written"] == [report["wrapped_file"], report["target_file"]]
    own = json.loads((where.project / FILES[target]).read_text())["hooks"]
    ((event, (group,)),) = own.items()
    for file, denied in ((".env", True), ("README.md", False)):
        path = str(where.project / file)
        calls = {
            "codex": {
                "tool_name": "apply_patch",
                "tool_input": {"command": f"*** Begin Patch\n*** Add File: {path}\n+x\n*** End Patch\n"},
            },
            "gemini-cli": {"tool_name": "write_file", "tool_input": {"file_path": path, "content": "x"}},
        }
        common = {
            "session_id": "s",
            "cwd": str(where.project),
            "hook_event_name": event,
            "tool_use_id": file,
            "timestamp": "2026-01-01T00:00:00Z",
        }
        said = run_line(where, group["hooks"][0]["command"], {**common, **calls[target]})
        assert ("not this file" in said.stdout + said.stderr) is denied, said


def test_writing_keeps_what_is_there_and_a_second_time_changes_nothing(convert: Convert) -> None:
    mine = '"BeforeTool": [{"hooks": [{"type": "command", "command": "mine"}]}]'
    theirs = f'{{\n    // mine\n    "ui": {{"theme": "x"}},\n    "hooks": {{\n        {mine}\n    }}\n}}\n'
    file = convert.where.write(FILES["gemini-cli"], theirs)
    convert.report(
        {"PreToolUse": [{"hooks": [{"type": "command", "command": "true"}]}]},
        "gemini-cli",
        "claude-code",
        "--write",
    )
    text = file.read_text()
    assert text.startswith(theirs[: theirs.index('"mine"')])
    assert "// mine" in text
    assert text.index('"mine"') < text.index('"true ')
    again = convert.report(
        {"PreToolUse": [{"hooks": [{"type": "command", "command": "true"}]}]},
        "gemini-cli",
        "claude-code",
        "--write",
    )
    assert again["written"] == []
    assert file.read_text() == text


@pytest.mark.parametrize("line", ["true", "curl x"])
def test_a_changed_timeout_changes_the_entry(convert: Convert, line: str) -> None:
    for seconds in (5, 7, 7):
        entry = {"type": "command", "command": line, "timeout": seconds}
        convert.report({"Stop": [{"hooks": [entry]}]}, "codex", "claude-code", "--write", "--trust")
        (group,) = json.loads((convert.where.project / FILES["codex"]).read_text())["hooks"]["Stop"]
        assert group["hooks"][0]["timeout"] == (seconds if line == "true" else seconds + 10)
    config = tomllib.loads((convert.where.home / ".codex" / "config.toml").read_text())
    assert len(config["hooks"]["state"]) == 1


@pytest.mark.parametrize("target", ["codex", "gemini-cli"])
def test_what_is_wrapped_closes_after_a_move(where: Place, target: str) -> None:
    """The entry holds the place of the originals: where they are gone, it says no."""
    hooks = {
        "PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "./gone && curl x"}]}]
    }
    where.write(FILES["claude-code"], json.dumps({"hooks": hooks}))
    convert_process(where, "convert", FILES["claude-code"], "--to", target, "--write")
    ((event, (group,)),) = json.loads((where.project / FILES[target]).read_text())["hooks"].items()
    (where.project / FILES[target]).parent.rename(where.project / "moved")
    given = {
        "session_id": "s", "cwd": str(where.project), "hook_event_name": event, "timestamp": "2026-01-01T00:00:00Z",
        "tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": "u", "turn_id": "t",
    }  # fmt: skip
    said = run_line(where, group["hooks"][0]["command"], given)
    answer = said.stdout + said.stderr
    assert said.returncode == 2 or '"deny"' in answer or '"block"' in answer, said


def test_scripts_of_the_user_are_read_where_they_are_the_same_everywhere(convert: Convert) -> None:
    """A relative name is another script in each project."""
    where = convert.where
    where.write("guard.sh", GUARD)
    where.write("~/guard.sh", GUARD)
    for line, how in (("sh guard.sh", "wrapped"), ("sh ~/guard.sh", "direct"), ('sh "$HOME"/guard.sh', "direct"),
                      ('sh "$CLAUDE_PROJECT_DIR"/guard.sh', "wrapped")):  # fmt: skip
        entry = {"matcher": "Bash", "hooks": [{"type": "command", "command": line}]}
        file = where.write("~/.claude/settings.json", json.dumps({"hooks": {"PreToolUse": [entry]}}))
        found = json.loads(convert.run(str(file), "--to", "gemini-cli", "--json").stdout)
        assert found["entries"][0]["how"] == how, (line, found)


@pytest.mark.parametrize(
    ("source", "files"),
    [
        ("claude-code", (".claude/settings.json", ".claude/settings.local.json", "a/x.json", "b/x.json")),
        ("codex", (".codex/hooks.json", ".codex/config.toml")),
    ],
)
def test_what_is_wrapped_of_one_file_stays_when_another_is_converted(
    where: Place, source: str, files: Sequence[str]
) -> None:
    where.write(".git/HEAD", "")
    kept: dict[str, str] = {}
    for number, file in enumerate(files):
        line = f"curl x; echo reason {number} >&2; exit 2"
        entry = {"matcher": "Bash", "hooks": [{"type": "command", "command": line}]}
        toml = f"[[hooks.PreToolUse]]\nmatcher = 'Bash'\nhooks = [{{type = 'command', command = '{line}'}}]\n"
        where.write(file, toml if file.endswith(".toml") else json.dumps({"hooks": {"PreToolUse": [entry]}}))
        words = (file, "--from", source, "--to", "gemini-cli", "--write", "--json")
        report = json.loads(convert_process(where, "convert", *words).stdout)
        kept[report["wrapped_file"]] = line
    assert len(kept) == len(files)
    for file, line in kept.items():
        ((group,),) = json.loads(Path(file).read_text())["hooks"].values()
        assert group["hooks"][0]["command"] == line
    for file in files:
        (where.project / file).unlink()
    groups = json.loads((where.project / FILES["gemini-cli"]).read_text())["hooks"]["BeforeTool"]
    given = {
        "session_id": "s", "cwd": str(where.project), "hook_event_name": "BeforeTool",
        "timestamp": "2026-01-01T00:00:00Z", "tool_name": "run_shell_command", "tool_input": {"command": "ls"},
    }  # fmt: skip
    said = [run_line(where, group["hooks"][0]["command"], given) for group in groups]
    assert len(said) == len(files)
    for number, each in enumerate(said):
        assert f"reason {number}" in each.stdout + each.stderr, each


def test_trust_is_written_only_if_it_is_asked_for(convert: Convert) -> None:
    hooks = {"PreToolUse": [{"hooks": [{"type": "command", "command": "true"}]}]}
    config = convert.where.home / ".codex" / "config.toml"
    found = convert.report(hooks, "codex", "claude-code", "--write")
    assert "/hooks" in found["trust"]
    assert not config.exists()
    found = convert.report(hooks, "codex", "claude-code", "--write", "--trust")
    assert found["trust"] is None
    (key,) = tomllib.loads(config.read_text())["hooks"]["state"]
    assert key == f"{convert.where.project}/.codex/hooks.json:pre_tool_use:0:0"


def test_a_users_own_file_becomes_the_users_own(convert: Convert) -> None:
    convert.where.write(
        "~/.claude/settings.json",
        json.dumps({"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]}}),
    )
    for target, file in (("codex", ".codex/hooks.json"), ("gemini-cli", ".gemini/settings.json")):
        found = json.loads(
            convert.run(str(convert.where.home / ".claude/settings.json"), "--to", target, "--json").stdout
        )
        assert found["target_file"] == str(convert.where.home / file)


def test_there_and_back_again(convert: Convert) -> None:
    """What is direct both ways comes back as it was."""
    hello = {"type": "command", "command": "echo hello", "timeout": 5}
    guard = {"type": "command", "command": "./guard.sh"}
    last = {"type": "command", "command": "./tests.sh"}
    hooks: dict[str, list[dict[str, Any]]] = {
        "SessionStart": [{"matcher": "startup|resume", "hooks": [hello]}],
        "PreToolUse": [{"matcher": "Bash", "hooks": [{**guard, "timeout": 20}]}],
        "Stop": [{"hooks": [last]}],
    }
    convert.where.write("guard.sh", f"{GUARD}exit 0\n")
    convert.where.write("tests.sh", "#!/bin/sh\n[ -e tested ] || { echo run the tests >&2; exit 2; }\n")
    assert convert.report(hooks, "codex", "claude-code", "--write")["direct"] == 3
    back = json.loads(convert.run(FILES["codex"], "--to", "claude-code", "--json").stdout)
    assert back["direct"] == 3
    found = {each["event"]: each["entries"] for each in back["entries"]}
    for event, (group,) in hooks.items():
        matcher = {"matcher": group["matcher"]} if "matcher" in group else {}
        assert found[event] == [{**matcher, **group["hooks"][0]}]


def test_text_is_the_file_and_what_is_not_as_it_was_is_told(convert: Convert) -> None:
    convert.where.write(
        FILES["claude-code"],
        json.dumps(
            {
                "hooks": {
                    "Setup": [{"hooks": [{"type": "command", "command": "true"}]}],
                    "Stop": [{"hooks": [{"type": "command", "command": "true"}]}],
                }
            },
            indent=1,
        ),
    )
    ran = convert.run(FILES["claude-code"], "--to", "codex")
    assert ran.status == 1
    assert json.loads(ran.stdout) == {
        "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]}
    }
    assert "settings.json:6: Setup, true: lost" in ran.stderr
    assert "2 hooks: 1 direct, 0 run by Hookline, 1 lost" in ran.stderr
    assert not (convert.where.project / ".codex").exists()
    assert convert.run(FILES["claude-code"], "--to", "codex", "--report").stdout == ran.stderr


@pytest.mark.parametrize(
    ("words", "text", "message"),
    [
        ((FILES["claude-code"], "--to", "codexx"), "{}", "did you mean 'codex'?"),
        ((FILES["claude-code"], "--to", "gen-code"), "{}", "hooks cannot be converted to 'gen-code'"),
        ((FILES["claude-code"], "--to", "claude-code"), "{}", "is a file of Claude Code already"),
        (("none.json", "--to", "codex"), "{}", "none.json"),
        (("some.json", "--to", "codex"), '{"hooks": {}}', "say whose it is with --from"),
        ((FILES["claude-code"], "--to", "codex"), "{not json", "settings.json:1"),
        ((FILES["claude-code"], "--to", "codex"), "// no\n{}", "settings.json"),
    ],
)
def test_bad_input_is_one_clear_line(convert: Convert, words: Sequence[str], text: str, message: str) -> None:
    if words[0] != "none.json":
        convert.where.write(words[0], text)
    ran = convert.run(*words)
    assert (ran.status, ran.stdout) == (1, "")
    assert message in ran.stderr
    assert len(ran.stderr.splitlines()) == 1


@pytest.mark.parametrize("how", ["broken", "read-only", "link"])
def test_a_target_that_cannot_be_changed_stays_as_it_is(convert: Convert, how: str) -> None:
    where, text = convert.where, '{"hooks": {'
    hooks = {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]}}
    where.write(FILES["claude-code"], json.dumps(hooks))
    file = where.write(FILES["codex"], text if how == "broken" else "{}\n")
    if how == "read-only":
        file.chmod(0o444)
    elif how == "link":
        outside = where.write("~/outside.json", "{}\n")
        file.unlink()
        os.symlink(outside, file)
    before = file.read_text()
    ran = convert.run(FILES["claude-code"], "--to", "codex", "--write")
    assert ran.status == 1
    assert len(ran.stderr.splitlines()) == 1
    assert file.read_text() == before


def test_agents_that_can_be_converted_have_all_that_it_takes() -> None:
    forms = [each for each in every_dialect() if each.entry_form is not None]
    assert [each.name for each in forms] == list(FILES)
    for each in forms:
        form = each.entry_form
        assert form is not None
        assert form.line.format("x").endswith(" x")
        assert set(form.longest) | set(form.remarks) <= set(each.events)
