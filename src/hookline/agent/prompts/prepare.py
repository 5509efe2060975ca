"""Turn the final text of a prompt, after its hooks, into what is sent: expand commands and skills, add files."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from msgspec.structs import replace

from hookline.agent.prompts.command_files import expand_command, read_command
from hookline.agent.prompts.history import InputHistory
from hookline.agent.prompts.library import Definition, PromptFile, entries, read_definition
from hookline.agent.prompts.local_commands import (
    LOCAL_COMMANDS,
    LocalCommand,
    Slash,
    local_command,
    slash_of,
    usage,
)
from hookline.agent.prompts.mentions import expand, mentions
from hookline.agent.prompts.prompt import PreparedPrompt, PromptContext
from hookline.agent.safe_files import UnusableFileError
from hookline.matching.nearest import nearest
from hookline.model.safe_text import one_line
from hookline.permissions.decide import CallFacts, decide
from hookline.permissions.state import Permissions


async def prepare(text: str, context: PromptContext) -> PreparedPrompt:
    """Prepare a text. Never raises: errors are among its problems."""
    slash = slash_of(text)
    if slash is None and "@" not in text and not context.router:
        return PreparedPrompt(shown=text, text=text)
    if slash is not None:
        return await _called(text, slash, context)
    # It reads files, and patterns may be slow.
    return await asyncio.to_thread(_prepared, text, context)


async def help_text(context: PromptContext) -> str:
    """List every command, one per line, printable."""
    return await asyncio.to_thread(_help, context)


def _prepared(text: str, context: PromptContext) -> PreparedPrompt:
    expanded = expand(mentions(text), context)
    return PreparedPrompt(
        shown=text,
        text="\n\n".join((text, *expanded.blocks)),
        model=_routed(text, context),
        problems=expanded.problems,
    )


async def _called(text: str, slash: Slash, context: PromptContext) -> PreparedPrompt:
    known = await asyncio.to_thread(entries, context.cwd, context.env)
    entry = known.get(slash.name)
    if entry is None:
        return _refused(text, _unknown(slash.name, [*LOCAL_COMMANDS, *known]))
    try:
        definition = await read_command(entry, context)
    except UnusableFileError as problem:
        return _refused(text, f"/{slash.name}: {one_line(entry.file, 300)} {problem}")
    wrapped = definition.wrap(slash.arguments)
    expanded = await expand_command(definition, wrapped, slash.arguments, context)
    return PreparedPrompt(
        shown=text,
        text="\n\n".join((wrapped, *expanded.blocks)),
        model=definition.model or await asyncio.to_thread(_routed, text, context),
        allowed_tools=definition.allowed_tools,
        command=entry.name,
        command_kind=entry.kind,
        command_arguments=slash.arguments,
        command_source=entry.origin,
        command_file=entry.file,
        hooks=definition.hooks,
        hooks_at=definition.hooks_at,
        problems=expanded.problems,
    )


def _routed(text: str, context: PromptContext) -> str | None:
    return context.router.model_for(text) if context.router else None


def _unknown(name: str, known: list[str]) -> str:
    close = nearest(name, known)
    hint = f"did you mean /{close}?" if close else "/help lists them"
    return f"unknown command /{one_line(name, 80)}; {hint} (to send it as text, put a space before the slash)"


def _refused(text: str, problem: str) -> PreparedPrompt:
    return PreparedPrompt(shown=text, problems=(problem,), sends=False)


def _help(context: PromptContext) -> str:
    lines = [(usage(name), row.summary) for name, row in LOCAL_COMMANDS.items()]
    known = entries(context.cwd, context.env).values()
    lines += [_described(entry) for entry in known if entry.name not in LOCAL_COMMANDS]
    width = min(max(len(call) for call, _says in lines), 40)
    return "\n".join(f"{call:{width}}  {says}".rstrip() for call, says in lines)


def _described(entry: PromptFile) -> tuple[str, str]:
    shown = f"/{one_line(entry.name, 80)}"
    try:
        definition: Definition = read_definition(entry)
    except UnusableFileError as problem:
        return shown, f"({problem})"
    return f"{shown} {definition.argument_hint}".rstrip(), definition.description or f"a {entry.kind}"


async def no_hooks(prepared: PreparedPrompt) -> Sequence[str]:
    """Add no hooks, for an agent without an engine."""
    return (
        (f"/{prepared.command}: its hooks do not run: this agent runs without hooks",)
        if prepared.hooks
        else ()
    )


class ProjectPrompts:
    """Prompts of a session in a project: its commands, skills and files, and the user's input history."""

    def __init__(
        self,
        context: PromptContext,
        history: InputHistory | None = None,
        join: Callable[[PreparedPrompt], Awaitable[Sequence[str]]] = no_hooks,
    ) -> None:
        self._context = context
        self._history = history
        self._join = join

    def local(self, text: str) -> LocalCommand | str | None:
        return local_command(text)

    async def prepare(self, text: str, cwd: str) -> PreparedPrompt:
        return await prepare(text, replace(self._context, cwd=cwd))

    async def begin(self, prepared: PreparedPrompt) -> Sequence[str]:
        return await self._join(prepared)

    def remember(self, text: str) -> None:
        if self._history is not None:
            self._history.add(text)

    async def help_text(self, cwd: str) -> str:
        return await help_text(replace(self._context, cwd=cwd))


def denied_reads(permissions: Permissions, cwd: str) -> Callable[[str], str | None]:
    """Return a function that says why a mentioned file may not be read.

    Only deny rules count: the user named the file.
    """

    def objection(path: str) -> str | None:
        decision = decide(CallFacts("Read", {"file_path": path}, "read", cwd), permissions)
        return decision.reason if decision.step == "deny_rule" else None

    return objection
