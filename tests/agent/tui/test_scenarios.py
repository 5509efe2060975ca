"""Test on the screen what users were promised of hooks: the agent's own scenarios, as users see them.

The other promises to users are played elsewhere: a running hook with its message, a denial, the inspector
(`test_the_screens_of_a_session`), a hook that blocks the agent does not freeze the screen
(`test_a_hook_that_holds_the_agent_does_not_hold_the_screen`), a hook that answers for the user, the end of a session
on every way out and once (`test_ways_out.py`).
"""

import asyncio
import json
import os
import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.agent.scenario_runs import SCENARIOS
from tests.agent.tui.memory_screen import OnScreen, Project

CODEWHALE = ("--dialect", "codewhale", "--config", "config.toml")
GEN = ("--dialect", "gen-code", "--config", "settings.json")

#: Scenario, options, what is done, and what the user then reads, in this order. What is done: keys, and the words to
#: wait for before the next ones; `?` before keys answers a question.
ROWS: Sequence[tuple[str, Sequence[str], Sequence[tuple[str, str]], Sequence[str]]] = [
    (
        "seed000_smoke_test", CODEWHALE, [("hello\r", "hello to you")],
        ["> [hooked] hello", "a hook changed prompt: hello → [hooked] hello", "hello to you"],
    ),
    (
        "seed000_smoke_test", ("--dialect", "codewhale", "--config", "blocking.toml"),
        [("hello\r", "blocked: not today")],
        ["✗ blocked: not today", "blocking.toml:", "> hello", "idle ·"],
    ),
    (
        "seed000_smoke_test", ("--dialect", "codewhale", "--config", "refusing.toml"),
        [("hello\r", "blocked: not before noon")],
        ["✗ blocked: not before noon", "refusing.toml:", "> hello", "idle ·"],
    ),
    (
        "seed000_blocked_submit", CODEWHALE,
        [("plain\ra secret\rbroken\rplain again\r", "two"), ("", "idle ·")],
        ["> plain", "one", "✗ blocked: no secrets here", "✗ blocked: hook grep gave no answer: exit 7",
         "> plain again", "two"],
    ),
    (
        "seed000_queued_message", CODEWHALE, [("first\r", "first done"), ("second\r", "second done")],
        ["> first", "looking", "● Read notes.txt", "first done", "> second", "second done"],
    ),
    (
        "seed000_final_text_everywhere", CODEWHALE, [("show me\rthink\r", "tidied")],
        ["> read @notes.txt please", "a hook changed prompt: show me → read @notes.txt", "> [deep] why", "tidied"],
    ),
    (
        "seed000_subagent_observers", CODEWHALE, [("count\r", "three files")],
        ["> count", "● Agent counting", "there are three", "three files"],
    ),
    (
        "seed001_async_rewake", GEN,
        [("write it\r", "written"), ("half a tho", "mended twice"), ("", "this wake is ignored")],
        ["> write it", "written", "↻ a background hook found something", "a hole in line 3", "mended", "mended twice",
         "2 times in a row", "> half a tho"],
    ),
    (
        "seed001_settings", ("--allow", "Bash"), [("work\r", "all audited")],
        ["> work", "denied: forced pushes are audited first", "hook audit-tool.sh", "all audited"],
    ),
    ("seed001_initial_message", GEN, [("", "read them")], ["> read the open issues", "read them"]),
    (
        "seed002_turn_end_gate", ("--script", "script_stubborn.yaml"), [("write it\r", "3 times in a row")],
        ["TODO one", "TurnEnd gate blocked.", "TODO two", "TurnEnd gate blocked.", "TODO three", "3 times in a row"],
    ),
    (
        "seed002_prompt_audit", (), [("mail the customer\r", "3 times in a row: the turn ends")],
        ["> mail the customer", "! the request was held back: the prompt names a customer"],
    ),
    (
        "seed002_ten_events", (),
        [("how many services?\r", "three of them"), ("\x14", "Project brief: three services.")],
        ["+ added for the model", "Project brief: three services.", "> how many services?", "I look it up."],
    ),
    (
        "seed003_order", (*CODEWHALE, "--deny", "Bash(curl:*)", "--allow", "Bash(rm:*)"),
        [("try it\r", "the hook said no")],
        ["✗ Bash curl example.invalid", "denied:", "✗ Bash rm -r build", "denied: nothing is removed here",
         "hook gate.py", "config.toml:", "the hook said no"],
    ),
    (
        "seed004_alongside", ("--config", "agent.yaml"), [("go\r", "the upstream broke")],
        ["> go", "! ", "the upstream broke"],
    ),
    (
        "seed004_alongside", ("--config", "agent.yaml", "--script", "script_loop.yaml", "--max-iterations", "2"),
        [("go\r", "which is its limit")], ["● Glob", "● Glob", "! The turn ends: it made 2 requests"],
    ),
    (
        "attended_questions", (),
        [("make them\r", "run Bash touch a?"), ("?1", "run Bash echo x >> b?"), ("?2", "made"),
         ("make more\r", "run Bash touch c?"), ("?not that one\r", "another way, then"),
         ("make another\r", "run Bash touch d?"), ("?x\x7f3", "idle ·"), ("still there?\r", "still here")],
        ["● Bash touch a", "● Bash echo x >> b", "● Bash echo x >> b", "made", "denied: not that one",
         "another way, then", "✗ Bash touch d", "still here"],
    ),
    (
        "config_change", ("--mode", "bypass"), [("change them\r", "all changed")],
        ["· .hookline/hooks.toml changed", "· ~/.config/hookline/hooks.toml changed",
         "! the configuration stays as it was: .hookline/hooks.local.toml: not the local one", "all changed"],
    ),
    (
        "model_switch", ("--config", "hooks.toml"),
        [("/model forbidden:one\r/model allowed:one\r/add-dir more\r", "project/more too")],
        ["> /model forbidden:one", "! not that model", "> /model allowed:one", "· model: allowed:one",
         "> /add-dir more"],
    ),
    (
        "model_failures", (), [("one\rtwo\rseven\r", "says billing"), ("again\r", "says server")],
        ["says rate_limit", "> two", "says auth_failed", "> seven", "says billing"],
    ),
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "options", "done", "shown"), ROWS, ids=[f"{row[0]}-{at}" for at, row in enumerate(ROWS)]
)
def test_a_scenario_as_its_user_sees_it(
    name: str,
    options: Sequence[str],
    done: Sequence[tuple[str, str]],
    shown: Sequence[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    project = _info(name, tmp_path, monkeypatch)
    words, script = list(options), "script.yaml"
    if "--script" in words:
        at = words.index("--script")
        script = words[at + 1]
        del words[at : at + 2]

    async def main() -> None:
        async with project.play("--model", f"scripted:{script}", *words, columns=130) as one:
            await one.until_words("Enter sends")
            for keys, awaited in done:
                if keys.startswith("?"):
                    await one.answers(keys[1:])
                else:
                    one.types(keys)
                await one.until_words(awaited)
            await one.until(lambda: in_order(one.words, shown))

    asyncio.run(main())


def in_order(text: str, wanted: Sequence[str]) -> bool:
    at = 0
    for each in wanted:
        found = text.find(each, at)
        if found < 0:
            return False
        at = found + len(each)
    return True


def _info(scenario: str, directory: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    project = Project(directory, monkeypatch)
    shutil.copytree(SCENARIOS / scenario, project.root, dirs_exist_ok=True)
    if (project.root / "home").is_dir():
        shutil.copytree(project.root / "home", project.home, dirs_exist_ok=True)
        monkeypatch.setenv("PATH", f"{project.home / 'bin'}:{os.environ['PATH']}")
    project.trust()
    return project


def test_the_manual_smoke_test_of_the_rfc_step_by_step(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = _info("seed000_manual_smoke_test", tmp_path, monkeypatch)
    hooks = project.home / ".deepseek/hooks"

    async def main() -> None:
        async with project.play("--model", "scripted:script.yaml", columns=130) as one:
            await one.until_words("Enter sends")
            one.types("hello\r")
            await one.until_words("hello to you")
            await one.idle()
            assert in_order(one.words, ["> [hooked] hello", "hello to you"])
            shutil.copy(hooks / "blocks.sh", hooks / "inject-memory.sh")
            one.types("hello\r")
            shown = "✗ blocked: the memory is being moved (hook inject-memory.sh · message_submit [UserPromptSubmit]"
            await one.until_words(shown)
            await one.idle()
            # No turn has started: the script has no second answer. What was typed is in the line again.
            assert "used up" not in one.words
            assert one.screen.buffer.text == "hello"

    asyncio.run(main())


def test_all_24_events_are_fired_at_the_screen_and_every_hook_is_seen_to_have_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = _info("seed001_all_events", tmp_path, monkeypatch)
    settings = project.root / ".gen/settings.json"
    events = set(json.loads(settings.read_text())["hooks"])
    options = ("--setup", "init", "--allow", "Bash", "--allow", "Write(ok.txt)")

    async def main() -> None:
        async with project.play("--model", "scripted:script.yaml", *options, columns=130) as one:
            await one.until_words("Enter sends")
            one.types("work\rfail\r/compact\r")
            await one.until_words("May the agent run Write other.txt?")
            await one.answers("not that file\r")
            await one.until_words("compacted: a summary")
            settings.write_text(settings.read_text() + "\n")
            await one.until_words(".gen/settings.json changed: active hooks: 24, before: 24")
            one.types("/worktree side\r/worktree remove\r/clear\ropen the gate\r")
            await one.until(lambda: in_order(one.words, ["● Bash touch gate", "open"]))
            shown = ["> work", "✗ Write other.txt", "denied: not that file", "● Agent say hello", "worked",
                     "> fail", "! the model failed (rate_limit): too many of you", "> /compact", "compacted:",
                     "> /worktree side", "working in .hookline/worktrees/side", "> /worktree remove",
                     "> /clear", "a new conversation", "> open the gate", "● Bash touch gate"]  # fmt: skip
            await one.until(lambda: in_order(one.words, shown))
            await one.until(lambda: events <= {fired.event for fired in one.screen.channel.events.events})
            one.types("/hooks\r")
            # Also those of background hooks, and each run once, though it has two records.
            await one.until(lambda: events == set(_runs(one)) and "0" not in _runs(one).values())
            once = ("Setup", "PreCompact", "PostCompact", "SubagentStop")
            assert {_runs(one)[each] for each in once} == {"1"}
            one.types("q\x04")
            assert await one.left() == 0

    asyncio.run(main())


def _runs(one: OnScreen) -> dict[str, str]:
    """Return how often the hooks of each event ran, as the inspector shows it."""
    rows = (row.split() for row in one.text.splitlines() if ".gen/settings" in row)
    return {row[1]: row[3] for row in rows}


def test_a_conversation_that_is_compacted_within_a_turn_says_so_and_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first time a hook objects, then it is compacted; the last time the user starts it, and stops it."""
    project = Project(tmp_path, monkeypatch)
    read, large = {"name": "Read", "input": {"file_path": "a.txt"}}, {"input_tokens": 900}
    project.write("a.txt", "a\n")
    script = [
        *[{"tool_calls": [read], "usage": large}] * 3,
        {"text": "what was done"},
        {"text": "The end of it."},
        {"text": "a summary that takes too long", "delay": 600},
    ]
    objects = "test -e asked && exit 0; touch asked; echo first finish this >&2; exit 2"
    hooks = {
        "PreCompact": [{"hooks": [{"type": "command", "command": objects, "name": "not yet"}]}],
        "SessionStart": [
            {"matcher": "compact", "hooks": [{"type": "command", "command": "echo the summary is young"}]}
        ],
    }

    async def main() -> None:
        async with project.agent(script, hooks, "--compact-at", "800", columns=130) as one:
            await one.until_words("Enter sends")
            one.types("read it twice\r")
            shown = ["> read it twice", "● Read a.txt", "! the conversation was not compacted: first finish this",
                     "● Read a.txt", "● Read a.txt",
                     "compacted: a summary replaces 7 messages, which had reached 901",
                     "The end of it."]  # fmt: skip
            await one.until(lambda: in_order(one.words, shown))
            assert "a hook added" in one.words
            await one.idle()
            one.types("/compact\r")
            await one.until_words("scripted:script.json is working")
            one.types("\x1b")
            await one.until_words("■ stopped: the model's answer")
            await one.idle()
            assert "is working" not in one.text

    asyncio.run(main())


def test_a_turn_goes_on_after_the_users_no_where_a_hook_wants_it_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = Project(tmp_path, monkeypatch)
    script = [
        {"tool_calls": [{"name": "Bash", "input": {"command": "touch a"}}]},
        {"text": "Then without it."},
        {"tool_calls": [{"name": "Bash", "input": {"command": "touch b"}}]},
        {"text": "the second turn ended before this"},
    ]
    answer = json.dumps({"hookSpecificOutput": {"hookEventName": "PermissionDenied", "retry": True}})
    retry = f"test -e asked || echo '{answer}'; touch asked"
    hooks = {"PermissionDenied": [{"hooks": [{"type": "command", "command": retry}]}]}

    async def main() -> None:
        async with project.agent(script, hooks, columns=130) as one:
            await one.until_words("Enter sends")
            one.types("make it\r")
            await one.until_words("May the agent run Bash touch a?")
            await one.answers("3")
            await one.until(lambda: in_order(one.words, ["✗ Bash touch a", "denied:", "Then without it."]))
            await one.idle()
            one.types("make another\r")
            await one.until_words("May the agent run Bash touch b?")
            await one.answers("3")
            await one.until_words("✗ Bash touch b")
            await one.idle()
            assert "the second turn ended" not in one.words
            assert not (project.root / "a").exists()

    asyncio.run(main())


def test_resume_typed_while_a_turn_runs_comes_after_it_and_says_what_it_goes_on_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = Project(tmp_path, monkeypatch)
    go = project.root / "go"
    wait = {"name": "Bash", "input": {"command": f"while [ ! -e {go} ]; do sleep 0.02; done"}}
    waits = [{"text": "I wait.", "tool_calls": [wait]}, {"text": "Waited."}, {"text": "Forty-two, I said."}]
    project.write("waits.json", json.dumps(waits))

    async def main() -> None:
        async with project.agent([{"text": "The answer is forty-two."}], columns=130) as one:
            await one.until_words("Enter sends")
            one.types("what is it?\r")
            await one.until_words("forty-two.")
            one.types("\x04")
            assert await one.left() == 0
        async with project.play("--model", "scripted:waits.json", "--allow", "Bash", columns=130) as one:
            await one.until_words("Enter sends")
            one.types("wait\r")
            await one.until_words("I wait.")
            one.types("/resume last\rwhat was it?\r")
            await one.until("queued 2: what was it?")
            assert "continues an earlier" not in one.words
            go.touch()
            shown = ["I wait.", "Waited.", "> /resume last", "continues an earlier session: 2 messages",
                     "> what is it?", "The answer is forty-two.", "> what was it?", "Forty-two, I said."]  # fmt: skip
            await one.until(lambda: in_order(one.words, shown))

    asyncio.run(main())


def test_hooks_that_change_while_the_screen_is_open_wait_for_a_yes_unless_they_are_stricter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = Project(tmp_path, monkeypatch)

    def guard(name: str, pattern: str) -> dict[str, object]:
        denies = {"type": "builtin", "command": "deny", "args": [f"{name}: no"], "name": name}
        return {"matcher": "Bash", "hooks": [{**denies, "if": f"Bash({pattern})"}]}

    def change(*guards: dict[str, object]) -> None:
        project.write(".hookline/hooks.json", json.dumps({"hooks": {"PreToolUse": guards}}, indent=1))

    def runs(command: str) -> dict[str, object]:
        return {"tool_calls": [{"name": "Bash", "input": {"command": command}}]}

    script = [
        *(runs("echo b"), {"text": "after one"}),
        *(runs("echo a"), {"text": "after two"}),
        *(runs("echo a"), {"text": "after three"}),
    ]
    first, second = guard("first", "echo a*"), guard("second", "echo b*")

    async def main() -> None:
        async with project.agent(script, {"PreToolUse": [first]}, "--allow", "Bash", columns=130) as one:
            await one.until_words("Enter sends")
            change(first, second)
            await one.until_words(".hookline/hooks.json changed: active hooks: 2, before: 1")
            one.types("one\r")
            await one.until(lambda: in_order(one.words, ["✗ Bash echo b", "denied: second: no", "after one"]))
            change(second)
            await one.until_words("May this change take effect?")
            assert "guard gone: PreToolUse first" in one.words
            await one.answers("2")
            await one.until_words("! the previous hooks stay active")
            one.types("two\r")
            await one.until(lambda: in_order(one.words, ["✗ Bash echo a", "denied: first: no", "after two"]))
            change(second, guard("third", "never"))
            await one.answers("1")
            await one.until_words("active hooks: 2, before: 2")
            one.types("three\r")
            await one.until(lambda: in_order(one.words, ["after two", "● Bash echo a", "after three"]))

    asyncio.run(main())
