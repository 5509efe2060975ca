"""Ask about changed scripts of trusted hooks when they change, not when a guard is skipped because of it."""

import asyncio
from collections.abc import Mapping, Sequence

from hookline.agent.call_text import near
from hookline.agent.ports import UserPort
from hookline.config.engine import Engine
from hookline.config.watch import Mark, mark
from hookline.disk import DISK
from hookline.model.hook import Hook
from hookline.model.safe_text import spelled_out
from hookline.trust.comparison import difference
from hookline.trust.digest import sha256
from hookline.trust.files import read_file_bytes
from hookline.trust.review import ReviewItem
from hookline.trust.trust import Trust
from hookline.trust.user_edits import accept_change

#: Seconds given to a program that is still writing.
_WRITE_SECONDS = 0.1
#: Seconds between two looks at the scripts.
_LOOK_SECONDS = 1.0
#: Lines of a difference that a question can show; a yes must not cover more than was shown.
_MOST_LINES = 400


class ScriptWatch:
    """Watcher of the scripts that trusted hooks run. Run it as a task beside the agent."""

    def __init__(self, engine: Engine, user: UserPort) -> None:
        self._engine = engine
        self._user = user
        #: The items that the user was asked about, by hook.
        self._asked: dict[tuple[str, str], str] = {}
        #: Hooks that were trusted when the user was not asked about them.
        self._trusted: set[tuple[str, str]] = set()

    async def run(self) -> None:
        """Run until the task is cancelled."""
        while True:
            trust, hooks = self._engine.trust, self._engine.hooks
            files = await asyncio.to_thread(self._files, trust, hooks) if trust is not None else {}
            marks = _marks(files)

            def different(hooks: Sequence[Hook] = hooks, marks: Mapping[str, Mark | None] = marks) -> bool:
                return self._engine.hooks != hooks or _marks(marks) != marks

            # Not by a watch of the system: a few marks once a second cost less than one that is awake.
            while not different():  # noqa: ASYNC110 nothing says when a file changes
                await asyncio.sleep(_LOOK_SECONDS)
            if trust is not None and self._engine.hooks == hooks:
                await asyncio.sleep(_WRITE_SECONDS)
                await self._ask(trust, hooks)

    def _files(self, trust: Trust, hooks: Sequence[Hook]) -> dict[str, None]:
        """Return the scripts of hooks that need trust, and note which hooks have it. Reads files."""
        found: dict[str, None] = {}
        for hook in hooks:
            if hook.mode == "off" or not trust.is_foreign(hook.where.file, hook.scope):
                continue
            if trust.status(hook).runs:
                self._trusted.add(_key(hook))
            found |= dict.fromkeys(map(trust.project.path_of, trust.item(hook).files))
        return found

    async def _ask(self, trust: Trust, hooks: Sequence[Hook]) -> None:
        """Ask about each hook that was trusted and is not any more."""
        for hook in hooks:
            if _key(hook) not in self._trusted or not await asyncio.to_thread(trust.holds_back, hook):
                continue
            item = trust.item(hook)
            if self._asked.get(_key(hook)) == item.identity:
                continue
            self._asked[_key(hook)] = item.identity
            root = trust.project.owner(hook.where.file, hook.scope)
            entry = ReviewItem(item, root, trust.status(hook), (), ())
            lines = await asyncio.to_thread(_changes, entry, trust)
            if await self._confirmed(hook, lines) and (problem := accept_change(trust, root, [item])):
                self._user.warn(problem)

    async def _confirmed(self, hook: Hook, lines: Sequence[str]) -> bool:
        label = f"hook {hook.name} ({hook.event_label}, {near(str(hook.where))})"
        confirmer = self._user.confirmer
        if confirmer is None or not lines or len(lines) > _MOST_LINES:
            self._user.warn(
                f"the script of {label} changed, so it does not run; `hookline trust` shows it and asks"
            )
            return False
        shown = "\n".join(spelled_out(line) for line in lines)
        if await confirmer.confirm(f"the script of {label} changed:\n{shown}"):
            return True
        self._user.warn(f"{label} does not run until you trust its script: /trust")
        return False


def _changes(entry: ReviewItem, trust: Trust) -> list[str]:
    """Return what changed; all of the scripts where what was trusted before is not stored."""
    if lines := list(difference(entry, trust)):
        return lines
    for path, digest in entry.item.files.items():
        content = read_file_bytes(trust.project.path_of(path), DISK)
        if content is None or sha256(content).hexdigest() != digest:
            return []
        lines += [
            f"+++ {path}",
            *(f"+{line}" for line in content.decode("utf-8", "backslashreplace").split("\n")),
        ]
    return lines


def _key(hook: Hook) -> tuple[str, str]:
    return str(hook.where), hook.name


def _marks(files: Mapping[str, object]) -> dict[str, Mark | None]:
    return {file: mark(file) for file in files}
