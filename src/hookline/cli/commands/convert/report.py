"""What `hookline convert` says of each entry."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from hookline.cli.commands.convert.plan import How, Planned
from hookline.cli.text import count_of, json_lines, paragraph, relative_to, with_tilde
from hookline.model.safe_text import one_line

_LONGEST = 500
_HOW: Mapping[How, str] = {"direct": "calls your script", "wrapped": "Hookline runs it", "lost": "lost"}


class EntryDocument(Struct, frozen=True):
    """One entry of the file."""

    #: File and line.
    source: str
    event: str
    hook: str
    how: How
    #: The other agent's events; none for what is lost.
    to: tuple[str, ...]
    #: What is written for it there, if it is direct; several where one matcher becomes several.
    entries: tuple[Mapping[str, Any], ...]
    #: Why it is not direct.
    why: tuple[str, ...]
    #: What else is not as it was.
    notes: tuple[str, ...]


class ConvertDocument(Struct, frozen=True, kw_only=True):
    file: str
    source: str
    target: str
    #: The other agent's file, and the one with the entries that Hookline runs there, if there are any.
    target_file: str
    wrapped_file: str | None
    entries: tuple[EntryDocument, ...]
    direct: int
    wrapped: int
    lost: int
    #: What is left for the user to do; None if nothing is.
    trust: str | None
    #: What keeps the other agent from running them, as its settings are; None if nothing does.
    switched_off: str | None = None
    #: Files that were written.
    written: tuple[str, ...] = ()

    def as_json(self) -> str:
        return json_lines(self)

    def as_text(self, width: int, cwd: str) -> str:
        return "\n".join(self._lines(width, cwd))

    def _lines(self, width: int, cwd: str) -> Iterator[str]:
        for each in self.entries:
            to = f" -> {', '.join(each.to)}" if each.to else ""
            title = f"{_shown(each.source, cwd)}: {each.event}{to}, {each.hook}: {_HOW[each.how]}"
            yield paragraph(one_line(title, _LONGEST), width)
            for text in (*(f"it {why}" if each.how == "wrapped" else why for why in each.why), *each.notes):
                yield paragraph(one_line(text, _LONGEST), width, "    ")
        yield (
            f"{count_of(len(self.entries), 'hook')}: {self.direct} direct, {self.wrapped} run by Hookline, "
            f"{self.lost} lost"
        )
        for file in self.written:
            yield f"written: {_shown(file, cwd)}"
        if self.switched_off is not None:
            yield paragraph(one_line(f"they will not run: {self.switched_off}", _LONGEST), width)
        if self.trust is not None:
            yield paragraph(self.trust, width)


def _shown(file: str, cwd: str) -> str:
    return with_tilde(relative_to(cwd, file))


def entry_documents(planned: Sequence[Planned]) -> tuple[EntryDocument, ...]:
    return tuple(
        EntryDocument(
            source=str(each.where),
            event=each.event,
            hook=each.hook,
            how=each.how,
            to=each.to,
            entries=tuple(
                {**({} if group.matcher is None else {"matcher": group.matcher}), **group.entry}
                for group in each.groups
            ),
            why=each.why,
            notes=each.notes,
        )
        for each in planned
    )
