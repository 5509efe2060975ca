"""Package managers and the tools that run what a package brings."""

from collections.abc import Iterator

from hookline.matching.shell.found import Found, Inner, Stdin
from hookline.matching.shell.holes import Words
from hookline.matching.shell.programs.row import Row

_NODE_SETTINGS = "--node-options: --userconfig: --globalconfig: --editor: --viewer: "
_NPM = (
    "-C: -w: -g -D -S -E -O -P -q -s -y -f --prefix: --workspace: --dir: --filter: -F: --cwd: "
    "--registry: --loglevel: --silent --save-dev"
)

_UV = (
    "-q -v -m: -p: -w: -n -U --with: --with-editable: --with-requirements: --from: --extra: "
    "--all-extras --group: --no-group: "
    "--only-group: --dev --no-dev --frozen --locked --isolated --no-sync --no-project --offline "
    "--no-cache --python: --package: "
    "--env-file: --directory: --project: --module: --index: --index-url: --refresh --upgrade "
    "--exact --active --script -s "
    "--no-progress --color: --no-env-file --all-groups --all-packages --link-mode: --resolution: "
    "--quiet --verbose"
)

_NPM_PROGRAMS = frozenset(("script-shell", "shell", "editor", "git", "viewer", "browser"))


def _npm_setting(rest: Words, _stdin: Stdin) -> Iterator[Found]:
    """`KEY VALUE` and `KEY=VALUE`: programs that every later call starts."""
    words = [word for word in rest if not word.startswith("-")]
    pairs = [word.split("=", 1) for word in words if "=" in word] or [words]
    yield from (Inner((pair[1],)) for pair in pairs if len(pair) > 1 and pair[0] in _NPM_PROGRAMS)


ROWS = (
    Row(
        "uv",
        "works with a project of Python",
        "--directory: --project: --config-file: --color: -q -v --offline",
        style="posix",
        loose=("x",),
    ),
    Row("pipx", "runs programs of packages", style="posix"),
    Row("pipx runpip, pipx environment", "works with packages", always=True),
    Row(
        "poetry, pipenv, pdm, rye, hatch, pixi",
        "works with a project of Python",
        "-C: -P: -p: -e: -q -v -n --directory: --project:",
        style="posix",
    ),
    Row("hatch run, pixi run", "runs a program of the project", loose=()),
    Row("conda, mamba, micromamba", "works with environments", style="posix"),
    Row("conda run, mamba run, micromamba run", "runs a command in an environment", loose=()),
    Row(
        "npm, pnpm, yarn",
        "works with a project of JavaScript, and runs its scripts",
        _NPM,
        {"program": "--script-shell: --shell: --git:", "beyond": _NODE_SETTINGS},
        style="posix",
        examples=(),
    ),
    Row(
        "npm run, npm run-script, npm test, npm start, npm install, npm i, npm ci, pnpm run, "
        "pnpm install, yarn run, yarn install, npm publish, npm ls, npm outdated, npm audit, npm view, "
        "npm config, pnpm config, yarn config",
        "runs scripts of the project",
        f"{_NPM} --if-present --workspaces",
        {"program": "--script-shell: --shell: --git:", "beyond": _NODE_SETTINGS},
        examples=('echo \'{"scripts":{"x":"y"}}\' > package.json; npm run x --script-shell=rm',),
    ),
    Row(
        "corepack, volta, fnm, nvm, n",
        "runs tools of JavaScript",
        style="posix",
        loose=("run", "exec", "npx", "use"),
    ),
    Row("bundle", "works with a project of Ruby", style="posix"),
    Row(
        "rbenv, pyenv, asdf, mise, direnv, nodenv, goenv, jenv, rvm, chruby-exec, sdk, aqua, devbox, "
        "devenv, flox",
        "runs tools in a version",
        style="posix",
        loose=("exec", "x", "do", "run", "shell"),
        examples=(),
    ),
    Row(
        "nix",
        "works with packages of Nix",
        style="posix",
        loose=("develop", "run", "shell", "-c", "--command"),
    ),
    Row(
        "nix-shell, nix-build, guix, nix-env",
        "works with packages of Nix",
        "-p: -A: --pure",
        {"line": "--run: --command:"},
    ),
    Row(
        "pip",
        "installs packages of Python",
        "-q -v -U -r: -e: -c: -i: -t: ",
        {
            "settings": "--python: --global-option: --config-settings:",
            "written": "--log: --log-file: --report:",
        },
    ),
    Row(
        "composer, gem, cabal, opam, luarocks, cpan, cpanm, mix, rebar, lerna, nx, turbo, moon",
        "works with packages",
        style="posix",
        loose=("exec",),
        examples=(),
    ),
    Row(
        "apt, apt-get, apt-cache, aptitude",
        "installs packages of the system",
        "-y -q -s -d -f -m -u -t: -a: -V -b --yes --quiet --no-install-recommends --target-release:",
        {"apt setting": "-o: --option:", "settings": "-c: --config-file:"},
        untried=(
            "apt-get -o APT::Update::Pre-Invoke::='rm y' update",
            "apt-get --opt=APT::Update::Pre-Invoke::='rm y' -o Dir::State=. update",
        ),
    ),
    Row(
        "dpkg, dpkg-deb, rpm",
        "installs packages of the system",
        "-i -r -P -l -L -s -S -c -x -e -b -q -a -f -p: --install --remove --list --listfiles",
        {"line": "--pre-invoke: --post-invoke: --pipe: -E: --eval: --define:", "file": "--admindir: --root:"},
        examples=(),
    ),
    Row(
        "yum, dnf, zypper, pacman, apk, brew, port, snap, flatpak, emerge, xbps-install",
        "installs packages of the system",
        style="posix",
        loose=("sh", "exec", "run", "ruby", "shell"),
        examples=(),
    ),
    Row(
        "snap run, flatpak run",
        "runs a program",
        "",
        {"line": "--shell: --command:"},
        style="posix",
        command=0,
    ),
    Row(
        "debuild, dpkg-buildpackage, rpmbuild, sbuild, makepkg",
        "builds packages",
        "",
        {"line": "--check-command: -r: --sign-command: --eval: -E:"},
    ),
    Row("cargo-binstall, wasm-pack, cargo-nextest, cross", "builds a project of Rust"),
    Row(
        "pre-commit, husky, lint-staged, lefthook",
        "runs the checks of a project",
        "-c: --config:",
        {},
        examples=(),
    ),
    Row(
        "hyperfine",
        "measures commands",
        "-N -i -w: -r: -m: -M: -u: -n: -L: -P: -D: --warmup: --runs: --min-runs: --max-runs: "
        "--export-json: --export-markdown:",
        {"line": "-s: -p: -c: --setup: --prepare: --cleanup: --conclude:", "program": "-S: --shell:"},
        others="line",
        examples=("hyperfine 'rm y'", "hyperfine -N rm", "hyperfine --prepare 'rm y' true"),
    ),
    Row("coverage", "measures what tests run", style="posix"),
    Row(
        "pytest, py.test",
        "runs tests",
        "-q -v -x -s -k: -m: -n: -r: -l --lf --ff --tb: --maxfail: --durations: --cov:: "
        "--cov-report: --junitxml: --rootdir: -W:",
        {
            "settings": "-c: --config-file: --confcutdir:",
            "file": "-p:",
            "written": "--debug::",
            "beyond": "--pastebin: --basetemp:",
        },
        plain="file",
        examples=(),
    ),
    Row(
        "npx, npm exec, npm x",
        "runs the program of a package",
        "-y -q -s -p: -w: --yes --no --no-install --quiet --silent --package: --workspace: "
        "--workspaces --offline "
        "--prefer-offline --prefer-online --ignore-existing --no-audit --no-fund",
        {"line": "-c: --call:", "program": "--script-shell: --shell:", "beyond": _NODE_SETTINGS},
        style="posix",
        command=0,
        runner=True,
        examples=("npx -c 'rm y'", "npx --call='rm y'", "npx --offline -- rm y", "npm exec -c 'rm y'"),
    ),
    Row(
        "bunx, pnpx, pnpm dlx, yarn dlx, yarn exec, npm explore",
        "runs the program of a package",
        "-y -q --bun --silent --package: -p: -s",
        {"line": "-c: --shell-mode"},
        style="posix",
        command=0,
        runner=True,
    ),
    Row(
        "pnpm exec",
        "runs a program of the project",
        "-r -w --recursive --parallel",
        {"beyond": "-c --shell-mode"},
        style="posix",
        command=0,
        runner=True,
    ),
    Row(
        "bundle exec",
        "runs a program of the project",
        "--keep-file-descriptors --gemfile:",
        style="posix",
        command=0,
        runner=True,
    ),
    Row(
        "poetry run, pipenv run, pdm run, rye run",
        "runs a program of the project",
        "-q -v -n -p: --venv: -s --no-venv",
        style="posix",
        command=0,
        runner=True,
    ),
    Row(
        "uv run, uvx, uv tool run, uv x",
        "runs a program of the project or of a package",
        _UV,
        style="posix",
        command=0,
        runner=True,
        stdin="",
    ),
    Row("uv tool", "works with tools of Python", style="posix"),
    Row(
        "uv sync, uv lock, uv add, uv remove, uv pip, uv build, uv venv, uv python, uv export, uv "
        "tree, uv init, uv publish",
        "works with a project of Python",
        "-q -v -U -n --frozen --locked --offline --extra: --group: --dev --no-dev --all-extras",
        {"beyond": "--directory: --project: -p: --python: --config-file: --script:"},
    ),
    Row(
        "pipx run",
        "runs the program of a package",
        "-q -v --spec: --no-cache --python: --pip-args: --index-url:",
        style="posix",
        command=0,
        runner=True,
    ),
    Row(
        "npm config set, npm set, pnpm config set, yarn config set",
        "changes settings of npm",
        always=True,
        reader=_npm_setting,
        examples=("npm config set script-shell /bin/rm; npm exec -c true",),
    ),
    Row(
        "npm help, npm edit",
        "shows a page of the manual",
        _NPM,
        {"program": "--viewer: --editor: --browser:"},
    ),
)
