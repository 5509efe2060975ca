"""Where Hookline and the recorded client disagree about a case, after taking off the client's own words."""

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

from tests.dialects.claude_code.driver import Case, Played, without_times

#: What the client itself, not a hook, had against a call.
_NOT_A_HOOK = re.compile(
    r"Exit code \d|Output redirection to|Permission to use|This Bash command contains|<tool_use_error>"
)
_WRAPPINGS = tuple(
    re.compile(pattern, re.DOTALL)
    for pattern in (
        r"^<task-notification>.*?</task-notification>\n",
        r"^<system-reminder>\n|\n</system-reminder>$",
        r"^Stop hook blocking error from command \"[^\"]*\": ",
        r"^\w+(?::[\w-]+)? hook (?:error|additional context|success): ",
        r"^\w+ hook feedback:\n",
        r"^\w+ operation blocked by hook:\n|\n\nOriginal prompt: .*$",
        r"^Operation stopped by hook: |^Compaction blocked by PreCompact hook: ",
        r"^Agent hook condition was not met: ",
        r"\n\nStop hook blocking error from command: .*$",
    )
)
_BLOCKING = re.compile(r"^(?:<system-reminder>\n)?\w+(?::\w+)? hook blocking error from command: ")
#: The recording does not show what was put inside a tool result for older models.
_IN_TOOL_RESULT = ("post-exit2-sonnet45", "post-context-sonnet45")
#: Reported at most so many.
_MOST_REPORTED = 12


def bare(text: str, case: Case) -> str:
    """Without the client's words around what a hook said."""
    text = _BLOCKING.sub("", text) if _BLOCKING.match(text) else text
    for wrapping in _WRAPPINGS:
        text = wrapping.sub("", text)
    for named in _named(case):
        text = text.removeprefix(f'"{named}": ').removeprefix(f"[{named}]: ")
    return text.strip()


def _named(case: Case) -> Iterator[str]:
    levels: list[dict[str, Any]] = [case.get("hooks", {}), case.get("user_settings", {}).get("hooks", {})]
    if "--settings" in case.get("args", ()):
        yield 'cat >"$HKLOG/in.$$.json"; echo HK_ERR >&2; exit 2'
    for groups in (groups for level in levels for groups in level.values()):
        several: list[dict[str, Any]] = [groups] if isinstance(groups, dict) else groups
        for entry in (entry for group in several for entry in group.get("hooks", ())):
            for key in ("command", "url", "prompt"):
                if key in entry:
                    yield entry[key].replace("@PORT@", "PORT")


def disagreements(case: Case, played: Played) -> list[str]:
    """One sentence each; none when they agree."""
    return [
        f"{what}: the client {wanted!r}, Hookline {got!r}"
        for what, wanted, got in _compared(case, played)
        if wanted != got
    ]


Compared = Iterator[tuple[str, Any, Any]]


def _compared(case: Case, played: Played) -> Compared:
    yield from _blocked(case, played)
    yield from _reasons(case, played)
    yield from _contexts(case, played)
    yield from _inputs(case, played)
    yield from _stopped(case, played)
    yield from _counted(case, played)
    yield from _told(case, played)
    yield from _sent(case, played)


def _blocked(case: Case, played: Played) -> Compared:
    observed = case["observed"]
    wanted = observed.get("blocked")
    if case["event"] == "PostToolUseFailure":
        return  # there is nothing left to block; what the hook says is its reason
    if observed.get("reason_seen_by_model") and _NOT_A_HOOK.match(observed["reason_seen_by_model"]):
        wanted = False
    shown = _SHOWN_OTHERWISE.get(case["event"])
    if shown is not None:
        wanted = shown(case)
    if wanted is None:
        return
    first = played.outcomes[0]
    got: Any = first.blocked
    if first.permission == "defer":
        got = "deferred"
    elif first.permission == "ask":  # nobody can be asked
        got = True
    yield "blocked", wanted, got


def _kept_model(case: Case) -> bool:
    before, after = case["observed"]["extra"]
    return before == after


#: Where the recording shows otherwise than by `blocked` that an action was kept from happening.
_SHOWN_OTHERWISE: dict[str, Callable[[Case], bool]] = {
    "PreModelSwitch": _kept_model,
    "TaskCreated": lambda case: "TaskCreated hook feedback" in case["observed"]["reason_seen_by_model"],
    "PreCompact": lambda case: case["observed"]["result_text"].startswith("Compaction blocked"),
    # The hook that the change brought never spoke.
    "ConfigChange": lambda case: "HK_NEW_HOOK" not in str(case["observed"]["context_seen_by_model"]),
    "Elicitation": lambda case: case["id"] == "elicitation-exit2",
}


def _wanted_reasons(case: Case) -> list[str]:
    observed = case["observed"]
    texts: list[str] = []
    reason = observed.get("reason_seen_by_model")
    if reason and not _NOT_A_HOOK.match(reason):
        texts.append(reason)
    result = observed.get("result_text") or ""
    if "blocked by" in result or "stopped by hook" in result:
        texts.append(result)
    texts += [one["text"] for one in observed["context_seen_by_model"] if _BLOCKING.match(one["text"])]
    return list(dict.fromkeys(bare(text, case) for text in texts))


def _reasons(case: Case, played: Played) -> Compared:
    first = next((outcome for outcome in played.outcomes if outcome.reason), None)
    got = (first.reason or "").strip() if first is not None else ""
    got = got or next((late.text.strip() for late in played.late if late.kind == "wake"), "")
    wanted = _wanted_reasons(case)
    if not wanted:
        return
    for one in wanted:
        yield "reason", True, _same(one, got) or f"{one[:200]!r} is not in {got[:200]!r}"


def _same(wanted: str, got: str) -> bool:
    if "onFailure is" in wanted:
        # What failed is said in each one's own words, what the hook printed is not.
        marks = re.findall(r"HK_\w+", wanted.partition("\n")[2])
        return got.startswith(wanted.partition("\n")[0]) and all(mark in got for mark in marks)
    if len(wanted) > 600:  # long texts were cut when they were recorded
        return got.startswith(wanted[:200])
    return wanted == got or wanted in got.split("\n")


def _contexts(case: Case, played: Played) -> Compared:
    if case["id"] in _IN_TOOL_RESULT:
        return
    seen = [one["text"] for one in case["observed"]["context_seen_by_model"]]
    seen += [one["text"].split("\n")[0] for one in _inner(case) if "hook additional context" in one["text"]]
    files = "".join(case.get("files", {}).values())
    wanted = [bare(one, case) for one in seen if not _BLOCKING.match(one)]
    wanted = [one for one in wanted if one.split("\n")[0] not in files.split("\n")]
    got = [text for outcome in played.outcomes for text in outcome.context]
    got += [late.text for late in played.late if late.kind == "context"]
    got += [text for outcome in played.outcomes if (text := outcome.initial_user_message)]
    whole, mine = "\n".join(wanted), "\n".join(dict.fromkeys(got))
    if len(whole) > 600:
        whole, mine = whole[:200], mine[:200]
    yield "context", whole, mine


def _inner(case: Case) -> list[dict[str, str]]:
    extra = case["observed"].get("extra") or ()
    return [one for one in extra if isinstance(one, dict) and "text" in one]


def _inputs(case: Case, played: Played) -> Compared:
    ran = case["observed"]["tool_ran_with"] or ()
    for outcome, how in zip(played.outcomes, ran, strict=False):
        changed = outcome.updated_input
        marks = {"updatedInput": "echo RAN-UPD >>", "updatedInput (second hook)": "echo RAN-UPD2 >>"}
        got = "as it was" if changed is None else changed["command"].partition("RAN")[2].split()[0]
        wanted = "as it was" if how not in marks else marks[how].partition("RAN")[2].split()[0]
        yield "input", wanted, got
    if case["event"] == "PostToolUse":
        yield "output", None, played.outcomes[0].updated_output
    if case["event"] == "MessageDisplay":
        yield "display", case["observed"]["result_text"], played.outcomes[-1].answer
    if case["id"] == "elicitation-accept":
        wanted = {"action": "accept", "content": {"username": "alice"}}
        yield "answer", wanted, played.outcomes[0].answer


def _stopped(case: Case, played: Played) -> Compared:
    observed = case["observed"]
    wanted = observed["session_stopped_by_hook"]
    if case["event"] in ("UserPromptSubmit", "UserPromptExpansion"):
        # A blocked prompt ends the turn anyway; asked for is only this.
        wanted = (observed.get("result_text") or "").startswith("Operation stopped by hook")
    yield "stop", wanted, any(outcome.stop for outcome in played.outcomes)


def _counted(case: Case, played: Played) -> Compared:
    observed = case["observed"]
    if "race" in case.get("note", ""):
        return
    reported = observed.get("hook_reported_as")
    if reported is not None and len(reported) < _MOST_REPORTED:
        others = len({p["hook_event_name"] for p in case.get("payloads") or ()} - {case["event"]})
        yield "runs", len(reported) + others, played.ran
    elif reported is None and "other_model_requests" in observed:
        yield "runs", sum(observed["other_model_requests"].values()), len(played.prompts)
    elif reported is None and case["event"] not in ("PreModelSwitch", "PostModelSwitch"):
        wanted = len(case.get("payloads") or ())
        yield "runs", wanted, min(played.ran, 2) if wanted == 2 else played.ran
    if "hook_log" in observed:
        yield "log", without_times(observed["hook_log"]), without_times(played.log)


def _told(case: Case, played: Played) -> Compared:
    for told in case["observed"].get("user_was_told", ()):
        _event, says, text = told.partition(" says: ")
        if says:
            messages = [message.text for outcome in played.outcomes for message in outcome.messages]
            yield "told", True, text in messages
        if "hook gave no usable answer" in told or "didn't answer in time" in told:
            yield "no answer", True, any(run.passed_without_answer for run in played.runs)


def _sent(case: Case, played: Played) -> Compared:
    """What went to servers and models."""
    observed = case["observed"]
    for wanted, got in zip(observed.get("http_seen", ()), played.http, strict=False):
        for key in ("method", "path", "body"):
            yield f"http {key}", wanted[key], got[key]
        for name, value in wanted["headers"].items():
            if name not in ("accept", "user-agent"):
                yield f"http header {name}", value, got["headers"].get(name)
    if case["id"].startswith("mcptool"):
        yield "mcp", [json.loads(one) for one in observed.get("extra", ())], played.mcp
    if case["id"].startswith("prompt-") and observed.get("extra"):
        wanted = observed["extra"][0]["messages"][0]["text"]
        yield "prompt", wanted[:400], played.prompts[0][:400]
