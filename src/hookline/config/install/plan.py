"""What installing Hookline into an agent would change, and what taking it out again would."""

import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Literal

from msgspec import Struct

from hookline.config.install.files import Snapshot, refuse_unwritable, snapshot
from hookline.config.install.records import Record, Records, Write, digest, write_for
from hookline.dialects.dialect import Dialect
from hookline.dialects.install import HookCall
from hookline.dialects.installer import Entry, Installer, InstallError, Site, Texts
from hookline.documents.document import format_of, read_document

#: Whether an entry does nothing but ask Hookline.
IsOwn = Callable[[Entry], bool]
#: What is to be done.
Step = Literal["install", "update", "nothing", "remove"]


class Plan(Struct, frozen=True):
    """One agent in one scope."""

    dialect: Dialect
    site: Site
    step: Step
    #: The files, as they are and as they are to be.
    before: Mapping[str, Snapshot]
    after: Texts
    writes: tuple[Write, ...] = ()
    notes: tuple[str, ...] = ()
    #: Our entries as they are now.
    own: tuple[Entry, ...] = ()


def installer_of(dialect: Dialect) -> Installer:
    found = dialect.installer
    if found is None:
        raise InstallError(f"{dialect.title} has no files of its own to install into")
    return found


def is_there(dialect: Dialect, site: Site) -> list[str]:
    """What shows that the agent is used: its programs in PATH, else its folders."""
    installer = installer_of(dialect)
    try:
        installer.files(site)
    except InstallError:  # there is nothing to write into
        return []
    return [
        *programs_in_path(installer, site),
        *(sign for sign in installer.signs(site) if os.path.exists(sign)),
    ]


def programs_in_path(installer: Installer, site: Site) -> list[str]:
    """Each program once, however many links lead to it."""
    folders = [each for each in site.env.get("PATH", "").split(os.pathsep) if os.path.isabs(each)]
    found = [os.path.join(folder, name) for name in installer.programs for folder in folders]
    there = [each for each in found if os.path.isfile(each) and os.access(each, os.X_OK)]
    return list({os.path.realpath(each): each for each in reversed(there)}.values())[::-1]


def look(dialect: Dialect, site: Site) -> dict[str, Snapshot]:
    """The agent's files as they are. In a project nothing may lead out of it."""
    installer = installer_of(dialect)
    found: dict[str, Snapshot] = {}
    for file in installer.files(site):
        of_project = site.scope == "project" and file.startswith(f"{site.project.rstrip('/')}/")
        found[file] = snapshot(file, site.project if of_project else None)
    return found


def further(installer: Installer, site: Site, texts: Texts) -> Texts:
    """Also the files that the agent is only asked about. What cannot be read counts as not there."""
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
    #: Our entries, as they were and as they are to be.
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
    """Put calls of Hookline into an agent's files, in place of those that are ours."""
    own = [entry for entry in installer.entries(texts, site) if is_own(entry)]
    wanted = installer.wanted(calls, texts, site) if calls else []
    without = installer.removed(texts, own, originals) if own else texts
    as_wanted = Counter(each.identity for each in own) == Counter(each.identity for each in wanted)
    after = texts if as_wanted else installer.added(without, calls, site) if calls else without
    placed = [entry for entry in installer.entries(after, site) if is_own(entry)]
    return WithCalls(after, without, own, placed)


def plan_install(
    dialect: Dialect, site: Site, calls: Sequence[HookCall], is_own: IsOwn, records: Records
) -> Plan:
    installer, before = installer_of(dialect), look(dialect, site)
    texts: Texts = {file: each.text for file, each in before.items()}
    changed_texts = with_calls(installer, site, texts, calls, is_own, _originals(records, before))
    own, without = changed_texts.own, changed_texts.without
    after = installer.trusted(changed_texts.after, changed_texts.placed, site)
    changed = [file for file in before if after.get(file) != texts.get(file)]
    notes: list[str] = []
    if changed:
        notes = [
            *_remarks(dialect, site, before),
            *_elsewhere(dialect, site, is_own),
            *installer.notes(further(installer, site, texts), calls, site),
        ]
    writes: list[Write] = []
    for file in changed:
        refuse_unwritable(before[file])
        known = records.read(file)
        untouched = known is not None and known.written == digest(before[file].content)
        original = known.original if known and untouched else _encoded(without.get(file))
        facts = {"agent": dialect.name, "scope": site.scope}
        writes.append(write_for(before[file], after.get(file), original, known, facts))
    step: Step = "nothing" if not changed else "update" if own else "install"
    return Plan(dialect, site, step, before, after, tuple(writes), tuple(notes), tuple(own))


def plan_uninstall(dialect: Dialect, site: Site, is_own: IsOwn, records: Records) -> Plan:
    installer, before = installer_of(dialect), look(dialect, site)
    texts: Texts = {file: each.text for file, each in before.items()}
    own = [entry for entry in installer.entries(texts, site) if is_own(entry)]
    after = installer.removed(texts, own, _originals(records, before)) if own else dict(texts)
    writes: list[Write] = []
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
            folders = known.folders if known is not None else ()
            writes.append(Write(file, snap.real, snap.content, _encoded(after[file]), None, folders))
    step: Step = "remove" if writes else "nothing"
    notes = tuple(_remarks(dialect, site, before)) if writes else ()
    return Plan(dialect, site, step, before, after, tuple(writes), notes, tuple(own))


def _restored(
    file: str, after: str | None, now: Snapshot, known: Record | None, untouched: bool
) -> str | None:
    """The file as it was, byte for byte, if nobody else has changed it; and gone if we made it and it says nothing.

    `untouched`: none of the agent's files was changed, and this one is of this place alone. Otherwise, what one of them
    says must fit the others.
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


def _originals(records: Records, before: Mapping[str, Snapshot]) -> Texts:
    found = {file: records.read(file) for file in before}
    return {
        file: None if known.original is None else known.original.decode("utf-8", "replace")
        for file, known in found.items()
        if known is not None
    }


def _encoded(text: str | None) -> bytes | None:
    return None if text is None else text.encode()


def _elsewhere(dialect: Dialect, site: Site, is_own: IsOwn) -> list[str]:
    """Where the agent asks already: with both, each call starts Hookline twice, though hooks run once."""
    other = Site("user" if site.scope == "project" else "project", site.project, site.env)
    try:
        texts: Texts = {file: each.text for file, each in look(dialect, other).items()}
        found = next(entry for entry in installer_of(dialect).entries(texts, other) if is_own(entry))
    except (InstallError, StopIteration):
        return []
    return [f"{found.file} asks Hookline too: each call will start it twice, and hooks run once"]


def _remarks(dialect: Dialect, site: Site, before: Mapping[str, Snapshot]) -> list[str]:
    said = [f"{each.file} is a link: {each.real} is changed" for each in before.values() if each.is_linked]
    programs = programs_in_path(installer_of(dialect), site)
    if len(programs) > 1:
        said.append(
            f"{dialect.title} is installed more than once ({', '.join(programs)}): all of them read these files"
        )
    return said
