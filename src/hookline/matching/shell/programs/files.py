"""Programs that find, pack and copy files, and run a command on each of them."""

from collections.abc import Iterator

from hookline.matching.shell.found import Found, Inner, Line, Stdin
from hookline.matching.shell.holes import HOLE, Words
from hookline.matching.shell.kinds.commands import split
from hookline.matching.shell.options import Options, OptionSpec, read_options
from hookline.matching.shell.programs.row import Program

_XARGS = OptionSpec(
    "-0 -o -p -r -t -x -e:: -i:: -l:: -a: -d: -E: -I: -J: -L: -n: -P: -R: -s: -S: --null "
    "--interactive --open-tty "
    "--no-run-if-empty --verbose --exit --show-limits --arg-file: --delimiter: --eof:: "
    "--replace:: --max-lines:: "
    "--max-args: --max-procs: --max-chars: --process-slot-var: --help --version",
    "posix",
)
#: So many commands are made of names that are known; there may be more.
_MOST_COMMANDS = 20


def _xargs(rest: Words, stdin: Stdin) -> Iterator[Found]:
    """Names from standard input are added to the command, or put where a mark is."""
    read = read_options(rest, _XARGS)
    if read.unknown:
        yield from (Inner((*read.operands[at:], HOLE)) for at in range(len(read.operands)))
    command = read.operands
    if not command:
        return
    marks = [
        one.value or "{}"
        for one in read.given
        if one.name in {"-I", "-J", "-i", "--replace"} and (one.value or one.name in {"-i", "--replace"})
    ]
    names = _names(read, stdin)
    if marks:
        # Where the text has no name, the command still runs with none.
        for name in names if names is not None else (HOLE,):
            words = tuple(word.replace(marks[-1], name) for word in command)
            yield Inner(words)
            if words[0] != command[0]:
                # Not every one of them replaces the name of the program.
                yield Inner((command[0], *words[1:]))
    elif names is None:
        # Unless it is one word each time, the second one may be what a wrapper runs.
        one = "1" in read.values("-n", "--max-args")
        yield Inner((*command, HOLE) if one else (*command, HOLE, HOLE))
    else:
        for some in _chunks(read, names):
            yield Inner((*command, *some))


def _names(read: Options, stdin: Stdin) -> Words | None:
    """The names, where they are known."""
    if stdin.kind != "text" or HOLE in stdin.text or read.has("-a", "--arg-file", "-E", "-e", "--eof"):
        return None
    text = stdin.text
    delimiter = next(iter(read.values("-d", "--delimiter")), None)
    if read.has("-0", "--null") or delimiter not in {None, "\\n"}:
        return None
    if delimiter or read.has("-I", "-i", "--replace", "-J"):
        lines = text.splitlines() if delimiter else map(str.lstrip, text.splitlines())
        names = tuple(line for line in lines if line.strip())
        if any(sign in text for sign in "'\"\\") and not delimiter:
            return None
    else:
        names = split(text)
    return names if len(names) <= _MOST_COMMANDS and HOLE not in names else None


def _chunks(read: Options, names: Words) -> Iterator[Words]:
    if read.has("-n", "--max-args", "-L", "-l", "--max-lines", "-P", "--max-procs", "-s", "--max-chars"):
        yield from ((name,) for name in names)
    yield names


_PARALLEL = (
    "--eval --will-cite --citation -k --keep-order -m -X -x -q --quote -t --verbose -v --dry-run "
    "--dryrun -u --ungroup --bar --eta "
    "--progress --line-buffer --lb --no-run-if-empty -r --null -0 --pipe --tag --shuf --resume "
    "-j: --jobs: -P: -n: -N: "
    "--max-args: -L: --max-lines: -I: -a: --arg-file: -d: --delimiter: --colsep: -C: --joblog: "
    "--results: --retries: "
    "--delay: --timeout: --halt: --load: --memfree: --nice: --block: --tmpdir: --wd: --workdir: --env:"
)


def _parallel(rest: Words, stdin: Stdin) -> Iterator[Found]:
    """A line of shell, made of the operands before `:::`; without one each line of the input is a command."""
    read = read_options(
        rest, OptionSpec(f"{_PARALLEL} --shebang --sshlogin: -S: --tempdir: --onall --nonall", "posix")
    )
    operands = list(read.operands)
    marks = [at for at, word in enumerate(operands) if word in {":::", ":::+", "::::", "::::+"}]
    command = operands[: marks[0]] if marks else operands
    given = tuple(operands[marks[0] + 1 :]) if marks and operands[marks[0]].startswith(":::") else ()
    if read.unknown or "::::" in operands or HOLE in " ".join(command):
        yield from (Inner((*command[at:], HOLE)) for at in range(len(command)))
    names = given or (tuple(stdin.text.splitlines()) if stdin.kind == "text" else ())
    for name in (names or (HOLE,))[:_MOST_COMMANDS]:
        if not command:
            yield Inner((HOLE,)) if HOLE in name else Line(name)
        elif HOLE in name or "{" in " ".join(command):
            yield Inner(tuple(word.replace("{}", name) for word in command))
            yield from _line(" ".join(command).replace("{}", name))
        else:
            yield Line(" ".join((*command, name)))


def _line(code: str) -> Iterator[Found]:
    if HOLE not in code:
        yield Line(code)


_TAR_VALUED = "bCfFgHIKLNTVX"


def _bundle(rest: Words) -> Words:
    """`tar cIf PROGRAM ARCHIVE`: letters without a dash, their values after them in their order."""
    if not rest or rest[0].startswith("-"):
        return rest
    ordered: list[str] = []
    at = 1
    for letter in rest[0]:
        ordered.append(f"-{letter}")
        if letter in _TAR_VALUED and at < len(rest):
            ordered.append(rest[at])
            at += 1
    return (*ordered, *rest[at:])


def _zip(rest: Words) -> Words:
    """`-TT LINE` and `-lf FILE` are options of zip that are two letters long."""
    ordered: list[str] = []
    for word in rest:
        ordered += ["--unzip-command", word[3:]] if word.startswith("-TT") and word[3:] else [word]
    long = {"-TT": "--unzip-command", "-lf": "--logfile-path"}
    return tuple(long.get(word, word) for word in ordered)


_TAR = (
    " ".join(f"-{letter}" for letter in "AcdrtuxGnSUWkOmphBilMzZJjavwRsPo")
    + " -b: -f: -g: -H: -K: -L: -N: -V: -X: --create --extract --get --list --append --update "
    "--delete --diff --compare "
    "--catenate --concatenate --test-label --file: --exclude: --exclude-from: "
    "--strip-components: --gzip --gunzip "
    "--ungzip --bzip2 --xz --zstd --lzma --lzip --lzop --compress --uncompress --auto-compress "
    "--no-auto-compress --verbose "
    "--keep-old-files --overwrite --unlink-first --preserve-permissions "
    "--same-permissions --same-owner "
    "--no-same-owner --no-same-permissions --owner: --group: --mode: --mtime: --sort: "
    "--numeric-owner --format: --checkpoint:: "
    "--totals:: --wildcards --no-wildcards --null --verbatim-files-from --no-verbatim-files-from "
    "--transform: --xform: "
    "--exclude-vcs --exclude-vcs-ignores --exclude-caches --dereference --hard-dereference "
    "--one-file-system --absolute-names "
    "--anchored --ignore-case --no-recursion --recursion --sparse --xattrs --acls --selinux "
    "--newer: --after-date: "
    "--newer-mtime: --blocking-factor: --record-size: --label: --suffix: --backup:: "
    "--keep-newer-files --skip-old-files "
    "--ignore-failed-read --ignore-zeros --touch --to-stdout --warning: --quoting-style: "
    "--show-transformed-names "
    "--show-stored-names --listed-incremental: --incremental --multi-volume --tape-length: "
    "--verify --interactive "
    "--confirmation --no-overwrite-dir --keep-directory-symlink "
    "--starting-file: --occurrence:: --seek "
    "--no-seek --force-local --utc --full-time --block-number --pax-option: --posix "
    "--old-archive --portability "
    "--index-file: --add-file: --no-null --clamp-mtime --delay-directory-restore --owner-map: "
    "--group-map: --level: --usage "
    "--recursive-unlink --same-order --preserve-order --preserve --read-full-records --restrict "
    "--show-defaults --volno-file:"
)


ROWS = (
    Program(
        "find, gfind",
        "lists files",
        "-H -L -P -D: -O: -name: -iname: -path: -ipath: -wholename: -iwholename: -regex: "
        "-iregex: -regextype: -type: -xtype: "
        "-maxdepth: -mindepth: -newer: -anewer: -cnewer: -mtime: -mmin: -atime: -amin: -ctime: "
        "-cmin: -size: -user: -group: "
        "-uid: -gid: -perm: -links: -inum: -samefile: -lname: -ilname: -fstype: -used: -printf: "
        "-context: -files0-from: -print "
        "-print0 -prune -quit -depth -d -xdev -mount -follow -daystart -noleaf -empty "
        "-executable -readable -writable -not -a -and "
        "-o -or -true -false -ls -nouser -nogroup -warn -nowarn -ignore_readdir_race -E -X -x -s",
        {
            "exec": "-exec -execdir -ok -okdir",
            "written": "-fprint: -fprint0: -fprintf: -fls:",
            "beyond": "-delete",
        },
        style="words",
        quiet="-help -version --help --version",
        examples=(
            "find . -maxdepth 0 -exec rm {} \\;",
            "find . -maxdepth 0 -exec rm {} +",
            "find . -maxdepth 0 -execdir rm y ';'",
            "yes | find . -maxdepth 0 -ok rm {} \\;",
            "find . -maxdepth 0 -exec true ';' -exec rm y ';'",
            "find -- . -maxdepth 0 -exec true -- ';' -exec rm y ';'",
        ),
    ),
    Program(
        "fd, fdfind",
        "lists files",
        "-H -I -u -s -i -F -a -l -L -p -0 -1 -q -g --hidden --no-ignore --unrestricted "
        "--case-sensitive --ignore-case "
        "--fixed-strings --absolute-path --list-details --follow --full-path --print0 --glob "
        "--regex --quiet --show-errors "
        "-d: --max-depth: --min-depth: --exact-depth: -E: --exclude: -t: --type: -e: "
        "--extension: -S: --size: --changed-within: "
        "--changed-before: -o: --owner: --format: -j: --threads: -c: --color: --batch-size: "
        "--max-results: -C: "
        "--base-directory: --path-separator: --search-path: --and: --prune --strip-cwd-prefix:: "
        "--one-file-system",
        {"exec": "-x -X --exec --exec-batch"},
        examples=("fd . -x rm", "fd . --exec-b rm"),
    ),
    Program(
        "xargs, gxargs",
        "runs a command with names from its input",
        reader=_xargs,
        examples=(
            "echo y | xargs rm",
            "echo y | xargs -n1 rm",
            "echo y | xargs -I{} rm {}",
            "echo y | xargs -0I{} rm {}",
            "echo y | xargs -i rm {}",
            "echo rm | xargs --replace=X sh -c 'X y'",
            "echo y | xargs --max-args 1 rm",
            "echo rm y | xargs env",
            "echo \"'rm y'\" | xargs sh -c",
            "echo rm | xargs -I{} env {} y",
            "echo 'rm y' > f; xargs -a f env",
            "printf 'rm\\0y' | xargs -0 env",
        ),
    ),
    Program(
        "parallel, sem, parset, env_parallel, rush",
        "runs a command with each of several names",
        reader=_parallel,
        examples=(
            "parallel rm ::: y",
            "echo 'rm y' | parallel",
            "parallel --will-cite rm {} ::: y",
            "sem rm y",
        ),
    ),
    Program(
        "tar, gtar, bsdtar, star",
        "packs and unpacks archives",
        _TAR,
        {
            "usual line": "-I: --use-compress-program:",
            "line": "-F: --info-script: --new-volume-script: --to-command:",
            "tar action": "--checkpoint-action:",
            "program": "--rsh-command: --rmt-command:",
            "file": "-T: --files-from:",
            "output": "-C: --directory: --one-top-level::",
            "beyond": "--remove-files",
        },
        plain="file",
        stdin="tar names",
        stdin_operands=-1,
        ordered=_bundle,
        examples=(
            "touch f; tar cf a.tar -I 'rm y' f",
            "touch f; tar cIf 'rm y' a.tar f",
            "touch f; tar -cf a.tar --use-comp='rm y' f",
            "touch f; tar -c -I 'r${X}m y' f",
            "touch f; tar -cf a.tar --checkpoint=1 --checkpoint-act=exec='rm y' f",
            "touch f; tar -cf a.tar f; tar -xf a.tar --to-comm='rm y'",
            "head -c 99999 /dev/zero > f; tar -cML 20 -F 'rm y' -f a.tar f",
        ),
        untried=("tar -cf x:a.tar --rsh-command=$(command -v rm) f",),
    ),
    Program(
        "cpio",
        "packs and unpacks archives",
        "-i -o -p -t -v -d -m -u -a -0 -L -A -B -c -k -l -n -r -s -S -b -f -V --extract --create "
        "--pass-through --list --verbose "
        "--make-directories --null --quiet --preserve-modification-time -H: --format: -F: "
        "--file: -D: --directory: -C: -E: "
        "-I: -O: -M: -R: --owner: --block-size:",
        {"program": "--rsh-command: --rmt-command:"},
    ),
    Program(
        "zip",
        "packs an archive",
        "-r -q -v -9 -0 -1 -j -u -m -d -x: -i: -e -y -X -D -f -g -l -o -z -@ -n: -t: -P: -s: "
        "--recurse-paths --quiet "
        "--verbose --junk-paths --move --delete --exclude: --include: --encrypt --symlinks "
        "--update --test -T",
        {"line": "--unzip-command:", "written": "--logfile-path:", "output": "-b: -O: --output-file: --out:"},
        ordered=_zip,
        examples=("touch f; zip a.zip f -T -TT 'rm y #'", "touch f; zip -T --unzip-command 'rm y #' a.zip f"),
    ),
    Program(
        "unzip",
        "unpacks an archive",
        "-l -t -v -p -z -Z -q -o -n -j -a -b -C -L -X -M -u -f -c -K -V -x: -P: -I: -O:",
        {"output": "-d:"},
    ),
    Program("7z, 7za, 7zr, unrar, gzip, bzip2, xz, zstd", "packs and unpacks archives"),
    Program(
        "rsync",
        "copies files",
        "",
        {
            "remote shell": "-e: --rsh:",
            "line": "--rsync-path:",
            "written": "--log-file: --write-batch: --only-write-batch: -T: --temp-dir:",
            "beyond": "--delete --del --delete-before --delete-during --delete-delay --delete-after "
            "--delete-excluded "
            "--delete-missing-args --remove-source-files --daemon --server --config: -M: --remote-option:",
        },
        examples=(
            "rsync -e 'rm y' a h:b",
            "rsync -ave 'sh -c \"rm y\"' a h:b",
            "rsync --rsh='rm y' a h:b",
            "rsync -e 'sh -c' --rsync-path='rm y' a h:b",
        ),
    ),
    Program(
        "split, gsplit",
        "cuts a file into pieces",
        "-a: -b: -C: -d -e -l: -n: -t: -u -x --suffix-length: --bytes: --line-bytes: "
        "--numeric-suffixes:: --hex-suffixes:: "
        "--elide-empty-files --lines: --number: --separator: --unbuffered --verbose "
        "--additional-suffix: -p:",
        {"line": "--filter:"},
        examples=("echo x | split --filter='rm y' -", "echo x | split --fil='rm y'"),
    ),
    Program(
        "install, ginstall",
        "copies files and sets their mode",
        "-b -c -C -d -D -p -s -T -v -Z -g: -m: -o: -S: -t: --backup:: --compare --directory --group: --mode: "
        "--owner: --preserve-timestamps --strip --suffix: --target-directory: --no-target-directory --verbose "
        "--preserve-context --context::",
        {"program": "--strip-program:"},
        examples=("install -s --strip-program=rm f o", "install --strip-prog rm -s f o"),
    ),
    Program(
        "logrotate", "turns logs round", "-d -v -f -m: -s: -l:", {"line": "-m: --mail:"}, first="settings"
    ),
    Program(
        "ranger, nnn, lf, mc, vifm, broot, fzf, sk, peco",
        "shows files at a terminal",
        "",
        {"line": "-c: --cmd: --preview: --bind: --command: -p:"},
    ),
    Program(
        "entr, watchexec, nodemon, inotify-hookable, chokidar, watchman-make, reflex, air, "
        "cargo-watch, when-changed, fswatch-run",
        "runs a command when files change",
        loose=(),
    ),
    Program(
        "rename, prename, file-rename, perl-rename",
        "renames files by Perl code",
        "-v -n -f -0 -d -u -i",
        {"perl": "-e: -E:"},
        first="perl",
    ),
    Program("mmv, vidir, qmv", "renames files", "", {"usual line": "-e: --editor:"}),
)
