"""Every pattern that the source compiles with `re`, and the methods that it is used by.

A pattern may be a constant, an argument of a function that compiles it, or come from a table.
"""

import ast
import importlib
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import hookline

PACKAGE = Path(hookline.__file__).parent
METHODS = ("match", "search", "fullmatch", "sub", "subn", "split", "findall", "finditer")
#: Where flags are among the arguments of `re.METHOD`.
_FLAGS_AT = {"compile": 1, "sub": 4, "subn": 4, "split": 3}


class Used(NamedTuple):
    """A pattern and one method it is used by."""

    pattern: str | bytes
    flags: int
    method: str
    #: module:line
    where: str


class Unknown(NamedTuple):
    """A call whose pattern the source does not show."""

    module: str
    text: str


def modules() -> Iterator[tuple[str, Path]]:
    for file in sorted(PACKAGE.rglob("*.py")):
        parts = file.relative_to(PACKAGE.parent).with_suffix("").parts
        yield ".".join(parts).removesuffix(".__init__"), file


def used_in(name: str, file: Path) -> Iterator[Used | Unknown]:
    """Yield the patterns of one module."""
    text = file.read_text()
    if not re.search(r"^import re$", text, re.MULTILINE):
        return
    reader = _Module(importlib.import_module(name), ast.parse(text))
    yield from reader.used()


class _Module:
    def __init__(self, module: ModuleType, tree: ast.Module) -> None:
        self._name = module.__name__
        self._names = vars(module)
        self._parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
        self._calls = [node for node in self._parents if isinstance(node, ast.Call)]
        #: Methods of patterns, and the names in what they are methods of.
        self._methods = [
            (node.attr, {name for part in ast.walk(node.value) if (name := _name_of(part)) is not None})
            for node in self._parents
            if isinstance(node, ast.Attribute) and node.attr in METHODS
        ]

    def used(self) -> Iterator[Used | Unknown]:
        for call in self._calls:
            if (method := _re_method(call)) is not None and call.args:
                yield from self._of_call(call, method)

    def _of_call(self, call: ast.Call, method: str) -> Iterator[Used | Unknown]:
        methods = self._methods_after(call) if method == "compile" else [method]
        at = _FLAGS_AT.get(method, 2)
        given = [each.value for each in call.keywords if each.arg == "flags"] or call.args[at : at + 1]
        pattern = self._value(call.args[0])
        if isinstance(pattern, str | bytes):
            flags = self._value(given[0]) if given else 0
            yield from self._each(pattern, flags, methods, call.lineno)
            return
        if not (calls := [*self._calls_of_the_function_around(call)]):
            yield Unknown(self._name, ast.unparse(call.args[0]))
        for arguments, using in calls:
            pattern = self._value(call.args[0], arguments)
            flags = self._value(given[0], arguments) if given else 0
            chained = self._methods_after(using) if method == "compile" else methods
            if isinstance(pattern, str | bytes):
                yield from self._each(pattern, flags, chained, using.lineno)
            else:
                yield Unknown(self._name, ast.unparse(using))

    def _each(self, pattern: str | bytes, flags: Any, methods: Iterable[str], line: int) -> Iterator[Used]:
        for method in methods:
            yield Used(pattern, int(flags) if flags is not None else 0, method, f"{self._name}:{line}")

    def _value(self, node: ast.expr, arguments: dict[str, Any] | None = None) -> Any:
        try:
            compiled = compile(ast.Expression(node), "source", "eval")
            return eval(compiled, {**self._names, **(arguments or {})})
        except (NameError, TypeError, AttributeError, KeyError, ValueError):
            return None  # it depends on something else

    def _calls_of_the_function_around(self, node: ast.AST) -> Iterator[tuple[dict[str, Any], ast.Call]]:
        """Yield the arguments with which the module calls each function that the node is in, and the call."""
        at: ast.AST | None = node
        while at is not None:
            if isinstance(at, ast.FunctionDef | ast.AsyncFunctionDef):
                names = [each.arg for each in at.args.args]
                defaults = dict(zip(names[::-1], map(self._value, at.args.defaults[::-1]), strict=False))
                for call in self._calls:
                    if isinstance(call.func, ast.Name) and call.func.id == at.name:
                        given = {
                            name: self._value(each) for name, each in zip(names, call.args, strict=False)
                        }
                        given |= {each.arg: self._value(each.value) for each in call.keywords if each.arg}
                        yield {**defaults, **given}, call
            at = self._parents.get(at)

    def _methods_after(self, node: ast.expr) -> list[str]:
        """Return the methods that a compiled pattern is used by: at once, by its name, or by that of its function."""
        parent = self._parents.get(node)
        if isinstance(parent, ast.Attribute):
            return [parent.attr] if parent.attr in METHODS else []
        names = set(self._names_of(node))
        found = {method for method, used in self._methods if names & used}
        # In a list of patterns, or used elsewhere.
        return sorted(found) or ["match" if self._is_handed_over(names) else "search"]

    def _is_handed_over(self, names: set[str]) -> bool:
        """Return True for `self._ahead(_NAME)`: a scanner matches it where it is."""
        return any(
            isinstance(call.func, ast.Attribute)
            and call.func.attr.startswith("_")
            and any(isinstance(each, ast.Name) and each.id in names for each in call.args)
            for call in self._calls
        )

    def _names_of(self, node: ast.AST) -> Iterator[str]:
        """Yield the names by which others know what a node is part of."""
        at: ast.AST | None = node
        while at is not None:
            if isinstance(at, ast.FunctionDef) and at.name != "__init__":
                yield at.name
                return
            if isinstance(at, ast.Assign | ast.AnnAssign):
                targets = at.targets if isinstance(at, ast.Assign) else [at.target]
                yield from (name for target in targets for name in _named(target, at.value, node))
            at = self._parents.get(at)


def _named(target: ast.expr, value: ast.expr | None, node: ast.AST) -> Iterator[str]:
    """Yield the name that a node is given; `a, b = x, y` gives one to each."""
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        for each, given in zip(target.elts, value.elts, strict=True):
            yield from _named(each, given, node) if given is node else ()
    elif isinstance(target, ast.Name):
        yield target.id
    elif isinstance(target, ast.Attribute):
        yield target.attr


def _name_of(node: ast.AST) -> str | None:
    if isinstance(node, ast.Name):
        return node.id
    return node.attr if isinstance(node, ast.Attribute) else None


def _re_method(call: ast.Call) -> str | None:
    function = call.func
    if not isinstance(function, ast.Attribute) or not isinstance(function.value, ast.Name):
        return None
    known = function.value.id == "re" and function.attr in (*METHODS, "compile")
    return function.attr if known else None
