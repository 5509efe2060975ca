"""Describe hooks and findings as commands show them: what a hook runs, its timeout, where it is configured."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, cast

from msgspec import Struct, json

from hookline.cli.text import with_tilde
from hookline.dialects.registry import OWN_FORMAT
from hookline.model.diagnostics import Diagnostic, Severity
from hookline.model.hook import Hook
from hookline.model.run import Run
from hookline.model.safe_text import printable

if TYPE_CHECKING:
    from hookline.engine.translate_calls import HookInput, TranslatedCall
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
    """Convert findings. `redact` removes secrets from names: a hook without a name is called by its command."""
    return tuple(
        DiagnosticDocument(
            one.severity, one.code, one.message, str(one.where), one.hook and redact(one.hook), one.fix
        )
        for one in diagnostics
    )


class EnvironmentDocument(Struct, frozen=True):
    """Variables of Hookline's own environment that a command gets, besides those that its entry sets."""

    passed_on: Literal["all", "needed"]
    #: Those that are set now and that it does not get, by name.
    left_out: tuple[str, ...]


def environment_of(hook: "Hook") -> EnvironmentDocument | None:
    """Return the environment; None for a hook that starts no program."""
    if hook.kind != "command":
        return None
    from hookline.handlers.command import gets_only_needed, left_out

    return EnvironmentDocument(
        "needed" if gets_only_needed(hook) else "all", tuple(map(printable, left_out(os.environ, hook)))
    )


class TranslatedDocument(Struct, frozen=True, kw_only=True):
    """A tool call, or one action of it, in the format of a hook's own agent."""

    tool_name: str
    tool_input: Mapping[str, Any]
    #: The directory that the call names, where the hook's agent has no argument for it.
    cwd: str | None
    #: The number of the action in the call, from 1, and the number of all; null where it is the whole call.
    action: int | None
    actions: int
    #: The parts that the translation loses: arguments, and values that had to change.
    lost: tuple[str, ...]
    #: Why the call's actions are uncertain; then a hook that can block does not run, and the call is denied.
    doubt: str | None
    #: Why a rewrite by the hook cannot be translated back, and would deny the call.
    no_rewrite: str | None


def translated_documents(
    translated_call: "TranslatedCall | None", redact: Callable[[str], str]
) -> tuple[TranslatedDocument, ...]:
    """Return a hook's translated input of a call; nothing if it gets the call as it was made."""
    if translated_call is None or _is_as_called(translated_call):
        return ()
    return tuple(_translated(translated_call, translated, redact) for translated in translated_call.actions)


def _is_as_called(translated_call: "TranslatedCall") -> bool:
    if len(translated_call.actions) != 1:
        return False
    view, call = translated_call.actions[0].view, translated_call.call
    translated = (view.tool_name, view.arguments, view.cwd, view.action.doubt)
    return translated == (call.tool_name, call.arguments, "", "")


def _translated(
    translated_call: "TranslatedCall", translated: "HookInput", redact: Callable[[str], str]
) -> TranslatedDocument:
    actions, view = [action for action in translated_call.call.actions if not action.implied], translated.view
    number = next((number for number, action in enumerate(actions, 1) if action is view.action), None)
    return TranslatedDocument(
        tool_name=redact(view.tool_name),
        tool_input={key: _redacted(value, redact) for key, value in view.arguments.items()},
        cwd=redact(view.cwd) if view.cwd else None,
        action=number if len(actions) > 1 else None,
        actions=len(actions),
        lost=tuple(map(redact, _lost(translated_call, translated))),
        doubt=view.action.doubt or None,
        no_rewrite=view.irreversible or view.action.irreversible or view.action.doubt or None,
    )


def _lost(translated_call: "TranslatedCall", translated: "HookInput") -> Iterator[str]:
    """Yield what the format of the hook's agent cannot express, and arguments without a meaning elsewhere."""
    call, view = translated_call.call, translated.view
    yield from (*view.action.lost, *view.lost)
    tool, given = call.table.tool(call.tool_name), call.arguments
    # In canonical terms the hook also gets the original call.
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


def translated_text(translated: TranslatedDocument) -> str:
    """Format `shell {"cmd": "rm -rf x"}`, and what the translation loses."""
    which = f" (action {translated.action} of {translated.actions})" if translated.action is not None else ""
    where = f" in {translated.cwd}" if translated.cwd else ""
    lost = f"; lost: {'; '.join(translated.lost)}" if translated.lost else ""
    doubt = f"; {translated.doubt}" if translated.doubt else ""
    return f"{translated.tool_name} {json_text(translated.tool_input)}{where}{which}{lost}{doubt}"


def json_text(value: Any) -> str:
    """Format JSON in one line; other values as Python shows them."""
    try:
        return json.format(json.encode(value, enc_hook=str), indent=0).decode()
    except (TypeError, ValueError):
        return str(value)


def redactor(journal: "Journal") -> Callable[[str], str]:
    """Return a function that removes secrets from texts of a configuration: commands, matchers, and names."""
    return lambda text: journal.cleaned(Run(hook="", detail=text)).detail


def what_it_runs(hook: "Hook") -> str:
    """Return the command, the address, the prompt or the tool."""
    if hook.calls_hookline:
        return "hookline hook"
    describe = _BY_KIND.get(hook.kind)
    found = describe(hook.spec) if describe is not None and hook.spec is not None else ""
    return " ".join(found.split())[:_LONGEST] or hook.name


def waits_of(hook: "Hook") -> Waits:
    """Return how the agent waits for it; never if its policy does not wait."""
    if hook.waiting == "wait":
        return "sync" if hook.policy.waits else "async"
    return hook.waiting


def timeout_in(unit: Unit, hook: "Hook") -> float:
    """Return the timeout in the unit of its file, so that it can be compared with the file."""
    return hook.timeout * 1000 if unit == "ms" else hook.timeout


def means_hook(texts: Sequence[str], name: str, source: str) -> bool:
    """Return True if one text is part of its name, or, written like a path (with / or :), of its file and line."""
    for text in texts:
        if text.casefold() in name.casefold():
            return True
        if ("/" in text or ":" in text) and text in source:
            return True
    return False


def short_source(source: str) -> str:
    """Shorten a file and line: below the working directory, below the home directory, or in full."""
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


#: What `doctor` and `install` say where no guard is configured.
OFFER = "No guard of Hookline is here yet: `hookline guard add recommended --user` adds five"


def lacks_guards(hooks: Iterable[Hook]) -> bool:
    """Return True if none of these hooks is a guard of Hookline's own files."""
    return not any(hook.dialect == OWN_FORMAT and hook.event.guard for hook in hooks)
