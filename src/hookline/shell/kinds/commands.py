"""Read lines of shell, words of a command, names of programs and of files that are programs."""

import posixpath
import re
import shlex
from collections.abc import Iterator

from hookline.shell.found import Foreign, Found, Inner, Line, ShellDoubt
from hookline.shell.placeholders import HOLE, Words, base_name

#: Pagers, editors and packers that tools are configured to use every day, and that start no other program.
_USUAL = frozenset(
    (
        "", "cat", "less", "more", "most", "true", ":", "vi", "vim", "nvim", "nano", "emacs", "emacsclient", "code",
        "subl", "hx", "micro", "head", "tail", "delta", "diff-so-fancy", "bat", "false", "never", "always", "auto",
        "gzip", "gunzip", "bzip2", "bunzip2", "xz", "unxz", "zstd", "unzstd", "zstdmt", "lz4", "lzip", "lzop", "pigz",
        "unpigz", "pbzip2", "lbzip2", "pixz", "pxz", "brotli", "compress", "uncompress", "ssh", "gpg", "gpg2",
    )
)  # fmt: skip
_SHELL_SIGNS = frozenset(";&|`$<>(){}\n\\!*?\"'#~+")

#: Paths under which a process finds its standard input.
_STDIN_FILES = ("/dev/stdin", "/dev/fd/", "/proc/self/fd/", "/proc/thread-self/fd/", "/dev/pts/", "/dev/tty")


def is_usual(text: str) -> bool:
    """Return True if a pager, an editor or a packer is one of the usual ones, with no more than options."""
    words = text.split()
    if any(sign in text for sign in _SHELL_SIGNS):
        return False
    name = base_name(words[0]) if words else ""
    return name in _USUAL and all(word.startswith("-") or word.isdigit() for word in words[1:])


def line(code: str) -> Iterator[Found]:
    yield Line(code)


def completed_line(code: str) -> Iterator[Found]:
    """Read a line that is run with words behind it, such as the name of a machine: `env` runs its arguments."""
    yield Line(f"{code} {HOLE}")


def usual_line(code: str) -> Iterator[Found]:
    if not is_usual(code):
        yield from line(code)


def expanded(text: str) -> Iterator[Found]:
    """Read text in which a shell replaces variables and substitutions, as between double quotes."""
    if "$" in text or "`" in text:
        yield from line(': "' + text.replace('"', '\\"') + '"')


def split(text: str) -> Words:
    """Return the words of a text, quotes removed. A text that cannot be split is one unknown word."""
    try:
        return tuple(shlex.split(text))
    except ValueError:
        return (HOLE,)


def words(text: str) -> Iterator[Found]:
    found = split(text)
    if found:
        yield Inner(found)


def usual_words(text: str) -> Iterator[Found]:
    if not is_usual(text):
        yield from words(text)


def program(text: str) -> Iterator[Found]:
    if not is_usual(text):
        yield Inner((text,))


def completed_program(text: str) -> Iterator[Found]:
    """Read a program that is run with unknown words."""
    if not is_usual(text):
        yield Inner((text, HOLE))


def is_stdin(file: str) -> bool:
    """Return True if the file is standard input: `-`, /dev/stdin, /dev//stdin, /proc/self/fd/0."""
    file = posixpath.normpath(file).replace("//", "/") if "/" in file else file
    if re.search(r"/(?:stdin|fd/\d+)$", file):
        return True
    if not file.startswith("/"):
        # After `cd /dev` or `cd /proc/self/fd`.
        return file in {"-", "stdin"} or file.removeprefix("fd/").isdigit()
    return file.startswith(_STDIN_FILES) or (file.startswith("/proc/") and "/fd/" in file)


def file(name: str) -> Iterator[Found]:
    """Read a file that is a program: its content is not known, but its name is."""
    if is_stdin(name):
        yield ShellDoubt("a program is read from standard input")
    elif name.startswith("data:"):
        yield Foreign(name)
        yield ShellDoubt("a program is given as data")
    elif unknown_file(name):
        yield ShellDoubt("only the shell knows which file is run")


def settings(name: str) -> Iterator[Found]:
    """Read a file with settings, which may name programs: text that the line itself writes there is not read."""
    if is_stdin(name) or name == HOLE:
        yield ShellDoubt("settings that may name programs are known only to the shell")


def unknown_file(name: str) -> bool:
    """Return True for `$X`, which may be anything; `$DIR/run.sh` is a file."""
    return HOLE in name and (name.endswith(HOLE) or not name.partition(HOLE)[2].startswith("/"))


def is_file_beyond(name: str) -> bool:
    return name not in {"/dev/null", "-", "/dev/stdout", "/dev/stderr", ""}
