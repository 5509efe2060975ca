"""What programs do with the files that their words name: one row per program, or per sub-command.

A row says what the operands are and marks those options that have to do with files. Of the other options only those
with a value need to be here, and flags that would be taken for an abbreviation of one: a value that is not known as
one counts as an operand.
"""

from collections.abc import Mapping
from functools import lru_cache

from msgspec import Struct

from hookline.matching.shell.options import Style


class Row(Struct, frozen=True):
    """How the words of these programs name files.

    `operands` has a sign for each operand in turn: `<` read, `>` written, `$` written, which is more than the program's
    plain job, `=` read and written, `%` only named or listed, `-` no file, `?` perhaps read and perhaps written. `*`
    after a sign: all further ones; a sign after that is for the last one (`<*>` copies).

    `options` is the text of an `OptionSpec` with marks at the ends of its words. The value is `<` a file that is read,
    `>` one that is written, which is more than the program's plain job, `+` one that is written as its plain job, `!`
    one with which it proves who it is, `@` data that is sent (of a file, after `@`), `^` a file that is sent, `#` code.
    Without a value: `~` the operands are changed in place (`~>` where that is more than the plain job), `&` a directory
    means all in it, `?` nothing is written.
    """

    names: str
    operands: str = ""
    options: str = ""
    #: Options that take the place of the first operand: the pattern of grep, the program of sed.
    instead: str = ""
    #: The program whose sub-commands these are; `*` among them is every other one.
    under: str = ""
    style: Style = "gnu"
    #: The first operand is a sub-command, which has a row of its own.
    sub: bool = False
    #: A directory always means all in it.
    whole: bool = False
    #: What is meant when there are no operands.
    default: str = ""
    #: It runs a command, which the reading lists as well.
    runs: bool = False
    #: The files of a command among its words are its own: `find -exec`, `python -m`.
    holds: bool = False


_CHECKSUMS = "md5sum sha1sum sha224sum sha256sum sha384sum sha512sum shasum md5 cksum b2sum sum"
_PACKERS = "gzip gunzip bzip2 bunzip2 xz unxz lzma unlzma zstd unzstd lz4 compress uncompress pigz brotli"
_EDITORS = "vim vi nvim view gvim vimdiff nano pico emacs emacsclient micro joe hx kak mcedit gedit subl kate"
#: They have nothing to do with files, or only run a command that the reading lists as well.
_NO_FILES = (
    "true false : cd pushd popd dirs pwd whatis hash tr gtr export declare typeset local readonly unset set shift "
    "return exit break continue let getopts wait sleep date gdate printenv id whoami who groups uname hostname nproc "
    "ps pgrep top htop free uptime kill pkill killall seq gseq yes expr bc factor numfmt umask ulimit alias unalias "
    "man info apropos open xdg-open code tput clear reset stty tty locale getent getconf ping dig nslookup host whois "
    "traceroute netstat ss ifconfig ip jobs fg bg disown times sync lscpu lsblk lsusb lspci dmesg systemctl service "
    "cal history help shopt enable caller bind complete compopt compgen read mapfile readarray uuidgen envsubst "
    "pyright journalctl"
)
_WRAPPERS = (
    "sudo doas env nohup setsid timeout gtimeout nice renice ionice ! command builtin exec stdbuf chroot busybox "
    "toybox chrt taskset faketime - noglob nocorrect repeat chronic unbuffer catchsegv caffeinate su runuser watch "
    "unshare nsenter firejail bwrap systemd-run pkexec fakeroot rlwrap xvfb-run dbus-run-session setpriv setarch "
    "linux32 linux64 prlimit numactl cgexec capsh proot chpst softlimit setuidgid envdir proxychains proxychains4 "
    "torsocks tsocks entr watchexec nodemon hyperfine parallel tmux screen nix-shell npx bunx pnpx uvx pipx "
    "start-stop-daemon daemonize sem rr wsl cross-env concurrently arch s6-setuidgid gosu su-exec tini dumb-init "
    "zsh-defer expect fc coproc launchctl osascript cmd pwsh powershell mosh"
)
_GREP = (
    "-e: -f:< -m: -A: -B: -C: -D: -d: -r& -R& --regexp: --file:< --max-count: --after-context: --before-context: "
    "--context: --include: --exclude: --exclude-from:< --exclude-dir: --label: --recursive& --dereference-recursive& "
    "--files-with-matches --files-without-match"
)
_RG = (
    "-e: -f:< -g: -t: -T: -m: -A: -B: -C: -j: -r: -M: -d: -E: --regexp: --file:< --files --glob: --iglob: --type: "
    "--type-not: --type-add: --type-list --max-count: --after-context: --before-context: --context: --threads: "
    "--replace: --max-depth: --max-columns: --encoding: --ignore-file: --pre: --pre-glob: --sort: --sortr: --color: "
    "--colors: --max-filesize: --engine: --hostname-bin: --context-separator: --path-separator:"
)
_COPY = (
    "-S: -t:+ -r& -R& -a& --recursive& --archive& --link --symbolic-link --suffix: --target-directory:+ "
    "--no-target-directory --backup:: --preserve:: --no-preserve: --reflink:: --sparse:"
)
_RSYNC = (
    "-e: -f: -M: -B: -T: -r& -a& --rsh: --filter: --exclude: --include: --exclude-from:< --include-from:< "
    "--files-from:< --password-file:! --log-file:> --log-file-format: --backup-dir:> --partial-dir:> --temp-dir:> "
    "--link-dest: --compare-dest: --copy-dest: --rsync-path: --port: --bwlimit: --max-size: --min-size: --timeout: "
    "--contimeout: --suffix: --chmod: --chown: --usermap: --groupmap: --out-format: --write-batch:> --read-batch:< "
    "--recursive& --archive& --block-size: --compress-level: --modify-window: --info: --debug: --skip-compress: "
    "--delete&~> --delete-after&~> --delete-before&~> --delete-during&~> --delete-delay&~> --delete-excluded&~> "
    "--del&~> --remove-source-files~>"
)
_SSH = "-i:! -F:< -S: -E:> -o: -p: -l: -J: -L: -R: -D: -W: -w: -b: -B: -c: -e: -I:! -m: -O: -Q:"
_SCP = "-i:! -F:< -S: -o: -P: -l: -J: -D: -c: -X: -r&"
_TAR = (
    "-f:+ -C:+ -T:< -X:< -I: -b: -F: -g:> -H: -K: -L: -N: -V: --file:+ --directory:+ --files-from:< --exclude: "
    "--exclude-from:< --use-compress-program: --blocking-factor: --listed-incremental:> --format: --transform: "
    "--xform: --strip-components: --owner: --group: --owner-map:< --group-map:< --mode: --mtime: --newer: "
    "--checkpoint:: --checkpoint-action: --to-command: --index-file:> --volno-file:> --rsh-command: --rmt-command: "
    "--info-script: --new-volume-script: --suffix: --one-top-level:: --extract --get --list --create --append "
    "--update --catenate --concatenate --delete --remove-files~> --diff --compare --test-label"
)
_CURL = (
    "-o:> -D:> -c:> -K:< -b: -d:@ -F:@ -T:^ -E:! -H:@ -u: -x: -X: -A: -e: -m: -w: -r: -C: -y: -Y: -z: -U: -P: -Q: "
    "-t: -O -J --output:> --output-dir:> --dump-header:> --cookie-jar:> --trace:> --trace-ascii:> --trace-config: "
    "--stderr:> --hsts:> --alt-svc:> --etag-save:> --etag-compare:< --libcurl:> --config:< --cookie: --data:@ "
    "--data-ascii:@ --data-binary:@ --data-urlencode:@ --data-raw: --json:@ --form:@ --form-string: --url-query:@ "
    "--upload-file:^ --cert:! --cert-type: --key:! --key-type: --cacert: --capath: --netrc --netrc-optional "
    "--netrc-file:! --head --header:@ --proxy-header:@ --url: --user: --user-agent: --proxy: --proxy-user: "
    "--request: --request-target: --referer: --max-time: --max-redirs: --max-filesize: --connect-timeout: "
    "--connect-to: --retry: --retry-delay: --retry-max-time: --write-out: --range: --continue-at: --time-cond: "
    "--limit-rate: --resolve: --interface: --local-port: --ciphers: --tls-max: --oauth2-bearer: --unix-socket: "
    "--abstract-unix-socket: --socks5: --socks5-hostname: --socks4: --noproxy: --pass: --pubkey:! --crlfile: "
    "--doh-url: --dns-servers: --keepalive-time: --proto: --proto-default: --proto-redir: --rate: --parallel-max: "
    "--variable:@ --expand-data:@ --aws-sigv4: --quote: --mail-from: --mail-rcpt: --fail --remote-name "
    "--remote-name-all --remote-header-name --proxy-cert:! --proxy-key:! --speed-limit: --speed-time: --parallel"
)
_WGET = (
    "-O:+ -P:+ -o:> -a:> -i:< -e: -t: -T: -w: -Q: -U: -l: -A: -R: -D: -I: -X: -B: --output-document:+ "
    "--directory-prefix:+ --output-file:> --append-output:> --input-file:< --post-file:^ --body-file:^ --post-data: "
    "--body-data: --load-cookies:< --save-cookies:> --certificate:! --private-key:! --ca-certificate: "
    "--ca-directory: --config:< --header: --user: --password: --user-agent: --referer: --method: --tries: "
    "--timeout: --wait: --waitretry: --limit-rate: --execute: --level: --accept: --reject: --domains: --quota: "
    "--rejected-log:> --warc-file:> --warc-tempdir:> --http-user: --http-password: --base: --cut-dirs: "
    "--dns-timeout: --connect-timeout: --read-timeout: --bind-address: --use-askpass: --progress: --hsts-file:> "
    "--exclude-directories: --include-directories: --certificate-type: --private-key-type: --proxy:: --spider"
)
_REVISIONS = (
    "-n: -S: -G: -L: -U: -O: -l: -M:: -C:: --output:> --format: --pretty:: --since: --until: --after: --before: "
    "--author: --committer: --grep: --max-count: --skip: --diff-filter: --stat:: --unified: --word-diff:: --date: "
    "--src-prefix: --dst-prefix: --inter-hunk-context: --abbrev:: --color:: --encoding: --no-index"
)
_COMMIT = (
    "-m: -F:< -t:< -C: -c: -S:: -u:: --message: --file:< --template:< --author: --date: --fixup: --squash: --cleanup: "
    "--trailer: --reuse-message: --reedit-message: --pathspec-from-file:<"
)
_CONTAINER = (
    "-v: --volume: --mount: --env-file:< -e: -p: -w: -u: -h: -l: -m: -a: -c: --name: --env: --publish: --workdir: "
    "--user: --hostname: --label: --label-file:< --network: --net: --entrypoint: --platform: --cpus: --memory: "
    "--gpus: --add-host: --cap-add: --cap-drop: --device: --dns: --expose: --ip: --link: --log-driver: --log-opt: "
    "--pid: --pull: --restart: --runtime: --security-opt: --shm-size: --tmpfs: --ulimit: --userns: --volumes-from: "
    "--cidfile:> --network-alias: --ipc: --group-add: --sysctl: --detach-keys: --attach:"
)
_KUBE = (
    "-f:< -k:< -n: -l: -o: -c: -s: -R& --output-directory:+ --filename:< --kustomize:< --namespace: "
    "--selector: --output: --container: "
    "--context: --cluster: --kubeconfig:! --user: --server: --token: --client-key:! --client-certificate:! "
    "--from-file: --from-env-file:< --from-literal: --patch: --patch-file:< --type: --field-selector: --sort-by: "
    "--template: --tail: --since: --timeout: --replicas: --image: --port: --env: --as: --recursive& --cert:< --key:<"
)
_HELM = "-f:< -n: --values:< --set: --set-file:< --set-string: --namespace: --version: --kubeconfig:! --kube-context:"
_OPENSSL = (
    "-in:< -out:> -inkey:< -key:< -cert:! -CAfile: -CApath: -CA: -CAkey:< -passin: -passout: -pass: -config:< -days: "
    "-subj: -newkey: -keyout:> -inform: -outform: -keyform: -K: -iv: -S: -kfile:< -connect: -servername: -extfile:< "
    "-extensions: -addext: -sign:< -verify:< -signature:< -prverify:< -writerand:> -certfile:< -signer:< -recip:< "
    "-pkeyopt: -set_serial: -iter: -md: -algorithm: -paramfile:< -peerkey:< -nameopt: -ext: -sigfile:< -name:"
)
_GPG = (
    "-o:> -u: -r: -R: -N: --output:> --local-user: --recipient: --hidden-recipient: --homedir: --passphrase: "
    "--passphrase-file:! --passphrase-fd: --keyserver: --keyring: --options:< --status-fd: --status-file:> "
    "--log-file:> --logger-file:> --cipher-algo: --digest-algo: --compress-algo: --trust-model: --pinentry-mode: "
    "--default-key: --sign --encrypt --decrypt --export --import --verify --list-keys --list-secret-keys"
)
_PYTEST = (
    "-c:< -k: -m: -n: -o: -p: -r: -W: --junitxml:+ --junit-xml:+ --html:+ --log-file:+ --report-log:+ --basetemp:> "
    "--result-log:> --rootdir: --confcutdir: --maxfail: --tb: --cov:: --cov-report: --cov-config:< --durations: "
    "--ignore: --deselect: --timeout: --config-file:< --log-level: --log-cli-level: --dist: --numprocesses: --color:"
)
_COMPILER = "-o:+ -I: -L: -l: -D: -U: -x: -T:< -O:: -f:: -W:: -g:: -m:: -s:: --output:+ --sysroot: --target:"

ROWS = (
    # They only read what they are given.
    Row(f"cat tac zcat bzcat xzcat zstdcat gzcat gcat rev {_CHECKSUMS} wc tsort nm readelf size hexyl", "<*",
        "--files0-from:<"),
    Row("head tail ghead gtail", "<*", "-n: -c: -s: --lines: --bytes: --pid: --sleep-interval:"),
    Row("more most zless zmore bzless col ul glow mdcat", "<*"),
    Row("bat batcat", "<*", "-l: -r: -H: -m: --language: --line-range: --highlight-line: --map-syntax: --style: "
        "--theme: --pager: --paging: --wrap: --tabs: --color: --decorations: --file-name: --terminal-width:"),
    Row("less", "<*", "-o:> -O:> -b: -h: -j: -k:< -p: -P: -t: -T:< -x: -y: -z: -D: --log-file:> --LOG-FILE:> "
        "--pattern: --lesskey-file:< --tag: --tag-file:< --prompt: --tabs: --window:"),
    Row("nl", "<*", "-b: -d: -f: -h: -i: -l: -n: -s: -v: -w:"),
    Row("od god", "<*", "-A: -j: -N: -S:: -t: -w:: --address-radix: --skip-bytes: --read-bytes: --format:"),
    Row("hexdump hd", "<*", "-e: -f:< -n: -s: -L::"),
    Row("strings", "<*", "-n: -e: -t: -T: --bytes: --radix: --encoding:"),
    Row("objdump", "<*", "-j: -M: -b: -m: --section: --disassembler-options:"),
    Row("fold expand unexpand", "<*", "-w: -t: --width: --tabs:"),
    Row("fmt", "<*", "-w: -p: -g: --width: --goal: --prefix:"),
    Row("pr look", "<*", "-w: -l:"),
    Row("file", "<*", "-m:< -f:< -F: -P: -e: -C~> --compile~> --files-from:< --magic-file:< --separator: --exclude:"),
    Row("cut gcut", "<*", "-b: -c: -d: -f: --bytes: --characters: --delimiter: --fields: --output-delimiter:"),
    Row("column", "<*", "-s: -o: -c: -N: -R: -T: -H: -O: -E: -W: --separator: --output-separator:"),
    Row("cmp", "<*", "-n: -i: --bytes: --ignore-initial:"),
    Row("comm paste", "<*", "-d: --delimiters: --output-delimiter:"),
    Row("join", "<*", "-1: -2: -t: -a: -e: -j: -o: -v:"),
    Row("diff gdiff colordiff sdiff diff3 delta difft icdiff wdiff", "<*", "-I: -U: -C: -F: -W: -x: -X:< -r& -o:> "
        "--recursive& --output:> --exclude: --exclude-from:< --label: --from-file:< --to-file:< --unified::"),
    Row("grep egrep fgrep ggrep zgrep bzgrep xzgrep pcregrep pcre2grep ugrep", "-<*", _GREP,
        "-e -f --regexp --file"),
    Row("rg", "-<*", _RG, "-e -f --regexp --file --files --type-list", whole=True),
    Row("ag ack pt", "-<*", "-A: -B: -C: -G: -m: -p:< --ignore: --ignore-dir: --depth: --pager: --output: --match:",
        "--match -f -g", whole=True),
    Row("base64 base32 basenc gbase64", "<*", "-w: -i:< -o:> -b: --wrap: --input:< --output:> --break:"),
    Row("xxd", "<$", "-c: -g: -l: -s: -o: -n: -R:"),
    Row("uniq guniq", "<$", "-f: -s: -w: --skip-fields: --skip-chars: --check-chars: --group:: --all-repeated::"),
    Row("sort gsort", "<*", "-o:> -k: -t: -S: -T: --output:> --key: --field-separator: --buffer-size: --parallel: "
        "--temporary-directory: --batch-size: --compress-program: --files0-from:< --random-source:< --sort:"),
    Row("shuf gshuf", "<*", "-o:> -n: -i: --output:> --head-count: --input-range: --random-source:<"),
    Row("jq jaq gojq", "-<*", "-f:< -L: --from-file:< --indent: --arg --argjson --args --jsonargs", "-f --from-file"),
    Row("yq tomlq xq", "-<*", "-i~> -I: -o: -p: -s: --inplace~> --in-place~> --indent: --output-format: "
        "--input-format: --split-exp: --from-file:< --arg --argjson", "--from-file"),
    Row("xmllint", "<*", "-o:> --output:> --xpath: --schema:< --dtdvalid:< --relaxng:< --encode: --path:"),
    Row("iconv", "<*", "-f: -t: -o:> --from-code: --to-code: --output:>"),
    Row("gron jless fx", "<*"),
    Row("shellcheck yamllint hadolint actionlint", "<*", "-s: -e: -S: -c: -d: -x --shell: --exclude: --severity:"),
    Row("tokei scc", "<*", "-o:> --output:> -e: -t: -f:", whole=True),
    Row("cloc", "<*", "--out:> --report-file:> --csv --json --ignored:> --counted:> --exclude-dir:", whole=True),
    Row("source .", "<", style="posix", runs=True),
    # They list files or print their names.
    Row("ls gls ll dir vdir exa eza lsd stat gstat du gdu df readlink greadlink realpath basename dirname test [ [[ "
        "which type whereis locate plocate lsof fuser namei mountpoint findmnt lsattr getfacl", "%*",
        "-X:< --exclude-from:< --files0-from:<"),
    Row("tree", "%*", "-o:> -P: -I: -L: -H: -T: --filelimit: --charset: --timefmt: --output:>"),
    Row("echo printf", "%*", style="posix"),
    Row("fd fdfind", "%*", "-e: -t: -E: -d: -S: -o: -c: -j: --extension: --type: --exclude: --max-depth: --size: "
        "--owner: --color: --threads: --ignore-file: --search-path: --base-directory:"),
    Row(_NO_FILES),
    Row("mktemp tempfile", ">", "-d -q -u? -t? -p:+ --tmpdir::+ --suffix: --directory --dry-run?"),
    Row("logger", "", "-f:< --file:< -t: -p: -n: -P:"),
    # Their plain job is to change files.
    Row("rm grm unlink rmdir srm trash trash-put rimraf", ">*", "-r& -R& --recursive& --interactive::"),
    Row("touch gtouch", ">*", "-d: -t: -r: -A: --date: --reference: --time:"),
    Row("mkdir gmkdir mkfifo", ">*", "-m: -Z:: --mode: --context::"),
    Row("mknod", ">", "-m: --mode:"),
    Row("tee gtee sponge", ">*", "--output-error::"),
    Row("truncate gtruncate", ">*", "-s: -r: --size: --reference:"),
    Row("shred wipe", ">*", "-n: -s: --iterations: --size: --random-source:<"),
    Row("fallocate", ">*", "-l: -o: --length: --offset:"),
    Row("chmod chown chgrp gchmod gchown chcon chattr chflags", "->*",
        "-R& -v -c -f -h -H -L -P --recursive& --reference: --from:", "--reference"),
    Row("setfacl", ">*", "-R& -m: -x: -M:< -X:< --modify: --remove: --recursive& --set: --restore:<"),
    Row("split gsplit", "<-", "-a: -b: -C: -l: -n: -t: --suffix-length: --bytes: --line-bytes: --lines: --number: "
        "--filter: --additional-suffix: --separator:"),
    Row("csplit", "<-*", "-f: -b: -n: --prefix: --suffix-format: --digits:"),
    Row(_PACKERS, "=*", "-S: -b: -T: -o:+ -D:< -c? -l? -t? --stdout? --to-stdout? --list? --test? --suffix: "
        "--threads: --output:+ -r& --recursive&"),
    Row("zip", "><*", "-b: -i: -x: -n: -P: -O:+ -r& -R& --recurse-paths& --out:+ --exclude: --include: --password: "
        "--log-file:> --unzip-command: -m~> --move~>"),
    Row("unzip bsdunzip", "<-*", "-d:+ -x: -P: -I: -l? -t? -v? -p? -Z? -z?"),
    Row("ar gar", "-=<*"),
    Row("7z 7za 7zr rar unrar", "-=<*", "-o::+ -p:: -x:: -i::"),
    Row("cpio", "=*", "-F:+ -O:+ -I:< -D:+ -H: --file:+ --directory:+ --format:"),
    Row("patch gpatch", "=<", "-i:< -o:+ -d:+ -p: -D: -F: -r:+ -B: -z: -g: --input:< --output:+ --directory:+ "
        "--strip: --reject-file:+ --dry-run? -C?"),
    Row("ed red", "=*", "-p:"),
    Row("ex", "=*", "-s -e -v -R? -c:# --cmd:# -S:< -u:<"),
    Row(_EDITORS, "=*", "-c:# --cmd:# --eval:# -S:< -u:< -w:> -W:> -s:< --load:< --rcfile:<"),
    Row("dos2unix unix2dos mac2unix", "=*", "-c:"),
    Row("strip objcopy", "?*", "-o:+"),
    Row("ln gln", "", "-t:+ -S: --target-directory:+ --suffix:"),
    Row("cp gcp", "", _COPY),
    Row("install ginstall", "", "-m: -o: -g: -t:+ -S: --directory --mode: --owner: --group: --target-directory:+ "
        "--suffix: --strip-program: --backup::"),
    Row("mv gmv", "", "-S: -t:+ --suffix: --target-directory:+ --backup::"),
    Row("dd gdd"),
    Row("tar gtar bsdtar", "<*", _TAR),
    Row("find gfind", holds=True),
    # To and from other machines.
    Row("scp", "", _SCP),
    Row("rsync", "", _RSYNC),
    Row("sftp", "-", "-i:! -F:< -S: -o: -P: -l: -J: -D: -c: -B: -R: -X: -b:<"),
    Row("ssh autossh sshpass", "", f"{_SSH} -f -M:", style="posix"),
    Row("ssh-keygen", "", "-f:+ -t: -b: -C: -N: -P: -m: -O: -I: -s:< -V: -n: -D: -R: -F: -l -y"),
    Row("ssh-add", "!*", "-t: -D -d"),
    Row("ssh-copy-id", "-", "-i: -p: -o: -F:<"),
    Row("curl", "-*", _CURL),
    Row("wget", "-*", _WGET),
    Row("http https xh", "-*", "-o:+ --output:+ --session: --cert:! --cert-key:! -a: --auth: --verify: --proxy:"),
    Row("mail mailx mutt s-nail", "-*", "-a:^ -s: -c: -b: -r: -H:< -i:<"),
    Row("rclone", sub=True, options="--config:! --log-file:>", style="posix"),
    Row("copy copyto move moveto sync bisync", "", "--config:! --log-file:> --exclude: --include: --files-from:< "
        "--exclude-from:< --transfers: --checkers: --bwlimit:", under="rclone"),
    Row("*", "?*", under="rclone"),
    Row("gsutil", sub=True, options="-o: -h: -i: -u:", style="posix"),
    Row("cp mv rsync", "", "-r& -R& -x: -j: -a: -z:", under="gsutil"),
    Row("cat *", "?*", under="gsutil"),
    Row("aws", sub=True, style="posix",
        options="--profile: --region: --output: --endpoint-url: --query: --ca-bundle:"),
    Row("*", "?*", "--body:^ --zip-file: --profile: --region: --output:", under="aws"),
    Row("s3", sub=True, under="aws", options="--profile: --region: --endpoint-url:", style="posix"),
    Row("cp mv sync", "", "--recursive& --exclude: --include: --acl: --sse: --profile: --region: --endpoint-url: "
        "--storage-class: --content-type: --cache-control: --metadata:", under="aws s3"),
    Row("*", "?*", under="aws s3"),
    Row("gcloud az oci doctl heroku flyctl fly vercel netlify wrangler firebase", "?*", "--key-file:! "
        "--data-file:^ --flags-file:< --file:^ --env-vars-file:< --project: --region: --format:"),
    # Cryptography.
    Row("openssl", "-<*", _OPENSSL, style="words"),
    Row("gpg gpgv", "<*", _GPG),
    Row("age rage", "<*", "-o:> --output:> -r: -R:< -i:! --recipient: --recipients-file:< --identity:!"),
    Row("sops", "<*", "-i~> --in-place~> --output:> -k: -p: --age: --config:<"),
    # Sub-commands of git.
    Row("git", sub=True, options="-C: -c: --git-dir: --work-tree: --namespace: --config-env: --exec-path::",
        style="posix"),
    Row("add stage", "<*", "--chmod: --pathspec-from-file:<", under="git"),
    Row("commit", "<*", _COMMIT, under="git"),
    Row("diff show log whatchanged diff-files diff-index diff-tree range-diff reflog shortlog rev-list", "<*",
        _REVISIONS, under="git"),
    Row("blame annotate", "<*", "-L: -S: --contents:< --ignore-rev: --ignore-revs-file:< --since:", under="git"),
    Row("cat-file ls-tree rev-parse", "<*", "--batch:: --batch-check:: --format:", under="git"),
    Row("ls-files", "%*", "-x: -X:< --exclude: --exclude-from:<", under="git"),
    Row("grep", "-<*", "-e: -f:< -m: -A: -B: -C: -O:: --max-depth: --threads: --open-files-in-pager::", "-e -f",
        under="git"),
    Row("hash-object", "<*", "-t: --path:", under="git"),
    Row("branch check-attr check-ignore describe fetch for-each-ref fsck gc help ls-remote merge-base merge merge-tree "
        "name-rev notes pull push rebase remote reset show-ref status tag var version bisect cherry "
        "cherry-pick revert count-objects prune switch maintenance", "", "--output:> -F:< --file:<", under="git"),
    Row("worktree", sub=True, under="git", style="posix"),
    Row("add", ">", "-b: -B: -f -q --reason: --force --detach --lock --orphan", under="git worktree"),
    Row("move", "=>", "-f --force", under="git worktree"),
    Row("remove", ">", "-f --force", under="git worktree", whole=True),
    Row("*", under="git worktree"),
    Row("archive", "-*", "-o:> --output:> --format: --prefix: --add-file:< --remote: --exec:", under="git"),
    Row("format-patch", "-*", "-o:+ --output-directory:+ --output:+ --signature-file:<", under="git"),
    Row("bundle", "->-*", under="git"),
    Row("fast-export fast-import", "-*", "--export-marks:> --import-marks:<", under="git"),
    Row("clone", "->", "-b: -o: -u: -c: -j: --branch: --origin: --depth: --config: --reference: --template: --filter: "
        "--separate-git-dir:+ --jobs: --upload-pack:", under="git"),
    Row("init", ">", "-b: --initial-branch: --template: --separate-git-dir:+ --shared::", under="git", default="."),
    Row("apply am", "<*", "-p: -C: --directory:+ --exclude: --include: --whitespace: --check? --stat? --numstat? "
        "--summary?", under="git", default="."),
    Row("checkout", ">*", "-b: -B: --orphan: --conflict: --pathspec-from-file:<", under="git", whole=True),
    Row("restore", ">*", "-s: --source: --conflict: --staged --worktree --pathspec-from-file:<", under="git",
        whole=True),
    Row("clean", ">*", "-e: --exclude: -n? --dry-run?", under="git", whole=True, default="."),
    Row("rm", ">*", "--cached? -n? --dry-run? --pathspec-from-file:<", under="git", whole=True),
    Row("mv", ">*", "-n? --dry-run?", under="git", whole=True),
    Row("stash", ">*", "-m: --message: --pathspec-from-file:<", under="git", whole=True),
    Row("config", "", "-f:+ --file:+ --blob: --type: --default:", under="git"),
    Row("send-email", "^*", "--to: --cc: --from: --subject: --smtp-server:", under="git"),
    # Containers and clusters.
    Row("docker podman nerdctl", sub=True, style="posix", options="-H: -c: -l: --host: --context: --config: "
        "--log-level: --tlscacert: --tlscert:! --tlskey:! --url: --connection: --root:"),
    *(
        row
        for tool in ("docker", "podman", "nerdctl")
        for row in (
            Row("run create exec", "", _CONTAINER, under=tool, style="posix", runs=True),
            Row("container", sub=True, under=tool),
            Row("run create exec", "", _CONTAINER, under=f"{tool} container", style="posix", runs=True),
            Row("cp", under=f"{tool} container"),
            Row("cp", under=tool),
            Row("build buildx", "-*", "-f:< -t: -o:+ --file:< --tag: --output:+ --secret: --ssh: --iidfile:> "
                "--metadata-file:> --build-arg: --target: --platform: --cache-from: --cache-to: --label: --network:",
                under=tool),
            Row("save export", "-*", "-o:+ --output:+", under=tool),
            Row("load import", "<-", "-i:< --input:<", under=tool),
            Row("compose", "", "-f:< -p: --file:< --env-file:< --project-name: --project-directory: --profile:",
                under=tool, style="posix"),
            Row("ps images logs pull push login logout rm rmi start stop restart kill inspect stats top tag network "
                "volume system info version context", "", under=tool),
        )
    ),
    Row("docker-compose podman-compose", "", "-f:< -p: --file:< --env-file:< --project-name: --project-directory:",
        style="posix"),
    Row("kubectl oc k9s kustomize", "?*", _KUBE),
    Row("helm", "?*", _HELM),
    Row("terraform tofu", "?*", "-out:+ -var-file:< -state:< -state-out:> -backend-config:< -var: -target: -chdir:",
        style="words"),
    Row("ansible ansible-playbook", "<*", "-i:< -e: -l: -t: -u: -f: --inventory:< --extra-vars: --private-key:! "
        "--vault-password-file:! --key-file:! --limit: --tags:"),
    Row("gh", sub=True, options="-R: --repo:", style="posix"),
    Row("gist", "-^*", "-d: -f: --desc: --filename:", under="gh"),
    Row("release", "--^*", "-t: -n: -F:< --title: --notes: --notes-file:< -R: --repo: --target: -p: -D:+ --dir:+ -O:+",
        under="gh"),
    Row("secret variable", "?*", "-f:^ --env-file:^ -b: --body: -e: --env: -o: --org: -R: --repo: -r: --repos:",
        under="gh"),
    Row("api", "?*", "-F:@ --field:@ -f: --raw-field: --input:^ -H: --header: -X: --method: -q: --jq: -t: --template:",
        under="gh"),
    Row("*", "?*", "-F:< --body-file:< -b: -t: --body: --title: -R: --repo: -q: --jq: --json: -l: -L: -a: -r: -B: -H:",
        under="gh"),
    # Languages, builds and tests.
    Row("sh bash dash zsh ksh mksh ash rbash fish yash posh", "", "-c -o: -O: --rcfile:< --init-file:<",
        style="posix", runs=True),
    Row("sed gsed", "-<*", "-e:# -f:< -i::~> -l: --expression:# --file:< --in-place::~> --line-length: --null-data",
        "-e -f --expression --file"),
    Row("awk gawk mawk nawk", "-<*", "-f:< -F: -v: -i: -e:# -E:< -l: -o::> -p::> -d::> -D:: -W: --file:< "
        "--field-separator: --assign: --include: --source:# --exec:< --load: --pretty-print::> --profile::> "
        "--dump-variables::>", "-f -e -E --file --source --exec"),
    Row("python pypy ipython", "", "-c:# -m: -W: -X: -Q: --check-hash-based-pycs:", style="posix", holds=True),
    Row("perl", "", "-e:# -E:# -i::~> -I: -M:: -m:: -F:: -x:: -l:: -0:: -C:: -D:: -d::", style="posix"),
    Row("ruby", "", "-e:# -i::~> -I: -r: -C: -E: -F:: -x:: -K:: -W::", style="posix"),
    Row("node nodejs bun", "", "-e:# -p:# -r:< --eval:# --print:# --require:< --import: --loader: --env-file:< "
        "--env-file-if-exists:< --conditions: --inspect:: --max-old-space-size: --test-name-pattern: "
        "--cpu-prof-dir:> --redirect-warnings:> --report-directory:> --title: -C:", style="posix"),
    Row("php", "", "-r:# -B:# -R:# -E:# -f:< -F:< -c: -d: -S: -t: -z:", style="posix"),
    Row("lua luajit julia tclsh wish rscript r guile groovy elixir scala ghc erl", "",
        "-e:# -E:# -c:# -l: -i: -L:< -eval:# --eval:# --print:#", style="posix"),
    Row("script", ">", "-a -e -f -q -c:# --command:# -O:> -I:> -B:> -T:> --log-out:> --log-in:> --log-io:> "
    "--log-timing:> "
        "-E: -m: -o: -t::", default="typescript"),
    Row("sqlite litecli duckdb sqlcipher", "=#*", "-cmd:# -init:< -separator: -newline: -nullvalue: -readonly? -vfs: "
        "-maxsize: -mmap: -batch -bail -csv -json -header -column -line -list", style="words"),
    Row("deno m4 psql mysql mariadb gdb lldb socat nc ncat", "#*", "-c:# -e:# -f:< -o:> -r:# --command:# "
        "--execute:# --file:< --output:> -x:< -L:>"),
    Row("flock", "%", "-w: -E: -c:# --timeout: --command:#", style="posix", runs=True),
    Row("make gmake", "?*", "-f:< -C: -I: -j:: -l:: -o: -W: --file:< --makefile:< --directory: --include-dir: --eval:# "
        "--jobs:: --output-sync::"),
    Row("just task rake invoke", "?*", "-f:< -d: -t:< -c: --justfile:< --taskfile:< --rakefile:< --dotenv-path:<"),
    Row("cmake", "?*", "-S: -B:+ -G: -D: -P:< -C:< -E --build:+ --install: --preset: --target: --prefix:+"),
    Row("gcc g++ cc c++ clang clang++ ld as rustc", "<*", _COMPILER),
    Row("go", sub=True, options="-C:", style="posix"),
    Row("build test run vet list install", "?*", "-o:+ -coverprofile:+ -cpuprofile:+ -memprofile:+ -trace:+ -tags: "
        "-ldflags: -run: -bench: -count: -timeout: -mod: -modfile:< -p:", under="go", style="words"),
    Row("fmt", "=*", under="go", whole=True),
    Row("env mod get work version tool clean doc generate", "?*", under="go"),
    Row("cargo", sub=True, options="--config: --color: -Z: -C:", style="posix"),
    Row("new init", ">", "--name: --vcs: --edition: --registry: --color:", under="cargo"),
    Row("*", "?*", "--manifest-path:< --target-dir:+ --config: --root:+ --out-dir:+ --artifact-dir:+ -p: -j: "
        "--features: --bin: --example: --test: --bench: --target: --profile: --package: --version: --git:",
        under="cargo"),
    Row("pandoc", "<*", "-o:+ -f: -t: --output:+ --from: --to: --template:< --metadata-file:< -V: -M: --css: "
        "--filter:<"),
    Row("rustup mvn gradle gradlew ./gradlew dotnet swift xcodebuild bazel ninja meson", "?*",
        "--manifest-path:< --target-dir:+ --config: -f:< --file:< --output:+ -o:+"),
    Row("npm pnpm yarn", "?*", "--prefix:+ -C: --userconfig:< --cwd: --dir: -w: --workspace: -F: --filter:"),
    Row("pip conda mamba micromamba pixi poetry pipenv pdm hatch rye", "?*",
        "-r:< -c:< -e:< -t:+ -d:+ -i: --requirement:< --constraint:< --editable:< --target:+ --dest:+ --log:> "
        "--index-url: --extra-index-url: -o:+ --output:+ --report:>"),
    Row("uv", sub=True, options="--directory: --project: --config-file:< --color: --cache-dir:", style="posix"),
    Row("run", "", "--env-file:< --with: -p: --python: --with-requirements:< --group: --extra: --directory: -m: "
        "--package: --project:", under="uv", style="posix"),
    Row("*", "?*", "-r:< -c:< -o:+ -e:< -p: --requirement:< --constraint:< --output-file:+ --python: --group: "
        "--extra: --target:+ --index-url:", under="uv"),
    Row("brew apt apt-get yum dnf apk pacman snap gem bundle composer", "?*", "-o: -c:<"),
    Row("pytest", "<*", _PYTEST, whole=True),
    Row("json.tool", "<>", "--indent:"),
    Row("venv virtualenv", ">*", "-p: --prompt: --python:"),
    Row("unittest http.server timeit cprofile doctest", "?*", "-o:> -d: -b: -p: -s:"),
    Row("mypy flake8 pylint pydocstyle bandit vulture coverage tsc", "<*", "-c: -p: -o:> -m: --config-file:< "
        "--config:< --rcfile:< --output-file:> --output:> --junit-xml:> --txt-report:> --html-report:> --xml-report:> "
        "--outFile:+ --outDir:+ --project:< --tee --cache-dir: --python-version: --python-executable:", whole=True),
    Row("ruff", sub=True, options="--config:< --cache-dir:", style="posix"),
    Row("check", "<*", "-o:> -s: --fix~ --fix-only~ --unsafe-fixes --diff? --output-file:> --config:< --select: "
        "--ignore: --output-format: --extend-select: --target-version: --line-length: --exclude: --add-noqa~",
        under="ruff", whole=True, default="."),
    Row("format", "=*", "--check? --diff? --config:< --line-length: --exclude:", under="ruff", whole=True, default="."),
    Row("*", "?*", under="ruff"),
    Row("eslint stylelint", "<*", "-o:> -c:< -f: --fix~ --fix-type: --output-file:> --config:< --ext: --format: "
        "--rule: --ignore-path:< --cache-location:> --max-warnings: --fix-dry-run --parser:", whole=True),
    Row("biome", "-<*", "--write~ --apply~ --apply-unsafe~ --fix~ --config-path:<", whole=True),
    Row("prettier", "<*", "-w~ --write~ --config:< --ignore-path:< --parser: --plugin: --log-level: --cache-location:>",
        whole=True),
    Row("black isort autopep8 yapf rustfmt pyupgrade", "=*", "-l: -t: --check? --check-only? --diff? -c: "
        "--line-length: --target-version: --config:< --profile: --settings-path:< --edition: --exclude: --emit:",
        whole=True),
    Row("shfmt gofmt goimports", "<*", "-w~ -i: -ln: -d -l -s", style="words", whole=True),
    Row("clang-format", "<*", "-i~ --style: -style: -n"),
    # They run a command, which the reading lists as well.
    Row(_WRAPPERS, style="posix", runs=True),
    Row("eval trap", runs=True),
    Row("time gtime", "", "-o:> -f: --output:> --format:", style="posix", runs=True),
    Row("strace ltrace valgrind perf dtruss", "", "-o:> -e: -p: -s: -u: -E: -a: --output:> --log-file:>",
        style="posix", runs=True),
    Row("xargs gxargs", "", "-a:< -d: -E: -I: -J: -L: -n: -P: -R: -s: -S: --arg-file:< --delimiter: --max-args: "
        "--max-procs: --max-lines:: --replace:: --eof::", style="posix", runs=True),
    Row("dotenv env-cmd doppler op aws-vault foreman", "", "-f:< -e:< --env-file:< --file:<", style="posix", runs=True),
    Row("crontab", "<", "-u: -l? -e?"),
)  # fmt: skip


@lru_cache(maxsize=1)
def rows() -> Mapping[str, Row]:
    """Every row by the name of its program, with the sub-command after a blank."""
    return {f"{row.under} {name}".strip(): row for row in ROWS for name in row.names.split()}
