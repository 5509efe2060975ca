"""Test calls that a hook wants the user to approve."""

import asyncio
from typing import Any

from hookline import allow, ask, deny
from hookline.events import PERMISSION_REQUEST, PRE_TOOL_USE
from hookline.host import Approval, ApprovalRequest
from hookline.testing.conformance.run import Case
from hookline.testing.conformance.trial import Trial, use


class ScriptedUser:
    """A user who answers questions, and records them and how many were open at once."""

    def __init__(self, answer: bool | Approval) -> None:
        self.questions: list[ApprovalRequest] = []
        self.most = 0
        self._open = 0
        self._answer = answer

    async def approve(self, question: ApprovalRequest) -> Any:
        self._open += 1
        self.most = max(self.most, self._open)
        self.questions.append(question)
        await asyncio.sleep(0.01)
        self._open -= 1
        return self._answer


async def yes(t: Trial) -> None:
    user = ScriptedUser(True)
    t.engine.approve = user.approve
    t.hook(PRE_TOOL_USE, ask("is it safe?"))
    played = await t.play(use("look", place="there"), "done")
    t.must(played.log.calls("look") == [{"place": "there"}], "the tool ran")
    t.must(len(user.questions) == 1, "the user was asked once")
    asked = [(each.tool_name, dict(each.tool_input)) for each in user.questions]
    t.also(asked == [("look", {"place": "there"})], f"the user saw the call (it was {asked})")
    reasons = "".join(each.reason for each in user.questions)
    t.also("is it safe?" in reasons, f"the user saw the reason (it was {reasons})")


async def no(t: Trial) -> None:
    user = ScriptedUser(Approval(allow=False, message="ask me tomorrow"))
    t.engine.approve = user.approve
    t.hook(PRE_TOOL_USE, ask("is it safe?"))
    played = await t.play(use("look"), "done")
    t.must(played.log.ran == [], "the tool did not run")
    t.must(t.times("PostToolUse") == 0, "PostToolUse did not fire")
    # An agent may end the turn there: the user decided, and speaks next.
    read = played.result() if len(played.requests) > 1 else played.seen.text
    t.also("ask me tomorrow" in (read or ""), "the model read what the user said, or the turn was over")


async def nobody(t: Trial) -> None:
    t.hook(PRE_TOOL_USE, ask("is it safe?"))
    played = await t.play(use("look"), "done")
    t.must(played.log.ran == [], "the tool did not run")
    t.also("is it safe?" in (played.result() or ""), "the model read what it would have been asked")


async def one_at_a_time(t: Trial) -> None:
    user = ScriptedUser(True)
    t.engine.approve = user.approve
    t.hook(PRE_TOOL_USE, ask("is it safe?"))
    played = await t.play([use("look", place="one"), use("note", "c2", text="two")], "done")
    t.must(len(played.log.ran) == 2, "both tools ran")
    t.must(len(user.questions) == 2, "the user was asked about both")
    t.must(user.most == 1, "one question came after the other")


async def answered_by_a_hook(t: Trial) -> None:
    t.hook(PRE_TOOL_USE, ask("is it safe?"))
    t.hook(PERMISSION_REQUEST, allow())
    played = await t.play(use("look", place="there"), "done")
    t.must(played.log.calls("look") == [{"place": "there"}], "the tool ran")


async def denied_by_a_hook(t: Trial) -> None:
    user = ScriptedUser(True)
    t.engine.approve = user.approve
    t.hook(PRE_TOOL_USE, ask("is it safe?"))
    t.hook(PERMISSION_REQUEST, deny("it is not"))
    played = await t.play(use("look"), "done")
    t.must(played.log.ran == [], "the tool did not run")
    t.also(user.questions == [], "the user was not asked")
    t.also("it is not" in (played.result() or ""), "the model read the reason")


CASES = (
    Case("ask: yes", "the user is asked, and the call runs", yes),
    Case("ask: no", "the user is asked and says no: the call does not run", no),
    Case("ask: nobody there", "no user can be asked: the call does not run", nobody),
    Case("ask: one at a time", "questions about parallel calls come one after another", one_at_a_time),
    Case("ask: a hook says yes", "a PermissionRequest hook may answer for the user", answered_by_a_hook),
    Case("ask: a hook says no", "a PermissionRequest hook may deny what the user would allow", denied_by_a_hook),
)  # fmt: skip
