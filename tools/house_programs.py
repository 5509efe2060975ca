"""Check the laws of the table of programs, `hookline.shell.programs`: each fact is there once."""

from collections import Counter
from collections.abc import Iterator, Mapping

from hookline.shell.kinds import KINDS
from hookline.shell.programs import TOPICS, Table, text_of
from hookline.shell.programs.row import ProgramRow, names_of, word_of

#: What operands are, or options that hold a command, beside the kinds of texts.
_OTHER_KINDS = frozenset(("", "exec", "script"))


def broken_rows(texts: Mapping[str, str] | None = None) -> list[str]:
    """Yield what the rows of the topics break, as sentences."""
    texts = {topic: text_of(topic) for topic in TOPICS} if texts is None else texts
    names = [
        name
        for text in texts.values()
        for block in text.split("\n\n")
        for name in names_of(block.partition("\n")[0].partition(" = ")[0])
    ]
    found = [f"{name} has {count} rows" for name, count in Counter(names).items() if count > 1]
    known = set(names)
    for name in names:
        if " " in name and name.rpartition(" ")[0] not in known:
            found.append(f"{name} has a row, its program has none")
        if name != name.casefold():
            found.append(f"{name} is not in lower case")
    table = Table(texts)
    for row in {id(row): row for name in names if (row := table.get(name)) is not None}.values():
        found += [f"{row.names}: {problem}" for problem in _problems(row)]
    return found


def _problems(row: ProgramRow) -> Iterator[str]:
    own = [word_of(text) for text in row.options]
    for name, count in Counter(word.name for word in own).items():
        if count > 1:
            yield f"{name} is declared {count} times"
    for word in own:
        if row.like is not None and row.like.words.get(word.name) == word:
            yield f"{word.name} is as in the row it is like"
    kinds = {*(word.kind for word in own), row.first, row.others, row.stdin, *row.plain, *row.near}
    for kind in sorted(kinds - _OTHER_KINDS - set(KINDS)):
        yield f"unknown kind {kind}"
    for name in {*row.stays, *row.besides, *row.instead} - set(row.words):
        yield f"{name} is none of its options"
