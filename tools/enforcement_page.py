"""Write the table of what each agent can enforce: every answer from a recorded case of the real client."""

import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from hookline.dialects.registry import OWN_FORMAT, standard_dialects
from tools.markdown import GENERATED, code, page, table

#: The questions, in groups: the key in `enforces.toml`, and the head of its column.
_DECISIONS: Mapping[str, str] = {
    "see": "see a call", "deny": "deny a call", "ask": "ask the user", "rewrite": "rewrite the call",
    "context": "tell the model something", "stop": "stop the run",
}  # fmt: skip
_REACH: Mapping[str, str] = {
    "prompts": "reject a prompt",
    "subagents": "subagents",
    "mcp": "MCP tools",
    "background": "background shells",
}
_FAILURES: Mapping[str, str] = {
    "crash": "it crashes",
    "timeout": "it takes too long",
    "missing": "it does not exist",
}
_SWITCHES: Mapping[str, str] = {"repository": "a repository", "flag": "a flag", "mod": "a mod"}
_NOT_RECORDED = "not recorded"
QUESTIONS = {**_DECISIONS, **_REACH, **_FAILURES, **_SWITCHES}


def enforces(root: Path) -> dict[str, Mapping[str, Any]]:
    """Return the answers of each agent, by the name of its dialect: none where no case of it was recorded."""
    files = {
        name: root / "tests/dialects" / listed.package.replace(".", "/") / "enforces.toml"
        for name, listed in standard_dialects().items()
        if name != OWN_FORMAT
    }
    return {name: tomllib.loads(file.read_text()) if file.exists() else {} for name, file in files.items()}


def enforcement_page(root: Path) -> str:
    known = enforces(root)
    titles = {name: listed.build().title for name, listed in standard_dialects().items()}
    return page(
        "# What each agent can enforce",
        GENERATED,
        "What a hook before a tool call can do in each agent, and what happens when the hook breaks: as the real "
        "client did it, in the version below, in the recorded case, the recorded payload or the case of "
        "`make clients` that is named beside the answer. An answer without one is from the agent's documentation, "
        "its code or a run that was not kept. Hookline "
        "makes up for some of it: what an agent cannot express becomes a denial, and entries that "
        "`hookline install` writes close where the agent would go on. Where nothing is known from the real client, "
        f"a cell says *{_NOT_RECORDED}*; [the agent's page](../dialects/index.md) says what Hookline does there.",
        table(
            ("agent", "version"),
            ((titles[name], each.get("client", _NOT_RECORDED)) for name, each in known.items()),
        ),
        "## What a hook can do before a tool runs",
        _table(known, titles, _DECISIONS),
        "## What else its hooks reach",
        _table(known, titles, _REACH),
        "## When the hook itself breaks",
        "*closed*: the call is denied. *open*: the call runs.",
        _table(known, titles, _FAILURES),
        "## Who can switch hooks off",
        "`hookline doctor` reports settings of a repository and mods that do.",
        _table(known, titles, _SWITCHES),
    )


def _table(
    known: Mapping[str, Mapping[str, Any]], titles: Mapping[str, str], questions: Mapping[str, str]
) -> str:
    rows = ([titles[name], *_cells(each, questions)] for name, each in known.items())
    return table(("agent", *questions.values()), rows)


def _cells(answers: Mapping[str, Any], questions: Mapping[str, str]) -> Iterator[str]:
    for question in questions:
        given: Mapping[str, str] = answers.get(question, {})
        case = given.get("payload") or given.get("case", "").rpartition("/")[2]
        shown = code(case) if case else f"{code('make clients')}: {given['run']}" if "run" in given else ""
        parts = (given.get("answer", ""), f"({shown})" if shown else "", given.get("note", ""))
        text = " ".join(part for part in parts[:2] if part)
        yield f"{text}; {parts[2]}" if text and parts[2] else text or parts[2] or _NOT_RECORDED
