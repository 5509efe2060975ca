"""Build the JSON Schema of the native configuration file from the tables its reader uses.

It is stricter than the reader: what the reader only warns about, such as an unknown field, does not validate.
"""

from collections.abc import Iterable, Mapping
from typing import Any, get_args

from hookline.dialects.native.settings import COMMON, KINDS
from hookline.handlers.command import SHELLS
from hookline.model.events import EventSpec
from hookline.model.hook import InDoubt, Order, Output, SideEffects
from hookline.model.policy import CAUSES
from hookline.model.run import Mode
from hookline.schemas.payload import DRAFT, Schema

_TEXT: Schema = {"type": "string"}
_FLAG: Schema = {"type": "boolean"}
#: A text that must say something.
_SAID: Schema = {"type": "string", "pattern": r"\S"}

#: The reader's names of value types.
SHAPES: Mapping[str, Schema] = {
    "anything": {},
    "true or false": _FLAG,
    "a number": {"type": "number"},
    "a whole number": {"type": "integer"},
    "text": _TEXT,
    "text or a list of texts": {"anyOf": [_TEXT, {"type": "array", "items": _TEXT, "minItems": 1}]},
    "an object": {"type": "object"},
    "a list of texts": {"type": "array", "items": _TEXT},
    "an object of texts": {"type": "object", "additionalProperties": _TEXT},
}

#: Hookline's own words, then Claude Code's.
REACTIONS = ("open", "closed", "ask", "continue", "block")
_ON_FAILURE: Schema = {
    "anyOf": [
        {"enum": list(REACTIONS)},
        {
            "type": "object",
            "propertyNames": {"enum": list(CAUSES)},
            "additionalProperties": {"enum": list(REACTIONS)},
        },
    ]
}

#: Fields with more detail than their shape.
_CLOSER: Mapping[str, Schema] = {
    "condition": {"$ref": "#/$defs/condition"},
    "max_steps": {"type": "integer", "minimum": 1, "default": 50},
    "mode": {"enum": list(get_args(Mode)), "default": "enforce"},
    "output": {"enum": list(get_args(Output)), "default": "answer"},
    "in_doubt": {"enum": list(get_args(InDoubt)), "default": "match"},
    "actions": {"enum": ["all", "named"], "default": "all"},
    "side_effects": {"enum": list(get_args(SideEffects)), "default": "unknown"},
    "durable": {"anyOf": [_FLAG, {"const": "fleet"}], "default": False},
    "order": {"enum": list(get_args(Order)), "default": "none"},
    "on_failure": _ON_FAILURE,
    "onFailure": _ON_FAILURE,
    "shell": {"enum": list(SHELLS), "default": "sh"},
    "timeout": {"type": "number", "exclusiveMinimum": 0, "default": 600},
    "warm": {"type": "boolean", "default": True},
}

ENTRY_WORDS: Mapping[str, str] = {
    "type": "How the hook is run.",
    "name": "The hook's name in runs, findings and messages.",
    "if": "A tool pattern such as `Bash(git *)`, or a list of them; the hook runs only for calls that fit one. "
    "Only where a tool is known.",
    "condition": "A condition tree; the hook runs only when it holds.",
    "timeout": "Seconds the hook may take; fractions are fine.",
    "statusMessage": "Text shown while the hook runs.",
    "once": "At most once per session.",
    "async": "The agent does not wait for it; text it answers with reaches the model later.",
    "asyncRewake": "The agent does not wait for it; if it blocks, the model is woken with its reason.",
    "on_failure": "The reaction to a failure: open continues with a warning, closed blocks, ask asks the user; "
    "or an object with one reaction per cause. Default: closed for a guard, open otherwise.",
    "onFailure": "Another spelling of on_failure, with continue for open and block for closed.",
    "mode": "Enforce applies the answer; shadow runs the hook and only records its answer; off does not run it.",
    "rewrites": "The hook rewrites the event's input: it runs before the hooks that judge, "
    "and each sees the result of the one before.",
    "required": "The hook must run: where it may not, the event is blocked.",
    "in_doubt": "The reaction where it is uncertain if a call matches the matcher or `if`: match runs the hook, ask "
    "asks the user instead, pass does not run it.",
    "actions": "The calls that a hook about files is asked about: all that read, write or delete such a file, also by "
    "a shell line, or only those of tools that its matcher or `if` names (named).",
    "durable": "With async or asyncRewake: once the event was accepted, the hook is run to its end, by another process "
    'of the user if this one ends; a failure is tried again, three times in all. With "fleet", any machine of the '
    "fleet that has the same hook runs it; only for hooks of the user, managed hooks and hooks of bundles.",
    "order": "Session: of the durable hooks of a session that say so, one runs after another.",
    "command": "A line for the shell; with args, the program to start.",
    "args": "Arguments: the program is started without a shell, so nothing in them needs quoting.",
    "shell": "The shell that runs the command line.",
    "env": "Variables added to the environment of the hook. A hook of a project gets no more of the rest than programs "
    "need to run (PATH, HOME, LANG and the like), and its file cannot set those that make programs load code, such as "
    "LD_PRELOAD.",
    "cwd": "Where the hook runs; relative to the working directory of the agent.",
    "side_effects": "none says that the hook changes nothing, and that its answer depends only on what it is asked: "
    "`hookline backtest` runs it on past sessions, once for each different call.",
    "output": "Answer: what it prints is its answer, and at PreToolUse and PermissionRequest anything else than an "
    "answer or nothing is a failure. Ignore: what it prints is not read; only its exit code or status counts.",
    "warm": "False: a Python script always starts a new interpreter, even where warm ones are available.",
    "url": "Where the payload is posted to; http only on this machine.",
    "headers": "Headers of the request; `${NAME}` is replaced by a variable that allowedEnvVars lists.",
    "allowedEnvVars": "The only variables that headers may use.",
    "ca": "A file with the authority that must have signed the server's certificate; without one, any of the system's.",
    "cert": "A file with the client certificate, for servers that require one (mutual TLS).",
    "key": "The key of that certificate, if it is in a separate file.",
    "private": "The server may have an address of a private network, such as 10.0.0.5.",
    "prompt": "The prompt for the model; `$ARGUMENTS` is replaced by the payload, which otherwise follows.",
    "model": "The model to use instead of the default.",
    "continueOnBlock": "Accepted in files written for other agents, and ignored.",
    "max_steps": "How many model calls it may take.",
    "server": "The MCP server.",
    "tool": "Its tool.",
    "input": "The arguments of the tool; `${path.to.field}` in a text is taken from the payload.",
    "builtin.command": "The builtin; `name` says it too.",
    "builtin.args": "Its arguments: the text of deny, the options of a guard.",
}

KIND_WORDS: Mapping[str, str] = {
    "command": "A shell command, or a program with arguments: the payload on stdin, an exit code and text back.",
    "http": "A POST of the payload; the reply is the answer. The `Idempotency-Key` is unlike that of any other run.",
    "prompt": "One question to a model, which answers in JSON.",
    "agent": "A model with read-only tools that may take several steps before it answers.",
    "mcp_tool": "A tool of a connected MCP server; its text is read like stdout.",
    "builtin": "A hook that comes with Hookline: no process at all.",
}

_CONDITIONS: Mapping[str, tuple[str, Schema]] = {
    "always": ("", {}),
    "tool_name": (
        "name",
        {**_TEXT, "minLength": 1, "description": "The whole name; `*` matches any text."},
    ),
    "tool_category": (
        "category",
        {**_TEXT, "minLength": 1, "description": "shell, file_write, safe, web, mcp, agent or other."},
    ),
    "mode": ("mode", {**_TEXT, "minLength": 1, "description": "Case does not count."}),
    "exit_code": ("code", {"type": "integer", "description": "Success without a code is not 0."}),
    "all": ("conditions", {"type": "array", "items": {"$ref": "#/$defs/condition"}}),
    "any": ("conditions", {"type": "array", "items": {"$ref": "#/$defs/condition"}}),
}


def config_schema(events: Mapping[str, EventSpec[Any]], kinds: Iterable[str] = ()) -> Schema:
    """Build the schema. `kinds` are handler kinds that a host added; their entries are not checked."""
    names = list(events)
    return {
        "$schema": DRAFT,
        "title": "Hookline hooks",
        "description": "Which hooks run at which events. Other settings may be beside them.",
        "type": "object",
        "properties": {
            "$schema": _TEXT,
            "disableAllHooks": {**_FLAG, "description": "True turns all hooks of this file off."},
            "disable": {
                **SHAPES["a list of texts"],
                "description": "Names of hooks to switch off, of any file and format. Only in the user's own file.",
            },
            "actions": {
                "anyOf": [{"const": "all"}, SHAPES["a list of texts"]],
                "description": "Hooks of other agents' formats that are asked about all calls that touch a file they "
                "are about, also by a shell line: all, or a list of names of hooks and of files.",
            },
            "accept": {
                **SHAPES["a list of texts"],
                "description": "Findings of doctor that are known and fine, as code:hook. The user's own file may "
                "accept everything; a project's, once it is trusted, warnings and notes about the project.",
            },
            "hooks": {
                "type": "object",
                "description": "Groups of hooks by event.",
                "propertyNames": {"enum": names},
                "properties": {name: _groups(event) for name, event in events.items()},
            },
        },
        # An event outside `hooks` is ignored.
        "propertyNames": {"not": {"enum": names}},
        "$defs": _definitions(tuple(kinds)),
    }


def entry_schema(kind: str) -> Schema:
    """Return the schema of one entry of a group, for one kind of handler. `type` may be left out for `command`."""
    fields = {**COMMON, **KINDS[kind].fields}
    properties = {name: _entry_field(kind, name, shape) for name, shape in fields.items()}
    properties["type"] = {"const": kind, "description": ENTRY_WORDS["type"]}
    schema: Schema = {
        "type": "object",
        "description": KIND_WORDS.get(kind, ""),
        "properties": properties,
        "required": [*KINDS[kind].required, *(["type"] if kind != "command" else [])],
        "additionalProperties": False,
    }
    if kind == "builtin":
        schema["anyOf"] = [{"required": ["command"]}, {"required": ["name"]}]
    return schema


def _entry_field(kind: str, name: str, shape: str) -> Schema:
    closer = _SAID if kind in KINDS and name in KINDS[kind].required else _CLOSER.get(name)
    words = ENTRY_WORDS.get(f"{kind}.{name}") or ENTRY_WORDS.get(name, "")
    return {**(SHAPES[shape] if closer is None else closer), "description": words}


def _groups(event: EventSpec[Any]) -> Schema:
    return {
        "type": "array",
        "items": {"$ref": "#/$defs/group"},
        "description": f"Fires {event.fires} {matched_words(event)}".rstrip(),
    }


def matched_words(event: EventSpec[Any]) -> str:
    if event.subject is None:
        return "There is nothing to match."
    known = f": {', '.join(event.subjects)}" if event.subjects else ""
    return f"The matcher tests {event.subject}{known}."


def _definitions(kinds: tuple[str, ...]) -> Schema:
    own = [kind for kind in kinds if kind not in KINDS and kind != "function"]
    choices = [{"$ref": f"#/$defs/{kind}"} for kind in (*KINDS, *own)]
    return {
        "group": {
            "type": "object",
            "properties": {
                "matcher": {
                    **_TEXT,
                    "description": "Which of them: a name, a list (`Edit|Write`), a tool pattern (`Bash(git *)`), or a "
                    "regular expression for the whole value. Left out, empty or `*`: all of them.",
                },
                "description": {**_TEXT, "description": "For people."},
                "hooks": {
                    "type": "array",
                    "items": {"oneOf": choices},
                    "description": "The command, URL or function that runs.",
                },
            },
            "required": ["hooks"],
            "additionalProperties": False,
        },
        "condition": {"oneOf": [_condition(kind) for kind in _CONDITIONS]},
        **{kind: entry_schema(kind) for kind in KINDS},
        **{kind: _foreign_entry(kind) for kind in own},
    }


def _condition(kind: str) -> Schema:
    name, shape = _CONDITIONS[kind]
    return {
        "type": "object",
        "properties": {"type": {"const": kind}, **({name: shape} if name else {})},
        "required": ["type", *([name] if name else [])],
        "additionalProperties": False,
    }


def _foreign_entry(kind: str) -> Schema:
    common = {name: _entry_field(kind, name, shape) for name, shape in COMMON.items()}
    return {
        "type": "object",
        "properties": {**common, "type": {"const": kind, "description": ENTRY_WORDS["type"]}},
        "required": ["type"],
    }
