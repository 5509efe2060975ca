"""Commands and skills: where they are found, and what their files say."""

import os
import re
import shlex
from collections.abc import Iterator, Mapping
from typing import Any, Literal, cast

from msgspec import Struct

from hookline.agent.prompts.prompt import Origin
from hookline.agent.safe_files import UnreadableError, read_text
from hookline.dialects.dialect import upward
from hookline.dialects.registry import sharing
from hookline.documents.front_matter import read_front_matter
from hookline.model.diagnostics import NOWHERE, Where
from hookline.model.safe_text import one_line

Kind = Literal["command", "skill"]
#: What the folders are called that hold them.
_FOLDERS: Mapping[Kind, Literal["commands", "skills"]] = {"command": "commands", "skill": "skills"}
#: For one folder and those below it; a folder with more is something else.
_MOST_FILES = 1000
_DEEPEST = 3
_PLACE = re.compile(r"\$(ARGUMENTS\b|[1-9](?!\d))")
_MOST_BYTES = 256 * 1024
_WIDEST_DESCRIPTION = 200


class Entry(Struct, frozen=True):
    """A file of a command or skill. It is read when it is used."""

    name: str
    kind: Kind
    file: str
    origin: Origin


class Place(Struct, frozen=True):
    kind: Kind
    folder: str
    origin: Origin


def places(cwd: str, env: Mapping[str, str]) -> tuple[Place, ...]:
    """Every folder that is searched. Commands come before skills, the project before the user."""
    directories = upward(os.path.abspath(cwd))
    found: list[Place] = []
    for kind, name in _FOLDERS.items():
        dialects = sharing(name)
        found += [
            Place(kind, os.path.join(directory, dialect.folder, name), "projectSettings")
            for directory in directories
            for dialect in dialects
        ]
        folders = (dialect.user_folder(env) for dialect in dialects)
        found += [Place(kind, os.path.join(folder, name), "userSettings") for folder in folders if folder]
    return tuple(found)


def entries(cwd: str, env: Mapping[str, str]) -> Mapping[str, Entry]:
    """Every command and skill by the name it is called with. Blocking."""
    found: dict[str, Entry] = {}
    for place in places(cwd, env):
        for entry in _commands(place) if place.kind == "command" else _skills(place):
            found.setdefault(entry.name, entry)
    return found


def _commands(place: Place) -> Iterator[Entry]:
    """`ui/button.md` is /ui:button, and /button if no other has that name."""
    nested: list[Entry] = []
    for relative in _markdown(place.folder):
        parts = relative.removesuffix(".md").split(os.sep)
        file = os.path.join(place.folder, relative)
        yield Entry(":".join(parts), "command", file, place.origin)
        if len(parts) > 1:
            nested.append(Entry(parts[-1], "command", file, place.origin))
    yield from nested


def _markdown(folder: str) -> list[str]:
    found: list[str] = []
    for directory, below, files in os.walk(folder):
        inside = os.path.relpath(directory, folder)
        depth = 0 if inside == "." else inside.count(os.sep) + 1
        below[:] = sorted(each for each in below if not each.startswith(".")) if depth < _DEEPEST else []
        wanted = [name for name in sorted(files) if name.endswith(".md") and not name.startswith(".")]
        found += [os.path.normpath(os.path.join(inside, name)) for name in wanted]
        if len(found) >= _MOST_FILES:
            break
    return found[:_MOST_FILES]


def _skills(place: Place) -> Iterator[Entry]:
    try:
        names = sorted(os.listdir(place.folder))[:_MOST_FILES]
    except OSError:
        return
    for name in names:
        file = os.path.join(place.folder, name, "SKILL.md")
        if not name.startswith(".") and os.path.isfile(file):
            yield Entry(name, "skill", file, place.origin)


class Definition(Struct, frozen=True, kw_only=True):
    entry: Entry
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
        """The prompt, with what was typed after its name."""
        text = with_arguments(self.body.strip(), arguments)
        if self.entry.kind == "command":
            return text
        folder = one_line(os.path.dirname(self.entry.file), 500)
        return f"Follow the skill {self.entry.name!r}. Files it names are in {folder}.\n\n{text}"


def read_definition(entry: Entry) -> Definition:
    """Raises UnreadableError: a file whose `allowed-tools` cannot be read must not be used."""
    return definition_of(entry, definition_text(entry.file))


def definition_text(file: str) -> str:
    """Return the text of a command or skill. Raises UnreadableError."""
    return read_text(file, _MOST_BYTES)


def definition_of(entry: Entry, text: str) -> Definition:
    """Read the text of a command or skill. Raises UnreadableError, as above."""
    matter = read_front_matter(text, entry.file)
    if (error := matter.error) is not None:
        line = error.where.line  # the first is the front matter as a whole
        place = "" if line is None or line == 1 else f"line {line} of its front matter: "
        raise UnreadableError(f"cannot be used: {place}{one_line(error.message, 200)}")
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
    """YAML reads hints in square brackets as lists."""
    if isinstance(value, list):
        return " ".join(f"[{each}]" for each in cast("list[Any]", value))
    return "" if value is None else str(value)


def _model(value: Any) -> str | None:
    if value is not None and not isinstance(value, str):
        raise UnreadableError("cannot be used: model is not text")
    return value if value and value != "inherit" else None


def _hooks(value: Any) -> Mapping[str, Any] | None:
    if value is not None and not isinstance(value, dict):
        raise UnreadableError("cannot be used: hooks is not an object of events")
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
    """`Bash(git add:*), Read Edit`: split at commas and spaces outside brackets."""
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
    """`$ARGUMENTS` and `$1` to `$9` filled in, in one pass: an argument's own `$1` stays as it is."""
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
    """Return what `$1` to `$9` stand for."""
    try:
        return shlex.split(arguments)
    except ValueError:
        # Most likely an apostrophe.
        return arguments.split()
