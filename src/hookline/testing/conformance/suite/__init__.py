"""The rows of the suite, by what they are about."""
