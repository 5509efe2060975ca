"""The model that answers the hooks of a command: `--model NAME`, or a script."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from hookline.agent.modelport import ModelPort
from hookline.agent.providers.choosing import SCRIPTED, check_model, provider_model
from hookline.agent.providers.for_hooks import BriefPort, ModelAgentRunner, ModelCompleter

if TYPE_CHECKING:
    from hookline.handlers.agent import AgentRun, AgentTool
    from hookline.handlers.prompt import Completer


def completer_for(model: str, env: Mapping[str, str]) -> "Completer":
    """Answers prompt hooks. Raises HooklineError when the model cannot be used as things are set up."""
    if _is_script(model):
        from hookline.cli.scripted import scripted_completer

        return scripted_completer(model)
    check_model(model, env=env)
    return ModelCompleter(BriefPort(lambda: provider_model(model, env=env)), model)


class CommandRunner:
    """Runs agent hooks with the tools that only look. Nothing of it is loaded before the first such hook.

    A script is played to agent hooks from its beginning, whatever prompt hooks took of it.
    """

    def __init__(self, model: str, env: Mapping[str, str], cwd: str) -> None:
        self._model = model
        self._env = env
        self._cwd = cwd

    @cached_property
    def tools(self) -> "Sequence[AgentTool]":
        from hookline.agent.providers.looking import looking_tools

        return looking_tools(self._cwd, self._env)

    async def begin(
        self, task: str, *, system: str, model: str | None, tools: "Sequence[AgentTool]"
    ) -> "AgentRun":
        runner = ModelAgentRunner(self._port, self._model)
        return await runner.begin(task, system=system, model=model, tools=tools)

    @cached_property
    def _port(self) -> ModelPort:
        if _is_script(self._model):
            return provider_model(self._model, env=self._env)
        return BriefPort(lambda: provider_model(self._model, env=self._env))


def _is_script(model: str) -> bool:
    return model.partition(":")[0] == SCRIPTED
