"""Put the result of a run into words: its decision, what else it did, and how long it took."""

from collections.abc import Mapping, Sequence

from hookline.model.outcome import Outcome
from hookline.model.run import Run
from hookline.model.safe_text import one_line

#: Statuses of hooks that gave no answer.
NO_ANSWER = frozenset({"failed", "timed_out", "not_started", "cancelled", "untrusted"})
#: Characters of a reason that fit on the line of its run.
LONGEST_REASON = 60


def effects_of(outcome: Outcome) -> Mapping[str, Sequence[str]]:
    """Return what each hook did besides voting, by its name."""
    done: dict[str, list[str]] = {}
    for by, effect in (
        *((edit.by, f"rewrote {edit.field}") for edit in outcome.edits),
        *((item.hook, "added text for the model") for item in outcome.context_items),
        *((halt.by, "stopped the run") for halt in outcome.halts),
        *((answer.by, "supplied the answer") for answer in outcome.answers),
        *((update.by, "changed permission rules") for update in outcome.permission_updates),
    ):
        done.setdefault(by, []).append(effect)
    return {by: tuple(dict.fromkeys(effects)) for by, effects in done.items()}


def result_words(run: Run, effects: str, *, would_run: bool = False) -> tuple[str, str]:
    """Return the result in a word or two, and the rest of the line. `would_run`: nothing was run, only planned."""
    if run.status == "skipped":
        return ("would run" if would_run else "not run"), ""
    quoted, more = "", [effects if run.decision else ""]
    if run.status in NO_ANSWER:
        word, more = run.status.replace("_", " "), [_without_an_answer(run)]
    elif run.decision:
        word = run.decision
        quoted = f' "{one_line(run.reason, LONGEST_REASON)}"' if run.reason else ""
    else:
        word = effects or "pass"
    more.append("in the background" if run.status == "background" else "")
    more.append(f"{run.mode}: only recorded" if run.mode in ("shadow", "paused") else "")
    return word, "".join([quoted, *(f", {each}" for each in more if each), f", {run.duration_ms:.0f} ms"])


def _without_an_answer(run: Run) -> str:
    if run.failed_open:
        return "which fails open"
    return f"which counts as {run.decision}" if run.decision else ""
