"""Test text that hooks give the model."""

from hookline import Outcome, context, deny
from hookline.events import (
    POST_TOOL_USE,
    POST_TOOL_USE_FAILURE,
    PRE_MODEL_CALL,
    PRE_TOOL_USE,
    SESSION_START,
    STOP,
    USER_PROMPT_SUBMIT,
)
from hookline.model.outcome import ContextItem
from hookline.model.policy import Placement
from hookline.testing.conformance.run import Case
from hookline.testing.conformance.trial import PROMPT, Trial, use

TEXT = "mind the step"


async def before_success(t: Trial) -> None:
    t.hook(PRE_TOOL_USE, context(TEXT))
    played = await t.play(use("look", place="there"), "done")
    t.must(TEXT in played.read(2), "the model read the text")
    t.must("saw there" in (played.result() or ""), "the model read the result, too")
    t.also(played.read(2).count(TEXT) == 1, "the model read the text once")


async def before_deny(t: Trial) -> None:
    t.hook(PRE_TOOL_USE, deny("not on my watch") + context(TEXT))
    played = await t.play(use("look"), "done")
    t.must(played.log.ran == [], "the tool did not run")
    t.must("not on my watch" in played.read(2), "the model read the reason")
    t.must(TEXT in played.read(2), "the model read the text")


async def after(t: Trial) -> None:
    t.hook(POST_TOOL_USE, context(TEXT))
    played = await t.play(use("look", place="there"), "done")
    t.must(TEXT in played.read(2), "the model read the text")
    t.must("saw there" in (played.result() or ""), "the model read the result, too")
    t.also(played.read(2).count(TEXT) == 1, "the model read the text once")


async def before_and_after(t: Trial) -> None:
    t.hook(PRE_TOOL_USE, context("first of all"))
    t.hook(POST_TOOL_USE, context("last of all"))
    played = await t.play(use("look"), "done")
    t.must("first of all" in played.read(2), "the model read the text from before the call")
    t.must("last of all" in played.read(2), "the model read the text from after the call")


async def failure(t: Trial) -> None:
    t.hook(POST_TOOL_USE_FAILURE, context(TEXT))
    played = await t.play(use("broken", place="moon"), "done")
    t.must(TEXT in played.read(2), "the model read the text")
    t.also("there is no moon" in played.read(2), "the model read the error")
    t.also(played.seen.answers == ("done",), "the model went on and answered")


async def prompt(t: Trial) -> None:
    t.hook(USER_PROMPT_SUBMIT, context(TEXT))
    played = await t.play("done")
    t.must(TEXT in played.read(1), "the model read the text")
    t.must(PROMPT in played.read(1), "the model read the prompt")


async def session_start(t: Trial) -> None:
    t.hook(SESSION_START, context(TEXT))
    played = await t.play("one", "two", prompts=("first", "second"))
    t.must(TEXT in played.read(1), "the model read the text with the first prompt")
    t.also(played.read(2).count(TEXT) == 1, "the text stays, once")


async def request(t: Trial) -> None:
    t.hook(PRE_MODEL_CALL, _placed("conversation"), None)
    played = await t.play(use("look"), "done")
    t.must(TEXT in played.read(1), "the model read the text with the first request")
    t.also(played.read(2).count(TEXT) == 1, "the text stays, once")


async def beside_a_result(t: Trial) -> None:
    t.hook(POST_TOOL_USE, _placed("conversation"))
    played = await t.play(use("look", place="there"), "done")
    t.must(TEXT in played.read(2), "the model read the text")
    t.also(TEXT not in (played.result() or ""), "it is not part of the result")


async def end(t: Trial) -> None:
    t.hook(STOP, deny("run the tests first") + context(TEXT), None)
    played = await t.play("done", "really done")
    t.must("run the tests first" in played.read(2), "the model read why it was sent back")
    t.must(TEXT in played.read(2), "the model read the text, too")


def _placed(placement: Placement) -> Outcome:
    """Return text for a place that the event does not choose by itself."""
    return Outcome(context_items=(ContextItem(TEXT, placement, "session"),))


async def kept(t: Trial) -> None:
    t.hook(USER_PROMPT_SUBMIT, context(TEXT), None)
    played = await t.play("one", "two", prompts=("first", "second"))
    t.must(TEXT in played.read(1), "the model read the text")
    t.also(TEXT in played.read(2), "the text is still there at the next prompt")


async def transient(t: Trial) -> None:
    t.hook(PRE_MODEL_CALL, context(TEXT), None)
    played = await t.play(use("look"), "done")
    t.must(TEXT in played.read(1), "the model read the text with the first request")
    t.must(len(played.requests) == 2, "there was a second request")
    t.must(TEXT not in played.read(2), "the text was not kept for the second one")


async def transient_each_time(t: Trial) -> None:
    t.hook(PRE_MODEL_CALL, context(TEXT))
    played = await t.play(use("look"), "one", "two", prompts=("first", "second"))
    counts = [request.text.count(TEXT) for request in played.requests]
    t.must(counts == [1, 1, 1], f"every request had the text once (it had it {counts} times)")


CASES = (
    Case("context: before", "text from before a call reaches the model although the call runs", before_success),
    Case("context: before a denial", "text from before a call reaches the model with the denial", before_deny),
    Case("context: after", "text from after a call reaches the model with the result", after),
    Case("context: before and after", "texts from before and after a call both reach the model", before_and_after),
    Case("context: failure", "text about a failed call reaches the model, which continues", failure),
    Case("context: prompt", "text about a prompt reaches the model with it", prompt),
    Case("context: session start", "text of the start of a session comes with the first prompt", session_start),
    Case("context: request", "text about a request that stays is in it and in those after it", request),
    Case("context: beside a result", "text for the conversation comes beside a result", beside_a_result),
    Case("context: end", "text of a Stop hook comes with its reason", end),
    Case("context: kept", "text about a prompt stays in the conversation", kept),
    Case("transient: not kept", "text for one request is in that request only", transient),
    Case("transient: each time", "text for every request is in each of them once", transient_each_time),
)  # fmt: skip
