"""One command or skill, read: its text, and what its front matter asks for."""

import os
from collections.abc import Iterator, Mapping
from typing import Any, cast

from msgspec import Struct

from hookline.agent.intake.arguments import with_arguments
from hookline.agent.intake.front_matter import read_front_matter
from hookline.agent.intake.library import Entry
from hookline.agent.intake.reading import UnreadableError, read_text
from hookline.model.safetext import one_line

_MOST_BYTES = 256 * 1024
_WIDEST_DESCRIPTION = 200


class Definition(Struct, frozen=True, kw_only=True):
    entry: Entry
    body: str
    description: str = ""
    argument_hint: str = ""
    model: str | None = None
    allowed_tools: tuple[str, ...] | None = None
    hooks: Mapping[str, Any] | None = None

    def wrap(self, arguments: str) -> str:
        """The prompt it makes of what was typed after its name."""
        text = with_arguments(self.body.strip(), arguments)
        if self.entry.kind == "command":
            return text
        folder = one_line(os.path.dirname(self.entry.file), 500)
        return f"Follow the skill {self.entry.name!r}. Files it names are in {folder}.\n\n{text}"


def read_definition(entry: Entry) -> Definition:
    """Raises UnreadableError: a file whose limits cannot be known is not used at all."""
    matter = read_front_matter(read_text(entry.file, _MOST_BYTES))
    if matter.problem is not None:
        raise UnreadableError(f"cannot be used: {matter.problem}")
    fields = matter.fields
    return Definition(
        entry=entry,
        body=matter.body,
        description=one_line(_line(fields.get("description")), _WIDEST_DESCRIPTION),
        argument_hint=one_line(_line(fields.get("argument-hint")), _WIDEST_DESCRIPTION),
        model=_model(fields.get("model")),
        allowed_tools=_rules(fields.get("allowed-tools")),
        hooks=_hooks(fields.get("hooks")),
    )


def _line(value: Any) -> str:
    """Hints in square brackets are lists to YAML."""
    if isinstance(value, list):
        return " ".join(f"[{each}]" for each in cast("list[Any]", value))
    return "" if value is None else str(value)


def _model(value: Any) -> str | None:
    if value is not None and not isinstance(value, str):
        raise UnreadableError("cannot be used: model is no text")
    return value if value and value != "inherit" else None


def _hooks(value: Any) -> Mapping[str, Any] | None:
    if value is not None and not isinstance(value, dict):
        raise UnreadableError("cannot be used: hooks is no object of events")
    return cast("dict[str, Any] | None", value)


def _rules(value: Any) -> tuple[str, ...] | None:
    if value is None:
        return None
    if isinstance(value, str):
        return tuple(split_rules(value.removeprefix("[").removesuffix("]")))
    listed = cast("list[Any]", value)
    if not isinstance(value, list) or not all(isinstance(each, str) for each in listed):
        raise UnreadableError("cannot be used: allowed-tools is neither text nor a list of texts")
    return tuple(each.strip() for each in listed if each.strip())


def split_rules(text: str) -> Iterator[str]:
    """`Bash(git add:*), Read Edit`: apart at commas and blanks, but not within brackets."""
    rule = ""
    depth = 0
    for character in text:
        if depth == 0 and (character == "," or character.isspace()):
            if rule:
                yield rule
            rule = ""
            continue
        depth = max(depth + (character == "(") - (character == ")"), 0)
        rule += character
    if rule.strip():
        yield rule.strip()
