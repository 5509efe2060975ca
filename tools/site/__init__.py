"""The documentation site: `make site` makes it from docs/ and the README."""
