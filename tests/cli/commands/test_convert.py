"""`hookline convert`: Hookline runs the hooks of one agent in another, and says what each of them means there."""

import json
import os
import subprocess
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from hookline.cli.commands.hook.entries import faster, pinned_program
from hookline.dialects.registry import OWN_FORMAT, dialect_named
from hookline.model.raw import Exited
from hookline.model.wire import HookInvocation
from hookline.schemas.examples import INFO, example_payload
from tests.agents import AGENTS as ROWS
from tests.cli.run_cli import Ran, Workspace, clean_env, run_cli, run_here, workspace
from tests.warm_process import warm_path

FILES = {
    "claude-code": ".claude/settings.json", "codex": ".codex/hooks.json", "gemini-cli": ".gemini/settings.json",
}  # fmt: skip
EXAMPLES = Path(__file__).parents[3] / "examples"
PAIRS = [(source, target) for source in FILES for target in FILES if source != target]
#: Agents with hooks of a project, which is where they are converted to.
AGENTS = [name for name, row in ROWS.items() if name != OWN_FORMAT and row.has_projects]
#: The agents with an example of everything they have: its file, and the name of such a file.
OTHERS = {
    "reasonix": ("reasonix/.reasonix/settings.json", ".reasonix/settings.json"),
    "codewhale": ("codewhale/config.toml", ".codewhale/hooks.toml"),
    "docker-agent": ("docker-agent/agent.yaml", "agent.yaml"),
}


@pytest.fixture
def where() -> Iterator[Workspace]:
    with workspace() as made:
        yield made


class Convert:
    """Entries of Claude Code or another agent in a project, and what they mean in another one."""

    def __init__(
        self, where: Workspace, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
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
        assert found["wrapped"] + found["lost"] == len(found["entries"])
        return found

    def one(
        self, event: str, entry: Any, target: str, matcher: str | None = "Bash", source: str = "claude-code"
    ) -> Any:
        own: Any = {"type": "command", "command": entry} if isinstance(entry, str) else entry
        given = {"hooks": [own]} if matcher is None else {"matcher": matcher, "hooks": [own]}
        (found,) = self.report({event: [given]}, target, source)["entries"]
        return found


@pytest.fixture
def convert(where: Workspace, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Convert:
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
        own = {recorded.event for recorded in theirs.recorded_events(each["event"])}
        there = {
            name for name in ours.events for recorded in ours.recorded_events(name) if recorded.event in own
        }
        assert set(each["to"]) == there
        assert (each["how"] == "lost") is (not there), each
        assert each["how"] != "lost" or each["why"] == [f"{ours.title} has no event like {each['event']}"]


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_examples_with_every_event_and_kind_of_handler(convert: Convert, source: str, target: str) -> None:
    text = (EXAMPLES / source / FILES[source]).read_text()
    convert.where.write(FILES[source], text)
    found = json.loads(convert.run(FILES[source], "--to", target, "--json").stdout)
    assert found["wrapped"] + found["lost"] == len(found["entries"]) == text.count('"type":')
    for each in found["entries"]:
        assert (each["how"] == "wrapped") is (each["why"] == []) is (each["to"] != [])
        assert each["source"].startswith(f"{convert.where.project}/{FILES[source]}:")


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_what_is_written_is_read_without_a_word(convert: Convert, source: str, target: str) -> None:
    convert.where.write(FILES[source], (EXAMPLES / source / FILES[source]).read_text())
    convert.run(FILES[source], "--to", target, "--write", "--trust")
    ran = convert_process(convert.where, "doctor", "--config", FILES[target], "--json")
    said = [each for each in json.loads(ran.stdout)["problems"] if each["severity"] == "error"]
    assert said == []


@pytest.mark.parametrize("source", [*FILES, *OTHERS])
def test_every_agent_runs_the_hooks_of_every_other(convert: Convert, source: str) -> None:
    """Each call that is written has an event of the target, and the file of the source."""
    example, name = OTHERS.get(source, (f"{source}/{FILES.get(source)}", FILES.get(source, "")))
    file = convert.where.write(name, (EXAMPLES / example).read_text())
    convert.where.write("docker-agent.yaml", "agents:\n  root:\n    model: openai/gpt-4o\n")
    for target in AGENTS:
        if target == source:
            continue
        said = convert.run(name, "--from", source, "--to", target, "--json", "--write")
        found = json.loads(said.stdout)
        assert found["wrapped"] > 0, (target, found)
        ours, text = dialect(target), Path(found["target_file"]).read_text()
        for event in {name for each in found["entries"] for name in each["to"]}:
            assert event in ours.events
            assert f"hook --dialect {target} --home {convert.where.home} --config {file} {event}" in text
        assert text.count(f"--config {file}") == len({name for one in found["entries"] for name in one["to"]})


def convert_process(where: Workspace, *words: str) -> Ran:
    return run_cli(list(words), where.project, where.home)


def test_a_gate_of_the_turn_runs_where_another_agent_ends_it(convert: Convert) -> None:
    """Reasonix has TurnEnd before its Stop; Claude Code's Stop is both, and Reasonix's Stop is none of its events."""
    hooks = {"TurnEnd": [{"command": "true"}], "Stop": [{"command": "true"}]}
    convert.where.write(".reasonix/settings.json", json.dumps({"hooks": hooks}, indent=1))
    found = json.loads(convert.run(".reasonix/settings.json", "--to", "claude-code", "--json").stdout)
    assert [(each["how"], each["to"], each["why"]) for each in found["entries"]] == [
        ("wrapped", ["Stop"], []),
        ("lost", [], ["Claude Code has no event like Stop of Reasonix"]),
    ]


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
    assert (entry["how"], entry["why"], found["lost"]) == ("lost", [why], 1)
    assert (found["trusted_by_agent"], found["agent_says"]) == (None, None)
    assert entry["source"].rpartition(":")[2].isdecimal()


@pytest.mark.parametrize(
    ("target", "file", "text", "why"),
    [
        ("codex", "~/.codex/config.toml", "[features]\nhooks = false\n", "turns all hooks off"),
        (
            "gemini-cli",
            ".gemini/settings.json",
            '{"hooksConfig": {"enabled": false}}',
            "the project's settings turns it off",
        ),
        (
            "gemini-cli",
            "~/.gemini/settings.json",
            '{"hooksConfig": {"enabled": false}}',
            "your settings turns it off",
        ),
        ("claude-code", ".claude/settings.json", '{"disableAllHooks": true}', "turns all hooks off"),
        ("codex", "~/.codex/config.toml", "[features]\nhooks = true\n", None),
        (
            "codex",
            "~/.codex/config.toml",
            '[projects."{project}"]\ntrust_level = "untrusted"\n',
            "is an untrusted",
        ),
        ("codex", "~/.codex/config.toml", '[projects."{project}"]\ntrust_level = "trusted"\n', None),
    ],
)
def test_an_agent_that_runs_no_hooks_is_named(
    convert: Convert, target: str, file: str, text: str, why: str | None
) -> None:
    convert.where.write(file, text.replace("{project}", str(convert.where.project)))
    source = "codex" if target == "claude-code" else "claude-code"
    hooks = {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]}
    found = convert.report(hooks, target, source, "--write", "--trust")
    if why is None:
        assert found["trusted_by_agent"] == "trusted"
        return
    assert found["trusted_by_agent"] == "untrusted"
    assert why in found["agent_says"]
    said = convert.run(FILES[source], "--to", target, "--report").stdout
    assert f"{target} will not run them: " in said


# --- matchers


@pytest.mark.parametrize(
    ("event", "matcher", "target", "why"),
    [
        ("PreToolUse", "Read", "codex", "Codex has no tool that the matcher 'Read' means"),
        (
            "PreToolUse", "NotebookEdit", "gemini-cli",
            "Gemini CLI has no tool that the matcher 'NotebookEdit' means",
        ),
        ("SessionStart", "fork", "gemini-cli", "Gemini CLI has no source that the matcher 'fork' means"),
        ("PreToolUse", "Edit|Write", "codex", None),
        ("PreToolUse", "^Ba", "gemini-cli", None),
        ("PreToolUse", "mcp__git__.*", "gemini-cli", None),
        ("PreToolUse", "^(?!Read$).*", "codex", None),
    ],
)  # fmt: skip
def test_a_matcher_that_means_nothing_there_is_lost(
    convert: Convert, event: str, matcher: str, target: str, why: str | None
) -> None:
    found = convert.one(event, "true", target, matcher)
    assert (found["how"], found["why"]) == (("wrapped", []) if why is None else ("lost", [why]))


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
        ("SessionStart", "startup|compact|fork", "codex", []),
        ("SessionStart", "*", "codex", []),
    ],
)  # fmt: skip
def test_parts_of_a_matcher_without_a_counterpart_are_named(
    convert: Convert, event: str, matcher: str, target: str, notes: list[str]
) -> None:
    found = convert.one(event, "true", target, matcher)
    assert found["how"] == "wrapped"
    assert [note for note in found["notes"] if " has no " in note] == notes


# --- kinds of handlers


@pytest.mark.parametrize(
    ("entry", "how", "said"),
    [
        ({"type": "command", "command": "true", "if": "Bash(rm *)"}, "wrapped", ""),
        ({"type": "command", "command": "true", "async": True}, "wrapped", "it runs in the background"),
        ({"type": "command", "command": "true", "asyncRewake": True}, "wrapped", "cannot be woken by it"),
        ({"type": "command", "command": "true", "onFailure": "block"}, "wrapped", ""),
        ({"type": "http", "url": "http://127.0.0.1:1/"}, "wrapped", ""),
        ({"type": "prompt", "prompt": "Is it fine?"}, "lost", "prompt hooks need a model"),
        ({"type": "agent", "prompt": "Is it fine?"}, "lost", "agent hooks need a model"),
        ({"type": "mcp_tool", "server": "a", "tool": "b"}, "lost", "need a server of its agent"),
        ({"type": "nonsense"}, "lost", "nonsense"),
        ({"type": "command"}, "lost", "command"),
    ],
)
def test_kinds_of_entries(convert: Convert, entry: dict[str, Any], how: str, said: str) -> None:
    for target in ("codex", "gemini-cli"):
        found = convert.one("PreToolUse", entry, target)
        assert found["how"] == how
        assert said in " ".join((*found["why"], *found["notes"])), found


# --- what it means there


def answer(**said: Any) -> str:
    document = {"hookSpecificOutput": {"hookEventName": "PreToolUse", **said}}
    return f"echo {json.dumps(json.dumps(document))}"


#: What a hook of Claude Code answers, and the words for it in the report.
ANSWERS = {
    "ask": answer(permissionDecision="ask", permissionDecisionReason="why"),
    "allow": answer(permissionDecision="allow"),
    "defer": answer(permissionDecision="defer"),
    "rewrite without an allow": answer(updatedInput={"command": "true"}),
    "add text for the model": answer(additionalContext="text"),
    "block": "echo no >&2; exit 2",
}


@pytest.mark.parametrize("target", [name for name in AGENTS if name != "claude-code"])
@pytest.mark.parametrize("words", ANSWERS)
def test_what_the_report_says_of_an_answer_is_what_the_agent_reads(
    convert: Convert, words: str, target: str
) -> None:
    """The entry is run as the agent runs it, in a warm process, and its output read as the agent reads it."""
    where = convert.where
    where.write("docker-agent.yaml", "agents:\n  root:\n    model: openai/gpt-4o\n")
    entry = {"type": "command", "command": ANSWERS[words]}
    where.write(FILES["claude-code"], json.dumps({"hooks": {"PreToolUse": [{"hooks": [entry]}]}}))
    report = json.loads(convert.run(FILES["claude-code"], "--to", target, "--write", "--json").stdout)
    (found,) = report["entries"]
    ours, name = dialect(target), found["to"][0]
    event = ours.events[name]
    said = next((note for note in found["notes"] if f"at {name}: " in note and _says(note, words)), "")
    hook, payload = ours.flag_hook(event, "true"), example_payload(event.event)
    info = replace(INFO, cwd=str(where.project), project_dir=str(where.project))
    call = HookInvocation(hook, event.event, payload, info, 1.0)
    encoded = ours.wire.encode(call)
    program = faster(pinned_program())
    command = entry_of(ours, report["target_file"], name)
    assert f"{program} hook " in command
    command = command.replace(f"{program} hook ", f"{warm_path()}/hookline hook ")
    env = clean_env(where.home, {"SHELL": "/bin/sh", **encoded.env})
    translated = subprocess.run(
        ["bash", "-c", command], input=encoded.document, cwd=where.project, env=env, capture_output=True,
        check=False,
    )  # fmt: skip
    understood = ours.wire.decode(
        call, Exited(translated.returncode, translated.stdout, translated.stderr)
    ).outcome
    understood = understood.clipped(event.policy.may & event.event.may)[0]
    reads = _understood(understood, words)
    if not said:
        assert reads == words.removesuffix(" without an allow"), (target, translated)
    elif said.endswith(": denied instead"):
        assert reads == "block", (target, translated)
    elif said.endswith(": it asks instead"):
        assert reads == "ask", (target, translated)
    else:
        assert said.endswith(": dropped")
        assert reads == "", (target, translated)


def _says(note: str, words: str) -> bool:
    cannot = note.partition(" cannot ")[2].partition(" at ")[0].replace(" or ", ", ").split(", ")
    return words in cannot or words.removesuffix(" without an allow") in cannot


def _understood(outcome: Any, words: str) -> str:
    if outcome.blocked:
        return "block"
    if outcome.permission is not None:
        return str(outcome.permission)
    if outcome.edits:
        return "rewrite"
    return words if outcome.context else ""


def entry_of(agent: Any, file: str, event: str) -> str:
    """The command of the entry that calls Hookline at an event."""
    installer = agent.installer
    value = installer.document(file, Path(file).read_text()).value
    commands = [str(entry[installer.key]) for _path, entry in installer.commands(value)]
    return next(each for each in commands if f" {event}" in each)


@pytest.mark.parametrize(
    ("source", "event", "target", "notes"),
    [
        ("claude-code", "PreToolUse", "codex", [
            "Codex cannot ask, defer, rewrite without an allow or end the turn at PreToolUse: denied instead",
            "Codex cannot allow at PreToolUse: dropped"]),
        ("claude-code", "PreToolUse", "gemini-cli", [
            "Gemini CLI cannot allow or add text for the model at BeforeTool: dropped",
            "Gemini CLI cannot defer at BeforeTool: it asks instead"]),
        ("claude-code", "PreToolUse", "reasonix", [
            "Reasonix cannot ask, defer or end the turn at PreToolUse: denied instead",
            "Reasonix cannot allow, rewrite, add text for the model or show a message at PreToolUse: dropped"]),
        ("claude-code", "PreCompact", "gemini-cli", [
            "Gemini CLI cannot block or add text for the model at PreCompress: dropped",
            "PreCompress of Gemini CLI fires before every model turn, even if nothing is compressed"]),
        ("claude-code", "Stop", "codex", []),
        ("codex", "PreToolUse", "claude-code", []),
        ("gemini-cli", "SessionEnd", "claude-code", [
            "Claude Code cannot show a message at SessionEnd: dropped",
            "SessionEnd of Gemini CLI may fire several times when a session at a terminal ends"]),
        ("gemini-cli", "AfterTool", "codex", [
            "Codex cannot end the turn at PostToolUse: blocked instead",
            "Codex has no event for PostToolUseFailure, at which it runs as well"]),
    ],
)  # fmt: skip
def test_what_the_other_agent_cannot_do_is_named(
    convert: Convert, source: str, event: str, target: str, notes: list[str]
) -> None:
    assert convert.one(event, "true", target, None, source)["notes"] == notes


@pytest.mark.parametrize(
    ("event", "given", "target", "written", "note"),
    [
        ("PreToolUse", 20, "gemini-cli", 30_000, ""),
        ("PreToolUse", 1.5, "codex", 11, ""),
        ("PreToolUse", None, "codex", 610, ""),
        ("SessionEnd", 20, "codex", 3, "Codex waits at most 3 s at SessionEnd"),
    ],
)
def test_hookline_has_more_time_than_its_hooks_where_the_agent_allows_it(
    convert: Convert, event: str, given: float | None, target: str, written: int, note: str
) -> None:
    entry = {"type": "command", "command": "true"} | ({} if given is None else {"timeout": given})
    convert.where.write(FILES["claude-code"], json.dumps({"hooks": {event: [{"hooks": [entry]}]}}))
    ran = convert.run(FILES["claude-code"], "--to", target, "--write", "--json")
    ((group,),) = json.loads((convert.where.project / FILES[target]).read_text())["hooks"].values()
    assert group["hooks"][0]["timeout"] == written
    notes = json.loads(ran.stdout)["entries"][0]["notes"]
    assert [each for each in notes if "waits at most" in each] == ([note] if note else [])


def test_hooks_that_run_one_after_another_have_the_time_of_all(convert: Convert) -> None:
    entries = [{"type": "command", "command": "true", "timeout": 20_000} for _ in range(3)]
    convert.report({"BeforeTool": [{"hooks": entries}]}, "claude-code", "gemini-cli", "--write")
    ((group,),) = json.loads((convert.where.project / FILES["claude-code"]).read_text())["hooks"].values()
    assert group["hooks"][0]["timeout"] == 70


# --- how it runs


def run_line(where: Workspace, line: str, given: object, **env: str) -> "subprocess.CompletedProcess[str]":
    """As an agent runs the command of an entry."""
    return subprocess.run(
        ["bash", "-c", line], input=json.dumps(given), cwd=where.project,
        env=clean_env(where.home, {"SHELL": "/bin/sh", **env}), capture_output=True, text=True, check=False,
    )  # fmt: skip


@pytest.mark.parametrize("target", ["codex", "gemini-cli"])
def test_hookline_runs_hooks_as_their_own_agent_would(where: Workspace, target: str) -> None:
    guard = "jq -e '.tool_input.file_path | test(\"env$\") | not' >/dev/null || { echo not this file >&2; exit 2; }"
    entry = {"type": "command", "command": guard, "onFailure": "block"}
    where.write(
        FILES["claude-code"], json.dumps({"hooks": {"PreToolUse": [{"matcher": "Write", "hooks": [entry]}]}})
    )
    ran = convert_process(where, "convert", FILES["claude-code"], "--to", target, "--write", "--json")
    assert ran.status == 0, ran
    report = json.loads(ran.stdout)
    assert report["written"] == [report["target_file"]] == [str(where.project / FILES[target])]
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


def call_of(where: Workspace, event: str, **more: str) -> dict[str, object]:
    tool = "run_shell_command" if event == "BeforeTool" else "Bash"
    return {
        "session_id": "s", "cwd": str(where.project), "hook_event_name": event, "timestamp": "2026-01-01T00:00:00Z",
        "tool_name": tool, "tool_input": {"command": "ls"}, "tool_use_id": "u", "turn_id": "t", **more,
    }  # fmt: skip


@pytest.mark.parametrize("target", ["codex", "gemini-cli"])
def test_a_change_of_the_original_counts_at_once(where: Workspace, target: str) -> None:
    for number in range(2):
        line = f"echo reason {number} >&2; exit 2"
        hooks = {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": line}]}]}
        where.write(FILES["claude-code"], json.dumps({"hooks": hooks}))
        if not number:
            convert_process(where, "convert", FILES["claude-code"], "--to", target, "--write")
        ((event, (group,)),) = json.loads((where.project / FILES[target]).read_text())["hooks"].items()
        said = run_line(where, group["hooks"][0]["command"], call_of(where, event, session_id=f"s{number}"))
        assert f"reason {number}" in said.stdout + said.stderr, said


@pytest.mark.parametrize("target", ["codex", "gemini-cli"])
def test_a_guard_closes_where_the_original_is_gone(where: Workspace, target: str) -> None:
    """The entry contains a path: after a move it denies until the file is converted again."""
    hooks = {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "true"}]}]}
    where.write(FILES["claude-code"], json.dumps({"hooks": hooks}))
    convert_process(where, "convert", FILES["claude-code"], "--to", target, "--write")
    ((event, (group,)),) = json.loads((where.project / FILES[target]).read_text())["hooks"].items()
    line = group["hooks"][0]["command"]
    assert run_line(where, line, call_of(where, event)).returncode == 0
    (where.project / ".claude").rename(where.project / "moved")
    said = run_line(where, line, call_of(where, event))
    assert said.returncode == 2, said
    assert FILES["claude-code"] in said.stderr


@pytest.mark.parametrize(
    ("source", "files"),
    [
        ("claude-code", (".claude/settings.json", ".claude/settings.local.json", "a/x.json", "b/x.json")),
        ("codex", (".codex/hooks.json", ".codex/config.toml")),
    ],
)
def test_each_file_that_is_converted_has_calls_of_its_own(
    where: Workspace, source: str, files: Sequence[str]
) -> None:
    """A file whose path does not say whose it is runs as one of the agent that was named."""
    where.write(".git/HEAD", "")
    for number, file in enumerate(files):
        # A silent exit 2 is what Claude Code and Codex differ in, and Hookline's own format from both.
        line = f"echo reason {number} >&2; exit 2"
        entry = {"matcher": "Bash", "hooks": [{"type": "command", "command": line}]}
        toml = f"[[hooks.PreToolUse]]\nmatcher = 'Bash'\nhooks = [{{type = 'command', command = '{line}'}}]\n"
        where.write(file, toml if file.endswith(".toml") else json.dumps({"hooks": {"PreToolUse": [entry]}}))
        words = (file, "--from", source, "--to", "gemini-cli", "--write", "--json")
        report = json.loads(convert_process(where, "convert", *words).stdout)
        assert (report["source"], report["wrapped"]) == (source, 1)
    groups = json.loads((where.project / FILES["gemini-cli"]).read_text())["hooks"]["BeforeTool"]
    said = [run_line(where, group["hooks"][0]["command"], call_of(where, "BeforeTool")) for group in groups]
    assert len(said) == len(files)
    for number, each in enumerate(said):
        assert f"reason {number}" in each.stdout + each.stderr, each


def test_a_file_is_read_as_one_of_the_agent_that_was_named(where: Workspace) -> None:
    """A hook that exits with 1 fails: Claude Code continues, and a native guard would close."""
    line = "echo broken >&2; exit 1"
    entry = {"matcher": "Bash", "hooks": [{"type": "command", "command": line}]}
    where.write("some.json", json.dumps({"hooks": {"PreToolUse": [entry]}}))
    words = ("some.json", "--from", "claude-code", "--to", "codex", "--write")
    assert convert_process(where, "convert", *words).status == 0
    ((group,),) = json.loads((where.project / FILES["codex"]).read_text())["hooks"].values()
    said = run_line(where, group["hooks"][0]["command"], call_of(where, "PreToolUse"))
    assert (said.returncode, "deny" in said.stdout) == (0, False), said


# --- files


def test_writing_keeps_what_is_there_and_a_second_time_changes_nothing(convert: Convert) -> None:
    mine = '"BeforeTool": [{"hooks": [{"type": "command", "command": "mine"}]}]'
    theirs = f'{{\n    // mine\n    "ui": {{"theme": "x"}},\n    "hooks": {{\n        {mine}\n    }}\n}}\n'
    file = convert.where.write(FILES["gemini-cli"], theirs)
    hooks = {"PreToolUse": [{"hooks": [{"type": "command", "command": "true"}]}]}
    convert.report(hooks, "gemini-cli", "claude-code", "--write")
    text = file.read_text()
    assert text.startswith(theirs[: theirs.index('"mine"')])
    assert "// mine" in text
    assert text.index('"mine"') < text.index("--dialect gemini-cli")
    again = convert.report(hooks, "gemini-cli", "claude-code", "--write")
    assert again["written"] == []
    assert file.read_text() == text


def test_what_is_no_longer_needed_goes(convert: Convert) -> None:
    """A changed timeout changes the entry; an event that has no hook any more loses it."""
    for hooks in (("Stop", 5), ("PreToolUse", 7)), (("Stop", 7),), (("Stop", 7),):
        given = {
            name: [{"hooks": [{"type": "command", "command": "true", "timeout": seconds}]}]
            for name, seconds in hooks
        }
        convert.report(given, "codex", "claude-code", "--write", "--trust")
        found = json.loads((convert.where.project / FILES["codex"]).read_text())["hooks"]
        timeouts = {name: [each["hooks"][0]["timeout"] for each in groups] for name, groups in found.items()}
        assert timeouts == {name: [seconds + 10] for name, seconds in hooks}
        config = tomllib.loads((convert.where.home / ".codex" / "config.toml").read_text())
        assert len(config["hooks"]["state"]) == len(hooks)


def test_converted_entries_stay_when_hookline_is_uninstalled(where: Workspace) -> None:
    hooks = {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]}
    where.write(FILES["claude-code"], json.dumps({"hooks": hooks}))
    for words in (
        ("install", "codex", "--project", "--yes"),
        ("convert", FILES["claude-code"], "--to", "codex", "--write"),
        ("uninstall", "codex", "--project", "--yes"),
    ):
        assert convert_process(where, *words).status == 0, words
    found = json.loads((where.project / FILES["codex"]).read_text())["hooks"]
    assert list(found) == ["Stop"]
    assert [
        f"--config {where.project}/{FILES['claude-code']}" in json.dumps(group) for group in found["Stop"]
    ] == [True]


def test_trust_is_written_only_if_it_is_asked_for(convert: Convert) -> None:
    hooks = {"PreToolUse": [{"hooks": [{"type": "command", "command": "true"}]}]}
    config = convert.where.home / ".codex" / "config.toml"
    found = convert.report(hooks, "codex", "claude-code", "--write")
    assert found["trusted_by_agent"] == "untrusted"
    assert "/hooks" in found["agent_says"]
    assert not config.exists()
    found = convert.report(hooks, "codex", "claude-code", "--write", "--trust")
    assert found["trusted_by_agent"] == "trusted"
    written = tomllib.loads(config.read_text())
    assert written["projects"] == {str(convert.where.project): {"trust_level": "trusted"}}
    (key,) = written["hooks"]["state"]
    assert key == f"{convert.where.project}/.codex/hooks.json:pre_tool_use:0:0"


def test_a_users_own_file_becomes_the_users_own(convert: Convert) -> None:
    """Return the file in which `hookline install` would put its entries."""
    convert.where.write(
        "~/.claude/settings.json",
        json.dumps({"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]}}),
    )
    own = str(convert.where.home / ".claude/settings.json")
    for target, file in (
        ("codex", ".codex/hooks.json"),
        ("gemini-cli", ".gemini/extensions/hookline/hooks/hooks.json"),
    ):
        found = json.loads(convert.run(own, "--to", target, "--json", "--write").stdout)
        assert found["target_file"] == str(convert.where.home / file)
        assert f"--config {own}" in (convert.where.home / file).read_text()


def test_text_is_the_file_and_what_is_not_as_it_was_is_named(convert: Convert) -> None:
    entry = {"hooks": [{"type": "command", "command": "true"}]}
    convert.where.write(
        FILES["claude-code"], json.dumps({"hooks": {"Setup": [entry], "Stop": [entry]}}, indent=1)
    )
    ran = convert.run(FILES["claude-code"], "--to", "codex")
    assert ran.status == 1
    ((group,),) = json.loads(ran.stdout)["hooks"].values()
    assert f"--config {convert.where.project}/{FILES['claude-code']}" in group["hooks"][0]["command"]
    assert "settings.json:6: Setup, true: lost" in ran.stderr
    assert "Stop -> Stop, true\n" in ran.stderr
    assert "2 hooks: 1 run by Hookline, 1 lost" in ran.stderr
    assert not (convert.where.project / ".codex").exists()
    assert convert.run(FILES["claude-code"], "--to", "codex", "--report").stdout == ran.stderr


@pytest.mark.parametrize(
    ("words", "text", "message"),
    [
        ((FILES["claude-code"], "--to", "codexx"), "{}", "did you mean 'codex'?"),
        ((FILES["claude-code"], "--to", "opencode"), "{}", "hookline install opencode --hooks all"),
        ((FILES["claude-code"], "--to", "native"), "{}", "unknown agent 'native'"),
        ((FILES["claude-code"], "--to", "claude-code"), "{}", "is already a file of Claude Code"),
        (("none.json", "--to", "codex"), "{}", "none.json"),
        (("some.json", "--to", "codex"), '{"hooks": {}}', "say whose it is with --from"),
        ((FILES["claude-code"], "--to", "codex"), "{not json", "settings.json:1"),
        ((FILES["claude-code"], "--to", "codex"), "// no\n{}", "settings.json"),
        ((FILES["claude-code"], "--to", "codex"), "[]", "is not an object with hooks"),
        ((FILES["claude-code"], "--to", "docker-agent"), "{}", "has no agent file"),
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
