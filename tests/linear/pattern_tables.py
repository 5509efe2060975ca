"""Patterns that come from tables or are made of other texts, by the call that compiles them."""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from hookline.actions import patches
from hookline.config.protection import lines
from hookline.config.protection.lines import switching_programs
from hookline.dialects.codewhale import texts
from hookline.guards import MODULES
from hookline.guards.spec import policy_of
from hookline.journal import secret_documents, secret_formats, secret_shapes
from hookline.shell import environment
from tests.linear.pattern_sources import Unknown, Used

Patterns = Callable[[], Iterator[Used]]


def _of_rows() -> Iterator[Used]:
    for name in MODULES:
        policy = policy_of(name)
        for row in (*policy.rows, *(row for flow in policy.flows for row in flow.into)):
            for text in filter(None, (row.operand, row.value, row.spare, row.text)):
                yield Used(text, int(re.IGNORECASE), "search", f"{name}: {row.run}")


def _of_flows() -> Iterator[Used]:
    for flow in (flow for name in MODULES for flow in policy_of(name).flows):
        yield Used(flow.plain, int(re.IGNORECASE), "search", "files that are plain")


def _of_code() -> Iterator[Used]:
    for name in MODULES:
        policy = policy_of(name)
        for text in filter(None, (policy.code, policy.started, policy.written, *policy.shows)):
            yield Used(text, int(re.IGNORECASE), "search", name)


def _of_secrets() -> Iterator[Used]:
    for secret in policy_of("secrets-read").secrets:
        yield Used(secret.path, int(re.IGNORECASE), "search", secret.what)


def _of_shapes() -> Iterator[Used]:
    """Yield what redacts secrets: each of the functions knows its pattern."""
    tokens = (secret_shapes.token_shape(row.pattern) for row in secret_formats.TOKEN_FORMATS)
    for redact in (*secret_shapes.secret_shapes().values(), *tokens):
        names: Any = getattr(redact, "__code__").co_freevars  # noqa: B009 functions have it
        cells: Any = getattr(redact, "__closure__") or ()  # noqa: B009 as above
        known = {name: cell.cell_contents for name, cell in zip(names, cells, strict=True)}
        if "source" in known:
            yield Used(known["source"], int(known["flags"] | re.ASCII), "sub", "secret_shapes")


def _of_commands() -> Iterator[Used]:
    for _hints, source in secret_shapes._COMMANDS:  # pyright: ignore[reportPrivateUsage] its table
        yield Used(source, int(re.ASCII | re.MULTILINE), "sub", "secret_shapes")


def _of_documents() -> Iterator[Used]:
    for _hints, source in secret_documents._PATTERNS:  # pyright: ignore[reportPrivateUsage] its table
        yield Used(source, int(re.ASCII | re.MULTILINE | re.IGNORECASE), "sub", "secret_documents")


def _of_keys() -> Iterator[Used]:
    for names, _mark in texts._KEYS:  # pyright: ignore[reportPrivateUsage] its table
        yield Used(names, int(re.DOTALL | re.IGNORECASE), "fullmatch", "keys")


def _of_settings() -> Iterator[Used]:
    for patterns in environment._settings().values():  # pyright: ignore[reportPrivateUsage] its table
        yield from (Used(each, 0, "fullmatch", "programs that print settings") for each in patterns)


def _of_variables() -> Iterator[Used]:
    for pattern, _kind in environment._variables().patterns:  # pyright: ignore[reportPrivateUsage] its table
        yield Used(pattern, 0, "fullmatch", "variables")


def _of_switches() -> Iterator[Used]:
    for patterns in switching_programs().values():
        yield from (Used(each, int(re.IGNORECASE), "search", "switches of agents") for each in patterns)


def _of_variables_of_agents() -> Iterator[Used]:
    """Yield the pattern of variables that say where hooks are configured."""
    found = lines._configuring_variables()  # pyright: ignore[reportPrivateUsage] its table
    yield Used(found.pattern, found.flags, "search", "variables of agents")


def _of_marks() -> Iterator[Used]:
    """Yield the pattern of lines that name files, with the marks of patches."""
    marks = "|".join(map(re.escape, (*patches._NAMING, "diff --git ")))  # pyright: ignore[reportPrivateUsage] its table
    yield Used(rf"(?m)^[^\S\n]*(?:{marks})[^\n]*", 0, "findall", "patches")


#: A pattern of letters alone finds them in one pass.
_LETTERS = "letters, and what may be beside them"

TABLES: Mapping[Unknown, Patterns | str] = {
    Unknown("hookline.guards.commands", "_regex(row.operand)"): _of_rows,
    **{
        Unknown("hookline.guards.commands", f"_regex(row.{name})"): "with the others of a row"
        for name in ("spare", "text", "value")
    },
    Unknown("hookline.guards.judge", "_regex(policy.code)"): _of_code,
    **{
        Unknown("hookline.guards.judge", f"_regex(policy.{name})"): "with the others of a guard"
        for name in ("started", "written")
    },
    Unknown("hookline.guards.spec", "self.path"): _of_secrets,
    Unknown("hookline.journal.secret_shapes", "_compiled(source, flags | re.ASCII)"): _of_shapes,
    Unknown("hookline.journal.secret_shapes", "_compiled(source, re.ASCII | re.MULTILINE)"): _of_commands,
    Unknown("hookline.journal.secret_documents", "_compiled(source)"): _of_documents,
    Unknown("hookline.dialects.codewhale.texts", "_pattern(names)"): _of_keys,
    Unknown("hookline.shell.environment", "one"): _of_settings,
    Unknown("hookline.shell.environment", "_rows_of(name)"): _of_variables,
    Unknown("hookline.guards.spec", "self.plain"): _of_flows,
    Unknown("hookline.actions.patches", "names"): _of_marks,
    Unknown("hookline.checks.surroundings", "_relative(hook, program, dialect, context)"): _LETTERS,
    Unknown("hookline.config.protection.lines", "_switches_hooks_off(words)"): _of_switches,
    Unknown("hookline.config.protection.lines", "_configuring_variables()"): _of_variables_of_agents,
    Unknown("hookline.guards.code", "one"): "with the others of a guard",
    Unknown("hookline.shell.walk.expand", "f'[{re.escape(signs)}]+' if signs else '(?!)'"): _LETTERS,
    Unknown("hookline.matching.shell_rules", "_mention(text.casefold())"): _LETTERS,
    Unknown(
        "hookline.shell.walk.definitions",
        r"f'(?:(?<![\\w.])|(?<=w)|(?<=^-\\w)){re.escape(name)}(?![\\w.])'",
    ): _LETTERS,
    Unknown(
        "hookline.config.protection.protected_paths",
        """f"(?:{'|'.join(filter(None, (before, further)))})(?![\\\\w-])\"""",
    ): _LETTERS,
    Unknown(
        "hookline.config.protection.lines",
        "_filled(line, directories[0] if directories else '', home)",
    ): _LETTERS,
    Unknown("hookline.trust.files", "_fragments(spec, file.text)"): "a name in the command that holds it",
    Unknown("hookline.handlers.command", "_sealed(word, files)"): _LETTERS,
    Unknown("hookline.handlers.command", "_sealed(spec.command, files)"): _LETTERS,
    Unknown("hookline.team.fleet.bundles.publish", r"f'{wanted.name}\\.\\d{{1,15}}'"): _LETTERS,
}
