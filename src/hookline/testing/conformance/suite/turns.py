"""Test whole turns: prompts, requests, answers, and how a turn ends."""

from typing import Any

from hookline import Outcome, deny, halt, rewrite
from hookline.events import (
    POST_MODEL_CALL,
    POST_TOOL_USE,
    PRE_MODEL_CALL,
    PRE_TOOL_USE,
    SESSION_START,
    STOP,
    TURN_START,
    USER_PROMPT_SUBMIT,
    ModelRequest,
)
from hookline.testing.conformance.harness import ScriptedResponse
from hookline.testing.conformance.run import Case
from hookline.testing.conformance.trial import PROMPT, Trial, use


async def stopped_before(t: Trial) -> None:
    t.hook(PRE_TOOL_USE, halt("out of budget"))
    played = await t.play(use("look"), "done", may_fail=True)
    t.must(played.log.ran == [], "the tool did not run")
    t.must(len(played.requests) == 1, "the model was not asked again")
    t.also("out of budget" in played.seen.text, "the user saw why")


async def stopped_after(t: Trial) -> None:
    t.hook(POST_TOOL_USE, halt("out of budget"))
    played = await t.play(use("look", place="there"), "done", may_fail=True)
    t.must(played.log.calls("look") == [{"place": "there"}], "the tool ran")
    t.must(len(played.requests) == 1, "the model was not asked again")
    t.also("out of budget" in played.seen.text, "the user saw why")


async def not_revived(t: Trial) -> None:
    t.hook(PRE_TOOL_USE, halt("out of budget"))
    t.hook(STOP, deny("go on"))
    played = await t.play(use("look"), "done", "done again", may_fail=True)
    t.must(played.log.ran == [], "the tool did not run")
    t.must(len(played.requests) == 1, "a Stop hook did not revive the run")


async def after_a_stop(t: Trial) -> None:
    t.hook(PRE_TOOL_USE, halt("out of budget"), None)
    played = await t.play(use("look"), use("look", "c2"), "done", prompts=("first", "second"))
    t.must(len(played.log.ran) == 1, "the call of the next prompt ran, that of the stopped run did not")
    t.must(played.seen.answers[1:] == ("done",), "the next prompt was answered")


async def prompt_blocked(t: Trial) -> None:
    t.hook(USER_PROMPT_SUBMIT, deny("no secrets please"))
    played = await t.play("done", may_fail=True)
    t.must(played.requests == [], "the model was not asked")
    t.also("no secrets please" in played.seen.text, "the user saw why")


async def prompt_blocked_and_forgotten(t: Trial) -> None:
    t.hook(USER_PROMPT_SUBMIT, deny("no secrets please"), None)
    played = await t.play("done", prompts=("the password is 123", "hello"))
    t.must(len(played.requests) == 1, "the model was asked about the second prompt only")
    t.must("123" not in played.read(1), "the blocked prompt is not in the history")
    t.also(played.seen.answers[1:] == ("done",), "the second prompt was answered")


async def prompt_rewritten(t: Trial) -> None:
    t.hook(USER_PROMPT_SUBMIT, rewrite("the password is ***"))
    played = await t.play("done", prompts=("the password is 123",))
    t.must("123" not in played.read(1), "the model did not read the old prompt")
    t.must("the password is ***" in played.read(1), "the model read the new one")


async def request_blocked(t: Trial) -> None:
    t.hook(PRE_MODEL_CALL, deny("too expensive"))
    played = await t.play("done", may_fail=True)
    t.must(played.requests == [], "the model was not asked")
    t.also("too expensive" in played.seen.text, "the user saw why")


async def second_request_blocked(t: Trial) -> None:
    t.hook(PRE_MODEL_CALL, None, deny("too expensive"))
    played = await t.play(use("look"), "done", may_fail=True)
    t.must(len(played.log.ran) == 1, "the tool ran")
    t.must(len(played.requests) == 1, "the model was not asked again")
    t.also("too expensive" in played.seen.text, "the user saw why")


async def request_rewritten(t: Trial) -> None:
    t.hook(PRE_MODEL_CALL, rewrite([{"role": "user", "content": "the password is ***"}]), rewrites=True)
    played = await t.play("done", prompts=("the password is 123",))
    t.must("123" not in played.read(1), "the model did not read the old messages")
    t.must("the password is ***" in played.read(1), "the model read the new ones")


async def first_message(t: Trial) -> None:
    t.hook(SESSION_START, Outcome(seeds=("read the rules first",)))
    played = await t.play("one", "two")
    read = played.requests[-1].text if played.requests else ""
    t.must("read the rules first" in read, "the model read the first message")
    t.also(read.find("read the rules first") < read.find(PROMPT), "it came before the prompt")


async def model_failed(t: Trial) -> None:
    played = await t.play(use("look"), ScriptedResponse(error="the model is down"), may_fail=True)
    t.must(t.times("Stop") == 0, "Stop did not fire")
    t.must(t.times("StopFailure") == 1, f"StopFailure fired once (it was {t.times('StopFailure')} times)")
    t.also(_settled(t) == ["failed"], f"the turn was settled as failed (it was {_settled(t)})")
    t.also("the model is down" in played.seen.text, "the user saw why")


async def settled(t: Trial) -> None:
    t.hook(PRE_TOOL_USE, halt("out of budget"), None)
    await t.play(use("look"), use("look", "c2"), "done", prompts=("first", "second"), may_fail=True)
    t.must(len(_settled(t)) == 2, f"every turn was settled once (there were {_settled(t)})")
    t.also(_settled(t) == ["blocked", "completed"], f"hooks got how it ended (they got {_settled(t)})")


async def settled_when_blocked(t: Trial) -> None:
    t.hook(TURN_START, deny("not today"), None)
    t.hook(PRE_MODEL_CALL, deny("too expensive"), deny("too expensive"), deny("too expensive"), None)
    await t.play("done", prompts=("first", "second", "third"), may_fail=True)
    t.must(t.times("TurnSettled") == 3, f"every turn was settled once (there were {_settled(t)})")
    t.also(
        _settled(t) == ["blocked", "blocked", "completed"], f"hooks got how it ended (it was {_settled(t)})"
    )


def _settled(t: Trial) -> list[str]:
    return [payload.status for payload in t.payloads("TurnSettled")]


async def answer_stopped(t: Trial) -> None:
    t.hook(POST_MODEL_CALL, halt("out of budget"))
    played = await t.play(use("look"), "done", may_fail=True)
    t.must(played.log.ran == [], "the tool that it calls did not run")
    t.must(len(played.requests) == 1, "the model was not asked again")
    t.also("out of budget" in played.seen.text, "the user saw why")


async def stream_judged(t: Trial) -> None:
    t.hook(POST_MODEL_CALL, rewrite("the key is ***"), rewrites=True)
    played = await t.play("the key is 123")
    t.must(
        "123" not in played.streamed, f"nothing was shown before it was judged (it was {played.streamed!r})"
    )
    t.must(played.seen.answers == ("the key is ***",), "the user saw the new answer")


async def stream_shown(t: Trial) -> None:
    played = await t.play(use("look"), "the key is 123")
    t.must(played.streamed == "the key is 123", f"the user was shown the answer (it was {played.streamed!r})")


async def request_mutated(t: Trial) -> None:
    tried: list[str] = []

    def mutate(request: ModelRequest) -> None:
        for message in request.messages:
            changed: Any = message
            tried.append(str(message))
            try:
                for key in tuple(changed):
                    if key != "role":
                        changed[key] = "changed in place"
            except TypeError:
                return

    t.engine.add(PRE_MODEL_CALL, mutate)
    played = await t.play(use("look"), "done")
    t.must("changed in place" not in played.read(2), "the model read what was said")
    t.must(bool(tried), "hooks were shown the messages")


async def answer_rewritten(t: Trial) -> None:
    t.hook(POST_MODEL_CALL, rewrite("the key is ***"), None)
    played = await t.play("the key is 123", "done", prompts=("first", "second"))
    t.must(played.seen.answers[:1] == ("the key is ***",), "the user saw the new answer")
    t.also("123" not in played.read(2), "the history has the new answer")


async def sent_back(t: Trial) -> None:
    t.hook(STOP, deny("run the tests first"), None)
    played = await t.play("done", "really done")
    t.must(len(played.requests) == 2, "the model got one more turn, and only one")
    t.must("run the tests first" in played.read(2), "the model read why")
    t.must(played.seen.answers == ("really done",), "the user saw the last answer")
    active = [payload.stop_hook_active for payload in t.payloads("Stop")]
    t.also(active == [False, True], f"the hook knew that it had sent the model back (it got {active})")


async def sent_back_to_work(t: Trial) -> None:
    t.hook(STOP, deny("look again"), None)
    played = await t.play("done", use("look", place="there"), "really done")
    t.must(played.log.calls("look") == [{"place": "there"}], "in its extra turn the model may call tools")
    t.must(played.seen.answers == ("really done",), "the user saw the last answer")


async def sent_back_for_ever(t: Trial) -> None:
    t.hook(STOP, deny("not good enough"))
    played = await t.play(*(f"answer {number}" for number in range(1, 31)))
    t.must(1 < len(played.requests) < 30, "a hook that always blocks is not obeyed for ever")
    t.also(
        len(played.requests) == 9, f"it is obeyed eight times (there were {len(played.requests)} requests)"
    )
    t.also(played.seen.answers == (f"answer {len(played.requests)}",), "the user saw the last answer")


async def stop_in_every_turn(t: Trial) -> None:
    await t.play("one", use("look"), "two", prompts=("first", "second"))
    t.must(t.times("UserPromptSubmit") == 2, "UserPromptSubmit fired once per prompt")
    t.must(t.times("Stop") == 2, "Stop fired once per turn")
    last = [payload.last_assistant_message for payload in t.payloads("Stop")]
    t.also(last == ["one", "two"], f"Stop hooks got the answers (they got {last})")


CASES = (
    Case("stop: before", "a hook stops the run before a call: it does not run, the model is not asked", stopped_before),
    Case("stop: after", "a hook stops the run after a call: the model is not asked again", stopped_after),
    Case("stop: not revived", "a Stop hook does not revive a run that a hook stopped", not_revived),
    Case("stop: next prompt", "after a stopped run the next prompt is answered", after_a_stop),
    Case("prompt: blocked", "a blocked prompt makes no request, and the user sees why", prompt_blocked),
    Case("prompt: forgotten", "a blocked prompt is not in the history", prompt_blocked_and_forgotten),
    Case("prompt: rewritten", "the model reads the prompt as a hook left it", prompt_rewritten),
    Case("prompt: first message", "the model reads a first message of SessionStart hooks", first_message),
    Case("request: rewritten", "the model reads the messages as a PreModelCall hook left them", request_rewritten),
    Case("request: blocked", "a PreModelCall hook holds a request back, and the user sees why", request_blocked),
    Case("request: second blocked", "a PreModelCall hook holds back the request after a call", second_request_blocked),
    Case("mutation: messages", "a hook cannot change the messages in place", request_mutated),
    Case("answer: rewritten", "the user sees the answer as a PostModelCall hook left it", answer_rewritten),
    Case("answer: stopped", "a PostModelCall hook stops the run: calls of the answer do not run", answer_stopped),
    Case("stream: judged", "no text is shown that a PostModelCall hook may still change", stream_judged, "stream"),
    Case("stream: shown", "text is shown while it is streamed, with a hook that lets it pass", stream_shown, "stream"),
    Case("failure: model", "a model that gives no answer fires StopFailure once, and not Stop", model_failed),
    Case("end: settled", "every turn is settled once, also one that a hook stopped", settled),
    Case("end: settled when blocked", "a turn whose start or request was blocked is settled", settled_when_blocked),
    Case("end: sent back", "a Stop hook sends the model back once, and knows that", sent_back),
    Case("end: back to work", "a model that was sent back may call tools", sent_back_to_work),
    Case("end: capped", "a Stop hook that always blocks is not obeyed for ever", sent_back_for_ever),
    Case("end: every turn", "prompt and end have their events in every turn", stop_in_every_turn),
)  # fmt: skip
