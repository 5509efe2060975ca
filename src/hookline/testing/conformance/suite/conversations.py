"""Test several conversations, subagents, other entry points, no hooks at all, and hooks of every source."""

import asyncio
import re
from contextlib import suppress

from hookline import Outcome, context, deny
from hookline.events import PRE_TOOL_USE, SUBAGENT_STOP, USER_PROMPT_SUBMIT, Prompt, ToolCall
from hookline.extending import SessionInfo
from hookline.testing.conformance.harness import ScriptedResponse
from hookline.testing.conformance.run import Case
from hookline.testing.conformance.suite import calls, questions, turns
from hookline.testing.conformance.suite import context as texts
from hookline.testing.conformance.trial import Said, Trial, use


async def two(t: Trial) -> None:
    await _at_once(t, 2, 20)


async def hundred(t: Trial) -> None:
    await _at_once(t, 100, 300)


async def _at_once(t: Trial, count: int, seconds: float) -> None:
    """Play conversations at the same time on one engine. Every second one may not write notes.

    None continues before all have begun, or these seconds are over.
    """
    owners: dict[str, str] = {}
    all_there = asyncio.Event()
    too_late = asyncio.get_running_loop().time() + seconds

    async def tell(prompt: Prompt, info: SessionInfo) -> Outcome:
        owners[info.session_id] = prompt.prompt
        if len(owners) == count:
            all_there.set()
        with suppress(TimeoutError):
            async with asyncio.timeout_at(too_late):
                await all_there.wait()
        return context(f"you are in {prompt.prompt}")

    async def guard(_call: ToolCall, info: SessionInfo) -> Outcome | None:
        await asyncio.sleep(0.002)  # so that they get into each other's way, if they can
        owner = owners[info.session_id]
        return deny(f"not in {owner}") if int(owner.partition("-")[2]) % 2 else None

    t.engine.add(USER_PROMPT_SUBMIT, tell, timeout=seconds + 60)
    t.engine.add(PRE_TOOL_USE, guard, "note")
    names = [f"talk-{number:03}" for number in range(count)]
    made = {
        name: t.conversation(
            use("late", place=name),
            use("note", "c2", text=name),
            f"done in {name}",
            prompts=(name,),
            name=name,
        )
        for name in names
    }
    everything = await asyncio.gather(*(t.play_this(*each) for each in made.values()))
    for index, (name, played) in enumerate(zip(names, everything, strict=True)):
        read = {word for request in played.requests for word in re.findall(r"talk-\d+", request.text)}
        t.must(
            read == {name}, f"in {name} the model read of no other conversation (it read of {sorted(read)})"
        )
        wanted = ["late"] if index % 2 else ["late", "note"]
        t.must([ran.name for ran in played.log.ran] == wanted, f"in {name} the right tools ran")
        t.must(played.seen.answers == (f"done in {name}",), f"{name} has its own answer")
        denied = f"not in {name}" in played.read(3)
        t.also(denied == bool(index % 2), f"in {name} the model read the denial that it got")
    mixed = [
        fired
        for fired in t.fired
        if fired.event == "PreToolUse" and _place(fired.payload) != owners.get(fired.session_id)
    ]
    t.must(not mixed, "hooks got the conversation of each call")
    t.must(len(owners) == count, "every conversation has its own session")
    t.also(all_there.is_set(), f"all of them ran at once ({len(owners)} were)")


def _place(call: ToolCall) -> str:
    return str(call.tool_input.get("place", call.tool_input.get("text")))


async def subagent_denied(t: Trial) -> None:
    t.hook(PRE_TOOL_USE, deny("not there"), matcher="look")
    helper, log = t.helper(use("look", "h1", place="there"), "nothing to see")
    played = await t.play(use("helper", task="look around"), "done", helper=helper)
    t.must(len(helper.script.requests) == 2, "the helper worked")
    t.must(log.ran == [], "the tool of the helper did not run")
    t.also("not there" in helper.script.requests[-1].text, "the model of the helper read why")
    t.also("nothing to see" in (played.result() or ""), "its answer is the result of the call")


async def subagent_is_known(t: Trial) -> None:
    helper, log = t.helper(use("look", "h1", place="there"), "seen")
    await t.play(use("helper", task="look around"), "done", helper=helper)
    t.must(len(log.ran) == 1, "the tool of the helper ran")
    t.must(t.times("UserPromptSubmit") == 1, "the helper's task is not a prompt of the user")
    t.must(t.times("Stop") == 1, "Stop fired for the conversation, and not for the helper")
    t.also(t.times("SubagentStart") == t.times("SubagentStop") == 1, "the helper has its own events")
    made = [fired.agent_type for fired in t.fired if fired.event == "PreToolUse"]
    t.also(made == [None, "helper"], f"hooks got the caller (they got {made})")
    sessions = {fired.session_id for fired in t.fired}
    t.also(len(sessions) == 1, f"the helper belongs to the conversation (sessions: {sorted(sessions)})")


async def subagent_sent_back(t: Trial) -> None:
    t.hook(SUBAGENT_STOP, deny("look again"), None)
    helper, _log = t.helper("nothing", "something")
    played = await t.play(use("helper", task="look around"), "done", helper=helper)
    t.must(len(helper.script.requests) == 2, "the helper got one more turn")
    t.must("look again" in helper.script.requests[-1].text, "the model of the helper read why")
    t.also("something" in (played.result() or ""), "its last answer is the result of the call")


async def subagent_failed(t: Trial) -> None:
    helper, _log = t.helper(ScriptedResponse(error="the model is down"))
    await t.play(use("helper", task="look around"), "done", helper=helper, may_fail=True)
    t.must(t.times("SubagentStart") == 1, "the helper started")
    t.must(t.times("SubagentStop") == 1, f"its end fired once (it was {t.times('SubagentStop')} times)")
    ended = [payload.status for payload in t.payloads("SubagentStop")]
    t.also(ended == ["failed"], f"hooks got that it failed (they got {ended})")


async def unchanged(t: Trial) -> None:
    await _same(t, use("look", place="there"), "one", "two", prompts=("first", "second"))


async def unchanged_parallel(t: Trial) -> None:
    await _same(t, [use("late", place="one"), use("weigh", "c2", thing="stone")], "done")


async def unchanged_failure(t: Trial) -> None:
    await _same(t, use("broken", place="moon"), "done")


async def unchanged_unknown(t: Trial) -> None:
    await _same(t, use("nonesuch"), "done")


async def _same(t: Trial, *said: Said, prompts: tuple[str, ...] = ("please do it",)) -> None:
    without = await t.play(*said, prompts=prompts, hooked=False, may_fail=True)
    hooked = await t.play(*said, prompts=prompts, may_fail=True)
    t.must(len(without.requests) > 0, "the conversation was played")
    t.must(hooked.seen == without.seen, "the user saw the same as without Hookline")
    t.must(hooked.log.ran == without.log.ran, "the same tools ran")
    t.must(hooked.requests == without.requests, "the model was sent the same, byte for byte")


_NATIVE = """
[[hooks.PreToolUse]]
matcher = "look"

[[hooks.PreToolUse.hooks]]
name = "no looking"
type = "command"
command = "echo 'not on my watch' >&2; exit 2"
"""

_CLAUDE = """
{"hooks": {"PreToolUse": [
  {"matcher": "Bash", "hooks": [{"type": "command", "command": "sh .claude/no_force.sh"}]}
]}}
"""
_SCRIPT = """
if grep -q -- '"command": *"[^"]*--force'; then
  echo 'force pushes rewrite history' >&2
  exit 2
fi
"""


async def native_file(t: Trial) -> None:
    file = t.directory / ".hookline" / "hooks.toml"
    file.parent.mkdir()
    file.write_text(_NATIVE, encoding="utf-8")
    loaded = t.engine.load(str(t.directory), [str(file)])
    t.must(not loaded.diagnostics, "the file was read")
    played = await t.play(use("look"), use("note", "c2", text="x"), "done")
    t.must([ran.name for ran in played.log.ran] == ["note"], "the hook of the file decided which tool ran")
    t.also("not on my watch" in (played.result() or ""), "the model read the reason")


async def other_file(t: Trial) -> None:
    file = t.directory / ".claude/settings.json"
    file.parent.mkdir()
    file.write_text(_CLAUDE, encoding="utf-8")
    (file.parent / "no_force.sh").write_text(_SCRIPT, encoding="utf-8")
    loaded = t.engine.load(str(t.directory), [str(file)])
    t.must(not loaded.diagnostics, "the file was read")
    forced, plain = "git push --force", "git push"
    played = await t.play(use("run_shell", cmd=forced), use("run_shell", "c2", cmd=plain), "done")
    ran = [given["cmd"] for given in played.log.calls("run_shell")]
    t.must(ran == [plain], f"the hook decided about the agent's own shell tool (it ran {ran})")
    t.also("force pushes rewrite history" in (played.result() or ""), "the model read the reason")


#: The cases that are played through the other entry points, too.
_EVERYWHERE = (
    ("deny", calls.denied),
    ("rewrite", calls.rewritten),
    ("context", texts.before_success),
    ("ask", questions.yes),
    ("stop", turns.stopped_before),
    ("prompt", turns.prompt_blocked),
    ("request", turns.request_blocked),
    ("sent back", turns.sent_back),
)

CASES = (
    Case("conversations: two", "two conversations on one engine do not mix", two),
    Case("conversations: hundred", "a hundred conversations on one engine do not mix", hundred, slow=True),
    Case("subagent: denied", "hooks of the conversation apply to its subagent", subagent_denied),
    Case("subagent: distinguished", "hooks know the caller; a subagent has its own events", subagent_is_known),
    Case("subagent: sent back", "a SubagentStop hook sends the subagent back", subagent_sent_back),
    Case("subagent: failed", "a subagent that fails has its SubagentStop", subagent_failed),
    *(Case(f"sync: {what}", "as above, by the synchronous one", play, "sync") for what, play in _EVERYWHERE),
    *(Case(f"stream: {what}", "as above, by the streaming one", play, "stream") for what, play in _EVERYWHERE),
    Case("unchanged: conversation", "without hooks nothing is different", unchanged, watched=False),
    Case("unchanged: parallel calls", "without hooks two calls are not different", unchanged_parallel, watched=False),
    Case("unchanged: failure", "without hooks a failing tool is not different", unchanged_failure, watched=False),
    Case("unchanged: unknown tool", "without hooks an unknown tool is not different", unchanged_unknown, watched=False),
    Case("source: native file", "hooks of Hookline's own file hold", native_file),
    Case("source: another agent's file", "hooks of another agent's file hold for the agent's own tools", other_file),
)  # fmt: skip
