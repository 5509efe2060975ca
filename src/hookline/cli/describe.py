"""The facts of a hook in a few words each, the same in every table."""

import os
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Literal

from hookline.journal.journal import Journal
from hookline.model.hook import Hook
from hookline.model.run import Run

Waits = Literal["sync", "async", "rewake"]
Unit = Literal["s", "ms"]

#: Dialects whose files count a timeout in milliseconds; all others count seconds.
_MILLISECONDS = frozenset({"reasonix"})
_LONGEST = 200


def cleaner(journal: Journal) -> Callable[[str], str]:
    """Texts of a configuration as they may be shown: commands and matchers may hold secrets."""
    return lambda text: journal.cleaned(Run(hook="", detail=text)).detail


def runs_words(hook: Hook) -> str:
    """What is run: the command, the address, the question, the tool."""
    words = _BY_KIND.get(hook.kind)
    found = words(hook.spec) if words is not None and hook.spec is not None else ""
    return " ".join(found.split())[:_LONGEST] or hook.name


def waits_words(hook: Hook) -> Waits:
    """Whether the agent waits for it; where its policy waits for nobody, not for this one either."""
    if hook.waiting == "wait":
        return "sync" if hook.policy.waits else "async"
    return hook.waiting


def unit_of(hook: Hook) -> Unit:
    return "ms" if hook.dialect in _MILLISECONDS else "s"


def timeout_of(hook: Hook) -> float:
    """In the unit its file counts in, so that it can be compared with what stands there."""
    return hook.timeout * 1000 if unit_of(hook) == "ms" else hook.timeout


def source_of(hook: Hook, cwd: str) -> str:
    """file:line, the file as seen from cwd."""
    return str(hook.where).removeprefix(cwd.rstrip("/") + "/")


def why_seen_from(cwd: str, why: str) -> str:
    """A reason that names a file of the project names it as people see it."""
    return why.replace(cwd.rstrip("/") + "/", "", 1) if why.startswith("the same as ") else why


def homely(file: str, env: Mapping[str, str] = os.environ) -> str:
    """Below the user's home, as people write it."""
    home = env.get("HOME", "").rstrip("/")
    return f"~{file[len(home) :]}" if home and file.startswith(f"{home}/") else file


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


def means_hook(texts: Sequence[str], name: str, source: str) -> bool:
    """One of the texts is part of its name, or, written like a place (with / or :), of its file and line."""
    for text in texts:
        if text.casefold() in name.casefold():
            return True
        if ("/" in text or ":" in text) and text in source:
            return True
    return False


def seen_from_here(source: str) -> str:
    """A file and line as somebody here would write it: below the directory, below the home, or in full."""
    try:
        here = os.getcwd()
    except OSError:  # it was removed
        here = ""
    for folder, stands_for in ((here, ""), (os.environ.get("HOME", ""), "~/")):
        if len(folder) > 1 and source.startswith(f"{folder}/"):
            return stands_for + source[len(folder) + 1 :]
    return source
