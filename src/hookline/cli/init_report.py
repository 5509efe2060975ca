"""What `hookline init` shows."""

from collections.abc import Iterator

from hookline.cli.init_document import InitDocument, ShownCommand
from hookline.cli.paint import paint
from hookline.cli.text import columns, paragraph, terminal_width
from hookline.model.safetext import one_line, printable

_NEXT = (
    ("hookline fire PreToolUse Bash command='git push --force'", "ask it yourself"),
    ("hookline doctor", "are all your hooks alive?"),
    ("hookline hook --print-config claude-code", "let your agent ask it too"),
)


def as_text(document: InitDocument) -> str:
    width = terminal_width()
    head = "wrote" if document.written else "there is"
    lines = [f"{head} {printable(document.file)}", "", *_indented(document.text)]
    if document.shown:
        lines += ["", "Asked about two commands, it says:", ""]
        lines += [_said(each, width) for each in document.shown]
    if document.written:
        lines += _notes(document, width)
        wide = max(len(command) for command, _ in _NEXT)
        lines += ["", "What to do next:", ""]
        lines += [f"  {command:{wide}}  {why}".rstrip() for command, why in _NEXT]
    return "\n".join(lines)


def _indented(text: str) -> list[str]:
    return [f"  {line}".rstrip() for line in printable(text).rstrip("\n").split("\n")]


def _said(shown: ShownCommand, width: int) -> str:
    verdict = paint("denied", "red") if shown.blocked else paint("goes on", "green")
    reason = f": {shown.reason}" if shown.reason else ""
    command = f"  {shown.command:28}"
    taken = columns(command) + len("goes on ")
    return f"{command}  {verdict}{one_line(reason, max(width - taken - 2, 20))}"


def _notes(document: InitDocument, width: int) -> Iterator[str]:
    if not document.in_force:
        yield ""
        yield paragraph(
            "Note: it does not run here: this project has hooks of its own for PreToolUse.", width
        )
    if document.replaced:
        yield ""
        yield paragraph("Note: these hooks no longer run here, the new file stands before theirs:", width)
        yield from (f"  {one_line(each, width - 2)}" for each in document.replaced)
        yield paragraph("To run both, rename the new file to hooks.local.toml.", width)
