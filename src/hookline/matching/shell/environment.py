"""Environment variables that are code, those that cannot be, and those that by convention hold a program.

And programs that by convention print such settings.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from types import MappingProxyType

from hookline.matching.shell.found import Doubt, Found, Inner
from hookline.matching.shell.holes import HOLE
from hookline.matching.shell.kinds import KINDS

#: By the kind of their value, the variables that some program runs, loads or takes options from. `*` is any text.
#: More settings than this are not judged.
_MOST_SETTINGS = 100
_VARIABLES: Mapping[str, str] = MappingProxyType(
    {
        # Shells replace variables and substitutions in these, then read the file or print the text.
        "expanded": "BASH_ENV ENV PS0 PS1 PS2 PS4 PROMPT RPROMPT",
        "completed line": "GIT_SSH_COMMAND GIT_PROXY_COMMAND GIT_EXTERNAL_DIFF",
        "completed program": "GIT_SSH",
        "line": "PROMPT_COMMAND BASH_FUNC_* LESSCLOSE LESSEDIT RSYNC_CONNECT_PROG MANROFFOPT CONFIG_SHELL",
        "piped line": "LESSOPEN",
        "usual line": "GIT_EDITOR GIT_SEQUENCE_EDITOR GIT_PAGER PAGER MANPAGER EDITOR VISUAL SUDO_EDITOR "
        "FCEDIT HGEDITOR "
        "SVN_EDITOR CVSEDITOR SYSTEMD_EDITOR SYSTEMD_PAGER PSQL_PAGER PSQL_EDITOR AWS_PAGER "
        "GH_PAGER GH_EDITOR "
        "GH_BROWSER GLAB_PAGER BAT_PAGER DELTA_PAGER KUBE_EDITOR KUBECTL_EXTERNAL_DIFF BROWSER "
        "MERGE_TOOL DIFFPROG "
        "MYSQL_PAGER FZF_DEFAULT_COMMAND FZF_CTRL_T_COMMAND WATCH_COMMAND HOMEBREW_EDITOR "
        "BUNDLER_EDITOR TEXEDIT",
        "usual words": "CC CXX CPP LD AR AS FC RANLIB STRIP RUSTC RUSTC_WRAPPER RUSTC_WORKSPACE_WRAPPER "
        "RUSTDOC "
        "CMAKE_C_COMPILER_LAUNCHER CMAKE_CXX_COMPILER_LAUNCHER CARGO_TARGET_*_RUNNER "
        "CARGO_TARGET_*_LINKER",
        "remote shell": "RSYNC_RSH CVS_RSH SVN_SSH",
        "program": "SHELL GIT_ASKPASS SSH_ASKPASS SUDO_ASKPASS TAPE_RSH XDG_OPEN "
        "npm_config_script_shell "
        "NPM_CONFIG_SCRIPT_SHELL npm_config_git npm_config_shell npm_config_editor GOROOT_EXEC "
        "PSQL_SHELL PYTHONEXECUTABLE",
        "file": "PYTHONSTARTUP LD_PRELOAD LD_AUDIT DYLD_INSERT_LIBRARIES GCONV_PATH MAKEFILES PSQLRC "
        "INPUTRC SCREENRC "
        "R_PROFILE R_PROFILE_USER",
        # Directories and files that programs load code or settings from.
        "settings": "PATH LD_LIBRARY_PATH DYLD_LIBRARY_PATH PYTHONPATH PYTHONHOME PERL5LIB PERLLIB RUBYLIB "
        "NODE_PATH "
        "LUA_PATH LUA_CPATH CLASSPATH GIT_EXEC_PATH GIT_TEMPLATE_DIR GIT_CONFIG "
        "GIT_CONFIG_GLOBAL GIT_CONFIG_SYSTEM GIT_DIR "
        "GIT_WORK_TREE HOME XDG_CONFIG_HOME XDG_CONFIG_DIRS XDG_DATA_HOME XDG_DATA_DIRS ZDOTDIR "
        "FPATH MANPATH AWKPATH "
        "AWKLIBPATH COMPILER_PATH GCC_EXEC_PREFIX APT_CONFIG NPM_CONFIG_USERCONFIG "
        "npm_config_userconfig PHPRC "
        "PHP_INI_SCAN_DIR JAVA_HOME GOROOT GOPATH GOENV CARGO_HOME RUSTUP_HOME CONDA_PREFIX "
        "VIRTUAL_ENV KUBECONFIG "
        "DOCKER_CONFIG DOCKER_HOST AWS_CONFIG_FILE OPENSSL_CONF SSH_AUTH_SOCK TERMINFO "
        "TCLLIBPATH EMACSLOADPATH VIM "
        "VIMRUNTIME MYVIMRC WGETRC CURL_HOME NETRC RIPGREP_CONFIG_PATH PYTEST_PLUGINS "
        "PYTEST_ADDOPTS IFS CDPATH GLOBIGNORE "
        "SHELLOPTS BASHOPTS POSIXLY_CORRECT PYTHONBREAKPOINT PYTHONWARNINGS TMPDIR "
        "HISTFILE "
        "BASH_XTRACEFD BASH_LOADABLES_PATH GIT_TRACE GIT_TRACE_* GIT_INDEX_FILE GIT_OBJECT_DIRECTORY",
        "more input": "PYTHONINSPECT",
        "perl": "PERL5DB",
        "lua": "LUA_INIT LUA_INIT_*",
        "vim": "VIMINIT EXINIT GVIMINIT",
        "git value": "GIT_CONFIG_VALUE_*",
        "git settings": "GIT_CONFIG_PARAMETERS",
        "java option": "JAVA_TOOL_OPTIONS _JAVA_OPTIONS JDK_JAVA_OPTIONS JAVA_OPTS MAVEN_OPTS GRADLE_OPTS "
        "SBT_OPTS",
        "tar options": "TAR_OPTIONS",
        "make options": "MAKEFLAGS GNUMAKEFLAGS MFLAGS",
        "perl options": "PERL5OPT",
        "node options": "NODE_OPTIONS npm_config_node_options NPM_CONFIG_NODE_OPTIONS",
        "ruby options": "RUBYOPT",
        "go options": "GOFLAGS",
        "less options": "LESS",
        "code": "ERL_FLAGS ERL_AFLAGS ERL_ZFLAGS ELIXIR_ERL_OPTIONS RUSTFLAGS CGO_CFLAGS CGO_LDFLAGS",
    }
)

#: They cannot run or load anything: with one of these a permission for the command still counts.
HARMLESS = frozenset(
    (
        "CI", "GH_PROMPT_DISABLED", "NODE_ENV",
        "LANG", "LANGUAGE", "LC_ALL", "LC_CTYPE", "LC_COLLATE", "LC_MESSAGES", "LC_NUMERIC",
        "LC_TIME", "LC_MONETARY", "TZ", "FORCE_COLOR", "NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE",
        "COLORTERM", "COLUMNS",
        "LINES", "TERM", "DEBUG", "VERBOSE", "QUIET", "LOG_LEVEL", "LOGLEVEL", "PYTHONUNBUFFERED",
        "PYTHONDONTWRITEBYTECODE", "PYTHONHASHSEED", "PYTHONIOENCODING", "PYTHONUTF8", "PYTHONFAULTHANDLER",
        "PYTHONDEVMODE", "PYTHONOPTIMIZE", "PYTHONNOUSERSITE", "PYTHONSAFEPATH", "RUST_BACKTRACE", "RUST_LOG",
        "RUST_TEST_THREADS", "CARGO_TERM_COLOR", "CARGO_INCREMENTAL", "CARGO_NET_OFFLINE", "CARGO_BUILD_JOBS",
        "CGO_ENABLED", "GOOS", "GOARCH", "GOARM", "GOMAXPROCS", "GO111MODULE", "GOTRACEBACK", "DEBIAN_FRONTEND",
        "GIT_TERMINAL_PROMPT", "GIT_OPTIONAL_LOCKS", "GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_AUTHOR_DATE",
        "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL", "GIT_COMMITTER_DATE",
        "GIT_MERGE_AUTOEDIT", "GIT_LFS_SKIP_SMUDGE",
        "HUSKY", "HUSKY_SKIP_HOOKS", "PRE_COMMIT_COLOR", "SKIP", "PORT", "NODE_NO_WARNINGS", "NODE_DISABLE_COLORS",
        "BABEL_ENV", "RAILS_ENV", "RACK_ENV", "APP_ENV", "ENVIRONMENT", "DJANGO_DEBUG", "FLASK_DEBUG", "FLASK_ENV",
        "MIX_ENV", "ASPNETCORE_ENVIRONMENT", "DOTNET_CLI_TELEMETRY_OPTOUT", "DOTNET_NOLOGO", "TESTING", "COVERAGE",
        "PIP_NO_CACHE_DIR", "PIP_DISABLE_PIP_VERSION_CHECK", "PIP_NO_INPUT", "UV_NO_PROGRESS",
        "UV_OFFLINE", "UV_FROZEN",
        "HATCH_VERBOSE", "POETRY_NO_INTERACTION", "NPM_CONFIG_LOGLEVEL", "NPM_CONFIG_FUND", "NPM_CONFIG_AUDIT",
        "DISABLE_ESLINT_PLUGIN", "GENERATE_SOURCEMAP", "NEXT_TELEMETRY_DISABLED", "TURBO_TELEMETRY_DISABLED",
        "DO_NOT_TRACK", "HOMEBREW_NO_AUTO_UPDATE", "HOMEBREW_NO_ANALYTICS", "AWS_REGION", "AWS_DEFAULT_REGION",
        "AWS_PROFILE", "SOURCE_DATE_EPOCH", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "CUDA_VISIBLE_DEVICES", "JOBS",
        "CMAKE_BUILD_PARALLEL_LEVEL", "MAKELEVEL", "BLOCKSIZE", "BLOCK_SIZE", "TIME_STYLE",
        "QUOTING_STYLE", "GREP_COLOR",
        "GREP_COLORS", "TERM_PROGRAM", "TIMEFORMAT", "DJANGO_ALLOW_ASYNC_UNSAFE", "DOCKER_BUILDKIT",
        "COMPOSE_DOCKER_CLI_BUILD", "BUILDKIT_PROGRESS", "TF_IN_AUTOMATION", "TF_INPUT",
        "TF_LOG", "PYTEST_DISABLE_PLUGIN_AUTOLOAD",
        "PGHOST", "PGPORT", "PGUSER", "PGDATABASE", "REDIS_URL", "DATABASE_URL",
    )
)  # fmt: skip

#: Variables that hold a program by convention, and which: `$PYTHON -m pytest` is not taken for `rm`.
CONVENTION: Mapping[str, str] = MappingProxyType(
    {
        "PYTHON": "python", "PYTHON3": "python", "PY": "python", "PYTHON_BIN": "python",
        "PIP": "pip", "PYTEST": "pytest",
        "UV": "uv", "POETRY": "poetry", "RUFF": "ruff", "MYPY": "mypy", "VIRTUALENV": "virtualenv", "NODE": "node",
        "NPM": "npm", "NPX": "npx", "YARN": "yarn", "PNPM": "pnpm", "BUN": "bun", "DENO": "deno", "TSC": "tsc",
        "ESLINT": "eslint", "JEST": "jest", "RUBY": "ruby", "BUNDLE": "bundle", "RAKE": "rake",
        "PERL": "perl", "PHP": "php",
        "COMPOSER": "composer", "LUA": "lua", "GO": "go", "GOFMT": "gofmt", "CARGO": "cargo", "RUSTC": "rustc",
        "CC": "cc", "CXX": "c++", "CPP": "cpp", "LD": "ld", "AR": "ar", "AS": "as", "NM": "nm", "RANLIB": "ranlib",
        "STRIP": "strip", "OBJCOPY": "objcopy", "OBJDUMP": "objdump", "PKG_CONFIG": "pkg-config", "CMAKE": "cmake",
        "NINJA": "ninja", "MAKE": "make", "GMAKE": "make", "MESON": "meson", "BAZEL": "bazel", "JAVA": "java",
        "JAVAC": "javac", "MVN": "mvn", "GRADLE": "gradle", "DOTNET": "dotnet", "EDITOR": "vi", "VISUAL": "vi",
        "PAGER": "less", "BROWSER": "xdg-open", "SHELL": "sh", "BASH": "bash", "SUDO": "sudo",
        "GIT": "git", "GH": "gh",
        "DOCKER": "docker", "PODMAN": "podman", "DOCKER_COMPOSE": "docker-compose", "COMPOSE": "docker-compose",
        "KUBECTL": "kubectl", "HELM": "helm", "TERRAFORM": "terraform", "AWS": "aws",
        "GCLOUD": "gcloud", "SED": "sed",
        "AWK": "awk", "GREP": "grep", "EGREP": "grep", "TAR": "tar", "FIND": "find", "JQ": "jq", "MKDIR_P": "mkdir",
        "INSTALL": "install", "LN_S": "ln", "PSQL": "psql", "GDB": "gdb",
        "VALGRIND": "valgrind", "CLANG_FORMAT": "clang-format",
        "SHELLCHECK": "shellcheck", "PROTOC": "protoc", "SPHINXBUILD": "sphinx-build", "SPHINX_BUILD": "sphinx-build",
    }
)  # fmt: skip

#: Programs that by convention print settings for a shell to evaluate, each with the words that make it do so. What they
#: print is as well known as what the programs themselves do. No row: what prints a file of somebody's (`cat`, `curl`).
_PRINT_SETTINGS: Mapping[str, str] = MappingProxyType(
    {
        # Agents that print where they listen.
        "ssh-agent": r"(?:-[cs]|-[atE] \S+)?(?: -t \S+)?",
        "gpg-agent": r"--daemon.*",
        "keychain": r"(?=.*--eval).*",
        # Managers of versions and environments, which print functions and paths.
        "pyenv, rbenv, nodenv, goenv, jenv, plenv, phpenv, tfenv": r"(?:init|virtualenv-init)(?: .*)?",
        "fnm": r"env(?: .*)?",
        "mise, rtx": r"(?:activate|env|hook-env)(?: .*)?",
        "direnv": r"(?:hook|export) \w+",
        "conda, mamba, micromamba": r"shell(?:\.\w+)? hook(?: .*)?|shell\.\w+ hook",
        "opam": r"env(?: .*)?",
        "luarocks": r"path(?: .*)?",
        "brew": r"shellenv(?: \w+)?",
        "guix, nix": r"print-dev-env(?: .*)?|package --search-paths.*",
        # Machines and clusters, which print where they are reached.
        "minikube": r"(?:-p \S+ )?(?:docker|podman)-env(?: .*)?",
        "docker-machine": r"env(?: .*)?",
        "eksctl, kind, k3d, crc": r"(?:completion|podman-env|oc-env)(?: .*)?",
        # Prompts and terminals.
        "starship, zoxide, atuin, oh-my-posh, navi, mcfly, sheldon, thefuck": r"(?:init|source|--alias)(?: .*)?",
        "dircolors": r"(?:-b|-c|--sh)?(?: \S+)?",
        "resize, lesspipe, lesspipe.sh, tset": r".*",
        "fzf": r"--(?:bash|zsh)",
        # Completions, which are functions of the program itself.
        "kubectl, helm, minikube, docker, podman, oc, kind, k3d, eksctl, argocd, flux, istioctl, gh, glab, "
        "hugo, cosign, "
        "npm, pip, poetry, rustup, deno, golangci-lint, goreleaser, cilium, velero, stern, kustomize, task, "
        "fd, rg, bat, "
        "uv, ruff, just, pnpm, yarn, ng, doctl, gcloud, op":
        r"(?:completions?|generate-shell-completion|--completions?)(?: .*)?",
        "register-python-argcomplete": r"[\w.-]+",
    }
)  # fmt: skip


@cache
def _settings() -> Mapping[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for names, words in _PRINT_SETTINGS.items():
        for name in names.split(", "):
            found[name] = (*found.get(name, ()), words)
    return found


def prints_settings(words: Sequence[str]) -> bool:
    """Whether a command by convention prints settings for a shell: `ssh-agent -s`, `kubectl completion bash`."""
    directory, slash, name = words[0].rpartition("/")
    if slash and not f"{directory}/".startswith(("/opt/", "/usr/", "/home/linuxbrew/")):
        return False
    rest = " ".join(words[1:])
    return any(re.fullmatch(one, rest) for one in _settings().get(name, ()))


@cache
def _exact() -> Mapping[str, str]:
    return {name: kind for kind, names in _VARIABLES.items() for name in names.split() if "*" not in name}


@cache
def _patterns() -> tuple[tuple[str, str], ...]:
    return tuple(
        (name.replace("*", ".*"), kind)
        for kind, names in _VARIABLES.items()
        for name in names.split()
        if "*" in name
    )


@lru_cache(maxsize=256)
def kind_of_variable(name: str) -> str | None:
    """What the value of a variable is, if some program runs or loads it."""
    known = _exact().get(name)
    if known is not None:
        return known
    return next((kind for pattern, kind in _patterns() if re.fullmatch(pattern, name)), None)


def look_at_variable(name: str, value: str) -> Iterator[Found]:
    """What may run because a variable of this name has this value."""
    kind = kind_of_variable(name)
    if kind is None:
        return
    if kind == "expanded":
        yield from KINDS["expanded"].found(value)
        if name in {"BASH_ENV", "ENV"} and value:
            # A shell reads the file before anything else.
            yield Inner((value,))
            yield from KINDS["file"].found(value)
    elif kind == "piped line":
        # `|line %s`, `||-line %s`; without the bar it is run just as well.
        yield from KINDS["usual line"].found(value.lstrip("|-").replace("%s", HOLE))
    elif kind == "git settings":
        for at, setting in enumerate(re.finditer(r"'((?:[^']|'\\'')*)'", value.replace("'='", "="))):
            if at == _MOST_SETTINGS:
                yield Doubt("it sets too much in git to judge it all")
                return
            yield from KINDS["git setting"].found(setting[1])
    else:
        yield from KINDS[kind].found(value)
