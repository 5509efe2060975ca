"""A model that plays a list: `--model scripted:FILE`, for trying prompt hooks without a provider."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

from hookline.cli.fire_settings import RequestError
from hookline.documents.document import read_document


class ScriptedCompleter:
    """Gives the answers of a list, one per completion; an empty list is an error that says so."""

    def __init__(self, file: str, answers: Sequence[Any]) -> None:
        self._file = file
        self._answers = list(answers)

    async def complete(self, prompt: str, *, system: str, model: str | None) -> str:
        del prompt, system, model  # it plays its part whatever it is asked
        if not self._answers:
            raise RuntimeError(f"the scripted model {self._file} has no answer left")
        answer = self._answers.pop(0)
        if not isinstance(answer, Mapping):
            return str(answer)
        said = cast("Mapping[str, Any]", answer)
        if said.get("error"):
            raise RuntimeError(f"model error: {said['error']}")
        return str(said.get("text", ""))


def scripted_completer(model: str) -> ScriptedCompleter:
    kind, _, file = model.partition(":")
    if kind != "scripted" or not file:
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
