"""Gather what needs trust, show it, and store the user's answer."""

import argparse
import os
import sys

from hookline.agent.project_items import project_items
from hookline.cli.commands.trust.report import (
    as_json,
    as_text,
    diff_text,
    is_shown_whole,
    projects_document,
)
from hookline.cli.engines import inspection_engine, report_diagnostics, working_directory
from hookline.cli.output import ExitStatus, note, show, show_part
from hookline.cli.requests import RequestError, answer_to
from hookline.cli.text import count_of, json_lines, table, terminal_width, with_tilde
from hookline.model.safe_text import one_line
from hookline.trust.comparison import difference
from hookline.trust.project import is_trusted_directory, project_root, trust_root
from hookline.trust.review import Review, review
from hookline.trust.store import TrustStore
from hookline.trust.trust import TrustOptions

_LONGEST = 500


def run(args: argparse.Namespace) -> ExitStatus:
    if args.list:
        return _list(as_json=args.json)
    if args.revoke is not None:
        return _revoke(args.revoke or args.cwd or ".")
    found = look_around(working_directory(args.cwd))
    for problem in found.trust.problems:
        note(one_line(f"hookline trust: {problem}", _LONGEST))
    if args.yes is not None:
        return _accept_named(found, args.yes)
    if args.diff:
        return show(_difference(found)) or _status(found)
    return _show(found, as_json_document=args.json)


def look_around(cwd: str, *, report: bool = True) -> Review:
    """Return everything that needs trust there, including what the environment trusts."""
    engine = inspection_engine()
    trust = engine.trust_in(cwd, TrustOptions(environment=False))
    loaded = engine.loader.directory(cwd, trust=trust)
    if report:
        # Because of an error, a part of the file may not be shown.
        report_diagnostics(loaded.errors)
    dormant = engine.loader.dormant(cwd, trust=trust)
    others = (*loaded.loosening, *project_items(cwd, os.environ, trust))
    return review(trust, loaded.hooks, dormant.awaited, others)


def _show(found: Review, *, as_json_document: bool) -> ExitStatus:
    if as_json_document:
        return show(as_json(found), as_json=True) or _status(found)
    if status := show_part(as_text(found, terminal_width())):
        return status
    if _is_settled(found):
        return _status(found)
    whole = is_shown_whole(found)
    if whole and sys.stdin.isatty() and sys.stdout.isatty():
        return _ask(found)
    more = "" if whole else "\nNot all of it can be shown here. `hookline trust --json` shows all of it."
    show(f"{more}\nTo trust exactly this: hookline trust --yes {','.join(found.hashes)}")
    return ExitStatus.PROBLEM


def _is_settled(found: Review) -> bool:
    return not found.pending and not found.missed


def _status(found: Review) -> ExitStatus:
    return ExitStatus.OK if _is_settled(found) and not found.trust.problems else ExitStatus.PROBLEM


def _ask(found: Review) -> ExitStatus:
    """Ask once, at the terminal. Anything but a clear yes is a no."""
    changed = any(entry.status.state == "modified" for entry in found.pending)
    pending = count_of(len(found.pending), "item")
    parts = [f"trust {pending} as shown"] if found.pending else []
    parts += ["continue without the guards named above"] if found.missed else []
    what = " and ".join(parts).capitalize()
    question = f"\n{what}? [y]es, [n]o{', [d]ifference' if changed else ''}: "
    while True:
        answer = answer_to(question)
        if changed and answer in ("d", "diff", "difference"):
            show(_difference(found))
            continue
        if answer in ("y", "yes"):
            found.accept(found.pending)
            show(f"trusted {pending}" if found.pending else "noted")
            return ExitStatus.OK
        show("nothing was trusted")
        return ExitStatus.PROBLEM


def _accept_named(found: Review, given: str) -> ExitStatus:
    hashes = [each.strip() for each in given.split(",") if each.strip()]
    entries, unknown = found.named(hashes)
    if unknown or not hashes:
        raise RequestError(
            "the hashes do not match the current items, so nothing was trusted; "
            "run `hookline trust` and check what changed"
        )
    confirmed = found.missed_hash in hashes
    found.accept(entries, guards=confirmed)
    left = len(found.pending) - len(entries)
    show(f"trusted {count_of(len(entries), 'item')}" + (f"; {left} more are not trusted" if left else ""))
    return ExitStatus.PROBLEM if left or (found.missed and not confirmed) else ExitStatus.OK


def _difference(found: Review) -> str:
    lines = [
        line
        for entry in found.pending
        if entry.status.state == "modified"
        for line in difference(entry, found.trust)
    ]
    if not lines:
        return "nothing that you trusted has changed"
    return diff_text(lines, terminal_width())


def _list(*, as_json: bool) -> ExitStatus:
    store = TrustStore(os.environ.get("HOME", ""))
    document = projects_document(list(store.projects()), store.problems)
    for problem in document.problems:
        note(one_line(f"hookline trust: {problem}", _LONGEST))
    if as_json:
        shown = show(json_lines(document), as_json=True)
    elif document.projects:
        rows = [[with_tilde(each.root), count_of(each.items, "item"), each.at] for each in document.projects]
        shown = show(table(rows, terminal_width()))
    else:
        shown = show("nothing is trusted in any project")
    return ExitStatus.PROBLEM if document.problems else shown


def _revoke(directory: str) -> ExitStatus:
    """Revoke trust in the directory itself, which may be gone or a plugin's, then in its project."""
    given = os.path.realpath(os.path.expanduser(directory))
    store = TrustStore(os.environ.get("HOME", ""))
    roots = dict.fromkeys((given, trust_root(project_root(given))))
    forgotten = next((root for root in roots if store.revoke(root)), None)
    if any(is_trusted_directory(root, os.environ) for root in roots):
        note(
            one_line(f"hookline trust: `trusted` of your settings still names {with_tilde(given)}", _LONGEST)
        )
    if forgotten is None:
        raise RequestError(
            f"nothing was trusted in {one_line(given, _LONGEST)}; `hookline trust --list` shows where"
        )
    return show(one_line(f"withdrew the trust in {with_tilde(forgotten)}", _LONGEST))
