"""Draw the start screen: program, model, mode, hooks, the session it continues, and what else is known of it."""

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress

from rich.console import RenderableType
from rich.text import Text

from hookline.agent.build import BuiltAgent
from hookline.agent.call_text import near
from hookline.agent.models.choose import PROVIDERS
from hookline.agent.session.instruction_files import at_start
from hookline.agent.transcript.store import SessionsStore, opening, when_used
from hookline.agent.transcript.writer import TranscriptError
from hookline.agent.tui.status import StatusFacts
from hookline.agent.tui.text.paint import marked, stack, words
from hookline.model.safe_text import one_line

KEYS: Sequence[tuple[str, str]] = (
    ("Enter", "send; while the agent works, the prompt is queued"),
    ("Ctrl-J, Alt-Enter", "a new line; a paste is one prompt"),
    ("Up, Down, Ctrl-R", "earlier prompts; Up on an empty line takes a queued prompt back"),
    ("Tab", "complete a /command, an @file, or a session after /resume"),
    ("!COMMAND", "run a shell command of yours, under your hooks; !!COMMAND keeps its output from the model"),
    ("Shift-Tab", "the next permission mode"),
    ("Esc, Ctrl-C", "stop the current action; Ctrl-C clears the line, twice it leaves"),
    ("Ctrl-D", "leave, on an empty line"),
    ("F2, /hooks", "the hooks: their runs, and a switch for each"),
    ("F3", "the workbench: events as they fire; read, mend, replay and test a hook"),
    ("Ctrl-T", "the whole conversation, nothing folded"),
    ("Ctrl-L, Ctrl-Z", "draw the screen again; suspend"),
)

#: Events that are named on the start screen, those with the most hooks first.
_MOST_EVENTS = 6


def welcome(
    facts: StatusFacts, version: str, events: Sequence[str], more: Mapping[str, str]
) -> RenderableType:
    """Draw the start screen; `more` are facts of `welcome_facts`."""
    key = f" · key: {more['key']}" if more.get("key") else ""
    rows: list[RenderableType] = [
        Text("hookline ", "bold cyan").append(version, "cyan").append(" · an agent under your hooks", "dim"),
        _row("model", f"{facts.model}{key}"),
        _row("mode", f"{facts.mode} (Shift-Tab changes it)"),
        _row("directory", facts.directory),
        _row("hooks", _hooks(facts, events)),
    ]
    if facts.untrusted:
        they, them = ("it does", "it") if facts.untrusted == 1 else ("they do", "them")
        says = f"{facts.untrusted} of them not trusted, so {they} not run; /trust shows {them} and asks"
        rows.append(_row("", says, "yellow"))
    rows += [_row(name, more[name]) for name in ("reads", "servers", "last") if name in more]
    rows.append(Text("Enter sends · /help lists commands and keys · Ctrl-C stops · Ctrl-D leaves", "dim"))
    return stack(rows)


def _row(name: str, value: str, style: str = "") -> RenderableType:
    return marked(f"  {name:10}", "dim", words(one_line(value, 300), style))


def _hooks(facts: StatusFacts, events: Sequence[str]) -> str:
    if not facts.hooks:
        return "none active; `hookline guard add recommended` adds five guards"
    numbers = Counter(events).most_common()
    counts = ", ".join(f"{event} {number}" for event, number in numbers[:_MOST_EVENTS])
    counts += f" and {len(numbers) - _MOST_EVENTS} more events" if len(numbers) > _MOST_EVENTS else ""
    off = f"; {facts.not_enforced} not enforced" if facts.not_enforced else ""
    what = "configured" if facts.untrusted else "active"
    return f"{facts.hooks} {what}: {counts}{off} (F2 shows them, F3 their runs)"


def keys_card() -> RenderableType:
    return stack([marked(f"  {keys:19}", "bold", Text(says)) for keys, says in KEYS])


def welcome_facts(ready: BuiltAgent) -> Mapping[str, str]:
    """Return the key, instructions, MCP servers and the last session, by name; what there is not is left out.

    Reads files.
    """
    agent, cwd, env = ready.agent, ready.agent.workplace.cwd, ready.agent.workplace.env
    files = at_start(agent.hooks.info.project_dir or cwd, cwd, env)
    servers = [connection.spec.name for connection in ready.servers.connections]
    facts = {
        "key": _key(agent.model_name, env),
        "reads": ", ".join(near(each.file) for each in files if os.path.isfile(each.file)),
        "servers": ", ".join(servers),
    }
    if ready.source == "startup":
        facts["last"] = _last_session(SessionsStore(env, cwd), ready.session_id)
    return {name: value for name, value in facts.items() if value}


def _key(model: str, env: Mapping[str, str]) -> str:
    """Return the variable with the key that is used, never the key."""
    provider = PROVIDERS.get(model.partition(":")[0])
    if provider is None:
        return ""
    found = next((name for name in provider.key_variables if env.get(name)), None)
    return found or ("none needed" if not provider.needs_key else "none set")


def _last_session(store: SessionsStore, but: str) -> str:
    with suppress(TranscriptError, OSError):
        last = store.last(but)
        return f"{when_used(last)} {one_line(opening(last.path).prompt, 60)} (/resume last continues it)"
    return ""
