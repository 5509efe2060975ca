"""Options of the programs that guards know, as getopt has them: which of them there are, and which take a value.

A program that is not here has options without values.
"""

from collections.abc import Mapping
from types import MappingProxyType

from hookline.matching.shell.options import OptionSpec

PLAIN = OptionSpec()

_SHELL = OptionSpec(
    "-c -e -u -x -v -i -l -s -n -f -a -o: -O: --norc --noprofile --posix --login --rcfile: --init-file:",
    "posix",
)
_SQL = (
    "-c: -d: -e: -f: -h: -p: -U: -u: -D: -P: -Q: -q: --command: --execute: --query: --eval: --dbname: "
    "--database: --host: --port: --user: --username: --file:"
)
_CLOUD = (
    "--region: --profile: --output: --query: --project: --zone: --format: --account: --configuration: "
    "--endpoint-url: "
    "--subscription: --resource-group: -g: -o: --name: --filter: --instance-ids: --bucket: --key: --verbosity: "
    "--location:"
)
_KUBE = (
    "-n: --namespace: --context: --kubeconfig: --cluster: --user: -f: --filename: -k: --kustomize: -l: "
    "--selector: -o: --output: --all -A --all-namespaces --force --grace-period: --timeout: --dry-run:: "
    "--wait:: --cascade:: --ignore-not-found --now --field-selector: --kube-context: --raw -w"
)
_CONTAINER_RUN = (
    "-v: --volume: --mount: --privileged --cap-add: --pid: --userns: --network: --net: --name: -e: --env: "
    "--env-file: "
    "-p: --publish: -u: --user: -w: --workdir: --entrypoint: -d --detach -i --interactive -t --tty --rm --device: "
    "--security-opt: --platform: --label: -l: --restart: -m: --memory: --cpus: --gpus: --add-host: --hostname: "
    "-h: --pull: --ipc: --uts: --init --tmpfs: --ulimit: --shm-size: --log-driver: --log-opt: --link: "
    "--cidfile: --cgroupns: --dns: -c:"
)

_TEXTS: Mapping[str, str] = {
    "rm grm srm": (
        "-r -R -f -i -I -v -d --recursive --force --verbose --dir --interactive:: --one-file-system "
        "--no-preserve-root --preserve-root::"
    ),
    "chmod gchmod": "-R -v -c -f --recursive --reference: --verbose --changes --quiet --silent",
    "rsync": (
        "-a -r -v -z -n -e: -f: -P -h -u -x -l -t -p -o -g -D -H -A -X -S -W -c -i -q -b -m -R -L -4 -6 -y -C "
        "-0 -I -B: -T: -M: -s --delete --delete-before --delete-during --delete-delay --delete-after "
        "--delete-excluded --del --dry-run --exclude: --include: --exclude-from: --include-from: --files-from: "
        "--rsh: --rsync-path: --remove-source-files --filter: --backup-dir: --log-file: --progress --archive "
        "--recursive --bwlimit: --port: --password-file: --partial-dir: --info: --chmod: --chown: --max-size: "
        "--min-size:"
    ),
    "scp": "-r -p -q -C -v -B -3 -4 -6 -O -R -T -A -c: -F: -i: -J: -l: -o: -P: -S: -D: -X:",
    "sftp": "-r -p -q -C -v -4 -6 -a -f -N -A -b: -B: -c: -D: -F: -i: -J: -l: -o: -P: -R: -S: -s:",
    "ssh": "",
    "nc ncat netcat nc.traditional nc.openbsd": (
        "-z -l -v -n -u -k -4 -6 -d -h -N -t -C -U -p: -w: -s: -e: -c: -i: -q: -x: -X: -O: -I: -T: --listen "
        "--send-only --recv-only --exec: --sh-exec:"
    ),
    "curl": (
        "-d: -F: -T: -X: -o: -H: -u: -A: -e: -b: -c: -C: -D: -E: -K: -m: -P: -Q: -r: -t: -U: -w: -x: -y: -Y: "
        "-z: -O -J -L -s -S -f -k -v -i -I -N -n -p -q -R -a -B -g -G -j -l -M -V -Z -# -0 -1 -2 -3 -4 -6 "
        "--data: --data-binary: --data-raw: --data-ascii: --data-urlencode: --json: --form: --form-string: "
        "--upload-file: --request: --output: --output-dir: --header: --user: --url: --user-agent: --referer: "
        "--cookie: "
        "--cookie-jar: --cacert: --cert: --key: --max-time: --connect-timeout: --retry: --retry-delay: --proxy: "
        "--resolve: --write-out: --config: --range: --get --location --silent --show-error --fail --insecure "
        "--remote-name --compressed --include --head --verbose --unix-socket: --limit-rate: --dump-header: "
        "--interface: --oauth2-bearer: --variable: --expand-data: --retry-max-time: --retry-all-errors "
        "--fail-with-body --no-progress-meter --progress-bar --tlsv1.2 --proto: --create-dirs"
    ),
    "wget": (
        "-O: -o: -P: -q -c -N -r -l: -i: -U: -t: -T: -e: -a: -A: -R: -D: -S -v -d -b -F -B: -w: -Q: -nv -nc -x "
        "-k -K -p -m -H -L -I: -X: -4 -6 -E --post-file: --post-data: --body-file: --body-data: --method: "
        "--output-document: --header: --directory-prefix: --quiet --user: --password: --user-agent: "
        "--input-file: --tries: --timeout: --no-check-certificate --show-progress --continue --recursive "
        "--mirror --spider --output-file:"
    ),
    "http https xh xhs": (
        "-f -j -m --form --json --multipart -a: -A: --auth: --auth-type: -b -h -v -o: -d --print: -p: "
        "--verify: --session: --follow -F --pretty: --raw: --timeout: --output: --download --body --headers "
        "--verbose --ignore-stdin"
    ),
    "aws": _CLOUD
    + (
        " --recursive --force --delete --dryrun --dry-run --acl: --exclude: --include: --sse:: "
        "--storage-class: --quiet --no-progress --body: --stack-name: --cli-input-json: "
        "--generate-cli-skeleton::"
    ),
    "gcloud": _CLOUD + " -q --quiet",
    "gsutil": "-m -q -D -o: -h: -u: -r -R -d -n -a: -z: -x: -f -p -c -e -j: -J -P -U -C -y: -i:",
    "az ibmcloud oci doctl hcloud scw openstack linode-cli": _CLOUD + " -n: -y --yes",
    "rclone": "--config: --filter: --include: --exclude: --transfers: --dry-run -n -v -P --progress",
    "s3cmd": "-c: --config: -r -f --recursive --force --delete-removed -n --dry-run",
    "mc": "-r --recursive --force --dangerous --config-dir: -C:",
    "kubectl oc k kubectl.exe": _KUBE,
    "helm": _KUBE + " --dry-run --keep-history",
    "terraform tf tofu terragrunt": (
        "-chdir: -destroy -auto-approve -target: -var: -var-file: -state: -lock: -input: -no-color -help "
        "--terragrunt-working-dir: -compact-warnings -json -out: -refresh:"
    ),
    "pulumi": "-s: --stack: -C: --cwd: -y --yes -f --skip-preview --color: -m: --message: --target: --preview-only",
    "docker-compose": (
        "-f: --file: -p: --project-name: --env-file: --profile: --project-directory: -v --volumes --rmi: -t: "
        "--timeout: --remove-orphans -d --build"
    ),
    "gh glab": (
        "-R: --repo: --hostname: -y --yes --confirm --title: -t: -d: --desc: --public -f: -F: -X: --method: "
        "--field: --raw-field: --jq: -q: --body: -b:"
    ),
    "heroku": "-a: --app: -r: --remote: --confirm: -c:",
    "fly flyctl": "-a: --app: -c: --config: -y --yes",
    "psql pgcli": _SQL
    + (
        " -A -t -q -v: -X -1 -l -w -W -F: -R: -o: -L: -s -S -x -z -0 --set: --variable: --no-psqlrc "
        "--tuples-only --single-transaction -n"
    ),
    "mysql mariadb mycli": (
        "-e: -h: -P: -u: -D: -p:: -S: -N -B -t -v -f -s -A -C --execute: --host: --user: --password:: --port: "
        "--database: --socket: --defaults-file: --defaults-extra-file: --protocol:"
    ),
    "mysqladmin mariadb-admin": "-h: -P: -u: -p:: -f --force --host: --user: --password:: --port: -S: --socket:",
    "sqlcmd": "-S: -U: -P: -d: -Q: -q: -i: -o: -b -E -C -N",
    "redis-cli valkey-cli keydb-cli": (
        "-h: -p: -a: -n: -u: -s: --user: --pass: --raw --no-raw --tls --cacert: --cert: --key: --scan "
        "--pattern: --eval: -x -c -i: -r: -d: --no-auth-warning --askpass"
    ),
    "mongosh mongo": (
        "--eval: --host: --port: -u: -p: --username: --password: --quiet --norc -f: --file: "
        "--authenticationDatabase: --tls"
    ),
    "sqlite": "",
    "sudo": (
        "-u: -g: -h: -p: -C: -D: -R: -T: -U: -r: -t: -n -S -E -H -i -s -k -K -l -v -b -A -e -B -P -V --user: "
        "--group: --host: --prompt: --chdir: --chroot: --login --shell --list --validate --reset-timestamp "
        "--remove-timestamp --non-interactive --stdin --preserve-env:: --version --edit --background --set-home"
    ),
    "su": (
        "-c: -s: -g: -G: -w: -T -l -m -p -f -P -h -V --command: --shell: --login --preserve-environment "
        "--group: --pty --fast --help --version"
    ),
    "install ginstall": (
        "-m: -o: -g: -t: -S: -T -d -D -c -C -p -s -v -b --mode: --owner: --group: --target-directory: "
        "--directory --suffix: --backup::"
    ),
    "setcap": "-q -v -r -n:",
    "fdisk": (
        "-l -b: -B -c:: -C: -H: -L:: -o: -S: -t: -u:: -w: -W: -x -s --list --list-details --getsz --lock:: "
        "--bytes -V -h"
    ),
    "sfdisk": (
        "-l -d -V -n -N: -J -F -T -A -R -Y: -X: -f -a -b -q -w: -W: --list --dump --verify --no-act --json "
        "--list-free --list-types --part-uuid --delete -g --show-geometry"
    ),
    "gdisk sgdisk": (
        "-l -p -i: -v -P --list --print --info: --verify --pretend -E -F -L -V -b: --backup: -Z -z --zap "
        "--zap-all"
    ),
    "parted": "-l -s -m -a: -f --list --script --machine --align: -v --version",
    "wipefs": (
        "-a -b -f -i -J -n -O: -o: -p -q -t: --all --backup:: --force --noheadings --json --no-act --offset: "
        "--output: --parsable --quiet --types:"
    ),
    "hdparm": (
        "--security-erase: --security-erase-enhanced: --trim-sector-ranges: --make-bad-sector: --write-sector: "
        "--repair-sector: --fwdownload: --dco-restore"
    ),
    "mdadm": (
        "-l: -n: -x: -c: -s -D -Q -E -S -C -A -G -f -r -a --zero-superblock --create --stop --detail --level: "
        "--raid-devices: --examine --scan"
    ),
    "cryptsetup": "-c: -h: -s: -y -q -v -d: --type: --key-file: --cipher: --hash: --batch-mode --key-size:",
    "badblocks": "-b: -c: -d: -e: -f -i: -n -o: -p: -s -t: -v -w -X -B",
    "shred": (
        "-f -n: -s: -u -v -x -z --force --iterations: --size: --remove:: --verbose --exact --zero "
        "--random-source:"
    ),
    "tee gtee": "-a -i -p --append --ignore-interrupts --output-error::",
    "security": "-w -g -a: -s: -l: -D: -d -i -k: -t: -f: -o:",
    "gpg gpg2": (
        "--export-secret-keys --export-secret-subkeys --armor -a -o: --output: -d --decrypt -e -s -r: -u: "
        "--batch --yes --homedir: --passphrase: --passphrase-fd: --passphrase-file: --pinentry-mode: --import "
        "--list-keys --list-secret-keys -k -K -c --quiet -q"
    ),
    "npm pnpm yarn": "--dry-run --tag: --access: --registry: --workspace: -w: --otp: -C: --prefix: --filter: --cwd:",
    "migrate": "-path: -source: -database: -f -prefetch: -lock-timeout: -verbose",
    "cargo": "--dry-run -n --token: --registry: -p: --package: --manifest-path:",
    "prisma": "--schema: --force-reset --accept-data-loss --force -f --skip-seed --skip-generate --name: -n:",
    "osascript": "-e: -l: -s: -i",
    "python pypy": "-c: -m: -W: -X: -u -B -E -I -O -OO -q -s -S -v -V -x -i -b -d -P -h -?",
    "node nodejs bun": (
        "-e: --eval: -p: --print: -r: --require: -i -c --import: --input-type: --loader: "
        "--experimental-loader: -C: --conditions: --check --interactive"
    ),
    "ruby": "-e: -r: -I: -C: -E: -n -p -l -a -w -W:: -v -c -s -S -x:: -d -U -i:: -0:: -F: -y -h",
    "perl": "-e: -E: -I: -M: -m: -n -p -l:: -a -w -W -c -s -S -x:: -d:: -t -T -u -U -v -i:: -0:: -F: -f -X -C::",
    "php": "-r: -f: -c: -d: -z: -t: -S: -B: -R: -F: -E: -n -a -l -i -m -s -v -w -q -C -e -h",
    "lua luajit": "-e: -l: -i -v -E -W",
    "rimraf": "-g --glob --preserve-root --no-preserve-root -v -i",
    "croc wormhole": "--code: --relay: --text:",
    "mail mailx mutt s-nail": "-s: -a: -A: -c: -b: -r: -S: -i -n -v -e: -H: -F: -x",
}

_POSIX: Mapping[str, str] = {
    "git": (
        "-C: -c: -p -P -h -v --git-dir: --work-tree: --namespace: --exec-path:: --super-prefix: --config-env: "
        "--paginate --no-pager --bare "
        "--no-replace-objects --literal-pathspecs --glob-pathspecs --noglob-pathspecs --icase-pathspecs "
        "--no-optional-locks --no-lazy-fetch --no-advice --attr-source: --list-cmds: --html-path --man-path "
        "--info-path --version --help"
    ),
    "docker podman nerdctl": (
        "-H: -c: -l: -D --config: --context: --host: --log-level: --tls --tlscacert: --tlscert: --tlskey: "
        "--tlsverify --debug -v --version --url: --connection: --root: --runroot: --storage-driver:"
    ),
    "xargs gxargs": "-0 -r -t -x -p -o -a: -d: -E: -I: -i:: -l:: -L: -n: -P: -s: -e::",
    "eval source .": "",
}

_SUB: Mapping[str, str] = {
    "git push": (
        "-f -n -u -q -v -d -4 -6 -o: --force --force-with-lease:: --force-if-includes --no-force-with-lease "
        "--no-force --mirror --all --branches --tags --follow-tags --delete --prune --dry-run --porcelain "
        "--set-upstream --atomic --no-verify --verify --thin --no-thin --progress --quiet --verbose --repo: "
        "--push-option: --receive-pack: --exec: --signed:: --recurse-submodules: --ipv4 --ipv6"
    ),
    "git commit": (
        "-a -p -m: -F: -C: -c: -t: -n -q -v -s -e -i -o -u:: -z -S:: --amend --all --message: --file: "
        "--reuse-message: --reedit-message: --fixup: --squash: --author: --date: --no-edit --edit --no-verify "
        "--signoff --dry-run --allow-empty --allow-empty-message --reset-author --cleanup: --template: "
        "--trailer: --gpg-sign:: --no-gpg-sign --short --branch --porcelain --long --null --interactive "
        "--patch --only --include --quiet --verbose --status --no-status --pathspec-from-file:"
    ),
    "git rebase": (
        "-i -p -r:: -q -v -n -f -m -k -S:: -X: -s: -x: -C: -u:: --onto: --continue --abort --skip --quit "
        "--edit-todo --show-current-patch --interactive --root --autosquash --no-autosquash --autostash "
        "--no-autostash --exec: --strategy: --strategy-option: --keep-base --update-refs --rebase-merges:: "
        "--force-rebase --no-ff --signoff --empty: --stat --no-stat --no-verify --verify "
        "--committer-date-is-author-date --reset-author-date --merge --apply --fork-point --gpg-sign::"
    ),
    "git reset": (
        "-q -p -N --hard --soft --mixed --merge --keep --quiet --patch --refresh --no-refresh "
        "--recurse-submodules --pathspec-from-file: --intent-to-add"
    ),
    "git branch": (
        "-d -D -m -M -c -C -f -a -r -l -v -q -t:: -u: -i --delete --move --copy --force --list --all --remotes "
        "--show-current --contains:: --no-contains:: --merged:: --no-merged:: --sort: --format: --points-at: "
        "--track:: --no-track --set-upstream-to: --unset-upstream --edit-description --column:: --no-column "
        "--verbose --quiet --abbrev:: --no-abbrev --color:: --no-color --create-reflog --ignore-case"
    ),
    "git tag": (
        "-d -f -a -s -m: -F: -l:: -n:: -v -u: -e --delete --force --annotate --sign --list:: --message: "
        "--file: --verify --sort: --format: --contains:: --merged:: --points-at: --create-reflog"
    ),
    "git checkout": (
        "-b: -B: -f -q -p -m -l -d -t:: --force --orphan: --detach --ours --theirs --patch --merge --track:: "
        "--no-track --quiet --guess --no-guess --conflict: --pathspec-from-file:"
    ),
    "git switch": (
        "-c: -C: -f -q -d -m -t:: --create: --force-create: --force --discard-changes --detach --orphan: "
        "--guess --no-guess --track:: --no-track --merge --conflict:"
    ),
    "git pull": (
        "-r:: -q -v -n -f -a -k -p -t -u -4 -6 -j: -s: -X: -S:: -o: --rebase:: --no-rebase --ff-only --ff "
        "--no-ff --all --prune --tags --no-tags --autostash --no-autostash --depth: --force --strategy: "
        "--squash --no-commit --no-edit --upload-pack: --allow-unrelated-histories"
    ),
    "git clean": "-f -d -x -X -n -q -i -e: --force --dry-run --quiet --interactive --exclude:",
    "git update-ref": "-d -m: -z --stdin --no-deref --create-reflog",
    "git gc": "-q --prune:: --no-prune --aggressive --auto --force --quiet --keep-largest-pack --cruft --no-cruft",
    "git reflog": (
        "--expire: --expire-unreachable: --all -n --dry-run --verbose --rewrite --updateref --stale-fix "
        "--single-worktree"
    ),
    "git stash": (
        "-q -u -a -p -k -m: -S --include-untracked --all --patch --keep-index --message: --index --quiet "
        "--staged"
    ),
    "git replace": "-d -f -l:: -e: -g: --delete --force --edit: --graft: --convert-graft-file --raw --list:: "
    "--format:",
    "git fetch": (
        "-f -p -q -v -a -k -n -t -u -4 -6 -j: -o: --force --prune --all --tags --no-tags --depth: --deepen: "
        "--unshallow --multiple --upload-pack: --update-head-ok --shallow-since:"
    ),
    "git remote": "-v -t: -m: -f --add --delete --push --all --tags --no-tags --mirror::",
    "git filter-branch": (
        "-f -d: --force --env-filter: --tree-filter: --index-filter: --parent-filter: --msg-filter: "
        "--commit-filter: --tag-name-filter: --subdirectory-filter: --setup: --prune-empty --original: "
        "--state-branch:"
    ),
    "git config": (
        "-f: -l -e -z --global --local --system --worktree --file: --blob: --type: --get --get-all "
        "--get-regexp --add --unset --unset-all --replace-all --list --edit --default: --show-origin "
        "--show-scope --null --name-only --rename-section --remove-section --includes"
    ),
    "docker run": _CONTAINER_RUN,
    "docker create": _CONTAINER_RUN,
    "podman run": _CONTAINER_RUN,
    "podman create": _CONTAINER_RUN,
    "nerdctl run": _CONTAINER_RUN,
    "docker exec": _CONTAINER_RUN,
    "podman exec": _CONTAINER_RUN,
    "docker system": "-a -f --all --force --volumes --filter:",
    "docker volume": "-a -f --all --force --filter: -q --quiet --format: -d: --driver: -o: --opt: --label: --name:",
    "docker compose": (
        "-f: --file: -p: --project-name: --env-file: --profile: --project-directory: -v --volumes --rmi: -t: "
        "--timeout: --remove-orphans -d --build --ansi: --progress:"
    ),
    "podman system": "-a -f --all --force --volumes --filter:",
    "podman volume": "-a -f --all --force --filter:",
    "podman compose": "-f: --file: -p: --project-name: -v --volumes",
}

#: Their sub-command's operands are a command of its own: the first of them ends the options.
_RUNS = frozenset(
    f"{program} {sub}" for program in ("docker", "podman", "nerdctl") for sub in ("run", "create", "exec")
)

_WORDS: Mapping[str, str] = {
    "find gfind bfs": (
        "-name: -iname: -path: -ipath: -wholename: -regex: -type: -size: -mtime: -atime: -ctime: -mmin: "
        "-newer: -perm: -user: -group: -maxdepth: -mindepth: -delete -print -print0 -prune -o -a -not -empty "
        "-fprint: -printf:"
    ),
    "diskutil asr": "",
    "nomad": "-purge -detach -yes -namespace: -region:",
    "zpool zfs": "",
}


def _specs() -> Mapping[str, OptionSpec]:
    found: dict[str, OptionSpec] = {}
    for names, text in _TEXTS.items():
        style = "words" if names.startswith(("terraform", "migrate")) else "gnu"
        found |= dict.fromkeys(names.split(), OptionSpec(text, style))
    for names, text in _POSIX.items():
        found |= dict.fromkeys(names.split(), OptionSpec(text, "posix"))
    for name, text in _SUB.items():
        found[name] = OptionSpec(text, "posix" if name in _RUNS else "gnu")
    for names, text in _WORDS.items():
        found |= dict.fromkeys(names.split(), OptionSpec(text, "words"))
    shells = "sh bash dash zsh ksh mksh ash fish rbash yash"
    return found | dict.fromkeys(shells.split(), _SHELL)


SPECS: Mapping[str, OptionSpec] = MappingProxyType(_specs())
#: Their own options come before the sub-command, which has others.
HAVE_SUB_COMMANDS = frozenset(name.partition(" ")[0] for name in _SUB)
