"""From the final text of a prompt to what is sent. Hooks have spoken: nothing here sees an earlier text."""

import asyncio

from hookline.agent.intake.definition import Definition, read_definition
from hookline.agent.intake.library import Entry, entries
from hookline.agent.intake.local_commands import LOCAL_COMMANDS, Slash, local_command, slash_of, usage
from hookline.agent.intake.mentioned_files import with_mentions
from hookline.agent.intake.prepared import LocalCommand, Prepared, Surroundings
from hookline.agent.intake.reading import UnreadableError
from hookline.matching.nearest import nearest
from hookline.model.safetext import one_line


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
