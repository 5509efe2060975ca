"""Check that code which reads configuration reads files only through its `Disk`.

The daemon caches what was read until one of the recorded paths changes: it would not notice a read past the disk.
"""

import ast
import io
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from hookline.disk import read_at_most
from tests.every import every

_SRC = Path(__file__).parent.parent / "src" / "hookline"
#: Modules that run while the daemon reads something that it keeps.
_READ = (
    "dialects/**/*.py", "trust/*.py", "config/load.py", "config/bundles/*.py", "config/protection/protected_paths.py",
    "hook/call/*.py",
)  # fmt: skip
#: Modules among them that read and write other files: past sessions, and what `hookline install` changes.
_OTHERS = ("transcript.py", "transcript_reader.py", "installer.py")
#: Functions among them that look past the disk, and why.
_PAST = {
    "config/protection/protected_paths.py": {"there", "below", "_contents"},  # for one call, never kept
    "dialects/registry.py": {"programs_in_path"},  # for install and doctor
    "hook/call/answer.py": {"_background_results"},  # for one call
    "hook/call/deduplicate.py": {"process_started"},  # /proc
    "hook/call/headless.py": {"_words", "_has_terminal", "_parent"},  # /proc
    "trust/items.py": {"holds"},  # compares what was found through the disk
    "trust/sessions.py": {"_make_directory", "open_calls", "sweep", "_all", "_changed"},  # write or clean up
    "trust/user_edits.py": {"__init__", "_concerns", "_is_it"},  # for one edit of the user
    "trust/store.py": {"_prepared", "_locked", "replace_file"},  # write
}
_LOOKS = frozenset(
    f"os.{name}"
    for name in (
        "stat", "lstat", "open", "listdir", "scandir", "readlink", "access", "walk", "fwalk", "statvfs", "getxattr",
        "path.exists", "path.lexists", "path.isdir", "path.isfile", "path.islink", "path.realpath", "path.ismount",
        "path.samefile", "path.getsize", "path.getmtime", "path.getctime", "path.getatime",
    )
)  # fmt: skip
_LAST = frozenset(name.rpartition(".")[2] for name in _LOOKS)
_MODULES = frozenset(("pathlib", "glob", "io", "shutil", "tempfile", "fileinput", "linecache"))
#: How calls of methods end that take a disk. Texts have a method `find`, too.
_METHODS = ("dialect.plugins", "dialect.find", "dialect(name).find", "sessions.recall")


def _modules() -> list[str]:
    found = {path for pattern in _READ for path in _SRC.glob(pattern) if path.name not in _OTHERS}
    return sorted(str(path.relative_to(_SRC)) for path in found)


def _tree(module: str) -> ast.Module:
    return ast.parse((_SRC / module).read_bytes())


def _looks_past(tree: ast.AST, within: str = "", allowed: frozenset[str] = frozenset()) -> Iterator[str]:
    """Yield each use of the file system in functions that are not allowed one, with its line."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            continue
        inside = node.name if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) else within
        if inside in allowed:
            continue
        name = ast.unparse(node) if isinstance(node, ast.Attribute) and node.attr in _LAST else ""
        opened = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "open"
        imported = _imported(node) & _MODULES
        if name in _LOOKS or opened or imported:
            yield f"{getattr(node, 'lineno', 0)}: {ast.unparse(node)}"
        yield from _looks_past(node, inside, allowed)


def _imported(node: ast.AST) -> set[str]:
    if isinstance(node, ast.Import):
        return {each.name.partition(".")[0] for each in node.names}
    return {(node.module or "").partition(".")[0]} if isinstance(node, ast.ImportFrom) else set()


def _takes_disk() -> frozenset[str]:
    """Return the functions that may be given a disk, and the classes. Where they must be, the type checker looks."""
    found: set[str] = set()
    for path in _SRC.rglob("*.py"):
        module, text = _dotted(str(path.relative_to(_SRC))), path.read_bytes()
        for node in ast.walk(ast.parse(text)) if b"disk" in text else ():
            if not isinstance(node, ast.ClassDef | ast.Module):
                continue
            for each in node.body:
                if isinstance(each, ast.FunctionDef) and "disk" in _parameters(each):
                    if isinstance(node, ast.Module):
                        found.add(f"{module}.{each.name}")
                    elif each.name == "__init__":
                        found.add(f"{module}.{node.name}")
    return frozenset(found)


def _dotted(module: str) -> str:
    return f"hookline/{module}".removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def _names(module: str, tree: ast.Module) -> dict[str, str]:
    """Return what the names of a module are elsewhere, those of its own functions and classes included."""
    own = {each.name for each in tree.body if isinstance(each, ast.FunctionDef | ast.ClassDef)}
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    taken = {
        (each.asname or each.name): f"{node.module}.{each.name}" for node in imports for each in node.names
    }
    return taken | {name: f"{_dotted(module)}.{name}" for name in own}


def _parameters(function: ast.FunctionDef) -> set[str]:
    """Return the parameters that may be left out."""
    given = function.args
    defaults = given.args[len(given.args) - len(given.defaults) :]
    words = [
        each for each, value in zip(given.kwonlyargs, given.kw_defaults, strict=True) if value is not None
    ]
    return {each.arg for each in (*defaults, *words)}


def _without_disk(module: str, tree: ast.Module, functions: frozenset[str]) -> Iterator[str]:
    """Yield each call of one of these functions that is given no disk, with its line."""
    names = _names(module, tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and _takes(node.func, names, functions):
            given = [ast.unparse(each) for each in (*node.args, *(word.value for word in node.keywords))]
            if not any(each.lower().endswith("disk") for each in given):
                yield f"{module}:{node.lineno}: {ast.unparse(node)}"


def _takes(called: ast.expr, names: Mapping[str, str], functions: frozenset[str]) -> bool:
    if isinstance(called, ast.Name):
        return names.get(called.id) in functions
    return isinstance(called, ast.Attribute) and ast.unparse(called).endswith(_METHODS)


def test_modules_that_read_configuration_are_known() -> None:
    found = _modules()
    assert {"dialects/gemini_cli/extensions.py", "trust/files.py", "hook/call/project.py"} <= set(found)
    assert len(found) > 80
    assert _PAST.keys() <= set(found)


def test_a_loader_looks_at_files_through_its_disk() -> None:
    found = {
        f"{module}:{each}"
        for module in _modules()
        for each in _looks_past(_tree(module), allowed=frozenset(_PAST.get(module, ())))
    }
    assert not found


def test_a_loader_hands_its_disk_on() -> None:
    functions = _takes_disk()
    assert {"hookline.dialects.files.read_file", "hookline.trust.files.FileFinder"} <= functions
    found = [each for module in _modules() for each in _without_disk(module, _tree(module), functions)]
    assert not found


@pytest.mark.parametrize("name", sorted(_PAST))
def test_each_exception_is_one(name: str) -> None:
    tree = _tree(name)
    for function in _PAST[name]:
        assert list(_looks_past(tree, allowed=frozenset(_PAST[name] - {function}))), function


def test_looks_of_every_kind_are_found() -> None:
    lines = ("import pathlib", "os.stat(x)", "os.path.isdir(x)", "open(x)", "disk.open(x)", "os.path.join(x)")
    assert [bool(list(_looks_past(ast.parse(line)))) for line in lines] == [True] * 4 + [False] * 2
    taken = "from hookline.a import upward as up\n"
    lines = ("up(x)", "sessions.recall(x)", "up(x, disk)", "up(x, disk=self._disk)", "upward(x)", "f()")
    trees = [ast.parse(taken + line) for line in lines]
    found = [bool(list(_without_disk("b.py", tree, frozenset({"hookline.a.upward"})))) for tree in trees]
    assert found == [True] * 2 + [False] * 4


@every(
    ("content", "size", "most", "found"),
    [
        (b"abc", 3, 10, b"abc"),
        (b"abc", 0, 10, b"abc"),  # a file system that does not know sizes
        (b"abcdef", 3, 10, b"abcdef"),  # it has grown
        (b"abc", 5, 10, b"abc"),  # it has shrunk
        (b"abcdef", 6, 3, b"abcd"),
        (b"abcdef", 1, 3, b"abcd"),
        (b"", 0, 0, b""),
    ],
)
def test_a_file_is_read_whole_whatever_its_size_is_said_to_be(
    content: bytes, size: int, most: int, found: bytes
) -> None:
    assert read_at_most(io.BytesIO(content), size, most) == found
