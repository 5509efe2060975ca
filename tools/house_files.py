"""Read the source text for `make house`: directories, imports, names, and code that two dialects share.

- A module is a .py file; a directory's `__init__` counts as one of its modules. Lines are counted as `wc -l` does.
- A private function has a name with one underscore before it. It is used as often as its module has that name as a
  variable or an attribute; of two functions with one name each counts for both.
- Imported by exactly one other: one other module of the package has an import of it, at its top, in a function
  or for types only. `from package import module` counts for the module. Packages themselves are not counted.
- A line names a dialect when its code does: identifiers and strings, but not comments and docstrings.
- Two functions share a body by text when their statements are the same, and by shape when they are the same once
  every name, attribute and constant is replaced by a placeholder. Docstrings do not count.
"""

import ast
import io
import re
import tokenize
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from fnmatch import fnmatch
from functools import cache
from itertools import chain, combinations
from pathlib import Path
from typing import NamedTuple

from hookline.dialects.registry import OWN_FORMAT, standard_dialects

_ROOT = Path(__file__).resolve().parent.parent
PACKAGE = _ROOT / "src" / "hookline"
TESTS = _ROOT / "tests"

#: A dialect's directory, and how code names the agent.
AGENTS: Mapping[str, str] = {
    listed.package: listed.spelled or name.partition("-")[0]
    for name, listed in standard_dialects().items()
    if name != OWN_FORMAT
}

_CLASS = re.compile(r"^class ([^\W_]\w*)", re.MULTILINE)

#: Where code may name an agent outside its directory: files, what is allowed in a line, why.
ALLOWED = (
    ("dialects/registry.py", r".*", "the registry has one entry per dialect"),
    (
        "checks/unread_agents.py",
        r'"[^"]*"',
        "files of agents that have no dialect, also in another's directory",
    ),
    ("cli/*", r"^ +hookline \S.*", "an example in a help text"),
    ("*", r"CLAUDE(\.local)?\.md", "an instruction file that several agents read"),
    ("telemetry/*", r"gen_ai\.[a-z_.]+", "names that OpenTelemetry has for generative AI"),
    ("testing/conformance/suite/*", r"\.claude/\S*|_CLAUDE", "a case runs the hook of another agent's file"),
    ("adapters/claude_agent_sdk.py", r".*", "an adapter is named after its product"),
    ("guards/tables/*", r'\brun="[^"]*"', "programs that a guard is about"),
    ("agent/models/*", r"claude|gemini|qwen|GEMINI_API_KEY", "families of models, not the agents"),
    ("cli/*", r"anthropic:claude\S*", "the name of a model"),
)

#: Class names that several dialects, or several adapters, share by design: each has its own kind of one thing.
SHARED_NAMES: Mapping[str, tuple[str, ...]] = {
    "dialects": (
        "AnswerReader", "AnswerWriter", "EntryReader", "EventRow", "FileReader", "PayloadKey", "Reader", "Settings",
        "Writer",
    ),
    "adapters": ("HooklineMiddleware", "HooklinePlugin", "RunStoppedError"),
}  # fmt: skip

#: Modules of a dialect that do not belong to config, wire and policies.
_BESIDES = ("__init__.py", "installer.py", "transcript.py")
#: A shorter body is nothing to share.
_LEAST = 6
#: Lines of a function that a reader could as well read where it is used.
SHORT = 5


@cache
def modules() -> dict[str, Path]:
    """Yield every module by its dotted name; a package by the name of its directory."""
    found: dict[str, Path] = {}
    for file in sorted(PACKAGE.rglob("*.py")):
        parts = file.relative_to(PACKAGE.parent).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = file
    return found


def line_count(file: Path) -> int:
    return file.read_text(encoding="utf-8").count("\n")


def directories() -> dict[str, int]:
    """Count the modules of each directory, the fullest first."""
    counts: dict[str, int] = defaultdict(int)
    for file in modules().values():
        counts[_short(file.parent)] += 1
    return dict(sorted(counts.items(), key=lambda item: -item[1]))


def imported_once() -> dict[str, str]:
    """The modules with exactly one importer, and that importer."""
    importers: dict[str, set[str]] = defaultdict(set)
    for name, file in modules().items():
        for imported in _imports(name, file):
            importers[imported].add(name)
    return {
        name: next(iter(importers[name]))
        for name, file in modules().items()
        if len(importers[name]) == 1 and file.name != "__init__.py"
    }


def _imports(name: str, file: Path) -> set[str]:
    wanted: set[str] = set()
    for node in ast.walk(_tree(file)):
        if isinstance(node, ast.Import):
            wanted |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            within = {f"{node.module}.{alias.name}" for alias in node.names} & modules().keys()
            wanted |= within or {node.module}
    return (wanted & modules().keys()) - {name}


class PrivateFunction(NamedTuple):
    where: str
    lines: int
    uses: int


def private_functions() -> list[PrivateFunction]:
    """Every function and method with a private name, and how often its own module uses that name."""
    found: list[PrivateFunction] = []
    for file in modules().values():
        nodes = list(ast.walk(_tree(file)))
        uses = Counter(node.id for node in nodes if isinstance(node, ast.Name))
        uses.update(node.attr for node in nodes if isinstance(node, ast.Attribute))
        for node in nodes:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and _is_private(node.name):
                lines = (node.end_lineno or node.lineno) - node.lineno + 1
                found.append(
                    PrivateFunction(f"{_short(file)}:{node.lineno} {node.name}", lines, uses[node.name])
                )
    return found


def _is_private(name: str) -> bool:
    return name.startswith("_") and not name.endswith("__")


def doubled_names() -> list[str]:
    """List public classes that have the name of another one, though it is not shared by design."""
    named: dict[str, list[str]] = defaultdict(list)
    classes = {file: _CLASS.findall(file.read_text(encoding="utf-8")) for file in modules().values()}
    often = {name for name, count in Counter(chain(*classes.values())).items() if count > 1}
    for file in (file for file, names in classes.items() if often.intersection(names)):  # few are parsed
        for node in _tree(file).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                part = _short(file).partition("/")[0]
                shared = node.name in SHARED_NAMES.get(part, ())
                where = part if shared else f"{_short(file)}:{node.lineno}"
                if where not in named[node.name]:
                    named[node.name].append(where)
    return [f"{name}: {', '.join(files)}" for name, files in named.items() if len(files) > 1]


def naming_lines() -> list[str]:
    """Yield lines that name a dialect outside its directory, as file:line."""
    homes = tuple(f"dialects/{directory}/" for directory in (*AGENTS, "native"))
    return [
        f"{_short(file)}:{number}: {line.strip()}"
        for file in modules().values()
        if not _short(file).startswith(homes)  # a dialect may say what it has in common with another
        if names_an_agent("", file.read_text(encoding="utf-8"))  # so that few files are tokenized
        for number, line in _code(file)
        if names_an_agent(_short(file), line)
    ]


def names_an_agent(file: str, line: str) -> bool:
    for pattern, allowed, _why in ALLOWED:
        if fnmatch(file, pattern):
            line = re.sub(allowed, "", line)
    return any(re.search(named, line, re.IGNORECASE) for named in AGENTS.values())


def _code(file: Path) -> Iterator[tuple[int, str]]:
    text = file.read_text(encoding="utf-8")
    lines = text.split("\n")
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            row, column = token.start
            lines[row - 1] = lines[row - 1][:column]
    described = {
        row
        for node in ast.walk(_tree(file))
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        for row in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    }
    return ((row, line) for row, line in enumerate(lines, 1) if row not in described)


def dialect_imports() -> list[str]:
    """List imports of one dialect by another: dialects know nothing of each other."""
    homes = {f"hookline.dialects.{listed.package}" for listed in standard_dialects().values()}
    return [
        f"{name} imports {imported}"
        for name, file in modules().items()
        if (home := ".".join(name.split(".")[:3])) in homes
        for imported in sorted(_imports(name, file))
        if (other := ".".join(imported.split(".")[:3])) in homes and other != home
    ]


def dialect_lines() -> dict[str, int]:
    """Count the lines of each dialect for config, wire and policies.

    Its `__init__`, which states facts, its installer and the reader of its agent's transcripts are not counted.
    """
    return {
        directory.name: sum(line_count(file) for file in directory.glob("*.py") if file.name not in _BESIDES)
        for directory in sorted((PACKAGE / "dialects").iterdir())
        if (directory / "__init__.py").exists()
    }


def shared_bodies() -> list[str]:
    """Functions of two dialects with one body of six lines or more."""
    alike: dict[str, list[_Body]] = defaultdict(list)
    for name in dialect_lines():
        for body in _bodies(name):
            alike[body.shape].append(body)
    return [
        f"{one.where} and {other.where}: the same {'text' if one.text == other.text else 'shape'}"
        for group in alike.values()
        for one, other in combinations(group, 2)
        if one.dialect != other.dialect
    ]


class _Body(NamedTuple):
    dialect: str
    where: str
    text: str
    shape: str


def _bodies(dialect: str) -> Iterator[_Body]:
    for file in sorted((PACKAGE / "dialects" / dialect).glob("*.py")):
        for node in ast.walk(_tree(file)):
            if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                continue
            body = node.body[1:] if ast.get_docstring(node) is not None else node.body
            if body and (body[-1].end_lineno or 0) - body[0].lineno + 1 >= _LEAST:
                text = "\n".join(ast.unparse(statement) for statement in body)
                where = f"{dialect}/{file.name}:{node.lineno} {node.name}"
                yield _Body(dialect, where, text, "\n".join(_shape(statement) for statement in body))


def _shape(node: ast.AST) -> str:
    """The kinds of the nodes in their order, without any name or constant."""
    if isinstance(node, ast.Constant):
        return "Constant"
    return f"{type(node).__name__}({' '.join(_shape(child) for child in ast.iter_child_nodes(node))})"


@cache
def _tree(file: Path) -> ast.Module:
    return ast.parse(file.read_text(encoding="utf-8"))


def _short(path: Path) -> str:
    return path.relative_to(PACKAGE).as_posix()
