"""Read the file of a command or skill, and the files it mentions.

Mentions that the user types need no trust. Files that a project's file mentions, and a link instead of it,
are read like a Read call of the model, once the user trusts them.
"""

import asyncio
import os
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from hookline.agent.include_items import include_item, is_below, leads_elsewhere, link_item, target
from hookline.agent.prompts.library import (
    Definition,
    PromptFile,
    argument_words,
    definition_of,
    definition_text,
    entries,
    is_partly_placeholder,
    read_definition,
)
from hookline.agent.prompts.mentions import (
    Expanded,
    Mention,
    MentionedFile,
    block,
    expand,
    mentions,
    wanted_files,
)
from hookline.agent.prompts.prompt import PromptContext
from hookline.agent.safe_files import UnusableFileError
from hookline.dialects.dialect import upward
from hookline.model.diagnostics import Where
from hookline.model.hook import Scope
from hookline.model.safe_text import one_line
from hookline.trust.items import TrustItem
from hookline.trust.trust import Trust

if TYPE_CHECKING:
    from hookline.agent.turn.includes import Includes


async def read_command(entry: PromptFile, context: PromptContext) -> Definition:
    """Read the file of a command. Raises UnreadableError."""
    includes, root = _foreign(entry, context), _root(context.cwd)
    if includes is None or not leads_elsewhere(entry.file, root):
        return await asyncio.to_thread(read_definition, entry)
    why = includes.untrusted(entry.file, _scope(entry), link_item(entry.file, root, includes.trust), root)
    if why is not None:
        raise UnusableFileError(f"is a link to another file, and {why}")
    return definition_of(entry, await includes.read(entry.file, root, definition_text))


async def expand_command(
    definition: Definition, wrapped: str, arguments: str, context: PromptContext
) -> Expanded:
    """Return the files that a command and its arguments mention. An @ in the text of a skill is plain text."""
    entry, typed = definition.entry, mentions(arguments)
    if entry.kind == "skill":
        return await asyncio.to_thread(expand, typed, context)
    includes = _foreign(entry, context)
    if includes is None:
        return await asyncio.to_thread(expand, mentions(wrapped), context)
    # `@$1` names a word that the user typed.
    words = {*(mention.word for mention in typed), *argument_words(arguments), arguments}
    found = mentions(wrapped)
    first = await _included(definition, [each for each in found if each.word not in words], includes, context)
    then = await asyncio.to_thread(expand, [each for each in found if each.word in words], context)
    return Expanded((*first.blocks, *then.blocks), (*first.problems, *then.problems))


async def _included(
    definition: Definition, own: list[Mention], includes: "Includes", context: PromptContext
) -> Expanded:
    """Return the files that the text of a project's command mentions."""
    entry, root = definition.entry, _root(context.cwd)
    found = await asyncio.to_thread(lambda: list(wanted_files(own, context)))
    wanted = [each for each in found if not isinstance(each, str)]
    problems = [each for each in found if isinstance(each, str)]
    asked = [each for each in wanted if is_below(each.path, root)]
    item = _mentions_item(definition, context.cwd, context.env, includes.trust)
    why = includes.untrusted(entry.file, _scope(entry), item, root) if asked else None
    if why is not None:
        names = ", ".join(f"@{each.name}" for each in asked)
        problems.append(f"{_shown(entry.file, root)}:{item.where.line}: left out {names}: {why}")
        wanted = [each for each in wanted if each not in asked]
    blocks: list[str] = []
    for each in wanted:
        try:
            blocks.append(await includes.read(each.path, root, lambda _, each=each: block(each, context)))
        except UnusableFileError as problem:
            problems.append(f"{_shown(entry.file, root)}: @{each.name} {problem}")
    return Expanded(tuple(blocks), tuple(problems))


def command_items(cwd: str, env: Mapping[str, str], trust: Trust) -> Iterator[TrustItem]:
    """Yield the trust items of files that a project's commands and skills read besides their own file."""
    root = _root(cwd)
    for entry in {each.file: each for each in entries(cwd, env).values()}.values():
        if not trust.is_foreign(entry.file, _scope(entry)):
            continue
        if leads_elsewhere(entry.file, root):
            yield link_item(entry.file, root, trust)
        try:
            item = _mentions_item(read_definition(entry), cwd, env, trust)
        except UnusableFileError:
            continue
        if item.where.line is not None:
            yield item


def _mentions_item(definition: Definition, cwd: str, env: Mapping[str, str], trust: Trust) -> TrustItem:
    """Return the files that a command names, and the patterns whose placeholders the user fills in."""
    entry, body, context = definition.entry, definition.body, PromptContext(cwd=cwd, env=env)
    targets: list[str] = []
    line: int | None = None
    root = _root(cwd)
    for mention in mentions(body) if entry.kind == "command" else ():
        wanted = next(wanted_files([mention], context), None)
        if isinstance(wanted, MentionedFile) and is_below(wanted.path, root):
            targets.append(target(wanted.path, root))
        elif is_partly_placeholder(mention.word):
            targets.append(mention.word)
        else:
            continue
        line = line or definition.first_line + body[: body.index(mention.word)].count("\n")
    return include_item(trust, Where(entry.file, locate=lambda _: line), targets)


def _foreign(entry: PromptFile, context: PromptContext) -> "Includes | None":
    """Return the reader of files that the command mentions, unless it is the user's own."""
    includes = context.includes
    return includes if includes is not None and includes.trust.is_foreign(entry.file, _scope(entry)) else None


def _scope(entry: PromptFile) -> Scope:
    return "project" if entry.origin == "projectSettings" else "user"


def _root(cwd: str) -> str:
    return upward(os.path.abspath(cwd))[-1]


def _shown(file: str, root: str) -> str:
    return one_line(os.path.relpath(file, root), 300)
