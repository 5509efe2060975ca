"""Programs with a language of their own that can start others."""

import re
from collections.abc import Iterator

from hookline.matching.shell.found import Doubt, Found, Inner, Stdin
from hookline.matching.shell.holes import HOLE, Words
from hookline.matching.shell.kinds import KINDS, from_stdin
from hookline.matching.shell.kinds.commands import is_stdin
from hookline.matching.shell.options import OptionSpec, read_options
from hookline.matching.shell.programs.row import Program

_PYTHON = OptionSpec(
    "-b -B -d -E -i -I -O -P -q -s -S -u -v -x -R -t -3 -h -? -V -Q: -W: -X: -c: -m: "
    "--check-hash-based-pycs: --help --version "
    "--help-all --help-env --help-xoptions",
    "posix",
)
_PYTHON_LONG_VALUE = "--check-hash-based-pycs"
#: Modules that run code or the script in their arguments.
_CODE_MODULES = frozenset(
    ("timeit", "pdb", "code", "trace", "cprofile", "profile", "runpy", "doctest", "pty", "site")
)
#: Letters of options of Perl whose value does not go to the end of the word, and a blank after them.
_PERL_APART = re.compile(r"([^\seEmMFxiI]*+(?:[iI]\S*+)?)\s++-?(?=\w)")
#: `-d`, where no module of a debugger follows, and letters of options without a value before it.
_PERL_DEBUGS = re.compile(r"-[acfnpsStTuUwWX]*d(?=[^:t\s])")


#: A path of nothing else says nothing: `/$X`.
_UNNAMED = f"/ \t{HOLE}"


def _python(rest: Words, stdin: Stdin) -> Iterator[Found]:
    """`-c` and `-m` end the options: what follows are arguments of the code or the module."""
    ended = _end_of_options(rest)
    taken = ended if ended == len(rest) else ended + (1 if rest[ended][-1] not in "cm" else 2)
    read = read_options(rest[:taken], _PYTHON)
    if read.has("--version", "-V", "--help", "-h", "-?"):
        return
    after = rest[taken:]
    if read.has("-i"):
        yield from from_stdin("python", stdin)
    for code in read.values("-c"):
        yield from KINDS["python"].found(code)
    for module in read.values("-m"):
        yield from _module(module, after, stdin)
    if read.has("-c", "-m"):
        return
    operands = read.operands
    if not operands or is_stdin(operands[0]):
        yield from from_stdin("python", stdin, named=bool(operands))
    elif not operands[0].strip(_UNNAMED):
        yield Doubt("which file is run, only the shell knows")


def _end_of_options(rest: Words) -> int:
    """The place of the word with `-c` or `-m`; where there is none, the end."""
    is_value = False
    for at, word in enumerate(rest):
        if is_value:
            is_value = False
        elif word.startswith("--"):
            is_value = word == _PYTHON_LONG_VALUE
        elif word[:1] == "-":
            # The first letter that takes a value has the rest of the word, or else the next word.
            letter = re.search("[cmWXQ]", word[1:])
            if letter is not None and letter[0] in "cm":
                return at
            is_value = letter is not None and letter.end() == len(word) - 1
    return len(rest)


def _code_in(word: str) -> Iterator[Found]:
    """Code, or `-s CODE` in one word."""
    for code in (word,) if word[:1] != "-" else (word.partition("s")[2], word):
        yield from KINDS["python"].found(code)


def _module(module: str, after: Words, stdin: Stdin) -> Iterator[Found]:
    if HOLE in module:
        yield Doubt("which module is run, only the shell knows")
    elif module.casefold() in _CODE_MODULES:
        for word in after:
            if " " in word or "(" in word:
                yield from _code_in(word)
            elif is_stdin(word) and word != "-":
                yield from from_stdin("python", stdin, named=True)
            elif not word.strip(_UNNAMED):
                yield Doubt("which file is run, only the shell knows")
        if module in {"code", "pdb"}:
            yield from from_stdin("python", stdin)
        if module == "pdb" and any(word in {"-c", "--command"} for word in after):
            yield Doubt("a debugger is told what to run")
    elif module in {
        "pip",
        "pytest",
        "tox",
        "nox",
        "coverage",
        "twine",
        "build",
        "black",
        "ruff",
        "mypy",
        "http.server",
    }:
        yield Inner((module, *after), ("python", "-m", module, *after))


def _node(rest: Words) -> Words:
    """`-pe CODE` and `-p -e CODE` are one option with one value."""
    ordered: list[str] = []
    for at, word in enumerate(rest):
        after = rest[at + 1] if at + 1 < len(rest) else ""
        # What is glued to --print is not its value: standard input is the code.
        if not word.startswith("--print=") and (word not in {"-p", "--print"} or after[:1] not in {"", "-"}):
            ordered.append("--eval" if word in {"-pe", "-ep"} else word)
    return tuple(ordered)


def _perl(rest: Words) -> Words:
    """`'-w -e' CODE`: a blank among letters without a value begins the next option. `-de` is -d and -e."""
    ordered: list[str] = []
    for written in rest:
        debugs = _PERL_DEBUGS.match(written)
        ordered.extend([debugs[0]] if debugs else [])
        word = f"-{written[debugs.end() :]}" if debugs else written
        begun = 1
        while apart := word[:1] == "-" and _PERL_APART.match(word, begun):
            ordered.append(f"-{apart[1]}")
            begun = apart.end()
        ordered.append(f"-{word[begun:]}" if begun > 1 else word)
    return tuple(ordered)


def _tcl(rest: Words, stdin: Stdin) -> Iterator[Found]:
    """The first word is a script, unless it begins with a dash: then there is none."""
    words = rest[2:] if rest[:1] == ("-encoding",) else rest
    if not words or words[0].startswith("-") or is_stdin(words[0]):
        yield from from_stdin("code", stdin, named=bool(words) and is_stdin(words[0]))
    else:
        yield from KINDS["file"].found(words[0])


def _prove(rest: Words, _stdin: Stdin) -> Iterator[Found]:
    read = read_options(rest, OptionSpec("-e: --exec:"))
    if "" in read.values("-e", "--exec"):
        for operand in read.operands:
            yield from KINDS["line"].found(operand)


ROWS = (
    Program(
        "python, pypy, python3-dbg, micropython, graalpy, jython",
        "runs a program of Python",
        _PYTHON.text,
        style="posix",
        reader=_python,
        examples=(
            "python3 -c 'import os; os.system(\"rm y\")'",
            'python3 -Bc \'import subprocess as s; s.run(["rm", "y"])\'',
            'python3 -Isc \'import os; os.execlp("rm", "rm", "y")\'',
            "echo 'import os; os.system(\"rm y\")' | python3",
            "echo 'import os; os.system(\"rm y\")' | python3 -u",
            "echo 'import os; os.system(\"rm y\")' | python3 -u - a b",
            "python3 <<< 'import os; os.popen(\"rm y\").read()'",
            "python3 -m cProfile <(echo 'import os; os.system(\"rm y\")')",
            "echo 'import os; os.system(\"rm y\")' | python3 -m trace -c -C /tmp /dev/stdin",
            "python3 -m timeit -n1 -r1 'import os; os.system(\"rm y\")'",
            "echo 'import os; os.system(\"rm y\")' | python3 /dev/stdin",
            "python3 -Wi -c 'import os; os.system(\"rm y\")'",
            "echo 'import os; os.system(\"rm y\")' | python3 -ic 1",
            "echo 'import os; os.system(\"rm y\")' | python3 -i a.py",
            'python3 -c \'__import__("o"+"s").system("rm y")\'',
        ),
    ),
    Program("python manage.py", "runs a command of the project", style="posix"),
    Program(
        "python manage.py *",
        "runs a command of the project",
        "-v: -k: --verbosity: --tag: --exclude-tag: --parallel:: --keepdb --noinput --failfast --no-color",
        {"beyond": "--settings: --pythonpath: --testrunner:"},
    ),
    Program(
        "ipython, bpython, ptpython",
        "runs a program of Python",
        "-i -m: --no-banner --pylab:: --profile: --matplotlib::",
        {"python": "-c: --InteractiveShellApp.exec_lines:"},
        first="script",
        stdin="python",
        stays="-i",
    ),
    Program(
        "perl",
        "runs a program of Perl",
        "-a -c -f -n -p -s -S -t -T -u -U -w -W -X -v -0 -1 -2 -3 -4 -5 -6 -7 -l -C:: -D:: -F:: "
        "-i:: -I: -V:: -x:: -h -?",
        {"perl": "-e: -E: -d::", "perl module": "-M:: -m::"},
        style="posix",
        quiet="-v -h -?",
        first="script",
        stdin="perl",
        stays="-d",
        plain="perl, perl module",
        ordered=_perl,
        examples=(
            "echo 'system(\"rm y\")' | perl -de 1",
            "echo 'system(\"rm y\")' | perl -Mstrict",
            "perl -e 'system(\"rm y\")'",
            'perl -we \'exec "rm", "y"\'',
            "echo y | perl -ne 'print `rm y`'",
            "echo y | perl -pe 's/y/`rm y`/e'",
            "echo y | perl -lane 'system \"rm\", @F'",
            "perl -MPOSIX -E 'system qw(rm y)'",
            "echo 'system(\"rm y\")' | perl",
            "echo 'system(\"rm y\")' | perl -w -",
            "perl -e 'open(F, \"rm y|\")'",
            "perl -i.bak -e 'qx(rm y)'",
            "perl -M'POSIX;system(qq(rm y))' -e 1",
            "perl '-w -e' 'system(\"rm y\")'",
            "perl -V -f -e 'system(\"rm y\")'",
        ),
    ),
    Program(
        "prove",
        "runs the tests of a project",
        "-v -l -b -c -d -f -o -p -q -Q -r -s -t -T -u -U -w -W -I: -j: --verbose --lib --blib --color --count "
        "--recurse --reverse --shuffle --timer --trap --merge --dry --jobs: --ext: --state: --norc --ignore-exit",
        {
            "words": "-e: --exec:",
            "perl module": "-M: -P:",
            "file": "--rc: --source:",
            "written": "-a: --archive:",
        },
        # With an empty -e the tests themselves are the programs.
        reader=_prove,
        examples=("prove -e rm y", "prove -e '' rm y", "prove -ve 'rm -f' y", "prove --ex=rm f"),
    ),
    Program(
        "node, nodejs",
        "runs a program of JavaScript",
        "-c -i -h -v --check --interactive --inspect:: --inspect-brk:: --max-old-space-size: "
        "--no-warnings --trace-warnings "
        "--enable-source-maps --test --watch --watch-path: --experimental-vm-modules "
        "--input-type: -C: --conditions: "
        "--test-name-pattern: --stack-size: --title: --harmony "
        "--trace-deprecation "
        "--unhandled-rejections: --expose-gc --preserve-symlinks --jitless "
        "--abort-on-uncaught-exception",
        {
            "path": "--test-reporter:",
            "written": "--test-reporter-destination: --test-rerun-failures:",
            "output": "--cpu-prof-dir: --heap-prof-dir: --cpu-prof-name: --heap-prof-name: --diagnostic-dir: "
            "--report-directory: --report-dir: --report-filename: --redirect-warnings: --trace-event-file-pattern: "
            "--logfile: --localstorage-file: --tls-keylog: --icu-data-dir:",
            # A file of variables may hold NODE_OPTIONS.
            "settings": "--env-file: --env-file-if-exists: --experimental-config-file: --openssl-config: "
            "--test-global-setup: --snapshot-blob: --experimental-sea-config: --build-sea:",
            "javascript": "-e: -p: --eval: --print:",
            "file": "-r: --require: --import: --loader: --experimental-loader:",
        },
        style="posix",
        quiet="-h -v --help --version",
        first="script",
        stdin="javascript",
        stays="-i --interactive",
        besides="-r --require --import --loader --experimental-loader",
        plain="javascript",
        ordered=_node,
        examples=(
            'echo \'require("child_process").execSync("rm y")\' | node -i -e 1',
            'node -e \'require("child_process").execSync("rm y")\'',
            'node -pe \'require("child_process").execSync("rm y")\'',
            'node --print \'require("child_process").execSync("rm y")\'',
            'node -p \'require("child_process").execSync("rm y")\'',
            'echo \'require("child_process").execSync("rm y")\' | node',
            'echo \'require("child_process").execSync("rm y")\' | node -',
            'echo \'require("child_process").execSync("rm y")\' | node -p -',
            'echo \'require("child_process").execSync("rm y")\' | node -r fs',
            'echo \'require("child_process").execSync("rm y")\' | node --print=1',
            'node --eval \'process.binding("spawn_sync"); require("child_process").spawnSync("rm",["y"])\'',
        ),
    ),
    Program(
        "bun",
        "runs a program of JavaScript",
        "-i --watch --hot --smol --cwd: -c: --config: -d: --define: --silent",
        {"javascript": "-e: -p: --eval: --print:", "file": "-r: --preload:"},
        style="posix",
        first="script",
        stdin="",
        examples=(),
    ),
    Program("bun run, bun exec, bun x", "runs a command", loose=()),
    Program("deno", "runs a program of JavaScript", style="posix"),
    Program("deno eval", "runs JavaScript", "-p --print --ext:", others="javascript"),
    Program("deno run", "runs a program of JavaScript", stdin="javascript"),
    Program(
        "ruby, jruby, irb, truffleruby, mruby",
        "runs a program of Ruby",
        "-a -c -l -n -p -s -S -U -v -w -C: -E: -F: -I: -K: -T:: -W:: -x:: -0:: -i:: -d "
        "--disable: --enable: --encoding: --yjit --jit",
        {"ruby": "-e:", "file": "-r:"},
        style="posix",
        first="script",
        stdin="ruby",
        besides="-r",
        plain="ruby",
        examples=(
            "ruby -e 'system(\"rm y\")'",
            "ruby -ne 'system(\"rm y\")' <<< x",
            "echo 'system(\"rm y\")' | ruby",
            "ruby -e '`rm y`'",
        ),
    ),
    Program(
        "php",
        "runs a program of PHP",
        "-a -C -h -i -l -m -n -q -s -v -w -d: -c: -t: -S: -z: --define: --php-ini:",
        {
            "php": "-r: -B: -R: -E: --run: --process-begin: --process-code: --process-end:",
            "file": "-f: -F: --file: --process-file:",
        },
        style="posix",
        first="script",
        stdin="php",
        stays="-a",
        plain="php",
        quiet="-v -i -m --version --help --info",
        examples=(
            "php -r 'system(\"rm y\");'",
            "echo '<?php system(\"rm y\");' | php",
            "php --run 'exec(\"rm y\");'",
        ),
    ),
    Program(
        "lua, luajit, texlua",
        "runs a program of Lua",
        "-i -v -E -W -l:",
        {"lua": "-e:"},
        style="posix",
        first="script",
        stdin="lua",
        stays="-i",
        plain="lua",
        examples=("lua -e 'os.execute(\"rm y\")'", "echo 'os.execute(\"rm y\")' | lua -"),
    ),
    Program(
        "tclsh, wish, jimsh",
        "runs a program of Tcl",
        quiet="",
        reader=_tcl,
        plain="code",
        examples=("echo 'exec rm y' | tclsh", "tclsh <<< 'exec rm y'", "tclsh -x a <<< 'exec rm y'"),
    ),
    Program(
        "expect, expectk",
        "runs a program of Tcl",
        "-d -i -b -n -N",
        {"code": "-c:", "file": "-f:"},
        style="posix",
        first="script",
        stdin="code",
        plain="code",
        examples=("expect -c 'spawn rm y; expect eof'",),
    ),
    Program(
        "rscript",
        "runs a program of R",
        "--vanilla --verbose --default-packages:",
        {"code": "-e:"},
        style="posix",
        first="script",
        untried=("Rscript -e 'system(\"rm y\")'",),
    ),
    Program(
        "r",
        "runs a program of R",
        "--vanilla --slave --no-save --quiet -q -s --no-restore --args --no-echo",
        {"code": "-e:", "file": "-f: --file:"},
        stdin="code",
        plain="code",
        untried=("echo 'system(\"rm y\")' | R --slave",),
    ),
    Program(
        "julia",
        "runs a program of Julia",
        "-i -q -L: -p: -t: -O: -g: --project:: --startup-file:",
        {"code": "-e: -E: --eval: --print:"},
        style="posix",
        first="script",
        stdin="code",
        stays="-i",
        plain="code",
    ),
    Program(
        "groovy, scala, elixir, runghc, runhaskell, stack, clojure, clj, bb, clisp, ecl, "
        "racket, gosh, chibi-scheme, ocaml, "
        "octave, matlab, sage, io, crystal, nim, "
        "raku, pike, gst, rebol, picolisp, guile, janet",
        "runs a program",
        "",
        {"code": "-e: -E: --eval: -eval: -c: --execute: -x: -g: -t: -r: --run:"},
        style="posix",
        first="script",
        stdin="code",
        stays="-i --persist --interactive",
        plain="code",
        examples=("guile -c '(system \"rm y\")'",),
    ),
    Program(
        "ghci, sbcl, csi, utop, swipl, gprolog, maxima, gap, gp, scilab, iex",
        "runs a program, and then what it reads",
        "",
        {"code": "-e: -E: --eval: -eval: -c: --execute: -x: -g: -t: -r: --run:"},
        style="posix",
        first="script",
        stdin="code",
        stdin_operands=99,
        besides="-e -E --eval -eval -c --execute -x -g -t -r --run",
        plain="code",
    ),
    Program(
        "erl",
        "runs a program of Erlang",
        "-noshell -noinput -s: -run: -sname: -name:",
        {"code": "-eval:"},
        style="words",
    ),
    Program("ghc", "compiles", "-o: -O", {"code": "-e:", "program": "-pgmF: -pgmP:"}, style="words"),
    Program(
        "osascript, jsc, qjs, d8, mujs, duk, rhino",
        "runs a script",
        "-l: -s: -i",
        {"code": "-e:"},
        style="posix",
        first="script",
        stdin="code",
        plain="code",
    ),
    Program("launchctl", "starts services", loose=("submit", "bsexec", "asuser")),
    Program("bc", "computes", "-h -i -l -w -s -q -v --mathlib --quiet"),
)
