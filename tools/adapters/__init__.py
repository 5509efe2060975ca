"""The adapters, each tested in an environment with its framework: `make test-adapters`."""
