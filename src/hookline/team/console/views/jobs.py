"""Show the jobs of durable hooks, dead letters first."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from hookline.model.safe_text import one_line
from hookline.team.console.html import Html, h, join
from hookline.team.console.ports import Document
from hookline.team.console.views.layout import ago, command, empty, facts, number, recorded, section

_STATES = (
    ("dead", "dead letters", "block"),
    ("running", "running", "allow"),
    ("queued", "queued", "ask"),
    ("settled", "settled", "plain"),
)
#: The states to filter by.
STATES = tuple(name for name, _, _ in _STATES)
#: A damaged file may have other states.
_KINDS = {name: kind for name, _, kind in _STATES}
_ORDER = {name: index for index, name in enumerate(STATES)}
_MOST = 300


def list_body(document: Document, state: str, now: float) -> Html:
    jobs: Sequence[Mapping[str, Any]] = document["jobs"]
    counts = {name: sum(job["state"] == name for job in jobs) for name, _, _ in _STATES}
    cards = [
        h(
            "a",
            h("b", number(counts[name])),
            h("span", words),
            href=f"/jobs?state={name}" if state != name else "/jobs",
            class_=f"stat {kind}" + ("" if counts[name] else " zero"),
            aria_current="true" if state == name else None,
        )
        for name, words, kind in _STATES
    ]
    shown = [job for job in jobs if not state or job["state"] == state]
    shown = sorted(shown, key=lambda job: (_ORDER.get(job["state"], -1), -job["accepted"]))[:_MOST]
    rows = h("ol", [_job(job, now) for job in shown], class_="jobs") if shown else None
    nothing = empty(
        "No jobs wait, and there are no dead letters. A hook with ",
        h("code", "durable = true"),
        " queues jobs here.",
    )
    return join(
        h("h1", "Jobs", class_="hidden"),
        h("div", cards, class_="stats"),
        section("Jobs of durable hooks", rows or nothing),
    )


def _job(job: Mapping[str, Any], now: float) -> Html:
    kind = _KINDS.get(job["state"], "plain")
    inside = (
        h("span", "dead letter" if job["state"] == "dead" else job["state"], class_=f"badge {kind}"),
        h("span", one_line(job["hook"] or f"job {job['id'][:8]}", 60), class_="hook"),
        h("span", job["event"], class_="soft"),
        h("span", f"tried {job['attempts']}×", class_="soft"),
        h("span", ago(job["accepted"], now), class_="ms"),
        h("span", one_line(job["why"], 200), class_="why") if job["why"] else None,
    )
    return h("li", h("a", inside, href=f"/job/{job['id']}", class_="job"))


def job_body(job: Document, now: float) -> Html:
    state, short = job["state"], job["id"][:8]
    actions = {
        "dead": [f"hookline jobs retry {short}", f"hookline jobs drop {short}"],
        "queued": ["hookline jobs run", f"hookline jobs drop {short}"],
    }.get(state, [f"hookline jobs show {short}"])
    payload = job["payload"]
    text = msgspec.json.format(msgspec.json.encode(payload), indent=2).decode() if payload is not None else ""
    kind = _KINDS.get(state, "plain")
    head = h(
        "div",
        h("span", "dead letter" if state == "dead" else state, class_=f"badge {kind}"),
        h("h1", one_line(job["hook"] or "Job", 120)),
        h("p", job["why"], class_="reason") if job["why"] else None,
        class_="run-title",
    )
    known = facts(
        [
            ("Id", h("code", job["id"])),
            ("Event", job["event"]),
            ("Configured", h("code", job["source"]) if job["source"] else None),
            ("Session", h("code", job["session"]) if job["session"] else None),
            ("Project", h("code", job["project"]) if job["project"] else None),
            ("Tried", f"{job['attempts']} times"),
            ("Accepted", join(recorded(job["accepted"], now), f", {ago(job['accepted'], now)}")),
            ("Over", recorded(job["over"], now) if job["over"] else None),
            ("Process", job["pid"]),
            ("Next try", f"in {job['wait']:.0f} s" if job["wait"] else None),
        ]
    )
    shown = (
        h("pre", text, tabindex=0, role="region", aria_label="Payload")
        if text
        else empty("It is over, so its payload is not kept.")
    )
    return join(
        head,
        h(
            "div",
            h(
                "div",
                section("Facts", known),
                section("On the command line", [command(line) for line in actions]),
            ),
            h("div", section("Payload, secrets taken out", shown)),
            class_="pair run-page",
        ),
    )
