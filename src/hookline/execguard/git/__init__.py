"""Judge git by its settings, too: they can make a plain push overwrite the remote."""
