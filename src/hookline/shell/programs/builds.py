"""Read programs that build: make, cmake, compilers and the tools of single languages."""

from hookline.shell.options import OptionSpec
from hookline.shell.placeholders import Words

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


def compiler(rest: Words, _spec: OptionSpec) -> Words:
    """Split values that are glued to an option of one letter or to `-Wl,`, and files with arguments."""
    ordered: list[str] = []
    for word in rest:
        for glued, option in _GLUED.items():
            if word.startswith(glued) and word != glued:
                ordered.append(f"{option}={word[len(glued) :]}")
                break
        else:
            ordered.append({"-B": "--prefix", "-o": "--output"}.get(word, word))
    return tuple(ordered)


def without_toolchain(rest: Words, _spec: OptionSpec) -> Words:
    """Remove the toolchain of `cargo +nightly build`."""
    return rest[1:] if rest[:1] and rest[0].startswith("+") else rest


def one_dash(rest: Words, _spec: OptionSpec) -> Words:
    """Accept one dash or two for options of go."""
    return tuple(f"-{word[2:]}" if word.startswith("--") and len(word) > 2 else word for word in rest)
