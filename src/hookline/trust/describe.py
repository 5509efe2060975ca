"""Describe what an item may do, in plain words, with the texts that decide it, as they are written.

Nothing is left out of these texts, not even what looks like a secret: a hidden part could be the one that
matters. The values of the user's variables are not in them.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, cast
from urllib.parse import urlsplit

from msgspec import Struct

from hookline.handlers.specs import (
    AgentSpec,
    BuiltinSpec,
    CommandSpec,
    HttpSpec,
    McpToolSpec,
    PromptSpec,
)
from hookline.model.events import Capability
from hookline.model.hook import Hook
from hookline.trust.items import INCLUDES, TrustItem, canonical, decoded

_VARIABLE = re.compile(r"\$\{?(?:env:)?([A-Za-z_]\w*)")

_MAY: Mapping[Capability, str] = MappingProxyType(
    {
        Capability.BLOCK: "block it",
        Capability.PERMIT: "allow it without asking you",
        Capability.REWRITE: "rewrite {rewrites}",
        Capability.CONTEXT: "add text for the model",
        Capability.STOP: "stop the run",
        Capability.RULES: "change permission rules",
        Capability.WATCH: "have files watched",
        Capability.SEED: "write the first message",
        Capability.RETRY: "have it tried again",
        Capability.ENV: "set environment variables of commands",
        Capability.ANSWER: "supply the answer",
    }
)
#: Effects of settings that loosen, by their names.
_SETTINGS: Mapping[str, str] = MappingProxyType(
    {
        "allow": "allows without asking you: {value}",
        "defaultMode": "switches to the mode {value}",
        "additionalDirectories": "opens further directories: {value}",
        "replaces": "replaces your own hooks at {value}",
        "disableAllHooks": "switches all hooks off, yours too: {value}",
        "enabledPlugins": "switches plugins on or off: {value}",
        INCLUDES: "has these files sent to the model with it: {value}",
    }
)
_MOST_NAMED = 10


class ItemText(Struct, frozen=True):
    """One text of an item, and its heading."""

    name: str
    text: str


def what_hook_does(hook: Hook) -> Iterator[str]:
    yield f"runs {_when(hook)}"
    how = _HOW.get(cast("type[object]", type(hook.spec)))
    if how is not None:
        yield how(hook.spec)
    may = hook.event.may & hook.policy.may
    can = [words for each, words in _MAY.items() if each & may]
    if can:
        yield f"may {', '.join(can)}".format(rewrites=hook.event.rewrites or "it")
    if hook.broken is not None:
        yield "cannot run, because its entry is wrong"


def hook_texts(hook: Hook) -> Iterator[ItemText]:
    spec = hook.spec
    if isinstance(spec, CommandSpec):
        yield from _command_texts(spec)
    elif isinstance(spec, HttpSpec):
        yield ItemText("url", spec.url)
        yield from (ItemText("header", f"{name}: {value}") for name, value in spec.headers.items())
    elif isinstance(spec, PromptSpec | AgentSpec):
        yield from (
            ItemText(name, text)
            for name, text in (("model", spec.model), ("system", spec.system), ("prompt", spec.prompt))
            if text
        )
    elif isinstance(spec, McpToolSpec):
        yield ItemText("tool", f"{spec.server}/{spec.tool}")
        yield ItemText("input", canonical(spec.input).decode())
    elif isinstance(spec, BuiltinSpec):
        yield ItemText("builtin", " ".join([spec.name, *spec.args]))


def what_item_does(item: TrustItem) -> Iterator[str]:
    """Describe an item that is not a hook."""
    value = decoded(item.facts)
    facts: Mapping[str, Any] = cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}
    if item.kind == "server":
        yield from _server(item, facts)
    else:
        yield from (
            _SETTINGS.get(name, "sets {name}").format(name=name, value=_flat(value))
            for name, value in facts.items()
        )


def _server(item: TrustItem, facts: Mapping[str, Any]) -> Iterator[str]:
    if facts.get("disabled") is True:
        yield "switches off your server of the same name"
        return
    url = facts.get("url") or facts.get("httpUrl")
    where = f"connects to {_host(str(url))}" if url else "starts a program with all your rights"
    yield f"{where}, as an MCP server whose tools the model may call"
    variables = dict.fromkeys(_VARIABLE.findall(item.facts))
    if variables:
        yield f"gets {_listed(variables)} of your environment"


def _flat(value: Any) -> str:
    values: list[Any] = cast("list[Any]", value) if isinstance(value, list) else [value]
    shown = ", ".join(str(each) for each in values[:_MOST_NAMED])
    return f"{shown} and {len(values) - _MOST_NAMED} more" if len(values) > _MOST_NAMED else shown


def item_texts(item: TrustItem) -> Iterator[ItemText]:
    """Yield the settings one by one, or the facts as a whole."""
    facts: Any = decoded(item.facts)
    if not isinstance(facts, Mapping):
        yield ItemText(item.kind, item.facts)
        return
    for name, value in cast("Mapping[str, Any]", facts).items():
        yield ItemText(name, value if isinstance(value, str) else canonical(value).decode())


def _when(hook: Hook) -> str:
    matcher = hook.matcher.text if hook.matcher is not None else ""
    at = f"at {hook.policy.event_name}"
    if hook.event.subject == "tool_name":
        at += f" for the tools {matcher}" if matcher not in ("", "*") else " for every tool"
    elif hook.event.subject is not None and matcher not in ("", "*"):
        at += f" where {hook.event.subject} is {matcher}"
    return f"{at}, if {hook.condition.text}" if hook.condition is not None else at


def _command_texts(spec: CommandSpec) -> Iterator[ItemText]:
    if spec.args is None:
        yield ItemText("command", spec.command)
    else:
        yield ItemText("program", spec.command)
        yield from (ItemText("argument", each) for each in spec.args)
    if spec.shell:
        yield ItemText("shell", spec.shell)
    if spec.cwd:
        yield ItemText("directory", spec.cwd)
    yield from (ItemText("variable", f"{name}={value}") for name, value in spec.env.items())


def _http(spec: HttpSpec) -> str:
    used = {each for value in (spec.url, *spec.headers.values()) for each in _VARIABLE.findall(value)}
    sent = [name for name in (*spec.allowed_env_vars, *_VARIABLE.findall(spec.url)) if name in used]
    return f"sends {f'{_listed(dict.fromkeys(sent))} and ' if sent else ''}the event to {_host(spec.url)}"


def _host(url: str) -> str:
    try:
        parts = urlsplit(url)
        return f"{parts.scheme}://{parts.netloc.rsplit('@', 1)[-1]}"
    except ValueError:
        return url


def _listed(variables: Mapping[str, Any]) -> str:
    return ", ".join(f"${name}" for name in variables)


_HOW: Mapping[type, Callable[[Any], str]] = MappingProxyType(
    {
        CommandSpec: lambda _: "starts a program with all your rights",
        HttpSpec: _http,
        PromptSpec: lambda _: "sends the event to a model, which answers",
        AgentSpec: lambda _: "lets an agent look around in the project and answer",
        McpToolSpec: lambda spec: f"calls the tool {spec.tool} of the MCP server {spec.server}",
        BuiltinSpec: lambda spec: f"is built in ({spec.name}) and starts no program",
    }
)
