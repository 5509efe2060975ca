"""Show one run: its facts, the hook's output, and why it ran."""

import difflib
import shlex
from collections.abc import Iterator, Mapping
from typing import Any, Final

import msgspec

from hookline.model.run import Run
from hookline.model.safe_text import one_line
from hookline.team.console.filter import PageFilter
from hookline.team.console.html import Html, h, join
from hookline.team.console.ports import Document
from hookline.team.console.queries import RunRow
from hookline.team.console.views.layout import (
    badge,
    command,
    duration,
    empty,
    facts,
    many,
    recorded,
    section,
    session_address,
)

#: An edit with more lines is shown in part.
_MOST_LINES: Final = 400
_LONGEST_RULE: Final = 300
#: The source of a payload, by its name in the document.
_ORIGINS: Final = {
    "record": "kept when the hook ran, secrets redacted",
    "transcript": "from the agent's transcript, secrets redacted",
    "journal": "recomputed from the one line that the journal keeps of the input",
}


def body(row: RunRow, run: Run, kept: Any, *, explained: bool, now: float) -> Html:
    """Render the page. `kept` is the payload as it was recorded; None if it was not."""
    call = run.call
    said = run.reason or run.detail
    head = h(
        "div",
        badge(row),
        h("h1", one_line(run.hook, 120)),
        h("p", h("b", call.tool), " ", h("code", call.input), class_="call")
        if call.tool or call.input
        else None,
        h("p", said, class_="reason") if said else None,
        class_="run-title",
    )
    why = (
        h(
            "div",
            section("Why it ran", empty("Reading the hooks that are active there now …")),
            id="why",
            data_state="running",
            data_reload=f"{row.address}/why",
        )
        if explained
        else section(
            "Why it ran", empty(f"It ran on {row.machine}: only that machine has its configuration.")
        )
    )
    return join(
        head,
        h(
            "div",
            h(
                "div",
                _facts(row, run, now),
                _output(run),
                _payload("record", kept) if kept is not None else None,
            ),
            h("div", why, _again(run, "" if explained else row.machine)),
            class_="pair run-page",
        ),
    )


def _facts(row: RunRow, run: Run, now: float) -> Html:
    call = run.call
    flags = [
        word
        for word, holds in (
            ("passed without an answer", run.failed_open),
            ("in shadow mode: recorded, not applied", run.mode == "shadow"),
            ("paused by a person: recorded, not applied", run.mode == "paused"),
            ("asked again on the final input", run.recheck),
            ("warm: by an interpreter started ahead", bool(run.warm)),
            ("output truncated", run.truncated),
        )
        if holds
    ]
    return section(
        "Facts",
        facts(
            [
                (
                    "Time",
                    join(
                        recorded(run.at, now),
                        h("span", f" · took {duration(run.duration_ms)}", class_="soft"),
                    ),
                ),
                ("Waited", duration(run.queue_ms) if run.queue_ms >= 1 else None),
                ("Status", " · ".join(filter(None, (run.status.replace("_", " "), run.cause, run.decision)))),
                ("Event", " as ".join(dict.fromkeys(filter(None, (run.event, run.dialect_event))))),
                ("Hook", h("a", "all its runs", href=PageFilter(hook=row.hook).address())),
                ("Configured", h("code", run.source) if run.source else None),
                ("Type", f"{run.type}, {run.dialect}"),
                ("Agent", " as ".join(filter(None, (call.origin, call.caller)))),
                ("Subagent", run.agent),
                (
                    "Session",
                    h("a", h("code", run.session), href=session_address(row.session, row.machine))
                    if run.session
                    else None,
                ),
                ("Project", h("code", call.project) if call.project else None),
                ("Machine", row.machine),
                ("Call", h("code", call.id) if call.id else None),
                ("Translated to", run.translated_tool if run.translated_tool != call.tool else None),
                ("In doubt", run.doubt),
                ("Not counted", ", ".join(run.dropped)),
                (
                    "Exit",
                    " ".join(
                        filter(
                            None,
                            (
                                f"code {run.exit_code}" if run.exit_code is not None else "",
                                f"signal {run.signal}" if run.signal is not None else "",
                            ),
                        )
                    ),
                ),
                ("Also", ", ".join(flags)),
            ]
        ),
    )


def _output(run: Run) -> Html | None:
    parts = [
        (h("h3", name), h("pre", text, tabindex=0, role="region", aria_label=name))
        for name, text in (("stdout", run.stdout), ("stderr", run.stderr), ("detail", run.detail))
        if text
    ]
    return section("Output", parts) if parts else None


def why(document: Document, run: Run) -> Html:
    """Render the part that is computed after the page is loaded."""
    kept = document["from"] == "record"  # the page has it already
    return h(
        "div",
        _why(document, run),
        _payload(document["from"], document["payload"]) if not kept else None,
        section(
            "Try it again",
            h(
                "p",
                "Which hooks would run now, without running any. With ",
                h("code", "fire"),
                " instead of ",
                h("code", "explain"),
                " they run for real:",
                class_="soft",
            ),
            command(document["command"]),
        ),
        id="why",
        data_state="done",
    )


def why_not(problem: str) -> Html:
    return h(
        "div",
        section("Why it ran", empty(f"This cannot be recomputed: {problem}")),
        id="why",
        data_state="done",
    )


def _why(document: Document, run: Run) -> Html:
    explained = document["explain"]
    hooks = [hook for lane in explained["lanes"] for hook in lane["hooks"]]
    label = h(
        "p",
        h("span", "recomputed", class_="badge other"),
        " with the hooks that are active there now; the journal does not keep reasons.",
        class_="soft",
    )
    own = [hook for hook in hooks if hook["hook"] == run.hook]
    others = [hook for hook in hooks if hook["hook"] != run.hook]
    gone = empty("This hook is no longer configured there, so its reasons cannot be recomputed.")
    rest = (
        h(
            "details",
            h("summary", f"{many(len(others), 'other hook')} of this event"),
            h("ol", [_hook(hook) for hook in others], class_="reasons"),
        )
        if others
        else None
    )
    return section(
        "Why it ran",
        label,
        h("ol", [_hook(hook) for hook in own], class_="reasons") if own else gone,
        rest,
    )


def _hook(hook: Mapping[str, Any]) -> Html:
    mark = h(
        "span",
        "runs" if hook["would_run"] else "does not run",
        class_=f"badge {'allow' if hook['would_run'] else 'other'}",
    )
    return h(
        "li",
        mark,
        h("b", one_line(hook["hook"], 80)),
        h("small", one_line(hook["source"], 120)),
        h("ul", [h("li", line) for line in _reasons(hook)]),
    )


def _reasons(hook: Mapping[str, Any]) -> Iterator[str]:
    yield hook["why"]
    for kind in ("matcher", "condition"):
        part = hook[kind]
        if part is not None and part["why"] not in hook["why"]:
            yield f"{kind} {part['text']!r}: {part['why']}"
    if not hook["admitted"] and hook["admission_reason"]:
        yield hook["admission_reason"]
    closed = sorted(cause for cause, reaction in hook["failures"].items() if reaction not in ("block", "ask"))
    if "block" in hook["may"] and closed:
        yield f"passes without an answer when: {', '.join(cause.replace('_', ' ') for cause in closed)}"


def _payload(origin: str, payload: Any) -> Html:
    text = msgspec.json.format(msgspec.json.encode(payload), indent=2).decode()
    hint = (
        h("p", "To keep whole payloads from now on: ", h("code", "keep_payloads = true"), " in your settings.toml",
          class_="soft")
        if origin == "journal"
        else None
    )  # fmt: skip
    return section(
        "Payload",
        h("p", h("span", origin, class_="badge other"), f" {_ORIGINS[origin]}", class_="soft"),
        _difference(payload),
        h("pre", text, tabindex=0, role="region", aria_label="Payload"),
        hint,
    )


def _difference(payload: Any) -> Html | None:
    """Show an edit as the lines that it removes and adds."""
    given: Any = payload.get("tool_input") if isinstance(payload, dict) else None  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType] JSON
    if not isinstance(given, dict):
        return None
    texts: list[Any] = [given.get(key) for key in ("old_string", "new_string")]  # pyright: ignore[reportUnknownMemberType] JSON
    if texts[1] is None:
        texts = ["", given.get("content")]  # pyright: ignore[reportUnknownMemberType] JSON
    before, after = (text if isinstance(text, str) else "" for text in texts)
    if not before and not after:
        return None
    lines = list(difflib.ndiff(before.splitlines()[:_MOST_LINES], after.splitlines()[:_MOST_LINES]))
    kinds = {"-": "removed", "+": "added"}
    shown = [h("span", f"{line}\n", class_=kinds.get(line[0])) for line in lines if line[0] != "?"]
    return h("pre", shown, class_="difference", tabindex=0, role="region", aria_label="The edit")


def _again(run: Run, machine: str) -> Html:
    """Render commands that find the run, or run the same hooks again, on its machine."""
    words = ["hookline", "log", "--hook", run.hook, "--call", run.call.input[:60]]
    rule = f"deny {run.call.tool}({run.call.input})" if run.call.tool and run.call.input else ""
    return section(
        f"On the command line of {machine}" if machine else "On the command line",
        command(shlex.join(words)),
        (
            h("p", "Make this call a rule, or see first what the rule would have done:", class_="soft"),
            command(shlex.join(["hookline", "guard", "add", "my rule", rule, "--shadow"])),
            command(shlex.join(["hookline", "backtest", "--since", "30d", "--rule", rule, "--diff"])),
        )
        if 0 < len(rule) <= _LONGEST_RULE
        else None,
        command(f"hookline doctor --cwd {shlex.quote(run.call.project or '.')}"),
    )
