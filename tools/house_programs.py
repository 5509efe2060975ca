"""Check the laws of the table of programs, `hookline.shell.programs`: each fact is there once."""

import ast
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

from hookline.shell.kinds import KINDS
from hookline.shell.programs import TOPICS, Table, table, text_of
from hookline.shell.programs.row import WAYS, ProgramRow, names_of, word_of

#: What operands are, or options that hold a command, beside the kinds of texts.
_OTHER_KINDS = frozenset(("", "exec", "script"))


#: So many programs or options in one place are a list.
_LIST = 3
#: Lists that are not facts of programs, by their reasons: the constant, or the function, that holds each.
_REASONS = {
    "options and words of Hookline's own command line": """
        cli/commands/completion/run.py:_BY_NAME cli/commands/hook/__init__.py:_HELP
        cli/commands/fleet/__init__.py:_SIGNS cli/commands/fleet/__init__.py:ACTIONS
        cli/commands/fleet/__init__.py:_OPTIONS cli/commands/run/shell.py:_start_server config/commands.py:_SHOWS
        config/commands.py:COMMANDS config/commands.py:HOOK_OPTIONS
        config/protection/protected_paths.py:_LAUNCHERS
        hook/relay/client.py:_call team/console/views/one_run.py:_again""",
    "names and keys of a format, or columns": """
        actions/by_names.py:_COMMAND_LINES cli/commands/fire/times_report.py:_warm_columns
        cli/describe.py:_BY_KIND cli/validate_call.py:_BESIDE dialects/copilot_cli/settings.py:_KINDS
        dialects/docker_agent/messages.py:_translated_call dialects/entries.py:_handler
        dialects/gemini_cli/__init__.py:_entry dialects/gemini_cli/events.py:ROWS
        dialects/gemini_cli/settings.py:COMMON dialects/gencode/settings.py:_SHELLS
        dialects/report.py:_OTHER_WORDS guards/judge.py:_SHELL_LANGUAGES handlers/command.py:SHELLS
        handlers/registry.py:standard_handlers shell/kinds/__init__.py:CONSOLES""",
    "programs that Hookline itself starts, completes or shows": """
        agent/tui/editor.py:_USUAL agent/tui/editor.py:_WITH_COLON
        cli/commands/completion/__init__.py:SHELLS cli/commands/completion/run.py:SCRIPTS
        hook/relay/build.py:COMPILERS hook/relay/build.py:_OPTIONS""",
    "what doctor takes for certain in a script": """
        checks/commands/answers.py:_PLAIN checks/commands/command_line.py:_ASKING
        checks/commands/command_line.py:_SCRIPT_RUNNERS
        config/install/self_calls.py:_RUNNERS""",
    "names are made while hooks load, where the rows would cost more than the rest": """
        dialects/labels.py:_BEFORE dialects/labels.py:_CODE dialects/labels.py:_INTERPRETER_VALUES
        dialects/labels.py:_RUNNERS dialects/labels.py:_RUNNER_VALUES dialects/labels.py:_SHELLS""",
    "what secrets look like in text that no reader of lines reads": """
        journal/redaction.py:_OPTIONS journal/secret_shapes.py:_COMMANDS""",
    "files that are many programs": "execguard/judge.py:_MANY_IN_ONE",
    "containers and other machines that a guard does not follow": """
        guards/commands.py:_CONTAINERS guards/paths.py:_CONTAINERS guards/rows.py:_RUNNERS""",
    "what a guard leaves alone, and how it reads searches": """
        guards/flows.py:MEASURES guards/paths.py:_LOADS guards/paths.py:_LOAD_BY_OPTION
        guards/paths.py:_KEY_OPTIONS guards/paths.py:_LOADING guards/paths.py:SEARCHES
        guards/paths.py:_INCLUDES guards/paths.py:_RUNS_EACH guards/paths.py:_CHOOSES
        guards/paths.py:_DESCRIBES guards/paths.py:_FINDS_NAMES guards/paths.py:_OTHERS
        guards/paths.py:_LS guards/paths.py:_LISTS_HIDDEN guards/paths.py:_ENV_FILE guards/outside.py:_NAMES_ONLY
        guards/paths.py:_searches_all trust/data_files.py:_STORES""",
    "what a permission suggests, and what it leaves alone": """
        permissions/suggest.py:_SUBCOMMANDS permissions/suggest.py:_EXACT shell/kinds/commands.py:_USUAL
        shell/permitted.py:_ANY_WORDS shell/permitted.py:_READS_DATA shell/permitted.py:_NEEDLESS
        shell/permitted.py:_BINARY shell/permitted.py:unsettled""",
    "options with one meaning to every program": """
        shell/files/by_row.py:looks_recursive shell/runs.py:_PLAIN_WRITES""",
    "for the functions for what no row can say": """
        shell/files/programs.py:_SETS shell/files/programs.py:_READ_CODE
        shell/files/programs.py:runs_standard_input
        shell/files/programs.py:_FIND_NAMES shell/files/programs.py:_FIND_FILES
        shell/files/programs.py:_FIND_RUNS shell/files/programs.py:_SPECIAL
        shell/files/transfers.py:curl_files shell/programs/builds.py:_GLUED shell/programs/files.py:xargs""",
    "words and builtins of the shell's own language": """
        shell/grammar/parser.py:_BASH_ONLY shell/grammar/parser.py:_DECLARING
        shell/powershell.py:_INTERPRETERS shell/powershell.py:_ONLY_SHOWS
        shell/walk/evaluated.py:EVALUATING shell/walk/lines.py:_COMPARISONS
        shell/walk/simple.py:_without_settings shell/walk/streams.py:_PRINT_FILES
        shell/walk/streams.py:_PREFIXES shell/walk/variables.py:DECLARING
        shell/walk/variables.py:_HIDING shell/walk/variables.py:_PREFIXES
        shell/walk/variables.py:_READING""",
}
_KEPT = frozenset(" ".join(_REASONS.values()).split())
#: The tables of guards say what each guard is about, and an adapter is about its framework.
_APART = ("guards/tables/", "adapters/")


def listed_programs(package: Path, kept: Collection[str] = _KEPT) -> list[str]:
    """Return where programs or options are listed outside the rows: facts of a program belong into its row.

    A name that is kept and lists nothing is reported as well.
    """
    known = {name for name in table() if " " not in name}
    found: list[str] = []
    unused = set(kept)
    for file in sorted(package.rglob("*.py")):
        module = file.relative_to(package).as_posix()
        if module.startswith(_APART):
            continue
        for name, node in _named(ast.parse(file.read_text(encoding="utf-8")), ""):
            texts = [*_texts_of(node)]
            options = [text for text in texts if len(text) > 1 and text[0] == "-"]
            programs = [text for text in texts if text in known]
            if len(options) < _LIST and (len(programs) < _LIST or 2 * len(programs) <= len(texts)):
                continue
            unused.discard(f"{module}:{name}")
            if f"{module}:{name}" not in kept:
                line = getattr(node, "lineno", 0)
                found.append(f"{module}:{line} {name} lists {', '.join(texts[:_LIST])} …")
    return found + [f"{each} lists nothing" for each in sorted(unused)]


def _named(node: ast.AST, name: str) -> Iterator[tuple[str, ast.AST]]:
    """Yield everything below, with the constant or else the function that it is in."""
    for child in ast.iter_child_nodes(node):
        own = name
        match child:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                own = child.name
            case ast.Assign(targets=[ast.Name(id=given)]) | ast.AnnAssign(target=ast.Name(id=given)):
                own = name or given
            case _:
                pass
        yield own, child
        yield from _named(child, own)


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
    entering = {option.partition("=")[0] for option in row.chdir}
    named = {
        *row.stays,
        *row.besides,
        *row.instead,
        *entering,
        *row.recipes_by,
        *row.silent,
        *(row.away or ()),
    }
    named |= {name for name in (*row.shows, *(row.changes or ())) if name[:1] == "-"}
    for name in sorted(named - set(row.words)):
        yield f"{name} is none of its options"
    for way in sorted(set(row.does) - set(WAYS)):
        yield f"unknown way {way}"
