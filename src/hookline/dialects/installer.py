"""Put Hookline into the files of an agent, and remove it again.

Texts in, texts out: nothing here touches the disk. `Installer` serves most agents; an agent whose files need
more than entries has a subclass in its own directory.
"""

import os
import sys
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal, cast

import msgspec
from msgspec import Struct

from hookline.dialects.own_plugin import OwnPlugin
from hookline.documents.document import Document, Format, format_of, read_document
from hookline.documents.edit import EditError, appended, found_at, read_value, removed
from hookline.model.diagnostics import Path
from hookline.model.errors import HooklineError

if TYPE_CHECKING:
    from hookline.dialects.dialect import Dialect
    from hookline.dialects.entries import HookCall

#: By file; None for one that does not exist.
Texts = dict[str, str | None]
InstallScope = Literal["user", "plugin", "project", "managed"]
Standing = Literal["trusted", "untrusted", "unknown"]


#: The path of the call that a module inside the agent makes.
INSIDE: Path = ("inside",)


class InstallError(HooklineError):
    """Nothing was changed; the message says why and names the file."""


class Site(Struct, frozen=True):
    """The scope of an installation: the user, as a plugin of the user's, a project, or everybody on the machine."""

    scope: InstallScope
    project: str
    env: Mapping[str, str]
    #: True if the user wants the agent to trust the project, in an agent that asks for that.
    trusts_project: bool = False
    #: True if Hookline should also run as a module inside the agent.
    inside: bool = False
    #: The words that start Hookline, for the MCP server of a plugin.
    program: tuple[str, ...] = ()
    #: True if the agent's shell commands should run under the exec guard.
    exec_guard: bool = False


class Entry(Struct, frozen=True):
    """A hook of an agent's file that runs a command."""

    file: str
    path: Path
    value: Mapping[str, Any]
    line: int | None = None
    #: The key of its command.
    key: str = "command"
    #: True if it runs for every subject of the event: nothing in it or around it limits its tools.
    everywhere: bool = True

    @property
    def event(self) -> str:
        """The event, for people."""
        named = self.value.get("event")
        names = [step for step in self.path if isinstance(step, str) and step != "hooks"]
        return str(named) if named else names[-1] if names else ""

    @property
    def command(self) -> str:
        return str(self.value.get(self.key, ""))

    @property
    def identity(self) -> tuple[tuple[str, ...], bytes]:
        """The identity: the same for an entry that does the same, wherever it is in its list."""
        names = tuple(step for step in self.path if isinstance(step, str))
        return names, msgspec.json.encode(self.value, order="deterministic")


class Installer:
    """An installer for agents that take entries in one file of the user, or of a project."""

    def __init__(
        self,
        dialect: "Dialect",
        user_file: Callable[[Mapping[str, str]], str | None],
    ) -> None:
        self.dialect = dialect
        self._user_file = user_file
        #: The key of a command in its entries.
        self.key = dialect.entry_fields.get("command", "command")

    # --- files
    # ---------------------------------------------------------------------------------------------------

    def files(self, site: Site) -> Sequence[str]:
        """List every file that may change; the first one has the entries. Raises InstallError where there is none."""
        if site.scope == "project":
            return (self.project_file(site),)
        if site.scope == "managed":
            return (self.managed_file(),)
        if site.scope == "plugin":
            plugin, root = self.plugin_directory(site)
            return (f"{root}/{plugin.hooks}", *(f"{root}/{name}" for name in plugin.texts(site.program)))
        found = self._user_file(site.env)
        if found is None:
            raise InstallError("you have no home directory: set HOME")
        return (found,)

    def plugin_directory(self, site: Site) -> tuple[OwnPlugin, str]:
        """Return Hookline's plugin for this agent, and its directory. Raises InstallError where there is none."""
        plugin = self.dialect.own_plugin
        directory = self.dialect.user_directory(site.env)
        if plugin is None or directory is None or not os.path.isabs(directory):
            raise InstallError(f"{self.dialect.title} has no plugins that Hookline can write")
        return plugin, os.path.join(directory, plugin.directory)

    def project_file(self, site: Site) -> str:
        return f"{site.project.rstrip('/')}/{self.dialect.project_files[0]}"

    def managed_file(self) -> str:
        """Return the administrator's file, which users cannot change. Raises InstallError where there is none."""
        files = self.dialect.managed_files
        if not files:
            raise InstallError(
                f"{self.dialect.title} has no administrator's file for hooks that Hookline knows"
            )
        return files[-1] if sys.platform == "darwin" else files[0]

    def signs(self, site: Site) -> Sequence[str]:
        """List paths of which any shows that the agent is used."""
        directory = self.dialect.directory
        home = self._user_file(site.env)
        found = [home.rsplit("/", 1)[0]] if home else []
        if directory and site.env.get("HOME"):
            found.append(f"{site.env['HOME'].rstrip('/')}/{directory}")
        return [*found, *([f"{site.project.rstrip('/')}/{directory}"] if site.scope == "project" else [])]

    # --- existing entries
    # -------------------------------------------------------------------------------------------

    def document(self, file: str, text: str | None) -> Document:
        """Read a document. Raises InstallError for a text that the agent itself could not use."""
        form = _format(file)
        comments = self.dialect.json_comments
        found = read_document(text if text and text.strip() else _EMPTY[form], form, file, comments=comments)
        if found.value is None and found.diagnostics:
            raise InstallError(self._unusable(text or "", form, file, found))
        if not isinstance(found.value, dict):
            raise InstallError(f"{file} is not a table of settings, so nothing was changed")
        twice = next((one for one in found.duplicates if "hooks" in one.path), None)
        if twice is not None:
            what = f"the key {str(twice.path[-1])!r} appears twice"
            raise InstallError(f"{file}:{twice.line}: {what}, and only the last one is used: join them first")
        return found

    def _unusable(self, text: str, form: Format, file: str, found: Document) -> str:
        problem = found.diagnostics[0]
        place = f"{file}:{problem.where.line}" if problem.where.line else file
        if form == "json" and read_document(text, form, file, comments=True).value is not None:
            return f"{place}: {self.dialect.title} reads no file with comments: remove them first"
        return f"{place}: {problem.message}: correct it first; nothing was changed"

    def entries(self, texts: Mapping[str, str | None], site: Site) -> list[Entry]:
        """List every command that the agent's file has as a hook, in the order of the file."""
        file = self.files(site)[0]
        document = self.document(file, texts.get(file))
        return [
            Entry(
                file,
                path,
                value,
                document.where(*path).line,
                self.key,
                _runs_everywhere(document.value, path),
            )
            for path, value in self.commands(document.value)
        ]

    def commands(self, value: Mapping[str, Any]) -> Iterator[tuple[Path, Mapping[str, Any]]]:
        """Yield the tables with a command below `hooks`. Raises InstallError where `hooks` is something else."""
        return commands_below(value.get("hooks"), ("hooks",), self.key)

    # --- new entries
    # -------------------------------------------------------------------------------------------

    def additions(
        self, calls: "Sequence[HookCall]", site: Site, value: Mapping[str, Any]
    ) -> Iterator[tuple[Path, Mapping[str, Any]]]:
        """Yield the entries to append, and the path of the list each belongs in."""
        del value
        form = _format(self.files(site)[0])
        document = read_document(self.dialect.call_entries(calls), form, "")
        yield from lists_of(document.value, ())

    def wanted(self, calls: "Sequence[HookCall]", texts: Mapping[str, str | None], site: Site) -> list[Entry]:
        """Return the entries that should exist."""
        file = self.files(site)[0]
        value = self.document(file, texts.get(file)).value
        return [
            Entry(file, (*path, 0, *inner[1:]), entry, key=self.key)
            for path, item in self.additions(calls, site, value)
            for inner, entry in commands_below([item], (), self.key)
        ]

    def added(self, texts: Mapping[str, str | None], calls: "Sequence[HookCall]", site: Site) -> Texts:
        """Add our entries, last in their lists: those of others keep their positions."""
        file = self.files(site)[0]
        text, form = texts.get(file) or "", _format(file)
        value = self.document(file, text).value
        with located(file):
            for path, item in self.additions(calls, site, value):
                text = appended(text, form, path, item)
        return {**texts, file: text}

    def removed(
        self, texts: Mapping[str, str | None], gone: Sequence[Entry], originals: Mapping[str, str | None]
    ) -> Texts:
        """Remove these entries, and containers that are empty then and did not exist before us."""
        result: Texts = dict(texts)
        plugin = self.dialect.own_plugin
        if plugin is not None and gone and gone[0].file.endswith(f"/{plugin.directory}/{plugin.hooks}"):
            return dict.fromkeys(texts)  # all of it is ours
        for entry in reversed(gone):
            before = originals.get(entry.file)
            kept = read_document(before, _format(entry.file), "", comments=True).value if before else None
            with located(entry.file):
                result[entry.file] = without(
                    result[entry.file] or "", _format(entry.file), entry.path, kept, entry.file in originals
                )
        return result

    def trusted(self, texts: Mapping[str, str | None], own: Sequence[Entry], site: Site) -> Texts:
        """Add what makes the agent run our entries without asking again, and the other files of a plugin."""
        del own
        if site.scope != "plugin":
            return dict(texts)
        plugin, root = self.plugin_directory(site)
        return {**texts, **{f"{root}/{name}": text for name, text in plugin.texts(site.program).items()}}

    def standing(
        self, texts: Mapping[str, str | None], own: Sequence[Entry], site: Site
    ) -> tuple[Standing, str]:
        """Return if the agent will run these entries, as far as files show; and why."""
        del texts, own, site
        return "trusted", f"{self.dialect.title} asks for no trust"

    def asked(self, program: str, own: Sequence[Entry], site: Site) -> tuple[Standing, str] | None:
        """Ask the agent's program itself if it will run these entries; None where it cannot say."""
        del program, own, site
        return None

    def shared_files(self, site: Site) -> Sequence[str]:
        """List those of its files that also hold settings for other projects."""
        del site
        return ()

    def further_files(self, site: Site) -> Sequence[str]:
        """List files that only `standing` reads."""
        del site
        return ()

    def notes(
        self, texts: Mapping[str, str | None], calls: "Sequence[HookCall]", site: Site
    ) -> Iterator[str]:
        """Yield notes for the user before agreeing."""
        del texts, calls, site
        yield from ()


def _runs_everywhere(document: Any, path: Path) -> bool:
    around = [
        found_at(document, path),
        *([found_at(document, path[:-2])] if path[-2:-1] == ("hooks",) else []),
    ]
    said = [
        cast("dict[str, Any]", each).get(key)
        for each in around
        if isinstance(each, dict)
        for key in _NARROWING
    ]
    return all(each in (None, "", "*", ".*") for each in said)


def commands_below(
    value: Any, path: Path, command: str = "command"
) -> Iterator[tuple[Path, Mapping[str, Any]]]:
    """Yield the tables that have a command, by the name of its key."""
    if isinstance(value, dict):
        table = cast("dict[str, Any]", value)
        if isinstance(table.get(command), str):
            yield path, table
            return
        for key, each in table.items():
            yield from commands_below(each, (*path, key), command)
    elif isinstance(value, list):
        for at, each in enumerate(cast("list[Any]", value)):
            yield from commands_below(each, (*path, at), command)


def lists_of(value: Any, path: Path) -> Iterator[tuple[Path, Mapping[str, Any]]]:
    """Yield the items of the outermost lists, each with the path of its list."""
    if isinstance(value, dict):
        for key, each in cast("dict[str, Any]", value).items():
            yield from lists_of(each, (*path, key))
    elif isinstance(value, list):
        for each in cast("list[Any]", value):
            yield path, each


def without(text: str, form: Format, path: Path, kept: Any, known: bool) -> str:
    """Remove the entry at this path; then its group, its event and `hooks`, if they are empty.

    `kept` is the content of the file before Hookline was installed, where that is known: it stays.
    """
    first = path.index("hooks") if "hooks" in path else 0
    if form == "toml" and path[-2:] == ("hooks", 0) and isinstance(path[-3:][0], int):
        hooks = found_at(read_value(text, form), path[:-1])
        # A TOML table has no empty list to leave: its group goes as a whole.
        path = path[:-2] if isinstance(hooks, list) and len(cast("list[Any]", hooks)) == 1 else path
    text = removed(text, form, path)
    for length in range(len(path) - 1, first, -1):
        outer, last = path[:length], path[length - 1]
        value = found_at(read_value(text, form), outer)
        if value == [] and length > 1 and isinstance(path[length - 2], int):
            continue  # the list of a group, which comes next
        group = isinstance(last, int) and isinstance(value, dict)
        empty = not cast("dict[str, Any]", value).get("hooks", True) if group else value in ([], {})
        if not empty or (known and not group and found_at(kept, outer) is not None):
            return text
        text = removed(text, form, outer)
    return text


#: Fields of entries and groups that limit when they apply.
_NARROWING = ("matcher", "match", "condition", "if")
_EMPTY: Mapping[Format, str] = {"json": "{}", "toml": "", "yaml": "{}"}


def _format(file: str) -> Format:
    return format_of(file) or "json"


@contextmanager
def located(file: str) -> Generator[None]:
    """Add the file to errors of an edit."""
    try:
        yield
    except EditError as problem:
        raise InstallError(f"{file}: {problem}; nothing was changed") from None
