"""Write each option of `hookline hook` in both spellings."""

from collections.abc import Iterator

from hookline.config.commands import HOOK_OPTIONS, HookOption


def _value(option: HookOption) -> str:
    return option.choices[0] if option.choices else "native"


def spellings() -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield each option with its words: one word with `=`, or a word for the value."""
    for name, option in HOOK_OPTIONS.items():
        yield name, (name, _value(option)) if option.value else (name,)
        yield name, (f"{name}={_value(option)}",)
