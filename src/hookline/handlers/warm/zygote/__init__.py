"""What the interpreter of a hook runs ahead. Nothing of Hookline imports these modules, and they import nothing of it."""
