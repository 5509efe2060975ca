"""Search code of programming languages for names, and for signs that it starts programs."""

import re
from collections.abc import Callable, Iterator

from hookline.shell.found import Foreign, Found, Inner, ShellDoubt
from hookline.shell.placeholders import HOLE

# Patterns are texts, compiled when the first such code is seen and kept by `re`.
_ANY = r"system|exec|eval|popen|subprocess|spawn|fork|child_process|import_|importlib|ctypes|getline|shell|[`!]|\|\s*\""
_PYTHON = (
    r"(?<!platform\.)\bsystem\b|\bplatform\s*=|as\s+platform\b|popen|subprocess|spawn|\bfork|(?<![.\w])exec\b"
    r"|\bexec[lv]|(?<![.\w])eval\b|(?<!re\.)\bcompile\b|__import__|import_module|importlib|ctypes|cffi|builtins"
    r"|\b(?:pty|runpy|code|codeop|pdb|timeit|cProfile|profile|trace|pickle|marshal|commands|posix|antigravity)\b"
    r"|multiprocessing|webbrowser|startfile|attrgetter|methodcaller|__getattr|__dict__|__class__|__subclasses__|__globals__"
    r"|\b(?:vars|globals|locals)\b|getattr\((?!\s*[\w.]+\s*,\s*['\"]\w+['\"]\s*[,)])|subprocess|\bimport\s*\*|\bsh\b"
    r"|\\x|\\u|\\N"
)
_NODE = (
    r"child_process|spawn|\bexec(?:Sync|File\w*)?\b|fork|\beval\b|Function\b|process\.(?:binding|dlopen|mainModule)"
    r"|\bvm\b|worker_threads|constructor|import\((?!\s*['\"])|require\((?!\s*['\"][\w@./:-]+['\"]\s*\))|execa|shelljs"
    r"|\bzx\b|\$`|Bun\.|Deno\.|globalThis|\bcluster\b|module\.|\\x|\\u|require\b(?!\s*\()"
)
_PERL = (
    r"\bsystem\b|\bexec\b|`|\bqx\b|\beval\b|\bopen\b|\bfork\b|\bsyscall\b|\bdo\b\s*[\"'(\w$]|\brequire\b|\buse\s+(?!strict|"
    r"warnings|utf8|feature|POSIX|JSON|List|Data|File::(?:Basename|Spec|Path)|Time|Digest|MIME|v?5)|->\(|&\{|&\$|\*\{|/e"
    # Flags with an e at the end of a word: all before the last letter that is no flag, and then the flags.
    r"|[}\])!,|#~@](?:[egimsxr]*+[^\Wegimsxr]++)*+[gimsxr]*+e[egimsxr]*+\b|CORE|IPC|readpipe|<[^<>\n]*\|"
)
_RUBY = (
    r"\bsystem\b|\bexec\b|`|%x|\beval\b|popen|spawn|fork|open\b|\bsend\b|instance_eval|class_eval|Kernel|Process"
    r"|Open3|PTY|\bload\b|const_get|method\(|Fiddle|syscall|\bsh\b"
)
_PHP = (
    r"system|exec|passthru|popen|proc_open|`|eval|pcntl|assert|create_function|call_user|include|require|mail\("
    r"|\$\w+\s*\(|dl\(|FFI|preg_replace"
)
#: Searching more than this takes too long.
_LONGEST_CODE = 32 * 1024
_LUA = r"execute|popen|load|dofile|require|exec|system|debug|_G\b|_ENV\b|getfenv"


def _reader(signs: str, name: str) -> Callable[[str], Iterator[Found]]:
    def found(code: str) -> Iterator[Found]:
        yield Foreign(code)
        if len(code) > _LONGEST_CODE:
            yield ShellDoubt(f"{name} code is too long to be judged")
        elif re.search(signs, code):
            yield ShellDoubt(f"{name} code starts programs, or code that it makes up")
        elif _is_made_up(code):
            yield ShellDoubt(f"{name} code is put together at run time")

    return found


def _is_made_up(code: str) -> bool:
    """Return True if the shell puts more than a text between quotes into it."""
    return HOLE in code and HOLE in re.sub(r"'[^'\n]*'|\"[^\"\n]*\"", "", code)


def starts_programs(code: str) -> bool:
    """Return True if code in another language seems to run programs, or code that it makes up."""
    return re.search(_ANY, code, re.IGNORECASE) is not None


python = _reader(_PYTHON, "Python")
node = _reader(_NODE, "JavaScript")
perl = _reader(_PERL, "Perl")
ruby = _reader(_RUBY, "Ruby")
php = _reader(_PHP, "PHP")
lua = _reader(_LUA, "Lua")
#: A language without specific signs here.
other = _reader(f"(?i:{_ANY})", "")


def other_language(name: str) -> Callable[[str], Iterator[Found]]:
    return _reader(f"(?i:{_ANY})", name)


def powershell(code: str) -> Iterator[Found]:
    """Yield each command under all of its names, without its arguments."""
    from hookline.shell.powershell import (  # noqa: PLC0415 few lines start it
        BY_NAME_ONLY,
        names_of,
        read_powershell,
    )

    if HOLE in code:
        yield ShellDoubt(f"a part of a line of PowerShell is known only to the shell; {BY_NAME_ONLY}")
        return
    reading = read_powershell(code)
    for command in reading.commands:
        arguments = (HOLE,) if command.words[1:] else ()
        yield from (Inner((name, *arguments)) for name in names_of(command.words[0]))
    yield from (ShellDoubt(f"{doubt}; {BY_NAME_ONLY}") for doubt in reading.doubts)


def unread(code: str) -> Iterator[Found]:
    """Yield code that is searched for names and always in doubt."""
    yield Foreign(code)
    yield ShellDoubt("a line of PowerShell or of another shell is judged by names only")
