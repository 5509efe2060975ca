"""Hold the rules of the built-in guards as data, one `GuardSpec` for each. `guards/__init__.py` says which module
has which guard."""
