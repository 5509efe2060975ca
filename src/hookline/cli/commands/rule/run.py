"""Edit the native file in place, and show what a rule has said."""

import argparse
import os
import sys
from collections.abc import Sequence
from typing import Any, cast

from hookline.cli.commands.rule import ACTIONS
from hookline.cli.commands.rule.report import RuleDocument, RuleFacts, RulesDocument
from hookline.cli.engines import working_directory
from hookline.cli.output import ExitStatus, note, show
from hookline.cli.requests import RequestError
from hookline.cli.text import terminal_width
from hookline.config.engine import Engine
from hookline.config.install.files import Snapshot, refuse_unwritable, replace, snapshot
from hookline.config.rules import EVENT, RuleError, parse_rule, rule_entry, rule_hooks, rule_of
from hookline.dialects.dialect import SUFFIXES, nearest_project, user_directory
from hookline.dialects.registry import OWN_FORMAT
from hookline.documents.document import Format, format_of
from hookline.documents.edit import appended, found_at, read_value, removed, with_value
from hookline.matching.nearest import nearest
from hookline.model.diagnostics import Path
from hookline.model.hook import Hook
from hookline.model.run import Mode
from hookline.model.safe_text import one_line
from hookline.replay.journal_index import HookRecord, JournalIndex, hook_name
from hookline.trust.project import project_root
from hookline.trust.store import StoreError

_MODES: dict[str, Mode] = {"promote": "enforce", "demote": "shadow", "off": "off"}


def run(args: argparse.Namespace) -> ExitStatus:
    action, *rest = args.words or [""]
    if action not in ACTIONS:
        close = nearest(action, ACTIONS) if action else None
        meant = f"did you mean {close}?" if close else f"say one of {', '.join(ACTIONS)}"
        raise RequestError(
            f"there is no action {action!r}; {meant}" if action else f"what is to be done? {meant}"
        )
    cwd = working_directory(args.cwd)
    if action == "list":
        _no_more(rest, 0)
        return _show(RulesDocument(tuple(_facts(hook, record) for hook, record in _with_records(cwd))), args)
    if action == "add":
        _no_more(rest, 2)
        return _add(args, cwd, rest)
    _no_more(rest, 1)
    return _set_mode(args, cwd, rest, _MODES[action])


def _no_more(words: Sequence[str], most: int) -> None:
    if len(words) > most:
        raise RequestError(f"do not know what to do with {words[most]!r}: put a rule in quotes")


def _show(document: RuleDocument | RulesDocument, args: argparse.Namespace) -> ExitStatus:
    return show(document.as_json() if args.json else document.as_text(terminal_width()), as_json=args.json)


# A new rule


def _add(args: argparse.Namespace, cwd: str, words: Sequence[str]) -> ExitStatus:
    if len(words) != 2:
        raise RequestError(
            "say its name and what it does: hookline rule add NAME 'deny Bash(git push --force*)'"
        )
    name, rule = words[0].strip(), parse_rule(words[1])
    if not name or not name.isprintable():
        raise RequestError(f"{words[0]!r} is no name for a rule")
    engine = Engine()
    rule_hooks(engine.loader, {name: rule})  # a rule that can never hold is told before it is written
    before = snapshot(_file(engine, cwd, user=args.user), None if args.user else project_root(cwd))
    if any(hook.name == name for hook in _hooks(engine, cwd)):
        raise RuleError(f"there is a hook {name!r} already; `hookline rule list` shows where")
    refuse_unwritable(before)
    group = {"hooks": [rule_entry(name, rule, args.mode)]}
    text = appended(before.text or "", _format(before), ("hooks", EVENT), group)
    replace(before, text.encode())
    problem = _trust(cwd, before.file, name)
    return _done(args, "added", name, str(rule), args.mode, before.file, problem)


def _file(engine: Engine, cwd: str, *, user: bool) -> str:
    """The file in force in the project or of the user; where there is none, the one to write."""
    own = engine.loader.dialect(OWN_FORMAT)
    project = nearest_project(cwd, own.project_files)
    folder = user_directory(os.environ) if user else os.path.join(project, own.folder)
    if folder is None:
        raise RequestError("you have no home directory: set HOME")
    files = [os.path.join(folder, f"hooks.{suffix}") for suffix in SUFFIXES]
    return next((file for file in files if os.path.lexists(file)), files[0])


def _format(file: Snapshot) -> Format:
    return format_of(file.file) or "toml"


def _done(
    args: argparse.Namespace, done: str, name: str, rule: str, mode: str, file: str, problem: str | None
) -> ExitStatus:
    status = _show(RuleDocument(done, name, rule, mode, file), args)
    if problem is not None:
        note(one_line(f"hookline rule: {problem}", 1000))
        return ExitStatus.PROBLEM
    return status


# The mode of a hook that is there


def _set_mode(args: argparse.Namespace, cwd: str, words: Sequence[str], mode: Mode) -> ExitStatus:
    if not words:
        raise RequestError(f"which rule? hookline rule {args.words[0]} NAME")
    hook, record = _named(cwd, words[0], user=args.user)
    facts = _facts(hook, record)
    if hook.mode == mode and hook.disabled_by is None:
        note(one_line(f"hookline rule: {hook.name} is in mode {mode} already", 500))
        return ExitStatus.PROBLEM
    if mode == "enforce" and not args.yes and not _agreed(facts):
        note("hookline rule: nothing was changed")
        return ExitStatus.PROBLEM
    trusted = _is_trusted(cwd, hook)
    before = snapshot(hook.where.file)
    refuse_unwritable(before)
    replace(before, _with_mode(before, hook.where.path, mode).encode())
    problem = _trust(cwd, before.file, hook.name) if trusted else None
    done = {"enforce": "promoted", "shadow": "demoted", "off": "switched off"}[mode]
    return _done(args, done, hook.name, facts.rule, mode, before.file, problem)


def _with_mode(before: Snapshot, entry: Path, mode: Mode) -> str:
    text, form = before.text or "", _format(before)
    if mode == "enforce":
        there = found_at(read_value(text, form), (*entry, "mode")) is not None
        return removed(text, form, (*entry, "mode")) if there else text
    return with_value(text, form, (*entry, "mode"), mode)


def _agreed(facts: RuleFacts) -> bool:
    """What it would have done, and whether the user wants it."""
    if not sys.stdin.isatty():
        note(facts.as_text(terminal_width()))
        note("hookline rule: say --yes to put it in force without a question")
        return False
    show(facts.as_text(terminal_width()))
    sys.stdout.write(f"Put {facts.name} in force? [y/N] ")
    sys.stdout.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")


# What is there


def _hooks(engine: Engine, cwd: str) -> Sequence[Hook]:
    """Of Hookline's own files, for this directory."""
    return engine.load(cwd).hooks


def _with_records(cwd: str) -> list[tuple[Hook, HookRecord]]:
    index = JournalIndex(os.environ)
    return [
        (hook, index.hooks.get(hook_name(hook.event.name, hook.name, str(hook.where)), HookRecord()))
        for hook in _hooks(Engine(), cwd)
        if hook.where.file
    ]


def _named(cwd: str, name: str, *, user: bool) -> tuple[Hook, HookRecord]:
    known = [(hook, record) for hook, record in _with_records(cwd) if hook.scope != "managed"]
    found = [(hook, record) for hook, record in known if hook.name == name]
    if user:
        found = [(hook, record) for hook, record in found if hook.scope == "user"]
    if not found:
        close = nearest(name, [hook.name for hook, _ in known])
        raise RequestError(
            f"no hook of Hookline's own files is called {one_line(name, 200)!r}"
            + (f"; did you mean {close!r}?" if close else "; `hookline rule list` shows them")
        )
    if len(found) > 1:
        places = ", ".join(str(hook.where) for hook, _ in found)
        raise RequestError(f"several hooks are called {name!r}: {places}; give each a name of its own")
    return found[0]


def _facts(hook: Hook, record: HookRecord) -> RuleFacts:
    rule = _rule_text(hook)
    return RuleFacts(
        hook.name, rule, hook.mode, str(hook.where), hook.scope, hook.event.name, record.runs, record.shadow_runs,
        record.shadow, record.last_verdict, record.last,
    )  # fmt: skip


def _rule_text(hook: Hook) -> str:
    """The rule that a hook is; for any other, what runs."""
    before = snapshot(hook.where.file)
    value = read_value(before.text or "", _format(before))
    entry, group = found_at(value, hook.where.path), found_at(value, hook.where.path[:-2])
    if not isinstance(entry, dict) or not isinstance(group, dict):
        return f"{hook.kind} hook"
    rule = rule_of(cast("dict[str, Any]", entry), cast("dict[str, Any]", group).get("matcher"))
    return str(rule) if rule is not None else f"{hook.kind} hook"


# Trust in what was written


def _is_trusted(cwd: str, hook: Hook) -> bool:
    engine = Engine()
    same = [
        each for each in _hooks(engine, cwd) if each.where.file == hook.where.file and each.name == hook.name
    ]
    return engine.trust is not None and all(
        engine.trust.status(each).runs or each.mode == "off" for each in same
    )


def _trust(cwd: str, file: str, name: str) -> str | None:
    """Trust the entry that was written, and nothing else of the file. Why that did not work, if it did not."""
    engine = Engine()
    written = [hook for hook in _hooks(engine, cwd) if hook.where.file == file and hook.name == name]
    trust = engine.trust
    if trust is None or trust.trusts_all:
        return None
    try:
        items = [trust.item(hook) for hook in written if trust.is_foreign(hook.where.file, hook.scope)]
        if items:
            trust.accept(items)
    except StoreError as problem:
        return f"it is written, but it is not trusted yet: {problem}"
    return None if written else f"{file} is written, but it is not in force in {cwd}"
