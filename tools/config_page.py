"""Write docs/reference/config.md: the native configuration, from the tables its reader uses."""

from collections.abc import Iterator, Mapping
from inspect import isfunction
from typing import Any, cast

from hookline.dialects.dialect import SUFFIXES
from hookline.dialects.native.settings import COMMON, KINDS
from hookline.guards.spec import policy_of
from hookline.handlers.builtin import Builtin, GuardBuiltin, standard_builtins
from hookline.model.events import EventSpec
from hookline.schemas.config import KIND_WORDS, config_schema, entry_schema
from hookline.schemas.event_facts import type_words
from hookline.schemas.payload import Schema
from tools.markdown import GENERATED, code, page, table, words

#: Read by the real reader, and validated, in the tests of this page.
EXAMPLE = """\
[[hooks.PreToolUse]]
matcher = "Bash"

[[hooks.PreToolUse.hooks]]
command = "python3 .hookline/no_force_push.py"
if = "Bash(git push *)"
timeout = 10
statusMessage = "Looking at the push"

[[hooks.PreToolUse.hooks]]
type = "builtin"
command = "ask"
args = ["This touches production."]
condition = { type = "all", conditions = [
    { type = "mode", mode = "default" },
    { type = "tool_category", category = "shell" },
] }

[[hooks.SessionStart]]
matcher = "startup|resume"
hooks = [{ type = "builtin", command = "add_date" }]

[[hooks.Stop]]
hooks = [{ type = "http", url = "http://127.0.0.1:8800/stopped", async = true, on_failure = "open" }]
"""

_INTRO = f"""\
Hooks are in `.hookline/hooks.{SUFFIXES[0]}` of a project (or {words("." + each for each in SUFFIXES[1:])}), and in
the same file in the user's configuration directory, `~/.config/hookline`
(`XDG_CONFIG_HOME` does not move it). Managed hooks are in `/etc/hookline/hooks.{SUFFIXES[0]}`. `hooks.local` beside
a file is for hooks that you do not share. Hookline combines all of them, in this order: managed, user, project, local.

`disable = ["name"]` at the top of the user's own file switches hooks off by name, from any file and any agent's
format. In a project's file it is an error: a project cannot switch hooks off. Managed hooks stay on, and so do
those of agent definitions and of front matter.

`actions = "all"` at the top of a file lets hooks of other agents' formats [follow
actions](../how-to/guard-files.md): they are asked about shell lines that touch a file they are about, too. A list
names hooks, or files such as `.claude/settings.json`, instead of all. Native hooks do this anyway, unless an entry
says `actions = "named"`.

`accept = ["code:hook"]` at the top of a file accepts findings of `hookline doctor`
([how](../how-to/check-your-hooks.md#accept-a-finding)).

A file lists events, each with groups of hooks. A Claude Code or gen-code settings file is valid, too: Hookline
ignores settings other than `hooks`. A mistake never disables the other hooks: Hookline reports it with file and
line, and on a guard event the bad entry becomes a hook that fails. The JSON Schema for editors is
[schemas/hooks.json](../../schemas/hooks.json)."""


def config_page(events: Mapping[str, EventSpec[Any]]) -> str:
    definitions = config_schema(events)["$defs"]
    return page(
        "# Configuration",
        GENERATED,
        _INTRO,
        f"```toml\n{EXAMPLE}```",
        "## A group",
        "Each event has a list of groups: `hooks.PreToolUse` in the example has one.",
        table(("Field", "Type", "Meaning"), _rows(definitions["group"], ("matcher", "hooks", "description"))),
        "[Events](events.md) lists for each event what a matcher is compared with, and its possible values.",
        "## Every hook",
        table(
            ("Field", "Type", "Default", "Meaning"), _with_defaults(entry_schema("command"), tuple(COMMON))
        ),
        *(_kind(kind) for kind in KINDS),
        "## Conditions",
        "`condition` is a table with a `type` and the fields of that type.",
        table(("Type", "Needs", "Meaning"), _conditions(definitions["condition"])),
    )


def _kind(kind: str) -> str:
    return page(
        f"## {kind}",
        f'{KIND_WORDS[kind]} `type = "{kind}"`{", or no type at all" if kind == "command" else ""}.',
        table(
            ("Field", "Type", "Default", "Meaning"),
            _with_defaults(entry_schema(kind), tuple(KINDS[kind].fields)),
        ),
        _builtins() if kind == "builtin" else "",
    ).rstrip()


def _builtins() -> str:
    builtins = standard_builtins().items()
    return table(
        ("Builtin", "Does"),
        [
            (f"[`{name}`](guards.md#{name})", f"Stops: {policy_of(name).title}.")
            if isinstance(each, GuardBuiltin)
            else (code(name), _summary(each))
            for name, each in builtins
        ],
    )


def _summary(builtin: Builtin) -> str:
    """The first line of its docstring; of its class, if it is an object."""
    described = builtin if isfunction(builtin) else type(builtin)
    return (described.__doc__ or "").partition("\n")[0]


def _rows(schema: Schema, names: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    for name in names:
        field = schema["properties"][name]
        needed = " (needed)" if name in schema["required"] else ""
        yield code(name) + needed, _type(field), field["description"]


def _with_defaults(schema: Schema, names: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    for name in names:
        field = schema["properties"][name]
        default = {"type": code("command")}.get(name) or code(str(field.get("default", "")))
        shown = type_words({"enum": list(KINDS)}) if name == "type" else _type(field)
        yield (
            code(name) + (" (needed)" if name in _needed(schema) else ""),
            shown,
            default,
            field["description"],
        )


def _needed(schema: Schema) -> tuple[str, ...]:
    return KINDS[schema["properties"]["type"]["const"]].required


def _type(field: Schema) -> str:
    if "oneOf" in field.get("items", {}):
        return "list of hooks"
    if "propertyNames" in field:
        return "object"
    if "anyOf" in field:
        return " or ".join(_type(each) for each in cast("list[Schema]", field["anyOf"]))
    return type_words(field)


_CONDITION_WORDS: Mapping[str, str] = {
    "always": "Always holds.",
    "tool_name": "The tool has that name.",
    "tool_category": "The tool is of that kind.",
    "mode": "The session is in that permission mode.",
    "exit_code": "The tool reported that exit code.",
    "all": "All conditions hold; an empty list holds.",
    "any": "At least one condition holds; an empty list does not hold.",
}


def _conditions(schema: Schema) -> Iterator[tuple[str, ...]]:
    for each in schema["oneOf"]:
        fields = dict(each["properties"])
        kind = fields.pop("type")["const"]
        described = " ".join(field.get("description", "") for field in fields.values())
        yield code(kind), words(fields), f"{_CONDITION_WORDS[kind]} {described}"
