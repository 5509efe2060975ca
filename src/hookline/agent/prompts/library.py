"""Find commands and skills, and read their files."""

import os
import re
import shlex
from collections.abc import Iterator, Mapping
from typing import Any, Literal, cast

from msgspec import Struct

from hookline.agent.prompts.prompt import Origin
from hookline.agent.safe_files import UnusableFileError, read_text
from hookline.dialects.dialect import upward
from hookline.dialects.registry import sharing
from hookline.documents.front_matter import read_front_matter
from hookline.model.diagnostics import NOWHERE, Where
from hookline.model.safe_text import one_line

Kind = Literal["command", "skill"]
#: The names of the directories that hold them.
_DIRECTORIES: Mapping[Kind, Literal["commands", "skills"]] = {"command": "commands", "skill": "skills"}
#: For one directory and those below it; a directory with more is something else.
_MOST_FILES = 1000
_DEEPEST = 3
_PLACE = re.compile(r"\$(ARGUMENTS\b|[1-9](?!\d))")
_MOST_BYTES = 256 * 1024
_WIDEST_DESCRIPTION = 200


class PromptFile(Struct, frozen=True):
    """A file of a command or skill. It is read when it is used."""

    name: str
    kind: Kind
    file: str
    origin: Origin


class PromptDirectory(Struct, frozen=True):
    kind: Kind
    directory: str
    origin: Origin


def prompt_directories(cwd: str, env: Mapping[str, str]) -> tuple[PromptDirectory, ...]:
    """Return every directory that is searched. Commands come before skills, the project before the user."""
    directories = upward(os.path.abspath(cwd))
    found: list[PromptDirectory] = []
    for kind, name in _DIRECTORIES.items():
        dialects = sharing(name)
        found += [
            PromptDirectory(kind, os.path.join(directory, dialect.directory, name), "projectSettings")
            for directory in directories
            for dialect in dialects
        ]
        users = (dialect.user_directory(env) for dialect in dialects)
        found += [
            PromptDirectory(kind, os.path.join(directory, name), "userSettings")
            for directory in users
            if directory
        ]
    return tuple(found)


def entries(cwd: str, env: Mapping[str, str]) -> Mapping[str, PromptFile]:
    """Return every command and skill by the name it is called with. Blocking."""
    found: dict[str, PromptFile] = {}
    for place in prompt_directories(cwd, env):
        for entry in _commands(place) if place.kind == "command" else _skills(place):
            found.setdefault(entry.name, entry)
    return found


def _commands(prompts: PromptDirectory) -> Iterator[PromptFile]:
    """Yield commands: `ui/button.md` is /ui:button, and /button if no other has that name."""
    nested: list[PromptFile] = []
    for relative in _markdown(prompts.directory):
        parts = relative.removesuffix(".md").split(os.sep)
        file = os.path.join(prompts.directory, relative)
        yield PromptFile(":".join(parts), "command", file, prompts.origin)
        if len(parts) > 1:
            nested.append(PromptFile(parts[-1], "command", file, prompts.origin))
    yield from nested


def _markdown(root: str) -> list[str]:
    found: list[str] = []
    for directory, below, files in os.walk(root):
        inside = os.path.relpath(directory, root)
        depth = 0 if inside == "." else inside.count(os.sep) + 1
        below[:] = sorted(each for each in below if not each.startswith(".")) if depth < _DEEPEST else []
        wanted = [name for name in sorted(files) if name.endswith(".md") and not name.startswith(".")]
        found += [os.path.normpath(os.path.join(inside, name)) for name in wanted]
        if len(found) >= _MOST_FILES:
            break
    return found[:_MOST_FILES]


def _skills(prompts: PromptDirectory) -> Iterator[PromptFile]:
    try:
        names = sorted(os.listdir(prompts.directory))[:_MOST_FILES]
    except OSError:
        return
    for name in names:
        file = os.path.join(prompts.directory, name, "SKILL.md")
        if not name.startswith(".") and os.path.isfile(file):
            yield PromptFile(name, "skill", file, prompts.origin)


class Definition(Struct, frozen=True, kw_only=True):
    entry: PromptFile
    body: str
    #: The number of the line that the body begins with.
    first_line: int = 1
    description: str = ""
    argument_hint: str = ""
    model: str | None = None
    allowed_tools: tuple[str, ...] | None = None
    hooks: Mapping[str, Any] | None = None
    hooks_at: Where = NOWHERE

    def wrap(self, arguments: str) -> str:
        """Return the prompt, with the text typed after its name."""
        text = with_arguments(self.body.strip(), arguments)
        if self.entry.kind == "command":
            return text
        directory = one_line(os.path.dirname(self.entry.file), 500)
        return f"Follow the skill {self.entry.name!r}. Files it names are in {directory}.\n\n{text}"


def read_definition(entry: PromptFile) -> Definition:
    """Read a definition. Raises UnreadableError: a file whose `allowed-tools` cannot be read must not be used."""
    return definition_of(entry, definition_text(entry.file))


def definition_text(file: str) -> str:
    """Return the text of a command or skill. Raises UnreadableError."""
    return read_text(file, _MOST_BYTES)


def definition_of(entry: PromptFile, text: str) -> Definition:
    """Parse the text of a command or skill. Raises UnreadableError, as above."""
    matter = read_front_matter(text, entry.file)
    if (error := matter.error) is not None:
        line = error.where.line  # the first is the front matter as a whole
        place = "" if line is None or line == 1 else f"line {line} of its front matter: "
        raise UnusableFileError(f"cannot be used: {place}{one_line(error.message, 200)}")
    fields = matter.fields
    return Definition(
        entry=entry,
        body=matter.body,
        first_line=text.count("\n") - matter.body.count("\n") + 1,
        description=one_line(_line(fields.get("description")), _WIDEST_DESCRIPTION),
        argument_hint=one_line(_line(fields.get("argument-hint")), _WIDEST_DESCRIPTION),
        model=_model(fields.get("model")),
        allowed_tools=_rules(fields.get("allowed-tools")),
        hooks=_hooks(fields.get("hooks")),
        hooks_at=matter.document.where("hooks"),
    )


def _line(value: Any) -> str:
    """Return a value as text: YAML reads hints in square brackets as lists."""
    if isinstance(value, list):
        return " ".join(f"[{each}]" for each in cast("list[Any]", value))
    return "" if value is None else str(value)


def _model(value: Any) -> str | None:
    if value is not None and not isinstance(value, str):
        raise UnusableFileError("cannot be used: model is not text")
    return value if value and value != "inherit" else None


def _hooks(value: Any) -> Mapping[str, Any] | None:
    if value is not None and not isinstance(value, dict):
        raise UnusableFileError("cannot be used: hooks is not an object of events")
    return cast("dict[str, Any] | None", value)


def _rules(value: Any) -> tuple[str, ...] | None:
    if value is None:
        return None
    if isinstance(value, str):
        return tuple(split_rules(value.removeprefix("[").removesuffix("]")))
    listed = cast("list[Any]", value)
    if not isinstance(value, list) or not all(isinstance(each, str) for each in listed):
        raise UnusableFileError("cannot be used: allowed-tools is neither text nor a list of texts")
    return tuple(each.strip() for each in listed if each.strip())


def split_rules(text: str) -> Iterator[str]:
    """Split `Bash(git add:*), Read Edit` at commas and spaces outside brackets."""
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


def with_arguments(body: str, arguments: str) -> str:
    """Fill in `$ARGUMENTS` and `$1` to `$9` in one pass: an argument's own `$1` stays as it is."""
    words = argument_words(arguments)

    def filled(place: re.Match[str]) -> str:
        if place[1] == "ARGUMENTS":
            return arguments
        number = int(place[1])
        return words[number - 1] if number <= len(words) else ""

    text, places = _PLACE.subn(filled, body)
    # A text without placeholders gets the arguments at its end.
    return text if places or not arguments else f"{text.rstrip()}\n\nARGUMENTS: {arguments}"


def is_partly_placeholder(word: str) -> bool:
    """Return True if arguments fill in a part of the word, and not all of it."""
    return _PLACE.search(word) is not None and _PLACE.fullmatch(word) is None


def argument_words(arguments: str) -> list[str]:
    """Return the values of `$1` to `$9`."""
    try:
        return shlex.split(arguments)
    except ValueError:
        # Most likely an apostrophe.
        return arguments.split()
