"""Load the instruction files of a session: at its start, and near files it works on.

A file that another one includes, or the target of a link instead of it, is read like a Read call of the
model.
"""

import asyncio
import os
from collections.abc import Iterable, Sequence

from hookline.agent.include_items import inside, link_item
from hookline.agent.safe_files import UnusableFileError
from hookline.agent.session.instruction_files import (
    DEEPEST,
    LONGEST,
    FoundInstructions,
    Include,
    at_start,
    includes_of,
    matching_rules,
    nested,
    read_instructions,
    readable,
    trust_item,
)
from hookline.agent.turn.includes import Includes
from hookline.agent.turn.turn import AgentParts
from hookline.documents.front_matter import read_front_matter
from hookline.model import events as e
from hookline.model import payloads as p
from hookline.model.safe_text import one_line
from hookline.trust.items import TrustItem
from hookline.trust.project import is_inside

#: Files that one file may include.
_MOST_INCLUDES = 100
_MOST_NAMED = 5
_WIDEST = 300


class Instructions:
    """Instruction files of a session. Each is loaded once; InstructionsLoaded fires with the reason each time."""

    def __init__(self, parts: AgentParts) -> None:
        self._hooks = parts.hooks
        self._user = parts.user
        self._workplace = parts.workplace
        self._trust = parts.trust
        self._texts = parts.conversation.instructions
        self._root = parts.hooks.info.project_dir or parts.workplace.cwd
        self._includes = Includes(parts)
        self._loaded: dict[str, FoundInstructions] = {}
        #: Real paths that were loaded, and files and their real paths that were tried.
        self._real: set[str] = set()
        self._tried: set[tuple[str, str]] = set()

    async def start(self) -> None:
        """Load the files that apply from the first request on."""
        for known in (self._loaded, self._texts, self._real, self._tried):
            known.clear()
        found = await asyncio.to_thread(at_start, self._root, self._workplace.cwd, self._workplace.env)
        await self._load(found, "session_start")

    async def reload(self) -> None:
        """Fire the event again after compaction. The texts are still in the system text."""
        for source in tuple(self._loaded.values()):
            await self._fire(source, "compact")

    async def load_near(self, files: Iterable[str]) -> None:
        """Load the instructions near files that tools worked on, and rules that match them."""
        for file in files:
            found = await asyncio.to_thread(nested, self._root, file)
            await self._load(found, "nested_traversal", file)
            found = await asyncio.to_thread(matching_rules, self._root, file)
            await self._load(found, "path_glob_match", file)

    async def _load(
        self, sources: Sequence[FoundInstructions], reason: str, trigger: str | None = None
    ) -> None:
        for source in sources:
            if (tried := (source.file, source.real)) in self._tried or source.real in self._real:
                continue
            self._tried.add(tried)
            try:
                text = await self._text(source)
            except UnusableFileError as problem:
                self._user.warn(f"{self._shown(source.file)} {problem}")
            else:
                await self._add(source, text, reason, trigger)

    async def _text(self, source: FoundInstructions) -> str:
        real = inside(source.file, source.within)
        if source.leads_elsewhere:
            why = self._untrusted(source, link_item(source.file, source.within, self._trust))
            if why is not None:
                raise UnusableFileError(f"was left out: it is a link to {self._shown(real)}, and {why}")
            text = await self._includes.read(source.file, source.within, read_instructions)
        elif (why := self._includes.denied(source.file)) is not None:
            raise UnusableFileError(f"was left out: {one_line(why, _WIDEST)}")
        else:
            text = await asyncio.to_thread(read_instructions, real)
        return read_front_matter(text).body if source.globs else text

    async def _add(
        self, source: FoundInstructions, text: str, reason: str, trigger: str | None = None
    ) -> None:
        if len(text) > LONGEST:
            shown = self._shown(source.file)
            self._user.warn(f"{shown} is too long: only its first {LONGEST:,} characters are used")
        self._real.add(source.real)
        self._loaded[source.file] = source
        self._texts[source.file] = text[:LONGEST]
        await self._fire(source, reason, trigger)
        if not source.globs:
            await self._follow(source, text[:LONGEST])

    async def _follow(self, source: FoundInstructions, text: str) -> None:
        """Load the files that a file includes."""
        found = await asyncio.to_thread(includes_of, text, source.file, self._workplace.env)
        asked = readable(found, source)
        why = self._untrusted(source, trust_item(source, asked, self._trust)) if asked else None
        if why is not None:
            names = ", ".join(f"@{one_line(each.name, 200)}" for each in asked[:_MOST_NAMED])
            more = f" and {len(asked) - _MOST_NAMED} more" if len(asked) > _MOST_NAMED else ""
            self._user.warn(f"{self._at(source, asked[0])}: left out {names}{more}: {why}")
            found = [each for each in found if each not in asked]
        for number, each in enumerate(found):
            try:
                await self._include(each, source, number)
            except UnusableFileError as problem:
                self._user.warn(f"{self._at(source, each)}: @{one_line(each.name, 200)} {problem}")

    async def _include(self, each: Include, source: FoundInstructions, number: int) -> None:
        if not each.exists:
            raise UnusableFileError("was left out: no such file")
        if (included := source.included(each.path)).real in self._real:
            return
        if number >= _MOST_INCLUDES:
            raise UnusableFileError(f"was left out: a file includes at most {_MOST_INCLUDES} others")
        if source.depth >= DEEPEST:
            raise UnusableFileError("was left out: files include each other too deeply")
        text = await self._includes.read(each.path, source.within, read_instructions)
        await self._add(included, text, "include")

    def _untrusted(self, source: FoundInstructions, item: TrustItem) -> str | None:
        return self._includes.untrusted(source.file, source.scope, item, source.near)

    def _at(self, source: FoundInstructions, include: Include) -> str:
        return f"{self._shown(source.file)}:{include.line}"

    def _shown(self, file: str) -> str:
        return one_line(os.path.relpath(file, self._root) if is_inside(file, self._root) else file, _WIDEST)

    async def _fire(self, source: FoundInstructions, reason: str, trigger: str | None = None) -> None:
        await self._hooks.dispatch(
            e.INSTRUCTIONS_LOADED,
            p.InstructionFile(
                file_path=source.file,
                load_reason=reason,
                memory_type=source.memory_type,
                globs=source.globs,
                trigger_file_path=trigger,
                parent_file_path=source.parent,
            ),
        )
