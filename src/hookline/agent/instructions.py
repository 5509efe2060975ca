"""Instruction files of a conversation: at its start, near files that are touched, anew after compaction."""

import asyncio
from collections.abc import Iterable, Mapping

from hookline.agent.conversation import Conversation
from hookline.agent.hooksport import Hooks
from hookline.agent.instruction_files import Found, Instruction, at_start, fitting, nested
from hookline.agent.outside import Listener, Shown
from hookline.model import events as e
from hookline.model import payloads as p


class Instructions:
    """Each file counts once, and each time one is taken in an event says so, and why."""

    def __init__(
        self,
        *,
        root: str,
        env: Mapping[str, str],
        hooks: Hooks,
        conversation: Conversation,
        listener: Listener,
    ) -> None:
        self._root = root
        self._env = env
        self._hooks = hooks
        self._talk = conversation
        self._listener = listener
        self._loaded: dict[str, Instruction] = {}

    async def start(self, cwd: str) -> None:
        """What holds from the first request on."""
        self._loaded.clear()
        self._talk.instructions.clear()
        found = await asyncio.to_thread(at_start, self._root, cwd, self._env)
        await self._take(found, "session_start")

    async def again(self) -> None:
        """The conversation was compacted: what was loaded is loaded anew."""
        for instruction in tuple(self._loaded.values()):
            await self._tell(instruction, "compact")

    async def touched(self, files: Iterable[str]) -> None:
        """Tools worked on these files: what speaks for their place counts from now on."""
        for file in files:
            found = await asyncio.to_thread(nested, self._root, file)
            await self._take(found, "nested_traversal", file)
            found = await asyncio.to_thread(fitting, self._root, file)
            await self._take(found, "path_glob_match", file)

    async def _take(self, found: Found, reason: str, trigger: str | None = None) -> None:
        for problem in found.problems:
            self._listener.show(Shown(kind="warning", text=problem))
        for instruction in found.instructions:
            if instruction.file in self._loaded:
                continue
            self._loaded[instruction.file] = instruction
            self._talk.instructions[instruction.file] = instruction.text
            await self._tell(instruction, "include" if instruction.parent else reason, trigger)

    async def _tell(self, instruction: Instruction, reason: str, trigger: str | None = None) -> None:
        await self._hooks.dispatch(
            e.INSTRUCTIONS_LOADED,
            p.InstructionFile(
                file_path=instruction.file,
                load_reason=reason,
                memory_type=instruction.memory_type,
                globs=instruction.globs,
                trigger_file_path=trigger,
                parent_file_path=instruction.parent,
            ),
        )
