"""List the rows of the suite, by topic."""
