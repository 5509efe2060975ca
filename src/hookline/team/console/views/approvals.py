"""Show the calls that wait for a person, each with the exact arguments, and let the user answer each once."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from hookline.model.safe_text import one_line
from hookline.team.console.html import Child, Html, h, join
from hookline.team.console.ports import Document
from hookline.team.console.views.layout import ago, command, empty, facts, many, section

#: Results of an answer, by the word in the address that shows them.
RESULTS: Mapping[str, str] = {
    "allowed": "Allowed: the call runs.",
    "denied": "Denied: the agent reads that you refused it.",
    "late": "That call was answered before, or its time was over.",
}


def body(waiting: Sequence[Document], result: str, token: str, now: float) -> Html:
    said = h("p", RESULTS[result], class_="note", role="status") if result else None
    nothing = empty(
        "No call waits for an answer. An agent without a user can let its questions wait here: set ",
        h("code", "approvals = 300"), " in ", h("code", "~/.config/hookline/settings.toml"), ".",
    )  # fmt: skip
    shown: Child = [_call(each, token, now) for each in waiting] if waiting else section("Approvals", nothing)
    waits = f"{many(len(waiting), 'call')} {'waits' if len(waiting) == 1 else 'wait'} for you"
    title = h("h1", waits) if waiting else h("h1", "Approvals", class_="hidden")
    return join(title, said, shown)


def _call(call: Document, token: str, now: float) -> Html:
    pending: Mapping[str, Any] = call["pending"]
    name: str = pending["id"]
    arguments = msgspec.json.format(msgspec.json.encode(pending.get("tool_input", {})), indent=2).decode()
    who = " of ".join(part for part in (call.get("agent", ""), call.get("user", "")) if part)
    known = facts(
        [
            ("Who asks", f"{who} on {call['machine']}" if call.get("machine") else who),
            ("Project", h("code", call["project"]) if call.get("project") else None),
            ("Guard", pending.get("hook", "")),
            ("Since", ago(pending.get("asked_at", now), now)),
            ("Denied in", f"{max(0.0, call.get('until', now) - now):.0f} s, if you do not answer"),
        ]
    )
    form = h(
        "form",
        h("input", type="hidden", name="token", value=token),
        h(
            "label",
            "For the model, if you deny ",
            h("input", type="text", name="message", maxlength=500, autocomplete="off"),
        ),
        h("button", "Allow this call", type="submit", name="answer", value="allow"),
        h("button", "Deny", type="submit", name="answer", value="deny"),
        action=f"/approvals/{name}",
        method="post",
        class_="answer",
    )
    return section(
        one_line(f"{pending['tool_name']}: {pending.get('reason') or 'a hook asks about this call'}", 300),
        h("pre", arguments, tabindex=0, role="region", aria_label="Arguments of the call"),
        known,
        form,
        command(f"hookline approvals show {name[:8]}"),
    )
