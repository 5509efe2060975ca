"""From the final text of a prompt to what is sent. Hooks have spoken: nothing here sees an earlier text."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence

from hookline.agent.prompts.history import InputHistory
from hookline.agent.prompts.library import Definition, Entry, entries, read_definition
from hookline.agent.prompts.local_commands import LOCAL_COMMANDS, Slash, local_command, slash_of, usage
from hookline.agent.prompts.mentions import with_mentions
from hookline.agent.prompts.prompt import LocalCommand, Prepared, Router, Surroundings
from hookline.agent.safe_files import UnreadableError
from hookline.matching.nearest import nearest
from hookline.model.safe_text import one_line
from hookline.permissions.decide import CallFacts, decide
from hookline.permissions.state import Permissions


async def prepare(text: str, around: Surroundings) -> Prepared:
    """What the final text of a prompt becomes. Never raises; what is wrong is among its problems."""
    slash = slash_of(text)
    local = local_command(slash) if slash is not None else None
    if isinstance(local, LocalCommand):
        return Prepared(shown=text, local=local, sends=False)
    if isinstance(local, str):
        return _refused(text, local)
    if slash is None and "@" not in text and not around.router:
        return Prepared(shown=text, text=text)
    # Folders and files are looked at, and a slow pattern takes its time.
    return await asyncio.to_thread(_prepared, text, slash, around)


async def help_text(around: Surroundings) -> str:
    """Every command there is, one a line, printable."""
    return await asyncio.to_thread(_help, around)


def _prepared(text: str, slash: Slash | None, around: Surroundings) -> Prepared:
    if slash is not None:
        return _called(text, slash, around)
    expanded, problems = with_mentions(text, text, around)
    return Prepared(shown=text, text=expanded, model=_routed(text, around), problems=problems)


def _called(text: str, slash: Slash, around: Surroundings) -> Prepared:
    known = entries(around.cwd, around.env)
    entry = known.get(slash.name)
    if entry is None:
        return _refused(text, _unknown(slash.name, [*LOCAL_COMMANDS, *known]))
    try:
        definition = read_definition(entry)
    except UnreadableError as problem:
        return _refused(text, f"/{slash.name}: {one_line(entry.file, 300)} {problem}")
    wrapped = definition.wrap(slash.arguments)
    # A skill is a document with words of its own; a command's text is a prompt somebody wrote in advance.
    sought = wrapped if entry.kind == "command" else slash.arguments
    expanded, problems = with_mentions(wrapped, sought, around)
    return Prepared(
        shown=text,
        text=expanded,
        model=definition.model or _routed(text, around),
        allowed_tools=definition.allowed_tools,
        command=entry.name,
        command_kind=entry.kind,
        command_arguments=slash.arguments,
        command_source=entry.origin,
        command_file=entry.file,
        hooks=definition.hooks,
        problems=problems,
    )


def _routed(text: str, around: Surroundings) -> str | None:
    return around.router.model_for(text) if around.router else None


def _unknown(name: str, known: list[str]) -> str:
    close = nearest(name, known)
    hint = f"did you mean /{close}?" if close else "/help lists those there are"
    return f"there is no command /{one_line(name, 80)}; {hint} (to send it as text, put a blank before the slash)"


def _refused(text: str, problem: str) -> Prepared:
    return Prepared(shown=text, problems=(problem,), sends=False)


def _help(around: Surroundings) -> str:
    lines = [(usage(name), row.says) for name, row in LOCAL_COMMANDS.items()]
    known = entries(around.cwd, around.env).values()
    lines += [_described(entry) for entry in known if entry.name not in LOCAL_COMMANDS]
    width = min(max(len(call) for call, _says in lines), 40)
    return "\n".join(f"{call:{width}}  {says}".rstrip() for call, says in lines)


def _described(entry: Entry) -> tuple[str, str]:
    shown = f"/{one_line(entry.name, 80)}"
    try:
        definition: Definition = read_definition(entry)
    except UnreadableError as problem:
        return shown, f"({problem})"
    return f"{shown} {definition.argument_hint}".rstrip(), definition.description or f"a {entry.kind}"


async def no_hooks(prepared: Prepared) -> Sequence[str]:
    """For an agent without an engine: it runs none, so it says so."""
    return (f"/{prepared.command}: its hooks do not run",) if prepared.hooks else ()


class ProjectIntake:
    """What the agent needs of an intake, with everything that stays the same from prompt to prompt."""

    def __init__(
        self,
        env: Mapping[str, str],
        *,
        router: Router | None = None,
        objection: Callable[[str], str | None] | None = None,
        history: InputHistory | None = None,
        join: Callable[[Prepared], Awaitable[Sequence[str]]] = no_hooks,
    ) -> None:
        self._env = env
        self._router = router
        self._objection = objection
        self._history = history
        self._join = join

    async def prepare(self, text: str, cwd: str) -> Prepared:
        return await prepare(text, self._around(cwd))

    async def begin(self, prepared: Prepared) -> Sequence[str]:
        return await self._join(prepared)

    def remember(self, text: str) -> None:
        if self._history is not None:
            self._history.add(text)

    def retry(self) -> str | None:
        """The last final text; None without a history."""
        return self._history.retry() if self._history is not None else None

    async def help_text(self, cwd: str) -> str:
        return await help_text(self._around(cwd))

    def _around(self, cwd: str) -> Surroundings:
        return Surroundings(cwd=cwd, env=self._env, router=self._router, objection=self._objection)


def denied_reads(permissions: Permissions, cwd: str) -> Callable[[str], str | None]:
    """Why a file may not be read, by deny rules alone: who names a file need not be asked about it."""

    def objection(path: str) -> str | None:
        decision = decide(CallFacts("Read", {"file_path": path}, "read", cwd), permissions)
        return decision.reason if decision.step == "deny_rule" else None

    return objection
