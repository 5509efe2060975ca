"""Values and calls of Python programs. Only some modules are known, and of those only what computes."""

import ast
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, Final

from msgspec.structs import replace

from hookline.cli.commands.convert.proof.state import Seen, State, Unproven, one
from hookline.cli.commands.convert.proof.values import (
    EMPTY,
    SOME_VALUE,
    UNKNOWN,
    Value,
    as_json,
    as_member,
    either,
    joined,
    literal,
    read_answer,
)

#: What is known of each module: names of it, or everything it has.
MODULES: Final[Mapping[str, frozenset[str] | None]] = {
    "json": frozenset(("load", "loads", "dumps", "dump", "JSONDecodeError")),
    "sys": frozenset(("stdin", "stdout", "stderr", "exit")),
    "os": frozenset(("path", "environ", "getenv", "sep")),
    "os.path": frozenset(("basename", "dirname", "join", "splitext", "normpath", "isabs", "expanduser")),
    "re": None, "fnmatch": None, "string": None, "time": None, "datetime": None, "typing": None, "__future__": None,
    "shlex": frozenset(("split", "quote", "join")),
}  # fmt: skip
_BUILTINS: Final = frozenset(
    (
        "abs", "all", "any", "bool", "dict", "enumerate", "exit", "float", "frozenset", "int", "isinstance", "len",
        "list", "max", "min", "print", "quit", "range", "repr", "reversed", "round", "set", "sorted", "str", "sum",
        "tuple", "zip", "__name__", "Exception", "BaseException", "ValueError", "KeyError", "TypeError",
        "AttributeError", "IndexError", "SystemExit",
    )
)  # fmt: skip
#: Methods of texts, lists, tables and matches.
_METHODS: Final = frozenset(
    (
        "get", "keys", "values", "items", "strip", "lstrip", "rstrip", "split", "rsplit", "splitlines", "lower",
        "upper", "casefold", "startswith", "endswith", "removeprefix", "removesuffix", "replace", "join",
        "find", "rfind", "count", "index", "format", "group", "groups", "search", "match", "fullmatch",
        "findall", "finditer", "sub", "append", "extend", "add", "partition", "rpartition", "isdigit",
        "isalpha", "isspace", "title", "encode", "start", "end",
    )
)  # fmt: skip
_PLAIN: Final = (
    ast.Constant, ast.JoinedStr, ast.FormattedValue, ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.IfExp,
    ast.List, ast.Tuple, ast.Set, ast.Dict, ast.Subscript, ast.Slice, ast.Name, ast.Attribute, ast.Call, ast.Starred,
    ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp, ast.NamedExpr,
)  # fmt: skip


class PythonValues(ABC):
    def __init__(self, tree: ast.Module, seen: Seen) -> None:
        self.seen = seen
        self.modules: dict[str, str] = {}
        self.functions: dict[str, ast.FunctionDef] = {}
        #: What is changed after it is made is not followed.
        self.fixed = not any(
            isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store) for node in ast.walk(tree)
        )

    @abstractmethod
    def called(self, call: ast.Call, state: State) -> list[State]:
        """A function of the program, followed where it is called."""

    def bound(self, target: ast.expr, value: Value, state: State) -> State:
        if isinstance(target, ast.Name):
            return state.named(self.own_name(target.id), value)
        if isinstance(target, ast.Tuple | ast.List):
            self.used(value)
            for each in target.elts:
                state = self.bound(each, Value(), state)
            return state
        if isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name):
            state, changed = self.value(target.value, state)
            self.used(changed)
            self.used(value)
            return state.named(target.value.id, Value())
        raise Unproven("assigns to something that is not read")

    def own_name(self, name: str) -> str:
        if name in _BUILTINS or name in self.modules or name in self.functions:
            raise Unproven(f"gives {name} another meaning")
        return name

    # --- values --------------------------------------------------------------------------------------------------

    def value(self, node: ast.expr, state: State) -> tuple[State, Value]:
        if not isinstance(node, _PLAIN):
            raise Unproven(f"has a Python expression in line {node.lineno} that is not read")
        return self._expressions.get(type(node), PythonValues._of_parts)(self, node, state)

    def _constant(self, node: ast.Constant, state: State) -> tuple[State, Value]:
        return state, literal(node.value) if isinstance(node.value, str) else number(node.value)

    def _named(self, node: ast.Name, state: State) -> tuple[State, Value]:
        return state, self._name(node.id, state)

    def _of_parts(self, node: ast.expr, state: State) -> tuple[State, Value]:
        """Something made of its parts; what it is, is not known."""
        for each in ast.iter_child_nodes(node):
            if isinstance(each, ast.comprehension):
                state = self._comprehension(each, state)
        for each in ast.iter_child_nodes(node):
            if isinstance(each, ast.expr):
                if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store):
                    state = state.named(self.own_name(each.id), Value())
                    continue
                state, value = self.value(each, state)
                self.used(value)
        return state, Value()

    def _comprehension(self, node: ast.comprehension, state: State) -> State:
        state, value = self.value(node.iter, state)
        self.used(value)
        state = self.bound(node.target, Value(), state)
        for each in node.ifs:
            state, value = self.value(each, state)
            self.used(value)
        return state

    def _name(self, name: str, state: State) -> Value:
        if name in state.names:
            return state.names[name]
        if name in _BUILTINS or name in ("True", "False", "None"):
            return Value()
        raise Unproven(f"uses {name}, which is not read")

    def _item(self, node: ast.Subscript, state: State) -> tuple[State, Value]:
        if dotted(node.value) == "os.environ":
            return state, self.variable(node.slice)
        state, value = self.value(node.value, state)
        key = node.slice.value if isinstance(node.slice, ast.Constant) else None
        if value.fields and isinstance(key, str):
            return state, replace(
                value, fields=frozenset((*each, key) for each in value.fields), texts=UNKNOWN
            )
        self.used(value)
        state, index = self.value(node.slice, state)
        self.used(index)
        return state, Value()

    def _attribute(self, node: ast.Attribute, state: State) -> tuple[State, Value]:
        module = self._module(node.value)
        if module is not None:
            if module == "os" and node.attr == "environ":
                raise Unproven("reads all variables of the environment")
            if module == "sys":
                raise Unproven(f"uses sys.{node.attr} in a way that is not read")
            return state, Value()
        if node.attr not in _METHODS:
            raise Unproven(f"uses .{node.attr}, which is not read")
        state, value = self.value(node.value, state)
        self.used(value)
        return state, Value()

    def _module(self, node: ast.expr) -> str | None:
        """The module that an expression is; raises for one whose name is not known of it."""
        name = dotted(node)
        first, _, rest = name.partition(".")
        if first not in self.modules:
            return None
        module = f"{self.modules[first]}.{rest}" if rest else self.modules[first]
        return module if module in MODULES else None

    def _table(self, node: ast.Dict, state: State) -> tuple[State, Value]:
        """An object, which may be an answer: its keys are certain, its values may be anything."""
        found: dict[str, Any] = {}
        certain = True
        for key, each in zip(node.keys, node.values, strict=True):
            if not isinstance(key, ast.Constant) or not isinstance(key.value, str):
                certain = False
                if key is not None:
                    state, value = self.value(key, state)
            state, value = self.value(each, state)
            self.used(value)
            if isinstance(key, ast.Constant):
                found[str(key.value)] = _as_data(each, value)
        if not certain or not self.fixed:
            return state, Value()
        return state, Value(frozenset((as_json(found),)), data=True)

    def _formatted(self, node: ast.JoinedStr, state: State) -> tuple[State, Value]:
        parts: list[Value] = []
        for each in node.values:
            inner = each.value if isinstance(each, ast.FormattedValue) else each
            state, value = self.value(inner, state)
            self.used(value)
            plain = isinstance(each, ast.FormattedValue) and (
                each.conversion != -1 or each.format_spec is not None
            )
            parts.append(Value() if plain or value.data else value)
        return state, joined(parts)

    def _choice(self, node: ast.BoolOp, state: State) -> tuple[State, Value]:
        """`a or {}`: one of them."""
        values: list[Value] = []
        for each in node.values:
            state, value = self.value(each, state)
            values.append(value)
        return state, either(values)

    def _comparison(self, node: ast.Compare, state: State) -> tuple[State, Value]:
        """Whether a table has a key is known from the value of that key."""
        left = node.left
        state, first = self.value(left, state)
        for operator, each in zip(node.ops, node.comparators, strict=True):
            state, value = self.value(each, state)
            if isinstance(operator, ast.In | ast.NotIn) and isinstance(left, ast.Constant) and value.fields:
                self.used(Value(whole=value.whole))
                self.seen.fields |= {path or (str(left.value),) for path in value.fields}
                continue
            self.used(value)
        self.used(first)
        return state, Value()

    # --- calls ---------------------------------------------------------------------------------------------------

    def _call(self, node: ast.Call, state: State) -> tuple[State, Value]:
        name = dotted(node.func)
        first, _, rest = name.partition(".")
        if name and first in self.modules:
            return self._module_call(node, f"{self.modules[first]}.{rest}", state)
        if name in self.functions:
            found = self.called(node, state)
            if not found:
                raise Unproven("ends inside of an expression")
            value = either(each.names["return"] for each in found)
            return replace(one(found), names=state.names), value
        if isinstance(node.func, ast.Name):
            return self._builtin(node, node.func.id, state)
        if not isinstance(node.func, ast.Attribute):
            raise Unproven("calls something that is not read")
        return self._method(node, node.func, state)

    def _method(self, node: ast.Call, method: ast.Attribute, state: State) -> tuple[State, Value]:
        if method.attr == "get" and node.args and dotted(method.value) == "os.environ":
            return state, self.variable(node.args[0])
        if method.attr not in _METHODS:
            raise Unproven(f"uses .{method.attr}, which is not read")
        state, value = self.value(method.value, state)
        key = node.args[0] if node.args else None
        if method.attr == "get" and value.fields and isinstance(key, ast.Constant):
            taken = replace(
                value, fields=frozenset((*each, str(key.value)) for each in value.fields), texts=UNKNOWN
            )
            values = [taken]
            for each in node.args[1:]:
                state, other = self.value(each, state)
                values.append(other)
            return state, either(values)
        self.used(value)
        return self._arguments(node, state), Value()

    def _builtin(self, node: ast.Call, name: str, state: State) -> tuple[State, Value]:
        if name == "print":
            return self._print(node, state), Value()
        if name not in _BUILTINS or name in ("exit", "quit"):
            raise Unproven(f"calls {name}, which is not read")
        if name == "isinstance":
            for each in node.args[:1]:
                state, _value = self.value(each, state)
            return state, Value()
        if name == "str" and len(node.args) == 1:
            state, value = self.value(node.args[0], state)
            self.used(value)
            return state, Value(UNKNOWN if value.data else value.texts)
        return self._arguments(node, state), Value()

    def _arguments(self, node: ast.Call, state: State) -> State:
        for each in (*node.args, *(keyword.value for keyword in node.keywords)):
            state, value = self.value(each, state)
            self.used(value)
        return state

    def _module_call(self, node: ast.Call, name: str, state: State) -> tuple[State, Value]:
        module, _, own = name.rpartition(".")
        known = MODULES.get(module, frozenset())
        if module.startswith("sys."):
            return self._stream_call(node, name, state)
        if name in ("os.environ.get", "os.getenv") and node.args:
            return state, self.variable(node.args[0])
        if own.startswith("_") or (known is not None and own not in known) or module == "sys":
            raise Unproven(f"uses {name} in a way that is not read")
        if module == "json":
            return self._json(node, own, state)
        return self._arguments(node, state), Value()

    def _stream_call(self, node: ast.Call, name: str, state: State) -> tuple[State, Value]:
        if name in ("sys.stdout.write", "sys.stderr.write") and len(node.args) == 1:
            state, value = self.value(node.args[0], state)
            return self.written(state, value, "err" if "stderr" in name else "out"), Value()
        if name == "sys.stdin.read" and not node.args:
            return replace(state, stdin=EMPTY), state.stdin
        if name not in ("sys.stdout.flush", "sys.stderr.flush"):
            raise Unproven(f"uses {name} in a way that is not read")
        return state, Value()

    def _json(self, node: ast.Call, own: str, state: State) -> tuple[State, Value]:
        if own == "load" and len(node.args) == 1 and self._is_stdin(node.args[0]):
            fields = frozenset(((),)) if state.stdin.whole else frozenset[tuple[str, ...]]()
            return replace(state, stdin=EMPTY), Value(fields=fields)
        if own == "loads" and len(node.args) == 1:
            state, value = self.value(node.args[0], state)
            return state, Value(fields=frozenset(((),)) if value.whole else frozenset())
        if own == "dumps" and len(node.args) == 1:
            state, value = self.value(node.args[0], state)
            self.used(value)
            return state, Value(value.texts if value.data else UNKNOWN)
        if own == "dump" and len(node.args) == 2 and dotted(node.args[1]) in ("sys.stdout", "sys.stderr"):
            state, value = self.value(node.args[0], state)
            self.used(value)
            said = Value(value.texts if value.data else UNKNOWN)
            return self.written(state, said, dotted(node.args[1])[7:10].replace("std", "")), Value()
        raise Unproven(f"uses json.{own} in a way that is not read")

    def _is_stdin(self, node: ast.expr) -> bool:
        return dotted(node) == "sys.stdin" and self.modules.get("sys") == "sys"

    def _print(self, node: ast.Call, state: State) -> State:
        place, end = "out", "\n"
        for keyword in node.keywords:
            if keyword.arg == "file" and dotted(keyword.value) in ("sys.stderr", "sys.stdout"):
                place = "err" if dotted(keyword.value) == "sys.stderr" else "out"
            elif keyword.arg == "end" and isinstance(keyword.value, ast.Constant):
                end = str(keyword.value.value)
            elif keyword.arg != "flush":
                raise Unproven("prints in a way that is not read")
        parts: list[Value] = []
        for each in node.args:
            if isinstance(each, ast.Starred):
                raise Unproven("prints in a way that is not read")
            state, value = self.value(each, state)
            self.used(value)
            parts += [literal(" "), value]
        return self.written(state, joined((*parts[1:], literal(end))), place)

    # --- what it does --------------------------------------------------------------------------------------------

    def variable(self, node: ast.expr) -> Value:
        if not isinstance(node, ast.Constant):
            raise Unproven("reads a variable whose name is known only when it runs")
        self.seen.variables.add(str(node.value))
        return Value()

    def used(self, value: Value) -> None:
        if value.whole:
            self.seen.fields.add(())
        self.seen.fields |= value.fields

    def written(self, state: State, value: Value, place: str) -> State:
        self.used(value)
        texts = joined((value,)).texts
        if place == "out":
            return replace(state, out=joined((Value(state.out), Value(texts))).texts)
        return replace(state, err=joined((Value(state.err), Value(texts))).texts)

    _expressions: Mapping[type[ast.expr], Callable[..., tuple[State, Value]]] = {
        ast.Constant: _constant, ast.Name: _named, ast.Subscript: _item, ast.Attribute: _attribute, ast.Call: _call,
        ast.Dict: _table, ast.JoinedStr: _formatted, ast.BoolOp: _choice, ast.Compare: _comparison,
    }  # fmt: skip


def dotted(node: ast.expr) -> str:
    """`a.b.c` as text; nothing for any other expression."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        inner = dotted(node.value)
        return f"{inner}.{node.attr}" if inner else ""
    return ""


def number(value: object) -> Value:
    """True, 2 and None are what JSON has, and print as something that is not looked at."""
    return Value(frozenset((as_json(value),)), data=True) if isinstance(value, bool | int | None) else Value()


def _as_data(node: ast.expr, value: Value) -> Any:
    """A value of an object; a text that is known when it runs may be any."""
    if value.data and len(value.texts) == 1:
        (text,) = value.texts
        return (
            read_answer(text)
            if text.startswith("{")
            else {"true": True, "false": False}.get(text, SOME_VALUE)
        )
    return value.text if value.text is not None and isinstance(node, ast.Constant) else as_member(value)
