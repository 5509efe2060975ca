"""Put texts that take patterns long into calls, and time guards, rules, the journal and permissions on them.

Texts are made from the patterns of the source, so that a new pattern brings new texts. Each function returns the
texts that take more than linear time. `make soak` runs them at full extent.
"""

import asyncio
import json
import random
import shlex
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from hookline import Engine
from hookline.config.protection.protected_paths import protected_in
from hookline.guards import GUARD_NAMES
from hookline.journal.file import JournalFile
from hookline.journal.journal import Journal
from hookline.journal.redaction import Redactor
from hookline.model.events import PRE_TOOL_USE
from hookline.model.payloads import ToolCall
from hookline.permissions.decide import CallFacts, decide
from hookline.permissions.facts import category_of
from hookline.permissions.rules import RuleReader, RuleSet
from hookline.permissions.state import Permissions
from tests.journal.hostile_texts import ENV
from tests.linear.pattern_texts import Shape, shapes
from tests.linear.patterns import all_patterns
from tests.linear.work import grows_faster

_ROOT = "/home/ada/project"
#: Units of work that are too little to be compared: the engine itself takes some.
_LITTLE = 100.0

Ask = Callable[[str, dict[str, Any]], None]


class Extent(NamedTuple):
    """The length of texts, and their number beside those found by hand."""

    text: int = 1_000_000
    #: As long as a line and the words of a command may be, before they are doubt.
    line: int = 64_000
    words: int = 15_000
    #: For each tool; for the shells and for redaction, which read more of a text, several times as many.
    texts: int = 6
    #: Each program with quoted words and with plain ones; else every other with either.
    both: bool = True


#: Found by hand: each took minutes, or doubled with every letter.
_KNOWN = (
    Shape("/", "firefox/", "é"),
    Shape("/proc/self/cwd/", "a/", ""),
    Shape("/", "[a]", " {"),
    Shape("drop", "/*)*/", " x"),
    Shape("", "./", ".env"),
    Shape("", "\n", ""),
)
#: Rules and conditions of all kinds.
_RULES = (
    "Bash(rm *)", "Bash(git push:*)", "Read(**/.env)", "Edit(/src/**)", "Write(*.key)", "WebFetch(domain:evil.test)",
    "mcp__x__*", "Grep", "Glob(docs/**)",
)  # fmt: skip

#: Calls that hold a text where the agent has put a path, an address or what it writes.
_CALLS: dict[str, Callable[[str], dict[str, Any]]] = {
    "Read": lambda text: {"file_path": text},
    "Write": lambda text: {"file_path": text, "content": text},
    "Edit": lambda text: {"file_path": text, "old_string": text, "new_string": text},
    "Glob": lambda text: {"pattern": text, "path": text},
    "Grep": lambda text: {"pattern": text, "glob": text, "path": text},
    "WebFetch": lambda text: {"url": text, "prompt": text},
    "Bash": lambda text: {"command": text, "description": text},
    "PowerShell": lambda text: {"command": text},
    "Code": lambda text: {"code": text, "language": "python"},
    "mcp__x__write": lambda text: {"path": text, "cwd": text, "command": text, "note": text},
    "apply_patch": lambda text: {"input": f"*** Begin Patch\n*** Update File: {text}\n{text}"},
}
#: Programs of which a part of the line is read as something else.
_PROGRAMS = (
    "awk {} f", "sed -e {} f", "perl -e {}", "ruby -e {}", "php -r {}", "lua -e {}", "node -e {}", "python3 -c {}",
    "sqlite3 db {}", "psql -c {}", "mysql -e {}", "gdb -ex {}", "lldb -o {}", "vim -c {} f", "gnuplot -e {}", "dc {}",
    "less +{} f", "find . -exec {} ';'", "find . -path {}", "xargs -I {} rm", "git -c {} x", "git {}", "ssh h {}",
    "bash -c {}", "env -S {}", "tar -cf {} x", "rsync -e {} a b", "curl {}", "make -f - <<< {}", "make {}",
    "kubectl {}", "pwsh -c {}", "eval {}", "export {}", "alias {}", "trap {} EXIT", "echo {} | sh", "cat > {}",
    "dd of={}", "chmod {} f", "java -jar {}", "apt-get -o {} install x", "printenv {}", "rm {}", "cat {}",
)  # fmt: skip


@cache
def _shapes(most: int) -> Sequence[Shape]:
    """Return the known ones, and some of the others: the same each time, while patterns are the same."""
    chance = random.Random(most)
    found: dict[Shape, None] = dict.fromkeys(_KNOWN)
    for used in all_patterns()[0] if most else ():
        of_pattern = list(shapes(used.pattern, used.flags, 200))
        found |= dict.fromkeys(chance.sample(of_pattern, min(2, len(of_pattern))))
    kept = list(found)
    return (*_KNOWN, *chance.sample(kept[len(_KNOWN) :], min(most, len(kept) - len(_KNOWN))))


@contextmanager
def asking(directory: Path) -> Generator[Ask]:
    """Ask every guard, and a rule of every kind, about a call. The runs are recorded, and so redacted."""
    hooks = [{"type": "builtin", "command": name} for name in GUARD_NAMES]
    hooks += [{"type": "builtin", "command": "deny", "args": ["no"], "if": rule} for rule in _RULES]
    file = directory / "hooks.json"
    file.write_text(json.dumps({"hooks": {"PreToolUse": [{"matcher": "^.*$", "hooks": hooks}]}}))
    journal = Journal(Redactor(ENV), file=JournalFile(str(directory / "journal.jsonl")))
    engine = Engine(env={**ENV, "HOME": "/home/ada"}, journal=journal)
    assert engine.load(str(directory), [str(file)]).diagnostics == ()
    loop = asyncio.new_event_loop()
    session = engine.session("s", cwd=_ROOT, project_dir=_ROOT)

    def asked(tool: str, arguments: dict[str, Any]) -> None:
        call = ToolCall(tool_name=tool, tool_input=arguments)
        outcome = loop.run_until_complete(session.dispatch(PRE_TOOL_USE, call))
        assert all(run.status != "failed" for run in engine.journal.recent(len(hooks))), outcome

    yield asked
    loop.run_until_complete(engine.close())
    loop.close()


def slow_calls(ask: Ask, extent: Extent) -> list[str]:
    """Try texts in every argument of every kind of tool."""
    found: list[str] = []
    for tool, shaped in _CALLS.items():

        def run(text: str, tool: str = tool, shaped: Callable[[str], dict[str, Any]] = shaped) -> None:
            ask(tool, shaped(text))

        found += _slow(tool, run, _shapes(extent.texts), extent.text)
    return found


def slow_lines(ask: Ask, extent: Extent) -> list[str]:
    """Try texts as a line, as long as lines may be."""
    found: list[str] = []
    for tool in ("Bash", "PowerShell"):

        def run(text: str, tool: str = tool) -> None:
            ask(tool, {"command": text})

        found += _slow(tool, run, _shapes(3 * extent.texts), extent.line)
    return found


def slow_programs(ask: Ask, extent: Extent, *, quoted: bool) -> list[str]:
    """Try texts as quoted or as plain words of programs that read them as something else."""
    others = _shapes(extent.texts * len(_PROGRAMS) // 3)[len(_KNOWN) :]
    found: list[str] = []
    for at, program in enumerate(_PROGRAMS):
        if not extent.both and at % 2 != quoted:
            continue
        known = _KNOWN[2:4] if extent.both else _KNOWN[2 + at // 2 % 2 :][:1]

        def run(text: str, program: str = program) -> None:
            plain = text.replace("\0", "")
            ask("Bash", {"command": program.replace("{}", shlex.quote(plain) if quoted else plain)})

        found += _slow(program, run, (*known, *others[at :: len(_PROGRAMS)]), extent.words)
    return found


def slow_permissions(extent: Extent) -> list[str]:
    """Try calls at the rules and modes that decide without a hook."""
    reader = RuleReader(home="/home/ada")
    rules, problems = RuleSet.parse(_RULES[1::3], _RULES[2::3], _RULES[::3], source="test", reader=reader)
    assert problems == ()
    protected = protected_in([_ROOT], {"HOME": "/home/ada"})
    permissions = Permissions({"test": rules}, root=_ROOT, reader=reader, protected=protected)
    found: list[str] = []
    for tool, shaped in _CALLS.items():
        category = category_of(tool)

        def run(
            text: str,
            tool: str = tool,
            shaped: Callable[[str], dict[str, Any]] = shaped,
            category: Any = category,
        ) -> None:
            decide(CallFacts(tool, shaped(text), category, _ROOT), permissions)

        length = extent.line if tool in ("Bash", "PowerShell") else extent.text
        found += _slow(tool, run, _shapes(extent.texts), length)
    return found


def slow_redaction(extent: Extent) -> list[str]:
    """Try texts as what the journal redacts."""
    return _slow("redaction", Redactor(ENV).redact, _shapes(4 * extent.texts), extent.text // 4)


def _slow(where: str, run: Callable[[str], object], tried: Sequence[Shape], length: int) -> list[str]:
    results = ((shape, grows_faster(run, shape.text, length // 4, least=_LITTLE)) for shape in tried)
    return [f"{where}: {tuple(shape)!r}: {wrong}" for shape, wrong in results if wrong is not None]
