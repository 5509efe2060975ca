"""Record the result of one event: the decision, and each hook's part in it."""

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from hookline.engine.explain import ASKED_INSTEAD, HookAccount
from hookline.model.events import EventSpec, field_of
from hookline.model.outcome import Outcome, with_edits
from hookline.model.run import Run
from hookline.model.safe_text import one_line

#: Replaces a missing reason, so that `assert said.denied` holds for every denial.
NO_REASON = "(no reason given)"
_LONGEST_REASON = 100


class Result(Struct, frozen=True, eq=False, kw_only=True):
    """Result of one event.

    ::

        said = hooks.tool("Bash", command="git push --force")
        assert said.denied == "force pushes rewrite history"
        assert said.ran == ["no force push"]
        assert said.skipped["audit"].startswith("not matched")
    """

    #: The canonical name of the event.
    event: str
    #: The reason why hooks block this, or None. At Stop and the like the agent continues with it.
    denied: str | None
    #: The question to the user, or None: a hook asks, and none denies.
    asked: str | None
    #: True if it proceeds: nothing denies or stops it, and if the user is asked, the test approves.
    allowed: bool
    #: The reason why the whole run stops, or None.
    stopped: str | None
    #: The input of the tool, the prompt, and the output of the tool or the model, as the hooks left them.
    input: Any
    prompt: Any
    output: Any
    #: Rewritten fields of the payload, each with its new value.
    rewritten: Mapping[str, Any]
    #: Text for the model.
    context: list[str]
    #: Text for the user.
    messages: list[str]
    #: The names of the hooks that ran, in the order of the configuration.
    ran: list[str]
    #: The hooks of this event that did not run, by name, and why.
    skipped: dict[str, str]
    #: The hooks that gave no answer, by name, and the cause: `timed_out`, `crashed`, `not_started` ...
    failed: dict[str, str]
    #: The record of every hook of the event, run or not: exit code, output, reason, duration.
    runs: tuple[Run, ...]
    #: The outcome, as a program that embeds Hookline gets it.
    outcome: Outcome

    def __repr__(self) -> str:
        said = (("denied", self.denied), ("asked", self.asked), ("stopped", self.stopped))
        words = [f"{name} {one_line(text, _LONGEST_REASON)!r}" for name, text in said if text is not None]
        words = [self.event, *(words or ["allowed" if self.allowed else "not allowed"])]
        lists = {
            "rewrote": list(self.rewritten),
            "ran:": self.ran,
            "did not run:": list(self.skipped),
            "failed:": [f"{name} {cause}" for name, cause in self.failed.items()],
        }
        words += [f"{what} {', '.join(names)}" for what, names in lists.items() if names]
        return f"<Result {'; '.join(words)}>"


def result_of(
    event: EventSpec[Any],
    payload: Any,
    outcome: Outcome,
    accounts: Sequence[HookAccount],
    again: Sequence[Run],
    approve: bool | None,
) -> Result:
    """Build the result. `again` are the runs of guards that ran once more; `approve` is the user's answer."""
    final = with_edits(event, payload, outcome)
    asked = outcome.permission == "ask"
    return Result(
        event=event.name,
        denied=(outcome.reason or NO_REASON) if outcome.blocked else None,
        asked=(outcome.reason or NO_REASON) if asked else None,
        allowed=not outcome.blocked
        and not outcome.stop
        and outcome.permission != "defer"
        and (approve is True or not asked),
        stopped=(outcome.stop_reason or NO_REASON) if outcome.stop else None,
        input=field_of(final, "tool_input"),
        prompt=field_of(final, "prompt"),
        output=_first(field_of(final, "tool_response"), field_of(final, "response")),
        rewritten={edit.field: outcome.updated(edit.field) for edit in outcome.edits},
        context=list(outcome.context),
        messages=[message.text for message in outcome.messages],
        ran=[name_of(each) for each in accounts if has_run(each)],
        skipped={name_of(each): each.runs[0].why for each in accounts if was_skipped(each)},
        failed={name_of(each): run.cause for each in accounts for run in each.runs if run.cause is not None},
        runs=(*(run for each in accounts for run in each.runs), *again),
        outcome=outcome,
    )


def name_of(account: HookAccount) -> str:
    return account.decision.prepared.hook.name


def was_skipped(account: HookAccount) -> bool:
    """Return True if it was not to run; a hook that should have run and could not has failed."""
    return not account.ran or account.decision.why.startswith(ASKED_INSTEAD)


def has_run(account: HookAccount) -> bool:
    return not was_skipped(account) and any(run.cause != "not_started" for run in account.runs)


def _first(*values: Any) -> Any:
    return next((value for value in values if value is not None), None)
