"""Read a file, plan what its hooks mean in another agent, and print or write that agent's file."""

import argparse
import os
import re
from collections.abc import Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from hookline.cli.commands.convert.plan import ConvertedEntry, Planner
from hookline.cli.commands.install.run import agents_named
from hookline.cli.engines import inspection_engine, require_files
from hookline.cli.output import ExitStatus, note, show
from hookline.cli.requests import RequestError
from hookline.cli.text import count_of, json_lines, paragraph, relative_to, terminal_width, with_tilde
from hookline.config.engine import Engine
from hookline.config.install.files import Snapshot, refuse_unwritable
from hookline.config.install.files import replace as replace_file
from hookline.config.install.plan import further, installer_of, look, with_calls
from hookline.config.install.self_calls import entry_call
from hookline.config.load import layer_of
from hookline.dialects.dialect import ConfigPath, Dialect
from hookline.dialects.entries import HookCall
from hookline.dialects.installer import Entry, Site, Standing, Texts
from hookline.dialects.registry import OWN_FORMAT, standard_dialects
from hookline.documents.document import format_of, read_document
from hookline.model.safe_text import one_line
from hookline.trust.project import project_root

_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
_LONGEST = 500


class ConvertDocument(Struct, frozen=True, kw_only=True):
    file: str
    source: str
    target: str
    #: The other agent's file.
    target_file: str
    entries: tuple[ConvertedEntry, ...]
    wrapped: int
    lost: int
    #: Whether the agent will run the entries once they are written, judging by files, and why.
    trusted_by_agent: Standing | None = None
    agent_says: str | None = None
    #: Further notes about the file.
    notes: tuple[str, ...] = ()
    #: Files that were written.
    written: tuple[str, ...] = ()

    def as_json(self) -> str:
        return json_lines(self)

    def as_text(self, width: int, cwd: str) -> str:
        return "\n".join(self._lines(width, cwd))

    def _lines(self, width: int, cwd: str) -> Iterator[str]:
        for each in self.entries:
            to = f" -> {', '.join(each.to)}" if each.to else ""
            lost = ": lost" if each.how == "lost" else ""
            title = f"{_shown(each.source, cwd)}: {each.event}{to}, {each.hook}{lost}"
            yield paragraph(one_line(title, _LONGEST), width)
            for text in (*each.why, *each.notes):
                yield paragraph(one_line(text, _LONGEST), width, "    ")
        yield f"{count_of(len(self.entries), 'hook')}: {self.wrapped} run by Hookline, {self.lost} lost"
        for file in self.written:
            yield f"written: {_shown(file, cwd)}"
        for text in self.notes:
            yield paragraph(one_line(text, _LONGEST), width)
        if self.trusted_by_agent not in (None, "trusted"):
            will = "will not run them" if self.trusted_by_agent == "untrusted" else "may not run them yet"
            yield paragraph(one_line(f"{self.target} {will}: {self.agent_says}", _LONGEST), width)


def _shown(file: str, cwd: str) -> str:
    return with_tilde(relative_to(cwd, file))


class Conversion(Struct, frozen=True):
    """The other agent's files, before and after; the first one has the entries."""

    file: str
    before: dict[str, Snapshot]
    after: Texts
    #: The entries for this conversion.
    own: tuple[Entry, ...]

    def write(self) -> tuple[str, ...]:
        """Write each file that changes, as a whole or not at all."""
        changed = [file for file, text in self.after.items() if self.before[file].text != text]
        for file in changed:
            refuse_unwritable(self.before[file])
        for file in changed:
            replace_file(self.before[file], (self.after[file] or "").encode())
        return tuple(changed)


def run(args: argparse.Namespace) -> ExitStatus:
    engine, file = inspection_engine(), os.path.abspath(args.words[0])
    require_files(engine, args.words)
    source = _source(engine, args.source or engine.loader.whose(file), args.words[0])
    (target,) = agents_named([args.to])
    if not standard_dialects()[target.name].has_files:
        instead = f"hookline install {target.name} --hooks all"
        raise RequestError(
            f"{target.title} has no file with hooks; `{instead}` runs those of other agents there"
        )
    if source.name == target.name:
        raise RequestError(f"{args.words[0]} is already a file of {source.title}")
    document = layer_of(source, ConfigPath(file, "flag")).document
    if not isinstance(document.value, dict):
        problems = "; ".join(map(str, document.diagnostics))
        raise RequestError(problems or f"{args.words[0]} is not an object with hooks")
    site = replace(_site(source, file), trusts_project=args.trust)
    planner = Planner(engine.loader, file, source, target)
    entries, calls = planner.entries(), planner.calls()
    conversion = _conversion(target, site, calls, file, trust=args.trust)
    entries = _with_limits(engine, entries, calls, conversion, target)
    report = _report(file, source, target, entries, calls, conversion, site)
    if args.write:
        report = replace(report, written=conversion.write())
    _show(report, conversion, args)
    return ExitStatus.PROBLEM if report.lost else ExitStatus.OK


def _source(engine: Engine, name: str, file: str) -> Dialect:
    known = [name for name, listed in standard_dialects().items() if listed.has_files and name != OWN_FORMAT]
    if name not in known:
        raise RequestError(
            f"{file} is not known as a file of {', '.join(known)}: say whose it is with --from"
        )
    return engine.loader.dialect(name)


def _site(source: Dialect, file: str) -> Site:
    """Return the scope of the file: the user, or the project that it is in."""
    real = os.path.realpath(file)
    users = [
        os.path.realpath(each.file) for each in source.config_paths("", os.environ) if each.scope == "user"
    ]
    if real in users:
        return Site("user", project_root(os.getcwd()), os.environ)
    for name in source.project_files:
        if file.endswith(f"/{name}"):
            return Site("project", file.removesuffix(f"/{name}") or "/", os.environ)
    return Site("project", project_root(os.path.dirname(file)), os.environ)


def _conversion(
    target: Dialect, site: Site, calls: Sequence[HookCall], config: str, *, trust: bool
) -> Conversion:
    """Return the target's files with these calls instead of earlier ones for the same file. Nothing is written."""
    installer, before = installer_of(target), look(target, site)
    texts: Texts = {file: each.text for file, each in before.items()}

    def is_own(entry: Entry) -> bool:
        call = entry_call(entry.command)
        return call is not None and ("--config", config) in zip(
            call.arguments, call.arguments[1:], strict=False
        )

    changed = with_calls(installer, site, texts, calls, is_own, {})
    after = installer.trusted(changed.after, changed.placed, site) if trust else changed.after
    return Conversion(installer.files(site)[0], before, after, tuple(changed.placed))


def _with_limits(
    engine: Engine,
    entries: Sequence[ConvertedEntry],
    calls: Sequence[HookCall],
    conversion: Conversion,
    target: Dialect,
) -> list[ConvertedEntry]:
    """Add a note to each entry where the target waits less for Hookline than the hooks may take."""
    form, text = format_of(conversion.file) or "json", conversion.after[conversion.file] or ""
    document = read_document(text or "{}", form, conversion.file, comments=target.json_comments)
    loaded = engine.loader.document(document, name=target.name)
    own = {entry.path for entry in conversion.own}
    waits = {hook.policy.event_name: hook.timeout for hook in loaded.hooks if hook.where.path in own}
    less = {
        each.event: waits[each.event] for each in calls if waits.get(each.event, each.seconds) < each.seconds
    }
    return [
        replace(
            entry,
            notes=(
                *entry.notes,
                *(
                    f"{target.title} waits at most {less[name]:g} s at {name}"
                    for name in entry.to
                    if name in less
                ),
            ),
        )
        for entry in entries
    ]


def _report(
    file: str,
    source: Dialect,
    target: Dialect,
    entries: Sequence[ConvertedEntry],
    calls: Sequence[HookCall],
    conversion: Conversion,
    site: Site,
) -> ConvertDocument:
    lost = sum(each.how == "lost" for each in entries)
    installer = installer_of(target)
    texts = further(installer, site, conversion.after)
    standing, why = installer.standing(texts, conversion.own, site) if calls else (None, None)
    before = further(installer, site, {each.file: each.text for each in conversion.before.values()})
    return ConvertDocument(
        file=file,
        source=source.name,
        target=target.name,
        target_file=conversion.file,
        entries=tuple(entries),
        wrapped=len(entries) - lost,
        lost=lost,
        trusted_by_agent=standing,
        agent_says=why,
        notes=tuple(installer.notes(before, calls, site)) if calls else (),
    )


def _show(report: ConvertDocument, conversion: Conversion, args: argparse.Namespace) -> None:
    if args.json:
        show(report.as_json(), as_json=True)
    elif args.report or args.write:
        show(report.as_text(terminal_width(), os.getcwd()))
    else:
        # Only comments may hold control characters that the format does not escape.
        text = _CONTROLS.sub("?", (conversion.after[conversion.file] or "").rstrip("\n"))
        show(text, as_json=True)
        note(report.as_text(terminal_width(), os.getcwd()))
