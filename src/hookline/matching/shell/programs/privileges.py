"""Programs that run a command as somebody else, or in another root, namespace or machine."""

from collections.abc import Iterator

from hookline.matching.shell.found import Found, Inner, Stdin
from hookline.matching.shell.holes import Words
from hookline.matching.shell.kinds import from_stdin
from hookline.matching.shell.options import OptionSpec, read_options
from hookline.matching.shell.programs.row import Program

_SUDO = (
    "-A -b -B -E -H -h -K -k -l -N -n -P -S -v -C: -D: -g: -p: -R: -r: -T: -t: -U: -u: "
    "--askpass --background --bell "
    "--preserve-env:: --set-home --remove-timestamp --reset-timestamp --list --no-update "
    "--non-interactive "
    "--preserve-groups --stdin --validate --close-from: --chdir: --group: --host: --prompt: "
    "--chroot: --role: "
    "--command-timeout: --type: --other-user: --user:"
)
_SU = (
    "-l -m -p -f -P -g: -G: -s: -w: --login --preserve-environment --fast --pty --group: "
    "--supp-group: --shell: "
    "--whitelist-environment:"
)
_NAMESPACES = (
    "-m:: -u:: -i:: -n:: -p:: -U:: -C:: -T:: -f -r -c --mount:: --uts:: --ipc:: --net:: --pid:: "
    "--user:: --cgroup:: --time:: "
    "--fork --map-root-user --map-current-user --map-auto --map-user: --map-group: --map-users: "
    "--map-groups: "
    "--mount-proc:: --kill-child:: --propagation: --setgroups: --keep-caps -S: -G: -R: -w: "
    "--root: --wd: --setuid: --setgid: "
    "--monotonic: --boottime:"
)


def _sudo(rest: Words, stdin: Stdin) -> Iterator[Found]:
    """Without a command, `-s` and `-i` start a shell."""
    read = read_options(rest, OptionSpec(f"{_SUDO} -i -s -e --login --shell --edit", "posix"))
    if not read.operands and read.has("-s", "-i", "--shell", "--login"):
        yield from from_stdin("line", stdin)


def _shell_operands(rest: Words, stdin: Stdin) -> Iterator[Found]:
    """`su user -c LINE args` and `su - user -- -c LINE`: what is left goes to the user's shell."""
    read = read_options(rest, OptionSpec(f"{_SU} -c: --command: --session-command:"))
    after = [word for word in read.operands if word != "-"][1:]
    if after:
        yield Inner(("sh", *after))
    elif not read.has("-c", "--command", "--session-command"):
        yield from from_stdin("line", stdin)


def _capsh(rest: Words, _stdin: Stdin) -> Iterator[Found]:
    """What follows `--` or `==` goes to bash, or to the shell that is named."""
    shells = [word.partition("=")[2] for word in rest if word.startswith("--shell=")]
    for mark in ("--", "=="):
        if mark in rest:
            yield from (Inner((shell, *rest[rest.index(mark) + 1 :])) for shell in shells or ["bash"])


ROWS = (
    Program(
        "sudo",
        "runs a command as another user",
        _SUDO,
        {"beyond": "-i -s -e --login --shell --edit"},
        style="posix",
        quiet="--help --version -V",
        command=0,
        assigns=True,
        reader=_sudo,
        untried=(
            "echo rm y | sudo -s",
            "sudo rm y",
            "sudo -u root -E A=1 rm y",
            "sudo -s rm y",
            "sudo -i rm y",
            "sudo --user=root rm y",
        ),
    ),
    Program(
        "doas",
        "runs a command as another user",
        "-L -n -s -a: -C: -u:",
        style="posix",
        command=0,
        assigns=True,
    ),
    Program(
        "su",
        "runs a shell as another user",
        _SU,
        {"line": "-c: --command: --session-command:"},
        reader=_shell_operands,
        untried=(
            "su -c 'rm y'",
            "su root -c 'rm y'",
            "su - -s /bin/sh --comm='rm y'",
            "su root -- -c 'rm y'",
        ),
    ),
    Program(
        "runuser",
        "runs a command as another user",
        f"{_SU} -u: --user:",
        {"line": "-c: --command: --session-command:"},
        loose=(),
        untried=("runuser -c 'rm y'", "runuser -u root -- rm y", "runuser root -c 'rm y'"),
    ),
    Program(
        "pkexec",
        "runs a command as another user",
        "--user: --disable-internal-agent --keep-cwd -u:",
        style="posix",
        command=0,
    ),
    Program(
        "chroot, gchroot",
        "runs a command in another root directory",
        "-u: -g: -G: --skip-chdir --userspec: --groups:",
        style="posix",
        command=1,
        stdin="line",
        stdin_operands=1,
        examples=("unshare -r chroot / rm y", "echo rm y | unshare -r chroot /"),
    ),
    Program(
        "unshare",
        "runs a command in namespaces of its own",
        _NAMESPACES,
        style="posix",
        command=0,
        stdin="line",
        examples=(
            "unshare -r rm y",
            "unshare -rU --fork rm y",
            "unshare --map-root -- rm y",
            "echo rm y | unshare -r",
        ),
    ),
    Program(
        "nsenter",
        "runs a command in other namespaces",
        f"{_NAMESPACES} -a -t: -F -e -W: -Z --all --target: --no-fork --env --wdns: "
        "--follow-context --preserve-credentials "
        "--user-parent --join-cgroup",
        style="posix",
        command=0,
        stdin="line",
        untried=("unshare -r nsenter -t $$ -U --preserve-credentials rm y",),
    ),
    Program(
        "setpriv",
        "runs a command with other rights",
        "-d --dump --nnp --no-new-privs --ambient-caps: --inh-caps: --bounding-set: --ruid: "
        "--euid: --rgid: --egid: --reuid: "
        "--regid: --clear-groups --keep-groups --init-groups --groups: --securebits: "
        "--pdeathsig: --selinux-label: "
        "--apparmor-profile: --reset-env --list-caps",
        style="posix",
        command=0,
        examples=("setpriv --nnp rm y", "setpriv --no-new rm y"),
    ),
    Program(
        "capsh",
        "shows rights, or runs a shell with other ones",
        reader=_capsh,
        examples=("capsh -- -c 'rm y'", "capsh --print -- -c 'rm y'", "capsh --shell=/bin/rm -- y"),
    ),
    Program("machinectl, machinectl shell", "runs a command in a container", loose=("shell",)),
    Program(
        "schroot, dchroot, pbuilder, mock, arch-chroot, systemd-nspawn, lxc-attach, lxc-execute, fakechroot",
        "runs a command in another root directory",
        loose=(),
        stdin="line",
        stdin_operands=1,
    ),
    Program("run0", "runs a command as another user", loose=(), stdin="line"),
    Program(
        "minijail, minijail0, jailkit, jk_chrootlaunch, sandbox-exec",
        "runs a command with less rights",
        loose=(),
    ),
)
