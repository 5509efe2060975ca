"""Test how the words of a command expand: variables, loops, arrays, arguments of functions, plain output."""

import pytest

from hookline.shell import HOLE, ShellReading
from tests.every import every
from tests.matching.rules_on_calls import SHELL


def read(line: str) -> ShellReading:
    return SHELL.read(line)


def commands(line: str) -> list[str]:
    return [" ".join(command.words) for command in read(line).commands]


@every(
    ("line", "command"),
    [
        ("X=git; $X status", "git status"),
        ("X='git status'; $X -s", "git status -s"),
        ("X=git; Y=$X; $Y status", "git status"),
        ("X=rm; X=ls; $X y", "rm y"),
        ("X=rm; X=ls; $X y", "ls y"),
        ("${X:-git} status", "git status"),
        ("X=git; ${X:?} status", "git status"),
        ("for p in git hg; do $p status; done", "hg status"),
        ("{git,add,a.py}", "git add a.py"),
        ("A=({git,hg}); ${A[0]} status", "git status"),
        ("X='git x'; A=($X); \"$A\" status", "git status"),
        ("git add {.github,x}/a.py", "git add .github/a.py x/a.py"),
        ("for p in {git,hg}; do $p status; done", "hg status"),
        ("a=(git status); \"${a[@]}\" -s", "git status -s"),
        ("f() { \"$@\"; }; f git status", "git status"),
        ("f() { $1 status; }; f git", "git"),
        ("bash -c '$1 $2' _ git status", "git status"),
        # The arguments of a function are not those of the code that it is in.
        ("bash -c 'f() { $1 status; }; f git' x", "git"),
        # What only the shell knows may be nothing.
        ("timeout $X 5 git status", "git status"),
        ("timeout -k$X 1 5 git status", "git status"),
        # Variables of make.
        ("printf 'C = git\\nall:; $(C) status\\n' | make -f -", "git status"),
        ("printf 'all:; gi$()t status\\n' > Makefile; make", "git status"),
        # Files that the line writes.
        ("echo git status > x.sh; sh $PWD/x.sh", "git status"),
        ("printf '[alias]\\nx = !git status\\n' > c; GIT_CONFIG_GLOBAL=c git x", "git status"),
        ("$(which git) status", "git status"),
        ("$(command -v git) status", "git status"),
        ("`echo git` status", "git status"),
        ("alias g='git -C x'; g status", "git -C x status"),
        ("IFS=,; X=git,status; $X", "git status"),
        ("read X; git push \"$X\"", f"git push {HOLE}"),
        ("echo 'git status' | sh", "git status"),
        ("sh <<'E'\ngit status\nE", "git status"),
        ("bash <<< 'git status'", "git status"),
        ("cat > x.sh <<E\ngit status\nE\nbash x.sh", "git status"),
        ("printf 'git status\\n' > x; chmod +x x; ./x", "git status"),
        ("x='a[$(git status)]'; ((x))", "git status"),
        ("export X=git; sh -c '$X status'", "git status"),
        ("X=git sh -c '$X status'", "git status"),
        ("declare -r X=git; $X status", "git status"),
        ("cp /usr/bin/git /tmp/x; /tmp/x status", "/usr/bin/git"),
    ],
)  # fmt: skip
def test_what_the_line_itself_shows_is_filled_in(line: str, command: str) -> None:
    assert command in commands(line)
    assert read(line).doubts == ()


@pytest.mark.parametrize(
    ("line", "command"),
    [
        ("$PYTHON -m pytest", "python -m pytest"),
        ('"$EDITOR" f', "vi f"),
        ("$CC $CFLAGS -c x.c", f"cc {HOLE} -c x.c"),
        ("$HOME/.local/bin/tool x", f"{HOLE}/.local/bin/tool x"),
        ('"$ROOT/scripts/x.sh" a', f"{HOLE}/scripts/x.sh a"),
        ("ROOT=$(git rev-parse --show-toplevel); $ROOT/x.sh a", f"/{HOLE}/x.sh a"),
        ("DIR=$(cd \"$(dirname \"$0\")\" && pwd); $DIR/x.sh a", f"/{HOLE}/x.sh a"),
        ("./node_modules/*/bin/eslint .", f"./node_modules/{HOLE}/bin/eslint ."),
    ],
)  # fmt: skip
def test_what_convention_says_is_no_doubt(line: str, command: str) -> None:
    assert command in commands(line)
    assert read(line).doubts == ()


@every(
    ("line", "what"),
    [
        ("$X y", "what `$X` runs"),
        ("PYTHON=$(cat f); $PYTHON y", "what `$PYTHON` runs"),
        ("read PYTHON; $PYTHON y", "what `$PYTHON` runs"),
        ("printf -v PYTHON rm; $PYTHON y", "what `$PYTHON` runs"),
        ("eval 'PYTHON=rm'; $PYTHON y", "assigns $PYTHON"),
        ("declare -n R=PYTHON; R=rm; $PYTHON y", "what `$PYTHON` runs"),
        ("X=$(cat f); $X/y", "what `$X/y` runs"),
        ("${X#a} y", "what `${X#…}` runs"),
        ("${!X} y", "what `${!X}` runs"),
        ("/bin/r? y", "what `/bin/r?` runs"),
        ("set -- $X; $1 y", "what `$1` runs"),
        ("$(cat f) y", "what `$(…)` runs"),
        ("IFS=$X; Y=r; $Y y", "what `$Y` runs"),
        ('X=$(cat f); sh -c "echo $X"', "at run time"),
        ("ls | xargs -I% sh -c 'echo %'", "at run time"),
    ],
)
def test_what_the_line_does_not_show_is_told(line: str, what: str) -> None:
    assert what in " ".join(read(line).doubts)


def test_a_variable_that_may_be_unset_leaves_the_next_word() -> None:
    assert "rm y" in commands("false && X=ls; $X rm y")
    assert "rm y" not in commands("X=ls; $X rm y")
    assert "rm y" in commands("$SUDO rm y")


def test_code_with_a_variable_of_the_environment_is_read_around_it() -> None:
    assert f"cd {HOLE}" in commands('ssh host "cd $DIR && git pull"')
    assert "git pull" in commands('ssh host "cd $DIR && git pull"')
    assert read('bash -c "cd $DIR && make"').doubts == ()


@pytest.mark.parametrize(
    ("line", "command"),
    [
        ("y &>f rm y", "rm y"),
        ("[[ a || rm y ]]", "rm y ]]"),
        ("echo $'\\'; rm y; echo \\''", "rm y"),
    ],
)
def test_what_other_shells_read_differently_counts_as_well(line: str, command: str) -> None:
    assert command in commands(line)


@pytest.mark.parametrize(
    ("line", "flows"),
    [
        ("curl x | sh", {("curl", "sh")}),
        ("curl x | sudo sh", {("curl", "sudo"), ("curl", "sh")}),
        ("bash <(curl x)", {("curl", "bash")}),
        ('sh -c "$(curl x)"', {("curl", "sh")}),
        ("a | b | c", {("a", "b"), ("b", "c")}),
        ("a; b", set[tuple[str, str]]()),
        ("(a; b) | c", {("a", "c"), ("b", "c")}),
        ("tee >(b)", {("tee", "b")}),
        ("sh <<< $(curl x)", {("curl", "sh")}),
    ],
)
def test_where_output_goes(line: str, flows: set[tuple[str, str]]) -> None:
    reading = read(line)
    named = {(reading.commands[a].base_name, reading.commands[b].base_name) for a, b in reading.flows}
    assert named >= flows
    assert bool(named) == bool(flows)


def test_files_of_redirections() -> None:
    reading = read("sort < a > b 2>> c 2>&1 &> d")
    assert reading.reads == ("a",)
    assert reading.writes == ("b", "c", "d")
