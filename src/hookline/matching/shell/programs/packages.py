"""Package managers and the tools that run what a package brings."""

from hookline.matching.shell.programs.row import Row

_NODE_SETTINGS = "--node-options: --userconfig: --globalconfig: --editor: --viewer: --prefix-never:"
_NPM = "-C: -w: -g -D -S -E -O -P -q -s -y -f --prefix: --workspace: --dir: --filter: -F: --cwd: "
"--registry: --loglevel: --silent --save-dev"

ROWS = (
    Row(
        "npx, bunx, pnpx, uvx",
        "runs the program of a package",
        loose=(),
        runner=True,
        quiet="--version --help",
        examples=("npx -c 'rm y'", "npx --call='rm y'", "npx --offline -- rm y"),
    ),
    Row(
        "uv",
        "works with a project of Python",
        "--directory: --project: --config-file: --color: -q -v --offline",
        style="posix",
        loose=("x",),
    ),
    Row("uv run", "runs a program of the project", loose=(), runner=True, stdin="python", examples=()),
    Row("uv tool", "works with tools of Python", loose=("run",)),
    Row("pipx", "runs programs of packages", style="posix"),
    Row("pipx run", "runs the program of a package", loose=(), runner=True),
    Row("pipx runpip, pipx environment", "works with packages", always=True),
    Row(
        "poetry, pipenv, pdm, rye, hatch, pixi",
        "works with a project of Python",
        "-C: -P: -p: -e: -q -v -n --directory: --project:",
        style="posix",
    ),
    Row("poetry run, pipenv run, pdm run, rye run", "runs a program of the project", loose=(), runner=True),
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
        "npm exec, npm x, npm explore, pnpm dlx, yarn exec, yarn dlx",
        "runs the program of a package",
        loose=(),
        examples=("npm exec -c 'rm y'", "npm exec --offline -- rm y"),
    ),
    Row("pnpm exec", "runs a program of the project", loose=(), runner=True),
    Row(
        "npm run, npm run-script, npm test, npm start, npm install, npm i, npm ci, pnpm run, "
        "pnpm install, yarn run, yarn install, npm publish, "
        "npm config, npm set, pnpm config, yarn config",
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
    Row("bundle exec", "runs a program of the project", loose=(), runner=True),
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
        "-q -v -U -r: -e: -c: -i: -t: --python-never:",
        {"settings": "--python: --global-option: --config-settings:"},
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
        {"settings": "-c: --config-file: --confcutdir:", "file": "-p:"},
        plain="file",
        examples=(),
    ),
)
