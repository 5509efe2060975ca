"""Where runs go: memory, a file, subscribers; with secrets redacted first. Knows nothing of the engine."""
