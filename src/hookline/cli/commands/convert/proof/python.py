"""A Python program, followed through its branches. What its expressions do is in `python_values`."""

import ast
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from msgspec.structs import replace

from hookline.cli.commands.convert.proof.python_values import MODULES, PythonValues, dotted, number
from hookline.cli.commands.convert.proof.state import (
    ANY,
    SUCCESS,
    Seen,
    State,
    Statuses,
    Unproven,
    one,
    told_apart,
)
from hookline.cli.commands.convert.proof.values import Value, joined, literal, repeated

_ERROR: Final = literal("Traceback: it failed\n")
_DEEPEST: Final = 8


class Python(PythonValues):
    """One program. `beside` are the names of what is in its folder, which Python would import first."""

    def __init__(self, text: str, seen: Seen, beside: Iterable[str]) -> None:
        try:
            self._tree = ast.parse(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            raise Unproven("is no Python that can be read") from None
        super().__init__(self._tree, seen)
        self._beside = frozenset(name.partition(".")[0] for name in beside)
        self._depth = 0
        self._ends: list[State] = []
        #: For each `try` around: the states in which something may fail, and whether it catches exits, too.
        self._tried: list[tuple[list[State], bool]] = []

    def run(self, state: State) -> list[State]:
        own = replace(state, names={}, leaves="", status=SUCCESS)
        found = self._body(self._tree.body, [own])
        if any(each.leaves for each in found):
            raise Unproven("is no Python that can be read")
        return told_apart(replace(each, names=state.names, leaves="") for each in (*found, *self._ends))

    # --- statements ----------------------------------------------------------------------------------------------

    def _body(self, statements: Sequence[ast.stmt], states: list[State]) -> list[State]:
        for statement in statements:
            gone = [each for each in states if each.leaves]
            here = [each for each in states if not each.leaves]
            states = told_apart([*gone, *(way for each in here for way in self._statement(statement, each))])
        return states

    def _statement(self, statement: ast.stmt, state: State) -> list[State]:
        follow = self._statements.get(type(statement))
        if follow is None:
            raise Unproven(f"has a Python statement in line {statement.lineno} that is not read")
        self.seen.step()
        self._fail(state)
        return follow(self, statement, state)

    def _fail(self, state: State) -> None:
        """Whatever is done here may fail."""
        if self._tried:
            self._tried[-1][0].append(state)
        else:
            self._end(self.written(state, _ERROR, "err"), frozenset((1,)))

    def _end(self, state: State, status: Statuses) -> None:
        """It ends here; a `try` that catches everything goes on."""
        for caught, exits in reversed(self._tried):
            if exits:
                caught.append(state)
        self._ends = told_apart([*self._ends, replace(state, status=status, names={}, leaves="")])

    def _import(self, statement: ast.Import, state: State) -> list[State]:
        for each in statement.names:
            self._known_module(each.name)
            name = each.name.partition(".")[0]
            if each.asname or name in state.names:
                raise Unproven(f"imports {name} in a way that is not read")
            self.modules[name] = name
        return [state]

    def _import_from(self, statement: ast.ImportFrom, state: State) -> list[State]:
        module = statement.module or ""
        if statement.level or module not in MODULES or MODULES[module] is not None:
            raise Unproven(f"imports from {module or 'a module beside it'}, which is not read")
        self._known_module(module)
        for each in statement.names:
            state = state.named(self.own_name(each.asname or each.name), Value())
        return [state]

    def _known_module(self, name: str) -> None:
        if name not in MODULES:
            raise Unproven(f"uses {name}, which is not read")
        if name.partition(".")[0] in self._beside:
            raise Unproven(f"imports {name}, and there is one beside it")

    def _define(self, statement: ast.FunctionDef, state: State) -> list[State]:
        if statement.decorator_list or statement.name in self.functions or statement not in self._tree.body:
            raise Unproven(f"has a function {statement.name} that is not read")
        names = [each.arg for each in ast.walk(statement.args) if isinstance(each, ast.arg)]
        for name in names:
            self.own_name(name)
        if statement.args.defaults or statement.args.kw_defaults:
            raise Unproven(f"has a function {statement.name} that is not read")
        self.own_name(statement.name)
        self.functions[statement.name] = statement
        return [state]

    def _assign(self, statement: ast.Assign | ast.AnnAssign, state: State) -> list[State]:
        if statement.value is None:
            return [state]
        state, value = self.value(statement.value, state)
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        for target in targets:
            state = self.bound(target, value, state)
        return [state]

    def _augment(self, statement: ast.AugAssign, state: State) -> list[State]:
        state, value = self.value(statement.value, state)
        self.used(value)
        if isinstance(statement.target, ast.Name):
            state, before = self.value(ast.Name(statement.target.id, ast.Load()), state)
            self.used(before)
        return [self.bound(statement.target, Value(), state)]

    def _expression(self, statement: ast.Expr, state: State) -> list[State]:
        call = statement.value
        if isinstance(call, ast.Call):
            name = dotted(call.func)
            if name in self.functions:
                return self.called(call, state)
            if name in ("exit", "quit") or (name == "sys.exit" and "sys" in self.modules):
                return self._exited(call, state)
        return [self.value(call, state)[0]]

    def _if(self, statement: ast.If, state: State) -> list[State]:
        state, value = self.value(statement.test, state)
        self.used(value)
        return [*self._body(statement.body, [state]), *self._body(statement.orelse, [state])]

    def _loop(self, statement: ast.For | ast.While, state: State) -> list[State]:
        state, value = self.value(statement.iter if isinstance(statement, ast.For) else statement.test, state)
        self.used(value)
        if isinstance(statement, ast.For):
            state = self.bound(statement.target, Value(), state)
        assigned = {
            name.id
            for each in statement.body
            for name in ast.walk(each)
            if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store)
        }
        open_ = replace(
            state, names={name: Value() if name in assigned else each for name, each in state.names.items()}
        )
        once = self._body(statement.body, [open_])
        if once:
            after = one(once)
            open_ = replace(open_, out=repeated(open_.out, after.out), err=repeated(open_.err, after.err))
            once = [*once, *self._body(statement.body, [open_])]
        ways = [*once, state, open_]
        ways = [replace(each, leaves="" if each.leaves == "loop" else each.leaves) for each in ways]
        return self._body(statement.orelse, ways)

    def _try(self, statement: ast.Try, state: State) -> list[State]:
        if statement.finalbody:
            raise Unproven("has a finally, which is not read")
        caught: list[State] = [state]
        self._tried.append((caught, any(_catches_exit(each) for each in statement.handlers)))
        found = self._body(statement.body, [state])
        self._tried.pop()
        ways = self._body(statement.orelse, found)
        failed = told_apart(caught)
        for handler in statement.handlers:
            name = self.own_name(handler.name) if handler.name else "except"
            ways += self._body(handler.body, [each.named(name, Value()) for each in failed])
        for each in failed:  # what none of the handlers is about
            self._fail(each)
        return ways

    def _return(self, statement: ast.Return, state: State) -> list[State]:
        value = number(None)
        if statement.value is not None:
            state, value = self.value(statement.value, state)
        return [replace(state.named("return", value), leaves="function")]

    def _raise(self, statement: ast.Raise, state: State) -> list[State]:
        raised = statement.exc
        if isinstance(raised, ast.Call) and dotted(raised.func) == "SystemExit":
            return self._exited(raised, state)
        if raised is not None and dotted(raised) == "SystemExit":
            self._end(state, SUCCESS)
        return []

    def _jump(self, statement: ast.stmt, state: State) -> list[State]:
        del statement
        return [replace(state, leaves="loop")]

    def _pass(self, statement: ast.stmt, state: State) -> list[State]:
        del statement
        return [state]

    # --- functions -----------------------------------------------------------------------------------------------

    def called(self, call: ast.Call, state: State) -> list[State]:
        """A function of the program, followed where it is called."""
        function = self.functions[dotted(call.func)]
        if self._depth >= _DEEPEST or call.keywords or function.args.kwonlyargs or function.args.vararg:
            raise Unproven(f"calls {function.name} in a way that is not read")
        values: list[Value] = []
        for each in call.args:
            state, value = self.value(each, state)
            values.append(value)
        names = [each.arg for each in function.args.args]
        if len(values) != len(names):
            raise Unproven(f"calls {function.name} in a way that is not read")
        self._depth += 1
        given = dict(zip(names, values, strict=True))
        inner = replace(state, names={**state.names, **given, "return": number(None)})
        found = self._body(function.body, [inner])
        self._depth -= 1
        if any(each.leaves == "loop" for each in found):
            raise Unproven("is no Python that can be read")
        return [
            replace(each, names={**state.names, "return": each.names["return"]}, leaves="") for each in found
        ]

    def _exited(self, node: ast.Call, state: State) -> list[State]:
        if len(node.args) > 1 or node.keywords:
            raise Unproven("exits in a way that is not read")
        given = node.args[0] if node.args else ast.Constant(None)
        if isinstance(given, ast.Call) and dotted(given.func) in self.functions:
            ways = [(each, each.names["return"]) for each in self.called(given, state)]
        else:
            ways = [self.value(given, state)]
        for way, value in ways:
            self.used(value)
            self._exit_with(way, value)
        return []

    def _exit_with(self, state: State, value: Value) -> None:
        """A number is the status; a text is printed on stderr, and the status is 1."""
        if value.data and all(text == "null" or text.isdecimal() for text in value.texts):
            for text in value.texts:
                self._end(state, frozenset((min(int(text.replace("null", "0")) % 256, 3),)))
        elif value.text is not None and not value.data:
            self._end(self.written(state, joined((value, literal("\n"))), "err"), frozenset((1,)))
        else:
            self._end(self.written(state, Value(), "err"), ANY)

    _statements: Mapping[type[ast.stmt], Callable[..., list[State]]] = {
        ast.Import: _import, ast.ImportFrom: _import_from, ast.FunctionDef: _define, ast.Assign: _assign,
        ast.AnnAssign: _assign, ast.AugAssign: _augment, ast.Expr: _expression, ast.If: _if, ast.For: _loop,
        ast.While: _loop, ast.Try: _try, ast.Return: _return, ast.Raise: _raise, ast.Break: _jump,
        ast.Continue: _jump, ast.Pass: _pass,
    }  # fmt: skip


def _catches_exit(handler: ast.ExceptHandler) -> bool:
    if handler.type is None:
        return True
    names = {dotted(each) for each in ast.walk(handler.type) if isinstance(each, ast.expr)}
    return bool(names & {"BaseException", "SystemExit"})
