"""Describe one run in full: what the hook got, what it printed, what was understood of it, and what it changed."""

import json
import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from time import localtime, strftime
from typing import TYPE_CHECKING, Any

import msgspec

from hookline.agent.call_text import near, rewrite_text
from hookline.handlers.command import left_out
from hookline.journal.run_text import NO_ANSWER, effects_of, result_words
from hookline.model.events import field_of
from hookline.model.outcome import Outcome
from hookline.model.safe_text import one_line, printable

if TYPE_CHECKING:
    from hookline.agent.hooks import FiredEvent
    from hookline.agent.tui.workbench.events import Account
    from hookline.config.engine import Engine
    from hookline.model.wire import HookInvocation

#: A style of prompt_toolkit, and a text without a line break.
Line = tuple[str, str]

_BOLD, _DIM = "bold", "fg:ansibrightblack"
_COLOURS = {"deny": "fg:ansired", "ask": "fg:ansiyellow", "allow": "fg:ansigreen"}
#: Characters of each text; a session's journal and transcript have more.
_LONGEST = 40_000
#: Kinds whose input is a document that their wire writes.
_GETS_DOCUMENT = ("command", "http", "mcp_tool")
_MOST_NAMES = 12


def headline_of(fired: "FiredEvent") -> str:
    """Return the event and what it is about, on one line."""
    payload = fired.payload
    tool, prompt = getattr(payload, "tool_name", ""), getattr(payload, "prompt", "")
    about = [fired.event_name, str(tool or ""), _main(payload) or (prompt if isinstance(prompt, str) else "")]
    agent = f"[{fired.agent}]" if fired.agent else ""
    return one_line(" ".join(filter(None, (agent, *about))), 300)


def _main(payload: Any) -> str:
    from hookline.journal.journal import input_summary  # noqa: PLC0415 with the first event

    return near(input_summary(getattr(payload, "tool_input", None)))


def outcome_words(fired: "FiredEvent") -> str:
    """Return the outcome in a word or two."""
    outcome = fired.outcome
    if fired.interrupted:
        return "interrupted"
    if outcome.blocked:
        return "denied"
    if outcome.permission in ("ask", "allow", "defer"):
        return {"ask": "asks", "allow": "allowed", "defer": "deferred"}[outcome.permission]
    if outcome.stop:
        return "stopped"
    return "rewritten" if outcome.edits else "passed"


def result_of(account: "Account", outcome: Outcome) -> tuple[str, str]:
    """Return a run's result in a word or two, and the rest of the line."""
    run = account.run
    if run.status == "skipped" and account.ran:
        return "skipped", f", {run.detail}" if run.detail else ""
    if not account.ran:
        return "not run", f": {run.why}"
    effects = ", ".join(effects_of(outcome).get(run.hook, ()))
    return result_words(run, effects)


def style_of(word: str, account: "Account") -> str:
    if not account.ran or word in ("skipped", "not run"):
        return _DIM
    if account.run.mode in ("shadow", "paused"):
        return "fg:ansimagenta"
    return _COLOURS.get(word, "fg:ansiyellow" if account.run.status in NO_ANSWER else "")


def details(
    engine: "Engine", fired: "FiredEvent", account: "Account", call: "HookInvocation | None"
) -> list[Line]:
    """Return the lines. The call is None where it is not remembered any more."""
    run, hook = account.run, account.hook
    word, rest = result_of(account, fired.outcome)
    at = strftime("%H:%M:%S", localtime(run.at or fired.at))
    lines: list[Line] = [
        (_BOLD, f"{run.hook} · {hook.event_label} · {near(run.source) or hook.kind}"),
        (style_of(word, account), f"{word}{rest}"),
        ("", f"{at} · {headline_of(fired)}"),
        ("", f"why: {run.why}"),
    ]
    if run.doubt:
        lines.append(("", f"in doubt: {run.doubt}"))
    redact = engine.journal.without_secrets
    if account.ran:
        lines += _printed(account)
        lines += _understood(account, fired, redact)
        lines += _got(engine, call, redact)
    return [(style, printable(line)) for style, text in lines for line in text.split("\n")]


def _section(title: str, text: str) -> Iterator[Line]:
    yield "", ""
    yield _BOLD, title
    cut = (
        text
        if len(text) <= _LONGEST
        else f"{text[:_LONGEST]}\n[... {len(text) - _LONGEST:,} more characters ...]"
    )
    for line in cut.split("\n"):
        yield "", f"  {line}"


def _got(engine: "Engine", call: "HookInvocation | None", redact: Any) -> Iterator[Line]:
    if call is None:
        yield from _section("it got", "(not remembered any more: only the last runs are)")
        return
    spec = call.hook.spec
    if call.hook.kind not in _GETS_DOCUMENT:
        yield from _section("it got", _pretty(redact(msgspec.to_builtins(call.payload, enc_hook=str))))
        return
    try:
        encoded = call.hook.wire.encode(call)
    except Exception as problem:  # noqa: BLE001 a host's payload can fail in any way when it is encoded
        yield from _section("it got", f"(it cannot be written: {type(problem).__name__}: {problem})")
        return
    if call.hook.kind == "command":
        yield from _section("command", " ".join([str(spec.command), *(spec.args or ())]))
    title = "it got on stdin" if call.hook.kind == "command" else "it got"
    yield from _section(title, _document(encoded.document, redact))
    if call.hook.kind == "command":
        given: dict[str, str] = {**encoded.env, **(getattr(spec, "env", None) or {}), **call.env}
        without = left_out(engine.env, call.hook)
        shown = [f"{name}={value}" for name, value in sorted(redact(given).items())]
        names = ", ".join(without[:_MOST_NAMES]) + (
            f" and {len(without) - _MOST_NAMES} more" if len(without) > _MOST_NAMES else ""
        )
        shown.append(f"(and those of the session{f', without {names}' if without else ''})")
        yield from _section("variables", "\n".join(shown))


def _document(document: bytes, redact: Any) -> str:
    try:
        return _pretty(redact(json.loads(document)))
    except ValueError:
        return redact(document.decode("utf-8", "replace"))


def _pretty(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False, default=str)


def _printed(account: "Account") -> Iterator[Line]:
    run = account.run
    if run.exit_code is None and run.signal is None and not run.stdout and not run.stderr:
        return
    ended = f"exit status {run.exit_code}" if run.exit_code is not None else f"ended by signal {run.signal}"
    cut = ", cut" if run.truncated else ""
    yield from _section(f"stdout{cut}", run.stdout.rstrip() or "(nothing)")
    yield from _section(f"stderr{cut}", run.stderr.rstrip() or "(nothing)")
    yield from (("", ""), (_BOLD, ended if run.exit_code is not None or run.signal else "no exit status"))


def _understood(account: "Account", fired: "FiredEvent", redact: Any) -> Iterator[Line]:
    run, outcome = account.run, redact(fired.outcome)
    parts = [f"{run.decision}{f': {run.reason}' if run.reason else ''}" if run.decision else "no decision"]
    parts += [run.detail] if run.detail and run.detail not in (run.reason or "") else []
    parts += [f"not counted: {', '.join(run.dropped)}"] if run.dropped else []
    if run.status in NO_ANSWER:
        parts += ["it gave no answer, which " + ("fails open" if run.failed_open else "fails closed")]
    if run.mode != "enforce":
        parts += [f"mode {run.mode}: recorded, not applied"]
    yield from _section("understood as", "\n".join(parts))
    changes = list(_changes(run.hook, outcome, fired.payload))
    yield from _section("it changed", "\n".join(changes) or "(nothing)")


def _changes(hook: str, outcome: Outcome, payload: Any) -> Iterator[str]:
    for edit in outcome.edits:
        if edit.by == hook:
            yield rewrite_text(edit.field, field_of(payload, edit.field), outcome.updated(edit.field), 2000)
    yield from (f"added for the model: {item.text}" for item in outcome.context_items if item.hook == hook)
    yield from (f"showed the user: {each.text}" for each in outcome.messages if each.hook == hook)
    yield from (f"stopped the run: {each.reason}" for each in outcome.halts if each.by == hook)


def comparison(
    before: "FiredEvent", old: "Sequence[Account]", now: "FiredEvent", new: "Sequence[Account]", columns: int
) -> list[Line]:
    """Return both outcomes side by side, or one below the other where it is narrow; changes are marked."""
    rows: list[tuple[str, str, str]] = [("outcome", _outcome(before), _outcome(now))]
    words_old, words_new = _by_hook(old, before.outcome), _by_hook(new, now.outcome)
    rows += [
        (name, words_old.get(name, "(not there)"), words_new.get(name, "(not there)"))
        for name in {**words_old, **words_new}
    ]
    lines: list[Line] = [(_BOLD, headline_of(before)), ("", "")]
    name_width = min(max(len(name) for name, _old, _new in rows), 24)
    half = (columns - name_width - 5) // 2
    side_by_side = half >= 24
    if side_by_side:
        lines.append((_DIM, f"  {'':{name_width}} {'before':{half}} now"))
    for name, was, is_now in rows:
        changed = _without_times(was) != _without_times(is_now)
        mark, style = ("≠", "fg:ansiyellow bold") if changed else ("=", "")
        if side_by_side:
            first, second = _wrap(was, half - 1), _wrap(is_now, half - 1)
            for at in range(max(len(first), len(second))):
                left, right = (part[at] if at < len(part) else "" for part in (first, second))
                shown = one_line(name, name_width) if not at else ""
                lines.append(
                    (style, f"{mark if not at else ' '} {shown:{name_width}} {left:{half}} {right}".rstrip())
                )
        else:
            lines += [
                (style, f"{mark} {name}"),
                (_DIM, f"    before: {was}"),
                (style, f"    now:    {is_now}"),
            ]
    return [(style, printable(text)) for style, text in lines]


def _wrap(text: str, width: int) -> list[str]:
    return (textwrap.wrap(text, width) or [""])[:6]


def _outcome(fired: "FiredEvent") -> str:
    reason = fired.outcome.reason
    return f"{outcome_words(fired)}{f': {one_line(reason, 200)}' if reason else ''}"


def _by_hook(found: "Sequence[Account]", outcome: Outcome) -> Mapping[str, str]:
    words: dict[str, str] = {}
    for account in found:
        word, rest = result_of(account, outcome)
        name = one_line(account.run.hook, 40)
        words[name] = f"{words[name]}; {word}{rest}" if name in words else f"{word}{rest}"
    return words


def _without_times(text: str) -> str:
    return re.sub(r", \d+ ms\b", "", text)


def explanation(fired: "FiredEvent", found: "Sequence[Account]") -> list[Line]:
    """Return every hook of the event in config order, and why it ran or did not."""
    lines: list[Line] = [(_BOLD, f"{headline_of(fired)}: {_outcome(fired)}")]
    for account in found:
        run = account.run
        word, _rest = result_of(account, fired.outcome)
        lines += [
            ("", ""),
            (style_of(word, account), f"{run.hook} · {near(run.source) or account.hook.kind}: {word}"),
            ("", f"  {run.why}"),
        ]
        lines += [("", f"  {run.detail}")] if run.detail else []
    if not found:
        lines.append(("", "no hook is configured for it"))
    return [(style, printable(line)) for style, text in lines for line in text.split("\n")]
