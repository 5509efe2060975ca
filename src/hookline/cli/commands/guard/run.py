"""Add, list, change and remove the guards of Hookline's own files."""

import argparse
import os
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Any, Protocol, cast

from hookline.cli.commands.guard.add import add, add_recommended
from hookline.cli.commands.guard.files import (
    format_of_file,
    guard_of,
    is_trusted,
    own_hooks,
    trust_written,
    with_mode,
    without,
)
from hookline.cli.commands.guard.report import (
    AddedDocument,
    ChangesDocument,
    GuardDocument,
    GuardFacts,
    GuardsDocument,
)
from hookline.cli.engines import working_directory
from hookline.cli.output import ExitStatus, note, show
from hookline.cli.requests import RequestError
from hookline.cli.text import paragraph, terminal_width
from hookline.config.engine import Engine
from hookline.config.install.files import refuse_unwritable, replace, snapshot
from hookline.config.pauses import GuardPauses
from hookline.config.rules import rule_of
from hookline.documents.edit import found_at, read_value
from hookline.guards import RECOMMENDED
from hookline.history.journal_index import JournalHook, JournalIndex, hook_name
from hookline.matching.nearest import nearest
from hookline.model.hook import Hook
from hookline.model.run import Mode
from hookline.model.safe_text import one_line

#: The name of the recommended guards together.
_RECOMMENDED = "recommended"
_DONE: Mapping[Mode, str] = {"enforce": "promoted", "shadow": "demoted", "off": "switched off"}


class _Document(Protocol):
    def as_json(self) -> str: ...
    def as_text(self, width: int) -> str: ...


async def run(args: argparse.Namespace) -> ExitStatus:
    action, *words = args.words or ["list"]
    if action not in _ACTIONS:
        close = nearest(action, _ACTIONS)
        meant = f"did you mean {close!r}?" if close else f"say one of {', '.join(_ACTIONS)}"
        raise RequestError(f"unknown action {one_line(action, 200)!r}; {meant}")
    return await _ACTIONS[action](args, working_directory(args.cwd), words)


def _show(document: _Document, args: argparse.Namespace, problem: str | None = None) -> ExitStatus:
    shown = show(document.as_json() if args.json else document.as_text(terminal_width()), as_json=args.json)
    if problem is None:
        return shown
    note(one_line(f"hookline guard: {problem}", 1000))
    return ExitStatus.PROBLEM


async def _add(args: argparse.Namespace, cwd: str, words: Sequence[str]) -> ExitStatus:
    if not words and not args.tests:
        from hookline.cli.commands.guard.builtins import builtin_guards  # past sessions are read only here

        return _show(await builtin_guards(), args)
    if words and words[0] == _RECOMMENDED:
        recommended = await add_recommended(args, cwd, words[1:])
        return _show(recommended, args, recommended.problem)
    document = await add(args, cwd, words)
    return _show(document, args, document.problem if isinstance(document, AddedDocument) else None)


async def _list(args: argparse.Namespace, cwd: str, words: Sequence[str]) -> ExitStatus:
    if words:
        raise RequestError(f"list takes no name: remove {one_line(words[0], 200)!r}")
    return _show(GuardsDocument(tuple(_facts(hook, record) for hook, record in _with_records(cwd))), args)


async def _set_mode(mode: Mode, args: argparse.Namespace, cwd: str, words: Sequence[str]) -> ExitStatus:
    found = _named(args, cwd, words)
    waiting = [each for each in found if each[0].mode != mode or each[0].disabled_by is not None]
    if not waiting:
        names = ", ".join(hook.name for hook, _ in found)
        note(one_line(f"hookline guard: {names}: in mode {mode} already", 500))
        return ExitStatus.PROBLEM
    if mode == "enforce" and not args.yes and not _agreed([_facts(*each) for each in waiting]):
        note("hookline guard: nothing was changed")
        return ExitStatus.PROBLEM
    # One after the other: a change in a file moves what follows it.
    changed = [_change_mode(mode, cwd, hook) for hook, _ in waiting]
    problem = next((problem for _, problem in changed if problem is not None), None)
    status = _show(_changes([document for document, _ in changed]), args, problem)
    if mode != "enforce":
        _say_of_sessions(args, cwd, [hook.name for hook, _ in waiting])
    return status


def _change_mode(mode: Mode, cwd: str, hook: Hook) -> tuple[GuardDocument, str | None]:
    """Write the mode, and return why the change is not trusted, if it is not."""
    trusted, rule = is_trusted(cwd, hook), _rule_text(hook)
    before = snapshot(hook.where.file)
    refuse_unwritable(before)
    replace(before, with_mode(before, hook.where.path, mode).encode())
    problem = trust_written(cwd, before.file, hook.name) if trusted else None
    return GuardDocument(_DONE[mode], hook.name, rule, mode, before.file), problem


def _changes(documents: Sequence[GuardDocument]) -> _Document:
    return documents[0] if len(documents) == 1 else ChangesDocument(tuple(documents))


async def _test(args: argparse.Namespace, cwd: str, words: Sequence[str]) -> ExitStatus:
    if not words:
        raise RequestError("say which line: hookline guard test 'git push --force'")
    from hookline.cli.commands.guard.ask_about_line import ask_about

    document = await ask_about(" ".join(words), cwd)
    shown = _show(document, args)
    return ExitStatus.BLOCKED if document.decision == "deny" else shown


async def _pause(args: argparse.Namespace, cwd: str, words: Sequence[str]) -> ExitStatus:
    from hookline.cli.commands.guard.pause import pause

    document = pause(args, _one(args, cwd, words))
    return ExitStatus.PROBLEM if document is None else _show(document, args)


async def _resume(args: argparse.Namespace, cwd: str, words: Sequence[str]) -> ExitStatus:
    from hookline.cli.commands.guard.pause import resume

    return _show(resume(_one(args, cwd, words)), args)


def _one(args: argparse.Namespace, cwd: str, words: Sequence[str]) -> Hook:
    """Return the named hook; one that an administrator manages is refused by that reason."""
    managed = [
        hook for hook in own_hooks(Engine(), cwd) if hook.scope == "managed" and [hook.name] == [*words]
    ]
    if managed:
        raise RequestError(f"{managed[0].name} is managed ({managed[0].where}): it cannot be paused")
    found = _named(args, cwd, words)
    if len(found) > 1:
        raise RequestError("say one guard: a pause lets calls past one guard, not past all of them")
    return found[0][0]


async def _remove(args: argparse.Namespace, cwd: str, words: Sequence[str]) -> ExitStatus:
    removed: list[GuardDocument] = []
    # From the last to the first: the paths of those before a removed entry stay as they are.
    for hook, _ in sorted(_named(args, cwd, words), key=lambda each: each[0].where.path[2:], reverse=True):
        rule, before = _rule_text(hook), snapshot(hook.where.file)
        refuse_unwritable(before)
        replace(before, without(before, hook.where.path).encode())
        removed.append(GuardDocument("removed", hook.name, rule, hook.mode, before.file))
    status = _show(_changes(removed), args)
    _say_of_sessions(args, cwd, [document.name for document in removed])
    return status


def _say_of_sessions(args: argparse.Namespace, cwd: str, names: Sequence[str]) -> None:
    """Say that running sessions miss a guard that they began with: they ask at each call."""
    from hookline.cli.commands.trust.run import look_around

    missed = look_around(cwd, report=False).missed.values() if not args.json else ()
    if any(each.label.partition(" (")[0] in names for each in missed):
        text = "Sessions here that began with it ask you at each call, until you run `hookline trust`."
        show(paragraph(text, terminal_width()))


#: A further action is a line here and a function above.
_ACTIONS: Mapping[str, Callable[[argparse.Namespace, str, Sequence[str]], Awaitable[ExitStatus]]] = {
    "add": _add,
    "list": _list,
    "test": _test,
    "promote": partial(_set_mode, "enforce"),
    "demote": partial(_set_mode, "shadow"),
    "off": partial(_set_mode, "off"),
    "remove": _remove,
    "pause": _pause,
    "resume": _resume,
}


def _agreed(facts: Sequence[GuardFacts]) -> bool:
    """Show their decisions in shadow mode, and ask the user."""
    text = "\n".join(each.as_text(terminal_width()) for each in facts)
    if not sys.stdin.isatty():
        note(text)
        note("hookline guard: use --yes to enforce without a question")
        return False
    show(text)
    sys.stdout.write(f"Enforce {', '.join(each.name for each in facts)}? [y/N] ")
    sys.stdout.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _with_records(cwd: str) -> list[tuple[Hook, JournalHook]]:
    index = JournalIndex(os.environ)
    return [
        (hook, index.hooks.get(hook_name(hook.event.name, hook.name, str(hook.where)), JournalHook()))
        for hook in own_hooks(Engine(), cwd)
        if hook.where.file
    ]


def _named(args: argparse.Namespace, cwd: str, words: Sequence[str]) -> Sequence[tuple[Hook, JournalHook]]:
    """Return the named hook, which must be the only one of that name; or the recommended guards that are here."""
    if len(words) != 1:
        raise RequestError(f"say which guard: hookline guard {args.words[0]} NAME")
    name = words[0]
    known = [each for each in _with_records(cwd) if each[0].scope != "managed"]
    named = [(hook, record) for hook, record in known if hook.name == name]
    found = named or [each for each in known if name == _RECOMMENDED and guard_of(each[0]) in RECOMMENDED]
    if args.user:
        found = [(hook, record) for hook, record in found if hook.scope == "user"]
    if not found:
        close = nearest(name, [hook.name for hook, _ in known])
        raise RequestError(
            f"no hook of Hookline's own files is called {one_line(name, 200)!r}"
            + (f"; did you mean {close!r}?" if close else "; `hookline guard list` shows them")
        )
    if len(named) > 1:
        places = ", ".join(str(hook.where) for hook, _ in found)
        raise RequestError(f"several hooks are called {name!r}: {places}; give each a different name")
    return found


def _facts(hook: Hook, record: JournalHook) -> GuardFacts:
    rule = _rule_text(hook)
    lasting = GuardPauses(os.environ).pause_of(hook)
    return GuardFacts(
        hook.name, rule, hook.mode, str(hook.where), hook.scope, hook.event.name, record.runs, record.shadow_runs,
        record.shadow, record.last_decision, record.last, lasting.ends if lasting is not None else 0.0,
    )  # fmt: skip


def _rule_text(hook: Hook) -> str:
    """Return the rule of a hook; for any other, its type."""
    before = snapshot(hook.where.file)
    value = read_value(before.text or "", format_of_file(before))
    entry, group = found_at(value, hook.where.path), found_at(value, hook.where.path[:-2])
    if not isinstance(entry, dict) or not isinstance(group, dict):
        return f"{hook.kind} hook"
    rule = rule_of(cast("dict[str, Any]", entry), cast("dict[str, Any]", group).get("matcher"))
    return str(rule) if rule is not None else f"{hook.kind} hook"
