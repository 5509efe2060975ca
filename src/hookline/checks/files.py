"""Files with hooks that no agent reads, misspelled keys, event names of other agents, files that need trust."""

import os
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, cast

from msgspec.structs import replace

from hookline.checks.context import CheckContext, entries
from hookline.config.dormant import Dormant
from hookline.config.load import Loaded, Loader
from hookline.dialects.dialect import Dialect, upward
from hookline.dialects.files import read_file
from hookline.dialects.report import about
from hookline.documents.document import Document
from hookline.matching.nearest import nearest
from hookline.model.diagnostics import Diagnostic, Where
from hookline.trust.items import TrustItem
from hookline.trust.trust import Trust, only_tightens

_UNKNOWN_EVENT: Final = re.compile(r"no event is called '([A-Za-z_]{1,80})'")
_STEMS: Final = ("hooks", "hook", "settings", "setting", "config", "hooks.local", "settings.local")
_SUFFIXES: Final = ("json", "jsonc", "json5", "toml", "yaml", "yml")


def unread_files(loaded: Loaded, context: CheckContext) -> Iterator[Diagnostic]:
    """Files with hooks next to those that an agent reads, but under another name."""
    read = {found.file for found in loaded.found} | {one.where.file for one in loaded.diagnostics}
    looked_into = {os.path.dirname(file) for file in loaded.looked_for}
    for directory in upward(context.cwd):
        for dialect in (context.loader.dialect(name) for name in context.loader.names):
            beside = os.path.join(directory, dialect.folder)
            for file in _suspects(beside) if dialect.folder and beside in looked_into else ():
                if file not in read and file not in loaded.looked_for and _has_hooks(file):
                    message = f"{dialect.title} does not read a file of this name, so its hooks never run"
                    fix = f"put them into {dialect.project_files[0]}"
                    yield Diagnostic("error", "unread-file", message, read_file(file).where(), fix=fix)


def _suspects(folder: str) -> Iterator[str]:
    # The last one is where a plugin has its hooks.
    names = [*(f"{stem}.{suffix}" for stem in _STEMS for suffix in _SUFFIXES), "hooks/hooks.json"]
    yield from filter(os.path.isfile, (os.path.join(folder, name) for name in names))


def _has_hooks(file: str) -> bool:
    """Whether it was meant for hooks: something is under `hooks`, or it is not a readable document."""
    value = _table(read_file(file, "json" if file.endswith(("jsonc", "json5")) else None))
    return value is None or bool(value.get("hooks"))


def misspelled_keys(loaded: Loaded, context: CheckContext) -> Iterator[Diagnostic]:
    """`hook` or `Hooks` in place of `hooks`: to an agent that is an unknown setting."""
    for found in loaded.found:
        if found.unreadable:
            continue
        document = read_file(found.file, comments=context.loader.dialect(found.dialect).json_comments)
        value = _table(document)
        for path, table in context.loader.dialect(found.dialect).hook_tables(value or {}):
            for key in table:
                if key == "hooks" or key.strip().lower() not in ("hook", "hooks", "hooks:"):
                    continue
                if "hooks" not in table or _names_events(table[key], context.loader.dialect(found.dialect)):
                    message = f"{key!r} is not read, so its hooks never run"
                    where = document.where(*path, key)
                    yield Diagnostic("error", "misspelled-hooks", message, where, fix="write hooks")


def _names_events(value: Any, dialect: Dialect) -> bool:
    return isinstance(value, Mapping) and any(
        key in dialect.events for key in cast("Mapping[str, Any]", value)
    )


def _table(document: Document) -> Mapping[str, Any] | None:
    value = document.value
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else None


def with_known_name(one: Diagnostic, whose: str, context: CheckContext) -> Diagnostic:
    """An unknown event with the name that is right in its file, if another agent has the wrong one."""
    found = _UNKNOWN_EVENT.search(one.message)
    event, agent = _meant(found[1], context) if found else (None, "")
    if found is None or event is None:
        return one
    dialect = context.loader.dialect(whose)
    # An agent may have several moments at one event: the name that is most like it was meant.
    own = [name for name, each in dialect.events.items() if each.event.name == event]
    right = nearest(found[1], own, alike=0.5) or next(iter(own), None)
    if right is None:
        return replace(one, fix=f"{found[1]} is an event of {agent}; {dialect.title} has none like it")
    return replace(one, fix=f"write {right}: {found[1]} is {agent}'s name for it")


def _meant(name: str, context: CheckContext) -> tuple[str | None, str]:
    for dialect in (context.loader.dialect(each) for each in context.loader.names):
        if name in dialect.events:
            return dialect.events[name].event.name, dialect.title
    return None, ""


def untrusted(loaded: Loaded, context: CheckContext) -> Iterator[Diagnostic]:
    """Hooks and settings of the project that do not count, because the user has not trusted them as they are."""
    trust = context.trust
    if trust is None:
        return
    for hook in entries(loaded):
        standing = trust.status(hook)
        if not standing.runs and standing.state != "disabled":
            what = "only its denials and questions count" if only_tightens(hook) else "it does not run"
            yield about(hook, "warning", "needs-trust", f"{what}: {standing.why}", fix="run `hookline trust`")
    for item in loaded.loosening:
        yield from untrusted_item(item, trust)


def untrusted_item(item: TrustItem, trust: Trust) -> Iterator[Diagnostic]:
    """The same for something that is not a hook."""
    standing = trust.item_status(item)
    if not standing.runs:
        message = f"{item.kind} {item.label!r} does not count: {standing.why}"
        yield Diagnostic("warning", "needs-trust", message, item.where, fix="run `hookline trust`")


def store_problems(trust: Trust) -> Iterator[Diagnostic]:
    for problem in trust.problems:
        yield Diagnostic("error", "trust-store", problem, Where(trust.store.folder))


def unsearched(loaded: Loaded, context: CheckContext) -> Iterator[Diagnostic]:
    """What of an agent's hooks nobody looked for."""
    for name in dict.fromkeys(found.dialect for found in loaded.found):
        dialect = context.loader.dialect(name)
        if dialect.unsearched:
            message = f"{dialect.unsearched} of {dialect.title} were not looked for"
            fix = "name their files with --config"
            first = next(found.file for found in loaded.found if found.dialect == name)
            yield Diagnostic("info", "not-searched", message, Where(first), fix=fix)


def about_dormant(file: Dormant, loader: Loader) -> Diagnostic:
    """Why hooks do not run here that seem to."""
    if file.off:
        return Diagnostic("info", "plugin-off", f"{file.when}, so its hooks do not run", Where(file.file))
    agent = loader.dialect(file.dialect).title
    message = f"these hooks run {file.when}, in {agent}; Hookline's own agent does not use this file"
    return Diagnostic("info", "not-used-here", message, file.hooks[0].where)
