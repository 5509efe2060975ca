"""Which programs run other programs, and where in their arguments the command is."""

from collections.abc import Mapping
from types import MappingProxyType

from msgspec import Struct


class Wrapper(Struct, frozen=True):
    """A program that runs the command in its arguments. An option not listed makes every word suspect."""

    #: Short options without and with a value, as letters.
    flags: str = ""
    valued: str = ""
    #: Long options without and with a value, as words.
    long_flags: str = ""
    long_valued: str = ""
    #: How many words there are between the options and the command.
    operands: int = 0
    #: Whether NAME=value may come before the command.
    assigns: bool = False


WRAPPERS: Mapping[str, Wrapper] = MappingProxyType(
    {
        "sudo": Wrapper(
            "AbBEeHhiKklNnPSsVv",
            "CDghpRrTtUu",
            "askpass background preserve-env edit set-home help login remove-timestamp reset-timestamp list "
            "no-update non-interactive preserve-groups stdin shell version validate",
            "close-from chdir group host prompt chroot role command-timeout type other-user user",
            assigns=True,
        ),
        "doas": Wrapper("Lns", "aCu", assigns=True),
        "env": Wrapper(
            "i0v", "uC", "ignore-environment null debug list-signal-handling", "unset chdir", assigns=True
        ),
        "nohup": Wrapper(),
        "setsid": Wrapper("cfw", "", "ctty fork wait"),
        "timeout": Wrapper(
            "vfp", "ks", "preserve-status foreground verbose", "kill-after signal", operands=1
        ),
        "gtimeout": Wrapper(
            "vfp", "ks", "preserve-status foreground verbose", "kill-after signal", operands=1
        ),
        "nice": Wrapper("", "n", "", "adjustment"),
        "renice": Wrapper("", "npgu"),
        "ionice": Wrapper("t", "cnpPu", "ignore", "class classdata"),
        "time": Wrapper("pvaqlh", "fo", "portability verbose append quiet", "format output", assigns=True),
        "!": Wrapper(assigns=True),
        "command": Wrapper("pvV"),
        "builtin": Wrapper(),
        "exec": Wrapper("cl", "a"),
        "stdbuf": Wrapper("", "ioe", "", "input output error"),
        "chroot": Wrapper("", "ugG", "skip-chdir", "userspec groups", operands=1),
        "busybox": Wrapper(),
        "toybox": Wrapper(),
        "chrt": Wrapper("abdefimorRv", "DPT", operands=1),
        "taskset": Wrapper("acp", "", "all-tasks cpu-list pid", operands=1),
        "faketime": Wrapper("mf", "p", operands=1),
        "-": Wrapper(),
        "noglob": Wrapper(),
        "nocorrect": Wrapper(),
        "repeat": Wrapper(operands=1),
        "chronic": Wrapper("ve"),
        "unbuffer": Wrapper("p"),
        "catchsegv": Wrapper(),
        "caffeinate": Wrapper("dimsu", "tw"),
        "xargs": Wrapper(
            "0eilmoprtx",
            "adEIJLnPRsS",
            "null interactive no-run-if-empty verbose exit open-tty show-limits",
            "arg-file delimiter eof replace max-lines max-args max-procs max-chars process-slot-var",
        ),
        "gxargs": Wrapper("0eilmoprtx", "adEIJLnPRsS", "null no-run-if-empty verbose", "max-args max-procs"),
    }
)

_RUN = ("run",)
_EXEC = ("exec",)

#: Programs with too many options to list: after one of these words (or from the start) any word may be the
#: command, and a word with blanks in it may be a line of shell.
LOOSE: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        **dict.fromkeys(
            (
                "ssh", "mosh", "su", "runuser", "script", "flock", "watch", "strace", "ltrace", "valgrind",
                "unshare", "nsenter", "firejail", "bwrap", "systemd-run", "pkexec", "fakeroot", "rlwrap",
                "xvfb-run", "dbus-run-session", "setpriv", "setarch", "linux32", "linux64", "prlimit",
                "numactl", "cgexec", "capsh", "proot", "chpst", "softlimit", "setuidgid", "envdir",
                "proxychains", "proxychains4", "torsocks", "tsocks", "entr", "watchexec", "nodemon",
                "hyperfine", "parallel", "tmux", "screen", "nix-shell", "npx", "bunx", "pnpx", "uvx", "pipx",
                "start-stop-daemon", "daemonize", "perf", "sem", "gdb", "lldb", "rr", "wsl", "dotenv",
                "env-cmd", "cross-env", "concurrently", "arch", "s6-setuidgid", "gosu", "su-exec", "tini",
                "dumb-init", "zsh-defer", "expect", "socat", "nc", "ncat", "bind", "complete", "compgen",
                "mapfile", "readarray", "fc", "coproc", "launchctl", "osascript", "cmd", "pwsh", "powershell",
            ),
            (),
        ),
        "docker": ("run", "exec", "create"), "podman": ("run", "exec", "create"),
        "nerdctl": ("run", "exec"), "docker-compose": ("run", "exec"),
        "kubectl": ("exec", "run", "debug"), "oc": ("exec", "run", "rsh"), "lxc": _EXEC, "multipass": _EXEC,
        "uv": ("run", "x"), "poetry": _RUN, "pipenv": _RUN, "pdm": _RUN, "hatch": _RUN, "rye": _RUN,
        "conda": _RUN, "mamba": _RUN, "micromamba": _RUN, "pixi": _RUN,
        "nix": ("develop", "run", "shell"), "npm": ("exec", "x", "explore"), "pnpm": ("exec", "dlx"),
        "yarn": ("exec", "dlx"), "bundle": _EXEC, "rbenv": _EXEC, "pyenv": _EXEC, "asdf": _EXEC,
        "mise": ("exec", "x"), "direnv": _EXEC, "rustup": _RUN, "cargo": ("watch",), "vagrant": ("ssh",),
        "doppler": _RUN, "op": _RUN, "aws-vault": _EXEC, "heroku": _RUN, "foreman": _RUN, "fly": ("ssh",),
        "fd": ("-x", "-X", "--exec", "--exec-batch"), "fdfind": ("-x", "-X", "--exec", "--exec-batch"),
        "git": (
            "run", "foreach", "filter-branch", "-x", "--exec", "difftool", "mergetool", "for-each-repo",
        ),
        "make": ("--eval",), "gmake": ("--eval",),
    }
)  # fmt: skip

#: Of those, the ones whose first operand (after this word, where there is one) is the program, beyond doubt.
RUNNERS: Mapping[str, str] = MappingProxyType(
    {
        "npx": "", "bunx": "", "pnpx": "", "uvx": "", "uv": "run", "pipx": "run", "poetry": "run",
        "pipenv": "run", "pdm": "run", "rye": "run", "bundle": "exec", "pnpm": "exec",
    }
)  # fmt: skip

SHELLS = frozenset(["sh", "bash", "dash", "zsh", "ksh", "mksh", "ash", "rbash", "fish", "yash", "posh"])
#: Programs that take a line of shell on standard input, besides the shells.
STDIN_SHELLS = frozenset(("at", "batch", "crontab"))
#: Shell options that take a value.
SHELL_VALUED = frozenset(("-o", "+o", "-O", "+O", "--rcfile", "--init-file"))

#: Programs with a language of their own that can start others, and the options whose value is code in it.
#: An empty tuple: every argument can be.
INTERPRETERS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "python": ("-c",), "pypy": ("-c",), "ipython": ("-c",), "perl": ("-e", "-E"), "ruby": ("-e",),
        "node": ("-e", "-p", "--eval", "--print"), "nodejs": ("-e", "-p", "--eval", "--print"),
        "bun": ("-e", "-p", "--eval", "--print"), "deno": (), "php": ("-r", "-B", "-R", "-E"),
        "lua": ("-e",), "luajit": ("-e",), "tclsh": ("-c",), "wish": ("-c",), "rscript": ("-e",), "r": ("-e",),
        "julia": ("-e", "-E"), "groovy": ("-e",), "scala": ("-e",), "elixir": ("-e",), "erl": ("-eval",),
        "ghc": ("-e",), "guile": ("-c",), "emacs": ("--eval", "-eval", "-f"), "emacsclient": ("--eval", "-e"),
        **dict.fromkeys(("awk", "gawk", "mawk", "nawk"), ()),
        **dict.fromkeys(("vim", "vi", "nvim", "ex", "view", "gvim", "vimdiff"), ("-c", "--cmd", "-S")),
        "sqlite": (), "psql": ("-c", "--command"), "mysql": ("-e", "--execute"),
        "mariadb": ("-e", "--execute"), "man": ("-P", "-H", "--pager", "--html"),
        "zip": ("-TT", "--unzip-command"), "rsync": ("-e", "--rsh", "--rsync-path"),
        "scp": ("-o", "-S", "-D"), "sftp": ("-o", "-S", "-D"), "tcpdump": ("-z",), "nmap": ("--script",),
        "tar": ("-I", "-F", "--checkpoint-action", "--to-command", "--use-compress-program", "--rsh-command",
                "--rmt-command", "--info-script", "--new-volume-script"),
        "apt": ("-o",), "apt-get": ("-o",), "sort": ("--compress-program",), "split": ("--filter",),
        "git": ("--exec", "--exec-path", "--config", "--config-env", "--upload-pack", "--receive-pack", "--extcmd"),
        "m4": (), "dc": ("-e",), "gpg": ("--photo-viewer",), "less": ("-k",), "more": ("-p",),
    }
)  # fmt: skip

#: Options of git whose value is code, by the sub-command they follow; elsewhere the same letters are harmless.
GIT_CODE: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {"": ("-c",), "clone": ("-c", "-u"), "rebase": ("-x",), "difftool": ("-x",)}
)

#: Interpreters that read a program from standard input when they are given none.
STDIN_INTERPRETERS = frozenset(
    (
        "python", "pypy", "perl", "ruby", "node", "nodejs", "bun", "php", "lua", "luajit", "tclsh", "r",
        "julia", "expect", "pwsh", "powershell",
    )
)  # fmt: skip
#: With one of these nothing is run.
HARMLESS_FLAGS = frozenset(("--version", "--help", "-V"))
#: With one of these a program of STDIN_SHELLS reads nothing.
LISTING_FLAGS = frozenset(("-l", "-r", "-d", "-c", "-q"))

#: Options with a value that come before the sub-command.
GLOBAL_VALUED: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        "git": frozenset(("-C", "-c", "--git-dir", "--work-tree", "--namespace", "--config-env")),
        "docker": frozenset(("-H", "--host", "-c", "--context", "--config", "-l", "--log-level")),
        "podman": frozenset(("--url", "--connection", "-c", "--root", "--log-level")),
        "kubectl": frozenset(("-n", "--namespace", "--context", "--cluster", "--kubeconfig", "-s", "--user")),
        "helm": frozenset(("-n", "--namespace", "--kube-context", "--kubeconfig")),
        "npm": frozenset(("--prefix", "-C", "-w", "--workspace")),
        "pnpm": frozenset(("-C", "--dir", "-F", "--filter")),
        "yarn": frozenset(("--cwd",)),
        "make": frozenset(("-C", "-f", "--directory", "--file", "-j", "-I", "-o", "-W")),
        "cargo": frozenset(("-C", "-Z", "--config", "--color")),
        "uv": frozenset(("--directory", "--project", "--config-file")),
        "gh": frozenset(("-R", "--repo")),
        "aws": frozenset(("--profile", "--region", "--output", "--endpoint-url")),
        "gcloud": frozenset(("--project", "--account", "--configuration")),
        "terraform": frozenset(()),
        "ssh": frozenset(("-p", "-i", "-l", "-o", "-F", "-J", "-L", "-R", "-D")),
    }
)

#: Builtins that run the substitutions in a word, even in one that was quoted.
SUBSCRIPTING = frozenset(
    (
        "let", "test", "[", "[[", "printf", "read", "unset", "declare", "typeset", "local", "export",
        "readonly", "mapfile", "readarray", "wait", "getopts",
    )
)  # fmt: skip

#: Reserved words: when the grammar takes one for a command, it misparsed the line.
RESERVED = frozenset(
    (
        "{", "}", "[[", "]]", "if", "then", "elif", "else", "fi", "for", "select", "while", "until", "do",
        "done", "case", "esac", "in", "function", "always",
    )
)  # fmt: skip

#: Where a shell finds what is piped into it.
STDIN_FILES = ("/dev/stdin", "/dev/fd/", "/proc/self/fd/", "/proc/thread-self/fd/")
