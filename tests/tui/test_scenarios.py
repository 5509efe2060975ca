"""What users were promised of hooks, played on the screen: the agent's own scenarios, as they are seen.

The other promises to users are played elsewhere: a running hook with its message, a denial, the inspector
(`test_the_screens_of_a_session`), a hook that blocks the agent does not freeze the screen
(`test_a_hook_that_holds_the_agent_does_not_hold_the_screen`), a hook that answers for the user, the end of a session
on every way out and once (`test_ways_out.py`).
"""

import asyncio
import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.agent.scenario_runs import SCENARIOS
from tests.tui.memory_screen import Project

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
        [("hello\r", "· idle ·"), ("", "blocked: not today")],
        ["✗ blocked: not today", "blocking.toml:", "> hello", "· idle ·"],
    ),
    (
        "seed000_blocked_submit", CODEWHALE,
        [("plain\ra secret\rbroken\rplain again\r", "two"), ("", "· idle")],
        ["> plain", "one", "✗ blocked: no secrets here", "✗ blocked: hook grep gave no answer: exit 7",
         "> plain again", "two"],
    ),
    (
        "seed000_queued_message", CODEWHALE, [("first\rsecond\r", "second done")],
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
         ("make another\r", "run Bash touch d?"), ("?x\x7f3", "· idle"), ("still there?\r", "still here")],
        ["● Bash touch a", "● Bash echo x >> b", "● Bash echo x >> b", "made", "denied: not that one",
         "another way, then", "✗ Bash touch d", "still here"],
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
    project = Project(tmp_path, monkeypatch)
    shutil.copytree(SCENARIOS / name, project.root, dirs_exist_ok=True)
    project.trust()
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
            _in_order(one.words, shown)

    asyncio.run(main())


def _in_order(text: str, wanted: Sequence[str]) -> None:
    at = 0
    for each in wanted:
        found = text.find(each, at)
        assert found >= 0, f"{each!r} is not there, or too early:\n{text}"
        at = found + len(each)
