"""Package managers and the tools that run what a package brings."""

from collections.abc import Iterator

from hookline.matching.shell.found import Found, Inner, Stdin
from hookline.matching.shell.holes import Words
from hookline.matching.shell.programs.row import Program

_NPM = (
    "-a -d -f -g -l -n -p -q -s -v -y -S -B -D -E -O -P -H -h -r -L: -m: -w: -F: -c: --_auth: --access: "
    "--allow-directory: --allow-file: --allow-git: --allow-remote: --allow-scripts: --also: --audit-level: "
    "--auth-type: --before: --ca: --cache-max: --cache-min: --cafile: --call: --cert: --cidr: --cpu: --depth: "
    "--diff: --diff-dst-prefix: --diff-src-prefix: --diff-unified: --expect-result-count: --expires: "
    "--fetch-retries: --fetch-retry-factor: --fetch-retry-maxtimeout: --fetch-retry-mintimeout: "
    "--fetch-timeout: --heading: --https-proxy: --include: --init-author-email: --init-author-name: "
    "--init-author-url: --init-license: --init-type: --init-version: --init.author.email: --init.author.name: "
    "--init.author.url: --init.license: --init.version: --install-strategy: --key: --libc: --local-address: "
    "--lockfile-version: --loglevel: --logs-max: --name: --maxsockets: --message: --min-release-age: "
    "--min-release-age-exclude: --noproxy: --omit: --only: --orgs: --os: --otp: --package: --packages: "
    "--preid: --provenance-file: --proxy: --save-prefix: --sbom-format: --sbom-type: --scope: --scopes: "
    "--packages-and-scopes-permission: --orgs-permission: --password: --token-description: --searchexclude: "
    "--searchlimit: --searchopts: --searchstaleness: --tag: --tag-version-prefix: --umask: --user-agent: "
    "--which: --workspace: --location: --filter: --color: --all --allow-same-version --audit --bin-links "
    "--commit-hooks --description --dev --diff-ignore-all-space --diff-name-only --diff-no-prefix --diff-text "
    "--dry-run --engine-strict --expect-results --force --foreground-scripts --format-package-lock --fund "
    "--git-tag-version --global --global-style --if-present --ignore-scripts --include-staged "
    "--include-workspace-root --include-attestations --init-private --install-links --json --legacy-bundling "
    "--legacy-peer-deps --link --long --offline --omit-lockfile-registry-resolved --optional --package-lock "
    "--package-lock-only --parseable --prefer-dedupe --prefer-offline --prefer-online --production --progress "
    "--provenance --read-only --rebuild-bundle --save --save-bundle --save-dev --save-exact --save-optional "
    "--save-peer --save-prod --shrinkwrap --sign-git-commit --sign-git-tag --strict-peer-deps --strict-ssl "
    "--timing --unicode --update-notifier --usage --versions --workspaces --workspaces-update --yes --no "
    "--quiet --silent --verbose --desc --local --porcelain --readonly --iwr --ws --recursive --frozen-lockfile "
    "--parallel --stream --no-audit --no-fund --no-save --no-bin-links --no-optional --no-package-lock "
    "--no-progress --no-update-notifier --no-color --no-git-tag-version "
)
#: Settings that every sub-command of npm takes, of programs that it starts and places that it works in.
_NPM_VALUES = {
    "program": "--script-shell: --shell: --git: --browser: --editor: --viewer:",
    "beyond": "--node-options: --userconfig: --globalconfig: --node-gyp: --init-module: --init.module: "
    "--registry: --reg: "
    "--replace-registry-host:",
    "place": "-C: --prefix: --dir: --cwd:",
    "output": "--pack-destination: --cache: --logs-dir:",
}


def _npm_ordered(rest: Words) -> Words:
    """Its long options take one dash or more; `@scope:registry=URL` is an option as well."""
    ordered: list[str] = []
    for word in rest:
        if word == "--":
            break
        ordered.append(word)
        bare = word.lstrip("-")
        if word[:1] == "-" and len(bare) > 1 and not word.startswith("--" + bare[:1]):
            ordered.append(f"--{bare}")
        elif word.startswith("--@") or ":registry" in word:
            ordered.append("--registry=")
    return (*ordered, *rest[len([*_until_dashes(rest)]) :])


def _until_dashes(rest: Words) -> Iterator[str]:
    for word in rest:
        if word == "--":
            return
        yield word


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


_PIP = (
    "-q -v -V --quiet --verbose --debug --isolated --require-virtualenv --no-input --keyring-provider: "
    "--proxy: --retries: "
    "--timeout: --exists-action: --cert: --client-cert: --no-cache-dir --disable-pip-version-check --no-color "
    "--no-python-version-warning --use-feature: --use-deprecated: --platform: --python-version: "
    "--implementation: --abi: "
    "--format: --outdated --upgrade-strategy: --no-binary: --only-binary: --progress-bar: --root-user-action:"
)
#: Options of pip that change what it runs, where packages come from, or where it writes.
_PIP_VALUES = {
    "settings": "--python: --global-option: --config-settings: -C: --build-option: --install-option:",
    "program": "--editor:",
    "written": "--log: --log-file: --report:",
    "file": "-r: --requirement: -c: --constraint: -e: --editable:",
    "beyond": "-i: --index-url: --pypi-url: --extra-index-url: -f: --find-links: --trusted-host:",
    "output": "-t: --target: --prefix: --root: --src: -d: --dest: -w: --wheel-dir: --cache-dir: -b: "
    "--build: -o: --output:",
}

ROWS = (
    Program(
        "uv",
        "works with a project of Python",
        "--color: -q -v -n --quiet --verbose --offline --no-progress --no-cache --no-config --native-tls "
        "--no-python-downloads",
        {"beyond": "--directory: --project: --config-file: --cache-dir: --allow-insecure-host:"},
        style="posix",
        loose=("x",),
        here=True,
    ),
    Program("pipx", "runs programs of packages", style="posix"),
    Program("pipx runpip, pipx environment", "works with packages", always=True),
    Program(
        "poetry, pipenv, pdm, rye, hatch, pixi",
        "works with a project of Python",
        "-C: -P: -p: -e: -q -v -n --directory: --project:",
        style="posix",
    ),
    Program("hatch run, pixi run", "runs a program of the project", loose=()),
    Program("conda, mamba, micromamba", "works with environments", style="posix"),
    Program("conda run, mamba run, micromamba run", "runs a command in an environment", loose=()),
    Program(
        "npm, pnpm, yarn",
        "works with a project of JavaScript, and runs its scripts",
        _NPM,
        _NPM_VALUES,
        style="posix",
        ordered=_npm_ordered,
        here=True,
        quiet="--version --usage -v",
        examples=(),
    ),
    Program(
        "npm *, pnpm *, yarn *",
        "runs scripts of the project, and shows its packages",
        _NPM,
        _NPM_VALUES,
        ordered=_npm_ordered,
        examples=(
            'echo \'{"scripts":{"x":"y"}}\' > package.json; npm run x --script-shell=rm',
            'echo \'{"scripts":{"x":"y"}}\' > package.json; npm run x -script-shell=rm',
        ),
    ),
    Program(
        "npm init, npm create, npm innit, npm ini, npm inn, npm inni, npm cre, npm crea, npm creat, pnpm create, "
        "yarn create, bun create",
        "makes a project; with a name it runs the program of a package",
        _NPM,
        _NPM_VALUES,
        ordered=_npm_ordered,
        others="beyond",
    ),
    Program(
        "npm config, pnpm config, yarn config, npm conf, npm confi, npm c",
        "shows settings of npm",
        _NPM,
        style="posix",
    ),
    Program(
        "npm config edit, npm config fix, npm config delete, npm config rm",
        "changes settings of npm",
        always=True,
    ),
    Program(
        "corepack, volta, fnm, nvm, n",
        "runs tools of JavaScript",
        style="posix",
        loose=("run", "exec", "npx", "use"),
    ),
    Program("bundle", "works with a project of Ruby", style="posix"),
    Program(
        "rbenv, pyenv, asdf, mise, direnv, nodenv, goenv, jenv, rvm, chruby-exec, sdk, aqua, devbox, "
        "devenv, flox",
        "runs tools in a version",
        style="posix",
        loose=("exec", "x", "do", "run", "shell"),
        examples=(),
    ),
    Program(
        "nix",
        "works with packages of Nix",
        style="posix",
        loose=("develop", "run", "shell", "-c", "--command"),
    ),
    Program(
        "nix-shell, nix-build, guix, nix-env",
        "works with packages of Nix",
        "-p: -A: --pure",
        {"line": "--run: --command:"},
    ),
    Program("pip", "installs packages of Python", _PIP, _PIP_VALUES, style="posix"),
    Program(
        "pip *",
        "installs packages of Python",
        f"{_PIP} -U -I --pre --user --upgrade",
        _PIP_VALUES,
        near="file",
    ),
    Program("pip config", "shows settings of pip", f"{_PIP} --global --user --site", style="posix"),
    Program("pip config set, pip config edit, pip config unset", "changes settings of pip", always=True),
    Program(
        "composer, gem, cabal, opam, luarocks, cpan, cpanm, mix, rebar, lerna, nx, turbo, moon",
        "works with packages",
        style="posix",
        loose=("exec",),
        examples=(),
    ),
    Program(
        "apt, apt-get, apt-cache, aptitude",
        "installs packages of the system",
        "-y -q -s -d -f -m -u -t: -a: -V -b --yes --quiet --no-install-recommends --target-release:",
        {"apt setting": "-o: --option:", "settings": "-c: --config-file:"},
        untried=(
            "apt-get -o APT::Update::Pre-Invoke::='rm y' update",
            "apt-get --opt=APT::Update::Pre-Invoke::='rm y' -o Dir::State=. update",
        ),
    ),
    Program(
        "dpkg, dpkg-deb, rpm",
        "installs packages of the system",
        "-i -r -P -l -L -s -S -c -x -e -b -q -a -f -p: --install --remove --list --listfiles",
        {"line": "--pre-invoke: --post-invoke: --pipe: -E: --eval: --define:", "file": "--admindir: --root:"},
        examples=(),
    ),
    Program(
        "yum, dnf, zypper, pacman, apk, brew, port, snap, flatpak, emerge, xbps-install",
        "installs packages of the system",
        style="posix",
        loose=("sh", "exec", "run", "ruby", "shell"),
        examples=(),
    ),
    Program(
        "snap run, flatpak run",
        "runs a program",
        "",
        {"line": "--shell: --command:"},
        style="posix",
        command=0,
    ),
    Program(
        "debuild, dpkg-buildpackage, rpmbuild, sbuild, makepkg",
        "builds packages",
        "",
        {"line": "--check-command: -r: --sign-command: --eval: -E:"},
    ),
    Program("cargo-binstall, wasm-pack, cargo-nextest, cross", "builds a project of Rust"),
    Program(
        "pre-commit, husky, lint-staged, lefthook",
        "runs the checks of a project",
        "-c: --config:",
        {},
        examples=(),
    ),
    Program(
        "hyperfine",
        "measures commands",
        "-N -i -w: -r: -m: -M: -u: -n: -L: -P: -D: --warmup: --runs: --min-runs: --max-runs: "
        "--export-json: --export-markdown:",
        {"line": "-s: -p: -c: --setup: --prepare: --cleanup: --conclude:", "program": "-S: --shell:"},
        others="line",
        examples=("hyperfine 'rm y'", "hyperfine -N rm", "hyperfine --prepare 'rm y' true"),
    ),
    Program("coverage", "measures what tests run", style="posix"),
    Program(
        "pytest, py.test",
        "runs tests",
        "-q -v -x -s -l -k: -m: -n: -r: -d -f --lf --ff --nf --sw --tb: --maxfail: --durations: "
        "--durations-min: --cov:: "
        "--ignore: --ignore-glob: --deselect: --capture: --color: --log-level: --log-cli-level: --log-format: "
        "--log-date-format: --log-file-level: --log-file-format: --log-file-mode: --timeout: --numprocesses: --dist: "
        "--import-mode: --junit-prefix: --cov-fail-under: --cov-context: --show-capture: --assert: --verbosity: "
        "--randomly-seed: --hypothesis-seed: --reruns: --pyargs --pdb --co --collect-only --cov-append --cov-branch "
        "--report-chars: --override --log-auto-indent: --log-disable:",
        {
            "place": "-c: --config-file: --confcutdir: --rootdir: --cov-config:",
            "output": "--junitxml: --junit-xml: --log-file: --html: --report-log: --alluredir: --json-report-file: "
            "--benchmark-json: --benchmark-storage: --self-contained-html",
            "report": "--cov-report:",
            "pytest plugin": "-p:",
            "pytest setting": "-o: --override-ini:",
            "warning": "-W: --pythonwarnings:",
            "written": "--debug:: --result-log: --resultlog:",
            "beyond": "--pastebin: --basetemp: --pdbcls: --tx: --px: --rsyncdir:",
        },
        here=True,
        others="place",
        examples=(),
    ),
    Program(
        "npx, npm exec, npm x, npm exe",
        "runs the program of a package",
        "-y -q -s -p: -w: --yes --no --no-install --quiet --silent --package: --workspace: "
        "--workspaces --offline "
        "--prefer-offline --prefer-online --ignore-existing --no-audit --no-fund",
        {
            "line": "-c: --call:",
            "program": _NPM_VALUES["program"],
            "beyond": _NPM_VALUES["beyond"],
            "place": _NPM_VALUES["place"],
        },
        style="posix",
        command=0,
        runner=True,
        examples=("npx -c 'rm y'", "npx --call='rm y'", "npx --offline -- rm y", "npm exec -c 'rm y'"),
    ),
    Program(
        "bunx, pnpx, pnpm dlx, yarn dlx, yarn exec, npm explore, npm expl, npm explo, npm explor",
        "runs the program of a package",
        "-y -q --bun --silent --package: -p: -s",
        {"line": "-c: --shell-mode"},
        style="posix",
        command=0,
        runner=True,
    ),
    Program(
        "pnpm exec",
        "runs a program of the project",
        "-r -w --recursive --parallel",
        {"beyond": "-c --shell-mode"},
        style="posix",
        command=0,
        runner=True,
    ),
    Program(
        "bundle exec",
        "runs a program of the project",
        "--keep-file-descriptors --gemfile:",
        style="posix",
        command=0,
        runner=True,
    ),
    Program(
        "poetry run, pipenv run, pdm run, rye run",
        "runs a program of the project",
        "-q -v -n -p: --venv: -s --no-venv",
        style="posix",
        command=0,
        runner=True,
    ),
    Program(
        "uv run, uvx, uv tool run, uv x",
        "runs a program of the project or of a package",
        _UV,
        style="posix",
        command=0,
        runner=True,
        stdin="",
    ),
    Program("uv tool", "works with tools of Python", style="posix"),
    Program(
        "uv sync, uv lock, uv add, uv remove, uv pip, uv build, uv venv, uv python, uv export, uv "
        "tree, uv init, uv publish",
        "works with a project of Python",
        "-q -v -U -n --frozen --locked --offline --extra: --group: --dev --no-dev --all-extras",
        {
            "beyond": "--directory: --project: -p: --python: --config-file: --script: -i: --index: --default-index: "
            "--index-url: --extra-index-url: -f: --find-links: -C: --config-setting: --allow-insecure-host: "
            "--env-file:",
            "output": "--target: --prefix: -o: --output-file: --out-dir: --install-dir: --cache-dir:",
            "file": "-r: --requirement: --requirements: -c: --constraint: --constraints: -e: --editable:",
        },
        near="file",
    ),
    Program(
        "pipx run",
        "runs the program of a package",
        "-q -v --spec: --no-cache --python: --pip-args: --index-url:",
        style="posix",
        command=0,
        runner=True,
    ),
    Program(
        "npm config set, npm conf set, npm confi set, npm c set, npm set, pnpm config set, yarn config set",
        "changes settings of npm",
        always=True,
        reader=_npm_setting,
        examples=("npm config set script-shell /bin/rm; npm exec -c true",),
    ),
    Program("npm edit, npm edi", "changes a package by an editor", always=True),
)
