"""Find command lines that depend on what an agent does not give them: a directory, or a variable."""

import os
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, cast

from hookline.checks.commands.answers import judges
from hookline.checks.commands.command_line import Program, programs_of
from hookline.checks.context import CheckContext, entries
from hookline.config.load import Loaded
from hookline.dialects.dialect import Dialect
from hookline.dialects.files import read_file
from hookline.dialects.report import about
from hookline.handlers.command import CommandSpec
from hookline.model.diagnostics import Diagnostic, Repair, Severity
from hookline.model.hook import Hook

#: A variable without a default; between single quotes a shell fills in none.
_VARIABLE: Final = re.compile(r"\$(?:\{([A-Za-z_]\w*)\}|([A-Za-z_]\w*))")
_SINGLE_QUOTED: Final = re.compile(r"'[^']*'")
_ABOUT_FILES: Final = re.compile(r"FILE|PATH|TOOL|INPUT|OUTPUT|PROMPT|COMMAND")
_LONGEST: Final = 64 * 1024


def relative_paths(loaded: Loaded, context: CheckContext) -> Iterator[Diagnostic]:
    """Find scripts that are named relative to a directory that changes while the agent works."""
    for hook in entries(loaded):
        dialect = context.dialect(hook)
        if dialect.relative_to != "session" or hook.broken is not None or hook.scope == "plugin":
            continue
        for program in programs_of(hook, context):
            # One that is nowhere is reported as missing.
            relative = program.kind != "name" and not program.word.startswith(("/", "~", "$"))
            if relative and any(map(os.path.exists, program.paths)):
                yield _relative(hook, program, dialect, context)
                break


def _relative(hook: Hook, program: Program, dialect: Dialect, context: CheckContext) -> Diagnostic:
    # A guard that is not found after a `cd` no longer guards; of another hook only its work is missing.
    severity: Severity = "warning" if judges(hook, context) else "info"
    message = (
        f"{dialect.title} looks for {program.word} in its current directory: from another one, such as after a cd, "
        "it cannot start"
    )
    name = next(iter(dialect.project_variables), None)
    spec: CommandSpec = hook.spec
    if name is None or hook.scope == "user" or spec.args is not None:
        return about(hook, severity, "relative-path", message, "command", fix="write its whole path")
    path = os.path.normpath(program.word)
    whole = f'"${name}"/{path}'
    sole = spec.command.count(program.word) == 1 and path == program.word.removeprefix("./")
    plain = re.search(rf"(?<![\w\"'/]){re.escape(program.word)}(?![\"'])", spec.command)
    repair = (
        Repair(
            "set", dialect.field_path(hook.where.path, "command"), spec.command.replace(program.word, whole)
        )
        if sole and plain
        else None
    )
    return about(hook, severity, "relative-path", message, "command", fix=f"write {whole}", repair=repair)


def unset_variables(loaded: Loaded, context: CheckContext) -> Iterator[Diagnostic]:
    """Find variables with the name of an agent that the agent does not set: they are empty."""
    prefixes: dict[str, frozenset[str]] = {}
    settings: dict[str, frozenset[str]] = {}
    for hook in entries(loaded):
        spec, dialect = hook.spec, context.dialect(hook)
        if not isinstance(spec, CommandSpec) or not dialect.has_agent or len(spec.command) > _LONGEST:
            continue
        file = hook.where.file
        if file not in settings:
            settings[file] = _environment_of(file, dialect) if file else frozenset()
        own = settings[file]
        line = _SINGLE_QUOTED.sub("", spec.command)
        names = dict.fromkeys(found[1] or found[2] for found in _VARIABLE.finditer(line))
        if names and not prefixes:
            every = map(context.loader.dialect, context.loader.names)
            prefixes = {each.name: frozenset(_prefixes(each)) for each in every}
        for name in names:
            known = name in own or name in spec.env or name in context.env or f"{name}=" in line
            whose = [each for each, own in prefixes.items() if name.startswith(tuple(own))]
            # Only where every variable of the agent is known.
            judged = bool(whose) and (dialect.name not in whose or bool(dialect.other_variables))
            if judged and not known and not _is_set(name, hook, dialect):
                yield _unset(name, hook, dialect, line)


def _prefixes(dialect: Dialect) -> Iterator[str]:
    """Yield the first words of the variables that an agent sets for its hooks, as GEMINI_."""
    named = (*dialect.project_variables[:1], *dialect.own_variables)
    yield from (f"{name.partition('_')[0]}_" for name in named if "_" in name)
    yield from dialect.payload_variables


def _is_set(name: str, hook: Hook, dialect: Dialect) -> bool:
    if name in (*dialect.project_variables, *dialect.own_variables) or dialect.sets_variable(name):
        return True
    if name.startswith(dialect.payload_variables):
        return True
    return hook.scope == "plugin" and (name in dialect.plugin_variables or "_PLUGIN_" in name)


def _unset(name: str, hook: Hook, dialect: Dialect, line: str) -> Diagnostic:
    starts = re.match(rf"\s*[\"']?\$\{{?{name}\b", line) is not None
    project = next(iter(dialect.project_variables), None)
    if name in dialect.plugin_variables:
        message = f"{dialect.title} sets {name} for hooks of plugins only: here it is empty"
        fix = f"write ${project}" if project else "write the whole path"
    elif _ABOUT_FILES.search(name):
        message = f"{dialect.title} does not set {name}: it is empty"
        fix = "read it from the JSON on stdin, as in: jq -r .tool_input.file_path"
    else:
        message = f"{dialect.title} does not set {name}: it is empty"
        fix = f"write ${project}" if project else "write the whole path"
    severity: Severity = "error" if starts else "warning"
    return about(hook, severity, "unset-variable", message, "command", fix=fix)


def _environment_of(file: str, dialect: Dialect) -> frozenset[str]:
    """Return the variables that a settings file sets for the whole session."""
    value: Any = read_file(file, comments=dialect.json_comments).value
    table: Any = cast("Mapping[str, Any]", value).get("env") if isinstance(value, Mapping) else None
    return frozenset(cast("Mapping[str, Any]", table)) if isinstance(table, Mapping) else frozenset()
