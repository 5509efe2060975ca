"""Test one tool call: denied, rewritten, invalid, failed, its result, several at once."""

from typing import Any

from hookline import deny, rewrite
from hookline.events import POST_TOOL_USE, PRE_TOOL_USE, ToolCall, ToolResult
from hookline.testing.conformance.run import Case
from hookline.testing.conformance.tools import GRAMS
from hookline.testing.conformance.trial import Trial, use


async def denied(t: Trial) -> None:
    t.hook(PRE_TOOL_USE, deny("not on my watch"))
    played = await t.play(use("look"), "done")
    t.must(played.log.ran == [], "the tool did not run")
    t.must(t.times("PostToolUse") == 0, "PostToolUse did not fire")
    t.must(t.times("PostToolUseFailure") == 0, "PostToolUseFailure did not fire")
    t.also("not on my watch" in (played.result() or ""), "the model read the reason as the result")
    t.also(played.seen.answers == ("done",), "the model went on and answered")


async def denied_by_name(t: Trial) -> None:
    t.hook(PRE_TOOL_USE, deny("no notes"), matcher="note")
    played = await t.play(use("look", place="there"), use("note", "c2", text="x"), "done")
    t.must(played.log.calls("look") == [{"place": "there"}], "the other tool ran")
    t.must(played.log.calls("note") == [], "the tool that the hook is about did not run")
    ids = [payload.tool_use_id for payload in t.payloads("PreToolUse")]
    t.also(ids == ["c1", "c2"], f"hooks got the ids of the calls (they got {ids})")


async def rewritten(t: Trial) -> None:
    t.hook(PRE_TOOL_USE, rewrite({"place": "elsewhere"}), rewrites=True)
    played = await t.play(use("look", place="there"), "done")
    t.must(played.log.calls("look") == [{"place": "elsewhere"}], "the tool ran once, with the new arguments")
    after = [dict(payload.tool_input) for payload in t.payloads("PostToolUse")]
    t.also(after == [{"place": "elsewhere"}], "PostToolUse got the arguments it ran with")
    t.also("saw elsewhere" in (played.result() or ""), "the model read the result")


async def rewritten_to_nothing(t: Trial) -> None:
    t.hook(PRE_TOOL_USE, rewrite({}), rewrites=True)
    played = await t.play(use("look", place="there"), "done")
    t.must(played.log.calls("look") == [{"place": "here"}], "the tool ran without arguments")


async def key_removed(t: Trial) -> None:
    t.hook(PRE_TOOL_USE, rewrite({"text": "x"}), rewrites=True)
    played = await t.play(use("note", text="x", times=9), "done")
    t.must(played.log.calls("note") == [{"text": "x", "times": 1}], "the tool ran without the key")


async def rewritten_without_a_key(t: Trial) -> None:
    t.hook(PRE_TOOL_USE, rewrite({"times": 2}), rewrites=True)
    await _refused(t)


async def rewritten_to_a_wrong_type(t: Trial) -> None:
    t.hook(PRE_TOOL_USE, rewrite({"text": "x", "times": "many"}), rewrites=True)
    await _refused(t)


async def _refused(t: Trial) -> None:
    played = await t.play(use("note", text="x"), "done")
    t.must(played.log.ran == [], "the tool did not run")
    t.must(t.times("PostToolUse") == 0, "PostToolUse did not fire")
    t.also(t.times("PostToolUseFailure") == 0, "it was refused: PostToolUseFailure did not fire")
    t.also("a hook changed the input" in (played.result() or ""), "the model read that a hook did it")


async def unknown_tool(t: Trial) -> None:
    played = await t.play(use("nonesuch"), "done", may_fail=True)
    t.must(played.log.ran == [], "no tool ran")
    t.also(t.about_calls() == [], f"no event about the call fired (there were {t.about_calls()})")


async def bad_arguments(t: Trial) -> None:
    played = await t.play(use("note", times="many"), "done", may_fail=True)
    t.must(played.log.ran == [], "the tool did not run")
    t.also(t.about_calls() == [], f"no event about the call fired (there were {t.about_calls()})")


async def failed(t: Trial) -> None:
    played = await t.play(use("broken", place="moon"), "done", may_fail=True)
    t.must(played.log.calls("broken") == [{"place": "moon"}], "the tool ran once")
    t.must(t.times("PostToolUse") == 0, "PostToolUse did not fire after the failure")
    t.must(t.times("PostToolUseFailure") == 1, "PostToolUseFailure fired exactly once")
    shown = [payload.error for payload in t.payloads("PostToolUseFailure")]
    t.also("there is no moon" in "".join(shown), f"the hook got the error (it got {shown})")


async def result_emptied(t: Trial) -> None:
    t.hook(POST_TOOL_USE, rewrite(""))
    played = await t.play(use("look", place="there"), "done")
    t.must(played.log.calls("look") == [{"place": "there"}], "the tool ran")
    t.must("saw there" not in played.read(2), "the model did not read the result that the hook emptied")
    t.also(played.result() is not None, "the model was sent a result")


async def result_structured(t: Trial) -> None:
    t.hook(POST_TOOL_USE, rewrite({"found": [1, "two"]}))
    played = await t.play(use("look", place="there"), "done")
    t.must("saw there" not in played.read(2), "the model did not read the old result")
    t.must(all(word in (played.result() or "") for word in ("found", "two")), "the model read the new result")


async def result_model_seen(t: Trial) -> None:
    file = t.directory / "told.json"
    t.engine.add(POST_TOOL_USE, f"cat > '{file}'")
    played = await t.play(use("weigh", thing="stone"), "done")
    shown = file.read_text(encoding="utf-8") if file.exists() else ""
    t.must(str(GRAMS) in shown, "a command hook got the fields of the tool's result")
    t.must(str(GRAMS) in (played.result() or ""), "the model read it, too")


async def result_model_rewritten(t: Trial) -> None:
    t.hook(POST_TOOL_USE, rewrite({"grams": 1}))
    played = await t.play(use("weigh", thing="stone"), "done")
    t.must(str(GRAMS) not in played.read(2), "the model did not read the old result")
    t.must("grams" in (played.result() or ""), "the model read the new result")


async def result_objected(t: Trial) -> None:
    t.hook(POST_TOOL_USE, deny("much too long"))
    played = await t.play(use("look", place="there"), "done")
    t.must("much too long" in played.read(2), "the model read the objection")
    t.also("saw there" in (played.result() or ""), "the model read the result, too")


async def parallel_order(t: Trial) -> None:
    played = await t.play([use("late", place="one"), use("look", "c2", place="two")], "done")
    t.must(len(played.log.ran) == 2, "both tools ran, once each")
    t.must(t.times("PreToolUse") == t.times("PostToolUse") == 2, "both calls had their events")
    ids = [said.id for said in played.requests[1].messages if said.role == "tool"] if played.read(2) else []
    t.must(ids == ["c1", "c2"], f"the model read the results in the order of the calls (it read {ids})")
    fits = "saw one at last" in (played.result("c1") or "") and "saw two" in (played.result("c2") or "")
    t.must(fits, "each call has its own result")


async def parallel_one_denied(t: Trial) -> None:
    t.hook(PRE_TOOL_USE, deny("not the first"), matcher="late")
    played = await t.play([use("late", place="one"), use("look", "c2", place="two")], "done")
    t.must([ran.name for ran in played.log.ran] == ["look"], "only the call that was not denied ran")
    t.must("not the first" not in (played.result("c2") or ""), "the other call has its own result")
    t.also("not the first" in (played.result("c1") or ""), "the model read why the first one did not run")


async def arguments_mutated(t: Trial) -> None:
    def mutate(call: ToolCall) -> None:
        changed: Any = call.tool_input
        try:
            changed["place"] = "changed in place"
        except TypeError:
            return

    t.engine.add(PRE_TOOL_USE, mutate)
    played = await t.play(use("look", place="there"), "done")
    t.must(played.log.calls("look") == [{"place": "there"}], "the tool ran with what the model asked for")


async def result_mutated(t: Trial) -> None:
    def mutate(result: ToolResult) -> None:
        try:
            result.tool_response["found"].append("changed in place")
        except (TypeError, AttributeError):
            return

    t.engine.add(POST_TOOL_USE, mutate)
    played = await t.play(use("survey"), "done")
    t.must("a tree" in (played.result() or ""), "the model read the result")
    t.must("changed in place" not in played.read(2), "the result is what the tool gave")


CASES = (
    Case("deny: not run", "a denied call does not run, the model reads why, nothing fires after it", denied),
    Case("deny: by name", "a hook about one tool lets the others run", denied_by_name),
    Case("rewrite: values", "the tool runs with the arguments that a hook rewrote", rewritten),
    Case("rewrite: to nothing", "a rewrite to no arguments at all is one", rewritten_to_nothing),
    Case("rewrite: key removed", "a rewrite may leave a key out", key_removed),
    Case("rewrite: missing key", "a rewrite without a required argument is refused", rewritten_without_a_key),
    Case("rewrite: wrong type", "a rewrite to a value of the wrong type is refused", rewritten_to_a_wrong_type),
    Case("invalid: unknown tool", "a call of an unknown tool fires nothing", unknown_tool),
    Case("invalid: arguments", "a call whose arguments do not fit fires nothing", bad_arguments),
    Case("failure: one event", "a tool that fails fires PostToolUseFailure once, and not PostToolUse", failed),
    Case("result: emptied", "a result that a hook empties is empty", result_emptied),
    Case("result: structured", "a hook may replace a result by structured data", result_structured),
    Case("result: model seen", "hooks read the fields of a pydantic model that a tool returns", result_model_seen),
    Case("result: model rewritten", "a hook may replace a pydantic model", result_model_rewritten),
    Case("result: objection", "the model reads a hook's objection to a result", result_objected),
    Case("parallel: order", "two calls at once: results in the order of the calls", parallel_order),
    Case("parallel: one denied", "two calls at once: a denial concerns one of them", parallel_one_denied),
    Case("mutation: arguments", "a hook cannot change the arguments in place", arguments_mutated),
    Case("mutation: result", "a hook cannot change the result in place", result_mutated),
)  # fmt: skip
