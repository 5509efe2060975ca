"""Programs that run a command at a terminal, again and again, or later."""

from collections.abc import Iterator

from hookline.matching.shell.found import Found, Inner, Stdin
from hookline.matching.shell.holes import Words
from hookline.matching.shell.kinds import KINDS
from hookline.matching.shell.options import OptionSpec, read_options
from hookline.matching.shell.programs.row import Program

_FLOCK = OptionSpec(
    "-s -x -e -u -n -o -F -w: -E: --shared --exclusive --unlock --nonblock --nb --close "
    "--no-fork --verbose --wait: --timeout: "
    "--conflict-exit-code: -c --command --help --version -h -V",
    "posix",
)


def _flock(rest: Words, _stdin: Stdin) -> Iterator[Found]:
    """`flock FILE -c LINE` and `flock FILE COMMAND`."""
    read = read_options(rest, _FLOCK)
    after = read.operands[1:]
    if after[:1] in {("-c",), ("--command",)}:
        for line in after[1:2]:
            yield from KINDS["line"].found(line)
    elif after:
        yield Inner(after)
    if read.unknown:
        yield from (Inner(rest[at:]) for at, word in enumerate(rest) if not word.startswith("-"))


_SCRIPT = (
    "-a -e -f -q -m: -E: -t:: -o: --append --echo: --flush --force --logging-format: --output-limit: "
    "--quiet --return --timing::"
)

_WATCH = (
    "-b -c -C -d:: -e -g -p -t -w -r -n: -q: --beep --color --no-color --differences:: "
    "--errexit --chgexit --precise --no-title --no-wrap "
    "--no-rerun --interval: --equexit:"
)


def _watch(rest: Words, _stdin: Stdin) -> Iterator[Found]:
    """The operands are a line of shell, with `-x` a command."""
    read = read_options(rest, OptionSpec(f"{_WATCH} -x --exec", "posix"))
    if read.unknown:
        yield from (Inner(rest[at:]) for at, word in enumerate(rest) if not word.startswith("-"))
    if read.operands and read.has("-x", "--exec"):
        yield Inner(read.operands)
    elif read.operands:
        yield from KINDS["line"].found(" ".join(read.operands))


ROWS = (
    Program(
        "script, scriptlive",
        "records what happens at a terminal",
        _SCRIPT,
        {"line": "-c: --command:", "written": "-I: -O: -B: -T: --log-in: --log-out: --log-io: --log-timing:"},
        others="written",
        loose=None,
        stdin="line",
        stdin_operands=1,
        examples=(
            "script -c 'rm y'",
            "script -qc 'rm y' /dev/null",
            "script -q --comm='rm y' /dev/null",
            "script -eqc 'rm y' -O /dev/null",
            "echo 'rm y' | script -q /dev/null",
        ),
    ),
    Program(
        "flock",
        "runs a command while it holds a lock",
        reader=_flock,
        examples=(
            "flock f rm y",
            "flock f -c 'rm y'",
            "flock -n f rm y",
            "flock -w 1 -E3 f --command 'rm y'",
            "flock --nonb f rm y",
        ),
    ),
    Program(
        "watch, gwatch, viddy, hwatch",
        "runs a line again and again",
        _WATCH,
        {"beyond": "-x --exec"},
        style="posix",
        reader=_watch,
        examples=(
            "timeout 1 watch -n9 rm y",
            "timeout 1 watch 'rm y'",
            "timeout 1 watch -x rm y",
            "timeout 1 watch --int=9 -t rm y",
        ),
    ),
    Program(
        "tmux",
        "runs commands at terminals",
        "-2 -C -D -l -N -u -v -L: -S: -T:",
        {"line": "-c:", "file": "-f:"},
        loose=(),
        examples=("tmux new -d 'rm y'; sleep 0.2", "tmux -f <(echo \"run 'rm y'\") new -d; sleep 0.3"),
    ),
    Program(
        "screen, dtach, abduco, zellij, byobu, tmate, dvtm, mprocs, overmind, pm2, supervisorctl",
        "runs commands at terminals",
        loose=(),
        examples=("screen -dm rm y; sleep 0.2",),
    ),
    Program(
        "xterm, gnome-terminal, konsole, alacritty, kitty, foot, urxvt, rxvt, st, wezterm, "
        "terminator, xfce4-terminal, lxterminal, cool-retro-term",
        "opens a terminal",
        "",
        loose=("-e", "-x", "--", "start", "--command", "--execute"),
        examples=(),
    ),
    Program(
        "at",
        "runs a line later",
        "-m -M -v -V -b -q: -f: -t:",
        {"file": "-f:"},
        quiet="-l -r -d -c -V --help --version",
        stdin="line",
        stdin_operands=9,
        examples=("echo 'rm y' | at now",),
    ),
    Program("batch", "runs a line later", stdin="line", stdin_operands=9, examples=()),
    Program(
        "crontab",
        "sets what runs at which time",
        "-u: -i -s -n -T",
        {"beyond": "-e"},
        quiet="-l -r -V --help --version",
        stdin="code",
        first="file",
        examples=(),
    ),
    Program(
        "anacron, fcrontab, run-parts, systemd-timer",
        "runs commands at their time",
        "-a: -u: --regex: --arg: --umask:",
        loose=None,
        first="settings",
        examples=(),
    ),
    Program(
        "xdg-open, open, start, gio, kde-open, exo-open, sensible-browser, www-browser",
        "opens a file by its program",
        "-a: -b: -e -t -W -n -g",
        {"beyond": "--args:"},
        examples=(),
    ),
    Program("xdotool, wmctrl, ydotool", "presses keys", style="posix", loose=("exec", "type"), examples=()),
    Program("dialog, zenity, whiptail", "asks at a terminal"),
    Program(
        "asciinema, ttyrec, termtosvg, vhs",
        "records what happens at a terminal",
        "-t: -i: -q -y",
        {"line": "-c: --command: -e: -g:"},
        style="gnu",
        examples=(),
    ),
    Program(
        "ttyd, gotty, shellinabox, websocketd, inetd, xinetd, tcpserver, tcpsvd, udpsvd, ucspi-tcp",
        "offers a command to others",
        loose=(),
        examples=(),
    ),
    Program("fuser, killall, pkill, pgrep, lsof", "looks for processes"),
    Program("dbus-send, gdbus, busctl", "sends messages to services"),
    Program("logger, wall, notify-send", "tells a message"),
    Program(
        "qemu-user, qemu-x86_64, qemu-aarch64, qemu-arm, qemu-i386, box64, wine, wine64, mono, darling",
        "runs a program of another machine",
        loose=(),
    ),
    Program("initctl, service, sv, svc, runsv, rc-service", "works with services"),
)
