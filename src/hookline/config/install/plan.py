"""Plan the changes of installing Hookline into an agent, and of removing it."""

import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Literal, get_args

from msgspec import Struct

from hookline.config.install.files import Snapshot, refuse_unwritable, snapshot
from hookline.config.install.records import FileWrite, InstallRecords, Record, digest, write_for
from hookline.config.install.self_calls import plain_program
from hookline.config.install.shell import is_own_shell, shell_in, with_shell, without_shell
from hookline.dialects.dialect import Dialect
from hookline.dialects.entries import HookCall
from hookline.dialects.installer import Entry, Installer, InstallError, InstallScope, Site, Texts
from hookline.documents.document import format_of, read_document

#: Returns True if an entry does nothing but call Hookline.
IsOwn = Callable[[Entry], bool]
#: The next step.
Step = Literal["install", "update", "nothing", "remove"]


class InstallPlan(Struct, frozen=True):
    """One agent in one scope."""

    dialect: Dialect
    site: Site
    step: Step
    #: The files before and after the change.
    before: Mapping[str, Snapshot]
    after: Texts
    writes: tuple[FileWrite, ...] = ()
    notes: tuple[str, ...] = ()
    #: Our entries, before and after.
    own: tuple[Entry, ...] = ()
    placed: tuple[Entry, ...] = ()


def installer_of(dialect: Dialect) -> Installer:
    found = dialect.installer
    if found is None:
        raise InstallError(f"{dialect.title} has no files to install into")
    return found


def is_there(dialect: Dialect, site: Site) -> list[str]:
    """Return signs that the agent is used: its programs in PATH, else its directories."""
    installer = installer_of(dialect)
    try:
        installer.files(site)
    except InstallError:  # there is nothing to write into
        return []
    return [
        *dialect.listed.programs_in_path(site.env),
        *(sign for sign in installer.signs(site) if os.path.exists(sign)),
    ]


def installed_entries(dialect: Dialect, site: Site) -> list[Entry]:
    """Return the entries of ours in the agent's files. Raises InstallError for files that cannot be read."""
    texts = {file: each.text for file, each in look(dialect, site).items()}
    is_own = own_entries(dialect)
    return [entry for entry in installer_of(dialect).entries(texts, site) if is_own(entry)]


def own_entries(dialect: Dialect) -> IsOwn:
    """Return a test for entries that `hookline install` or `hookline hook --print-config` wrote."""

    def is_own(entry: Entry) -> bool:
        own = plain_program(entry.command, dialect.name) is not None
        return own and entry.everywhere and "args" not in entry.value

    return is_own


def look(dialect: Dialect, site: Site) -> dict[str, Snapshot]:
    """Read the agent's files. In a project nothing may lead out of it."""
    installer = installer_of(dialect)
    found: dict[str, Snapshot] = {}
    for file in installer.files(site):
        of_project = site.scope == "project" and file.startswith(f"{site.project.rstrip('/')}/")
        found[file] = snapshot(file, site.project if of_project else None)
    return found


def further(installer: Installer, site: Site, texts: Texts) -> Texts:
    """Add files that are only read to judge the agent. An unreadable file is treated as missing."""
    found = dict(texts)
    for file in installer.further_files(site):
        if file not in found:
            try:
                found[file] = snapshot(file).text
            except InstallError:
                found[file] = None
    return found


class WithCalls(Struct, frozen=True):
    """The agent's files with the entries that it should have."""

    after: Texts
    #: Without any entry of ours.
    without: Texts
    #: Our entries, before and after.
    own: Sequence[Entry]
    placed: Sequence[Entry]


def with_calls(
    installer: Installer,
    site: Site,
    texts: Texts,
    calls: Sequence[HookCall],
    is_own: IsOwn,
    originals: Mapping[str, str | None],
) -> WithCalls:
    """Put calls of Hookline into an agent's files, instead of the existing ones of ours."""
    own = [entry for entry in installer.entries(texts, site) if is_own(entry)]
    wanted = installer.wanted(calls, texts, site) if calls else []
    without = installer.removed(texts, own, originals) if own else texts
    as_wanted = Counter(each.identity for each in own) == Counter(each.identity for each in wanted)
    after = texts if as_wanted else installer.added(without, calls, site) if calls else without
    placed = [entry for entry in installer.entries(after, site) if is_own(entry)]
    return WithCalls(after, without, own, placed)


def has_shell(dialect: Dialect, site: Site) -> bool:
    """Return True if the agent's shell is one of Hookline's already."""
    return any(is_own_shell(shell_in(dialect, file, each.text)) for file, each in look(dialect, site).items())


def plan_install(
    dialect: Dialect,
    site: Site,
    calls: Sequence[HookCall],
    is_own: IsOwn,
    records: InstallRecords,
    shell: str = "",
) -> InstallPlan:
    """Plan the entries for these calls, and the shell that the agent should have, if it is named."""
    installer, before = installer_of(dialect), look(dialect, site)
    texts: Texts = {file: each.text for file, each in before.items()}
    originals = _originals(records, before)
    changed_texts = with_calls(installer, site, texts, calls, is_own, originals)
    own, without = changed_texts.own, without_shell(dialect, changed_texts.without, originals)
    after = installer.trusted(changed_texts.after, changed_texts.placed, site)
    if shell:
        file = next(iter(before))
        after[file] = with_shell(dialect, file, after[file], shell)
    changed = [file for file in before if after.get(file) != texts.get(file)]
    notes: list[str] = []
    if changed:
        notes = [
            *_remarks(dialect, site, before),
            *_elsewhere(dialect, site, is_own),
            *installer.notes(further(installer, site, texts), calls, site),
        ]
    writes: list[FileWrite] = []
    for file in changed:
        refuse_unwritable(before[file])
        known = records.read(file)
        untouched = known is not None and known.written == digest(before[file].content)
        original = known.original if known and untouched else _encoded(without.get(file))
        facts = {"agent": dialect.name, "scope": site.scope}
        writes.append(write_for(before[file], after.get(file), original, known, facts))
    step: Step = "nothing" if not changed else "update" if own else "install"
    return InstallPlan(
        dialect,
        site,
        step,
        before,
        after,
        tuple(writes),
        tuple(notes),
        tuple(own),
        tuple(changed_texts.placed),
    )


def plan_uninstall(dialect: Dialect, site: Site, is_own: IsOwn, records: InstallRecords) -> InstallPlan:
    installer, before = installer_of(dialect), look(dialect, site)
    texts: Texts = {file: each.text for file, each in before.items()}
    own = [entry for entry in installer.entries(texts, site) if is_own(entry)]
    originals = _originals(records, before)
    after = installer.removed(texts, own, originals) if own else dict(texts)
    after = without_shell(dialect, after, originals)
    writes: list[FileWrite] = []
    found = {file: records.read(file) for file in before}
    untouched = all(
        known is None or known.written == digest(before[file].content) for file, known in found.items()
    )
    for file, snap in before.items():
        known = found[file]
        alone = untouched and file not in installer.shared_files(site)
        after[file] = _restored(file, after.get(file), snap, known, alone)
        if after[file] != texts[file]:
            refuse_unwritable(snap)
            directories = known.directories if known is not None else ()
            writes.append(FileWrite(file, snap.real, snap.content, _encoded(after[file]), None, directories))
    step: Step = "remove" if writes else "nothing"
    notes = tuple(_remarks(dialect, site, before)) if writes else ()
    return InstallPlan(dialect, site, step, before, after, tuple(writes), notes, tuple(own))


def _restored(
    file: str, after: str | None, now: Snapshot, known: Record | None, untouched: bool
) -> str | None:
    """Return the former file, byte for byte, if only we have changed it; None if we made it and it is empty.

    `untouched`: none of the agent's files was changed, and this one belongs to this project alone. Otherwise
    the files must stay consistent with each other.
    """
    if known is None:
        return after
    if known.original is None:
        return None if untouched or "".join((after or "").split()) in ("", "{}") else after
    original = known.original.decode()
    same = _meaning(file, original) == _meaning(file, after)
    return original if untouched or (same and known.written == digest(now.content)) else after


def _meaning(file: str, text: str | None) -> object:
    value = read_document(text or "", format_of(file) or "json", file, comments=True).value if text else None
    return value or None


def _originals(records: InstallRecords, before: Mapping[str, Snapshot]) -> Texts:
    found = {file: records.read(file) for file in before}
    return {
        file: None if known.original is None else known.original.decode("utf-8", "replace")
        for file, known in found.items()
        if known is not None
    }


def _encoded(text: str | None) -> bytes | None:
    return None if text is None else text.encode()


def _elsewhere(dialect: Dialect, site: Site, is_own: IsOwn) -> list[str]:
    """Return files where the agent calls Hookline already: with both, each call starts Hookline twice."""
    notes: list[str] = []
    for scope in get_args(InstallScope):
        other = Site(scope, site.project, site.env)
        try:
            texts: Texts = {file: each.text for file, each in look(dialect, other).items()}
            found = next(entry for entry in installer_of(dialect).entries(texts, other) if is_own(entry))
        except (InstallError, StopIteration):
            continue
        if scope != site.scope:
            notes.append(
                f"{found.file} calls Hookline too: each call will start it twice, and hooks run once"
            )
    return notes


def _remarks(dialect: Dialect, site: Site, before: Mapping[str, Snapshot]) -> list[str]:
    said = [f"{each.file} is a link: {each.real} is changed" for each in before.values() if each.is_linked]
    programs = dialect.listed.programs_in_path(site.env)
    if len(programs) > 1:
        said.append(
            f"{dialect.title} is installed more than once ({', '.join(programs)}): all of them read these files"
        )
    return said
