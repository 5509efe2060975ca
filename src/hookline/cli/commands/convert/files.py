"""The files that a conversion makes: the other agent's, and the one with the entries that Hookline runs there."""

import json
import os
from collections.abc import Mapping, Sequence
from typing import Any, cast

from msgspec import Struct

from hookline.cli.commands.convert.plan import Planned
from hookline.cli.commands.hook.run import hook_command, pinned_program
from hookline.config.install.files import Snapshot, refuse_unwritable, replace, snapshot
from hookline.dialects.dialect import Dialect
from hookline.dialects.install import HookCall
from hookline.dialects.installer import Entry, InstallError, Site, commands_below, lists_of, located
from hookline.documents.document import read_document
from hookline.documents.edit import appended, replaced
from hookline.model.diagnostics import Path

#: Below the other agent's folder: files of agents whose entries Hookline runs, as those agents have them.
_FOLDER = "hookline"


class Conversion(Struct, frozen=True):
    """What is to be in which file."""

    #: The other agent's file.
    file: str
    #: The file with what is wrapped; it is made only if something is.
    wrapped_file: str
    before: Mapping[str, Snapshot]
    after: Mapping[str, str]

    @property
    def changed(self) -> list[str]:
        return [file for file, text in self.after.items() if self.before[file].text != text]


def convert_files(
    planned: Sequence[Planned], source: Dialect, original: str, target: Dialect, site: Site, *, trust: bool
) -> Conversion:
    """The files as they are to be; nothing is written. Raises InstallError where a file cannot be changed.

    `original` is the source's file.
    """
    file = _target_file(target, site)
    folder = os.path.dirname(file)
    wrapped_file = os.path.join(folder, _FOLDER, _kept_name(source, original, site))
    inside = site.project if site.scope == "project" else None
    before = {each: snapshot(each, inside) for each in (file, wrapped_file)}
    wrapped = [each for each in planned if each.how == "wrapped"]
    additions = [
        (
            ("hooks", group.event),
            {**({} if group.matcher is None else {"matcher": group.matcher}), "hooks": [group.entry]},
        )
        for each in planned
        for group in each.groups
    ]
    additions += _calls(wrapped, target, wrapped_file)
    text, new = _added(before[file].text or "", additions, file, target)
    after = {file: text}
    if wrapped:
        after[wrapped_file] = (
            json.dumps({"hooks": _source_hooks(wrapped)}, indent=2, ensure_ascii=False) + "\n"
        )
    if trust:
        trusted, more = _trusted(target, site, file, after, new)
        after |= trusted
        before |= more
    return Conversion(file, wrapped_file, {each: before[each] for each in after}, after)


def write_files(conversion: Conversion) -> list[str]:
    """Each file as a whole or not at all; what Hookline runs comes before what asks it to."""
    changed = sorted(conversion.changed, key=lambda each: each == conversion.file)
    for file in changed:
        refuse_unwritable(conversion.before[file])
    for file in changed:
        replace(conversion.before[file], conversion.after[file].encode())
    return changed


def _target_file(target: Dialect, site: Site) -> str:
    if site.scope == "project":
        return os.path.join(site.project, target.project_files[0])
    names = [os.path.basename(each) for each in target.project_files]
    places = [each.file for each in target.places("", site.env) if each.scope == "user"]
    found = next((each for name in names for each in places if os.path.basename(each) == name), None)
    if found is None:
        raise InstallError("you have no home directory: set HOME")
    return found


def _kept_name(source: Dialect, original: str, site: Site) -> str:
    """A name for each file of the source, by which it is known as one of the source's in JSON."""
    if site.scope == "project":
        own = next((each for each in source.project_files if original.endswith(f"/{each}")), None)
        name = own or os.path.relpath(os.path.realpath(original), os.path.realpath(site.project))
    else:
        name = os.path.basename(original)
        name = next((each for each in source.project_files if os.path.basename(each) == name), name)
    if name in source.project_files and name.endswith(".json"):
        return name
    # A link may lead out of the project; what is kept stays in its folder.
    return os.path.join(name.replace("../", ""), source.project_files[0])


def _calls(wrapped: Sequence[Planned], target: Dialect, file: str) -> list[tuple[Path, Mapping[str, Any]]]:
    """One call of Hookline for each event."""
    events = dict.fromkeys(name for each in wrapped for name in each.to)
    program = pinned_program()
    calls = [
        HookCall(
            event,
            hook_command(program, target, event, file),
            int(max(each.seconds for each in wrapped if event in each.to)),
            any(each.guards for each in wrapped if event in each.to),
        )
        for event in events
    ]
    return list(lists_of(read_document(target.call_entries(calls), "json", "").value, ())) if calls else []


def _source_hooks(wrapped: Sequence[Planned]) -> dict[str, list[dict[str, Any]]]:
    """The entries as they were, in the form of their own agent."""
    found: dict[str, list[dict[str, Any]]] = {}
    for each in wrapped:
        found.setdefault(each.event, []).append({**each.group, "hooks": [dict(each.source)]})
    return found


def _added(
    text: str, additions: Sequence[tuple[Path, Mapping[str, Any]]], file: str, target: Dialect
) -> tuple[str, list[Mapping[str, Any]]]:
    """With the groups that are not there yet, last in their lists; and the entries of all of them."""
    document = read_document(text or "{}", "json", file, comments=target.json_comments)
    if document.value is None:
        raise InstallError(f"{document.diagnostics[0]}; nothing was changed")
    there: dict[Path, list[Any]] = {}
    for path, group in lists_of(document.value, ()):
        there.setdefault(path, []).append(group)
    entries: list[Mapping[str, Any]] = []
    with located(file):
        for path, group in additions:
            entries += [entry for _path, entry in commands_below(group, ())]
            known = there.setdefault(path, [])
            if group in known:
                continue
            before = next((at for at, each in enumerate(known) if _calls_the_same(each, group)), None)
            if before is None:
                text = appended(text, "json", path, group)
                known.append(group)
            else:
                text = replaced(text, "json", (*path, before), group)
                known[before] = group
    return text if text.endswith("\n") or not text else f"{text}\n", entries


def _calls_the_same(first: Any, second: Any) -> bool:
    """Whether two groups differ in how long they are waited for, and in nothing else."""
    return _without_timeouts(first) == _without_timeouts(second)


def _without_timeouts(value: Any) -> Any:
    if isinstance(value, dict):
        table = cast("dict[str, Any]", value)
        return {key: _without_timeouts(each) for key, each in table.items() if key != "timeout"}
    return (
        [_without_timeouts(each) for each in cast("list[Any]", value)] if isinstance(value, list) else value
    )


def _trusted(
    target: Dialect, site: Site, file: str, after: Mapping[str, str], new: Sequence[Mapping[str, Any]]
) -> tuple[dict[str, str], dict[str, Snapshot]]:
    """Files of the user with which the agent runs the entries without asking."""
    installer = target.installer
    if installer is None or installer.files(site)[0] != file:
        return {}, {}
    more = {each: snapshot(each) for each in installer.files(site)[1:]}
    texts = {file: after[file], **{each: found.text for each, found in more.items()}}
    value = installer.document(file, after[file]).value
    own = [Entry(file, path, entry) for path, entry in installer.commands(value) if entry in new]
    result = installer.trusted(texts, own, site)
    return {each: text for each in more if (text := result[each]) is not None}, more
