"""Take a submitted text to a turn that may begin.

Local commands are read from the typed text. Then hooks run; everything after sees only what they leave.
"""

import uuid
from collections.abc import Sequence
from typing import Any, Protocol

from msgspec import Struct

from hookline.agent.ports import Shown
from hookline.agent.prompts.local_commands import SHELL, LocalCommand
from hookline.agent.prompts.prompt import PreparedPrompt
from hookline.agent.turn.turn import AgentParts, decided_by
from hookline.model import events as e
from hookline.model import payloads as p
from hookline.model.events import EventSpec
from hookline.model.outcome import ContextItem, Outcome
from hookline.permissions.rules import RuleSet


class Prompts(Protocol):
    """Preparation of texts that hooks let through."""

    def local(self, text: str) -> LocalCommand | str | None:
        """Return the command for the agent itself in a text, or the error in it; None for anything else."""
        ...

    async def prepare(self, text: str, cwd: str) -> PreparedPrompt: ...

    async def begin(self, prepared: PreparedPrompt) -> Sequence[str]:
        """Let hooks of the accepted prompt's command join the session. Returns the problems found."""
        ...

    def remember(self, text: str) -> None:
        """Add a text to the input history."""
        ...


class PlainPrompts:
    """Prompts without commands and mentions: the text is the prompt."""

    def local(self, text: str) -> LocalCommand | str | None:
        del text
        return None

    async def prepare(self, text: str, cwd: str) -> PreparedPrompt:
        del cwd
        return PreparedPrompt(shown=text, text=text)

    async def begin(self, prepared: PreparedPrompt) -> Sequence[str]:
        del prepared
        return ()

    def remember(self, text: str) -> None:
        del text


class AcceptedPrompt(Struct, frozen=True, kw_only=True):
    """A prompt that may become a turn."""

    #: As the user may see it again: after hooks, before files and commands were inserted.
    shown: str
    text: str
    model: str | None = None
    allowed: RuleSet | None = None
    context: tuple[ContextItem, ...] = ()
    #: The id of the wake of a durable hook, if it is one.
    wake: str = ""


class RejectedPrompt(Struct, frozen=True, kw_only=True):
    """A prompt of which nothing is kept; the text is returned for the user to edit."""

    why: str
    text: str


class Submission:
    """Submission of one session's prompts."""

    def __init__(self, parts: AgentParts, prompts: Prompts) -> None:
        self._hooks = parts.hooks
        self._workplace = parts.workplace
        self._user = parts.user
        self._rules = parts.permissions.reader
        self._prompts = prompts

    def command(self, text: str) -> LocalCommand | RejectedPrompt | None:
        """Return the local command that the user typed; None for a prompt. Hooks do not see commands."""
        typed = self._local(text)
        return self._unusable(text, (typed,)) if isinstance(typed, str) else typed

    def _local(self, text: str) -> LocalCommand | str | None:
        found = self._prompts.local(text)
        # Only a person at the keyboard types commands for the shell.
        unattended = isinstance(found, LocalCommand) and found.name == SHELL and self._user.asker is None
        return None if unattended else found

    async def submit(self, text: str) -> AcceptedPrompt | RejectedPrompt:
        """Submit a prompt and return it as hooks leave it. Their text is never a local command."""
        self._hooks.update(prompt_id=str(uuid.uuid4()))
        submitted = await self._hooks.dispatch(e.USER_PROMPT_SUBMIT, p.Prompt(prompt=text))
        if submitted.blocked or submitted.stop:
            return self._blocked(text, submitted, e.USER_PROMPT_SUBMIT)
        final = text if submitted.updated_prompt is None else str(submitted.updated_prompt)
        if not final.strip():
            return self._rejected(final, "the prompt is empty: there is nothing to send")
        if self._local(final) is not None:
            return self._made_local(text, final, submitted)
        prepared = await self._prompts.prepare(final, self._workplace.cwd)
        if not prepared.sends:
            return self._unusable(final, prepared.problems)
        self._warn(prepared.problems)
        expanded = await self._expanded(prepared)
        if expanded is not None and (expanded.blocked or expanded.stop):
            return self._blocked(final, expanded, e.USER_PROMPT_EXPANSION)
        self._warn(await self._prompts.begin(prepared))
        self._prompts.remember(final)
        self._user.listener.show(Shown(kind="prompt", text=prepared.shown))
        return AcceptedPrompt(
            shown=prepared.shown,
            text=prepared.text,
            model=prepared.model,
            allowed=self._allowed(prepared),
            context=(*submitted.context_items, *(expanded.context_items if expanded is not None else ())),
        )

    def _made_local(self, typed: str, made: str, outcome: Outcome) -> RejectedPrompt:
        """Return the typed text: sent once more, the hook's text would be a command."""
        why = f"a hook made the prompt {made.split(maxsplit=1)[0]}, which only the user may type"
        return self._rejected(typed, why, **self._hooks.by(outcome.edits[-1].by, e.USER_PROMPT_SUBMIT))

    def _unusable(self, text: str, problems: Sequence[str]) -> RejectedPrompt:
        self._warn(problems)
        return RejectedPrompt(why="; ".join(problems) or "there is nothing to send", text=text)

    async def _expanded(self, prepared: PreparedPrompt) -> Outcome | None:
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

    def _allowed(self, prepared: PreparedPrompt) -> RuleSet | None:
        if prepared.allowed_tools is None:
            return None
        rules, problems = RuleSet.parse(
            allow=prepared.allowed_tools, source=f"/{prepared.command}", reader=self._rules
        )
        self._warn([f"/{prepared.command}: allowed-tools: {problem}" for problem in problems])
        return rules

    def _warn(self, problems: Sequence[str]) -> None:
        for problem in problems:
            self._user.warn(problem)

    def _blocked(self, text: str, outcome: Outcome, event: EventSpec[Any]) -> RejectedPrompt:
        why = outcome.reason or outcome.stop_reason or "a hook blocked the prompt"
        return self._rejected(text, why, **self._hooks.by(decided_by(outcome), event))

    def _rejected(self, text: str, why: str, **by: str) -> RejectedPrompt:
        self._user.show("blocked", why, **by)
        return RejectedPrompt(why=why, text=text)
