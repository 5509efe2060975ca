"""Programs that build: make, cmake, compilers and the tools of single languages."""

from hookline.matching.shell.holes import Words
from hookline.matching.shell.programs.row import Row

_MAKE = (
    "-b -m -B -d -e -i -k -n -p -q -r -R -s -S -t -v -w -C: -I: -o: -W: -j:: -l:: -O:: "
    "--always-make --directory: --debug:: "
    "--environment-overrides --ignore-errors --include-dir: --jobs:: --keep-going "
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
    "-c -g -E -S -v -w -s -o: -I: -L: -l: -D: -U: -x: -include: -isystem: -iquote: "
    "-std: -arch: -target: -T: -u: -z: -MT:"
)


def _compiler(rest: Words) -> Words:
    """Values that are glued to an option of one letter or to `-Wl,`, and files with arguments."""
    ordered: list[str] = []
    for word in rest:
        for glued, option in (("-B", "--prefix"), ("-Wl,", "--linker"), ("@", "--arguments")):
            if word.startswith(glued) and word != glued:
                ordered.append(f"{option}={word[len(glued) :]}")
                break
        else:
            ordered.append("--prefix" if word == "-B" else word)
    return tuple(ordered)


ROWS = (
    Row(
        "make, gmake, bmake, remake",
        "runs the recipes of a makefile",
        _MAKE,
        {"makefile": "-E: --eval:", "file": "-f: --file: --makefile:"},
        plain="file",
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
    Row(
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
    Row("ctest, cpack", "runs tests", "", {"file": "-S: -SP:"}, loose=("--test-command",)),
    Row(
        "ninja, samu, ninja-build",
        "runs the recipes of a build file",
        "-C: -k: -j: -l: -n -v -t: -d: -w:",
        {"file": "-f:"},
        plain="file",
        examples=(),
    ),
    Row(
        "just",
        "runs the recipes of a justfile",
        "-f: -d: --justfile: --working-directory: --set: --dotenv-path:",
        {"program": "--shell:", "beyond": "--shell-arg: --chooser:"},
        loose=("-c", "--command"),
        plain="",
    ),
    Row(
        "task, rake, mage, invoke, inv, nox, tox, doit, scons, waf, bazel, bazelisk, buck, buck2, "
        "pants, gradle, gradlew, mvn, mvnw, sbt, ant, "
        "lein, mill, xcodebuild, swift",
        "builds a project",
        "-f: -e: -C:",
        {"beyond": "--run_under: --shell_executable: -I: --init-script:"},
    ),
    Row(
        "gcc, g++, cc, c++, clang, clang++, cpp, gfortran, tcc, icc, x86_64-linux-gnu-gcc, "
        "x86_64-linux-gnu-g++",
        "compiles",
        _COMPILER,
        {
            "comma words": "-wrapper:",
            "settings": "--prefix: -fplugin: -specs: --specs: --config: --arguments:",
            "linker option": "--linker: -Xlinker:",
            "path": "-fuse-ld:",
            "written": "-MF:",
        },
        style="words",
        ordered=_compiler,
        quiet="--help --version -dumpversion -dumpmachine",
        examples=(
            "echo 'int main;' > a.c; gcc -wrapper rm a.c",
            "echo 'int main;' > a.c; gcc -wrapper rm,y -c a.c",
        ),
    ),
    Row(
        "ld, ld.bfd, ld.gold, lld, gold",
        "links",
        _COMPILER,
        {"file": "-plugin: --plugin:"},
        style="words",
        quiet="--help --version -v -V",
    ),
    Row(
        "cargo",
        "builds a project of Rust",
        "-C: -Z: --color: -v -q --locked --offline --frozen -j:",
        {"beyond": "--config:"},
        style="posix",
        loose=("watch",),
        examples=(),
    ),
    Row(
        "cargo run, cargo build, cargo test, cargo check, cargo clippy, cargo doc, cargo bench",
        "builds and runs a project of Rust",
        "-p: -j: -F: -Z: --features: --target: --bin: --example: --package: --manifest-path: "
        "--profile: -r -v -q",
        {"beyond": "--config:"},
        style="posix",
    ),
    Row(
        "rustc, rustdoc",
        "compiles",
        "-L: -l: -o: -A: -W: -D: -F: --cfg: --crate-type: --crate-name: --edition: --emit: --target: "
        "--out-dir: --extern:",
        {"beyond": "--sysroot:", "rust setting": "-C: --codegen:"},
        others="",
        examples=(),
    ),
    Row("rustup, rustup run", "runs a tool of Rust", loose=("run",)),
    Row("go", "builds a project of Go", "-C:", style="words", examples=()),
    Row(
        "go build, go run, go vet, go install, go list, go generate",
        "builds and runs a project of Go",
        "-v -x -n -a -race -cover -short -json -o: -run: -bench: -tags: -gcflags: "
        "-count: -timeout: -p: -mod: -coverprofile: -parallel: -cpu: -C: -f:",
        {
            "words": "-exec: --exec: -toolexec: --toolexec:",
            "file": "-vettool: --vettool: -overlay: --overlay:",
            "go flags": "-ldflags: --ldflags:",
        },
        style="words",
        examples=(),
    ),
    Row(
        "go test",
        "runs the tests of a project of Go",
        "-v -x -n -a -race -cover -short -json -run: -bench: -tags: -gcflags: -count: -timeout: "
        "-p: -mod: -parallel: -cpu: -C: "
        "-benchtime: -shuffle: -failfast -benchmem -coverpkg: -covermode: -list: -skip:",
        {
            "words": "-exec: --exec: -toolexec: --toolexec:",
            "file": "-vettool: --vettool: -overlay: --overlay:",
            "go flags": "-ldflags: --ldflags:",
            "written": "-o: -coverprofile: -cpuprofile: -memprofile: -trace: -outputdir: -blockprofile: "
            "-mutexprofile:",
        },
        style="words",
    ),
    Row("go env", "shows settings of Go", "-json -changed", {"beyond": "-w -u"}, style="words"),
    Row(
        "cargo rustc, cargo install, cargo fix",
        "builds a project of Rust with options of the compiler",
        always=True,
    ),
    Row(
        "javac, java, kotlin, kotlinc, scalac, jshell",
        "compiles or runs a program of Java",
        "-cp: -classpath: -jar: -d: -m: -p: --module-path: --class-path:",
        {"file": "-javaagent: -agentpath: -agentlib: -processorpath:"},
        style="words",
        others="java option",
        examples=(),
    ),
    Row("dotnet", "builds a project of dotnet", style="posix"),
    Row(
        "configure, autoreconf, automake, libtool, pkg-config",
        "configures a project",
        others="make variable",
        examples=(),
    ),
    Row(
        "gdb-add-index, objcopy, strip, nm, ar, readelf, objdump", "looks at programs", others="", examples=()
    ),
    Row(
        "meson, meson test, meson devenv, meson compile",
        "builds a project",
        "-C:",
        loose=("devenv", "--wrap", "--wrapper"),
    ),
)
