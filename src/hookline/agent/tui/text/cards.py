"""Render a conversation as blocks of text: calls with their results, messages of hooks, notices."""

import os
from collections.abc import Iterator, Sequence

from rich.console import RenderableType
from rich.padding import Padding
from rich.text import Text

from hookline.agent.call_text import headline, near, result_text, rewrite_text
from hookline.agent.ports import Shown
from hookline.agent.tui.text.diffs import patch_counts, patch_diff
from hookline.agent.tui.text.paint import colour_system, indented, marked, stack, words
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
    if colour_system(os.environ) == "256":
        # A bar over the whole width is found when scrolling. Text and background are set: any terminal shows it.
        return stack([Text(""), Padding(Text("\n".join(lines)), style="bold color(255) on color(237)")])
    return stack([Text(""), Text("\n".join(lines), "bold cyan")])


def command_card(text: str) -> RenderableType:
    """Render a command for the agent itself, as it was typed."""
    return Text(f"> {one_line(text, _WIDEST)}", "cyan")


def head(shown: Shown) -> Text:
    """Render the call on one line."""
    style = "red" if shown.refused else "yellow" if shown.is_error else "green"
    text = Text().append("✗ " if shown.refused else "● ", style)
    call = headline(shown.tool, shown.tool_input, _WIDEST_CALL)
    name, _, rest = call.partition(" ")
    text.append(name, f"bold {style}").append(f" {rest}" if rest else "")
    if shown.patch and not shown.is_error:
        text.append(f"  {patch_counts(shown.patch)}", "dim")
    elif _is_read(shown):
        lines = shown.text.rstrip().count("\n") + 1
        text.append(f"  {lines} line{'' if lines == 1 else 's'}", "dim")
    return text


def _is_read(shown: Shown) -> bool:
    """Return True for the content of a file: the model needs it, the user has it."""
    return shown.kind == "result" and shown.tool == "Read" and not shown.is_error and not shown.refused


def call_card(shown: Shown) -> RenderableType:
    return indented(head(shown), depth(shown))


def result_card(shown: Shown, *, with_head: bool, also: Sequence[str] = (), said: str = "") -> RenderableType:
    """Render a call with its result. `also`: further hooks that denied it; `said`: its text was printed already."""
    parts: list[RenderableType] = [head(shown)] if with_head else []
    if shown.text.strip() == said.strip() and said and not shown.refused:
        parts.append(Text("  └ done", "dim"))
    else:
        parts += _result(shown, also, with_head=with_head)
    return indented(stack(parts), depth(shown))


def _result(shown: Shown, also: Sequence[str], *, with_head: bool) -> Iterator[RenderableType]:
    if shown.refused:
        denied = Text().append("denied: ", "bold").append_text(words(shown.text or "no reason was given"))
        yield marked("  └ ", "dim", denied)
        if by := source_text(shown):
            yield Text(f"    {by}", "dim")
        yield from also_lines(also)
    elif shown.patch and not shown.is_error:
        yield indented(patch_diff(shown.patch, str(shown.tool_input.get("file_path", "")), _MOST_PATCH), 4)
    elif not (_is_read(shown) and with_head):
        yield _folded(shown)


def also_lines(also: Sequence[str]) -> Iterator[RenderableType]:
    """Render the other hooks that denied the same, so that none of them stays unknown."""
    yield from (marked("    also ", "dim", Text(one_line(each, 300), "dim")) for each in also)


def _folded(shown: Shown) -> RenderableType:
    """Render the first lines of a result, and how many more there are."""
    looked_at = result_text(shown)[:_MOST_LOOKED_AT].rstrip()
    most = _MOST_FAILED_LINES if shown.is_error else _MOST_LINES
    lines = looked_at.split("\n")
    more = shown.text.rstrip().count("\n") + 1 - min(len(lines), most)
    style = "" if shown.is_error else "dim"
    kept = [one_line(line, _WIDEST) if len(line) > _WIDEST else printable(line) for line in lines[:most]]
    kept = [line.expandtabs(4) for line in kept]
    text = Text("\n".join(kept) if looked_at else "(no output)", style)
    if more > 0:
        text.append(f"\n… +{more} line{'' if more == 1 else 's'} ({_MORE})", "dim")
    return marked("  └ ", "dim", text)


def source_text(shown: Shown) -> str:
    """Describe the hook that it comes from, its event, and where it is configured."""
    who = f"hook {shown.hook}" if shown.hook else ""
    event = (shown.label or shown.event) if shown.hook else ""
    return one_line(" · ".join(filter(None, (who, event, near(shown.source)))), 300)


def _summary(shown: Shown) -> str:
    """Fold text of hooks for the model, and the model's thoughts, into one line."""
    if shown.kind == "context":
        return f"a hook added {len(shown.text):,} characters for the model ({_MORE})"
    first = one_line(shown.text.strip().split("\n", 1)[0], 80)
    return f"thought: {first} ({_MORE})"


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
        case "context" | "thought":
            mark, style = "+ " if shown.kind == "context" else "✻ ", "dim"
            text = Text(_summary(shown), "dim italic" if shown.kind == "thought" else "dim")
        case _:
            return None
    if by:
        text.append(f"  ({by})", "dim")
    return indented(marked(mark, style, text), depth(shown))


def _rewritten(shown: Shown) -> str:
    return rewrite_text(shown.field, shown.before, shown.after, 200).replace(" -> ", " → ")


def label_card(shown: Shown) -> RenderableType:
    """Render whose words follow, where several subagents work at once."""
    return indented(Text(f"↳ {headline(shown.tool, shown.tool_input, _WIDEST_CALL)}", "dim"), _NESTED)


def turn_line(
    seconds: float, calls: int, hooks: int, hook_seconds: float, cost: float | None
) -> RenderableType:
    """Render the end of a turn on one line."""
    parts = [
        _seconds(seconds),
        f"{calls} call{'' if calls == 1 else 's'}" if calls else "",
        f"{hooks} hook{'' if hooks == 1 else 's'} {_seconds(hook_seconds)}" if hooks else "",
        f"${cost:.2f}" if cost else "",
    ]
    return Text(" · ".join(filter(None, parts)), "dim")


def _seconds(seconds: float) -> str:
    if seconds < 100:
        return f"{seconds:.1f} s"
    return f"{seconds // 60:.0f} min {seconds % 60:.0f} s"


def note_lines(text: str) -> RenderableType:
    """Render a note that is not part of the conversation."""
    return words(text, "dim")


def stopped_card(what: str, queued: int) -> RenderableType:
    card = Text("■ stopped: ", "bold yellow").append(one_line(what, 200))
    waits = f"{queued} queued: Enter on an empty line sends the first" if queued else ""
    return stack([card, Text(f"  {waits}", "dim")]) if waits else card
