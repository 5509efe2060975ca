"""Check the laws of the table of programs, `hookline.shell.programs`: each fact is there once."""

import ast
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

from hookline.shell.kinds import KINDS
from hookline.shell.programs import TOPICS, Table, table, text_of
from hookline.shell.programs.row import WAYS, ProgramRow, names_of, word_of

#: What operands are, or options that hold a command, beside the kinds of texts.
_OTHER_KINDS = frozenset(("", "exec", "script"))


#: So many programs or options in one place are a list.
_LIST = 3
_SEARCHED = ("execguard", "guards", "history", "permissions", "shell")
#: Modules with lists that are not facts of programs, but an idea of the module's own.
_KEPT = {
    "execguard/judge.py": "files that are many programs",
    "guards/commands.py": "containers that a guard does not follow",
    "guards/flows.py": "what a guard leaves alone",
    "guards/judge.py": "names of languages",
    "guards/outside.py": "what a guard leaves alone",
    "guards/paths.py": "what a guard leaves alone, and how it reads searches",
    "guards/rows.py": "how a guard spells a command",
    "permissions/rules.py": "what a rule may name",
    "permissions/suggest.py": "what is suggested, and what is not",
    "shell/files/by_row.py": "options with one meaning to every program",
    "shell/files/programs.py": "the functions for what no row can say",
    "shell/files/transfers.py": "the functions for what no row can say",
    "shell/grammar/parser.py": "words of the shell's grammar",
    "shell/kinds/__init__.py": "names of kinds",
    "shell/kinds/commands.py": "what a permission leaves alone",
    "shell/permitted.py": "what a permission leaves alone",
    "shell/powershell.py": "another shell",
    "shell/programs/builds.py": "the functions for what no row can say",
    "shell/programs/files.py": "the functions for what no row can say",
    "shell/programs/interpreters.py": "the functions for what no row can say",
    "shell/runs.py": "options with one meaning to every program",
    "shell/walk/evaluated.py": "builtins of the shell",
    "shell/walk/lines.py": "builtins of the shell",
    "shell/walk/simple.py": "builtins of the shell",
    "shell/walk/streams.py": "builtins of the shell, and what passes text on",
    "shell/walk/variables.py": "builtins of the shell",
}


def listed_programs(package: Path) -> list[str]:
    """Return where programs or options are listed outside the rows: facts of a program belong into its row."""
    known = {name for name in table() if " " not in name}
    found: list[str] = []
    for file in (file for part in _SEARCHED for file in sorted((package / part).rglob("*.py"))):
        name = file.relative_to(package).as_posix()
        # The tables of guards say what each guard is about.
        if name in _KEPT or name.startswith("guards/tables/"):
            continue
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            texts = [*_texts_of(node)]
            options = [text for text in texts if len(text) > 1 and text[0] == "-"]
            programs = [text for text in texts if text in known]
            if len(options) >= _LIST or (len(programs) >= _LIST and 2 * len(programs) > len(texts)):
                found.append(f"{name}:{getattr(node, 'lineno', 0)} lists {', '.join(texts[:_LIST])} …")
    return found


def _texts_of(node: ast.AST) -> Iterator[str]:
    """Yield the texts of a collection."""
    values: list[ast.expr | None] = []
    if isinstance(node, ast.Set | ast.Tuple | ast.List):
        values += node.elts
    elif isinstance(node, ast.Dict):
        values += node.keys
    for value in values:
        if isinstance(value, ast.Constant) and isinstance(value.value, str):
            yield value.value


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
    rows = Table(texts)
    for row in {id(row): row for name in names if (row := rows.get(name)) is not None}.values():
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
    named = {
        *row.stays,
        *row.besides,
        *row.instead,
        *row.chdir,
        *row.recipes_by,
        *row.silent,
        *(row.away or ()),
    }
    named |= {name for name in (*row.shows, *(row.changes or ())) if name[:1] == "-"}
    for name in sorted(named - set(row.words)):
        yield f"{name} is none of its options"
    for way in sorted(set(row.does) - set(WAYS)):
        yield f"unknown way {way}"
