"""Hooks and diagnostics as commands show them: what a hook runs, how long it may take, where it is configured."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, cast

from msgspec import Struct, json

from hookline.cli.text import with_tilde
from hookline.model.diagnostics import Diagnostic, Severity
from hookline.model.run import Run
from hookline.model.safe_text import printable

if TYPE_CHECKING:
    from hookline.engine.told_calls import ToldAct, ToldCall
    from hookline.journal.journal import Journal
    from hookline.model.hook import Hook

Waits = Literal["sync", "async", "rewake"]
Unit = Literal["s", "ms"]

_LONGEST = 200


class DiagnosticDocument(Struct, frozen=True):
    severity: Severity
    code: str
    message: str
    #: file:line
    where: str
    hook: str | None
    fix: str | None


def diagnostic_documents(
    diagnostics: Sequence[Diagnostic], redact: Callable[[str], str]
) -> tuple[DiagnosticDocument, ...]:
    """`redact` takes secrets out of names: a hook without a name is called by its command."""
    return tuple(
        DiagnosticDocument(
            one.severity, one.code, one.message, str(one.where), one.hook and redact(one.hook), one.fix
        )
        for one in diagnostics
    )


class EnvironmentDocument(Struct, frozen=True):
    """Which variables of Hookline's own environment a command gets, besides those that its entry sets."""

    passed_on: Literal["all", "needed"]
    #: Those that are set now and that it does not get, by name.
    left_out: tuple[str, ...]


def environment_of(hook: "Hook") -> EnvironmentDocument | None:
    """None for a hook that starts no program."""
    if hook.kind != "command":
        return None
    from hookline.handlers.command import gets_only_needed, left_out

    return EnvironmentDocument(
        "needed" if gets_only_needed(hook) else "all", tuple(map(printable, left_out(os.environ, hook)))
    )


class ToldDocument(Struct, frozen=True, kw_only=True):
    """A tool call, or one act of it, in the terms of a hook's own agent."""

    tool_name: str
    tool_input: Mapping[str, Any]
    #: The directory that the call names, where the hook's agent has no argument for it.
    cwd: str | None
    #: Which act of the call it is, counted from 1, and how many there are; null where it is the whole call.
    act: int | None
    acts: int
    #: What of the call the hook is not told: arguments, and values that had to change.
    lost: tuple[str, ...]
    #: Why it cannot be said what the call does; a hook that can block is not asked then, and the call is denied.
    doubt: str | None
    #: Why a rewrite by the hook could not be put back into the call, and would deny it.
    no_rewrite: str | None


def told_documents(told_call: "ToldCall | None", redact: Callable[[str], str]) -> tuple[ToldDocument, ...]:
    """What a hook is told of a call; nothing where that is the call as it was made."""
    if told_call is None or _is_as_called(told_call):
        return ()
    return tuple(_told(told_call, told, redact) for told in told_call.acts)


def _is_as_called(told_call: "ToldCall") -> bool:
    if len(told_call.acts) != 1:
        return False
    view, call = told_call.acts[0].view, told_call.call
    told = (view.tool_name, view.arguments, view.cwd, view.act.doubt)
    return told == (call.tool_name, call.arguments, "", "")


def _told(told_call: "ToldCall", told: "ToldAct", redact: Callable[[str], str]) -> ToldDocument:
    acts, view = [act for act in told_call.call.acts if not act.implied], told.view
    number = next((number for number, act in enumerate(acts, 1) if act is view.act), None)
    return ToldDocument(
        tool_name=redact(view.tool_name),
        tool_input={key: _redacted(value, redact) for key, value in view.arguments.items()},
        cwd=redact(view.cwd) if view.cwd else None,
        act=number if len(acts) > 1 else None,
        acts=len(acts),
        lost=tuple(map(redact, _lost(told_call, told))),
        doubt=view.act.doubt or None,
        no_rewrite=view.irreversible or view.act.irreversible or view.act.doubt or None,
    )


def _lost(told_call: "ToldCall", told: "ToldAct") -> Iterator[str]:
    """What the terms of the hook's agent cannot say, and what is no argument that means anything elsewhere."""
    call, view = told_call.call, told.view
    yield from (*view.act.lost, *view.lost)
    tool, given = call.table.tool(call.tool_name), call.arguments
    # In canonical terms the call as it was made is told beside it.
    if view.tool is not None and tool is not None and isinstance(given, Mapping):
        for key in cast("Mapping[str, Any]", given):
            if key not in tool.own_keys:
                yield f"{key}: it has no meaning elsewhere"


def _redacted(value: Any, redact: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, Mapping):
        found = cast("Mapping[Any, Any]", value)
        return {redact(str(key)): _redacted(each, redact) for key, each in found.items()}
    if isinstance(value, list | tuple):
        return [_redacted(each, redact) for each in cast("list[Any]", value)]
    return value


def told_text(told: ToldDocument) -> str:
    """`shell {"cmd": "rm -rf x"}`, and what is left out of it."""
    which = f" (act {told.act} of {told.acts})" if told.act is not None else ""
    where = f" in {told.cwd}" if told.cwd else ""
    lost = f"; lost: {'; '.join(told.lost)}" if told.lost else ""
    doubt = f"; {told.doubt}" if told.doubt else ""
    return f"{told.tool_name} {json_text(told.tool_input)}{where}{which}{lost}{doubt}"


def json_text(value: Any) -> str:
    """JSON in one line; what is no JSON as Python shows it."""
    try:
        return json.format(json.encode(value, enc_hook=str), indent=0).decode()
    except (TypeError, ValueError):
        return str(value)


def redactor(journal: "Journal") -> Callable[[str], str]:
    """Takes secrets out of texts of a configuration: commands, matchers, and names, which may be commands."""
    return lambda text: journal.cleaned(Run(hook="", detail=text)).detail


def what_it_runs(hook: "Hook") -> str:
    """The command, the address, the question or the tool."""
    describe = _BY_KIND.get(hook.kind)
    found = describe(hook.spec) if describe is not None and hook.spec is not None else ""
    return " ".join(found.split())[:_LONGEST] or hook.name


def waits_of(hook: "Hook") -> Waits:
    """Whether the agent waits for it; never if its policy does not wait."""
    if hook.waiting == "wait":
        return "sync" if hook.policy.waits else "async"
    return hook.waiting


def timeout_in(unit: Unit, hook: "Hook") -> float:
    """In the unit of its file, so that it can be compared with what is written there."""
    return hook.timeout * 1000 if unit == "ms" else hook.timeout


def means_hook(texts: Sequence[str], name: str, source: str) -> bool:
    """One of the texts is part of its name, or, written like a place (with / or :), of its file and line."""
    for text in texts:
        if text.casefold() in name.casefold():
            return True
        if ("/" in text or ":" in text) and text in source:
            return True
    return False


def short_source(source: str) -> str:
    """A file and line as short as it stays clear: below the working directory, below the home, or in full."""
    try:
        here = os.getcwd()
    except OSError:  # it was removed
        here = ""
    if len(here) > 1 and source.startswith(f"{here}/"):
        return source[len(here) + 1 :]
    return with_tilde(source)


def _command(spec: Any) -> str:
    return " ".join([spec.command, *(spec.args or ())])


def _address(spec: Any) -> str:
    from hookline.dialects.labels import url_label

    return url_label(spec.url)


def _prompt(spec: Any) -> str:
    return f"{spec.model}: {spec.prompt}" if spec.model else spec.prompt


_BY_KIND: Mapping[str, Callable[[Any], str]] = MappingProxyType(
    {
        "command": _command,
        "http": _address,
        "prompt": _prompt,
        "agent": _prompt,
        "mcp_tool": lambda spec: f"{spec.server}/{spec.tool}",
        "builtin": lambda spec: " ".join([spec.name, *spec.args]),
        "function": lambda spec: spec.name,
    }
)
