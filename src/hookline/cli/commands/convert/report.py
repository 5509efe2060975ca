"""Show the result of `hookline convert`, as text and as JSON."""

from collections.abc import Iterator

from msgspec import Struct

from hookline.cli.commands.convert.plan import ConvertedEntry
from hookline.cli.text import count_of, json_lines, paragraph, relative_to, with_tilde
from hookline.dialects.installer import Standing
from hookline.model.safe_text import one_line

_LONGEST = 500


class ConvertDocument(Struct, frozen=True, kw_only=True):
    file: str
    source: str
    target: str
    #: The other agent's file.
    target_file: str
    entries: tuple[ConvertedEntry, ...]
    wrapped: int
    lost: int
    #: Whether the agent will run the entries once they are written, judging by files, and why.
    trusted_by_agent: Standing | None = None
    agent_says: str | None = None
    #: Further notes about the file.
    notes: tuple[str, ...] = ()
    #: Files that were written.
    written: tuple[str, ...] = ()

    def as_json(self) -> str:
        return json_lines(self)

    def as_text(self, width: int, cwd: str) -> str:
        return "\n".join(self._lines(width, cwd))

    def _lines(self, width: int, cwd: str) -> Iterator[str]:
        for each in self.entries:
            to = f" -> {', '.join(each.to)}" if each.to else ""
            lost = ": lost" if each.how == "lost" else ""
            title = f"{_shown(each.source, cwd)}: {each.event}{to}, {each.hook}{lost}"
            yield paragraph(one_line(title, _LONGEST), width)
            for text in (*each.why, *each.notes):
                yield paragraph(one_line(text, _LONGEST), width, "    ")
        yield f"{count_of(len(self.entries), 'hook')}: {self.wrapped} run by Hookline, {self.lost} lost"
        for file in self.written:
            yield f"written: {_shown(file, cwd)}"
        for note in self.notes:
            yield paragraph(one_line(note, _LONGEST), width)
        if self.trusted_by_agent not in (None, "trusted"):
            will = "will not run them" if self.trusted_by_agent == "untrusted" else "may not run them yet"
            yield paragraph(one_line(f"{self.target} {will}: {self.agent_says}", _LONGEST), width)


def _shown(file: str, cwd: str) -> str:
    return with_tilde(relative_to(cwd, file))
