"""Judge lines of PowerShell by the names of their commands alone.

A command begins with a name, an expression, or something in doubt. Everything after a name is a placeholder:
arguments differ from cmdlet to cmdlet. A name has all forms under which PowerShell knows the command, so that
a rule about `Remove-Item` is one about `rm`, `del` and `ri` and the other way round.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial

from msgspec import Struct, field

from hookline.shell.grammar.limits import INVISIBLE, LONGEST_LINE
from hookline.shell.placeholders import HOLE
from hookline.shell.reader import ShellCommand, ShellReading

#: Part of every judgement of such a line.
BY_NAME_ONLY = "PowerShell is judged by command name only"
MOST_COMMANDS = 400
#: Words and signs of a line: some 10 ms.
MOST_STEPS = 3000

#: The commands that have other names, and these names. On some systems a few of them are programs that do the
#: same.
_ALIASES = """
Remove-Item: rm del erase rd ri rmdir
Copy-Item: cp copy cpi
Move-Item: mv move mi
Rename-Item: ren rni
New-Item: ni md mkdir
Get-Item: gi
Set-Item: si
Clear-Item: cli
Invoke-Item: ii
Get-ChildItem: ls dir gci
Get-Content: cat gc type
Set-Content: sc
Add-Content: ac
Clear-Content: clc
Get-ItemProperty: gp
Set-ItemProperty: sp
Remove-ItemProperty: rp
Rename-ItemProperty: rnp
Copy-ItemProperty: cpp
Move-ItemProperty: mp
Clear-ItemProperty: clp
Invoke-WebRequest: iwr curl wget
Invoke-RestMethod: irm
Invoke-Expression: iex
Invoke-Command: icm
Invoke-History: ihy r
Invoke-CimMethod: icim
Invoke-WmiMethod: iwmi
Start-Process: start saps
Stop-Process: kill spps
Get-Process: ps gps
Start-Job: sajb
Stop-Job: spjb
Remove-Job: rjb
Receive-Job: rcjb
Start-Service: sasv
Stop-Service: spsv
Get-Service: gsv
Enter-PSSession: etsn
New-PSSession: nsn
Remove-PSSession: rsn
Import-Module: ipmo
Remove-Module: rmo
New-Module: nmo
New-Alias: nal
Set-Alias: sal
New-PSDrive: ndr mount
Remove-PSDrive: rdr
Set-Variable: sv set
New-Variable: nv
Remove-Variable: rv
Clear-Variable: clv
Remove-WmiObject: rwmi
Remove-CimInstance: rcim
Set-Location: cd chdir sl
Push-Location: pushd
Pop-Location: popd
Get-Location: pwd gl
Write-Output: echo write
ForEach-Object: % foreach
Where-Object: ? where
Select-Object: select
Select-String: sls
Sort-Object: sort
Tee-Object: tee
Compare-Object: diff compare
Measure-Object: measure
Group-Object: group
Start-Sleep: sleep
Clear-Host: clear cls
Out-Printer: lp
Export-Csv: epcsv
Import-Csv: ipcsv
"""

#: Commands whose arguments are commands, code, or other names of commands.
_RUNS_TEXT = frozenset(
    (
        "invoke-expression", "invoke-history", "invoke-item", "invoke-cimmethod", "invoke-wmimethod", "start-process",
        "add-type", "import-module", "new-module", "set-alias", "new-alias", "import-alias", "enter-pssession",
        "register-scheduledjob", "register-scheduledtask", "new-service", "set-service", "powershell", "pwsh",
        "powershell_ise", "cmd", "wsl", "mshta", "rundll32", "regsvr32", "msiexec", "wmic", "schtasks", "at",
        "forfiles", "runas", "sudo", "doas", "env", "xargs", "nohup", "ssh", "winrs", "psexec", "conhost",
    )
)  # fmt: skip
#: Programs that run a file that is named first, and code that they are given otherwise.
_INTERPRETERS = frozenset(
    (
        "bash",
        "sh",
        "zsh",
        "dash",
        "ksh",
        "python",
        "python3",
        "py",
        "perl",
        "ruby",
        "node",
        "wscript",
        "cscript",
    )
)
#: Commands that run the block after them, which is read like the rest of the line; in doubt without one.
_RUNS_BLOCKS = frozenset(
    (
        "foreach-object",
        "where-object",
        "invoke-command",
        "start-job",
        "start-threadjob",
        "measure-command",
        "register-objectevent",
        "register-engineevent",
        "trace-command",
        "set-psbreakpoint",
    )
)
#: Short names and programs that only show something, with any arguments.
_ONLY_SHOWS = frozenset(
    (
        "ls", "dir", "gci", "cat", "gc", "type", "echo", "write", "pwd", "gl", "cd", "chdir", "sl", "pushd", "popd",
        "sls", "measure", "sleep", "clear", "cls", "gp", "gi", "ps", "gps", "gsv",
    )
)  # fmt: skip
_KEYWORDS = frozenset(
    (
        "if", "elseif", "else", "switch", "foreach", "for", "while", "do", "until", "try", "catch", "finally", "trap",
        "begin", "process", "end", "clean", "dynamicparam", "param", "return", "throw", "exit", "break", "continue",
        "data", "parallel", "sequence", "inlinescript", "hidden", "static",
    )
)  # fmt: skip
_DEFINES = frozenset(("function", "filter", "class", "enum", "workflow", "configuration"))
#: Methods that only read a value or make another. Any other one may run or delete something.
_PLAIN_METHODS = frozenset(
    (
        "tostring", "split", "replace", "trim", "trimend", "trimstart", "substring", "startswith", "endswith",
        "contains", "indexof", "lastindexof", "tolower", "toupper", "tolowerinvariant", "toupperinvariant", "padleft",
        "padright", "equals", "gettype", "compareto", "round", "floor", "ceiling", "abs", "max", "min", "pow", "sqrt",
        "parse", "tryparse", "isnullorempty", "isnullorwhitespace", "join", "format", "concat", "add", "addrange",
        "insert", "count", "adddays", "addhours", "addminutes", "toarray", "getenumerator", "containskey", "newguid",
        "combine", "getfilename", "getextension", "getdirectoryname", "getfilenamewithoutextension",
    )
)  # fmt: skip

#: Marks that PowerShell reads as quotes and dashes, and that look like others.
_LOOKALIKES = re.compile("[\u2010-\u2015\u2018-\u201f\u2212\u00b4]")
_NAME = re.compile(r"(?:[A-Za-z]:|~|\.{1,2}(?=[/\\]))?[\w/\\][\w./\\:+-]*|[%?](?=[\s{]|$)")
_NUMBER = re.compile(r"0x[\da-f]+|[\d.]+(?:e[+-]?\d+)?(?:[dlun]|[kmgtp]b)*", re.IGNORECASE)
_QUOTED_NAME = re.compile(r"'([^']*)'(?!')|\"([^\"$`]*)\"(?!\")")
_DEFINED = re.compile(r"\s+[\w:-]+")
_TOKEN = re.compile(r"[^\s;|&(){}\"'`$,<>@#\[\]=!]+")
_METHOD = re.compile(r"(?:\.|::)\s*([^\s.:(){};|=]*)$")
_VARIABLE = re.compile(r"\$(?:\{[^}]*+(?:\}|\Z)|[\w:?^$]+)")
_EXTENSION = re.compile(r"\.(?:exe|cmd|bat|com|ps1)$", re.IGNORECASE)
_HERE = re.compile(r"@(['\"])[ \t]*\n(?:.*?\n)??[ \t]*\1@", re.DOTALL)
_HERE_BEGINS = re.compile(r"@['\"][ \t]*\n")
_PLAIN_TEXT = re.compile(r'[^`"$]+')
_BLANKS = re.compile(r"[ \t]*")
_SOURCES = re.compile(r"\.[\s'\"$({]")
_BLOCK_TYPE = re.compile(r"\[(?:\w+\.)*scriptblock\]", re.IGNORECASE)
_REDIRECTION = re.compile(r">>?(?:&\d)?|<")
#: A command up to its end, and the part of it that is literal.
_COMMAND = re.compile(r"[^;|&(){}\n]*")
_LITERAL = re.compile(r"[\w\s./\\:,*?+~%|;-]*", re.ASCII)
_NAMES_CHANGE = re.compile(r"\balias:", re.IGNORECASE)
_CLOSED = {")": "(", "}": "{"}


@cache
def _other_names() -> Mapping[str, tuple[str, ...]]:
    """Return all names of a command, by each of them."""
    groups = (line.replace(":", "").casefold().split() for line in _ALIASES.strip().splitlines())
    return {name: tuple(group) for group in groups for name in group}


def names_of(written: str) -> tuple[str, ...]:
    """Return the names of a command, folded: its own without a path or module, then the other ones."""
    own = _EXTENSION.sub("", re.split(r"[/\\]", written)[-1].casefold()) or written.casefold()
    others = _other_names()
    # PowerShell tries Get- before an unknown name.
    getting = f"get-{own}" if "-" not in own and own not in others else own
    return tuple(dict.fromkeys((own, *others.get(own, ()), getting, *others.get(getting, ()))))


class PowerShellReader(Struct, eq=False):
    """A reader of PowerShell lines, with the methods of `ShellReader`."""

    _last: tuple[str, ShellReading] = field(default_factory=lambda: ("", ShellReading()))

    def read(self, line: str) -> ShellReading:
        if self._last[0] != line:
            self._last = (line, read_powershell(line))
        return self._last[1]


def read_powershell(line: str) -> ShellReading:
    """Return the names of the commands of a line, and the doubts. Never raises."""
    if len(line) > LONGEST_LINE:
        return ShellReading(doubts=(f"the line is longer than {LONGEST_LINE} characters",))
    line = line.replace("\r\n", "\n")
    strange = INVISIBLE.search(line) or _LOOKALIKES.search(line) or re.search(HOLE, line)
    if strange:
        phrase = f"PowerShell may read the character U+{ord(strange[0]):04X} otherwise"
        return ShellReading(doubts=(phrase,))
    scan = _Scan(line)
    scan.run()
    literal = not scan.doubts and bool(scan.commands) and _LITERAL.fullmatch(line) is not None
    return ShellReading(commands=tuple(scan.commands), doubts=tuple(scan.doubts), literal=literal)


class _Scan:
    """One pass over a line. `mode` is what may come here: a command, the rest of an expression, or arguments."""

    def __init__(self, line: str) -> None:
        self._line = line
        self._at = 0
        self._mode = "start"
        self._piped = False
        #: Open brackets, and the mode after each is closed.
        self._open: list[tuple[str, str]] = []
        self.commands: list[ShellCommand] = []
        self.doubts: dict[str, None] = {}
        self._signs: Mapping[str, Callable[[], None]] = {
            **dict.fromkeys(" \t", partial(self._go, 1)),
            **dict.fromkeys(";\n", self._statement),
            **dict.fromkeys("({", self._opening),
            **dict.fromkeys(")}", self._closing),
            **dict.fromkeys("'\"", self._string),
            **dict.fromkeys("|&", self._operator),
            **dict.fromkeys("<>", self._redirection),
            "`": self._backtick,
            "#": self._comment,
            "$": self._variable,
            "@": self._at_sign,
        }

    def run(self) -> None:
        steps = 0
        while self._at < len(self._line):
            steps += 1
            if len(self.commands) >= MOST_COMMANDS or steps > MOST_STEPS:
                return self._doubt("the line has too many commands, words and signs")
            if self._open and self._open[-1][0] == '"':
                self._text()
            else:
                self._signs.get(self._line[self._at], self._other)()
        return self._doubt(f"a {self._open[-1][0]} is never closed") if self._open else None

    def _go(self, by: int, mode: str = "") -> None:
        self._at += by
        self._mode = mode or self._mode

    def _doubt(self, phrase: str) -> None:
        self.doubts[phrase] = None

    def _ahead(self, pattern: re.Pattern[str]) -> str:
        found = pattern.match(self._line, self._at)
        return found[0] if found else ""

    def _statement(self) -> None:
        self._go(1, "expression" if self._open and self._open[-1][0] == "@{" else "start")

    def _opening(self) -> None:
        sign, before = self._line[self._at], self._line[self._at - 1 : self._at]
        if sign == "(" and before not in ("$", "@") and self._mode != "start":
            self._method()
        opened = "@{" if sign == "{" and before == "@" else sign
        self._open.append((opened, "arguments" if self._mode == "arguments" else "expression"))
        self._go(1, "expression" if opened == "@{" else "start")

    def _closing(self) -> None:
        sign = self._line[self._at]
        if not self._open or self._open[-1][0][-1] != _CLOSED[sign]:
            self._doubt(f"a {sign} closes nothing")
            return self._go(1, "start")
        opened, mode = self._open.pop()
        # A statement ends with its block, without a `;`.
        return self._go(1, "start" if opened == "{" and mode != "arguments" else mode)

    def _method(self) -> None:
        """Check the method call, if the bracket comes after the name of a method."""
        found = _METHOD.search(self._line, max(0, self._at - 100), self._at)
        if found is not None and found[1].casefold() not in _PLAIN_METHODS:
            self._doubt(
                f"what the method `{found[1]}(…)` does cannot be determined from the name of a command"
            )

    def _string(self) -> None:
        mode = "expression" if self._mode == "start" else self._mode
        if self._line[self._at] == '"':
            self._open.append(('"', mode))
            return self._go(1)
        end = self._line.find("'", self._at + 1)
        if end < 0:
            self._doubt("a quote is never closed")
        return self._go(end + 1 - self._at if end >= 0 else len(self._line), mode)

    def _text(self) -> None:
        """Read a text in double quotes: commands in `$(…)` are run."""
        line, at = self._line, self._at
        if line[at] == "`" or line.startswith('""', at):
            return self._go(2)
        if line.startswith("$(", at):
            self._open.append(("(", ""))
            return self._go(2, "start")
        if line[at] == '"':
            return self._go(1, self._open.pop()[1])
        return self._go(len(self._ahead(_PLAIN_TEXT)) or 1)

    def _at_sign(self) -> None:
        here = self._ahead(_HERE)
        if here.startswith('@"') and "$(" in here:
            self._doubt("a text in double quotes runs commands")
        if not here and self._ahead(_HERE_BEGINS):
            self._doubt("a text is never closed")
            here = self._line[self._at :]
        self._go(len(here) or 1, "expression" if self._mode == "start" else "")

    def _backtick(self) -> None:
        if self._mode == "start" and not self._line.startswith("`\n", self._at):
            self._doubt("the name of a command is written with a backtick")
            self._mode = "arguments"
        self._go(2)

    def _comment(self) -> None:
        if self._at and self._line[self._at - 1] not in " \t\n;|&({":
            self._doubt("it is unclear if a # begins a comment")
        end = self._line.find("\n", self._at)
        self._at = len(self._line) if end < 0 else end

    def _operator(self) -> None:
        """Read a pipe or a list; `&` before a name calls it, after a command it puts that into the background."""
        sign = self._line[self._at]
        doubled = self._line.startswith(sign * 2, self._at)
        calls = sign == "&" and not doubled and self._mode == "start"
        self._go(2 if doubled else 1, "start")
        self._piped = sign == "|" and not doubled
        if calls:
            self._called()

    def _called(self) -> None:
        """Read what follows `&` or `.`: a name in quotes or without, a block, or something only PowerShell knows."""
        self._at += len(self._ahead(_BLANKS))
        rest = self._line[self._at : self._at + 60]
        quoted = _QUOTED_NAME.match(self._line, self._at)
        if quoted:
            self._at = quoted.end()
        if quoted and not self._is_joined():
            self._command(quoted[1] if quoted[1] is not None else quoted[2])
        elif quoted or not (rest.startswith("{") or _NAME.match(rest)):
            shown = " ".join(rest.split()[:2])
            self._doubt(f"what `& {shown}` runs is known only to PowerShell")
            self._mode = "arguments"

    def _is_joined(self) -> bool:
        """Return True if a word continues where a name seemed to end."""
        return self._at < len(self._line) and self._line[self._at] not in " \t\n;|&(){}<>"

    def _redirection(self) -> None:
        if not self._line.startswith("<#", self._at):
            return self._go(len(self._ahead(_REDIRECTION)), "arguments" if self._mode == "start" else "")
        end = self._line.find("#>", self._at)
        if end < 0:
            self._doubt("a comment is never closed")
        return self._go(end + 2 - self._at if end >= 0 else len(self._line))

    def _variable(self) -> None:
        name = self._ahead(_VARIABLE)
        if _NAMES_CHANGE.search(name):
            self._doubt("names of commands are changed")
        if name.startswith("${") and not name.endswith("}"):
            self._doubt("a { is never closed")
        self._go(len(name) or 1, "expression" if self._mode == "start" else "")

    def _other(self) -> None:
        if self._line[self._at] == "[" and self._ahead(_BLOCK_TYPE):
            self._doubt("a text is made into a script block")
        if self._mode == "start":
            return self._start()
        if self._mode == "expression" and self._line[self._at] == "=":
            return self._go(1, "start")  # it assigns: a command may follow
        token = self._ahead(_TOKEN)
        follows = self._mode == "expression" and token.casefold() == "in"
        return self._go(len(token) or 1, "start" if follows else "")

    def _start(self) -> None:
        """Read a name, a keyword or an expression."""
        line, at = self._line, self._at
        if self._ahead(_SOURCES):
            self._at += 1
            return self._called()
        name = self._ahead(_NAME)
        if not name or _NUMBER.fullmatch(name):
            if not name and line[at] not in "-+!,[]=:":
                self._doubt(f"what `{line[at : at + 20].split()[0]}` is cannot be determined")
            return self._go(len(name) or 1, "expression")
        self._at += len(name)
        if self._is_joined() and line[self._at] not in "[=,":
            self._mode = "arguments"
            return self._doubt(f"`{line[at : self._at + 20].split()[0]}` is not plainly a name")
        word = name.casefold()
        piped, self._piped = self._piped, False
        if word in _KEYWORDS and not piped:  # `foreach` after a pipe is a command
            return None
        if word in _DEFINES:
            return self._go(len(self._ahead(_DEFINED)), "expression")
        return self._command(name)

    def _command(self, written: str) -> None:
        self._mode = "arguments"
        rest = self._ahead(_COMMAND)
        block = self._line.startswith("{", self._at + len(rest))
        arguments = bool(rest.strip()) or self._line.startswith(("(", "{"), self._at + len(rest))
        names = names_of(written)
        if _runs_more(names, rest.split(), block) or _NAMES_CHANGE.search(rest):
            self._doubt(f"what `{written}` runs cannot be determined from its name")
        forms = tuple(f"{name} {HOLE}" if arguments else name for name in names)
        # As they are written, for rules that permit a command word for word.
        plain = arguments and not block and _LITERAL.fullmatch(rest) is not None
        words = (written, *rest.split()) if plain else (written, HOLE) if arguments else (written,)
        self.commands.append(ShellCommand(words, names[0], forms, _needs_every_word(names[0], rest)))


def _runs_more(names: tuple[str, ...], words: Sequence[str], block: bool) -> bool:
    """Return True if it runs its arguments or its input."""
    if not _RUNS_BLOCKS.isdisjoint(names):
        return not block and bool(words)
    if not _INTERPRETERS.isdisjoint(names):
        return not words or words[0].startswith(("-", "/"))
    return not _RUNS_TEXT.isdisjoint(names)


def _needs_every_word(name: str, rest: str) -> bool:
    """Return True if a permission has to spell the command out: programs may have any option, cmdlets one for
    a file."""
    return ("-" not in name and name not in _ONLY_SHOWS) or re.search(
        r"\s-o", rest, re.IGNORECASE
    ) is not None
