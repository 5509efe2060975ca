"""Find files with hooks that no agent reads, misspelled keys, event names of other agents, files that need trust."""

import os
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, cast

from msgspec.structs import replace

from hookline.checks.context import CheckContext, entries
from hookline.checks.unread_agents import unread_files as unread_files_of_agents
from hookline.config.dormant import Dormant
from hookline.config.load import Loaded, Loader
from hookline.dialects.dialect import Dialect, upward
from hookline.dialects.files import read_file
from hookline.dialects.report import about
from hookline.documents.document import Document
from hookline.documents.edit import found_at
from hookline.matching.nearest import nearest
from hookline.model.diagnostics import Diagnostic, Repair, Where
from hookline.trust.items import TrustItem
from hookline.trust.trust import Trust, only_tightens

_UNKNOWN_EVENT: Final = re.compile(r"no event is called '([A-Za-z_]{1,80})'")
#: How alike a name must be to a known event to be a misspelt one, not one of a later release.
_MISSPELT: Final = 0.7
#: Names that people give to files with hooks; the last one is where a plugin has them.
_SUSPECTS: Final = (
    *(
        f"{stem}.{suffix}"
        for stem in ("hooks", "hook", "settings", "setting", "config", "hooks.local", "settings.local")
        for suffix in ("json", "jsonc", "json5", "toml", "yaml", "yml")
    ),
    "hooks/hooks.json",
)


def unread_files(loaded: Loaded, context: CheckContext) -> Iterator[Diagnostic]:
    """Find files with hooks beside those that an agent reads, but under another name."""
    read = {found.file for found in loaded.found} | {one.where.file for one in loaded.diagnostics}
    searched_directories = {os.path.dirname(file) for file in loaded.searched}
    home = "" if context.files_only else context.env.get("HOME", "")
    for directory in dict.fromkeys([*upward(context.cwd), *([home] if home else ())]):
        for dialect in context.agents:
            beside = os.path.join(directory, dialect.directory)
            suspects = [os.path.join(directory, name) for name in dialect.files_without_hooks]
            if dialect.directory and beside in searched_directories:
                suspects = [*(os.path.join(beside, name) for name in _SUSPECTS), *suspects]
            for file in suspects:
                if file not in read and file not in loaded.searched and _has_hooks(file):
                    right = next((each for each in loaded.searched if os.path.dirname(each) == beside), None)
                    if os.path.basename(file) == dialect.listed.plugin_manifest:
                        right = os.path.join(directory, dialect.plugin_file)
                    message = f"{dialect.title} does not read hooks in this file, so they never run"
                    fix = f"move them to {right or dialect.project_files[0]}"
                    yield Diagnostic("error", "unread-file", message, read_file(file).where(), fix=fix)


def _has_hooks(file: str) -> bool:
    """Return True if a file was meant for hooks: it has values under `hooks`, or is not a readable document."""
    if not os.path.isfile(file):
        return False
    value = _table(read_file(file, "json" if file.endswith(("jsonc", "json5")) else None))
    return value is None or bool(value.get("hooks"))


def unread_agents(loaded: Loaded, context: CheckContext) -> Iterator[Diagnostic]:
    """Name the hooks of agents that Hookline does not read: its guards do not hold there."""
    read = {*loaded.searched, *(found.file for found in loaded.found)}
    home = "" if context.files_only else context.env.get("HOME", "")
    by_agent: dict[str, list[str]] = {}
    for agent, file in unread_files_of_agents(upward(context.cwd), home, context.loader.names):
        if file not in read:
            by_agent.setdefault(agent.title, []).append(file)
    for title, files in by_agent.items():
        more = f" and {len(files) - 1} more" if len(files) > 1 else ""
        message = (
            f"hooks of {title} found{more}; Hookline does not read them yet: a guard here does not hold there"
        )
        yield Diagnostic("info", "agent-not-read", message, Where(files[0]))


def misspelled_keys(loaded: Loaded, context: CheckContext) -> Iterator[Diagnostic]:
    """Find `hook` or `Hooks` instead of `hooks`: to an agent that is an unknown setting."""
    for found in loaded.found:
        if found.unreadable:
            continue
        document = read_file(found.file, comments=context.loader.dialect(found.dialect).json_comments)
        value = _table(document)
        yield from _buried(document, value or {}, context.loader.dialect(found.dialect))
        for path, table in context.loader.dialect(found.dialect).hook_tables(value or {}):
            for key in table:
                if key == "hooks" or key.strip().lower() not in ("hook", "hooks", "hooks:"):
                    continue
                if "hooks" not in table or _names_events(table[key], context.loader.dialect(found.dialect)):
                    message = f"{key!r} is not read, so its hooks never run"
                    where = document.where(*path, key)
                    sole = "hooks" not in table and key.strip().rstrip(":") != ""
                    repair = Repair("rename", (*path, key), "hooks") if sole else None
                    fix = "write hooks" if sole else "join it with hooks"
                    yield Diagnostic("error", "misspelled-hooks", message, where, fix=fix, repair=repair)


def _buried(document: Document, value: Mapping[str, Any], dialect: Dialect) -> Iterator[Diagnostic]:
    """Find `hooks` inside of another setting, where the agent does not look for them."""
    tables = {path for path, _ in dialect.hook_tables(value)}
    for key, inner in value.items():
        if key != "hooks" and isinstance(inner, Mapping):
            hooks = cast("Mapping[str, Any]", inner).get("hooks")
            if _names_events(hooks, dialect) and (key,) not in tables:
                message = f"hooks inside of {key!r} are not read, so they never run"
                where = document.where(key, "hooks")
                yield Diagnostic(
                    "error", "misspelled-hooks", message, where, fix="move hooks to the top of the file"
                )


def _names_events(value: Any, dialect: Dialect) -> bool:
    return isinstance(value, Mapping) and any(
        key in dialect.events for key in cast("Mapping[str, Any]", value)
    )


def _table(document: Document) -> Mapping[str, Any] | None:
    value = document.value
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else None


def with_known_name(one: Diagnostic, whose: str, context: CheckContext) -> Diagnostic:
    """Add the right name to a finding about an unknown event, if another agent uses the wrong one."""
    found = _UNKNOWN_EVENT.search(one.message)
    event, agent = _meant(found[1], context) if found else (None, "")
    dialect = context.loader.dialect(whose)
    if found is None or (event is None and nearest(found[1], dialect.events, _MISSPELT) is not None):
        return one
    if event is None:
        if not dialect.tested_release:
            return one
        message = f"{dialect.title} has no event {found[1]!r} (as of version {dialect.tested_release})"
        fix = (
            "compare the name with its documentation: a later release may have it, an earlier one ignores it"
        )
        return replace(one, severity="warning", message=message, fix=fix)
    # An agent may have several names for one event: suggest the most similar one.
    own = [name for name, each in dialect.events.items() if each.event.name == event]
    right = nearest(found[1], own, alike=0.5) or next(iter(own), None)
    if right is None:
        fix = f"{found[1]} is an event of {agent}; {dialect.title} has none like it"
        return replace(one, fix=fix, repair=None)
    path = one.where.path
    beside = found_at(read_file(one.where.file, comments=dialect.json_comments).value, path[:-1])
    joins = isinstance(beside, Mapping) and right in beside
    what = (
        f"join it with {right} on line {one.where.locate((*path[:-1], right))}" if joins else f"write {right}"
    )
    is_key = path[-1:] == (found[1],)
    repair = Repair("rename" if is_key else "set", path, right) if path else None
    return replace(one, fix=f"{what}: {found[1]} is {agent}'s name for it", repair=repair)


def _meant(name: str, context: CheckContext) -> tuple[str | None, str]:
    for dialect in (context.loader.dialect(each) for each in context.loader.names):
        if name in dialect.events:
            return dialect.events[name].event.name, dialect.title
    return None, ""


def untrusted(loaded: Loaded, context: CheckContext) -> Iterator[Diagnostic]:
    """Report hooks and settings of the project that are not active, because the user has not trusted them as
    they are. Hooks in an agent's own file still run in that agent.
    """
    trust = context.trust
    if trust is None:
        return
    for hook in entries(loaded):
        standing = trust.status(hook)
        if standing.runs or standing.state == "disabled":
            continue
        fix = "run `hookline trust`"
        dialect = context.dialect(hook)
        if dialect.has_agent:
            message = f"{dialect.title} runs it; Hookline does not run it for other agents: {standing.why}"
            yield about(hook, "info", "needs-trust", message, fix=fix)
        else:
            what = "only its denials and questions count" if only_tightens(hook) else "it does not run"
            yield about(hook, "warning", "needs-trust", f"{what}: {standing.why}", fix=fix)
    for item in loaded.loosening:
        yield from untrusted_item(item, trust)


def untrusted_item(item: TrustItem, trust: Trust) -> Iterator[Diagnostic]:
    """Report a setting that is not trusted."""
    standing = trust.item_status(item)
    if not standing.runs:
        message = f"{item.kind} {item.label!r} is not active: {standing.why}"
        yield Diagnostic("warning", "needs-trust", message, item.where, fix="run `hookline trust`")


def store_problems(trust: Trust) -> Iterator[Diagnostic]:
    for problem in trust.problems:
        yield Diagnostic("error", "trust-store", problem, Where(trust.store.directory))


def unsearched(loaded: Loaded, context: CheckContext) -> Iterator[Diagnostic]:
    """Report the hooks of an agent that Hookline does not search for."""
    for name in dict.fromkeys(found.dialect for found in loaded.found):
        dialect = context.loader.dialect(name)
        if dialect.unsearched:
            message = f"{dialect.unsearched} of {dialect.title} were not searched for"
            fix = "name their files with --config"
            first = next(found.file for found in loaded.found if found.dialect == name)
            yield Diagnostic("info", "not-searched", message, Where(first), fix=fix)


def about_dormant(file: Dormant, loader: Loader) -> Diagnostic:
    """Explain why hooks that seem active do not run here."""
    if file.off:
        return Diagnostic("info", "plugin-off", f"{file.when}, so its hooks do not run", Where(file.file))
    agent = loader.dialect(file.dialect).title
    message = f"these hooks run {file.when}, in {agent}; Hookline's own agent does not use this file"
    return Diagnostic("info", "not-used-here", message, file.hooks[0].where)
