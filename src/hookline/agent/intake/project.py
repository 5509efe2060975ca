"""The intake of a project: its commands, skills and files, the routes, and the user's history."""

from collections.abc import Awaitable, Callable, Mapping, Sequence

from hookline.agent.intake.history import InputHistory
from hookline.agent.intake.prepared import Prepared, Surroundings
from hookline.agent.intake.preparing import help_text, prepare
from hookline.agent.intake.routing import Router


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
