"""Write an event of a session as a test case of the pytest kit, with the outcome that the hooks give it now."""

import os
import re
from collections.abc import Mapping, Sequence
from pprint import pformat
from typing import TYPE_CHECKING, Any, cast

import msgspec

from hookline.agent.tui.workbench.fire_line import set_fields
from hookline.engine.explain import ASKED_INSTEAD

if TYPE_CHECKING:
    from hookline.agent.hooks import FiredEvent
    from hookline.agent.tui.workbench.events import Account

_WIDTH = 100
_LONGEST_NAME = 60


class _Code(str):
    """Text that is code, not a value."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def test_file(root: str) -> str:
    """Return the file of a project that the case goes to, which `hookline guard add --tests` writes, too."""
    return os.path.join(root, "tests", "test_hooks.py")


def test_case(fired: "FiredEvent", accounts: "Sequence[Account]", file: str, root: str, before: str) -> str:
    """Return the text of a test file, which was `before`, with the case. `file` is the one with the hooks."""
    name = _free_name(_name(fired), before)
    outcome = fired.outcome
    body = [f"hooks.load({_path(file, root)})", f"said = {_fired(fired, root)}"]
    if outcome.blocked:
        body += [
            f"assert said.denied == {_quoted(outcome.reason)}" if outcome.reason else "assert said.denied"
        ]
    elif outcome.permission == "ask":
        body += [f"assert said.asked == {_quoted(outcome.reason)}" if outcome.reason else "assert said.asked"]
    elif outcome.stop:
        body += ["assert said.stopped"]
    else:
        body += ["assert said.allowed"]
    body += [
        f"assert said.rewritten[{edit.field!r}] == {_value(outcome.updated(edit.field), root)}"
        for edit in outcome.edits
    ]
    if outcome.context:
        body += [f"assert said.context == {_value(list(outcome.context), root)}"]
    ran = [
        each.run.hook
        for each in accounts
        if each.ran and not each.run.recheck and not each.run.why.startswith(ASKED_INSTEAD)
    ]
    body += [f"assert said.ran == {_value(list(dict.fromkeys(ran)), root)}"]
    text = "\n".join(f"    {line}" for part in body for line in part.split("\n"))
    case = f"def {name}(hooks):\n{text}\n"
    return case if not before.strip() else f"{before.rstrip()}\n\n\n{case}"


def _name(fired: "FiredEvent") -> str:
    given = getattr(fired.payload, "tool_input", None)
    texts = (
        [each for each in cast("Mapping[str, Any]", given).values() if isinstance(each, str)]
        if isinstance(given, Mapping)
        else []
    )
    about = (getattr(fired.payload, "tool_name", "") or fired.event, *texts[:1])
    words = re.sub(r"[^a-z0-9]+", "_", " ".join(map(str, about)).casefold()).strip("_")
    return f"test_{words[:_LONGEST_NAME].strip('_') or 'event'}"


def _free_name(name: str, before: str) -> str:
    taken = set(re.findall(r"^(?:async )?def (\w+)", before, re.MULTILINE))
    number = 2
    free = name
    while free in taken:
        free, number = f"{name}_{number}", number + 1
    return free


def _fired(fired: "FiredEvent", root: str) -> str:
    payload, fields = fired.payload, set_fields(fired.payload)
    tool = getattr(payload, "tool_name", None)
    given: dict[Any, Any] = fields.get("tool_input", {})
    simple = type(given) is dict and all(isinstance(key, str) and key.isidentifier() for key in given)
    if fired.event == "PreToolUse" and simple:
        return f"hooks.tool({_call([_quoted(str(tool))], given, root)})"
    if fired.event == "PostToolUse" and simple:
        return f"hooks.result({_call([_quoted(str(tool)), _value(fields.get('tool_response'), root)], given, root)})"
    if fired.event == "UserPromptSubmit":
        return f"hooks.prompt({_quoted(str(fields.get('prompt', '')))})"
    return f"hooks.event({_call([_quoted(fired.event)], fields, root)})"


def _call(words: list[str], named: Mapping[str, Any], root: str) -> str:
    words += [f"{name}={_value(value, root)}" for name, value in named.items()]
    line = ", ".join(words)
    return line if len(line) + 20 <= _WIDTH and "\n" not in line else "\n    " + ",\n    ".join(words) + ",\n"


def _path(file: str, root: str) -> str:
    if file.startswith(f"{root}/"):
        return _quoted(os.path.relpath(file, root))
    return _quoted(file)


def _quoted(text: str) -> str:
    """Return a text as code, in double quotes where that needs no escapes."""
    shown = repr(text)
    return f'"{shown[1:-1]}"' if shown[0] == "'" and '"' not in shown and "\\" not in shown else shown


def _value(value: Any, root: str) -> str:
    if isinstance(value, str) and not value.startswith(f"{root}/"):
        return _quoted(value)
    plain = msgspec.to_builtins(value, enc_hook=str)
    return pformat(_portable(plain, root), width=_WIDTH - 8, sort_dicts=False)


def _portable(value: Any, root: str) -> Any:
    """Write paths in the project so that the test holds in another checkout."""
    if isinstance(value, str) and value.startswith(f"{root}/"):
        rest = repr(value[len(root) :].replace("{", "{{").replace("}", "}}"))
        return _Code(f"f{rest[0]}{{hooks.session.info.cwd}}{rest[1:]}")
    if isinstance(value, Mapping):
        return {key: _portable(each, root) for key, each in cast("Mapping[Any, Any]", value).items()}
    if isinstance(value, list):
        return [_portable(each, root) for each in cast("list[Any]", value)]
    return value
