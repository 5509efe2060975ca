"""What programs do with the files that their words name: one row per program, or per sub-command.

A row says what the operands are and marks those options that have to do with files. Of the other options only those
with a value need to be here, and flags that would be taken for an abbreviation of one: a value that is not known as
one counts as an operand.
"""

from collections.abc import Mapping
from functools import lru_cache

from msgspec import Struct

from hookline.matching.shell.options import Style


class FileUse(Struct, frozen=True):
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
    FileUse(f"cat tac zcat bzcat xzcat zstdcat gzcat gcat rev {_CHECKSUMS} wc tsort nm readelf size hexyl", "<*",
        "--files0-from:<"),
    FileUse("head tail ghead gtail", "<*", "-n: -c: -s: --lines: --bytes: --pid: --sleep-interval:"),
    FileUse("more most zless zmore bzless col ul glow mdcat", "<*"),
    FileUse("bat batcat", "<*", "-l: -r: -H: -m: --language: --line-range: --highlight-line: --map-syntax: --style: "
        "--theme: --pager: --paging: --wrap: --tabs: --color: --decorations: --file-name: --terminal-width:"),
    FileUse("less", "<*", "-o:> -O:> -b: -h: -j: -k:< -p: -P: -t: -T:< -x: -y: -z: -D: --log-file:> --LOG-FILE:> "
        "--pattern: --lesskey-file:< --tag: --tag-file:< --prompt: --tabs: --window:"),
    FileUse("nl", "<*", "-b: -d: -f: -h: -i: -l: -n: -s: -v: -w:"),
    FileUse("od god", "<*", "-A: -j: -N: -S:: -t: -w:: --address-radix: --skip-bytes: --read-bytes: --format:"),
    FileUse("hexdump hd", "<*", "-e: -f:< -n: -s: -L::"),
    FileUse("strings", "<*", "-n: -e: -t: -T: --bytes: --radix: --encoding:"),
    FileUse("objdump", "<*", "-j: -M: -b: -m: --section: --disassembler-options:"),
    FileUse("fold expand unexpand", "<*", "-w: -t: --width: --tabs:"),
    FileUse("fmt", "<*", "-w: -p: -g: --width: --goal: --prefix:"),
    FileUse("pr look", "<*", "-w: -l:"),
    FileUse("file", "<*", "-m:< -f:< -F: -P: -e: -C~> --compile~> --files-from:< --magic-file:< --separator: "
        "--exclude:"),
    FileUse("cut gcut", "<*", "-b: -c: -d: -f: --bytes: --characters: --delimiter: --fields: --output-delimiter:"),
    FileUse("column", "<*", "-s: -o: -c: -N: -R: -T: -H: -O: -E: -W: --separator: --output-separator:"),
    FileUse("cmp", "<*", "-n: -i: --bytes: --ignore-initial:"),
    FileUse("comm paste", "<*", "-d: --delimiters: --output-delimiter:"),
    FileUse("join", "<*", "-1: -2: -t: -a: -e: -j: -o: -v:"),
    FileUse("diff gdiff colordiff sdiff diff3 delta difft icdiff wdiff", "<*", "-I: -U: -C: -F: -W: -x: -X:< -r& -o:> "
        "--recursive& --output:> --exclude: --exclude-from:< --label: --from-file:< --to-file:< --unified::"),
    FileUse("grep egrep fgrep ggrep zgrep bzgrep xzgrep pcregrep pcre2grep ugrep", "-<*", _GREP,
        "-e -f --regexp --file"),
    FileUse("rg", "-<*", _RG, "-e -f --regexp --file --files --type-list", whole=True),
    FileUse("ag ack pt", "-<*", "-A: -B: -C: -G: -m: -p:< --ignore: --ignore-dir: --depth: --pager: --output: --match:",
        "--match -f -g", whole=True),
    FileUse("base64 base32 basenc gbase64", "<*", "-w: -i:< -o:> -b: --wrap: --input:< --output:> --break:"),
    FileUse("xxd", "<$", "-c: -g: -l: -s: -o: -n: -R:", style="posix"),
    FileUse("uniq guniq", "<$", "-f: -s: -w: --skip-fields: --skip-chars: --check-chars: --group:: --all-repeated::"),
    FileUse("sort gsort", "<*", "-o:> -k: -t: -S: -T: --output:> --key: --field-separator: --buffer-size: --parallel: "
        "--temporary-directory: --batch-size: --compress-program: --files0-from:< --random-source:< --sort:"),
    FileUse("shuf gshuf", "<*", "-o:> -n: -i: --output:> --head-count: --input-range: --random-source:<"),
    FileUse("jq jaq gojq", "-<*", "-f:< -L: --from-file:< --indent: --arg --argjson --args --jsonargs", "-f "
        "--from-file"),
    FileUse("yq tomlq xq", "-<*", "-i~> -I: -o: -p: -s: --inplace~> --in-place~> --indent: --output-format: "
        "--input-format: --split-exp: --from-file:< --arg --argjson", "--from-file"),
    FileUse("xmllint", "<*", "-o:> --output:> --xpath: --schema:< --dtdvalid:< --relaxng:< --encode: --path:"),
    FileUse("iconv", "<*", "-f: -t: -o:> --from-code: --to-code: --output:>"),
    FileUse("gron jless fx", "<*"),
    FileUse("shellcheck yamllint hadolint actionlint", "<*", "-s: -e: -S: -c: -d: -x --shell: --exclude: --severity:"),
    FileUse("tokei scc", "<*", "-o:> --output:> -e: -t: -f:", whole=True),
    FileUse("cloc", "<*", "--out:> --report-file:> --csv --json --ignored:> --counted:> --exclude-dir:", whole=True),
    FileUse("source .", "<", style="posix", runs=True),
    # They list files or print their names.
    FileUse("ls gls ll dir vdir exa eza lsd stat gstat du gdu df readlink greadlink realpath basename dirname "
        "test [ [[ "
        "which type whereis locate plocate lsof fuser namei mountpoint findmnt lsattr getfacl", "%*",
        "-X:< --exclude-from:< --files0-from:<"),
    FileUse("tree", "%*", "-o:> -P: -I: -L: -H: -T: --filelimit: --charset: --timefmt: --output:>"),
    FileUse("echo printf", "%*", style="posix"),
    FileUse("fd fdfind", "%*", "-e: -t: -E: -d: -S: -o: -c: -j: --extension: --type: --exclude: --max-depth: --size: "
        "--owner: --color: --threads: --ignore-file: --search-path: --base-directory:"),
    FileUse(_NO_FILES),
    FileUse("mktemp tempfile", ">", "-d -q -u? -t? -p:+ --tmpdir::+ --suffix: --directory --dry-run?"),
    FileUse("logger", "", "-f:< --file:< -t: -p: -n: -P:"),
    # Their plain job is to change files.
    FileUse("rm grm unlink rmdir srm trash trash-put rimraf", ">*", "-r& -R& --recursive& --interactive::"),
    FileUse("touch gtouch", ">*", "-d: -t: -r: -A: --date: --reference: --time:"),
    FileUse("mkdir gmkdir mkfifo", ">*", "-m: -Z:: --mode: --context::"),
    FileUse("mknod", ">", "-m: --mode:"),
    FileUse("tee gtee sponge", ">*", "--output-error::"),
    FileUse("truncate gtruncate", ">*", "-s: -r: --size: --reference:"),
    FileUse("shred wipe", ">*", "-n: -s: --iterations: --size: --random-source:<"),
    FileUse("fallocate", ">*", "-l: -o: --length: --offset:"),
    FileUse("chmod chown chgrp gchmod gchown chcon chattr chflags", "->*",
        "-R& -v -c -f -h -H -L -P --recursive& --reference: --from:", "--reference"),
    FileUse("setfacl", ">*", "-R& -m: -x: -M:< -X:< --modify: --remove: --recursive& --set: --restore:<"),
    FileUse("split gsplit", "<-", "-a: -b: -C: -l: -n: -t: --suffix-length: --bytes: --line-bytes: --lines: --number: "
        "--filter: --additional-suffix: --separator:"),
    FileUse("csplit", "<-*", "-f: -b: -n: --prefix: --suffix-format: --digits:"),
    FileUse(_PACKERS, "=*", "-S: -b: -T: -o:+ -D:< -c? -l? -t? --stdout? --to-stdout? --list? --test? --suffix: "
        "--threads: --output:+ -r& --recursive&"),
    FileUse("zip", "><*", "-b: -i: -x: -n: -P: -O:+ -r& -R& --recurse-paths& --out:+ --exclude: --include: --password: "
        "--log-file:> --unzip-command: -m~> --move~>"),
    FileUse("unzip bsdunzip", "<-*", "-d:+ -x: -P: -I: -l? -t? -v? -p? -Z? -z?"),
    FileUse("ar gar", "-=<*"),
    FileUse("7z 7za 7zr rar unrar", "-=<*", "-o::+ -p:: -x:: -i::"),
    FileUse("cpio", "=*", "-F:+ -O:+ -I:< -D:+ -H: --file:+ --directory:+ --format:"),
    FileUse("patch gpatch", "=<", "-i:< -o:+ -d:+ -p: -D: -F: -r:+ -B: -z: -g: --input:< --output:+ --directory:+ "
        "--strip: --reject-file:+ --dry-run? -C?"),
    FileUse("ed red", "=*", "-p:"),
    FileUse("ex", "=*", "-s -e -v -R? -c:# --cmd:# -S:< -u:<"),
    FileUse(_EDITORS, "=*", "-c:# --cmd:# --eval:# -S:< -u:< -w:> -W:> -s:< --load:< --rcfile:<"),
    FileUse("dos2unix unix2dos mac2unix", "=*", "-c:"),
    FileUse("strip objcopy", "?*", "-o:+"),
    FileUse("ln gln", "", "-t:+ -S: --target-directory:+ --suffix:"),
    FileUse("cp gcp", "", _COPY),
    FileUse("install ginstall", "", "-m: -o: -g: -t:+ -S: --directory --mode: --owner: --group: --target-directory:+ "
        "--suffix: --strip-program: --backup::"),
    FileUse("mv gmv", "", "-S: -t:+ --suffix: --target-directory:+ --backup::"),
    FileUse("dd gdd"),
    FileUse("tar gtar bsdtar", "<*", _TAR),
    FileUse("find gfind", holds=True),
    # To and from other machines.
    FileUse("scp", "", _SCP),
    FileUse("rsync", "", _RSYNC),
    FileUse("sftp", "-", "-i:! -F:< -S: -o: -P: -l: -J: -D: -c: -B: -R: -X: -b:<"),
    FileUse("ssh autossh sshpass", "", f"{_SSH} -f -M:", style="posix"),
    FileUse("ssh-keygen", "", "-f:+ -t: -b: -C: -N: -P: -m: -O: -I: -s:< -V: -n: -D: -R: -F: -l -y"),
    FileUse("ssh-add", "!*", "-t: -D -d"),
    FileUse("ssh-copy-id", "-", "-i: -p: -o: -F:<"),
    FileUse("curl", "-*", _CURL),
    FileUse("wget", "-*", _WGET),
    FileUse("http https xh", "-*", "-o:+ --output:+ --session: --cert:! --cert-key:! -a: --auth: --verify: --proxy:"),
    FileUse("mail mailx mutt s-nail", "-*", "-a:^ -s: -c: -b: -r: -H:< -i:<"),
    FileUse("rclone", sub=True, options="--config:! --log-file:>", style="posix"),
    FileUse("copy copyto move moveto sync bisync", "", "--config:! --log-file:> --exclude: --include: --files-from:< "
        "--exclude-from:< --transfers: --checkers: --bwlimit:", under="rclone"),
    FileUse("*", "?*", under="rclone"),
    FileUse("gsutil", sub=True, options="-o: -h: -i: -u:", style="posix"),
    FileUse("cp mv rsync", "", "-r& -R& -x: -j: -a: -z:", under="gsutil"),
    FileUse("cat *", "?*", under="gsutil"),
    FileUse("aws", sub=True, style="posix",
        options="--profile: --region: --output: --endpoint-url: --query: --ca-bundle:"),
    FileUse("*", "?*", "--body:^ --zip-file: --profile: --region: --output:", under="aws"),
    FileUse("s3", sub=True, under="aws", options="--profile: --region: --endpoint-url:", style="posix"),
    FileUse("cp mv sync", "", "--recursive& --exclude: --include: --acl: --sse: --profile: --region: --endpoint-url: "
        "--storage-class: --content-type: --cache-control: --metadata:", under="aws s3"),
    FileUse("*", "?*", under="aws s3"),
    FileUse("gcloud az oci doctl heroku flyctl fly vercel netlify wrangler firebase", "?*", "--key-file:! "
        "--data-file:^ --flags-file:< --file:^ --env-vars-file:< --project: --region: --format:"),
    # Cryptography.
    FileUse("openssl", "-<*", _OPENSSL, style="words"),
    FileUse("gpg gpgv", "<*", _GPG),
    FileUse("age rage", "<*", "-o:> --output:> -r: -R:< -i:! --recipient: --recipients-file:< --identity:!"),
    FileUse("sops", "<*", "-i~> --in-place~> --output:> -k: -p: --age: --config:<"),
    # Sub-commands of git.
    FileUse("git", sub=True, options="-C: -c: --git-dir: --work-tree: --namespace: --config-env: --exec-path::",
        style="posix"),
    FileUse("add stage", "<*", "--chmod: --pathspec-from-file:<", under="git"),
    FileUse("commit", "<*", _COMMIT, under="git"),
    FileUse("diff show log whatchanged diff-files diff-index diff-tree range-diff reflog shortlog rev-list", "<*",
        _REVISIONS, under="git"),
    FileUse("blame annotate", "<*", "-L: -S: --contents:< --ignore-rev: --ignore-revs-file:< --since:", under="git"),
    FileUse("cat-file ls-tree rev-parse", "<*", "--batch:: --batch-check:: --format:", under="git"),
    FileUse("ls-files", "%*", "-x: -X:< --exclude: --exclude-from:<", under="git"),
    FileUse("grep", "-<*", "-e: -f:< -m: -A: -B: -C: -O:: --max-depth: --threads: --open-files-in-pager::", "-e -f",
        under="git"),
    FileUse("hash-object", "<*", "-t: --path:", under="git"),
    FileUse("branch check-attr check-ignore describe fetch for-each-ref fsck gc help ls-remote merge-base merge "
        "merge-tree "
        "name-rev notes pull push rebase remote reset show-ref status tag var version bisect cherry "
        "cherry-pick revert count-objects prune switch maintenance", "", "--output:> -F:< --file:<", under="git"),
    FileUse("worktree", sub=True, under="git", style="posix"),
    FileUse("add", ">", "-b: -B: -f -q --reason: --force --detach --lock --orphan", under="git worktree"),
    FileUse("move", "=>", "-f --force", under="git worktree"),
    FileUse("remove", ">", "-f --force", under="git worktree", whole=True),
    FileUse("*", under="git worktree"),
    FileUse("archive", "-*", "-o:> --output:> --format: --prefix: --add-file:< --remote: --exec:", under="git"),
    FileUse("format-patch", "-*", "-o:+ --output-directory:+ --output:+ --signature-file:<", under="git"),
    FileUse("bundle", "->-*", under="git"),
    FileUse("fast-export fast-import", "-*", "--export-marks:> --import-marks:<", under="git"),
    FileUse("clone", "->", "-b: -o: -u: -c: -j: --branch: --origin: --depth: --config: --reference: --template: "
        "--filter: "
        "--separate-git-dir:+ --jobs: --upload-pack:", under="git"),
    FileUse("init", ">", "-b: --initial-branch: --template: --separate-git-dir:+ --shared::", under="git", default="."),
    FileUse("apply am", "<*", "-p: -C: --directory:+ --exclude: --include: --whitespace: --check? --stat? --numstat? "
        "--summary?", under="git", default="."),
    FileUse("checkout", ">*", "-b: -B: --orphan: --conflict: --pathspec-from-file:<", under="git", whole=True),
    FileUse("restore", ">*", "-s: --source: --conflict: --staged --worktree --pathspec-from-file:<", under="git",
        whole=True),
    FileUse("clean", ">*", "-e: --exclude: -n? --dry-run?", under="git", whole=True, default="."),
    FileUse("rm", ">*", "--cached? -n? --dry-run? --pathspec-from-file:<", under="git", whole=True),
    FileUse("mv", ">*", "-n? --dry-run?", under="git", whole=True),
    FileUse("stash", ">*", "-m: --message: --pathspec-from-file:<", under="git", whole=True),
    FileUse("config", "", "-f:+ --file:+ --blob: --type: --default:", under="git"),
    FileUse("send-email", "^*", "--to: --cc: --from: --subject: --smtp-server:", under="git"),
    # Containers and clusters.
    FileUse("docker podman nerdctl", sub=True, style="posix", options="-H: -c: -l: --host: --context: --config: "
        "--log-level: --tlscacert: --tlscert:! --tlskey:! --url: --connection: --root:"),
    *(
        row
        for tool in ("docker", "podman", "nerdctl")
        for row in (
            FileUse("run create exec", "", _CONTAINER, under=tool, style="posix", runs=True),
            FileUse("container", sub=True, under=tool),
            FileUse("run create exec", "", _CONTAINER, under=f"{tool} container", style="posix", runs=True),
            FileUse("cp", under=f"{tool} container"),
            FileUse("cp", under=tool),
            FileUse("build buildx", "-*", "-f:< -t: -o:+ --file:< --tag: --output:+ --secret: --ssh: --iidfile:> "
                "--metadata-file:> --build-arg: --target: --platform: --cache-from: --cache-to: --label: --network:",
                under=tool),
            FileUse("save export", "-*", "-o:+ --output:+", under=tool),
            FileUse("load import", "<-", "-i:< --input:<", under=tool),
            FileUse("compose", "", "-f:< -p: --file:< --env-file:< --project-name: --project-directory: --profile:",
                under=tool, style="posix"),
            FileUse("ps images logs pull push login logout rm rmi start stop restart kill inspect stats top tag "
        "network "
                "volume system info version context", "", under=tool),
        )
    ),
    FileUse("docker-compose podman-compose", "", "-f:< -p: --file:< --env-file:< --project-name: --project-directory:",
        style="posix"),
    FileUse("kubectl oc k9s kustomize", "?*", _KUBE),
    FileUse("helm", "?*", _HELM),
    FileUse("terraform tofu", "?*", "-out:+ -var-file:< -state:< -state-out:> -backend-config:< -var: -target: -chdir:",
        style="words"),
    FileUse("ansible ansible-playbook", "<*", "-i:< -e: -l: -t: -u: -f: --inventory:< --extra-vars: --private-key:! "
        "--vault-password-file:! --key-file:! --limit: --tags:"),
    FileUse("gh", sub=True, options="-R: --repo:", style="posix"),
    FileUse("gist", "-^*", "-d: -f: --desc: --filename:", under="gh"),
    FileUse("release", "--^*", "-t: -n: -F:< --title: --notes: --notes-file:< -R: --repo: --target: -p: -D:+ "
        "--dir:+ -O:+",
        under="gh"),
    FileUse("secret variable", "?*", "-f:^ --env-file:^ -b: --body: -e: --env: -o: --org: -R: --repo: -r: --repos:",
        under="gh"),
    FileUse("api", "?*", "-F:@ --field:@ -f: --raw-field: --input:^ -H: --header: -X: --method: -q: --jq: -t: "
        "--template:",
        under="gh"),
    FileUse("*", "?*", "-F:< --body-file:< -b: -t: --body: --title: -R: --repo: -q: --jq: --json: -l: -L: -a: "
        "-r: -B: -H:",
        under="gh"),
    # Languages, builds and tests.
    FileUse("sh bash dash zsh ksh mksh ash rbash fish yash posh", "", "-c -o: -O: --rcfile:< --init-file:<",
        style="posix", runs=True),
    FileUse("sed gsed", "-<*", "-e:# -f:< -i::~> -l: --expression:# --file:< --in-place::~> --line-length: --null-data",
        "-e -f --expression --file"),
    FileUse("awk gawk mawk nawk", "-<*", "-f:< -F: -v: -i: -e:# -E:< -l: -o::> -p::> -d::> -D:: -W: --file:< "
        "--field-separator: --assign: --include: --source:# --exec:< --load: --pretty-print::> --profile::> "
        "--dump-variables::>", "-f -e -E --file --source --exec"),
    FileUse("python pypy ipython", "", "-c:# -m: -W: -X: -Q: --check-hash-based-pycs:", style="posix", holds=True),
    FileUse("perl", "", "-e:# -E:# -i::~> -I: -M:: -m:: -F:: -x:: -l:: -0:: -C:: -D:: -d::", style="posix"),
    FileUse("ruby", "", "-e:# -i::~> -I: -r: -C: -E: -F:: -x:: -K:: -W::", style="posix"),
    FileUse("node nodejs bun", "", "-e:# -p:# -r:< --eval:# --print:# --require:< --import: --loader: --env-file:< "
        "--env-file-if-exists:< --conditions: --inspect:: --max-old-space-size: --test-name-pattern: "
        "--cpu-prof-dir:> --redirect-warnings:> --report-directory:> --title: -C:", style="posix"),
    FileUse("php", "", "-r:# -B:# -R:# -E:# -f:< -F:< -c: -d: -S: -t: -z:", style="posix"),
    FileUse("lua luajit julia tclsh wish rscript r guile groovy elixir scala ghc erl", "",
        "-e:# -E:# -c:# -l: -i: -L:< -eval:# --eval:# --print:#", style="posix"),
    FileUse("script", ">", "-a -e -f -q -c:# --command:# -O:> -I:> -B:> -T:> --log-out:> --log-in:> --log-io:> "
    "--log-timing:> "
        "-E: -m: -o: -t::", default="typescript"),
    FileUse("sqlite litecli duckdb sqlcipher", "=#*", "-cmd:# -init:< -separator: -newline: -nullvalue: "
        "-readonly? -vfs: "
        "-maxsize: -mmap: -batch -bail -csv -json -header -column -line -list", style="words"),
    FileUse("deno m4 psql mysql mariadb gdb lldb socat nc ncat", "#*", "-c:# -e:# -f:< -o:> -r:# --command:# "
        "--execute:# --file:< --output:> -x:< -L:>"),
    FileUse("flock", "%", "-w: -E: -c:# --timeout: --command:#", style="posix", runs=True),
    FileUse("make gmake", "?*", "-f:< -C: -I: -j:: -l:: -o: -W: --file:< --makefile:< --directory: "
        "--include-dir: --eval:# "
        "--jobs:: --output-sync::"),
    FileUse("just task rake invoke", "?*", "-f:< -d: -t:< -c: --justfile:< --taskfile:< --rakefile:< --dotenv-path:<"),
    FileUse("cmake", "?*", "-S: -B:+ -G: -D: -P:< -C:< -E --build:+ --install: --preset: --target: --prefix:+"),
    FileUse("gcc g++ cc c++ clang clang++ ld as rustc", "<*", _COMPILER),
    FileUse("go", sub=True, options="-C:", style="posix"),
    FileUse("build test run vet list install", "?*", "-o:+ -coverprofile:+ -cpuprofile:+ -memprofile:+ -trace:+ -tags: "
        "-ldflags: -run: -bench: -count: -timeout: -mod: -modfile:< -p:", under="go", style="words"),
    FileUse("fmt", "=*", under="go", whole=True),
    FileUse("env mod get work version tool clean doc generate", "?*", under="go"),
    FileUse("cargo", sub=True, options="--config: --color: -Z: -C:", style="posix"),
    FileUse("new init", ">", "--name: --vcs: --edition: --registry: --color:", under="cargo"),
    FileUse("*", "?*", "--manifest-path:< --target-dir:+ --config: --root:+ --out-dir:+ --artifact-dir:+ -p: -j: "
        "--features: --bin: --example: --test: --bench: --target: --profile: --package: --version: --git:",
        under="cargo"),
    FileUse("pandoc", "<*", "-o:+ -f: -t: --output:+ --from: --to: --template:< --metadata-file:< -V: -M: --css: "
        "--filter:<"),
    FileUse("rustup mvn gradle gradlew ./gradlew dotnet swift xcodebuild bazel ninja meson", "?*",
        "--manifest-path:< --target-dir:+ --config: -f:< --file:< --output:+ -o:+"),
    FileUse("npm pnpm yarn", "?*", "--prefix:+ -C: --userconfig:< --cwd: --dir: -w: --workspace: -F: --filter:"),
    FileUse("pip conda mamba micromamba pixi poetry pipenv pdm hatch rye", "?*",
        "-r:< -c:< -e:< -t:+ -d:+ -i: --requirement:< --constraint:< --editable:< --target:+ --dest:+ --log:> "
        "--index-url: --extra-index-url: -o:+ --output:+ --report:>"),
    FileUse("uv", sub=True, options="--directory: --project: --config-file:< --color: --cache-dir:", style="posix"),
    FileUse("run", "", "--env-file:< --with: -p: --python: --with-requirements:< --group: --extra: --directory: -m: "
        "--package: --project:", under="uv", style="posix"),
    FileUse("*", "?*", "-r:< -c:< -o:+ -e:< -p: --requirement:< --constraint:< --output-file:+ --python: --group: "
        "--extra: --target:+ --index-url:", under="uv"),
    FileUse("brew apt apt-get yum dnf apk pacman snap gem bundle composer", "?*", "-o: -c:<"),
    FileUse("pytest", "<*", _PYTEST, whole=True),
    FileUse("json.tool", "<>", "--indent:"),
    FileUse("venv virtualenv", ">*", "-p: --prompt: --python:"),
    FileUse("unittest http.server timeit cprofile doctest", "?*", "-o:> -d: -b: -p: -s:"),
    FileUse("mypy flake8 pylint pydocstyle bandit vulture coverage tsc", "<*", "-c: -p: -o:> -m: --config-file:< "
        "--config:< --rcfile:< --output-file:> --output:> --junit-xml:> --txt-report:> --html-report:> --xml-report:> "
        "--outFile:+ --outDir:+ --project:< --tee --cache-dir: --python-version: --python-executable:", whole=True),
    FileUse("ruff", sub=True, options="--config:< --cache-dir:", style="posix"),
    FileUse("check", "<*", "-o:> -s: --fix~ --fix-only~ --unsafe-fixes --diff? --output-file:> --config:< --select: "
        "--ignore: --output-format: --extend-select: --target-version: --line-length: --exclude: --add-noqa~",
        under="ruff", whole=True, default="."),
    FileUse("format", "=*", "--check? --diff? --config:< --line-length: --exclude:", under="ruff", whole=True,
        default="."),
    FileUse("*", "?*", under="ruff"),
    FileUse("eslint stylelint", "<*", "-o:> -c:< -f: --fix~ --fix-type: --output-file:> --config:< --ext: --format: "
        "--rule: --ignore-path:< --cache-location:> --max-warnings: --fix-dry-run --parser:", whole=True),
    FileUse("biome", "-<*", "--write~ --apply~ --apply-unsafe~ --fix~ --config-path:<", whole=True),
    FileUse("prettier", "<*", "-w~ --write~ --config:< --ignore-path:< --parser: --plugin: --log-level: "
        "--cache-location:>",
        whole=True),
    FileUse("black isort autopep8 yapf rustfmt pyupgrade", "=*", "-l: -t: --check? --check-only? --diff? -c: "
        "--line-length: --target-version: --config:< --profile: --settings-path:< --edition: --exclude: --emit:",
        whole=True),
    FileUse("shfmt gofmt goimports", "<*", "-w~ -i: -ln: -d -l -s", style="words", whole=True),
    FileUse("clang-format", "<*", "-i~ --style: -style: -n"),
    # They run a command, which the reading lists as well.
    FileUse(_WRAPPERS, style="posix", runs=True),
    FileUse("eval trap", runs=True),
    FileUse("time gtime", "", "-o:> -f: --output:> --format:", style="posix", runs=True),
    FileUse("strace ltrace valgrind perf dtruss", "", "-o:> -e: -p: -s: -u: -E: -a: --output:> --log-file:>",
        style="posix", runs=True),
    FileUse("xargs gxargs", "", "-a:< -d: -E: -I: -J: -L: -n: -P: -R: -s: -S: --arg-file:< --delimiter: --max-args: "
        "--max-procs: --max-lines:: --replace:: --eof::", style="posix", runs=True),
    FileUse("dotenv env-cmd doppler op aws-vault foreman", "", "-f:< -e:< --env-file:< --file:<",
        style="posix", runs=True),
    FileUse("crontab", "<", "-u: -l? -e?"),
)  # fmt: skip


@lru_cache(maxsize=1)
def rows() -> Mapping[str, FileUse]:
    """Every row by the name of its program, with the sub-command after a blank."""
    return {f"{row.under} {name}".strip(): row for row in ROWS for name in row.names.split()}
