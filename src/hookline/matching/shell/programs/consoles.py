"""Editors, debuggers and database shells: each can run a line of shell."""

from collections.abc import Iterator

from hookline.matching.shell.found import Found, Inner, Line, Stdin
from hookline.matching.shell.holes import Words
from hookline.matching.shell.options import OptionSpec, read_options
from hookline.matching.shell.programs.row import Program


def _vim_ordered(rest: Words) -> Words:
    """`+COMMAND` is `-c COMMAND`, and `-S` before another option is that of a session."""
    ordered: list[str] = []
    for at, word in enumerate(rest):
        if word.startswith("+") and len(word) > 1:
            ordered.append(f"-c{word[1:]}")
        elif word == "-S" and rest[at + 1 : at + 2] and rest[at + 1].startswith("-"):
            ordered.append("-SSession.vim")
        else:
            ordered.append(word)
    return tuple(ordered)


def _gdb(rest: Words, _stdin: Stdin) -> Iterator[Found]:
    """The operands are a program that the debugger may run, and its arguments."""
    operands = read_options(
        rest, OptionSpec(f"{_GDB_OPTIONS} {' '.join(_GDB_VALUES.values())}", "words")
    ).operands
    # What is before --args is not run.
    yield from (Inner(operands[at:]) for at in range(min(len(operands), 3)))


def _gdb_ordered(rest: Words) -> Words:
    """Its long options take one dash or two. Operands may stand before options, but after `--args` all are operands."""
    end = next(
        (
            at
            for at, word in enumerate(rest)
            if word in {"--args", "-args"} or (word == "--" and not (at and _takes_value(rest[at - 1])))
        ),
        len(rest),
    )
    own = tuple(f"-{word[2:]}" if word.startswith("--") and len(word) > 2 else word for word in rest[:end])
    return (*own, "--", *rest[end + 1 :])


def _sqlite_ordered(rest: Words) -> Words:
    """Of a word whose second sign is a dash it drops the first one: `--cmd`, but also `~-cmd`."""
    return tuple(word[1:] if word[1:2] == "-" else word for word in rest)


def _takes_value(word: str) -> bool:
    """An option of gdb, in full or abbreviated, whose value is the next word."""
    name = f"-{word.lstrip('-')}"
    taking = " ".join((_GDB_OPTIONS, *_GDB_VALUES.values())).split()
    return word[:1] == "-" and any(each[-1] == ":" and each.startswith(name) for each in taking)


def _strace(rest: Words, _stdin: Stdin) -> Iterator[Found]:
    """`-o '|LINE'` and `-o '!LINE'`."""
    for target in read_options(rest, OptionSpec("-o: --output:")).values("-o", "--output"):
        if target[:1] in {"|", "!"}:
            yield Line(target[1:], fed=True)


_GDB_OPTIONS = (
    "-batch -batch-silent -q -quiet -silent -nx -nh -n -nw -w -write -return-child-result "
    "-readnow -tui -interpreter: -i: -ui: -p: -pid: "
    "-c: -core: -s: -symbols: -e: -exec: -se: -d: -directory: -cd: -tty: -b: -l: "
    "-data-directory: -D: -args"
)
_GDB_VALUES = {
    "gdb": "-ex: -iex: -eval-command: -init-eval-command: -eiex: -early-init-eval-command:",
    "file": "-x: -command: -ix: -init-command: -eix:",
}
_VIM = (
    "-v -e -E -s -d -y -R -Z -m -M -b -l -L -C -N -n -f -g -A -H -X -O:: -o:: -p:: -V:: -r:: -D "
    "--noplugin --clean --literal --not-a-term --ttyfail -T: -t: -q: -i: -W: -w: --startuptime: "
    "--remote: --servername: --embed --headless"
)

ROWS = (
    Program(
        "vim, vi, nvim, ex, view, gvim, vimdiff, gview, rvim, rview, evim, eview, vimtutor, "
        "vim.basic, vim.tiny, elvis, nvi",
        "edits files",
        _VIM,
        {"vim": "-c: --cmd:", "file": "-S: -u: -U: --luamod-dev:"},
        ordered=_vim_ordered,
        stdin="vim",
        besides="-c --cmd -S -u -U --luamod-dev",
        stdin_operands=9,
        plain="",
        examples=(
            "vim -c ':!rm y' -c q",
            "vim -es '+!rm y' +q",
            "vim -esc '!rm y' -c 'q!'",
            "vim --cmd 'call system(\"rm y\")' -es -c 'q!'",
            "vim -es -c 'r !rm y' -c 'q!'",
            "ex -s -c '!rm y' -c 'q!' f",
            "printf '!rm y\\nq!\\n' | ex -s f",
            "printf '!rm y\\nq!\\n' | ex -c 'set nu' -s f",
            "printf '!rm y\\nq!\\n' | ex -u NONE -s f",
            "vim -es -u NONE -S <(echo '!rm y') -c 'q!'",
        ),
    ),
    Program(
        "ed, red",
        "edits a file",
        "-G -l -r -s -p: -E -v --quiet --silent --prompt: --restricted",
        stdin="ed",
        stdin_operands=9,
        others="ed",
        examples=(
            "ed - '!rm y' < /dev/null",
            "echo '!rm y' | ed",
            "printf 'a\\nx\\n.\\nw !rm y\\nQ\\n' | ed -s",
            "ed <<< 'r !rm y'",
            "ed '!rm y' < /dev/null",
        ),
    ),
    Program(
        "emacs, emacsclient, xemacs, zile, mg, jed, jove",
        "edits files",
        "-q -Q -nw -batch --batch --no-init-file --quick --no-window-system -a: -t -c -n",
        {
            "code": "-eval: --eval: -e: -f: --execute: -execute: --funcall: -funcall:",
            "file": "-l: --load: -load: --script: -script: --init-directory:",
        },
        style="words",
        examples=("emacs --batch --eval '(shell-command \"rm y\")'",),
    ),
    Program(
        "nano, pico, micro, joe, kak, hx, helix, code, codium, cursor, subl, gedit, kate",
        "edits files",
        "",
        {"usual line": "-s: --speller:", "code": "-e:"},
        examples=(),
    ),
    Program(
        "gdb, gdb-multiarch, rust-gdb, cgdb, gdbserver, gdbtui",
        "looks into running programs",
        _GDB_OPTIONS,
        _GDB_VALUES,
        style="words",
        stdin="gdb",
        stdin_operands=9,
        besides=" ".join(_GDB_VALUES.values()).replace(":", ""),
        ordered=_gdb_ordered,
        reader=_gdb,
        examples=(
            "gdb -batch -ex 'shell rm y'",
            "gdb -batch -ex run --args /bin/rm y",
            "gdb -batch -ex 'file /bin/rm' -ex run",
            "gdb -nx -batch -ex 'make --eval=\"x:;rm y\"'",
            "gdb --batch --ex '!rm y'",
            "gdb -batch -ex 'python import os; os.system(\"rm y\")'",
            "gdb -batch -iex 'she rm y'",
            "gdb -batch --eval-command='shell rm y'",
            "echo 'shell rm y' | gdb -q",
            "echo 'shell rm y' | gdb -q -ex 'set confirm off'",
            "gdb -cd -- -batch -ex 'shell rm y'",
            "gdb -q -batch -ex 'pipe info sharedlibrary | rm y'",
        ),
    ),
    Program(
        "lldb",
        "looks into running programs",
        "-b -Q -x -p: -n: -f: -c: -a: -w",
        {"lldb": "-o: -O: -k: -K: --one-line: --one-line-before-file:", "file": "-s: -S: --source:"},
        loose=("--",),
        stdin="lldb",
        besides="-o -O -k -K --one-line --one-line-before-file -s -S --source",
    ),
    Program(
        "strace",
        "watches what a command does",
        loose=(),
        reader=_strace,
        examples=(
            "strace -f -o /dev/null rm y",
            "strace -e trace=none -- rm y",
            "strace rm y",
            "strace -o '!rm y' true",
            "strace --outp='|rm y' true",
        ),
    ),
    Program(
        "ltrace, ptrace, truss, dtruss, sysdig, bpftrace, perf, valgrind, rr, uftrace, heaptrack",
        "watches what a command does",
        loose=(),
    ),
    Program(
        "sqlite, litecli, duckdb, sqlcipher",
        "works with a database",
        "-batch -bail -header -noheader -csv -json -line -list -column -table -box -html -quote "
        "-ascii -tabs -readonly -interactive -stats -echo -separator: "
        "-newline: -nullvalue: -maxsize: -mmap: -vfs: -cmd-never: -A:",
        {"sqlite": "-cmd: --cmd: -c: -s:", "file": "-init: --init: -f:"},
        style="words",
        ordered=_sqlite_ordered,
        others="sqlite",
        stdin="sqlite",
        besides="-cmd --cmd -init --init",
        stdin_operands=1,
        examples=(
            "sqlite3 x '.shell rm y'",
            "echo '.system rm y' | sqlite3",
            "sqlite3 -cmd '.shell rm y' x .q",
            "sqlite3 x <<< '.sh rm y'",
            "sqlite3 :memory: '.once |rm y' 'select 1'",
        ),
    ),
    Program(
        "psql, pgcli, usql",
        "works with a database",
        "-a -A -b -e -E -H -l -L: -n -q -s -S -t -w -W -x -X -z -0 -1 -d: -F: -h: -p: -P: -R: "
        "-T: -U: -v: --dbname: --host: --port: --username: --set: "
        "--variable: --no-psqlrc --tuples-only --quiet --echo-all --single-transaction --csv "
        "--expanded --no-align",
        {"psql": "-c: --command:", "file": "-f: --file:", "written": "-o: --output: --log-file:"},
        stdin="psql",
        stdin_operands=2,
        plain="file",
        examples=(),
    ),
    Program(
        "mysql, mariadb, mycli",
        "works with a database",
        "-u: -p:: -h: -P: -D: -N -B -s -t -v -A -q -r -H -X -E -f -S: --user: --password:: --host: "
        "--port: --database:",
        {
            "mysql": "-e: --execute: --init-command:",
            "line": "--pager:",
            "written": "--tee:",
            "settings": "--defaults-file: --defaults-extra-file:",
        },
        stdin="mysql",
        besides="--init-command",
        stdin_operands=1,
        examples=(),
    ),
    Program(
        "mongo, mongosh, sqlplus, sqlcmd",
        "works with a database",
        "-h: -p: -n: -a: -u: -U: -P: -S: -d:",
        {"code": "--eval: -e: -Q: -q: --execute:", "file": "-f: --file:"},
        stdin="code",
        stdin_operands=1,
        others="",
        examples=(),
    ),
    Program(
        "mutt, neomutt, mail, mailx, pine, alpine",
        "sends mails",
        "-s: -c: -b: -a: -i: -n -x -r:",
        {"line": "-e: -E:", "settings": "-F:"},
        stdin="",
        examples=(),
    ),
    Program(
        "irssi, weechat, lynx, w3m, links, elinks",
        "shows pages",
        "-dump -source -nolist",
        {"settings": "-cfg: -config:", "line": "-e: -eval: -c: -o:"},
        style="words",
        examples=(),
    ),
)
