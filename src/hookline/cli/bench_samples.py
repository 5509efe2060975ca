"""Payloads to try hooks on: the example of each event, with the tools and values that the hooks ask for."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from hookline.dialects.native.schema_examples import example_payload
from hookline.matching.fields import subject_of
from hookline.model.events import EventSpec
from hookline.model.hook import Hook

#: Enough for every hook of a real configuration, few enough to try them all.
_MOST = 200

_COMMAND, _FILE = {"command": "git push --force"}, {"file_path": "README.md"}
#: Tools that agents have, under the names they have there.
_TOOLS: Mapping[str, Mapping[str, Any]] = {
    "Bash": _COMMAND,
    "Edit": {**_FILE, "old_string": "a", "new_string": "b"},
    "Write": {**_FILE, "content": "hello\n"},
    "Read": _FILE,
    "Grep": {"pattern": "TODO", "path": "."},
    "Glob": {"pattern": "**/*.py"},
    "WebFetch": {"url": "https://example.org/", "prompt": "summarise"},
    "Task": {"description": "review", "prompt": "Review the change.", "subagent_type": "reviewer"},
    "mcp__tracker__create_issue": {"title": "Login form"},
    "bash": _COMMAND,
    "shell": {"cmd": "git push --force", "cwd": "."},
    "exec_shell": _COMMAND,
    "edit_file": {"path": "README.md", "content": "hello\n"},
    "write_file": {"path": "README.md", "content": "hello\n"},
    "read_file": {"path": "README.md"},
}
#: What a rule in brackets is about, by the keys that tools have for it.
_RULED = ("command", "cmd", "file_path", "path", "url", "pattern")
_RULE = re.compile(r"([A-Za-z_]\w*)\(([^()]*)\)")
_NAME = re.compile(r"[\w./*-]{1,100}")


def samples(event: EventSpec[Any], hooks: Sequence[Hook]) -> list[Any]:
    """Payloads of the event in the order they should be tried; none for a payload only its host can make."""
    example = example_payload(event)
    if example is None:
        return []
    found: list[Any] = [example]
    for variant in _variants(event, example, hooks):
        if len(found) >= _MOST:
            break
        if variant not in found:
            found.append(variant)
    return found


def sample_text(event: EventSpec[Any], payload: Any) -> str | None:
    """The sample in a few words."""
    subject = subject_of(event, payload)
    given: Any = getattr(payload, "tool_input", None)
    if isinstance(given, Mapping) and subject:
        ruled = next((f" {key}={given[key]}" for key in _RULED if key in given), "")
        return f"{subject}{ruled}"
    return subject


def _variants(event: EventSpec[Any], example: Any, hooks: Sequence[Hook]) -> Iterator[Any]:
    if event.subject is None:
        return
    if event.subject == "tool_name" and hasattr(example, "tool_input"):
        for name, given in _calls(hooks):
            yield replace(example, tool_name=name, tool_input=given)
        return
    for value in event.subjects or _names(hooks):
        yield replace(example, **{event.subject: value})


def _calls(hooks: Sequence[Hook]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """What conditions ask for, then what matchers name, then every tool there is."""
    for hook in hooks:
        for tool, ruled in _RULE.findall(hook.condition.text if hook.condition is not None else ""):
            given = _TOOLS.get(tool, {"command": "", "file_path": ""})
            text = (
                re.sub(r"^domain:", "https://", ruled).replace(":*", "").replace("**", "x").replace("*", "x")
            )
            yield tool, {key: text if key in _RULED else value for key, value in given.items()}
    for name in _names(hooks):
        yield name, _TOOLS.get(name, _COMMAND)
    yield from _TOOLS.items()


def _names(hooks: Sequence[Hook]) -> Iterator[str]:
    """The names a matcher is made of, as far as that is plain; who matches by a pattern is found by trying."""
    for hook in hooks:
        text = hook.matcher.text if hook.matcher is not None else ""
        for part in re.split(r"[|,\s]+", text[:1000]):
            name = part.strip("^$").replace(".*", "x").replace("*", "x")
            if _NAME.fullmatch(name):
                yield name
