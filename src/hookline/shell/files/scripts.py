"""Find the files that programs of sed and awk read and write, and if they run commands.

Both are small languages: sed is read as GNU sed does; of awk only statements that print into files or read
lines. A name that is put together at run time is a placeholder.
"""

import re
from typing import NamedTuple

from hookline.shell.placeholders import HOLE, Words


class ScriptFiles(NamedTuple):
    reads: Words = ()
    writes: Words = ()
    #: It runs a line of shell.
    runs: bool = False
    #: False: not all of it could be read.
    sure: bool = True


_ANYTHING = ScriptFiles((HOLE,), (HOLE,), runs=True, sure=False)


class _UnreadableError(Exception):
    pass


#: Targets of sed's writes that are not files.
_STREAMS = frozenset(("/dev/stdout", "/dev/stderr"))
_SED_ADDRESS = re.compile(r"[\s;{},!]+|\d+(?:~\d+)?|\$|[+~]\d+")
_BRACKETS = re.compile(r"\[\^?\]?(?:\[[:.=][^\]\n]{0,16}\]|[^\]\n])*+\]")
_SED_FLAGS = re.compile(r"[gpimMIe\d\s]*")
_SED_NAME = re.compile(r"\s*([^\n]*)")
_SED_LABEL = re.compile(r"[^;\n}]*")
_SED_TEXT = re.compile(r"(?:\\.|[^\\\n])*", re.DOTALL)


def sed_script(code: str) -> ScriptFiles:
    """Read a program of sed. If it cannot be read, it may do anything."""
    # If `/` ends a part inside brackets depends on the version.
    read = [one for one in (_Sed(code, brackets=True).read(), _Sed(code, brackets=False).read()) if one.sure]
    if not read:
        return _ANYTHING
    first, last = read[0], read[-1]
    if first == last:
        return first
    return ScriptFiles((*first.reads, *last.reads), (*first.writes, *last.writes), first.runs or last.runs)


class _Sed:
    def __init__(self, code: str, *, brackets: bool) -> None:
        self._code = code
        self._brackets = brackets
        self._at = 0
        self._reads: list[str] = []
        self._writes: list[str] = []
        self._runs = False

    def read(self) -> ScriptFiles:
        try:
            while self._addresses():
                self._command()
        except _UnreadableError:
            return _ANYTHING
        writes = tuple(name for name in self._writes if name not in _STREAMS)
        return ScriptFiles(tuple(self._reads), writes, self._runs)

    def _addresses(self) -> bool:
        """Move to the next command; return False at the end."""
        while self._at < len(self._code):
            letter = self._code[self._at]
            match = _SED_ADDRESS.match(self._code, self._at)
            if match:
                self._at = match.end()
            elif letter == "/":
                self._until("/", self._at + 1, brackets=self._brackets)
                self._address_flags()
            elif letter == "\\":
                self._until(self._code[self._at + 1 : self._at + 2], self._at + 2, brackets=self._brackets)
                self._address_flags()
            else:
                return True
        return False

    def _address_flags(self) -> None:
        while self._code[self._at : self._at + 1] in {"I", "M"}:
            self._at += 1

    def _until(self, mark: str, at: int, *, brackets: bool = False) -> None:
        """Move behind the mark that ends a part."""
        if not mark or mark in "\n\\":
            raise _UnreadableError
        while at < len(self._code):
            if self._code[at] == "\\":
                at += 2
            elif brackets and self._code[at] == "[":
                match = _BRACKETS.match(self._code, at)
                if match is None:
                    raise _UnreadableError
                at = match.end()
            elif self._code[at] == mark:
                self._at = at + 1
                return
            else:
                at += 1
        raise _UnreadableError

    def _take(self, pattern: re.Pattern[str]) -> str:
        match = pattern.match(self._code, self._at)
        self._at = match.end() if match else self._at
        return match[match.lastindex or 0] if match else ""

    def _command(self) -> None:
        letter = self._code[self._at]
        self._at += 1
        if letter in "sy":
            mark = self._code[self._at : self._at + 1]
            self._until(mark, self._at + 1, brackets=self._brackets and letter == "s")
            self._until(mark, self._at)
            if letter == "s":
                self._flags()
        elif letter in "rRwW":
            (self._reads if letter in "rR" else self._writes).append(self._take(_SED_NAME))
        elif letter in "aic":
            self._take(_SED_TEXT)
        elif letter in ":btT":
            self._take(_SED_LABEL)
        elif letter == "e":
            self._runs = True
            self._take(_SED_NAME)
        elif letter == "#":
            self._take(_SED_NAME)
        elif letter not in "=dDgGhHlLnNpPqQxzFv":
            raise _UnreadableError

    def _flags(self) -> None:
        self._runs |= "e" in self._take(_SED_FLAGS)
        if self._code[self._at : self._at + 1] == "w":
            self._at += 1
            self._writes.append(self._take(_SED_NAME))


#: Nothing in it is tried twice: brackets are brackets if they are closed soon, else letters.
_AWK_PART = re.compile(
    r"""(?P<text>"(?:\\.|[^"\\\n])*+")
    |\#[^\n]*
    |(?:(?<=[~(,!&|{};])|^)\s*+/(?:\\.|\[(?:\\.|[^\]\\]){0,200}+\]|[^/\\\n])++/
    |(?P<word>[A-Za-z_]\w*)
    |(?P<sign>\\.|>>|\|&|\|\||&&|>=|<=|\n|[^\s])""",
    re.VERBOSE,
)
_AWK_ENDS = frozenset((";", "}", "{", "\n"))


def awk_script(code: str) -> ScriptFiles:
    """Read a program of awk, as far as its text shows."""
    return _Awk(code).read()


class _Awk:
    def __init__(self, code: str) -> None:
        #: Without comments and regular expressions.
        self._parts = [match for match in _AWK_PART.finditer(code) if match.lastgroup]
        self._reads: list[str] = []
        self._writes: list[str] = []

    def read(self) -> ScriptFiles:
        runs = False
        # In a print statement `>` is a redirection, elsewhere and in parentheses a comparison.
        prints = gets = False
        depth = 0
        for at, part in enumerate(self._parts):
            text = part[0]
            if text in {"print", "printf"}:
                prints, depth = True, 0
            elif text in _AWK_ENDS:
                prints = gets = False
            elif text == "getline":
                gets = True
            elif text in {">", ">>"} and prints and depth <= 0:
                self._writes.append(self._name(at + 1))
            elif text == "<" and gets:
                self._reads.append(self._name(at + 1))
                gets = False
            depth += (text == "(") - (text == ")")
            runs |= text in {"|", "|&", "system", "@"}
        writes = tuple(name for name in self._writes if name not in _STREAMS)
        return ScriptFiles(tuple(self._reads), writes, runs)

    def _name(self, at: int) -> str:
        """Return the name of a file, if it is one text and nothing else."""
        if at >= len(self._parts) or self._parts[at].lastgroup != "text":
            return HOLE
        alone = at + 1 == len(self._parts) or self._parts[at + 1][0] in {*_AWK_ENDS, ")"}
        name = self._parts[at][0][1:-1]
        return name if alone and "\\" not in name else HOLE
