"""Whether every way in which a program may end does the same in two agents: each is tried, by the wires of both."""

import itertools
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, cast

from msgspec import Struct

from hookline.cli.commands.convert.proof.state import End
from hookline.cli.commands.convert.proof.values import ANYTHING, PERHAPS, SOME_TEXT, SOME_VALUE, read_answer
from hookline.dialects.dialect import Dialect
from hookline.dialects.entry_form import Ending, EntryForm
from hookline.engine.judge import judge
from hookline.engine.lanes import PreparedHook
from hookline.model.hook import Hook
from hookline.model.raw import Broke, Exited, RawResult
from hookline.model.safe_text import one_line
from hookline.model.wire import Call

#: How any program may end that is not found, breaks, or takes too long.
_ENDS: Final[Mapping[str, RawResult]] = {
    "says nothing": Exited(0),
    "exits with 1": Exited(1, b"", b"it failed\n"),
    "exits with 2": Exited(2, b"", b"why\n"),
    "exits with another status": Exited(3, b"", b"it failed\n"),
    "is not found": Exited(127, b"", b"not found\n"),
    "is killed": Broke("signalled", "by SIGKILL", signal=9),
    "takes too long": Broke("timed_out", "no answer"),
}
_FAILED: Final = "program: it failed\n"
#: A text that begins like this is none that any agent reads as JSON.
_WORDS: Final = re.compile(
    r"\s*(?:(?!(?:true|false|null|nan|infinity)\b)[A-Za-z][\w'-]*[ :,.!]|[^\x00-\x7f\w\s])", re.IGNORECASE
)
#: What a value may be that nobody expects there.
_ODD: Final[tuple[Any, ...]] = ("", None, [])
#: Texts that one text of a program may stand for.
_MOST: Final = 200


class Side(Struct, frozen=True, eq=False):
    """The entry in one of the two agents."""

    dialect: Dialect
    hook: Hook
    form: EntryForm

    @property
    def event_name(self) -> str:
        return self.hook.policy.event_name

    def counts(self, call: Call, raw: RawResult) -> tuple[Any, ...]:
        """What a result does."""
        decoded = self.hook.wire.decode(call, raw)
        said = judge(PreparedHook(self.hook, None), decoded, attended=False).outcome
        if self.hook.waiting != "wait":
            return (said.context,)  # it comes too late to decide
        return (
            said.permission, said.blocked, said.updated_input, said.updated_prompt, said.updated_output,
            said.updated_messages, said.context, said.stop, said.answer, said.env, said.retry, said.watch_paths,
            said.initial_user_message, said.permission_updates,
        )  # fmt: skip


class Trial:
    """One program in both agents, with the same call."""

    def __init__(self, source: Side, target: Side, calls: tuple[Call, Call]) -> None:
        self._source, self._target = source, target
        self._calls = calls

    def differences(self, ends: Sequence[End], ending: Ending) -> Iterator[str]:
        """Each as the rest of a sentence that begins with "it"."""
        title = self._target.dialect.title
        broken = [what for what, raw in _ENDS.items() if self._differs(raw, ending)]
        if broken:
            yield f"may be one that {' or '.join(broken)}, which means something else in {title}"
        for what in dict.fromkeys(self._ends(ends, ending)):
            yield f"{what}, which means something else in {title}"

    def _ends(self, ends: Sequence[End], ending: Ending) -> Iterator[str]:
        for end in ends:
            for out, err in itertools.product(end.out, end.err):
                shown = self._tried(sorted(end.statuses), out, err, ending)
                if shown:
                    yield shown

    def _tried(self, statuses: Sequence[int], out: str, err: str, ending: Ending) -> str:
        """What is different, if anything is."""
        outs, errs = list(self._texts(out)), list(self._texts(err))
        if max(len(outs), len(errs)) > _MOST:
            return "prints more answers than can be tried"
        for code, said, noted in itertools.product(statuses, outs, errs):
            if self._differs(Exited(code, said.encode(), noted.encode()), ending):
                return _shown(code, out, said, noted)
        return ""

    def _differs(self, raw: RawResult, ending: Ending) -> bool:
        first, second = self._calls
        return self._source.counts(first, raw) != self._target.counts(second, ending.of(raw))

    # --- the texts that a text stands for

    def _texts(self, text: str) -> Iterator[str]:
        for noise in ("", _FAILED) if PERHAPS in text else ("",):
            yield from self._filled(text.replace(PERHAPS, noise))

    def _filled(self, text: str) -> Iterator[str]:
        known = text.partition(ANYTHING)[0]
        members = SOME_VALUE in text or SOME_TEXT in text
        if ANYTHING not in text and not members:
            yield text
        elif ANYTHING in text and not members and _WORDS.match(known):
            yield from (known, f"{known}some text\n")
        elif ANYTHING not in text and (answer := read_answer(text)) is not None:
            yield from itertools.islice(self._answers(answer), _MOST + 1)
        else:
            yield from self._anything()

    def _anything(self) -> Iterator[str]:
        """A text of which nothing is known may be any answer of either agent."""
        yield from ("", "some text\n", "{}\n", "true\n", "[]\n")
        for side in (self._source, self._target):
            for path, values in side.form.answers.items():
                for value in values:
                    fields = {path: value}
                    folder = path.rpartition(".")[0].partition(".")[0]
                    if folder:
                        fields[f"{folder}.hookEventName"] = side.event_name
                    yield json.dumps(_nested(fields))

    def _answers(self, answer: Mapping[str, Any]) -> Iterator[str]:
        """Every answer that one in a program may stand for: values that are known only then may be any."""
        form = self._source.form
        flat = dict(_flat(answer, form))
        choices: list[Sequence[Any]] = []
        for path, value in flat.items():
            samples: tuple[Any, ...] = form.answers.get(path, ("text",))
            if path.endswith("hookEventName"):
                samples = (self._source.event_name,)
            elif value == SOME_VALUE:
                samples = (*samples, *_ODD)
            choices.append(samples if value in (SOME_VALUE, SOME_TEXT) else (value,))
        for values in itertools.product(*choices):
            yield json.dumps(_nested(dict(zip(flat, values, strict=True))))


def _nested(flat: Mapping[str, Any]) -> dict[str, Any]:
    document: dict[str, Any] = {}
    for path, value in flat.items():
        *folders, name = path.split(".")
        place = document
        for folder in folders:
            place = place.setdefault(folder, {})
        place[name] = value
    return document


def _flat(answer: Mapping[str, Any], form: EntryForm, before: str = "") -> Iterator[tuple[str, Any]]:
    """Values by their path; an object that is a value is one."""
    for key, value in answer.items():
        path = f"{before}{key}"
        if isinstance(value, dict) and value and path not in form.answers:
            yield from _flat(cast("dict[str, Any]", value), form, f"{path}.")
        else:
            yield path, _known(value) if isinstance(value, dict) else value


def _known(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _known(each) for key, each in cast("dict[str, Any]", value).items()}
    return "text" if value in (SOME_VALUE, SOME_TEXT) else value


def _shown(code: int, written: str, out: str, err: str) -> str:
    """How a program ended, for people."""
    text = one_line(out.strip(), 100)
    if ANYTHING in written and not text.startswith("some"):
        said = "may print what is not written in it"
    elif text.startswith("{"):
        said = f"answers {text}"
    elif text:
        said = f"may print text ({text})"
    else:
        said = "may say nothing" if not err.strip() else "may say something on standard error alone"
    return f"{said} and exit with {code}" if code or not text else said
