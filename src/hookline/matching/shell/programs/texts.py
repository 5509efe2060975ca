"""Programs that read, sort, change and show text."""

from collections.abc import Iterator

from hookline.matching.shell.found import Found, Stdin
from hookline.matching.shell.holes import Words
from hookline.matching.shell.kinds import from_stdin
from hookline.matching.shell.programs.row import Program

_GREP = (
    "-E -F -G -P -i -v -w -x -c -l -L -q -s -b -H -h -n -o -r -R -Z -z -a -I -U -T -y -e: -f: "
    "-m: -A: -B: -C: -d: -D: --color:: "
    "--colour:: --include: --exclude: --exclude-dir: --exclude-from: --regexp: --file: "
    "--max-count: --context: "
    "--after-context: --before-context: --label: --binary-files: --devices: --directories: "
    "--recursive --ignore-case"
)
_SORT = (
    "-b -d -f -g -i -M -h -n -R -r -V -c -C -m -s -u -z -k: -S: -t: -T: --ignore-leading-blanks "
    "--dictionary-order --ignore-case "
    "--general-numeric-sort --ignore-nonprinting --month-sort --human-numeric-sort "
    "--numeric-sort --random-sort --reverse "
    "--version-sort --check:: --merge --stable --unique --zero-terminated --debug --sort: "
    "--batch-size: --files0-from: --key: "
    "--random-source: --buffer-size: --field-separator: --temporary-directory: --parallel:"
)
_AWK = (
    "-b -c -C -g -h -I -k -M -n -N -O -P -r -s -S -t -V -d:: -L:: -o:: -p:: -F: -v: -m: "
    "--field-separator: --assign: "
    "--characters-as-bytes --traditional --copyright --gen-pot --csv --bignum --use-lc-numeric "
    "--non-decimal-data --optimize "
    "--posix --re-interval --no-optimize --sandbox --lint-old --lint:: --dump-variables::"
)


def _awk(rest: Words) -> Words:
    """`-W exec FILE` is `--exec FILE`, and `-W a,b` are two options."""
    ordered: list[str] = []
    names = False
    for word in rest:
        if word == "-W" and not names:
            names = True
        elif names or (word.startswith("-W") and len(word) > 2):
            ordered += [f"--{name}" for name in word.removeprefix("" if names else "-W").split(",")]
            names = False
        else:
            ordered.append(word)
    return tuple(ordered)


def _less(rest: Words, stdin: Stdin) -> Iterator[Found]:
    """With a file to show, standard input may be the terminal that commands come from, as under `script`."""
    if stdin.kind != "inherited" and any(word[:1] not in {"-", "+"} for word in rest):
        yield from from_stdin("less", stdin)


ROWS = (
    Program(
        "sed, gsed, ssed",
        "changes text as it goes by, or with -i in the file it is given",
        "-n -E -r -s -u -z -i:: -I:: -l: -b --quiet --silent --debug --follow-symlinks "
        "--in-place:: --line-length: --null-data "
        "--posix --regexp-extended --separate --sandbox --unbuffered --zero-terminated --binary",
        {"sed": "-e: --expression:", "file": "-f: --file:"},
        first="sed",
        stdin="sed",
        stdin_operands=-1,
        examples=(
            "echo y | sed '1e rm y'",
            "echo 'rm y' | sed e",
            "echo y | sed 's/.*/rm y/e'",
            "echo y | sed -n 's/.*/rm y/ep'",
            "echo y | sed -ne '1{s/^/rm /e;p}'",
            "echo y | sed --expr='1erm y'",
            "echo y > f; echo '1e rm y' | sed -f - f",
            "echo y > f; sed -n '/y/e rm y' f",
            "echo y | sed 's,y,rm y,e'",
            "echo y | sed '$!d;e rm y'",
        ),
    ),
    Program(
        "awk, gawk, mawk, nawk, original-awk, bwk, goawk",
        "computes with the fields of lines",
        _AWK,
        {
            "awk": "-e: --source:",
            "file": "-f: --file: -E: --exec: -l: --load: --include:",
            "written": "--profile:: --pretty-print::",
            "beyond": "-i: -D:: --debug::",
        },
        style="posix",
        # mawk may run the program all the same.
        quiet="",
        ordered=_awk,
        first="awk",
        stdin="awk",
        stdin_operands=-1,
        examples=(
            "awk 'BEGIN { system(\"rm y\") }'",
            'awk \'BEGIN { print "x" | "rm y" }\'',
            "awk 'BEGIN { \"rm y\" | getline }'",
            "awk 'BEGIN { c = \"rm y\"; system(c) }'",
            "echo 'BEGIN { system(\"rm y\") }' | awk -f -",
            "awk -v c='rm y' 'BEGIN { system(c) }'",
            'awk \'BEGIN { print "rm y" | "sh" }\'',
            "awk -W exec /dev/stdin <<< 'BEGIN { system(\"rm y\") }'",
            "awk --lint --help 'BEGIN { system(\"rm y\") }'",
            "awk -F: -- 'BEGIN{while((\"rm y\"|getline x)>0);}'",
        ),
    ),
    Program(
        "sort, gsort",
        "sorts lines",
        _SORT,
        {"written": "-o: --output:", "program": "--compress-program:"},
        examples=(
            "seq 9999 | sort -S 1k --compress-program=rm",
            "seq 9999 | sort -S1k --comp rm",
            "seq 9999 | sort -nS 1k --compress-prog=rm -u",
        ),
    ),
    Program(
        "shuf, gshuf, paste, join, comm, nl, tac, rev, fold, fmt, column, expand, cut, tr, wc, head, tail",
        "reads text",
    ),
    Program(
        "grep, egrep, fgrep, zgrep, ggrep, pcregrep, ugrep",
        "searches text",
        _GREP,
        {"line": "--pager: --filter:"},
    ),
    Program(
        "rg",
        "searches text",
        "-i -s -S -v -w -x -c -l -q -n -N -H -I -o -F -P -U -u -a -z -L -p -0 -. -e: -f: -g: -t: "
        "-T: -m: -A: -B: -C: -j: -M: -r: -E: -d: "
        "--glob: --iglob: --type: --type-not: --max-count: --max-depth: --after-context: "
        "--before-context: --context: --color: "
        "--colors: --replace: --sort: --sortr: --threads: --regexp: --file: --encoding: "
        "--engine: --pre-glob: --type-add: "
        "--ignore-file: --max-columns: --max-filesize: --path-separator: --dfa-size-limit: "
        "--regex-size-limit: --hidden --no-ignore",
        {"program": "--pre: --hostname-bin:"},
        examples=("echo x > f; rg --pre rm x f",),
    ),
    Program(
        "ag, ack, pt, sift",
        "searches text",
        "",
        {"usual line": "--pager:"},
        examples=("echo x > f; ack --pager='rm y' x f",),
    ),
    Program(
        "bat, batcat, delta, difft",
        "shows files",
        "-p -n -A -l: --language: --style: --theme: --color: --plain --paging:",
        {"usual line": "--pager:"},
        examples=(),
    ),
    Program(
        "less",
        "shows a file page by page",
        "-i -I -n -N -R -r -S -F -X -E -e -M -m -q -Q -s -u -U -w -W -g -G -c -C -a -A -d -f -J "
        "-L -b: -h: -j: -p: -P: -t: -x: -y: -z: -D: "
        '-": -#: --quit-if-one-screen --no-init --raw-control-chars --chop-long-lines',
        {
            "settings": "-k: --lesskey-file: --lesskey-src: -T: --tag-file:",
            "written": "-o: -O: --log-file: --LOG-FILE:",
            "beyond": "--lesskey-content:",
        },
        # Help is shown as a file is.
        quiet="--version -V",
        others="less",
        reader=_less,
        examples=(
            "echo '!rm y' | script -qc 'less f' /dev/null",
            "echo '!rm y' | script -qc 'less --help f' /dev/null",
        ),
    ),
    Program("more, most, pg", "shows a file page by page", others="less", reader=_less),
    Program(
        "man, apropos, whatis",
        "shows a page of the manual",
        "-a -k -f -w -W -K -i -I -c -t -Z -D -u -7 -d -L: -m: -S: -s: -e: -r: -E: -p: "
        "-R: --all --where --path "
        "--apropos --whatis --locale: --systems: --sections: "
        "--extension: --encoding: --prompt: "
        "--preprocessor: --no-hyphenation --no-justification --regex --wildcard --names-only "
        "--update --no-subpages --ascii "
        "--recode: --warnings:: --debug --catman --ditroff --troff",
        {
            "usual line": "-P: --pager:",
            "line": "-H:: --html::",
            "beyond": "-l --local-file -T:: --troff-device:: -X:: --gxditview::",
            "settings": "-C: --config-file: -M: --manpath:",
        },
        untried=("echo x > f; man -P 'rm y' -l f", "echo x > f; man -l --pag='rm y' f"),
    ),
    Program("info, pinfo", "shows a page of the manual"),
    Program(
        "tree",
        "lists files",
        "-a -d -f -i -l -x -p -s -h -D -F -C -J -X -L: -P: -I: -H: -T: --filelimit: --charset: --timefmt: --gitignore",
        # With -R it writes a page into every directory.
        {"beyond": "-R", "written": "-o:"},
    ),
    Program(
        "diff, gdiff, sdiff, diff3, colordiff",
        "compares files",
        "-u -c -e -n -q -s -r -N -a -b -B -i -w -y -d -p -t -T -l -U: -C: -x: -X: -I: -F: -W: "
        "-D: -S: --unified:: --context:: --color:: "
        "--brief --recursive --exclude: --label: -L: --width: --ignore-all-space --side-by-side "
        "--new-file --text",
        {"program": "--diff-program:", "written": "-o: --output:"},
    ),
    Program("enscript, a2ps, lp, lpr, pr", "prints files", "", {"beyond": "-p: --output: -o:"}),
    Program(
        "m4, gm4",
        "expands macros",
        "-D: -U: -I: -B: -L: -P -s -E -Q -F: -R: -G -H: -N: -S: -T: -d:: -l: -t: -e -g -i -W: "
        "--define: --include: --interactive",
        others="file",
        stdin="m4",
        plain="file",
        examples=("echo 'syscmd(rm y)' | m4", "echo 'esyscmd(`rm y')' | m4 -"),
    ),
    Program(
        "dc, gdc",
        "computes",
        "-x -i -V -h -s: --extended-register --interactive",
        {"dc": "-e: --expression:", "file": "-f: --file:"},
        stdin="dc",
        others="file",
        plain="file",
        examples=("dc -e '!rm y'", "echo '!rm y' | dc", "dc -e'!rm y'"),
    ),
    Program(
        "gnuplot",
        "draws figures",
        "-p -d -c: --persist --default-settings --slow",
        {"gnuplot": "-e:"},
        others="file",
        stdin="gnuplot",
        plain="file",
        examples=("gnuplot -e 'system(\"rm y\")'", "gnuplot -e '!rm y'"),
    ),
    Program("jq, gojq, jaq, yq, xq, tomlq, dasel, fx", "reads data"),
    Program(
        "ul, troff, groff, nroff, latex, pdflatex, xelatex, lualatex, tex, pdftex, latexmk",
        "sets text",
        "-interaction: -output-directory: -jobname: -halt-on-error -file-line-error -synctex: -C "
        "-c -pdf -f -g -U -S",
        {
            "line": "-e: -pdflatex: -latex:",
            "document": "-shell-escape --shell-escape -enable-write18 --enable-write18",
        },
        style="words",
        examples=("pdflatex -shell-escape '\\immediate\\write18{rm y}\\end'",),
    ),
    Program(
        "pandoc",
        "turns documents into others",
        "-f: -t: -s -N --from: --to: --standalone --toc",
        {
            "written": "-o: --output:",
            "file": "-F: --filter: -L: --lua-filter:",
            "program": "--pdf-engine: --citeproc-program:",
        },
        plain="written",
        examples=(),
    ),
    Program(
        "patch, gpatch",
        "changes files by what diff printed",
        "-p: -i: -d: -R -N -s -u -c -n -t -f -b -l -E -Z -T -F: -B: -D: -V: -Y: -z: -g:",
        {"written": "-o: --output: -r: --reject-file:", "beyond": "-e --ed"},
    ),
    Program(
        "uniq, guniq",
        "shows lines that follow each other once",
        "-c -d -u -i -z -D -f: -s: -w: --all-repeated:: --group:: --count --repeated "
        "--ignore-case --skip-fields: --skip-chars: "
        "--unique --zero-terminated --check-chars:",
        first="names",
        others="written",
    ),
    Program(
        "xxd",
        "shows bytes",
        "-a -b -C -d -e -E -h -i -p -r -u -v -c: -g: -l: -n: -o: -R: -s:",
        style="posix",  # after the input comes the output, whatever it looks like
        first="names",
        others="written",
    ),
    Program(
        "date, gdate",
        "shows the time",
        "-u -R -I:: -d: -f: -r: -j -v: --date: --file: --reference: --rfc-email --utc --iso-8601:: "
        "--rfc-3339:",
        {"beyond": "-s: --set:"},
    ),
)
