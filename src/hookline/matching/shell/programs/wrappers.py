"""Programs that run the command in their arguments, and change only how it runs."""

import re
from collections.abc import Iterator

from hookline.matching.shell.found import Found, Inner, Stdin
from hookline.matching.shell.holes import HOLE, Words
from hookline.matching.shell.kinds import KINDS
from hookline.matching.shell.options import OptionSpec, read_options
from hookline.matching.shell.programs.row import Program

_DIGITS = "-0 -1 -2 -3 -4 -5 -6 -7 -8 -9"

_ENV = (
    "-i -0 -v -u: -C: -P: --ignore-environment --null --debug --unset: --chdir: --list-signal-handling "
    "--default-signal:: --ignore-signal:: --block-signal:: --argv0: -a:"
)

_PART_OF_SPLIT = r"\$\{\w+\}|\\.|."
_ESCAPED = {"_": " ", "t": "\t", "n": "\n", "v": "\v", "f": "\f", "r": "\r"}
_SETARCH = (
    "-v -R -F -Z -L -X -B -I -S -T -3 --verbose --addr-no-randomize --fdpic-funcptrs "
    "--mmap-page-zero "
    "--addr-compat-layout --read-implies-exec --32bit --short-inode --whole-seconds "
    "--sticky-timeouts --3gb --4gb "
    "--uname-2.6 --show::"
)


def _setarch(rest: Words, _stdin: Stdin) -> Iterator[Found]:
    """The first operand may be a machine."""
    command = read_options(rest, OptionSpec(_SETARCH, "posix")).operands[1:]
    if command:
        yield Inner(command)


def _hook_options(rest: Words, _stdin: Stdin) -> Iterator[Found]:
    """`--hook EVENT=LINE`, at every sub-command that takes one."""
    for option in read_options(rest, OptionSpec("--hook:")).given:
        if option.name == "--hook" and option.value is not None:
            yield from KINDS["line"].found(option.value.partition("=")[2])


def _split_string(rest: Words) -> Words:
    """`env -S 'A=1 rm x' y` is `env A=1 rm x y`: the value is put in its place, and may hold another one."""
    for _layer in range(4):
        given = read_options(rest, OptionSpec(f"{_ENV} -S: --split-string:", "posix")).given
        one = next((one for one in given if one.name in {"-S", "--split-string"}), None)
        if one is None or one.value is None:
            break
        word = rest[one.at]
        glued = word.startswith("--") and "=" in word
        before = () if word.startswith("--") else tuple(f"-{letter}" for letter in word[1 : word.index("S")])
        apart = not glued and not (not word.startswith("--") and word.index("S") < len(word) - 1)
        after = rest[one.at + (2 if apart else 1) :]
        rest = (*rest[: one.at], *before, *_words_of(one.value), *after)
    read = read_options(rest, OptionSpec(_ENV, "posix"))
    # A dash is -i.
    return (*rest[: read.first], *rest[read.first + 1 :]) if read.operands[:1] == ("-",) else rest


def _words_of(text: str) -> Words:
    """The words of env's -S, which has escapes and ${NAME} of its own."""
    words: list[list[str]] = []
    quote, inside = "", False
    for part in re.findall(_PART_OF_SPLIT, text, re.DOTALL):
        if not quote and part in {" ", "\t", "\n", "\\_"}:
            inside = False
            continue
        if part == "\\c" or (part == "#" and not inside):
            break
        if not inside:
            words.append([])
            inside = True
        if part == quote or (not quote and part in {"'", '"'}):
            quote = "" if quote else part
        else:
            words[-1].append(_plain_part(part, quote))
    return (HOLE,) if quote else tuple("".join(word) for word in words)


def _plain_part(part: str, quote: str) -> str:
    if quote == "'":
        return part[1:] if part in {"\\'", "\\\\"} else part
    if part[0] == "$":
        return HOLE
    return _ESCAPED.get(part[1:], part[1:]) if part[0] == "\\" and part[1:] else part


ROWS = (
    Program(
        "env, genv",
        "shows or changes the environment of a command",
        _ENV,
        style="posix",
        command=0,
        assigns=True,
        ordered=_split_string,
        examples=(
            "env rm y",
            "env -i A=1 rm y",
            "env -S 'rm y'",
            "env --split='rm y'",
            "env -vS'rm y'",
            "env -C . rm y",
            "env -u A -- rm y",
            "env --chdir=. -S 'A=1 rm' y",
        ),
    ),
    Program(
        "nohup, gnohup",
        "runs a command that goes on after a hang-up",
        style="posix",
        command=0,
        examples=("nohup rm y",),
    ),
    Program(
        "setsid",
        "runs a command in a session of its own",
        "-c -f -w --ctty --fork --wait",
        style="posix",
        command=0,
        examples=("setsid -w rm y",),
    ),
    Program(
        "timeout, gtimeout",
        "runs a command for at most some time",
        "-v -f -p -k: -s: --preserve-status --foreground --verbose --kill-after: --signal:",
        style="posix",
        command=1,
        examples=("timeout 5 rm y", "timeout -k 1 -s TERM 5s rm y", "timeout --sig=TERM 5 rm y"),
    ),
    Program(
        "nice, gnice",
        "runs a command with another priority",
        f"-n: --adjustment: {_DIGITS}",
        style="posix",
        command=0,
        examples=("nice rm y", "nice -n 5 rm y", "nice -5 rm y", "nice --adj=5 rm y"),
    ),
    Program(
        "ionice",
        "runs a command with another priority of input and output",
        "-t -c: -n: -p: -P: -u: --ignore --class: --classdata: --pid: --uid: --pgid:",
        style="posix",
        command=0,
        examples=("ionice -c3 rm y", "ionice -c 2 -n 7 rm y"),
    ),
    Program(
        "time, gtime",
        "measures the time of a command",
        "-p -v -a -q -l -h -f: --portability --verbose --append --quiet --format:",
        {"written": "-o: --output:"},
        style="posix",
        command=0,
        assigns=True,
        examples=("time rm y", "time -p rm y"),
    ),
    Program("!", "turns the status of a command round", style="posix", command=0, assigns=True),
    Program(
        "stdbuf, gstdbuf",
        "runs a command with other buffers",
        "-i: -o: -e: --input: --output: --error:",
        style="posix",
        command=0,
        examples=("stdbuf -oL rm y", "stdbuf --out=L -e 0 rm y"),
    ),
    Program(
        "chrt",
        "runs a command by another scheduler",
        "-a -b -d -e -f -i -m -o -r -R -v -D: -P: -T: --all-tasks --batch --deadline --fifo "
        "--idle --max --other --rr "
        "--reset-on-fork --verbose --sched-deadline: --sched-period: --sched-runtime: --pid",
        style="posix",
        command=1,
        examples=("chrt -o 0 rm y", "chrt --idle 0 rm y"),
    ),
    Program(
        "taskset",
        "runs a command on some of the processors",
        "-a -c --all-tasks --cpu-list",
        quiet="--help --version -p --pid",
        style="posix",
        command=1,
        examples=("taskset 1 rm y", "taskset -c 0 rm y"),
    ),
    Program(
        "prlimit",
        "runs a command with other limits",
        "-o: --output: --noheadings --raw --verbose -v:: -c:: -d:: -e:: -f:: -i:: -l:: -m:: -n:: "
        "-q:: -r:: -s:: -t:: -u:: "
        "-x:: -y:: --as:: --core:: --cpu:: --data:: --fsize:: --memlock:: --nofile:: --nproc:: "
        "--rss:: --stack:: "
        "--locks:: --msgqueue:: --nice:: --rtprio:: --sigpending:: --rttime::",
        quiet="--help --version -p --pid",
        style="posix",
        command=0,
        examples=("prlimit --core=0 rm y", "prlimit -n100 rm y"),
    ),
    Program(
        "setarch, linux32, linux64, i386, i486, i586, i686, x86_64, uname26, ppc, ppc32, ppc64, "
        "arm, armv7l, aarch64, "
        "s390, s390x, sparc, sparc64, mips, mips32, mips64",
        "runs a command as if on another machine",
        _SETARCH,
        style="posix",
        command=0,
        reader=_setarch,
        stdin="line",
        stdin_operands=1,
        examples=(
            "echo rm y | linux64",
            "echo rm y | setarch x86_64",
            "linux64 rm y",
            "setarch x86_64 rm y",
            "setarch -R rm y",
            "linux64 -R -- rm y",
            "x86_64 rm y",
        ),
    ),
    Program(
        "ld.so",
        "loads and runs a program",
        "--list --verify --inhibit-cache --library-path: --glibc-hwcaps-prepend: "
        "--glibc-hwcaps-mask: --inhibit-rpath: "
        "--list-tunables --list-diagnostics --argv0: --preload: --audit:",
        style="posix",
        command=0,
        quiet="--help --version --list --list-tunables --list-diagnostics",
        examples=(
            "/lib64/ld-linux-x86-64.so.2 $(command -v rm) y",
            "/lib64/ld-linux-x86-64.so.2 --argv0 x /usr/bin/env rm y",
        ),
    ),
    Program(
        "busybox, toybox",
        "runs one of its own programs",
        style="posix",
        command=0,
        quiet="--help --list --list-full --install",
        examples=("busybox rm y", "busybox sh -c 'rm y'"),
    ),
    Program(
        "coreutils", "runs one of its own programs", "--coreutils-prog:: --coreutils-prog-shebang::", loose=()
    ),
    Program("faketime", "runs a command at another time", "-m -f -p:", style="posix", command=1),
    Program(
        "start-stop-daemon",
        "starts and ends services",
        "-S -K -T -o -q -v -t -b -C -m -c: -g: -r: -d: -P: -I: -k: -n: -N: -p: -s: -u: -R: -O: "
        "--start --stop --status --test "
        "--oknodo --quiet --background --make-pidfile --remove-pidfile --chuid: --chdir: "
        "--chroot: --pidfile: --signal: "
        "--retry: --user: --name: --umask: --nicelevel: --output: --notify-await --notify-timeout:",
        {"program": "-x: --exec: -a: --startas:"},
        loose=(),
        examples=(
            "start-stop-daemon -S -x $(command -v rm) -- y",
            "start-stop-daemon --start --exec=$(command -v rm) -- y",
            "start-stop-daemon --start x --exec=/bin/rm",
        ),
    ),
    Program("-, noglob, nocorrect", "runs a command of zsh in another way", style="posix", command=0),
    Program("repeat", "runs a command several times", style="posix", command=1),
    Program("chronic", "shows the output of a command only if it fails", "-v -e", style="posix", command=0),
    Program("unbuffer", "runs a command at a terminal", "-p", style="posix", command=0),
    Program("catchsegv", "runs a command and tells where it crashed", style="posix", command=0),
    Program(
        "caffeinate",
        "keeps the machine awake while a command runs",
        "-d -i -m -s -u -t: -w:",
        style="posix",
        command=0,
    ),
    Program(
        "numactl",
        "runs a command on some of the memory",
        "-a -l -i: -N: -C: -m: -p: -P: --all --localalloc --interleave: --cpunodebind: "
        "--physcpubind: --membind: "
        "--preferred: --balancing",
        quiet="--show -s --hardware -H",
        style="posix",
        command=0,
    ),
    Program(
        "rlwrap, xvfb-run, cgexec, chpst, softlimit, "
        "setuidgid, envdir, envuidgid, "
        "proxychains, torsocks, tsocks, daemonize, daemon, s6-setuidgid, gosu, su-exec, tini, "
        "dumb-init, "
        "catatonit, dotenv, env-cmd, cross-env, cross-env-shell, concurrently, npm-run-all, "
        "run-s, run-p, wait-on, "
        "start-server-and-test, zsh-defer, wsl, arch, choom, coresched, uclampset, eatmydata, "
        "bwrap, nsjail, "
        "runcon, sg, pidns, tsp, batch-run, cpulimit, trickle, vglrun, optirun, "
        "primusrun, gamemoderun, ccache, "
        "sccache, distcc, icecc, ionotify, retry, timelimit, systemd-inhibit, systemd-cat, "
        "logsave, cronic, flatpak-spawn",
        "runs a command",
        loose=(),
        examples=("choom -n 0 -- rm y",),
    ),
    Program(
        "fakeroot, newgrp, proot, firejail",
        "runs a command, or a shell",
        loose=(),
        stdin="line",
        stdin_operands=1,
        examples=("echo rm y | newgrp",),
        untried=("fakeroot rm y", "echo rm y | fakeroot"),
    ),
    Program(
        "dbus-run-session",
        "runs a command with a message bus of its own",
        "--config-file:",
        {"program": "--dbus-daemon:"},
        style="posix",
        command=0,
        untried=("dbus-run-session rm y", "dbus-run-session --dbus-daemon=/bin/rm true"),
    ),
    Program(
        "hookline, hookline-relay",
        "runs the hooks that are configured",
        values={"settings": "--config:"},
        reader=_hook_options,
        untried=(
            "hookline fire Stop --hook 'Stop=rm y'",
            "hookline agent hi --hook=Stop='rm y'",
            "echo 'hooks: {Stop: [{hooks: [{command: rm y}]}]}' | hookline fire Stop --config /dev/stdin",
        ),
    ),
)
