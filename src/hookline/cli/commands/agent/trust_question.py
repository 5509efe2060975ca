"""Ask the one question about a project: at a terminal, before anything of the project takes effect."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Literal

from msgspec.structs import replace

from hookline.agent.ports import Choice, UserPort
from hookline.agent.session.session import PromptTurn
from hookline.cli.commands.agent.untrusted import UntrustedItems
from hookline.cli.commands.trust.report import as_text, diff_text, is_shown_whole
from hookline.cli.text import terminal_width, with_tilde
from hookline.model.safe_text import one_line, spelled_out
from hookline.trust.comparison import difference
from hookline.trust.describe import ItemText
from hookline.trust.review import Review, ReviewItem, review
from hookline.trust.store import StoreError

Answer = Literal["yes", "no", "session"]
#: Shows a text to the user.
Note = Callable[[str], None]
#: Asks for one of the choices below a title and lines; None when the user does not answer.
Choose = Callable[[str, Sequence[str], Sequence[Choice]], Awaitable[str | None]]

_CHOICES = (
    Choice("1", "yes, trust exactly this", ("y", "yes")),
    Choice("2", "yes, for this session", ("f", "for this session")),
    Choice("3", "no, continue without it", ("n", "no")),
    Choice("4", "show all of it", ("s", "show")),
)
_ANSWERS: dict[str, Answer] = {"1": "yes", "2": "session", "3": "no"}
#: Lines of differences that are shown without being asked for.
_MOST_DIFFERENT = 40


async def ask_about(waiting: UntrustedItems, note: Note, choose: Choose) -> Answer:
    """Show what is not trusted yet, and store the user's answer. No answer is a no."""
    # Guards that sessions of other agents miss are no matter of this one.
    others = (*waiting.loaded.loosening, *waiting.others)
    found = replace(review(waiting.trust, waiting.loaded.hooks, waiting.dormant, others), missed={})
    (title, *lines), whole = _short(found, terminal_width())
    if not is_shown_whole(found):
        note("\n".join([title, *lines]))
        note("  There is more than can be shown here, so it is not asked about: see `hookline trust --json`.")
        return "no"
    answer = await _answer(found, note, choose, title, lines, whole=whole)
    if answer != "no":
        _accept(found, note, session=answer == "session")
    return answer


async def ask_again(waiting: UntrustedItems, user: UserPort, note: Note) -> PromptTurn:
    """Carry out `/trust`: completed if everything is trusted then."""
    chooser = user.chooser
    if not waiting:
        user.show("notice", "you trust everything that needs trust here")
        return PromptTurn(status="completed")

    async def choose(title: str, body: Sequence[str], choices: Sequence[Choice]) -> str | None:
        return None if chooser is None else (await chooser.pick(title, body, choices))[0]

    if chooser is None or await ask_about(waiting, note, choose) == "no":
        user.warn(waiting.notice)
        return PromptTurn(status="blocked", why=waiting.notice)
    user.show("notice", f"trusted{_LATER if waiting.at_start else ''}")
    return PromptTurn(status="completed")


_LATER = "; settings, MCP servers and included files take effect when you start again, with --continue"


async def _answer(
    found: Review, note: Note, choose: Choose, title: str, lines: list[str], *, whole: bool
) -> Answer:
    """Ask. `whole`: everything was shown; a yes must not cover what was cut off."""
    while True:
        chosen = await choose(f"{title}: trust it?", lines, _CHOICES)
        answer: Answer = "no" if chosen is None else _ANSWERS.get(chosen, "no")
        if chosen is None or (chosen in _ANSWERS and (whole or answer == "no")):
            return answer
        note("\n".join([as_text(found, terminal_width()), *_differences(found, None)[0]]))
        title, lines, whole = "all of it is above", [], True


def _accept(found: Review, say: Note, *, session: bool) -> None:
    try:
        if not session:
            found.accept(found.pending, guards=False)
    except StoreError as problem:
        session = True
        say(f"! trusted for this session only: {problem}")
    if session:
        found.trust.accept([entry.item for entry in found.pending], session=True)


def _short(found: Review, width: int) -> tuple[list[str], bool]:
    """Return one line for each item with its changes; and True if that is all of it."""
    root = one_line(spelled_out(with_tilde(found.trust.root)), width)
    changed = sum(entry.status.state == "modified" for entry in found.pending)
    new = len(found.pending) - changed
    numbers = (("new", new), ("changed", changed))
    counts = [f"{number} {state} item{'s' * (number > 1)}" for state, number in numbers if number]
    texts = [_text(entry) for entry in found.pending]
    lines = [one_line(text, max(width - 2, 20)) for text in texts]
    differences, complete = _differences(found, _MOST_DIFFERENT)
    begins = f"{root} has {' and '.join(counts)}"
    whole = all(" ".join(text.split()) == line for text, line in zip(texts, lines, strict=True))
    return [begins, *lines, *differences], complete and whole


def _text(entry: ReviewItem) -> str:
    item, changed = entry.item, entry.status.state == "modified"
    line = item.where.line
    source = f"{item.file}{'' if line is None else f':{line}'}"
    # The entry itself says more than a description; the environment that it gets follows.
    if item.kind == "settings":
        name, what = "", "; ".join(f"{text.name} {text.text}" for text in entry.texts)
    else:
        texts = sorted((text for text in entry.texts if text.name != "name"), key=_first)
        sends = (words for words in entry.does if "$" in words)
        name, what = f" {item.label}", "; ".join([" ".join(text.text for text in texts), *sends])
    return spelled_out(f"{'changed' if changed else 'new'} {item.kind} {source}{name}: {what}")


def _first(text: ItemText) -> bool:
    """Sort the command before its arguments."""
    return text.name not in ("command", "program", "url")


def _differences(found: Review, most: int | None) -> tuple[list[str], bool]:
    """Return the changes, at most so many lines, and True if that is all."""
    changed = [entry for entry in found.pending if entry.status.state == "modified"]
    lines = [line for entry in changed for line in difference(entry, found.trust)]
    if not lines:
        return [], True
    shown = [diff_text(lines[:most], terminal_width())]
    if most is None or len(lines) <= most:
        return shown, True
    return [*shown, f"  [... {len(lines) - most} more lines ...]"], False
