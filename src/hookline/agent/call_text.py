"""Describe a tool call for the user: what would run, or ran, and what it changes."""

import os
from collections.abc import Mapping, Sequence
from typing import Any, cast

import msgspec

from hookline.agent.ports import PermissionPrompt, Shown
from hookline.model.safe_text import one_line, printable, spelled_out

#: The usual names of a call's main argument.
_MAIN = ("command", "file_path", "notebook_path", "url", "pattern", "query", "path", "description", "prompt",
         "plan")  # fmt: skip
_PATHS = frozenset({"file_path", "notebook_path", "path"})
_MOST_LINES = 2000
_WIDEST_VALUE = 20_000
_TAB = 4


def headline(tool: str, given: Mapping[str, Any], width: int = 160) -> str:
    """Return the tool and its main argument on one line."""
    name = next((name for name in _MAIN if isinstance(given.get(name), str) and given[name]), None)
    main = _of_list(given) if name is None else near(given[name]) if name in _PATHS else given[name]
    return one_line(f"{tool} {main}".removesuffix(" {}"), width)


def _of_list(given: Mapping[str, Any]) -> str:
    """Describe arguments without a main one; of a list of questions or steps, the current one."""
    lists = [cast("list[Any]", value) for value in given.values() if isinstance(value, list)]
    rows = [cast("Mapping[str, Any]", row) for row in (lists[0] if lists else ()) if isinstance(row, Mapping)]
    current = next((row for row in rows if row.get("status") == "in_progress"), rows[0] if rows else {})
    said = current.get("question") or current.get("content")
    return said if isinstance(said, str) and said else as_json(given)


def near(source: str) -> str:
    """Shorten a path, or file:line: relative in the working directory, with ~ in the home directory."""
    for base, mark in ((os.getcwd(), ""), (os.path.expanduser("~"), "~/")):
        if source.startswith(base.rstrip("/") + "/"):
            return mark + source[len(base.rstrip("/")) + 1 :]
    return source


def result_text(shown: Shown) -> str:
    """Return the result of a call with shortened paths. Output of a command stays as it is."""
    text, here = shown.text, f"{os.getcwd()}/"
    if "command" in shown.tool_input or here not in text:
        return text
    if "\n" not in text:
        return text.replace(here, "")
    return "\n".join(line.removeprefix(here) for line in text.split("\n"))


def as_json(value: Any) -> str:
    try:
        return msgspec.json.encode(value, enc_hook=str).decode()
    except (TypeError, ValueError, RecursionError):
        return "(cannot be shown)"


def question_title(question: PermissionPrompt) -> str:
    """Return the question itself, on one line."""
    return question.title or f"may the agent run {headline(question.tool_name, question.tool_input, 60)}?"


def question_lines(question: PermissionPrompt) -> list[str]:
    """Return everything a person must see to judge a call; only far too long text is cut, with a note."""
    if question.patch:
        path = question.tool_input.get("file_path", "")
        return _bounded([f"file: {spelled_out(str(path))}", *patch_lines(question.patch)])
    lines: list[str] = []
    for name, value in question.tool_input.items():
        text = value if isinstance(value, str) else as_json(value)
        first, *rest = spelled_out(text if name == "command" else text.expandtabs(_TAB)).split("\n")
        lines += [f"{one_line(str(name), 60)}: {first}", *(f"  {line}" for line in rest)]
    return _bounded(lines)


def why_lines(question: PermissionPrompt) -> list[str]:
    by = f"hook {question.hook}" if question.hook else ""
    where = ", ".join(filter(None, (by, near(question.source))))
    first, *rest = (printable(question.reason) or "no rule allows this call").split("\n")
    return [f"why: {first}", *(f"  {line}" for line in rest)] + (
        [f"  ({one_line(where, 300)})"] if where else []
    )


def patch_lines(patch: Sequence[Mapping[str, Any]]) -> list[str]:
    """Render a difference as text, with the line numbers of each hunk but the first of a short one."""
    lines: list[str] = []
    for hunk in patch:
        if len(patch) > 1 or hunk.get("oldStart", 1) > 1:
            lines.append(f"@@ line {hunk.get('newStart', 1)} @@")
        lines += [patch_line(str(line)) for line in hunk.get("lines", ())]
    return lines


def patch_line(line: str) -> str:
    """Expand tabs to their real width: the mark at the beginning does not count."""
    return spelled_out(line[:1] + line[1:].expandtabs(_TAB))


def rewrite_text(field: str, before: Any, after: Any, width: int = 300) -> str:
    """Describe what a hook changed: only the keys that differ, each before -> after."""
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        old, new = cast("Mapping[str, Any]", before), cast("Mapping[str, Any]", after)
        keys = [key for key in {**old, **new} if old.get(key) != new.get(key)]
        pairs = [f"{key}: {_value(old.get(key), width)} -> {_value(new.get(key), width)}" for key in keys]
        return "; ".join(pairs) or f"{field}: no difference"
    return f"{field}: {_value(before, width)} -> {_value(after, width)}"


def _value(value: Any, width: int) -> str:
    if value is None:
        return "(none)"
    return one_line(value if isinstance(value, str) else as_json(value), width)


def _bounded(lines: list[str]) -> list[str]:
    cut = [
        line
        if len(line) <= _WIDEST_VALUE
        else f"{line[:_WIDEST_VALUE]} [... {len(line) - _WIDEST_VALUE} more]"
        for line in lines
    ]
    if len(cut) <= _MOST_LINES:
        return cut
    return [*cut[: _MOST_LINES - 1], f"[... {len(cut) - _MOST_LINES + 1} more lines ...]"]
