"""Secrets that stand in a configuration, where whoever reads the repository reads them."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, cast

from hookline.config.checkup.here import Here, about, entries
from hookline.config.loaded import Loaded
from hookline.engine.redaction import Redactor
from hookline.engine.secret_values import holds_a_secret
from hookline.model.diagnostics import Diagnostic
from hookline.model.hook import Hook

#: What stands for a value: it is somewhere else, and that is where it belongs.
_PLACEHOLDER: Final = re.compile(r"\$\{[^}]{0,200}\}|\$\w+|\{\{[^}]{0,200}\}\}|<[^>\s]{0,200}>")
_LONGEST: Final = 64 * 1024
_TEXTS: Final = ("command", "url", "prompt")
_TABLES: Final = ("env", "headers", "variables")


def secrets(loaded: Loaded, here: Here) -> Iterator[Diagnostic]:
    redactor = Redactor(here.env)
    for hook in entries(loaded):
        for path, text in _texts(hook):
            if _is_secret(path, text, redactor):
                message = f"{'.'.join(path)} holds what looks like a secret"
                fix = "keep it in the environment, and name the variable here"
                yield about(hook, "warning", "secret-in-config", message, *path, fix=fix)


def _is_secret(path: tuple[str, ...], text: str, redactor: Redactor) -> bool:
    bare = _PLACEHOLDER.sub("", text[:_LONGEST])
    if redactor.redact(bare) != bare:
        return True
    if len(path) == 1 or bare != text:
        return False
    # What a header is about stands in its name; a variable may as well name a file that holds the secret.
    pair = f"{path[-1]}: {bare}"
    return holds_a_secret(path[-1], text) or (path[0] == "headers" and redactor.redact(pair) != pair)


def _texts(hook: Hook) -> Iterator[tuple[tuple[str, ...], str]]:
    for name in _TEXTS:
        value: Any = getattr(hook.spec, name, None)
        if isinstance(value, str):
            yield (name,), value
    for word in cast("tuple[Any, ...]", getattr(hook.spec, "args", None) or ()):
        if isinstance(word, str):
            yield ("args",), word
    for name in _TABLES:
        table: Any = getattr(hook.spec, name, None)
        for key, value in cast("Mapping[str, Any]", table).items() if isinstance(table, Mapping) else ():
            if isinstance(value, str) and key not in ("CLAUDE_PLUGIN_ROOT", "GEN_PLUGIN_ROOT"):
                yield ("env" if name == "variables" else name, key), value
