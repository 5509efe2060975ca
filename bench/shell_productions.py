"""The productions of the grammar of shell lines (`bench.shell_grammar`), by family: the ways to `rm` that are known.

Each of them, around nothing but the plain command, runs `rm` in bash or in dash.
"""

from collections.abc import Mapping
from types import MappingProxyType

#: Productions that are the words of a simple command, so that others can stand before them.
COMMANDS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "wrappers": (
            "env {w}", "env -u A {w}", "env A=1 {w}", "env -i PATH=/bin {w}", "nice {w}", "nice -n 5 {w}",
            "nice -5 {w}", "nohup {w}", "timeout 5 {w}", "timeout -k1 5 {w}", "timeout -vs KILL 5 {w}",
            "setsid -w {w}", "stdbuf -oL {w}", "ionice -c3 {w}", "ionice -tc 3 {w}", "command {w}",
            "command -p {w}", "exec {w}", "exec -a x {w}", "chrt -o 0 {w}", "taskset 1 {w}", "taskset -c 0 {w}",
            "setpriv --nnp {w}", "prlimit -n64 {w}", "flock o {w}", "flock -n o -c {q}", "unshare -r {w}",
            "strace -o /dev/null {w}", "choom -n 5 -- {w}", "env -- {w}", "nohup -- {w}", "builtin command {w}",
        ),
        "names of wrappers": (
            "linux64 {w}", "x86_64 -R {w}", "setarch -R {w}", "setarch x86_64 {w}", "/usr/bin/env {w}", "i386 {w}",
            "/lib64/ld-linux-x86-64.so.2 /usr/bin/env {w}", "ld.so /usr/bin/nice {w}", "/usr/bin/nice {w}",
            "e\\nv {w}", "'nice' {w}", "/usr/bin/../bin/env {w}", "$(echo env) {w}", "${X:-env} {w}",
            "/lib64/ld-linux-x86-64.so.2 --argv0 x /usr/bin/nice {w}",
        ),
        "abbreviated long options": (
            "env --split={q}", "env --sp {q}", "env --uns=A {w}", "env --ch . {w}", "timeout --kill 1 5 {w}",
            "timeout --sig=9 5 {w}", "nice --adj 5 {w}", "stdbuf --out L {w}", "xargs --arg list {w}",
            "script --comm={q} o", "split --filt={q} f", "make --ev={M}", "tar --use={q} -cf o d",
            "sed --expr={S} f", "git ls-remote --upload={q} .", "git grep --open={q} one", "setsid --wai {w}",
        ),
        "option clusters": (
            "bash -euo pipefail -c {q}", "bash -lO extglob -c {q}", "bash -co pipefail {q}", "bash -Oc extglob {q}",
            "bash -eO extglob -o pipefail -c {q}", "dash -eo errexit -c {q}", "sh -euc {q}",
            "bash -ceuo pipefail {q}", "bash -oO pipefail extglob -c {q}", "bash +e -xc {q}", "bash -c +x {q}",
            "bash -c -- {q}", "bash -uo pipefail -ec {q}", "sh -co errexit {q}", "bash -exo pipefail -c {q}",
        ),
        "shells": (
            "sh -c {q}", "bash -c {q}", "bash -lc {q}", "bash --norc -c {q}", "dash -c {q}", "/bin/sh -c {q}",
            "bash -c '\"$@\"' _ {w}", "sh -c '$0 y' {n}", "bash --rcfile f -c {q}", "bash -c 'eval \"$1\"' _ {q}",
            "rbash -c {q}", "/proc/self/exe -c {q}", "bash -c {q} a b",
        ),
        "env -S": ("env -S {q}", "env -vS {q}", "env -S{q}", "env -S '-u A' {w}"),
        "eval": ("eval {q}", "eval {w}", "builtin eval {q}", "command eval {q}", "eval -- {q}", "eval eval {q}"),
        "find": (
            "find y -exec {w} \\;", "find y -exec {w} {} +", "find . -maxdepth 0 -execdir sh -c {q} \\;",
            "find y -exec true \\; -exec {w} ';'", "find y ! -exec {w} \\;",
        ),
        "xargs": (
            "xargs -a list {w}", "xargs -ra list -n 1 {w}", "xargs -a list -L1 {w}", "xargs -a list sh -c {q}",
            "xargs -a list -P2 -n1 {w}", "xargs -tn1 -a list {w}",
        ),
        "xargs, replace and old forms": (
            "xargs -a list -I% {w} %", "xargs -a list -i {w} {}", "xargs -a list -i% {w} %",
            "xargs -a list --replace {w}", "xargs -a list --replace=@ {w} @", "xargs -a list -l {w}",
            "xargs -a list -e {w}", "xargs -a list --eof {w}", "xargs -a list --max-lines {w}",
        ),
        "script, watch": (
            "script -qc {q} /dev/null", "script -c{q} o", "script -qec {q} o", "script o -c {q}", "watch {q}",
            "watch -tn1 {q}", "watch -x {w}",
        ),
        "ssh -o": (
            "ssh -o ProxyCommand={q} h", "ssh -oProxyCommand={q} h", "ssh -vo proxycommand={q} h",
            "scp -o ProxyCommand={q} f h:", "sftp -oProxyCommand={q} h", "ssh -4 h -o ProxyCommand={q}",
        ),
        "make": (
            "make --eval={M}", "make -E {M}", "make -E{M}", "make -sE {M}", "make -f /dev/null --eval {M}",
            "make -C d --eval={M}", "make SHELL=/bin/rm", "make -s SHELL=rm all",
        ),
        "tar": (
            "tar cf o --checkpoint=1 --checkpoint-action=exec={q} d", "tar -I {q} -cf o d", "tar -cvf o -I{q} d",
            "tar --use-compress-program={q} -cf o d", "tar cIf {q} o d", "tar -c -I {n} f",
        ),
        "git -c": (
            "git -c alias.x={G} x", "git -C . -c alias.x={G} x", "git -c core.fsmonitor={q} status",
            "git -c diff.external={q} diff", "git -c core.sshCommand={q} fetch h:x",
            "git -c core.editor={q} commit --amend", "git --no-pager -c alias.x={G} x",
            "git -c sequence.editor={q} rebase --autostash -i HEAD~1",
        ),
        "git's own options": (
            "git grep -O{q} one", "git grep -iO{n} one", "git difftool -yx {q}", "git difftool --extcmd={q} -y",
            "git rebase --autostash -x {q} HEAD~1", "git rebase --autostash -x{q} HEAD~1",
            "git ls-remote --upload-pack={q} .", "git fetch --upload-pack {q} .", "git push --exec={q} . main:x",
            "git -c protocol.ext.allow=always ls-remote ext::rm", "git clone --no-local -u {q} . z",
        ),
        "sort, split, zip": (
            "split --filter={q} f", "split -l1 --filter {q} f", "install -s --strip-program={n} f o",
            "zip -qT -TT {q} o.zip f", "seq 100000 | sort -S1k --compress-program={n}",
        ),
        "sed": (
            "sed {S} f", "sed -n {S} f", "sed -ne {S} f", "sed --expression={S} f", "sed -s -e p -e {S} f",
            "sed -i.b {S} f",
        ),
        "awk": ("awk {A}", "awk -F: {A}", "mawk {A}", "awk -v a=1 {A} f"),
        "python, perl": (
            "python3 -c {P}", "python3 -Ic {P}", "python3 -u -c {P}", "perl -e {L}", "perl -we {L}",
            "perl -Mstrict -e {L}", "perl -nle {L} f", "python3 -m timeit -n1 -r1 {P}",
        ),
        "gdb": ("gdb -nx -batch -ex {E}",),
    }
)  # fmt: skip

#: Productions that are lines.
LINES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "lists and groups": (
            "{c}; true", "true; {c}", "true && {c}", "false || {c}", "true\n{c}", "true & {c}", "{c} & wait",
            "ls | {c}", "ls |& {c}", "! {c}", "({c})", "{ {c}; }", "{ {c}\n}", "time {c}", "time -p {c}", "(({c}) )",
            "{c} | cat", "{c} && :", ": && ({c}) || :",
        ),
        "control flow": (
            "if {c}; then :; fi", "if true; then {c}; fi", "if false; then :; else {c}; fi",
            "while {c}; do break; done", "until {c}; do :; done", "for i in 1; do {c}; done",
            "for ((i=0;i<1;i++)); do {c}; done", "case x in x) {c};; esac", "case x in a) ;; *) {c} ;; esac",
            "case x in (x) {c}; esac", "select x in a; do {c}; break; done <<< 1", "while :; do {c}; break; done",
            "for i in a; { {c}; }", "coproc { {c}; }; wait", "[[ a == a ]] && {c}", "(( 1 )) && {c}",
        ),
        "functions": (
            "f() { {c}; }; f", "f() ({c}); f", "function f { {c}; }; f", 'f() { "$@"; }; f {w}',
            "f() { $1 y; }; f {n}", 'f() { eval "$1"; }; f {q}', "f() { sh; }; echo {q} | f",
            "ls() { {c}; }; ls", "f() { {c}; }; export -f f; bash -c f", "f() if true; then {c}; fi; f",
            'f() { shift; "$@"; }; f x {w}', "f() { echo {q}; }; f | sh", "f() { {c}; }; trap f EXIT",
        ),
        "substitutions": (
            "echo $({c})", 'echo "$({c})"', "x=$({c})", "echo ${X:-$({c})}", 'echo "${X:-$({c})}"',
            "echo $(( $({c}) 1 ))", "[[ -n $({c}) ]]", "cat <({c})", "a[$({c})0]=1", "a=(1 $({c}))",
            "for i in $({c}); do :; done", "case $({c}) in *) ;; esac", "echo x > $({c})", "cat <<< $({c})",
            "echo x | tee >({c})", "export A=$({c})", "local x=$({c})", "echo $(({c}) )", "echo $[ $({c}) 1 ]",
            "(( x = $({c}) 0 ))", 'declare "x=$({c})"', "echo ${PATH:$({c})0}", "X=a; echo ${X/a/$({c})}",
            "echo {a,$({c})}", "echo $(\n{c}\n)", "echo $(case x in x) {c};; esac)", "{ :; } > $({c})",
            "echo $(: ')'; {c})", "echo $( # it's )\n{c})",
        ),
        "backquotes": ("echo `{b}`", "x=`{b}`", "echo ${X:-`{b}`}", "[ -n `{b}` ]", "echo $((`{b}` 1))"),
        "backquote escapes": (
            "echo `r\\\\m y`", "echo `\\\\rm y`", "echo `echo \\`{b}\\``", 'echo "`r\\\\m y`"',
            'echo `eval "r\\\\\\\\m y"`', 'echo "`echo \\"\\`rm y\\`\\"`"',
        ),
        "$'…'": (
            "echo $'\\\\'; {c} #'", "echo $'a\\'b'; {c} #'", "$'\\x72m' y", "$'\\162m' y", "echo $'\\\\'$({c})",
            "eval $'\\x72m y'", "r$'\\x6d' y",
        ),
        "== in [ ]": (
            "[ a == $({c}) ]", "[ x == `{b}` ] || true", "if [ a == $({c}) ]; then :; fi", 'test x == "$({c})"',
            "[ -n a ] && [ a == $({c}) ]", "while [ a == $({c}) ]; do :; done",
        ),
        "quotes and comments": (
            "# it's\n{c}", 'true # "\n{c}', "true \\\n; {c}", "echo a#b; {c}", "echo ${#PATH}; {c}", "echo '\\'; {c}",
            'echo "\\""; {c}', "echo \\'; {c}; : \\'", "true #$(\n{c}", "echo \"'\"; {c}; echo \"'\"",
            "echo 'a'\\''b'; {c}", "echo `echo a#`; {c}", "echo {a,#b}; {c}",
        ),
        "here-documents": (
            "cat <<E\n$({c})\nE", "bash <<E\n{h}\nE", "sh <<'E'\n{c}\nE", "cat <<E; {c}\nx\nE",
            "cat <<-E\n\t`{b}`\n\tE", "cat <<A <<B; {c}\na\nA\nb\nB", "cat <<'E'\n\"\nE\n{c}", "cat <<E\n'\nE\n{c}",
            "cat <<E | sh\n{h}\nE", "<<E {w}\nx\nE", "bash -s a <<\\E\n{c}\nE", "cat <<\"E\" | {c}\n$(true)\nE",
            "x=$(cat <<E\n$({c})\nE\n)", 'eval "$(cat <<\'E\'\n{c}\nE\n)"', "sh 3<<E <&3\n{h}\nE",
            "{ sh; } <<'E'\n{c}\nE", "cat <<E; cat <<F\nx\nE\n$({c})\nF",
            "python3 <<E\nimport os; os.system('rm y')\nE",
            "cat <<E\n${X:-$({c})}\nE", "cat <<$\n$\n{c}",
        ),
        "unterminated here-documents": (
            "cat <<E\n$({c})", "sh <<E\n{h}", "sh <<'E'\n{c}", "cat <<E | sh\n{h}", "cat <<-E\n`{b}`",
            "cat <<E\n$({c})\n E", "bash <<'E'\n{c}\nE ",
        ),
        "here-strings": (
            "bash <<< {q}", "bash -s <<< {q}", ". /dev/stdin <<< {q}", 'read -r X <<< {q}; eval "$X"',
            "sh <<E\n$(cat <<< {q})\nE", "xargs -I% sh -c % <<< {q}", "python3 <<< {P}", "bash -euo pipefail <<< {q}",
        ),
        "process substitution": (
            "bash <(echo {q})", ". <(echo {q})", "bash -euo pipefail <(printf %s {q})", "cat < <({c})",
            "python3 <(echo {P})", "sed -f <(echo {S}) f", "make -f <(echo {M})", "awk -f <(echo {A})",
            "bash --rcfile <(echo {q}) -ic :",
        ),
        "options that are printed": (
            "echo -I {n} | cat | xargs tar -cf o d", "tar -cf o d $(nice echo -I {n})",
            "nice echo -exec {n} y ';' | xargs time find f", "{ echo -I {n}; } | xargs nice tar -cf o d",
            "echo -I {n} > o; xargs tar -cf p d < o", "tar -cf o d `echo -I {n} | rev | rev`",
            "find f -exec true -- ';' -exec {n} y ';'",
        ),
        "code on standard input: shells": (
            "echo {q} | sh", "echo {q} | bash -s", "printf '%s\\n' {q} | bash -euo pipefail", "echo {q} | bash -",
            "echo {q} | env sh", "echo {q} | nice -n 5 bash", "echo {q} | cat | sh", "echo {q} | bash -s -- a",
            "echo {q} | tee o | sh", "echo {q} | (sh)", "echo {q} | eval \"$(cat)\"", "echo {q} | sh -c sh",
            "echo {q} | xargs -d '\\n' sh -c", "echo {q} | while read -r l; do eval \"$l\"; done",
            "echo {q} | xargs -0 -I{} sh -c {}", "echo {q} | timeout 5 bash -x", "echo {q} | rev | rev | sh",
        ),
        "paths of standard input": (
            "echo {q} | bash /dev//stdin", "echo {q} | bash /dev/./stdin", "echo {q} | sh /dev/fd/0",
            "echo {q} | (cd /dev; bash stdin)", "echo {q} | bash /dev/stdi[n]", "echo {q} | sh /proc/self/fd/0",
            "echo {q} | . /dev/../dev/stdin", "echo {q} | bash -e /dev/fd//0",
        ),
        "shells that programs start": (
            "echo {q} | script -q /dev/null", "echo {q} | unshare -r", "echo {q} | linux64", "echo {q} | chroot /",
            "echo {q} | setarch -R", "echo {q} | unshare", "SHELL=/bin/rm script -q o",
        ),
        "code on standard input: programs": (
            "echo {P} | python3", "echo {P} | python3 -u", "echo {P} | python3 -I -", "echo {L} | perl",
            "echo {L} | perl -w", "echo {q} | sed e", "echo {q} | sed -n 1e", "echo {q} | sed 's/^//e'",
            "echo {S} | sed -f - f", "echo {A} | awk -f -", "echo {A} | mawk -f /dev/stdin", "echo {M} | make -f -",
            "echo {M} | make -sf-", "echo {M} | make --file=/dev/stdin", "echo {E} | ed -s f",
            "echo {q} | awk '{system($0)}'", "echo {q} | perl -ne 'system $_'",
        ),
        "values run later": (
            'X={q}; eval "$X"', "X={n}; $X y", 'X={q}; sh -c "$X"', "for X in {n}; do $X y; done",
            'set -- {w}; "$@"', 'C=({w}); "${C[@]}"', "${X:-{n}} y", "$(echo {n}) y", "x=x{n}; ${x#x} y",
            'X={q}; bash <<< "$X"', "export X={q}; bash -c 'eval $X'", "X={n}; env $X y", "X={n}; Y=$X; $Y y",
            'for c in true {q}; do eval "$c"; done', "X={n} bash -c '$X y'", "X=r; X+=m; $X y", "r${X}m y", "r$@m y",
            "x=/bin; $x/rm y", "if true; then X={n}; fi; $X y", "f() { X={n}; }; f; $X y", "true rm; $_ y",
            'X={q}; echo "$X" | sh', 'X={q}; trap "$X" EXIT', ": ${X:={n}}; $X y", 'set -- {q}; eval "$1"',
        ),
        "values from builtins": (
            "printf -v X %s {n}; $X y", "read X <<< {n}; $X y", "mapfile -t X <<< {n}; ${X[0]} y",
            "declare X={n}; $X y", "getopts c: X -c {n}; $OPTARG y", "readarray -t X <<< {n}; $X y",
            "typeset X={n}; $X y", "echo {n} | { read X; $X y; }", "read -ra C <<< 'rm y'; \"${C[@]}\"",
            "while read -r X; do $X y; done <<< {n}", "printf -v X '\\x72m'; $X y",
            "declare -a 'X=(rm y)'; \"${X[@]}\"",
        ),
        "indirection": (
            "Y={n}; X=Y; ${!X} y", "declare -n r=X; X={n}; $r y", "declare -n r=X; r={n}; $X y",
            "X='$Y'; Y={n}; eval $X y", "n=X; declare $n={n}; $X y", "declare -A m=([k]={n}); ${m[k]} y",
        ),
        "IFS": (
            "IFS=,; X=rm,y; $X", "rm${IFS}y", "IFS=_; set -- rm_y; $1", "eval rm${IFS}y", "IFS=x; X=rmxy; $X",
            "IFS=, read a b <<< rm,y; $a $b", "f() { local IFS=,; $1; }; f rm,y",
        ),
        "aliases": (
            "shopt -s expand_aliases\nalias zz={q}\nzz", "alias zz={q}\nzz", "alias zz={q}; eval zz",
            "shopt -s expand_aliases\nBASH_ALIASES[zz]={q}\nzz", "alias a='env ' b={q}\na b",
            "shopt -s expand_aliases\nalias e=eval\ne {q}", "alias b='sh -c'\nb {q}",
        ),
        "traps": (
            "trap {q} EXIT", "trap {q} DEBUG; true", "trap {q} ERR; false", "trap -- {q} 0",
            "trap {q} USR1; kill -USR1 $$", "f() { trap {q} RETURN; }; f", "(trap {q} EXIT)", "builtin trap {q} EXIT",
        ),
        "arithmetic that evaluates names": (
            "x={V}; ((x))", "x={V}; echo $((x+1))", "x={V}; let z=x", "x={V}; [[ x -eq 0 ]]", "[[ -v {V} ]]",
            "test -v {V}", "[ -v {V} ]", "declare -i n={V}", "x={V}; declare -i n=x", "x={V}; echo ${PATH:x}",
            "x={V}; a[x]=1", "let {V}=1", "printf -v {V} z", "read {V} <<< 1", "x={V}; for ((;x;)); do :; done",
            "f() { (( $1 )); }; f {V}", "x={V} bash -c '((x))'", "[[ {V} -eq 0 ]]", "declare -i n; read n <<< {V}",
            "x={V}; y=x; ((y))", "unset {V}", "RANDOM={V}", "declare -i n; for n in {V}; do :; done",
        ),
        "${x@P} and PS4": (
            "X='$(rm y)'; echo ${X@P}", "set -- '`rm y`'; : ${1@P}", "PS4='$(rm y)'; set -x; :",
            "PS4='$(rm y)' bash -xc :", "export PS4='$(rm y)'; bash -euxo pipefail -c :",
            "env PS4='$(rm y)' bash -xc :",
            "PS1='$(rm y)' bash --norc -i </dev/null", "printf -v PS4 %s '$(rm y)'; set -x; :",
        ),
        "start-up files and variables": (
            "BASH_ENV=/dev/stdin bash -c : <<< {q}", "BASH_ENV=<(echo {q}) bash -c :", "BASH_ENV='$(rm y)' bash -c :",
            "ENV='$(rm y)' sh -ic :", "PROMPT_COMMAND={q} bash --norc -i </dev/null",
            "export BASH_ENV='`rm y`'; bash -c :",
            "env 'BASH_FUNC_zz%%=() { rm y; }' bash -c zz", "env BASH_ENV='$(rm y)' bash -c :",
        ),
        "BASH_CMDS, hash and builtins that run": (
            "BASH_CMDS[zz]=/bin/rm; zz y", "hash -p /bin/rm zz; zz y", "compgen -C {q} x", "compgen -W '$(rm y)'",
            "mapfile -C {q} -c 1 X < f", "readarray -tC rm -c 1 X < f", "command_not_found_handle() { {c}; }; zz",
            "hash -rp /bin/rm zz; zz y", "mapfile -Crm -c1 X < f", "BASH_CMDS=([zz]=/bin/rm); zz y",
        ),
        "variables of programs": (
            "GIT_SSH_COMMAND={q} git ls-remote h:x", "GIT_EXTERNAL_DIFF={q} git diff",
            "GIT_EDITOR={q} git commit --amend",
            "GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=alias.x GIT_CONFIG_VALUE_0={G} git x",
            "TAR_OPTIONS='-I rm' tar cf o d",
            "LESSOPEN='|rm %s' less f", "env GIT_SSH_COMMAND={q} git fetch h:x", "X={G} git --config-env=alias.x=X x",
            "PERL5DB={L} perl -d -e 1", "export GIT_EXTERNAL_DIFF={q}; git diff",
            "MAKEFILES=<(echo '$(shell rm y)') make",
        ),
        "git settings": (
            "git config alias.x {G}; git x", "git config core.fsmonitor {q}; git status",
            "git config --global alias.x {G} && git x",
        ),
        "assignments and redirections": (
            "A=1 {w}", ">o {w}", "2>&1 {w}", "<<<x {w}", "A=1 B='2 3' >o {w}", "{w} >o 2>&1", "&>o {w}", "a[0]=1 {w}",
            "env >o {w}", "nice 2>&1 <f {w}", "exec 3>&1; {c}", "! A=1 {w}", "{fd}>o {w}", "A=$(true) {w}",
        ),
    }
)  # fmt: skip

NAMES: tuple[str, ...] = (
    "\\rm", "r''m", '"rm"', "'r'm", "$'\\x72m'", "/bin/rm", "/usr/bin/../bin/rm", "r{m,}", "/bin/r?", "$(echo rm)",
    "`echo rm`", "${X:-rm}", "r${X}m", "rm$X", "r\\m", "{rm,-f}", "/bin/[r]m", "r\\\nm", "r\"$X\"m",
)  # fmt: skip
