"""Approvals that come later: a call waits, its record is stored, and another session continues it."""

import asyncio
import threading
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import pytest

from hookline import Engine, ask, deny, rewrite
from hookline.events import PERMISSION_DENIED, PERMISSION_REQUEST, POST_TOOL_USE, PRE_TOOL_USE, ToolCall
from hookline.host import LATER, Approval, ApprovalRequest, CallResult, PendingCall
from tests.every import every


class Bank:
    """A tool that pays, in a program whose user answers later."""

    def __init__(self) -> None:
        self.paid: list[Mapping[str, Any]] = []
        self.fired: list[str] = []
        self.rules: list[Callable[[ToolCall], Any]] = [lambda _call: ask("it pays")]

    def engine(self) -> Engine:
        engine = Engine(approve=lambda _question: LATER)
        for number, rule in enumerate(self.rules):
            engine.add(PRE_TOOL_USE, rule, name=f"rule {number}", quick=True)
        events: Any = (PRE_TOOL_USE, PERMISSION_REQUEST, PERMISSION_DENIED, POST_TOOL_USE)
        for event in events:
            engine.add(event, partial(self._note, event.name), name="log", quick=True)
        return engine

    def _note(self, name: str, _payload: Any) -> None:
        self.fired.append(name)

    def pay(self, given: Mapping[str, Any]) -> str:
        self.paid.append(given)
        return f"paid {given['amount']}"

    async def asked(self, **given: Any) -> PendingCall:
        session = self.engine().session("s")
        done = await session.tool("pay", given, run=self.pay, id="c1")
        assert not done.ran
        assert done.text == "waits for approval: it pays"
        assert self.paid == []
        assert done.pending is not None
        return PendingCall.from_json(done.pending.to_json())

    async def resumed(self, pending: PendingCall, approval: bool | Approval) -> CallResult:
        self.fired.clear()
        return await self.engine().session("s").resume(pending, approval, run=self.pay)


def test_a_call_waits_and_runs_when_it_was_approved() -> None:
    async def play() -> None:
        bank = Bank()
        pending = await bank.asked(amount=9)
        assert bank.fired == ["PreToolUse", "PermissionRequest"]
        assert (pending.tool_name, pending.tool_input, pending.tool_use_id) == ("pay", {"amount": 9}, "c1")
        assert (pending.reason, pending.hook, pending.session_id) == ("it pays", "rule 0", "s")
        done = await bank.resumed(pending, True)
        assert (done.text, bank.paid, done.call.tool_use_id) == ("paid 9", [{"amount": 9}], "c1")
        assert bank.fired == ["PreToolUse", "PermissionRequest", "PostToolUse"]

    asyncio.run(play())


@every(["approval", "said"], [(False, "not approved: it pays"), (Approval(allow=False, message="no"), "no")])
def test_a_call_that_was_not_approved_does_not_run(approval: Any, said: str) -> None:
    async def play() -> None:
        bank = Bank()
        pending = await bank.asked(amount=9)
        bank.rules.clear()  # no hook asks any more, and the user has still said no
        done = await bank.resumed(pending, approval)
        assert (done.refused, bank.paid, bank.fired) == (said, [], ["PermissionDenied"])

    asyncio.run(play())


def test_hooks_judge_a_call_again_when_it_continues() -> None:
    async def play() -> None:
        bank = Bank()
        pending = await bank.asked(amount=9)
        bank.rules.append(lambda _call: deny("the account is closed"))
        done = await bank.resumed(pending, True)
        assert (done.refused, bank.paid) == ("the account is closed", [])

    asyncio.run(play())


def test_an_approval_is_for_the_arguments_that_were_asked_about() -> None:
    async def play() -> None:
        bank = Bank()
        bank.rules.insert(0, lambda call: rewrite(amount=call.tool_input["amount"] + 1))
        pending = await bank.asked(amount=9)
        assert (pending.given, pending.tool_input) == ({"amount": 9}, {"amount": 10})
        done = await bank.resumed(pending, True)
        assert (done.text, bank.paid) == ("paid 10", [{"amount": 10}])  # and not 11
        bank.rules[0] = lambda _call: rewrite(amount=1000)
        again = await bank.resumed(pending, True)
        assert (again.ran, len(bank.paid)) == (False, 1)
        assert again.pending is not None
        assert again.pending.tool_input == {"amount": 1000}

    asyncio.run(play())


def test_the_user_may_change_the_arguments() -> None:
    async def play() -> None:
        bank = Bank()
        pending = await bank.asked(amount=9)
        done = await bank.resumed(pending, Approval(allow=True, arguments={"amount": 5}))
        assert (done.text, bank.paid) == ("paid 5", [{"amount": 5}])
        bank.rules.append(lambda call: deny("too much") if call.tool_input["amount"] > 100 else None)
        done = await bank.resumed(pending, Approval(allow=True, arguments={"amount": 500}))
        assert (done.refused, len(bank.paid)) == ("too much", 1)

    asyncio.run(play())


def test_arguments_that_are_changed_at_once_are_checked_and_judged_again() -> None:
    amounts = iter((5, 500, "many"))

    async def approve(_question: ApprovalRequest) -> Approval:
        return Approval(allow=True, arguments={"amount": next(amounts)})

    def check(given: dict[str, Any]) -> str | None:
        return None if isinstance(given["amount"], int) else "amount is not a number"

    async def play() -> list[str]:
        bank = Bank()
        bank.rules.append(lambda call: deny("too much") if call.tool_input["amount"] > 100 else None)
        engine = bank.engine()
        session = engine.session("s", approve=approve)
        said = [(await session.tool("pay", {"amount": 9}, run=bank.pay, check=check)).text for _ in range(2)]
        opened = await session.open_tool("pay", {"amount": 9}, check=check)
        assert opened.refused is not None
        assert bank.paid == [{"amount": 5}]
        return [*said, opened.refused.text]

    assert asyncio.run(play()) == [
        "paid 5",
        "too much",
        "The arguments do not fit: amount is not a number",
    ]


def test_a_closed_session_resumes_nothing() -> None:
    async def play() -> None:
        bank = Bank()
        pending = await bank.asked(amount=9)
        session = bank.engine().session("s")
        await session.close()
        done = await session.resume(pending, True, run=bank.pay)
        assert (done.refused, bank.paid) == ("the session is closed", [])

    asyncio.run(play())


def test_a_call_in_two_halves_and_a_question_of_the_host_may_wait_too() -> None:
    async def play() -> None:
        session = Bank().engine().session("s")
        for call in (await session.open_tool("pay", {"amount": 9}), await session.ask("pay", {}, "it pays")):
            assert call.refused is not None
            assert call.refused.pending is not None

    asyncio.run(play())


def test_a_call_in_two_halves_continues_in_two_halves() -> None:
    async def play() -> list[str | None]:
        bank = Bank()
        pending = await bank.asked(amount=9)
        session = bank.engine().session("s")
        allowed = await session.reopen(pending, True)
        assert (allowed.refused, allowed.arguments) == (None, {"amount": 9})
        assert (await allowed.returned("paid 9")).text == "paid 9"
        edited = await session.reopen(pending, Approval(allow=True, arguments={"amount": 5}))
        assert edited.arguments == {"amount": 5}
        denied = await session.reopen(pending, Approval(allow=False, message="no"))
        wrong = await session.reopen(pending, True, check=lambda _given: "it is too much")
        return [call.refused.refused if call.refused is not None else None for call in (denied, wrong)]

    assert asyncio.run(play()) == ["no", "The arguments do not fit: it is too much"]


@every("text", ["", "{}", '{"tool_name": 5}'])
def test_a_record_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        PendingCall.from_json(text)


def test_users_who_take_their_time_do_not_take_the_threads_of_the_program() -> None:
    """Forty plain approvers wait at once, and `asyncio.to_thread` still works."""
    answered = threading.Event()

    def approve(_question: ApprovalRequest) -> bool:
        return answered.wait(30)

    async def play() -> list[bool]:
        engine = Engine(approve=approve)
        calls = [
            asyncio.create_task(
                engine.session(str(number)).tool("pay", {}, run=_paid, needs_approval="it pays")
            )
            for number in range(40)
        ]
        await asyncio.sleep(0.05)
        async with asyncio.timeout(10):
            await asyncio.to_thread(answered.set)
        return [done.ran for done in await asyncio.gather(*calls)]

    assert asyncio.run(play()) == [True] * 40


async def _paid(_given: Mapping[str, Any]) -> str:
    return "paid"
