"""Programs that build: make, cmake, compilers and the tools of single languages."""

from hookline.matching.shell.holes import Words
from hookline.matching.shell.programs.row import Program

_MAKE = (
    "-b -m -B -d -e -i -k -n -p -q -r -R -s -S -t -v -w -o: -W: -j:: -l:: -O:: "
    "--always-make --debug:: "
    "--environment-overrides --ignore-errors --jobs:: --keep-going "
    "--load-average:: --max-load:: "
    "--check-symlink-times --just-print --dry-run --recon --old-file: --assume-old: "
    "--output-sync:: --print-data-base "
    "--question --no-builtin-rules --no-builtin-variables --silent --quiet --no-silent "
    "--no-keep-going --stop --touch "
    "--trace --print-directory --no-print-directory --what-if: --new-file: --assume-new: "
    "--warn-undefined-variables "
    "--jobserver-style: --shuffle::"
)
_COMPILER = (
    "-c -g -E -S -v -w -s -I: -L: -l: -D: -U: -x: -include: -isystem: -iquote: "
    "-std: -arch: -target: -T: -u: -z: -MT:"
)


_GLUED = {
    "-B": "--prefix",
    "-Wl,": "--linker",
    "-Wp,": "--linker",
    "-Wa,": "--linker",
    "@": "--arguments",
    "-o": "--output",
    "-fdump-": "--dump",
    "-fopt-info": "--dump",
    "-save-temps=": "--dump",
    "-time=": "--dump",
    "-dumpdir=": "--dump",
}


def _compiler(rest: Words) -> Words:
    """Values that are glued to an option of one letter or to `-Wl,`, and files with arguments."""
    ordered: list[str] = []
    for word in rest:
        for glued, option in _GLUED.items():
            if word.startswith(glued) and word != glued:
                ordered.append(f"{option}={word[len(glued) :]}")
                break
        else:
            ordered.append({"-B": "--prefix", "-o": "--output"}.get(word, word))
    return tuple(ordered)


def _without_toolchain(rest: Words) -> Words:
    """`cargo +nightly build`."""
    return rest[1:] if rest[:1] and rest[0].startswith("+") else rest


def _one_dash(rest: Words) -> Words:
    """Options of go take one dash or two."""
    return tuple(f"-{word[2:]}" if word.startswith("--") and len(word) > 2 else word for word in rest)


_CARGO = (
    "-p: -j: -F: -r -v -q --features: --all-features --no-default-features --target: --bin: --bins "
    "--example: --examples "
    "--test: --tests --bench: --benches --lib --all-targets --package: --workspace --all --exclude: "
    "--profile: --release "
    "--color: --locked --offline --frozen --jobs: --message-format: --keep-going --no-run --no-fail-fast "
    "--verbose --quiet"
)
#: Options of all sub-commands of cargo that change what it runs, or where it writes.
_CARGO_VALUES = {
    "beyond": "--config:",
    "place": "--manifest-path: -C: --path: --lockfile-path:",
    "output": "--target-dir: --artifact-dir: --out-dir:",
}
_GO = (
    "-v -x -n -a -race -msan -asan -cover -short -json -work -trimpath -run: -bench: -tags: -count: "
    "-timeout: -p: -mod: "
    "-parallel: -cpu: -f: -benchtime: -shuffle: -failfast -benchmem -coverpkg: -covermode: -list: -skip: -buildmode: "
    "-buildvcs: -compiler: -installsuffix: -linkshared -pgo: -modcacherw -vet: -fuzz: -fuzztime: -m -u -t "
    "-e -deps -test -c"
)
_GO_FILES = "cpuprofile: memprofile: blockprofile: mutexprofile: trace: outputdir: coverprofile: "
"gocoverdir: testlogfile:"
_GO_VALUES = {
    "words": "-exec: -toolexec:",
    "file": "-vettool: -overlay:",
    "go flags": "-ldflags: -gcflags: -asmflags: -gccgoflags:",
    "place": "-C: -modfile:",
    "output": "-o: -pkgdir: "
    + " ".join(f"-{name} -test.{name}" for name in _GO_FILES.split())
    + " -test.fuzzcachedir:",
}


ROWS = (
    Program(
        "make, gmake, bmake, remake",
        "runs the recipes of a makefile",
        _MAKE,
        {
            "makefile": "-E: --eval:",
            "file": "-f: --file: --makefile:",
            "place": "-C: --directory: -I: --include-dir:",
        },
        near="file",
        here=True,
        others="make variable",
        stdin="makefile",
        stdin_operands=-1,
        examples=(
            "make -E 'x:;rm y' x",
            "make --eval='$(shell rm y)' x",
            "make --ev='x:;@rm y' x",
            "printf 'x:\\n\\trm y\\n' | make -f -",
            "printf 'x:;rm y' | make -f/dev/stdin",
            "printf 'x:;@echo a' > Makefile; make SHELL=rm",
            "printf 'x:;$(CC) y' > Makefile; make CC=rm",
            "printf 'x:;echo $(A)' > Makefile; make 'A=$(shell rm y)'",
            "printf 'x:;echo a' > Makefile; make .SHELLFLAGS='-c \"rm y\"'",
        ),
    ),
    Program(
        "cmake, ccmake",
        "configures and builds a project",
        "-S: -B: -G: -T: -A: -D: -U: -C: -L:: -N -W: -j:: --build: --install: --open: --preset: "
        "--target: -t: --config: --parallel:: "
        "--clean-first --fresh --verbose --trace --debug-output --toolchain: --prefix: --component:",
        {"file": "-P:"},
        loose=("-E",),
        style="posix",
        examples=("cmake -E env rm y", "cmake -E env A=1 rm y", "cmake -E time rm y"),
    ),
    Program("ctest, cpack", "runs tests", "", {"file": "-S: -SP:"}, loose=("--test-command",)),
    Program(
        "ninja, samu, ninja-build",
        "runs the recipes of a build file",
        "-C: -k: -j: -l: -n -v -t: -d: -w:",
        {"file": "-f:"},
        plain="file",
        examples=(),
    ),
    Program(
        "just",
        "runs the recipes of a justfile",
        "-f: -d: --justfile: --working-directory: --set: --dotenv-path:",
        {"program": "--shell:", "beyond": "--shell-arg: --chooser:"},
        loose=("-c", "--command"),
        plain="",
    ),
    Program(
        "task, rake, mage, invoke, inv, nox, tox, doit, scons, waf, bazel, bazelisk, buck, buck2, "
        "pants, gradle, gradlew, mvn, mvnw, sbt, ant, "
        "lein, mill, xcodebuild, swift",
        "builds a project",
        "-f: -e: -C:",
        {"beyond": "--run_under: --shell_executable: -I: --init-script:"},
    ),
    Program(
        "gcc, g++, cc, c++, clang, clang++, cpp, gfortran, tcc, icc, x86_64-linux-gnu-gcc, "
        "x86_64-linux-gnu-g++",
        "compiles",
        _COMPILER,
        {
            "comma words": "-wrapper:",
            "settings": "--prefix: -fplugin: -specs: --specs: --config: --arguments:",
            "linker option": "--linker: -Xlinker: -Xassembler: -Xpreprocessor:",
            "path": "-fuse-ld:",
            "output": "--output: -aux-info: -dumpdir: -fprofile-dir: -fprofile-generate: -fcallgraph-info:",
            "written": "-MF: --dump:",
        },
        style="words",
        ordered=_compiler,
        quiet="--help --version -dumpversion -dumpmachine",
        examples=(
            "echo 'int main;' > a.c; gcc -wrapper rm a.c",
            "echo 'int main;' > a.c; gcc -wrapper rm,y -c a.c",
        ),
    ),
    Program(
        "ld, ld.bfd, ld.gold, lld, gold",
        "links",
        _COMPILER,
        {"file": "-plugin: --plugin:"},
        style="words",
        quiet="--help --version -v -V",
    ),
    Program(
        "cargo",
        "builds a project of Rust",
        "--color: -v -q --verbose --quiet --locked --offline --frozen -j: -V --list --explain:",
        {"beyond": "--config: -Z:", "place": "-C:"},
        style="posix",
        loose=("watch",),
        ordered=_without_toolchain,
        here=True,
        quiet="--help --version -V -h --list",
        examples=(),
    ),
    Program("cargo *", "builds and runs a project of Rust", f"{_CARGO} -Z:", _CARGO_VALUES),
    Program(
        "cargo test, cargo t, cargo bench", "runs tests", f"{_CARGO} -Z:", _CARGO_VALUES, others="test flag"
    ),
    Program(
        "cargo new, cargo init, cargo vendor",
        "makes a directory",
        f"{_CARGO} --name: --vcs: --edition: -s: --sync: --lib",
        _CARGO_VALUES,
        others="output",
    ),
    Program(
        "rustc, rustdoc",
        "compiles",
        "-L: -l: -o: -A: -W: -D: -F: --cfg: --crate-type: --crate-name: --edition: --emit: --target: "
        "--out-dir: --extern:",
        {"beyond": "--sysroot:", "rust setting": "-C: --codegen:"},
        others="",
        examples=(),
    ),
    Program("rustup, rustup run", "runs a tool of Rust", loose=("run",)),
    Program(
        "go",
        "builds a project of Go",
        "",
        {"place": "-C:"},
        style="words",
        ordered=_one_dash,
        here=True,
        examples=(),
    ),
    Program("go *", "builds and tests a project of Go", _GO, _GO_VALUES, style="words", ordered=_one_dash),
    Program(
        "go run",
        "runs a program of the project",
        _GO,
        _GO_VALUES,
        style="words",
        ordered=_one_dash,
        first="go package",
    ),
    Program("go mod, go work", "works with the modules of a project", style="posix"),
    Program(
        "go mod *, go work *",
        "works with the modules of a project",
        "-v -json -x -e -compat: -go: -reuse:",
        {"output": "-o:", "place": "-modfile: -C:"},
        style="words",
        ordered=_one_dash,
    ),
    Program(
        "go tool",
        "runs a tool of Go",
        "-n -func: -html: -mode:",
        {"output": "-o:", "words": "-extld: -extar: -toolexec: -vettool:", "go flags": "-extldflags:"},
        style="words",
        ordered=_one_dash,
    ),
    Program(
        "go env",
        "shows settings of Go",
        "-json -changed",
        {"beyond": "-w -u"},
        style="words",
        ordered=_one_dash,
    ),
    Program(
        "cargo rustc, cargo install, cargo fix",
        "builds a project of Rust with options of the compiler",
        always=True,
    ),
    Program(
        "javac, java, kotlin, kotlinc, scalac, jshell",
        "compiles or runs a program of Java",
        "-cp: -classpath: -jar: -d: -m: -p: --module-path: --class-path:",
        {"file": "-javaagent: -agentpath: -agentlib: -processorpath:"},
        style="words",
        others="java option",
        examples=(),
    ),
    Program("dotnet", "builds a project of dotnet", style="posix"),
    Program(
        "configure, autoreconf, automake, libtool, pkg-config",
        "configures a project",
        others="make variable",
        examples=(),
    ),
    Program(
        "gdb-add-index, objcopy, strip, nm, ar, readelf, objdump", "looks at programs", others="", examples=()
    ),
    Program(
        "meson, meson test, meson devenv, meson compile",
        "builds a project",
        "-C:",
        loose=("devenv", "--wrap", "--wrapper"),
    ),
)
