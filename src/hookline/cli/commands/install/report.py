"""Print the changes of `hookline install` and `hookline uninstall`."""

import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from difflib import unified_diff
from typing import Any

from msgspec import Struct

from hookline.cli.commands.install.choose import BroughtHook
from hookline.cli.output import Colour, paint
from hookline.cli.text import count_of, json_lines, paragraph, pieces, with_tilde, with_tildes
from hookline.config.install.plan import InstallPlan, Step
from hookline.dialects.dialect import Dialect
from hookline.dialects.entries import HookSelection, IfMissing
from hookline.dialects.installer import Entry, InstallScope, Site
from hookline.journal.redaction import Redactor
from hookline.model.safe_text import one_line, spelled_out

_LONGEST = 500
_COLOURS: dict[str, Colour] = {"+": "green", "-": "red", "@": "cyan"}
_NOTHING = {"install": "already installed", "uninstall": "not installed"}
#: The scopes of an installation in words.
WHERE: dict[InstallScope, str] = {
    "user": "for you",
    "plugin": "as a plugin of yours",
    "project": "in this project",
    "managed": "for everybody on this machine",
}
_DONE: dict[Step, str] = {"install": "installed", "update": "updated", "remove": "removed", "nothing": ""}


class ChangedFile(Struct, frozen=True):
    """A file to change."""

    file: str
    #: Where the file is, if the agent's name for it is a link.
    link_to: str | None
    #: True if it is created; true if it is removed as a whole.
    made: bool
    removed: bool
    #: How many entries of ours it has, before and after.
    entries_before: int
    entries_after: int
    #: Of those after the change: how many were there as they are, and how many as others at their events.
    entries_same: int
    entries_updated: int
    #: A unified difference, without secrets that are recognised.
    diff: str


class AgentDocument(Struct, frozen=True):
    """One agent."""

    agent: str
    title: str
    scope: InstallScope
    #: The planned change, and True if it was made.
    step: Step
    done: bool = False
    files: tuple[ChangedFile, ...] = ()
    notes: tuple[str, ...] = ()
    #: The previous files.
    backups: tuple[str, ...] = ()
    problem: str | None = None


class Promise(Struct, frozen=True):
    """The user's choices."""

    #: Which hooks run in the agents: Hookline's own, or also those written for other agents.
    hooks: HookSelection
    #: Whether calls pass or are refused once Hookline is not installed any more.
    if_missing: IfMissing
    #: Hooks written for other agents, which run in these agents with `all` alone.
    others: tuple[BroughtHook, ...] = ()

    def lines(self) -> Iterator[str]:
        hooks = count_of(len(self.others), "hook")
        if self.hooks == "own":
            kept = f"; {hooks} written for other agents not (--hooks all)" if self.others else ""
            yield f"runs there: Hookline's own guards{kept}"
        else:
            yield "runs there: Hookline's own guards, and hooks written for other agents"
            yield from (f"  {each.line}" for each in self.others)
        then = "pass" if self.if_missing == "allow" else "are refused"
        yield f"if Hookline is removed without `hookline uninstall`: calls {then} (--if-missing)"


class InstallDocument(Struct, frozen=True):
    agents: tuple[AgentDocument, ...]
    #: Null for `uninstall`.
    promise: Promise | None = None

    def as_json(self) -> str:
        return json_lines(self)

    def as_text(self, width: int, command: str, *, diff: bool = False) -> str:
        lines = [line for each in self.agents for line in _lines(each, width, command, diff=diff)]
        changes = any(each.files for each in self.agents)
        return "\n".join([*lines, *(self.promise.lines() if self.promise is not None and changes else ())])

    def results(self) -> Iterator[str]:
        """Yield a line for each kind of change that was made, and the directory of the old files."""
        done = [each for each in self.agents if each.done]
        steps: list[Step] = [each.step for each in done]
        for step in dict.fromkeys(steps):
            yield f"{_DONE[step]}: {', '.join(each.title for each in done if each.step == step)}"
        for directory in {os.path.dirname(name) for each in done for name in each.backups}:
            yield one_line(f"the files as they were: {with_tilde(directory)}", _LONGEST)


def agent_document(dialect: Dialect, site: Site, plan: InstallPlan | None, problem: str) -> AgentDocument:
    if plan is None:
        return AgentDocument(dialect.name, dialect.title, site.scope, "nothing", problem=problem)
    redact = Redactor(os.environ).redact  # around our lines there may be those with keys
    files: list[ChangedFile] = []
    for each in plan.writes:
        before, after = (
            [entry for entry in entries if entry.file == each.file] for entries in (plan.own, plan.placed)
        )
        same = _common(before, after, lambda entry: entry.identity)
        changed = ChangedFile(
            file=each.file,
            link_to=each.real if plan.before[each.file].is_linked else None,
            made=each.before is None,
            removed=each.after is None,
            entries_before=len(before),
            entries_after=len(after),
            entries_same=same,
            entries_updated=_common(before, after, lambda entry: entry.event) - same,
            diff=redact(_difference(each.file, plan.before[each.file].text, plan.after.get(each.file))),
        )
        files.append(changed)
    return AgentDocument(
        dialect.name, dialect.title, site.scope, plan.step, files=tuple(files), notes=plan.notes
    )


def _common(before: Sequence[Entry], after: Sequence[Entry], key: Callable[[Entry], Any]) -> int:
    """Count the entries that are there both before and after."""
    return (Counter(map(key, before)) & Counter(map(key, after))).total()


def _difference(file: str, before: str | None, after: str | None) -> str:
    names = "/dev/null" if before is None else file, "/dev/null" if after is None else file
    old, new = (before or "").splitlines(keepends=True), (after or "").splitlines(keepends=True)
    lines = list(unified_diff(old, new, *names))
    return "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines
    )


def _lines(each: AgentDocument, width: int, command: str, *, diff: bool) -> Iterator[str]:
    if each.problem:
        yield f"{each.title}: {paint('cannot be done', 'red')}, see below"
        return
    if not each.files:
        yield f"{each.title}: {_NOTHING[command]} {WHERE[each.scope]}"
        return
    for file in each.files:
        yield one_line(f"{each.title}: {with_tilde(file.file)}: {_change(file)}", _LONGEST)
        yield from _diff_lines(file.diff, width) if diff else ()
    yield from (paragraph(f"  note: {with_tildes(note)}", width, "  ") for note in each.notes)


def _change(file: ChangedFile) -> str:
    if file.removed:
        return "the file is removed: Hookline made it"
    made = " (a new file)" if file.made else ""
    kept = file.entries_same + file.entries_updated
    counts = {
        "updated": file.entries_updated,
        "added": file.entries_after - kept,
        "removed": file.entries_before - kept,
    }
    if any(counts.values()):
        (done, number), *more = [(done, number) for done, number in counts.items() if number]
        rest = "".join(f", {number} {done}" for done, number in more)
        return f"{_entries(number)} {done}{rest}{made}"
    lines = file.diff.splitlines()[2:]
    more, less = (sum(line.startswith(sign) for line in lines) for sign in "+-")
    return f"{count_of(more, 'line')} added, {less} removed{made}"


def _entries(number: int) -> str:
    return "1 entry" if number == 1 else f"{number} entries"


def _diff_lines(diff: str, width: int) -> Iterator[str]:
    for line in diff.splitlines():
        colour = _COLOURS.get(line[:1])
        for piece in pieces(spelled_out(line.expandtabs(4)), max(width - 2, 20)):
            yield f"  {paint(piece, colour) if colour else piece}"
