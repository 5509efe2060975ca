"""Render a conversation as blocks of text: calls with their results, messages of hooks, notices."""

from collections.abc import Iterator

from rich.console import RenderableType
from rich.text import Text

from hookline.agent.call_text import headline, near, patch_lines, result_text, rewrite_text
from hookline.agent.ports import Shown
from hookline.agent.tui.text.paint import diff, indented, marked, stack, words
from hookline.model.safe_text import one_line, printable

_NESTED = 4
_MOST_LINES = 4
_MOST_FAILED_LINES = 12
_MOST_PATCH = 40
_WIDEST = 400
_WIDEST_CALL = 160
#: Enough for a few lines on any terminal; results may be large, and cleaning all of one would hold up the screen.
_MOST_LOOKED_AT = 20_000
_MORE = "Ctrl-T shows all"


def depth(shown: Shown) -> int:
    return _NESTED if shown.under or shown.agent else 0


def prompt_card(text: str) -> RenderableType:
    first, *rest = printable(text).split("\n")
    lines = [f"> {first}", *(f"  {line}" for line in rest)]
    return stack([Text(""), Text("\n".join(lines), "bold cyan")])


def command_card(text: str) -> RenderableType:
    """Render a command for the agent itself, as it was typed."""
    return Text(f"> {one_line(text, _WIDEST)}", "cyan")


def head(shown: Shown) -> Text:
    """Render the call on one line."""
    style = "red" if shown.refused else "yellow" if shown.is_error else "green"
    text = Text("✗ " if shown.refused else "● ", style)
    call = headline(shown.tool, shown.tool_input, _WIDEST_CALL)
    name, _, rest = call.partition(" ")
    return text.append(name, "bold").append(f" {rest}" if rest else "")


def call_card(shown: Shown) -> RenderableType:
    return indented(head(shown), depth(shown))


def result_card(shown: Shown, *, with_head: bool) -> RenderableType:
    parts: list[RenderableType] = [head(shown)] if with_head else []
    parts += _result(shown)
    return indented(stack(parts), depth(shown))


def _result(shown: Shown) -> Iterator[RenderableType]:
    if shown.refused:
        yield marked(
            "  └ ", "red", Text("denied: ", "red").append_text(words(shown.text or "no reason was given"))
        )
        if by := source_text(shown):
            yield Text(f"    {by}", "dim")
        return
    if shown.patch and not shown.is_error:
        lines = patch_lines(shown.patch)
        yield indented(diff(lines[:_MOST_PATCH]), 4)
        if len(lines) > _MOST_PATCH:
            yield Text(f"    … +{len(lines) - _MOST_PATCH} lines ({_MORE})", "dim")
        return
    yield _folded(shown)


def _folded(shown: Shown) -> RenderableType:
    """Render the first lines of a result, and how many more there are."""
    looked_at = result_text(shown)[:_MOST_LOOKED_AT].rstrip()
    most = _MOST_FAILED_LINES if shown.is_error else _MOST_LINES
    lines = looked_at.split("\n")
    more = shown.text.rstrip().count("\n") + 1 - min(len(lines), most)
    style = "red" if shown.is_error else "dim"
    kept = [one_line(line, _WIDEST) if len(line) > _WIDEST else printable(line) for line in lines[:most]]
    kept = [line.expandtabs(4) for line in kept]
    text = Text("\n".join(kept) if looked_at else "(no output)", style)
    if more > 0:
        text.append(f"\n… +{more} line{'' if more == 1 else 's'} ({_MORE})", "dim")
    return marked("  └ ", style, text)


def source_text(shown: Shown) -> str:
    """Describe the hook that it comes from, its event, and where it is configured."""
    who = f"hook {shown.hook}" if shown.hook else ""
    event = (shown.label or shown.event) if shown.hook else ""
    return one_line(" · ".join(filter(None, (who, event, near(shown.source)))), 300)


def note_card(shown: Shown) -> RenderableType | None:
    """Render notices, warnings and denials, distinguishable; and actions of hooks.

    None if it is not shown separately.
    """
    by = source_text(shown)
    if shown.text.startswith(f"hook {shown.hook} "):
        by = by.removeprefix(f"hook {shown.hook} · ")  # it is named already
    match shown.kind:
        case "notice":
            mark, style, text = "· ", "cyan", words(shown.text)
        case "warning" | "retry":
            mark, style = "! " if shown.kind == "warning" else "↻ ", "bold yellow"
            text = words(shown.text, "yellow")
        case "blocked":
            mark, style, text = "✗ ", "bold red", Text("blocked: ", "bold red").append_text(words(shown.text))
        case "wake":
            says = Text("a background hook found something, so the agent continues: ", "magenta")
            mark, style, text = "↻ ", "bold magenta", says.append_text(words(shown.text))
        case "rewrite" if shown.field == "messages":
            mark, style, text = (
                "✎ ",
                "magenta",
                Text("a hook changed the messages that are sent to the model"),
            )
        case "rewrite":
            mark, style, text = "✎ ", "magenta", Text("a hook changed ", "magenta").append(_rewritten(shown))
        case "context":
            says = Text(f"a hook added {len(shown.text):,} characters for the model ({_MORE})", "dim")
            mark, style, text = "+ ", "dim", says
        case _:
            return None
    if by:
        text.append(f"  ({by})", "dim")
    return indented(marked(mark, style, text), depth(shown))


def _rewritten(shown: Shown) -> str:
    return rewrite_text(shown.field, shown.before, shown.after, 200).replace(" -> ", " → ")


def note_lines(text: str) -> RenderableType:
    """Render a note that is not part of the conversation."""
    return words(text, "dim")


def stopped_card(what: str, queued: int) -> RenderableType:
    card = Text("■ stopped: ", "bold yellow").append(one_line(what, 200))
    waits = f"{queued} queued: Enter on an empty line sends the first" if queued else ""
    return stack([card, Text(f"  {waits}", "dim")]) if waits else card
