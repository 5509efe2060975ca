"""Read commands of editors, debuggers and database shells: each has a way to run a line of shell."""

import re
from collections.abc import Callable, Iterator

from hookline.shell.found import Foreign, Found, Line, ShellDoubt
from hookline.shell.placeholders import HOLE

_VIM_FORCED = (
    r"\b(?:w|wq|wqa|wa|wn|x|xa|xit|q|qa|qall|wall|wqall|quit|e|edit|bd|bw|cq|cquit|silent|set\s+\w+|write)!"
)
_VIM_RUNS = (
    r"![^\s|]|!\s+\S|system|term|job_|python|\bpy\w*\b|\blua|perl|ruby|\btcl|\bmz|libcall|\bexe|\bso\w*\b|\bsh\w*\b|norm"
    r"|feedkeys|\bmake|\bl?grep|map\b|\bru\w*\b|\bpa\w*\b|autocmd|\bau\b|modeline|eval|\bcal\w*\b|=\s*+(?:[^\s(=]++|=)\("
)


def _lines_of(
    name: str, lines: str, doubts: str = "", flags: re.RegexFlag = re.MULTILINE
) -> Callable[[str], Iterator[Found]]:
    """Make a reader of a language in which the last group of `lines` is a line of shell, and `doubts` are
    signs of more."""

    def found(code: str) -> Iterator[Found]:
        for match in re.finditer(lines, code, flags):
            line = next((group for group in match.groups()[::-1] if group is not None), "")
            if line.strip():
                yield Line(line.strip())
        if doubts and re.search(doubts, code, flags):
            yield Foreign(code)
            yield ShellDoubt(f"code of {name} starts programs, or code that it makes up")

    return found


def vim(code: str) -> Iterator[Found]:
    rest = re.sub(_VIM_FORCED, "", code.strip().lstrip("+:"))
    if code == HOLE:
        yield ShellDoubt("a command of an editor is put together at run time")
    elif re.search(_VIM_RUNS, rest):
        shell = re.search(r"!\s*(.+)", rest, re.DOTALL)
        yield Foreign(code)
        if shell:
            yield Line(shell[1])
        yield ShellDoubt("a command of an editor starts programs")


#: `!LINE`, `r !LINE`, `w !LINE`, `e !LINE`, with an address before it.
ed = _lines_of("ed", r"^[\d,.$%;+'/ \w-]{0,80}?!\s*(.+)$", r"^[^\n/]*+/[^\n]*!")
dc = _lines_of("dc", r"!(?![<>=])\s*([^\n]+)")
m4 = _lines_of(
    "m4",
    r"syscmd\(\s*[`\[]*([^')\]]*)",
    r"syscmd|changequote|changecom|\bdefn\b|builtin|indir|include|format\(|patsubst",
)
gnuplot = _lines_of(
    "gnuplot",
    r"(?:^|;)[^\S\n]*+!\s*+(.+)$|system\(?\s*+[\"'](.+)[\"']|[\"']<\s*+(.+?)[\"']",
    r"system|`|'\||\"\||eval",
)
sqlite = _lines_of(
    "SQLite",
    r"^[^\S\n]*+\.\s*+[\"']?(?:sh\w*|sy\w*)[\"']?\s*+(.+)$"
    r"|^[^\S\n]*+\.(?:on\w*|o\w*|r\w*|im\w*)\s[^\n]*?\|\s*+([^\"'\n]+)",
    # It takes quotes off, and puts others around words with blanks.
    r"^[^\S\n]*+\.(?:load|excel|www|archive|ar)\b|^[^\S\n]*+\.\s*+[\"']?s[hy][^\n]*[\"']|^[^\S\n]*+\.[^\n]*\\"
    r"|\bedit\(|load_extension",
)
psql = _lines_of(
    "psql",
    r"\\!\s*+(.+)$|\\(?:g|gx|o|out|w|write|copy(?:(?!\\copy)[^\n|])*?program|i)\s*+(?:\|\s*+)?'?\|\s*+(.+)$"
    r"|\bprogram\s++'([^']*)'|`([^`]*+)`",
    r"\\(?:e|ef|ev|edit|gexec|setenv|include)\b|\\copy(?:(?!\\copy)[^\n])*?program\b(?!\s*')",
    re.MULTILINE | re.IGNORECASE,
)
mysql = _lines_of(
    "MySQL",
    r"\\!\s*+(.+)$|^[^\S\n]*+system\s++(.+)$|(?:\\P|^[^\S\n]*+pager)\s++(.+)$",
    r"sys_exec|sys_eval|load_file|outfile|dumpfile|\\\.|^[^\S\n]*+(?:source|tee|edit)\b|\\[eT]",
    re.MULTILINE | re.IGNORECASE,
)
gdb = _lines_of(
    "gdb",
    r"^[^\S\n]*+(?:she\w*|!|fil\w*|exec\S*|pipe\s[^|\n]*+\|)\s*+(.+)$|^[^\S\n]*+\|[^|\n]*+\|\s*+(.+)$",
    r"^[^\S\n]*+(?:mak|py\w*|pi|gu\w*|so\w*|ev\w*|compile|call\b.*\w\(|p\w*\b.*\w\(|pri\w*\b.*\w\(|ta\w*\b.*\||exec|set\s++.*exec-wrapper"
    r"|ski\w*\s*+system|define|dont|with|dump|generate|restore|auto-load)|system|popen|exec[lv]",
)
less = _lines_of("less", r"^[^!|\n]*+!\s*+(.+)$|\|\s*+\S\s*+(.+)$")
lldb = _lines_of(
    "lldb",
    r"^[^\S\n]*+(?:platform\s++)?shell\s++(?:--host\s++|-h\s++)?(?:--\s++)?(.+)$",
    r"script|\bpy|command|expr|system|shell",
)
