"""Whether a program that was written for one agent means the same in another.

Nothing is known here about any agent: what hooks are told is what their wires write for the same payload, and what they
say is what their wires read, as it counts under their policies.
"""

import itertools
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, cast

from msgspec import Struct
from msgspec.structs import replace

from hookline.cli.commands.convert.script import UNKNOWN, Script, answers_in
from hookline.dialects.dialect import Dialect
from hookline.dialects.entry_form import EntryForm
from hookline.engine.judge import judge
from hookline.engine.lanes import PreparedHook
from hookline.model.hook import Hook
from hookline.model.raw import Broke, Exited, RawResult
from hookline.model.wire import Call, Parsed
from hookline.testing.recordings import recorded
from hookline.tools.table import ToolTable
from hookline.tools.tool import Tool

#: What is another thing in each agent, whatever its value: files of the agent's own, results of its own tools.
_OF_THE_AGENT: Final = frozenset(("transcript_path", "agent_transcript_path", "tool_response"))
_OF_THE_CALL: Final = frozenset(("tool_name", "tool_input"))
_MODES: Final = ("default", "plan", "acceptEdits", "bypassPermissions")
_READS: Final = frozenset(("cat", "grep", "egrep", "fgrep", "jq", "read", "sed", "stdin", "input", "tee"))
#: How programs end without an answer, whatever they are written for.
_ENDS: Final[Mapping[str, RawResult]] = {
    "says nothing": Exited(0),
    "prints text": Exited(0, b"some text\n"),
    "exits with 1": Exited(1, b"", b"it failed\n"),
    "exits with 2": Exited(2, b"", b"why\n"),
    "exits with another status": Exited(3, b"", b"it failed\n"),
    "is not found": Exited(127, b"", b"not found\n"),
    "is killed": Broke("signalled", "by SIGKILL", signal=9),
    "takes too long": Broke("timed_out", "no answer"),
}
_PRINTS: Final = "prints text"
#: How programs end with 2 that say nothing on stderr.
_SILENT: Final[Mapping[str, RawResult]] = {
    "say nothing": Exited(2),
    "say why on stdout only": Exited(2, b"why\n"),
}
#: Letters of a name that nobody uses for anything else.
_LONG: Final = 8
#: Combinations of values that one answer in a program may stand for.
_MOST: Final = 64


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


class Differences(Struct, frozen=True):
    #: Each as the rest of a sentence that begins with "it".
    found: tuple[str, ...]
    #: Variables with the project's directory that the program uses and the other agent does not set.
    variables: tuple[str, ...] = ()


def differences(source: Side, target: Side, script: Script, tools: Sequence[tuple[str, str]]) -> Differences:
    """Why the program would not mean the same; `tools` are the tools that it would be asked about, as each of the two
    agents calls them."""
    found = list(script.unseen)
    payloads = list(_payloads(source))
    variables = set[str]()
    found += _untold(source, target, script, payloads, variables)
    if tools:
        found += _other_calls(source, target, script, tools)
    if payloads:
        found += _other_answers(source, target, script, payloads[0])
    else:
        found.append(f"is about {source.event_name}, which was never recorded")
    return Differences(tuple(dict.fromkeys(found)), tuple(sorted(variables)))


def _payloads(source: Side) -> Iterator[Parsed]:
    """Payloads of the event as the source's agent sends them."""
    for each in recorded(source.dialect.name):
        if each.event == source.event_name:
            parsed = source.dialect.wire.parse(each.payload)
            if parsed.event is source.hook.event:
                yield parsed


def _call(side: Side, parsed: Parsed, mode: str | None = None) -> Call:
    scene = parsed.scene if mode is None else replace(parsed.scene, permission_mode=mode)
    return Call(
        side.hook,
        side.hook.event,
        parsed.payload,
        replace(scene, project_dir=scene.project_dir or scene.cwd),
        1.0,
    )


# --- what it is told


def _untold(
    source: Side, target: Side, script: Script, payloads: Sequence[Parsed], variables: set[str]
) -> Iterator[str]:
    words, title = script.words, target.dialect.title
    for parsed, mode in itertools.product(payloads, _MODES):
        theirs, ours = (side.hook.wire.encode(_call(side, parsed, mode)) for side in (source, target))
        sent: dict[str, Any] = json.loads(theirs.document)
        told: dict[str, Any] = json.loads(ours.document)
        for key in words & sent.keys() - _OF_THE_CALL:
            if key not in told:
                yield f"reads {key}, which {title} does not send at {target.event_name}"
            elif key in _OF_THE_AGENT or told[key] != sent[key]:
                yield f"reads {key}, which is something else in {title}"
        for name in _variables(source.dialect, words, theirs.env) - ours.env.keys():
            if name in source.dialect.project_variables:
                variables.add(name)
            else:
                yield f"uses ${name}, which {title} does not set"


def _variables(dialect: Dialect, words: frozenset[str], env: Mapping[str, str]) -> set[str]:
    """Variables of the agent that a program uses: those of its wire, and all that are called like them."""
    prefixes = tuple({f"{name.partition('_')[0]}_" for name in dialect.project_variables})
    return {
        word for word in words if word in env or (prefixes and word.startswith(prefixes) and word.isupper())
    }


def _other_calls(
    source: Side, target: Side, script: Script, tools: Sequence[tuple[str, str]]
) -> Iterator[str]:
    """What differs in the names of tools and their arguments, as far as the program uses them."""
    words = script.words
    if not words & (_READS | _OF_THE_CALL):
        return
    for theirs, ours in tools:
        if theirs != ours and "tool_name" in words:
            yield f"reads tool_name, and {theirs} is {ours} in {target.dialect.title}"
        told, called = source.dialect.tools.tool(theirs), target.dialect.tools.tool(ours)
        if told is None or called is None:
            continue
        if not (_is_plain(told) and _is_plain(called)):
            yield f"reads the arguments of {theirs}, and {ours} has others in {target.dialect.title}"
            continue
        for name, argument in told.arguments.items():
            other = called.arguments.get(name)
            for key in words.intersection(argument.keys):
                if other is None or other.keys[0] != key or other.unit is not argument.unit:
                    yield f"reads {key}, which {ours} does not have in {target.dialect.title}"


def _is_plain(tool: Tool) -> bool:
    return bool(tool.kind) and not (tool.patch or tool.edits or tool.choice or tool.each_of or tool.urls_in)


def tool_names(source: ToolTable, target: ToolTable) -> list[tuple[str, str]]:
    """Every tool of the target, with each name by which the source tells its hooks of such a call."""
    pairs: list[tuple[str, str]] = []
    for name, tool in target.tools.items():
        if tool.narrow or name in target.told_only:
            continue
        kinds = ("write", "edit", "delete", "move") if tool.patch else (tool.kind,)
        told = [own for kind in kinds if kind for own, _form in source.tools_of(kind)]
        pairs += [(own, name) for own in dict.fromkeys(told or [name])]
    return pairs


# --- what it says


def says_more(script: Script, form: EntryForm) -> bool:
    """Whether answers are written in it, beyond exit statuses and text."""
    return bool(answers_in(script.text, _outermost(form))) or bool(_unread(script, form, ()))


def _outermost(form: EntryForm) -> frozenset[str]:
    return frozenset(path.partition(".")[0] for path in form.answers)


def _other_answers(source: Side, target: Side, script: Script, parsed: Parsed) -> Iterator[str]:
    calls = [_call(side, parsed) for side in (source, target)]

    def differs(raw: RawResult) -> bool:
        return source.counts(calls[0], raw) != target.counts(calls[1], _written_for(target.form, raw))

    title = target.dialect.title
    ends = [what for what, raw in _ENDS.items() if (script.prints or what != _PRINTS) and differs(raw)]
    if ends:
        yield f"may be one that {' or '.join(ends)}, which means something else in {title}"
    silent = [what for what, raw in _SILENT.items() if script.silent and differs(raw)]
    if silent:
        yield f"may exit with 2 and {' or '.join(silent)}, which means something else in {title}"
    written = answers_in(script.text, _outermost(source.form))
    unread = _unread(script, source.form, written)
    if unread:
        yield f"says {unread} in an answer that is not written out in it"
    codes = [0, *(int(status) for status in sorted(script.statuses) if status in ("1", "2"))]
    for answer in written:
        for document, code in itertools.product(itertools.islice(_said(answer, source), _MOST), codes):
            if differs(Exited(code, json.dumps(document).encode(), b"why\n" if code else b"")):
                yield f"answers {_shown(document)}, which means something else in {title}"
                break


def _written_for(form: EntryForm, raw: RawResult) -> RawResult:
    """What the target gets: the line that is written for it may end with another status than the program."""
    if isinstance(raw, Exited) and form.failed is not None and raw.code not in (0, 2):
        return replace(raw, code=form.failed)
    return raw


def _unread(script: Script, form: EntryForm, written: Sequence[Mapping[str, Any]]) -> str:
    """A field of answers that the text has more often than the answers in it."""
    own = {path.rpartition(".")[2] for path in form.answers}
    counted = [key for answer in written for key in _keys(answer)]
    for key in sorted(own & script.words):
        # Short ones are words of any language, too, unless they are texts.
        found = re.findall(re.escape(key) if len(key) >= _LONG else rf"[\"']{key}[\"']", script.text)
        if len(found) > sum(each.count(key) for each in counted):
            return key
    return ""


def _keys(answer: Mapping[str, Any]) -> Iterator[str]:
    for key, value in answer.items():
        yield key
        if isinstance(value, dict):
            yield from _keys(cast("dict[str, Any]", value))


def _said(answer: Mapping[str, Any], source: Side) -> Iterator[dict[str, Any]]:
    """Every answer that one in a program may stand for: values that are known only then may be any."""
    flat = dict(_flat(answer, source.form))
    choices: list[Sequence[Any]] = []
    for path, value in flat.items():
        samples = source.form.answers.get(path, ("text",))
        own = (source.event_name,) if path.endswith("hookEventName") else samples
        choices.append(own if value is UNKNOWN else (value,))
    for values in itertools.product(*choices):
        document: dict[str, Any] = {}
        for path, value in zip(flat, values, strict=True):
            *folders, name = path.split(".")
            place = document
            for folder in folders:
                place = place.setdefault(folder, {})
            place[name] = value
        yield document


def _flat(answer: Mapping[str, Any], form: EntryForm, before: str = "") -> Iterator[tuple[str, Any]]:
    """Values by their path; an object that is a value is one."""
    for key, value in answer.items():
        path = f"{before}{key}"
        if isinstance(value, dict) and path not in form.answers:
            yield from _flat(cast("dict[str, Any]", value), form, f"{path}.")
        else:
            yield path, _filled(value) if isinstance(value, dict) else value


def _filled(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _filled(each) for key, each in cast("dict[str, Any]", value).items()}
    return "text" if value is UNKNOWN else value


def _shown(document: Mapping[str, Any]) -> str:
    text = json.dumps(document)
    return text if len(text) <= 100 else f"{text[:97]}..."
