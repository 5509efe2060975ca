"""From a submitted text to a turn that may begin. Hooks come first; what they leave is all anybody else sees."""

import uuid
from collections.abc import Callable, Sequence
from typing import Protocol

from msgspec import Struct

from hookline.agent.hooks import Hooks
from hookline.agent.ports import Listener, Shown
from hookline.agent.prompts.prompt import LocalCommand, Prepared
from hookline.model import events as e
from hookline.model import payloads as p
from hookline.model.outcome import ContextItem, Outcome
from hookline.permissions.rules import RuleReader, RuleSet

_BLOCKED = "a hook blocked the prompt"


class Intake(Protocol):
    """What a text becomes, once hooks have let it through."""

    async def prepare(self, text: str, cwd: str) -> Prepared: ...

    async def begin(self, prepared: Prepared) -> Sequence[str]:
        """Hooks let it through: what it brings along counts from now on. Returns what is wrong with that."""
        ...

    def remember(self, text: str) -> None:
        """For the input history."""
        ...


class PlainIntake:
    """No commands, no mentions: the text is the prompt."""

    async def prepare(self, text: str, cwd: str) -> Prepared:
        del cwd
        return Prepared(shown=text, text=text)

    async def begin(self, prepared: Prepared) -> Sequence[str]:
        del prepared
        return ()

    def remember(self, text: str) -> None:
        del text


class Admitted(Struct, frozen=True, kw_only=True):
    """A prompt that may become a turn."""

    #: As the user may see it again: after hooks, before files and commands were put in.
    shown: str
    text: str
    model: str | None = None
    allowed: RuleSet | None = None
    context: tuple[ContextItem, ...] = ()


class Rejected(Struct, frozen=True, kw_only=True):
    """It leaves nothing behind but the reason, and the text for whoever wants to mend it."""

    why: str
    text: str


class Admitting:
    def __init__(
        self, hooks: Hooks, intake: Intake, listener: Listener, rules: RuleReader | None = None
    ) -> None:
        self._hooks = hooks
        self._intake = intake
        self._listener = listener
        self._rules = rules

    async def admit(
        self, text: str, cwd: str, named: Callable[[str], None]
    ) -> Admitted | Rejected | LocalCommand:
        """`named` is told the id of the prompt before any hook runs."""
        named(str(uuid.uuid4()))
        submitted = await self._hooks.dispatch(e.USER_PROMPT_SUBMIT, p.Prompt(prompt=text))
        if submitted.blocked or submitted.stop:
            return self._rejected(text, submitted)
        final = text if submitted.updated_prompt is None else str(submitted.updated_prompt)
        if not final.strip():
            return self._nothing(final)
        prepared = await self._intake.prepare(final, cwd)
        for problem in prepared.problems:
            self._listener.show(Shown(kind="warning", text=problem))
        if prepared.local is not None:
            return prepared.local
        if not prepared.sends:
            return Rejected(why="; ".join(prepared.problems) or "there is nothing to send", text=final)
        expanded = await self._expanded(prepared)
        if expanded is not None and (expanded.blocked or expanded.stop):
            return self._rejected(final, expanded)
        for problem in await self._intake.begin(prepared):
            self._listener.show(Shown(kind="warning", text=problem))
        self._intake.remember(final)
        self._listener.show(Shown(kind="prompt", text=prepared.shown))
        return Admitted(
            shown=prepared.shown,
            text=prepared.text,
            model=prepared.model,
            allowed=self._allowed(prepared),
            context=(*submitted.context_items, *(expanded.context_items if expanded is not None else ())),
        )

    async def _expanded(self, prepared: Prepared) -> Outcome | None:
        if prepared.command is None:
            return None
        return await self._hooks.dispatch(
            e.USER_PROMPT_EXPANSION,
            p.PromptExpansion(
                command_name=prepared.command,
                command_args=prepared.command_arguments,
                command_source=prepared.command_source,
                expansion_type="skill" if prepared.command_kind == "skill" else "slash_command",
                prompt=prepared.shown,
            ),
        )

    def _allowed(self, prepared: Prepared) -> RuleSet | None:
        if prepared.allowed_tools is None:
            return None
        rules, problems = RuleSet.parse(
            allow=prepared.allowed_tools, source=f"/{prepared.command}", reader=self._rules
        )
        for problem in problems:
            self._listener.show(Shown(kind="warning", text=f"/{prepared.command}: allowed-tools: {problem}"))
        return rules

    def _nothing(self, text: str) -> Rejected:
        why = "the prompt is empty: there is nothing to send"
        self._listener.show(Shown(kind="blocked", text=why))
        return Rejected(why=why, text=text)

    def _rejected(self, text: str, outcome: Outcome) -> Rejected:
        why = outcome.reason or outcome.stop_reason or _BLOCKED
        self._listener.show(Shown(kind="blocked", text=why))
        return Rejected(why=why, text=text)
