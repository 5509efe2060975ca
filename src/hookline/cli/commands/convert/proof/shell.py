"""A shell script, followed through its branches. What its commands do is in `commands`."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from msgspec.structs import replace

from hookline.cli.commands.convert.proof.shell_words import FILES, ShellWords, Streams, refuse_changes
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
from hookline.cli.commands.convert.proof.values import (
    EMPTY,
    Value,
    either,
    joined,
    repeated,
)
from hookline.matching.shell.grammar.limits import unreadable
from hookline.matching.shell.grammar.parser import CannotParseError, Parser
from hookline.matching.shell.grammar.syntax import (
    Assignment,
    Block,
    List,
    Node,
    Pipeline,
    Redirect,
    Simple,
    Substitution,
    Test,
    Text,
    Word,
)

#: What a command does: the ways on from a state, given its words and streams.
Command = Callable[["Shell", State, Sequence[Value], Streams], list[State]]
#: `!` turns a status around, and the parser keeps no trace of it.
_NEGATED: Final = re.compile(r"(?:^|[\s;&|(){}`])!(?:\s|$)", re.MULTILINE)
#: Commands whose words are assignments that stay.
DECLARING: Final = frozenset(("export", "local", "readonly", "declare", "typeset"))
#: Commands that end a script if one of their redirections fails.
_SPECIAL_COMMANDS: Final = frozenset((":", "exec", "exit", "return", "export", "readonly", "set", "unset"))
_DEEPEST: Final = 12


class Shell(ShellWords):
    """One script. `commands` finds what a command's name does; None: it is not known."""

    def __init__(
        self,
        text: str,
        seen: Seen,
        commands: Mapping[str, Command],
        run_file: Command,
        settings: Mapping[str, str],
        *,
        bash: bool,
        depth: int = 0,
    ) -> None:
        if depth > _DEEPEST or unreadable(text):
            raise Unproven("is too long to be read")
        if ";&" in text:
            raise Unproven("goes from one branch of a case to the next")
        try:
            self._body = Parser(text, bash).parse()
        except CannotParseError as problem:
            raise Unproven(f"cannot be read for certain: {problem}") from None
        super().__init__(seen, settings)
        self.depth = depth
        self._commands = commands
        self._run_file = run_file
        self._exact = not _NEGATED.search(text)
        self._calls = 0
        #: Whether it has gone to another directory.
        self.moved = False

    def run(self, state: State, streams: Streams = ("out", "err"), *, fails: bool = False) -> list[State]:
        """The ways to its end. A script has variables and settings of its own."""
        begun = replace(state, names={}, fails=fails, leaves="")
        found = self._list(self._body, [begun], streams)
        return told_apart(
            replace(each, names=state.names, fails=state.fails, leaves="") for each in self._ended(found)
        )

    def _ended(self, states: Iterable[State]) -> Iterable[State]:
        for each in states:
            if each.leaves in ("loop", "function"):
                raise Unproven("leaves a loop or a function that it is not in")
            yield each

    # --- lists and blocks ----------------------------------------------------------------------------------------

    def _list(self, body: List, states: list[State], streams: Streams) -> list[State]:
        for item in body.items:
            if item.background:
                raise Unproven("runs something in the background")
            gone = [each for each in states if each.leaves]
            here = [each for each in states if not each.leaves]
            skipped, chosen = _chosen(here, item.after)
            states = told_apart([*gone, *skipped, *self._each(item.node, chosen, streams)])
        return states

    def _each(self, node: Node, states: list[State], streams: Streams) -> list[State]:
        return [after for state in states for after in self._node(node, state, streams)]

    def _node(self, node: Node, state: State, streams: Streams) -> list[State]:
        self.seen.step()
        if isinstance(node, Simple):
            found = self._simple(node, state, streams)
        elif isinstance(node, Pipeline):
            found = self._pipeline(node, state, streams)
        elif isinstance(node, List):
            found = self._list(node, [state], streams)
        elif isinstance(node, Test):
            found = self._test(node, state, streams)
        else:
            found = self._block(node, state, streams)
        return found if self._exact else [each if each.leaves else _with_status(each, ANY) for each in found]

    def _block(self, block: Block, state: State, streams: Streams) -> list[State]:
        if block.kind == "function":
            return [_with_status(state.named(f"{block.name}()", block), SUCCESS)]
        if block.redirects:
            return self._block_redirected(block, state, streams)
        if block.kind in ("group", "subshell"):
            run = self.subshell if block.kind == "subshell" else self._group
            return run(block.bodies[0], state, streams)
        follow = {"if": self._if, "case": self._case, "loop": self._loop}.get(block.kind)
        if follow is None:
            raise Unproven("runs a co-process")
        return follow(block, state, streams)

    def _group(self, body: List, state: State, streams: Streams) -> list[State]:
        return self._list(body, [state], streams)

    def _block_redirected(self, block: Block, state: State, streams: Streams) -> list[State]:
        outer = state
        state, own = self.redirected(block.redirects, state, streams)
        found = self._block(block._replace(redirects=()), state, own)
        if _opens_file(block.redirects):
            found += self._not_opened(state, streams)
        return [replace(each, stdin=_left(outer, each, block)) for each in found]

    def subshell(self, body: List, state: State, streams: Streams) -> list[State]:
        return [
            replace(each, names=state.names, fails=state.fails, leaves="")
            for each in self._ended(self._list(body, [state], streams))
        ]

    def _if(self, block: Block, state: State, streams: Streams) -> list[State]:
        waiting, done = [replace(state, fails=False)], list[State]()
        rest = list(block.bodies)
        while len(rest) > 1:
            condition, body, *rest = rest
            tried = self._list(condition, waiting, streams)
            done += [each for each in tried if each.leaves]
            here = [replace(each, fails=state.fails) for each in tried if not each.leaves]
            waiting, chosen = _chosen(here, "&&")
            done += self._list(body, chosen, streams)
        if rest:
            return told_apart([*done, *self._list(rest[0], waiting, streams)])
        return told_apart([*done, *(_with_status(each, SUCCESS) for each in waiting)])

    def _case(self, block: Block, state: State, streams: Streams) -> list[State]:
        for word in block.words or ():
            state, value = self.value(word, state, streams)
            self.used(value)
        # Each branch may be the one, whatever came before it was tried for.
        ways = [_with_status(state, SUCCESS)]
        for body in block.bodies:
            ways += self._list(body, [_with_status(state, SUCCESS)], streams)
        return told_apart(ways)

    def _loop(self, block: Block, state: State, streams: Streams) -> list[State]:
        for word in block.words or ():
            state, value = self.value(word, state, streams)
            self.used(value)
        if block.name:
            state = state.named(block.name, Value())
        before = replace(state, fails=False) if len(block.bodies) > 1 else state
        once = self._bodies(block, before, streams)
        going_on = [replace(each, leaves="") for each in once if each.leaves in ("", "loop")]
        if not going_on:
            return self._after_loop([*once, _with_status(state, SUCCESS)], state)
        again = _widened(before, one(going_on))
        twice = self._bodies(block, again, streams)
        return self._after_loop([*once, *twice, _with_status(state, SUCCESS), again], state)

    def _bodies(self, block: Block, state: State, streams: Streams) -> list[State]:
        states = [state]
        for body in block.bodies:
            states = self._list(body, states, streams)
        return states

    def _after_loop(self, states: list[State], before: State) -> list[State]:
        return told_apart(
            replace(each, leaves="" if each.leaves == "loop" else each.leaves, fails=before.fails, status=ANY)
            if each.leaves != "program"
            else each
            for each in states
        )

    def _pipeline(self, pipeline: Pipeline, state: State, streams: Streams) -> list[State]:
        """Each command in a shell of its own; the first one has what is left of the input."""
        if "out" in streams[1:]:
            raise Unproven("writes both outputs into one")
        names, fails, status = state.names, state.fails, set[int]()
        left = None
        for node in pipeline.commands[:-1]:
            state, written = self.catch(
                lambda now, node=node: list(self._ended(self._node(node, now, ("out", streams[1])))), state
            )
            status |= state.status
            left = state.stdin if left is None else left
            state = replace(state, stdin=written, names=names, leaves="")
        last = self._ended(self._node(pipeline.commands[-1], state, streams))
        failed = frozenset(status) - SUCCESS
        return [
            replace(
                each, names=names, fails=fails, leaves="", stdin=left or EMPTY, status=each.status | failed
            )
            for each in last
        ]

    def _test(self, test: Test, state: State, streams: Streams) -> list[State]:
        state, streams = self.redirected(test.redirects, state, streams)
        for word in test.words:
            if test.arithmetic:
                refuse_changes(word)
            state, value = self.value(word, state, streams)
            self.used(value)
        # 2 for an expression that cannot be read, which is said on stderr.
        return [replace(self.noisy(state, streams), status=frozenset((0, 1, 2)))]

    # --- simple commands -----------------------------------------------------------------------------------------

    def _simple(self, command: Simple, state: State, streams: Streams) -> list[State]:
        outer = state
        state, own = self.redirected(command.redirects, state, streams)
        values: list[Value] = []
        for word in command.words:
            state, value = self.value(word, state, streams)
            values.append(value)
        name = values[0].text if values else None
        before = state.names
        for assignment in command.assignments if name not in DECLARING else ():
            state = self._assigned(assignment, state, streams)
        if values:
            found = self.called(values, state, own)
        else:
            found = [_with_status(state, state.status if _substitutes(command) else SUCCESS)]
        if values and name not in DECLARING and command.assignments:
            found = [replace(each, names=before) for each in found]
        if _opens_file(command.redirects):
            found += self._not_opened(state, streams, ends=name in _SPECIAL_COMMANDS)
        return self._failing([replace(each, stdin=_left(outer, each, command)) for each in found], streams)

    def _not_opened(self, state: State, streams: Streams, *, ends: bool = False) -> list[State]:
        """The file of a redirection cannot be opened: what it belongs to is not run."""
        failed = replace(self.noisy(state, streams), status=ANY - SUCCESS)
        return [replace(failed, leaves="program") if ends else failed]

    def called(self, values: Sequence[Value], state: State, streams: Streams) -> list[State]:
        name = values[0].text
        if name is None:
            raise Unproven("runs a program whose name is known only when it runs")
        function = state.names.get(f"{name}()")
        if function is not None:
            return self._function(function, values[1:], state, streams)
        command = self._commands.get(name)
        if command is not None:
            return command(self, state, values, streams)
        if "/" in name:
            return self._run_file(self, state, values, streams)
        raise Unproven(f"runs {name[:60]}, which is not read")

    def _function(
        self, function: object, values: Sequence[Value], state: State, streams: Streams
    ) -> list[State]:
        if not isinstance(function, Block) or self._calls > _DEEPEST:
            raise Unproven("calls a function that is not known for certain")
        for value in values:
            self.used(value)
        self._calls += 1
        state, streams = self.redirected(function.redirects, state, streams)
        found = self._list(function.bodies[0], [state], streams)
        self._calls -= 1
        return [replace(each, leaves="") if each.leaves == "function" else each for each in found]

    def _failing(self, states: list[State], streams: Streams) -> list[State]:
        """Where failures end the script: also that it ends here. As part of a condition a failure goes on."""
        ends = [
            replace(self.noisy(state, streams), status=ANY - SUCCESS, leaves="program")
            for state in states
            if state.fails and not state.leaves
        ]
        return [*states, *ends]

    def _assigned(self, assignment: Assignment, state: State, streams: Streams) -> State:
        if assignment.elements is not None or assignment.subscript is not None:
            raise Unproven("uses an array, which is not read")
        self.refuse_setting(assignment.name)
        state, value = self.value(assignment.value, state, streams)
        if assignment.append:
            value = joined((self.variable(assignment.name, state), value))
        return state.named(assignment.name, value)


def _chosen(states: Sequence[State], operator: str) -> tuple[list[State], list[State]]:
    """Those that skip what comes after the operator, and those that do not."""
    if operator == ";":
        return [], list(states)
    runs: Statuses = SUCCESS if operator == "&&" else ANY - SUCCESS
    skipped = [_with_status(each, each.status - runs) for each in states if each.status - runs]
    chosen = [_with_status(each, each.status & runs) for each in states if each.status & runs]
    return skipped, chosen


def _with_status(state: State, status: Statuses) -> State:
    return replace(state, status=status)


def _opens_file(redirects: Sequence[Redirect]) -> bool:
    return any(
        each.operator in ("<", ">", ">>", ">|", "&>") and not _is_null(each.target) for each in redirects
    )


def _is_null(word: Word) -> bool:
    return len(word) == 1 and isinstance(word[0], Text) and word[0].text in FILES


def _left(outer: State, inner: State, command: Simple | Block) -> Value:
    """What is left of the input: a command with an input of its own leaves the script's as it was."""
    redirected = any(each.operator in ("<<", "<<<", "<") for each in command.redirects)
    return outer.stdin if redirected else inner.stdin


def _substitutes(command: Simple) -> bool:
    words = (*command.words, *(each.value for each in command.assignments))
    return any(isinstance(part, Substitution) for word in words for part in word)


def _widened(before: State, once: State) -> State:
    """After any number of turns of a loop, of which one has been followed."""
    names = dict(before.names)
    for name, value in once.names.items():
        known = before.names.get(name)
        if known != value:
            names[name] = Value(whole=_whole(known) or _whole(value))
    return replace(
        before,
        out=repeated(before.out, once.out),
        err=repeated(before.err, once.err),
        out_whole=before.out_whole or once.out_whole,
        stdin=either((before.stdin, once.stdin)),
        names=names,
        status=ANY,
    )


def _whole(value: object) -> bool:
    return isinstance(value, Value) and value.whole
