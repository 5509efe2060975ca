"""What `hookline install` and `hookline uninstall` print."""

import os
from collections.abc import Iterator
from difflib import unified_diff

from msgspec import Struct

from hookline.cli.output import Colour, paint
from hookline.cli.text import json_lines, paragraph, pieces, with_tilde, with_tildes
from hookline.config.install.plan import Plan, Step
from hookline.dialects.dialect import Dialect
from hookline.dialects.installer import InstallScope, Site
from hookline.journal.redaction import Redactor
from hookline.model.safe_text import one_line, spelled_out

_LONGEST = 500
_COLOURS: dict[str, Colour] = {"+": "green", "-": "red", "@": "cyan"}
_NOTHING = {"install": "already installed", "uninstall": "not installed"}
_DONE: dict[Step, str] = {"install": "installed", "update": "updated", "remove": "removed", "nothing": ""}


class FileDocument(Struct, frozen=True):
    """A file that is to be changed."""

    file: str
    #: Where the file is, if the agent's name for it is a link.
    link_to: str | None
    #: Whether it is made, and whether it is removed as a whole.
    made: bool
    removed: bool
    #: A unified difference, without secrets that are recognised.
    diff: str


class AgentDocument(Struct, frozen=True):
    """One agent."""

    agent: str
    title: str
    scope: InstallScope
    #: What is to be done, and whether it was.
    step: Step
    done: bool = False
    files: tuple[FileDocument, ...] = ()
    notes: tuple[str, ...] = ()
    #: The files as they were.
    backups: tuple[str, ...] = ()
    problem: str | None = None


class InstallDocument(Struct, frozen=True):
    agents: tuple[AgentDocument, ...]

    def as_json(self) -> str:
        return json_lines(self)

    def as_text(self, width: int, command: str) -> str:
        return "\n".join("\n".join(_lines(each, width, command)) for each in self.agents)

    def results(self) -> Iterator[str]:
        """Lines for each agent that was served."""
        for each in self.agents:
            if each.done:
                files = ", ".join(with_tilde(one.file) for one in each.files)
                yield one_line(f"{_DONE[each.step]}: {each.title} ({files})", _LONGEST)
                yield from (f"  as it was: {one_line(with_tilde(name), _LONGEST)}" for name in each.backups)


def agent_document(dialect: Dialect, site: Site, plan: Plan | None, problem: str) -> AgentDocument:
    if plan is None:
        return AgentDocument(dialect.name, dialect.title, site.scope, "nothing", problem=problem)
    redact = Redactor(os.environ).redact  # around our lines there may be those with keys
    files = tuple(
        FileDocument(
            file=each.file,
            link_to=each.real if plan.before[each.file].is_linked else None,
            made=each.before is None,
            removed=each.after is None,
            diff=redact(_difference(each.file, plan.before[each.file].text, plan.after.get(each.file))),
        )
        for each in plan.writes
    )
    return AgentDocument(dialect.name, dialect.title, site.scope, plan.step, files=files, notes=plan.notes)


def _difference(file: str, before: str | None, after: str | None) -> str:
    names = "/dev/null" if before is None else file, "/dev/null" if after is None else file
    old, new = (before or "").splitlines(keepends=True), (after or "").splitlines(keepends=True)
    lines = list(unified_diff(old, new, *names))
    return "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines
    )


def _lines(each: AgentDocument, width: int, command: str) -> Iterator[str]:
    if each.problem:
        yield f"{each.title}: {paint('cannot be done', 'red')}, see below"
        return
    where = "in this project" if each.scope == "project" else "for you"
    if not each.files:
        yield f"{each.title}: {_NOTHING[command]} {where}"
        return
    yield paint(f"{each.title}, {where}:", "bold")
    for file in each.files:
        yield from _diff_lines(file.diff, width)
    yield from (paragraph(f"note: {with_tildes(note)}", width) for note in each.notes)


def _diff_lines(diff: str, width: int) -> Iterator[str]:
    for line in diff.splitlines():
        colour = _COLOURS.get(line[:1])
        for piece in pieces(spelled_out(line.expandtabs(4)), max(width - 2, 20)):
            yield f"  {paint(piece, colour) if colour else piece}"
