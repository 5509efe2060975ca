"""Provide the model that answers the hooks of a command: `--model NAME`, or `--model scripted:FILE`."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

from hookline.agent.models.choose import SCRIPTED, check_model, provider_model
from hookline.agent.models.hook_models import BriefPort, ModelAgentRunner, ModelCompleter
from hookline.agent.models.port import ModelPort
from hookline.cli.requests import RequestError
from hookline.documents.document import read_document

if TYPE_CHECKING:
    from hookline.handlers.agent import AgentConversation, HookAgentTool
    from hookline.handlers.prompt import Completer


def completer_for(model: str, env: Mapping[str, str]) -> "Completer":
    """Return what answers prompt hooks. Raises HooklineError if the model cannot be used, for example without a key."""
    if _is_script(model):
        return scripted_completer(model)
    check_model(model, env=env)
    return ModelCompleter(BriefPort(lambda: provider_model(model, env=env)), model)


class CommandRunner:
    """Runner of agent hooks with read-only tools, which are loaded for the first such hook.

    Agent hooks get a script from its beginning, whatever prompt hooks have used of it.
    """

    def __init__(self, model: str, env: Mapping[str, str], cwd: str) -> None:
        self._model = model
        self._env = env
        self._cwd = cwd

    @cached_property
    def tools(self) -> "Sequence[HookAgentTool]":
        from hookline.agent.models.hook_tools import read_only_tools

        return read_only_tools(self._cwd, self._env)

    async def begin(
        self, task: str, *, system: str, model: str | None, tools: "Sequence[HookAgentTool]"
    ) -> "AgentConversation":
        runner = ModelAgentRunner(self._port, self._model)
        return await runner.begin(task, system=system, model=model, tools=tools)

    @cached_property
    def _port(self) -> ModelPort:
        if _is_script(self._model):
            return provider_model(self._model, env=self._env)
        return BriefPort(lambda: provider_model(self._model, env=self._env))


def _is_script(model: str) -> bool:
    return model.partition(":")[0] == SCRIPTED


class ScriptedCompleter:
    """Completer with a list of answers, one per completion; then it fails."""

    def __init__(self, file: str, answers: Sequence[Any]) -> None:
        self._file = file
        self._answers = list(answers)

    async def complete(self, prompt: str, *, system: str, model: str | None) -> str:
        del prompt, system, model  # the script answers whatever is asked
        if not self._answers:
            raise RuntimeError(f"the scripted model {self._file} has no answer left")
        answer = self._answers.pop(0)
        if not isinstance(answer, Mapping):
            return str(answer)
        fields = cast("Mapping[str, Any]", answer)
        if fields.get("error"):
            raise RuntimeError(f"model error: {fields['error']}")
        return str(fields.get("text", ""))


def scripted_completer(model: str) -> ScriptedCompleter:
    _, _, file = model.partition(":")
    if not file:
        raise RequestError(f"--model {model!r}: say scripted:FILE, a YAML or JSON list of answers")
    try:
        with open(file, encoding="utf-8") as stream:
            text = stream.read()
    except (OSError, UnicodeDecodeError) as problem:
        raise RequestError(f"cannot read the scripted model {file}: {problem}") from None
    document = read_document(text, "json" if file.endswith(".json") else "yaml", file)
    answers: Any = document.value
    if not isinstance(answers, list):
        raise RequestError(f"the scripted model {file} is not a list of answers")
    return ScriptedCompleter(file, cast("list[Any]", answers))
